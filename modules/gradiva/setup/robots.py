"""Find robots: shipped folders, folders of the user, packages of robots, a robot.toml of one's own."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sys
import sysconfig
import tomllib
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import gradiva
from gradiva.common import (
    ConfigError,
    ModelError,
    ModelNotInstalled,
    from_table,
    installed_plugins,
    nearest_name,
    unreadable,
)
from gradiva.robot_model import RobotDescription

SEARCH_PATH = "GRADIVA_ROBOTS"
"""Environment variable: folders that hold folders of robots, separated as those of PATH are."""
ROBOT_FILE = "robot.toml"
"""The file that makes a folder the folder of a robot."""
ROBOTS = "gradiva.robots"
"""Group of entry points of robots of installed packages."""
FILE = "file"
"""Instead of a package: the model is the path of a URDF, absolute or relative to the folder of the robot."""
SHARES = {
    "CONDA_PREFIX": ("share",),
    "AMENT_PREFIX_PATH": ("share",),
    "ROS_PACKAGE_PATH": (".", ".."),  # holds packages, or is one
    "YARP_DATA_DIRS": ("..",),  # share/ergoCub
    "GAZEBO_MODEL_PATH": (".", "../.."),  # share and share/ergoCub/robots
}
"""Environment variables with folders, to the ways from there to the folder ``share`` that holds packages of models."""
_LISTED = 5  # files of a folder that is given in place of one
_LEVELS, _MOST_FOLDERS = 5, 2000  # below that folder, in which they are searched
_NAME = re.compile(r"[a-z][a-z0-9_]*")


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
    """Return the folder in which compiled functions are kept; XDG_CACHE_HOME moves it.

    An account without a home has a path at which nothing can be kept: functions are interpreted, which is said.
    """
    try:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    except RuntimeError:
        base = os.devnull
    return Path(base) / "gradiva"


def search_path() -> list[Path]:
    """Return the folders that are searched for robots: shipped, of ``$GRADIVA_ROBOTS``, ``robots`` where one works."""
    named = [Path(folder) for folder in os.environ.get(SEARCH_PATH, "").split(os.pathsep) if folder]
    return [data_folder("robots"), *named, Path("robots")]


def robot_folders() -> dict[str, Path]:
    """Return the folders of all robots by name, in alphabetical order; of two with one name the first found.

    Those of installed packages, entry points of the group ``gradiva.robots``, come last:
    ``my_robot = "my_package.robot"`` names a folder of a package, with a ``robot.toml`` in it.
    """
    found: dict[str, Path] = {}
    for place in search_path():
        for file in sorted(place.glob(f"*/{ROBOT_FILE}")):
            found.setdefault(file.parent.name, file.parent)
    for point in installed_plugins(ROBOTS):
        found.setdefault(point.name, _folder_of_package(point.value))
    return dict(sorted(found.items()))


def _folder_of_package(package: str) -> Path:
    """Return the folder of a package, which is not imported; the empty path where there is none."""
    try:
        spec = importlib.util.find_spec(package)
    except ImportError:
        spec = None
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    return Path(places[0]) if places else Path(os.devnull, package)


def robot_names() -> list[str]:
    """Return the names of all robots, in alphabetical order."""
    return list(robot_folders())


def shipped_robot_names() -> list[str]:
    """Return the names of the robots that Gradiva ships, in alphabetical order."""
    return sorted(file.parent.name for file in data_folder("robots").glob(f"*/{ROBOT_FILE}"))


def installed_robot_names() -> list[str]:
    """Return the names of the shipped robots whose models are installed, in alphabetical order."""
    return [name for name in shipped_robot_names() if is_installed(describe_robot(name))]


def is_installed(robot: RobotDescription) -> bool:
    """Return whether the model of a shipped robot is installed, for those whose package Gradiva does not bring."""
    try:
        find_model_file(robot.package, robot.model)
    except ModelNotInstalled:
        return False
    return True


def robots_with_ports() -> list[RobotDescription]:
    """Return the shipped robots that have a place on the YARP network."""
    return [robot for robot in map(describe_robot, shipped_robot_names()) if robot.ports is not None]


def robot_folder(robot: str) -> Path:
    """Return the folder of a robot.

    Args:
        robot: Name of a robot that the search path finds, or path of a folder with a robot.toml.

    Raises:
        ConfigError: No such robot.
    """
    if not isinstance(robot, str | os.PathLike):
        raise ConfigError(f"robot {robot!r}: expected a name, or the path of a folder with {ROBOT_FILE}")
    robot, folders = os.fspath(robot), robot_folders()
    if robot in folders:
        if not (folders[robot] / ROBOT_FILE).is_file():
            raise ConfigError(f"robot '{robot}': the entry point of '{ROBOTS}' leads to no folder with {ROBOT_FILE}")
        return folders[robot]
    folder = Path(os.path.expanduser(robot or os.devnull))  # that of an unknown user stays as it is typed
    if folder.name == ROBOT_FILE:
        folder = folder.parent
    if (folder / ROBOT_FILE).is_file():
        return folder
    if folder.is_dir():
        raise ConfigError(f"robot '{robot}': the folder has no {ROBOT_FILE}")
    if os.sep in robot:
        raise ConfigError(f"robot '{robot}': there is no such folder")
    raise ConfigError(
        f"unknown robot '{robot}'{nearest_name(robot, folders)}; the path of a folder with {ROBOT_FILE} is taken, too,"
        f" or its name where ${SEARCH_PATH} has the folder around it"
    )


def robot_argument(robot: str) -> str:
    """Return the name of a robot, or the absolute path of its folder: it is found by it from any working directory."""
    return robot if robot in robot_folders() else str(robot_folder(robot).resolve())


def describe_robot(robot: str) -> RobotDescription:
    """Return a robot's description without its model, which need not be installed.

    Args:
        robot: Name or path, as of `robot_folder`.

    Raises:
        ConfigError: No such robot, or its file is wrong.
    """
    table, where = _described(robot)
    return from_table(RobotDescription, table, where=where)


def load_robot(robot: str) -> RobotDescription:
    """Return a robot's description, its model file found.

    Args:
        robot: Name or path, as of `robot_folder`.

    Raises:
        ConfigError: No such robot, or its file is wrong.
        ModelError: The package of its model is not installed, or there is no such model file.
    """
    table, where = _described(robot)
    model_file = find_model_file(table["package"], table["model"], robot_folder(robot))
    return from_table(RobotDescription, {**table, "model_file": str(model_file)}, where=where)


def _described(robot: str) -> tuple[dict[str, Any], str]:
    """Return the table of a robot.toml, with ``package`` and ``model``, and its short name."""
    file = robot_folder(robot) / ROBOT_FILE
    table, where = read_toml(file), file_place(file.resolve())
    if "flexible_joints" in table:
        raise ConfigError(f"{where}: flexible joints are the table [flexibility] of another file of this folder")
    if "model_file" in table:
        table = _with_model_file(table, where)
    for key in ("name", "package", "model"):
        if not isinstance(table.get(key), str):
            or_file = "" if key == "name" else " (or model_file, the path of a URDF)"
            raise ConfigError(f"{where}: missing key '{key}'{or_file}, or it is no text")
    if robot in robot_folders() and table["name"] != robot:
        raise ConfigError(f"{where}: name = '{table['name']}', it must be that of the folder, '{robot}'")
    check_robot_name(table["name"], f"{where}: ")
    return table, where


def _with_model_file(table: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the table with ``package`` and ``model`` in place of ``model_file``."""
    if "package" in table or "model" in table:
        raise ConfigError(f"{where}: model_file stands in place of package and model, not beside them")
    return {**table, "package": FILE, "model": table["model_file"]}


