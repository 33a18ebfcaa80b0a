"""The configuration files that Gradiva ships: which of them count for a run, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from gradiva.common import merge
from gradiva.setup.folders import data_folder
from gradiva.setup.robots import read_toml

Tables = dict[str, Any]
Layer = tuple[str, Mapping[str, Any]]
"""Where tables stand, and the tables."""


@dataclass(frozen=True, slots=True)
class ChoiceOverlay:
    """What else is different where a key has a value.

    Attributes:
        file: Its name, in ``config/`` and in the folders of robots; either may lack it.
        key: ``table.key``.
        value: With which the file counts.
    """

    file: str
    key: str
    value: str

    def is_chosen(self, tables: Mapping[str, Any]) -> bool:
        """Tell whether merged tables make the choice."""
        value: Any = tables
        for part in self.key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return bool(value == self.value)


CHOICES = (
    ChoiceOverlay("torque.toml", "walking.control", "torque"),
    ChoiceOverlay("soft_ground.toml", "simulation.ground.kind", "viscoelastic"),
)
PRESETS = ("noise.toml", "first_run.toml")  # laid over the others only when asked for
_ABSENT = object()
_NOT_MERGED = {"robot.toml", *PRESETS, *(choice.file for choice in CHOICES)}


def default_tables(wanted: Mapping[str, Any]) -> Tables:
    """Return ``config/`` ← ``wanted``, merged, for a robot without a folder.

    Raises:
        ConfigError: A file is not TOML.
    """
    return together(configuration_layers([], [], [("", wanted)]))


def configuration_layers(robot_folders: Iterable[Path], presets: Iterable[str], wanted: Iterable[Layer]) -> list[Layer]:
    """Return ``config/`` ← ``robots/<name>/`` ← what the choices made so bring with them ← presets ← ``wanted``.

    Args:
        robot_folders: The robot's, if it has one.
        presets: Files among ``PRESETS``.
        wanted: What the user wants, later ones win; choices may be among it.

    Raises:
        ConfigError: A file is not TOML.
    """
    folders = (data_folder("config"), *robot_folders)
    defaults = [
        _layer(path) for folder in folders for path in sorted(folder.glob("*.toml")) if path.name not in _NOT_MERGED
    ]
    above = [*(_layer(folders[0] / preset) for preset in presets), *wanted]
    without_choices = together([*defaults, *above])
    files = [folder / choice.file for choice in CHOICES if choice.is_chosen(without_choices) for folder in folders]
    return [*defaults, *(_layer(path) for path in files if path.is_file()), *above]


def together(layers: Iterable[Layer]) -> Tables:
    """Return the tables of all layers; the last one wins, key by key."""
    return reduce(merge, (tables for _, tables in layers), {})


def place_of(key: str, layers: Sequence[Layer]) -> str | None:
    """Return where the value of ``table.key`` comes from: the last layer that has it; None where none has."""
    for place, tables in reversed(layers):
        value: Any = tables
        for part in key.split("."):
            value = value.get(part, _ABSENT) if isinstance(value, Mapping) else _ABSENT
        if value is not _ABSENT:
            return place
    return None


def file_place(path: Path) -> str:
    """Return the short name of a shipped file: ``config/planner.toml``, ``robots/talos/robot.toml``."""
    folders = path.parent.parts[-1:] if path.parent.name == "config" else path.parent.parts[-2:]
    return "/".join((*folders, path.name))


def _layer(path: Path) -> Layer:
    return file_place(path), read_toml(path)
