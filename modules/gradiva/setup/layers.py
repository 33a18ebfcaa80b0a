"""Lay files of configuration over each other: those that are shipped, those of a robot, presets, what a user wants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from pathlib import Path
from typing import Any

from gradiva.common import ConfigError, merge, nearest_name
from gradiva.setup.robots import data_folder, file_place, read_toml, robot_folder

Tables = dict[str, Any]
Layer = tuple[str, Mapping[str, Any]]
"""The place of tables, for messages, and the tables."""

_ABSENT = object()


class Plant(StrEnum):
    """Names how much of a real robot is simulated; each but the ideal one is a preset over ``[simulation]``."""

    IDEAL = "ideal"
    """Rigid bodies and rotors, the robot's servo law without limits or delay, exact sensors."""
    NOISY = "noisy"
    """Sensor noise, a bus delay and an error of mass."""
    ROBOT = "robot"
    """All that is known of drives, sensors, transport, contact and model errors, drawn per seed."""

    @classmethod
    def named(cls, name: str) -> Plant:
        """Return the plant of this name.

        Raises:
            ConfigError: There is none.
        """
        if name not in [*cls]:
            raise ConfigError(f"unknown plant '{name}'{nearest_name(name, cls)}")
        return cls(name)

    @property
    def preset(self) -> str | None:
        """Name of its file in ``config/`` and in the folders of robots; None of the ideal plant."""
        return None if self is Plant.IDEAL else f"plant_{self}.toml"


FIRST_RUN = "first_run.toml"
PRESETS = (*(str(plant.preset) for plant in Plant if plant.preset), FIRST_RUN)  # merged only when asked for


def nested(key: str, value: Any) -> dict[str, Any]:
    """Return the tables that hold only ``table.key``."""
    first, dot, rest = key.partition(".")
    return {first: nested(rest, value)} if dot else {first: value}


@dataclass(frozen=True, slots=True)
class ChoiceOverlay:
    """Files that are merged as well where a key has a value.

    Attributes:
        file: Its name, in ``config/`` and in the folders of robots; either may lack it.
        key: ``table.key``.
        value: With which the file counts.
    """

    file: str
    key: str
    value: str

    def is_chosen(self, tables: Mapping[str, Any]) -> bool:
        """Return whether merged tables make the choice."""
        value: Any = tables
        for part in self.key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return bool(value == self.value)


CHOICES = (
    ChoiceOverlay("velocity.toml", "walking.control", "velocity"),
    ChoiceOverlay("torque.toml", "walking.control", "torque"),
    ChoiceOverlay("soft_ground.toml", "simulation.ground.kind", "viscoelastic"),
)


_NOT_MERGED = {"robot.toml", *PRESETS, *(choice.file for choice in CHOICES)}


def default_tables(wanted: Mapping[str, Any]) -> Tables:
    """Return ``config/`` ← ``wanted``, merged, for a robot without a folder.

    Raises:
        ConfigError: A file is not TOML.
    """
    return together(configuration_layers([], [], [("", wanted)]))


def configuration_layers(robot_folders: Iterable[Path], presets: Iterable[str], wanted: Iterable[Layer]) -> list[Layer]:
    """Return ``config/`` ← ``robots/<name>/`` ← the files of the choices made so ← presets ← ``wanted``.

    Args:
        robot_folders: The robot's, if it has one.
        presets: Files among ``PRESETS``; ``config/`` has each of them, a robot may have one of its own over it.
        wanted: Layers of the user, later ones win; choices may be among them.

    Raises:
        ConfigError: A file is not TOML.
    """
    folders = (data_folder("config"), *robot_folders)
    defaults = [
        _layer(path) for folder in folders for path in sorted(folder.glob("*.toml")) if path.name not in _NOT_MERGED
    ]
    above = [*(layer for preset in presets for layer in _preset_layers(preset, folders)), *wanted]
    without_choices = together([*defaults, *above])
    files = [folder / choice.file for choice in CHOICES if choice.is_chosen(without_choices) for folder in folders]
    return [*defaults, *(_layer(path) for path in files if path.is_file()), *above]


def _preset_layers(preset: str, folders: Sequence[Path]) -> Iterator[Layer]:
    """Yield the preset of ``config/``, the first of the folders, and over it those that robots have."""
    yield _layer(folders[0] / preset)
    yield from (_layer(folder / preset) for folder in folders[1:] if (folder / preset).is_file())


def preset_tables(robot: str, plant: Plant) -> Tables:
    """Return the tables of a plant's preset, of ``config/`` and of the robot over it; none of the ideal plant.

    Raises:
        ConfigError: There is no such robot, or a file is not TOML.
    """
    folders = (data_folder("config"), robot_folder(robot))
    return together(_preset_layers(plant.preset, folders)) if plant.preset else {}


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


def _layer(path: Path) -> Layer:
    return file_place(path.resolve()), read_toml(path)
