"""The configuration files that Gradiva ships: which of them count for a run, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from gradiva.common import merge
from gradiva.setup.folders import data_folder
from gradiva.setup.robots import read_toml, robot_folder

Tables = dict[str, Any]


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
_NOT_MERGED = {"robot.toml", *PRESETS, *(choice.file for choice in CHOICES)}


def merged_tables(robot: str, presets: Iterable[str], wanted: Iterable[Mapping[str, Any]]) -> Tables:
    """Return ``config/`` ← ``robots/<name>/`` ← what the choices made so bring with them ← presets ← ``wanted``.

    Args:
        robot: Name of a robot that there is.
        presets: Files among ``PRESETS``.
        wanted: What the user wants, later ones win; choices may be among it.

    Raises:
        ConfigError: A file is not TOML.
    """
    folders = (data_folder("config"), robot_folder(robot))
    defaults = [
        read_toml(path) for folder in folders for path in sorted(folder.glob("*.toml")) if path.name not in _NOT_MERGED
    ]
    above = [*(read_toml(folders[0] / preset) for preset in presets), *wanted]
    without_choices = _together([*defaults, *above])
    files = [folder / choice.file for choice in CHOICES if choice.is_chosen(without_choices) for folder in folders]
    return _together([*defaults, *(read_toml(path) for path in files if path.is_file()), *above])


def _together(tables: Iterable[Mapping[str, Any]]) -> Tables:
    return reduce(merge, tables, {})