def check_robot_name(name: str, where: str = "") -> None:
    """Pass when a name can be that of a robot; ``where`` stands in front of the refusal.

    Raises:
        ConfigError: It has other characters than small letters, digits and underscores.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{where}'{name}': names of robots have small letters, digits and underscores")


def file_place(path: Path) -> str:
    """Return the short name of a file of configuration: ``config/planner.toml``, ``robots/talos/robot.toml``."""
    folders = path.parent.parts[-1:] if path.parent.name == "config" else path.parent.parts[-2:]
    return "/".join((*folders, path.name))


def find_model_file(package: str, model: str, folder: Path = Path()) -> Path:
    """Return the URDF of ``model`` in ``package``.

    Args:
        package: Of models, or ``FILE``.
        model: Its name there, or a path.
        folder: From which a relative path begins.

    Raises:
        ModelNotInstalled: The package is one that Gradiva does not bring, and is not installed.
        ModelError: The package is not installed or cannot be loaded, or does not carry the model.
    """
    if package == FILE:
        if not (folder / model).is_file():
            raise ModelError(
                f"{file_place(folder.resolve() / ROBOT_FILE)}: model_file: there is no file {folder / model}"
            )
        return (folder / model).resolve()
    finders = {
        "icub-models": _find_in_icub_models,
        "example-robot-data": _find_in_example_robot_data,
        "ergocub-models": _find_in_ergocub_models,
    }
    if package not in finders:
        raise ModelError(f"unknown model package '{package}'{nearest_name(package, [*finders, FILE])}")
    return finders[package](model)


def package_and_model(urdf: str) -> tuple[str, str]:
    """Return the ``package`` and the ``model`` of robot.toml for a URDF.

    Args:
        urdf: A path, or ``package:model`` of one of the packages of ``find_model_file``.

    Raises:
        ModelError: There is no such file, package or model.
    """
    package, separator, model = urdf.partition(":")
    if separator and not Path(urdf).exists():
        find_model_file(package, model)
        return package, model
    path = Path(urdf).resolve()
    if path.is_dir():
        raise ModelError(f"{urdf} is a folder{_models_below(path)}")
    if not path.is_file():
        raise ModelError(f"there is no file {urdf}")
    robots = _example_robot_data()
    if path.is_relative_to(robots):
        return "example-robot-data", str(path.relative_to(robots))
    return FILE, str(path)


def _models_below(folder: Path) -> str:
    """Return in words which URDFs a folder has, the nearest first; one that holds much is not searched to its end."""
    found: list[Path] = []
    count = 0
    for count, (place, folders, files) in enumerate(os.walk(folder), 1):
        below = Path(place).relative_to(folder)
        found += [below / file for file in files if file.endswith(".urdf")]
        is_deep = len(below.parts) >= _LEVELS
        folders[:] = [] if is_deep else sorted(name for name in folders if not name.startswith("."))
        if count >= _MOST_FOLDERS:
            break
    nearest = sorted(found, key=lambda file: (len(file.parts), file))
    more = f" and {len(found) - _LISTED} more" * (len(found) > _LISTED)
    names = ", ".join(map(str, nearest[:_LISTED]))
    searched = f"{_LEVELS} levels" if count < _MOST_FOLDERS else f"its first {_MOST_FOLDERS} folders"
    return f": name a file in it, {names}{more}" if found else f" without a .urdf within {searched}"


def _find_in_icub_models(model: str) -> Path:
    if importlib.util.find_spec("icub_models") is None:
        raise _missing_package("icub-models==2.8.1")
    try:
        import icub_models
    except ImportError as error:
        reason = str(error).splitlines()[0] if str(error) else "no reason given"
        raise ModelError(f"the model package icub-models cannot be loaded: {reason}") from None
    names = icub_models.get_robot_names()
    if model not in names:
        version = importlib.metadata.version("icub-models")
        raise ModelError(f"icub-models {version} has no model '{model}'{nearest_name(model, names)}")
    return Path(icub_models.get_model_file(model))


def _find_in_example_robot_data(model: str) -> Path:
    robots = _example_robot_data()
    if not robots.is_dir():
        raise _missing_package("example-robot-data")
    if not (robots / model).is_file():
        files = [str(file.relative_to(robots)) for file in robots.rglob("*.urdf")]
        raise ModelError(f"example-robot-data has no file '{model}' below its robots{nearest_name(model, files)}")
    return robots / model


def _find_in_ergocub_models(model: str) -> Path:
    places = [share / "ergoCub" / "robots" for share in _shares()]
    found = next((path for place in places if (path := place / model / "model.urdf").is_file()), None)
    if found is None:
        raise ModelNotInstalled(
            f"the model {model} of ergoCub is not installed: conda install -c conda-forge ergocub-models, or name where"
            f" it is: {', '.join(SHARES)}; searched: {', '.join(map(str, places))}"
        )
    return found


def _shares() -> list[Path]:
    """Return the folders that hold the data of packages: of Python's and conda's prefix, of ROS, YARP and Gazebo."""
    named = [(name, Path(entry)) for name in SHARES for entry in os.environ.get(name, "").split(os.pathsep) if entry]
    shares = [Path(sys.prefix, "share")]
    for name, entry in named:
        shares += [place for way in SHARES[name] if (place := (entry / way).resolve()) not in shares]
    return shares


def _example_robot_data() -> Path:
    return Path(sysconfig.get_paths()["purelib"], "cmeel.prefix/share/example-robot-data/robots").resolve()


def _missing_package(requirement: str) -> ModelError:
    return ModelError(f"the model package is not installed: pip install '{requirement}'")


def overlay_file(path: Path) -> Path:
    """Return the configuration of a run for the folder of a run, another path as it is."""
    return file if (file := path / "config.toml").is_file() else path


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises:
        ConfigError: The file is missing or is not TOML.
    """
    try:
        return deepcopy(_parsed(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(unreadable(path, error, "a TOML file")) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None


_parsed = lru_cache(tomllib.loads)  # a setup reads a score of files, each campaign and test many setups
