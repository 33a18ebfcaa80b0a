"""Gradiva, "she who walks": footsteps, divergent component of motion and whole-body control for humanoids."""

__version__ = "0.1.0"
