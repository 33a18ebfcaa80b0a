"""Write the folder of a new robot: robot.toml and what differs from the files of config/."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import tomli_w

from gradiva.common import ConfigError, Side, WalkingError
from gradiva.robot_model import RobotDescription
from gradiva.setup.load_setup import load_setup
from gradiva.setup.new_robot.draft import Draft
from gradiva.setup.robots import SEARCH_PATH, search_path
from gradiva.walking import WalkingLayers

_NAME = re.compile(r"[a-z][a-z0-9_]*")

_COMMENT = 28  # [characters] before the comments of a file

_HEAD = """\
# {title}, {model}.
name = "{name}"
title = {title_text}
package = {package_text}
model = {model_text}
mass = {mass!r}                 # [kg] checked against the model
base_link = "{base_link}"
torso_frame = "{torso_frame}"
left_foot_frame = "{left_foot_frame}"
right_foot_frame = "{right_foot_frame}"
imu_frame = "{imu_frame}"
com_height = {com_height!r}          # [m] above the sole frames, knees bent
step_width = {step_width!r}          # [m]
max_speed = {max_speed!r}            # [m/s] a guess by the length of the legs: raise it to what has been seen to walk
{balance}
[sole]                       # of the left foot in its sole frame, from the shapes of the URDF
x = {sole_x!r}        # [m]
y = {sole_y!r}        # [m]
z = {sole_z!r}              # [m]
"""

_BALANCE = "balance_inertia = true       # links of the URDF have inertias that no body can have\n"

_SENSOR = """
[[force_torque_sensors]]
name = "{name}"
foot = "{foot}"
frame = "{frame}"
"""

_GROUP = """
[joint_groups.{name}]
joints = [{joints}]
posture = {posture!r}{degrees}
stiffness = {stiffness!r}{stiffness_unit}
damping = {damping!r}{damping_unit}
velocity_limit = {velocity_limit!r}{velocity_unit}
torque_limit = {torque_limit!r}{torque_unit}
"""

_UNITS = {
    "degrees": "  # [deg]",
    "stiffness_unit": "           # [N·m/rad] from the inertia that the joints move, in all groups",
    "damping_unit": "               # [N·m·s/rad]",
    "velocity_unit": "         # [rad/s] no joint moves faster, or faster than the URDF lets it",
    "torque_unit": "           # [N·m] likewise",
}


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
    robot = draft.description
    files = {
        "robot.toml": robot_text(robot),
        "planner.toml": _table_text(
            "planner", draft.planner, f"What differs on {robot.title} from config/planner.toml."
        ),
        "simulation.toml": _table_text(
            "simulation.plant",
            {"armature": (draft.armature, "[kg·m²] rotors seen through their gears: a guess, URDFs leave them out")},
            f"What differs on {robot.title} from config/simulation.toml.",
        ),
    }
    try:
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        momentum = {name: (gain, "[s²]") for name, gain in _leg_momentum(robot.name).items()}
        heading = f"What differs on {robot.title} on soft ground: how accelerations of its feet move the ZMP."
        soft = folder / "soft_ground.toml"
        soft.write_text(_table_text("planner.leg_momentum", momentum, heading), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {error.filename}: {error.strerror}") from None
    except WalkingError as error:
        raise ConfigError(f"{folder} is written, but does not walk yet: {error}") from None
    return [*(folder / name for name in files), soft]


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
    facts = {name: getattr(robot, name) for name in RobotDescription.__dataclass_fields__}
    quoted = {f"{name}_text": _quoted(getattr(robot, name)) for name in ("title", "package", "model")}
    sole = {"sole_x": list(robot.sole.x), "sole_y": list(robot.sole.y), "sole_z": robot.sole.z}
    balance = _BALANCE if robot.balance_inertia else ""
    parts = [_HEAD.format(**facts, **quoted, **sole, balance=balance)]
    for sensor in robot.force_torque_sensors:
        parts.append(_SENSOR.format(name=sensor.name, foot=sensor.foot.value, frame=sensor.frame))
    units: Mapping[str, str] = _UNITS
    for name, group in robot.joint_groups.items():
        parts.append(
            _GROUP.format(
                name=name,
                joints=", ".join(f'"{joint}"' for joint in group.joints),
                posture=list(group.posture),
                stiffness=group.stiffness,
                damping=group.damping,
                velocity_limit=group.velocity_limit,
                torque_limit=group.torque_limit,
                **units,
            )
        )
        units = dict.fromkeys(_UNITS, "")
    return "".join(parts)


def _leg_momentum(name: str) -> dict[str, float]:
    """Return table ``[planner.leg_momentum]``; everything else about the robot is tried on the way."""
    setup = load_setup(name)
    layers = WalkingLayers(setup.robot, setup.walking)
    (forward, _, forward_lift), (_, lateral, outward_lift) = layers.swing_momentum.zmp_gains(Side.LEFT).tolist()
    gains = {"forward": forward, "lateral": lateral, "forward_lift": forward_lift, "outward_lift": outward_lift}
    return {name: round(gain, 4) for name, gain in gains.items()}


def _table_text(name: str, table: Mapping[str, tuple[object, str]], heading: str) -> str:
    """Return a TOML file of one table, whose values come with their units."""
    lines = [f"{key} = {value!r}".ljust(_COMMENT) + f" # {unit}" for key, (value, unit) in table.items()]
    return "\n".join([f"# {heading}", "", f"[{name}]", *lines, ""])


def _quoted(text: str) -> str:
    return tomli_w.dumps({"text": text}).partition(" = ")[2].strip()
