"""The ``gradiva`` command, and what commands of other packages write with."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradiva.cli.main import main

if TYPE_CHECKING:
    from gradiva.cli.output import JsonTarget, console_beside, progress_bar
    from gradiva.cli.walk_options import WalkOptions

__all__ = ["JsonTarget", "WalkOptions", "console_beside", "main", "progress_bar"]


def __getattr__(name: str) -> Any:
    """Import what is written with when it is asked for: the command begins with as little as possible."""
    if name in __all__:
        room = "walk_options" if name == "WalkOptions" else "output"
        return getattr(importlib.import_module(f"gradiva.cli.{room}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
