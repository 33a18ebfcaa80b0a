"""The robots that Gradiva ships."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from gradiva.common import ConfigError, from_table, nearest_name
from gradiva.robot_model import RobotDescription
from gradiva.setup.folders import data_folder
from gradiva.setup.model_files import find_model_file


def robot_names() -> list[str]:
    """Names of all robots, in alphabetical order."""
    return sorted(folder.parent.name for folder in data_folder("robots").glob("*/robot.toml"))


def load_robot(name: str) -> RobotDescription:
    """Return a robot's description, its model file found.

    Raises:
        ConfigError: No such robot, or its file is wrong.
        ModelError: The package of its model is not installed.
    """
    names = robot_names()
    if name not in names:
        raise ConfigError(f"unknown robot '{name}'{nearest_name(name, names)}")
    path = data_folder("robots") / name / "robot.toml"
    table = read_toml(path)
    model_file = find_model_file(str(table.get("package", "")), str(table.get("model", "")))
    return from_table(RobotDescription, {**table, "model_file": str(model_file)}, where=f"robots/{name}/robot.toml")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises:
        ConfigError: The file is missing or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
