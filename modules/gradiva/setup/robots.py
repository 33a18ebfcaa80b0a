"""The robots that there are: those that Gradiva ships, and those of the user."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from gradiva.common import ConfigError, from_table, nearest_name
from gradiva.robot_model import RobotDescription
from gradiva.setup.folders import data_folder
from gradiva.setup.model_files import find_model_file

SEARCH_PATH = "GRADIVA_ROBOTS"
"""Environment variable: folders of folders of robots, separated as those of PATH are."""

ROBOT_FILE = "robot.toml"
"""What a folder needs to be that of a robot."""


def search_path() -> list[Path]:
    """Return where robots are looked for: shipped ones, then ``$GRADIVA_ROBOTS``, then ``robots`` where one works."""
    named = [Path(folder) for folder in os.environ.get(SEARCH_PATH, "").split(os.pathsep) if folder]
    return [data_folder("robots"), *named, Path("robots")]


def robot_folders() -> dict[str, Path]:
    """Return the folders of all robots by name, in alphabetical order; of two with one name the first found."""
    found: dict[str, Path] = {}
    for place in search_path():
        for file in sorted(place.glob(f"*/{ROBOT_FILE}")):
            found.setdefault(file.parent.name, file.parent)
    return dict(sorted(found.items()))


def robot_names() -> list[str]:
    """Return the names of all robots, in alphabetical order."""
    return list(robot_folders())


def shipped_robot_names() -> list[str]:
    """Return the names of the robots that Gradiva ships, in alphabetical order."""
    return sorted(file.parent.name for file in data_folder("robots").glob(f"*/{ROBOT_FILE}"))


def robots_with_ports() -> list[RobotDescription]:
    """Return the shipped robots that have a place on the YARP network."""
    return [robot for robot in map(load_robot, shipped_robot_names()) if robot.ports is not None]


def robot_folder(name: str) -> Path:
    """Return the folder of a robot.

    Raises:
        ConfigError: No such robot.
    """
    folders = robot_folders()
    if name not in folders:
        raise ConfigError(f"unknown robot '{name}'{nearest_name(name, folders)}")
    return folders[name]


def load_robot(name: str) -> RobotDescription:
    """Return a robot's description, its model file found.

    Raises:
        ConfigError: No such robot, or its file is wrong.
        ModelError: The package of its model is not installed.
    """
    folder = robot_folder(name)
    table = read_toml(folder / ROBOT_FILE)
    where = f"{folder.parent.name}/{name}/{ROBOT_FILE}"
    for key in ("name", "package", "model"):
        if not isinstance(table.get(key), str):
            raise ConfigError(f"{where}: missing key '{key}', or it is no text")
    if table["name"] != name:
        raise ConfigError(f"{where}: name = '{table['name']}', it must be that of the folder, '{name}'")
    model_file = find_model_file(table["package"], table["model"], folder)
    return from_table(RobotDescription, {**table, "model_file": str(model_file)}, where=where)


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
