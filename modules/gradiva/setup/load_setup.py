"""From names and files to the typed configuration of a run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from gradiva.common import ConfigError, from_table, merge, nearest_name
from gradiva.robot_model import RobotDescription
from gradiva.setup.folders import data_folder
from gradiva.setup.robots import load_robot, read_toml
from gradiva.simulation import SimulationConfig
from gradiva.walking import WalkingConfig

_OVERLAYS = ("noise.toml",)  # laid over the others only when asked for
_FACTS = ("com_height", "step_width", "max_speed")  # of the robot, which the planner shares


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that a run is made of.

    Attributes:
        robot: Which robot.
        walking: Its controller.
        simulation: Its simulated plant.
        tables: The merged tables, as they are written into the run's folder.
    """

    robot: RobotDescription
    walking: WalkingConfig
    simulation: SimulationConfig
    tables: dict[str, Any]


def load_setup(
    robot: str,
    overrides: Mapping[str, Any] | Iterable[str] = (),
    files: Iterable[Path] = (),
    noise: bool = False,
) -> Setup:
    """Return the configuration of a robot: ``config/`` ← ``robots/<name>/`` ← ``files`` ← ``overrides``.

    Args:
        robot: Name of a folder below ``robots/``.
        overrides: ``{"table.key": value}``, or strings ``table.key=value`` with the value in TOML.
        files: TOML files, later ones win.
        noise: Lay the noise preset over the simulation.

    Raises:
        ConfigError: An unknown robot, file, table or key, or a value that is refused.
        ModelError: The robot's model package is not installed.
    """
    description = load_robot(robot)
    shipped = data_folder("config")
    tables: dict[str, Any] = {}
    for path in sorted(shipped.glob("*.toml")):
        if path.name not in _OVERLAYS:
            tables = merge(tables, read_toml(path))
    for path in sorted((data_folder("robots") / robot).glob("*.toml")):
        if path.name != "robot.toml":
            tables = merge(tables, read_toml(path))
    if noise:
        tables = merge(tables, read_toml(shipped / "noise.toml"))
    for path in files:
        tables = merge(tables, read_toml(Path(path)))
    for table in _override_tables(overrides):
        tables = merge(tables, table)
    return _typed(description, tables)


def _typed(description: RobotDescription, tables: dict[str, Any]) -> Setup:
    parts = [field.name for field in fields(WalkingConfig)]
    for name in tables:
        if name not in (*parts, "simulation"):
            raise ConfigError(f"unknown table [{name}]{nearest_name(name, [*parts, 'simulation'])}")
    walking = {name: tables.get(name, {}) for name in parts}
    walking["planner"] = merge({fact: getattr(description, fact) for fact in _FACTS}, walking["planner"])
    where = f"configuration of {description.name},"
    typed = from_table(WalkingConfig, walking, where)
    return Setup(
        robot=replace(description, **{fact: getattr(typed.planner, fact) for fact in _FACTS}),
        walking=typed,
        simulation=from_table(SimulationConfig, tables.get("simulation", {}), f"{where} simulation"),
        tables={"robot": description.name, **tables},
    )


def _override_tables(overrides: Mapping[str, Any] | Iterable[str]) -> list[dict[str, Any]]:
    if isinstance(overrides, Mapping):
        return [_nested(key, value) for key, value in overrides.items()]
    return [_parse(text) for text in overrides]


def _parse(text: str) -> dict[str, Any]:
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise ConfigError(f"'{text}': expected table.key=value")
    try:
        return _nested(key.strip(), tomllib.loads(f"value = {value}")["value"])
    except tomllib.TOMLDecodeError:
        return _nested(key.strip(), value.strip())


def _nested(key: str, value: Any) -> dict[str, Any]:
    first, dot, rest = key.partition(".")
    return {first: _nested(rest, value)} if dot else {first: value}
