"""Write the folder of a new robot: robot.toml and what differs from the files of config/."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import tomli_w

from gradiva.common import ConfigError, Side, WalkingError
from gradiva.robot_model import JointGroup, RobotDescription
from gradiva.setup.load_setup import load_setup
from gradiva.setup.new_robot.draft import Draft
from gradiva.setup.robots import SEARCH_PATH, search_path
from gradiva.walking import WalkingLayers

_NAME = re.compile(r"[a-z][a-z0-9_]*")

_COMMENT = 28  # [characters] before the comments of a file
_Table = Mapping[str, tuple[object, str]]
"""Key to value and comment; no comment where it is empty."""


def write_robot(draft: Draft, folder: Path) -> list[Path]:
    """Write a robot's folder, then let its layers be built once: what contradicts the model is found here.

    Args:
        draft: Of the robot, its name that of the folder.
        folder: Does not exist yet; the search for robots finds it.

    Returns:
        The files.

    Raises:
        WalkingError: Nothing can be written, or the start posture cannot be reached.
    """
    robot, written = draft.description, []
    try:
        folder.mkdir(parents=True)
        for name, text in _texts(draft).items():
            (folder / name).write_text(text, encoding="utf-8")
            written.append(folder / name)
        momentum = {name: (gain, "[s²]") for name, gain in _leg_momentum(robot.name).items()}
        heading = f"What differs on {robot.title} on soft ground: how accelerations of its feet move the ZMP."
        soft = folder / "soft_ground.toml"
        soft.write_text(_file(heading, {"planner.leg_momentum": momentum}), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {error.filename}: {error.strerror}") from None
    except WalkingError as error:
        raise ConfigError(f"{folder} is written, but does not walk yet: {error}") from None
    return [*written, soft]


def _texts(draft: Draft) -> dict[str, str]:
    """Return the contents of the files by name, but for what the model has to be loaded for."""
    robot = draft.description
    heading = f"What differs on {robot.title}"
    rotors = draft.armature, "[kg·m²] rotors seen through their gears: a guess, URDFs leave them out"
    none = 0.0, "[kg·m²] the controller knows no rotors, and 0.5 ms of time step need none"
    return {
        "robot.toml": robot_text(robot),
        "planner.toml": _file(f"{heading} from config/planner.toml.", {"planner": draft.planner}),
        "simulation.toml": _file(f"{heading} from config/simulation.toml.", {"simulation.plant": {"armature": rotors}}),
        "torque.toml": _file(f"{heading} in torque control.", {"simulation.plant": {"armature": none}}),
    }


def check_name(name: str, folder: Path, taken: Iterable[str]) -> None:
    """Pass when a new robot may have this name and this folder.

    Args:
        name: Of the robot.
        folder: Of its files.
        taken: Names of the robots that there are.

    Raises:
        ConfigError: It may not.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"'{name}': names of robots have small letters, digits and underscores")
    if folder.parent.resolve() not in [place.resolve() for place in search_path()]:
        raise ConfigError(f"robots are not looked for in {folder.parent}: add it to {SEARCH_PATH}, as to PATH")
    if name in taken or folder.exists():
        raise ConfigError(f"there is a robot '{name}' already: take another name, or remove its folder")


def robot_text(robot: RobotDescription) -> str:
    """Return the contents of a robot.toml."""
    names = ("base_link", "torso_frame", "left_foot_frame", "right_foot_frame", "imu_frame")
    facts: dict[str, tuple[object, str]] = {
        **{name: (getattr(robot, name), "") for name in ("name", "title", "package", "model")},
        "mass": (robot.mass, "[kg] checked against the model"),
        **{name: (getattr(robot, name), "") for name in names},
        "com_height": (robot.com_height, "[m] above the sole frames, knees bent"),
        "step_width": (robot.step_width, "[m]"),
        "max_speed": (
            robot.max_speed,
            "[m/s] a guess by the length of the legs: raise it to what has been seen to walk",
        ),
    }
    if robot.balance_inertia:
        facts["balance_inertia"] = True, "links of the URDF have inertias that no body can have"
    sole = {name: (getattr(robot.sole, name), "[m] left foot, in its sole frame") for name in ("x", "y", "z")}
    sensors = [
        _table_text("[force_torque_sensors]", {name: (getattr(sensor, name), "") for name in ("name", "foot", "frame")})
        for sensor in robot.force_torque_sensors
    ]
    groups = [_table_text(f"joint_groups.{name}", _group_table(group)) for name, group in robot.joint_groups.items()]
    head = f"# {robot.title}, {robot.model}.\n" + _lines(facts)
    return "\n".join([head, _table_text("sole", sole), *sensors, *groups])


def _group_table(group: JointGroup) -> _Table:
    return {
        "joints": (group.joints, ""),
        "posture": (group.posture, "[deg]"),
        "stiffness": (group.stiffness, "[N·m/rad] from the inertia that the joints move"),
        "damping": (group.damping, "[N·m·s/rad]"),
        "velocity_limit": (group.velocity_limit, "[rad/s] or that of the URDF, where it is lower"),
        "torque_limit": (group.torque_limit, "[N·m] likewise"),
    }


def _leg_momentum(name: str) -> dict[str, float]:
    """Return table ``[planner.leg_momentum]``; everything else about the robot is tried on the way."""
    setup = load_setup(name)
    layers = WalkingLayers(setup.robot, setup.walking)
    (forward, _, forward_lift), (_, lateral, outward_lift) = layers.swing_momentum.zmp_gains(Side.LEFT).tolist()
    gains = {"forward": forward, "lateral": lateral, "forward_lift": forward_lift, "outward_lift": outward_lift}
    return {name: round(gain, 4) for name, gain in gains.items()}


def _file(heading: str, tables: Mapping[str, _Table]) -> str:
    return "\n".join([f"# {heading}\n", *(_table_text(name, table) for name, table in tables.items())])


def _table_text(name: str, table: _Table) -> str:
    return f"[{name}]\n{_lines(table)}"


def _lines(table: _Table) -> str:
    lines = [(f"{key} = {_toml(value)}", comment) for key, (value, comment) in table.items()]
    return "".join(f"{text:{_COMMENT}} # {comment}\n" if comment else f"{text}\n" for text, comment in lines)


def _toml(value: object) -> str:
    """Return a value as TOML has it, a list on one line."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return tomli_w.dumps({"value": value}).partition(" = ")[2].strip()
