"""The sub-modules that Gradiva's worker uses."""

from . import ik, parameters_handler, system, tsid

__all__ = ["ik", "parameters_handler", "system", "tsid"]
