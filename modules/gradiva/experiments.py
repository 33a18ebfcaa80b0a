"""Former import path: walks are in `gradiva.simulated_walk` now, experiments in the package `gradiva_experiments`."""

from __future__ import annotations

import importlib
from typing import Any

_PLACES = ("gradiva.simulated_walk", "gradiva_experiments")


def __getattr__(name: str) -> Any:
    """Return a name from where it is now."""
    for place in _PLACES:
        try:
            return getattr(importlib.import_module(place), name)
        except (AttributeError, ModuleNotFoundError):
            continue
    raise AttributeError(f"'{name}' is neither in {' nor in '.join(_PLACES)} (package gradiva-experiments)")
