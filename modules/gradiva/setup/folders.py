"""Where Gradiva's own data lie: beside the checkout, or inside the installed package."""

from __future__ import annotations

import os
from pathlib import Path

import gradiva
from gradiva.common import ConfigError


def data_folder(name: str) -> Path:
    """Return the folder ``config`` or ``robots``.

    Raises:
        ConfigError: The installation is incomplete.
    """
    package = Path(gradiva.__file__).parent
    for candidate in (package / "data" / name, package.parents[1] / name):
        if candidate.is_dir():
            return candidate
    raise ConfigError(f"the folder '{name}' of Gradiva is missing: install the package again")


def cache_folder() -> Path:
    """Return the folder in which compiled functions are kept; XDG_CACHE_HOME moves it."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "gradiva"
