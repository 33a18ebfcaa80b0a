"""Experiments that can be asked for by name: one file a chapter of their source."""
