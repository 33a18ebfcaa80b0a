"""Plug-ins: classes outside the package that the configuration names.

A plug-in is named in one of two ways: by an entry point that an installed package declares in its ``pyproject.toml`` ::

    [project.entry-points."gradiva.safety_checks"]
    battery = "my_package.battery:BatteryCheck"

or, without an installation, as ``package.module:Class`` on the Python path.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gradiva.common.errors import ConfigError, WalkingError, nearest_name


def plugin_names(group: str) -> list[str]:
    """Return the names of the installed entry points of ``group``, such as ``gradiva.safety_checks``, sorted."""
    return sorted({point.name for point in entry_points(group=group)})


def load_plugin(group: str, name: str) -> Any:
    """Import the object that ``name`` stands for.

    Args:
        group: Entry-point group, such as ``gradiva.safety_checks``.
        name: Of an entry point of that group, or ``package.module:Class``.

    Raises:
        ConfigError: No entry point has that name, two packages claim it, or the module or class cannot be imported.
    """
    if ":" in name:
        return _load(EntryPoint(name, name, group))
    found = {point.value: point for point in entry_points(group=group, name=name)}
    if not found:
        installed = plugin_names(group)
        known = nearest_name(name, installed) if installed else "; no installed package declares one"
        raise ConfigError(f"no entry point '{name}' in the group '{group}'{known}; or write 'package.module:Class'")
    if len(found) > 1:
        raise ConfigError(f"the entry point '{name}' of '{group}' is declared twice: {', '.join(sorted(found))}")
    return _load(next(iter(found.values())))


@contextmanager
def plugin_errors(where: str, made: object) -> Iterator[None]:
    """Name an error of any type that the code of a plug-in raises while it is set up.

    Args:
        where: The plug-in in the configuration, such as ``[tasks.NAME]``.
        made: Object or class of the plug-in; errors of Gradiva's own pass as they are.

    Raises:
        ConfigError: The plug-in raised; the message has its file and line.
    """
    try:
        yield
    except WalkingError:
        raise
    except Exception as error:  # the code of others may fail in any way
        kind = made if isinstance(made, type) else type(made)
        if kind.__module__.partition(".")[0] == "gradiva":
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise ConfigError(f"{where}: {type(error).__name__}: {error} ({last.filename}:{last.lineno})") from error


def _load(point: EntryPoint) -> Any:
    module, _, attribute = point.value.partition(":")
    try:
        found = importlib.import_module(module)
    except Exception as error:  # the code of others may fail in any way
        name = type(error).__name__
        raise ConfigError(f"plug-in '{point.value}': importing '{module}' failed: {name}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [name for name in vars(found) if not name.startswith("_")]
            raise ConfigError(f"plug-in '{point.value}': '{module}' has no '{attribute}'{nearest_name(part, public)}")
        found = getattr(found, part)
    return found
