"""Draft the description of a new robot from its URDF, and write its folder."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import idyntree.bindings as idyn
import numpy as np
import tomli_w

from gradiva.common import GRAVITY, ConfigError, ModelError, NDArray, Side, SoleRectangle, WalkingError
from gradiva.planner import SAMPLE_PERIOD
from gradiva.robot_model import (
    ForceTorqueSensor,
    IdynTreeModel,
    JointGroup,
    RobotDescription,
    is_physical,
    unphysical_links,
)
from gradiva.setup.load_setup import load_setup
from gradiva.setup.new_robot.drives import (
    FASTEST,
    Table,
    drive_files,
    guessed_gears,
    leg_gears,
    placeholders,
    same_rotors,
    two_digits,
    with_drives,
    with_servos,
)
from gradiva.setup.new_robot.limbs import Choices, Limbs, find_limbs
from gradiva.setup.new_robot.model_file import ModelFile
from gradiva.setup.new_robot.posture import FirstPosture, first_posture, usual_durations
from gradiva.setup.new_robot.soles import fit_sole
from gradiva.setup.robots import FILE, ROBOT_FILE, check_robot_name
from gradiva.simulation import RigidTree, Urdf, load_tree, read_urdf, weld
from gradiva.walking import WalkingLayers

_USELESS = 5.0  # [-] of m g h: torque limits of a URDF above it are none
_UNKNOWN = 1e6  # [N·m] that an MJCF without limits gets
_LIMB = 3  # [joints] of a limb that differ in torque
_LEG_TORQUE, _ARM_TORQUE = 0.5, 0.25  # [-] of m g h, where the URDF has no useful limit
_VELOCITY = 8.0  # [rad/s] where the URDF has no limit
_SLOW = 1.0  # [rad/s] of the slowest leg joint: below it the top speed is lowered in proportion
_ICUB_LEG = 0.5  # [m] for which config/planner.toml has the durations of steps
_ROOM = 0.03  # [m] between two soles that pass each other
_STRIDE = 0.75  # [-] of the length of the legs: the longest step
_LIFT = 0.035  # [-] of the length of the legs: lift of a foot
_LEAST_LIFT = 0.015  # [m] where ankles bend little: below it errors of drives let feet drag
_SPLAYED = 0.7  # [-] of the length of the legs: soles of legs that hang down are not so far apart
_USED = 0.5  # [-] of half a sole, which an ankle that rolls has the torque to use
_COMMENT = 28  # [characters] before the comments of a file
_NAMED = 3  # [joints] of a long list that are named


@dataclass(frozen=True, slots=True)
class Draft:
    """A first description with the configuration of its planner.

    Attributes:
        description: Of the robot.
        posture: Its first posture.
        notes: Changes of the model, names that were found and values that were guessed, a line each.
        model: Where its URDF is.
    """

    description: RobotDescription
    posture: FirstPosture
    notes: tuple[str, ...]
    model: ModelFile

    @property
    def planner(self) -> dict[str, Table]:
        """Tables of the planner, values and units: differences from config/planner.toml, by legs and soles."""
        robot, leg, sole = self.description, self.posture.leg_length, self.description.sole
        middle = [round(place, 4) + 0.0 for place in self.posture.zmp]
        longest = math.hypot(_STRIDE * leg, robot.step_width)
        return {
            "planner": {
                "zmp_offset": (middle, "[m] the middle of the sole, as far as its ankle holds the weight there"),
                "swing_height": (round(min(_LIFT * leg, max(_LEAST_LIFT, self.posture.lift)), 3), "[m]"),
                **self._durations,
                "min_feet_distance": (round(sole.width + 0.5 * _ROOM, 3), "[m]"),
                "max_feet_distance": (round(longest, 2), "[m] three quarters of a leg ahead"),
                "min_step_width": (round(min(sole.width + _ROOM, robot.step_width), 3), "[m]"),
            },
            "planner.commands": {"cruise_speed": (round(0.5 * robot.max_speed, 2), "[m/s]")},
            "planner.footsteps": {
                "time_weight": (round(0.02 * (leg / 0.5) ** 2.5, 3), "[m² s²] step durations grow with the legs"),
                "heel_length": (round(max(-sole.x[0], 0.01), 4), "[m]"),
            },
            "planner.pendulum": {"zmp_tolerance": (round(0.25 * sole.width, 3), "[m] half the half-width of the sole")},
        }

    @property
    def _durations(self) -> Table:
        """Durations of steps that differ from the usual: of legs shorter than iCub's, which fall sooner, by Froude's
        number; the longest one also as far as hips and ankles roll.
        """
        quick = min(1.0, math.sqrt(self.posture.leg_length / _ICUB_LEG))
        shortest, longest = (quick * duration for duration in usual_durations())
        swaying, table = _longest_step(self.description, self.posture), {}
        if quick < 1.0:
            table["min_step_duration"] = round(shortest, 2), "[s] short legs fall sooner"
        if swaying < longest:
            table["max_step_duration"] = (
                round(max(shortest + SAMPLE_PERIOD, swaying), 2),
                "[s] hips or ankles roll no farther",
            )
        elif quick < 1.0:
            table["max_step_duration"] = round(longest, 2), "[s] short legs fall sooner"
        return table


def _longest_step(robot: RobotDescription, posture: FirstPosture) -> float:
    r"""Return the longest step in which a level pelvis sways no farther than hips and ankles roll, [s].

    The linear inverted pendulum on points w apart, a step each T, sways by
    :math:`a = \frac{w}{2} \left(1 - \frac{1}{\cosh(\omega T / 2)}\right)`.
    """
    wider = 0.5 * (robot.step_width - posture.hip_distance)
    fraction = min(posture.ways[0] + wider, posture.ways[1] - wider) / (0.5 * robot.step_width)
    if fraction >= 1.0:
        return math.inf
    omega = math.sqrt(GRAVITY / (robot.com_height - robot.sole.z))
    return 2.0 / omega * math.acosh(1.0 / (1.0 - max(fraction, 0.0)))


def draft_robot(
    name: str,
    model: ModelFile,
    choices: Choices | None = None,
    sole: SoleRectangle | None = None,
    title: str | None = None,
) -> Draft:
    """Return the draft of a robot.

    Args:
        name: Its folder.
        model: Where its URDF is.
        choices: Names that the user gives.
        sole: Of the left foot; by default fitted to the shapes of the foot.
        title: Name for reports; ``name`` by default.

    Raises:
        ModelError: The URDF is none of a biped, or something has to be named; the message says what.
    """
    try:
        return _draft(name, model, model.chosen(choices or Choices()), sole, title or name)
    except ModelError as error:
        raise model.named(error) from error


def _draft(name: str, model: ModelFile, choices: Choices, sole: SoleRectangle | None, title: str) -> Draft:
    urdf = read_urdf(model.path)
    limbs = find_limbs(urdf, choices)
    _check_ranges(urdf, limbs)
    tree = weld(urdf, limbs.base_link, limbs.joints)
    massless = [f"'{body.name}'" for body in tree.bodies if not body.inertials]
    if massless:
        raise ModelError(
            f"moving bodies have no mass: {', '.join(massless)}; give them one, or make their joints fixed"
        )
    left_foot = tree.body_of(limbs.soles[Side.LEFT])
    if sole is None and model.lacks_meshes and not (left_foot.collisions or left_foot.visuals):
        raise ModelError(
            f"the foot '{left_foot.name}' has no shapes, since meshes of the model are not there: put them where it"
            " names them, or give its sole with --sole X0,X1,Y0,Y1,Z"
        )
    sole = sole or fit_sole(left_foot, limbs.soles[Side.LEFT], model.path)
    bare = _bare_description(name, model, limbs, urdf, tree, sole)
    load_tree(bare)  # refuses a link that moves and has no inertia
    loaded = IdynTreeModel(bare)
    posture = first_posture(loaded, tree, limbs, sole)
    _check_splay(posture)
    inertia = _joint_inertias(loaded, posture.joint_positions)
    toppling = bare.mass * GRAVITY * posture.com_height
    limited = _joint_groups(loaded, limbs, posture, toppling)
    groups = with_servos(with_drives(limited, loaded, model.drives), inertia, toppling, _VELOCITY)
    legs = [bare.joints.index(name) for side in Side for name in limbs.legs[side]]
    slowest = float(loaded.velocity_limits()[legs].min())
    fraction = min(1.0, max(slowest, 0.5 * _SLOW) / _SLOW)
    width = max(posture.hip_distance, sole.width + _ROOM)
    described = replace(
        bare,
        title=title,
        joint_groups=groups,
        com_height=math.floor(1e3 * posture.com_height) / 1e3,
        step_width=round(width, 3),
        max_speed=round(fraction * posture.top_speed, 2),
        torque_latency=leg_gears(groups).torque_latency,
        assumed_drives=True,
    )
    of_drives = (
        *_guessed_torques(limited, loaded, toppling),
        *guessed_gears(limited, loaded, model.drives),
        *placeholders(groups, model.drives),
        *same_rotors(limited, loaded, model.drives),
    )
    notes = *model.notes, *of_drives, *_weak_ankles(described, posture), *_notes(urdf, limbs, described)
    return Draft(described, posture, notes, model)


def _check_ranges(urdf: Urdf, limbs: Limbs) -> None:
    """Refuse joints that have no range: a URDF that leaves out ``lower`` and ``upper`` means 0."""
    fixed = [name for name in limbs.joints if urdf.joints[name].limits[0] >= urdf.joints[name].limits[1]]
    if fixed:
        more = f" and {len(fixed) - _NAMED} more" * (len(fixed) > _NAMED)
        zero = [
            quantity
            for quantity in ("effort", "velocity")
            if not any(getattr(urdf.joints[name], quantity) for name in fixed)
        ]
        others = f"; {' and '.join(zero)} are 0 as well, and are guessed where they stay so" * bool(zero)
        raise ModelError(
            f"the limits of {', '.join(fixed[:_NAMED])}{more} leave no range: give each <limit> a lower and an upper"
            f" angle{others}"
        )


def _check_splay(posture: FirstPosture) -> None:
    """Refuse legs that are splayed when all joints are at zero: pelvis and soles are level there."""
    if posture.hip_distance > _SPLAYED * posture.leg_length:
        raise ModelError(
            f"the soles are {posture.hip_distance:.2f} m apart when all joints are at zero, the legs"
            f" {posture.leg_length:.2f} m long: legs are splayed there, they have to hang down"
        )


def _bare_description(
    name: str,
    model: ModelFile,
    limbs: Limbs,
    urdf: Urdf,
    tree: RigidTree,
    sole: SoleRectangle,
) -> RobotDescription:
    """Return a description that is enough to load the model: its joints move and have no servos yet."""
    free = {
        group: JointGroup(joints, tuple(0.0 for _ in joints), 1.0, 0.0, math.inf, math.inf)
        for group, joints in limbs.groups.items()
    }
    return RobotDescription(
        name=name,
        title=name,
        package=model.source[0],
        model=model.source[1],
        mass=round(urdf.mass, 2),
        base_link=limbs.base_link,
        torso_frame=limbs.torso_frame,
        left_foot_frame=limbs.soles[Side.LEFT],
        right_foot_frame=limbs.soles[Side.RIGHT],
        imu_frame=limbs.imu_frame,
        joint_groups=free,
        sole=sole,
        force_torque_sensors=tuple(_sensors(urdf, limbs, tree)),
        com_height=1.0,
        step_width=1.0,
        max_speed=1.0,
        model_file=str(model.path),
        balance_inertia=not all(is_physical(body.inertial.inertia) for body in tree.bodies),
    )


def _sensors(urdf: Urdf, limbs: Limbs, tree: RigidTree) -> list[ForceTorqueSensor]:
    """Return the force-torque sensors within the feet; of a foot without any a simulated one at its sole."""
    sensors: list[ForceTorqueSensor] = []
    for side, sole in limbs.soles.items():
        foot = tree.body_of(sole)
        own = {
            name: urdf.joints[joint].child
            for name, joint in urdf.force_torque_joints.items()
            if joint in urdf.joints and urdf.joints[joint].child in foot.frames
        }
        if len(own) < 2:
            own = dict.fromkeys(own or [f"{side}_foot_ft"], sole)
        sensors += [ForceTorqueSensor(name, side, frame) for name, frame in own.items()]
    return sensors


def _joint_groups(model: IdynTreeModel, limbs: Limbs, posture: FirstPosture, toppling: float) -> dict[str, JointGroup]:
    """Return the groups with postures and limits, infinite where a velocity limit is unknown.

    Args:
        model: The robot.
        limbs: Names of the joints.
        posture: Where the joints begin.
        toppling: m g h, [N·m/rad].
    """
    torques, velocities = model.torque_limits(), model.velocity_limits()
    groups, first = {}, 0
    for group, joints in limbs.groups.items():
        rows = slice(first, first + len(joints))
        first += len(joints)
        usual_torque = (_ARM_TORQUE if group.endswith("_arm") else _LEG_TORQUE) * toppling
        groups[group] = JointGroup(
            joints=joints,
            posture=tuple(round(float(angle), 1) + 0.0 for angle in np.degrees(posture.joint_positions[rows])),
            stiffness=1.0,
            damping=0.0,
            velocity_limit=_limit(velocities[rows], FASTEST, math.inf),
            torque_limit=_limit(_useful(torques[rows], toppling), math.inf, two_digits(usual_torque, up=True)),
        )
    return groups


def _useful(torques: NDArray, toppling: float) -> NDArray:
    """Return torque limits of a group, 0 where they are placeholders, [N·m].

    Those are far beyond what the robot weighs, or the same for all of a limb and more than its whole weight needs:
    drives of hips, knees and ankles differ.

    Args:
        torques: Of the model, [N·m].
        toppling: m g h, [N·m/rad].
    """
    are_same = len(torques) >= _LIMB and len(set(torques)) == 1 and torques[0] > toppling
    return np.where((torques >= _USELESS * toppling) | are_same, 0.0, torques)


def _guessed_torques(groups: Mapping[str, JointGroup], model: IdynTreeModel, toppling: float) -> list[str]:
    """Return notes on the groups whose peak torques the model does not have, or has alike for each joint of a leg."""
    torques, first, notes = model.torque_limits(), 0, []
    for name, group in groups.items():
        of_group = torques[first : first + len(group.joints)]
        first += len(group.joints)
        if name.endswith("_leg") and len(set(of_group)) == 1 and _useful(of_group, toppling).all():
            notes.append(
                f"peak torque of {name}: the model has {of_group[0]:.4g} N·m for each joint, perhaps a placeholder;"
                " it is taken"
            )
        if len(of_group) and not _useful(of_group, toppling).any():
            stated = f"{max(of_group):.4g} N·m, a placeholder" if 0.0 < max(of_group) < _UNKNOWN else "none"
            notes.append(
                f"peak torque of {name}: the model has {stated}; {group.torque_limit:.4g} N·m is guessed by the weight"
            )
    return notes


def _weak_ankles(robot: RobotDescription, posture: FirstPosture) -> list[str]:
    """Return a note on ankles that have too little torque to use the width of their soles."""
    half = 0.5 * robot.sole.width
    if posture.ankle_reach >= _USED * half:
        return []
    return [
        f"the torque of the joint that rolls an ankle holds the weight {100 * posture.ankle_reach:.1f} cm beside it, of"
        f" {100 * half:.1f} cm of the sole: by position the robot may tip sideways"
    ]


def _joint_inertias(model: IdynTreeModel, joint_positions: NDArray) -> NDArray:
    """Return the inertia that each joint moves when the base is fixed, [kg·m²], shape (n,)."""
    kinematics = model.kinematics_and_dynamics()
    kinematics.setJointPos(joint_positions)
    size = 6 + len(joint_positions)
    matrix = idyn.MatrixDynSize(size, size)
    if not kinematics.getFreeFloatingMassMatrix(matrix):
        raise ModelError(f"{model.description.name}: iDynTree computes no mass matrix")
    return np.array(np.diag(matrix.toNumPy())[6:], dtype=float)


def _limit(of_urdf: NDArray, useless: float, otherwise: float) -> float:
    """Return the largest useful limit of a group's joints in the URDF, which bounds each of them, or another one."""
    useful = of_urdf[(of_urdf > 0.0) & (of_urdf < useless)]
    return two_digits(float(useful.max()), up=True) if len(useful) else otherwise


def _notes(urdf: Urdf, limbs: Limbs, robot: RobotDescription) -> list[str]:
    simulated = [sensor.name for sensor in robot.force_torque_sensors if sensor.name not in urdf.force_torque_joints]
    notes = [
        f"base {limbs.base_link}, torso {limbs.torso_frame}, IMU {limbs.imu_frame}",
        *(f"{group}: {', '.join(joints) or 'none'}" for group, joints in limbs.groups.items()),
        f"soles {limbs.soles[Side.LEFT]} and {limbs.soles[Side.RIGHT]}:"
        f" {robot.sole.length:.3f} m × {robot.sole.width:.3f} m",
        f"mass {robot.mass:.2f} kg, CoM {robot.com_height} m above the sole frames, step width {robot.step_width} m",
    ]
    if limbs.is_forward_guessed:
        notes.append(
            f"forward is guessed, names, feet and knees do not say it or contradict each other: if the leg of"
            f" {limbs.legs[Side.LEFT][0]} is not the left one, name frames with --left-sole and --right-sole"
        )
    if simulated:
        notes.append(f"no force-torque sensors in the feet: {', '.join(simulated)} are simulated at the soles")
    notes.append(robot.drives_note)
    if robot.balance_inertia:
        inertias = {name: own.inertia for name, link in urdf.links.items() if (own := link.inertial) is not None}
        notes.append(
            f"no body can have the inertia of {'; '.join(unphysical_links(inertias))}: balance_inertia = true raises"
            " the smaller moments; correct the URDF and remove it if you know them"
        )
    return notes


def check_name(name: str, folder: Path, taken: Iterable[str]) -> None:
    """Pass when a new robot may have this name and this folder.

    Args:
        name: Of the robot.
        folder: Of its files.
        taken: Names of the robots that there are.

    Raises:
        ConfigError: It may not.
    """
    check_robot_name(name)
    if name in taken or folder.exists():
        raise ConfigError(f"there is a robot '{name}' already: take another name, or remove its folder")


def write_robot(draft: Draft, folder: Path) -> list[Path]:
    """Write a robot's folder, then build its layers once, which finds contradictions to the model.

    Args:
        draft: Of the robot, its name that of the folder.
        folder: Does not exist yet.

    Returns:
        The files.

    Raises:
        WalkingError: Nothing can be written, or the start posture cannot be reached.
    """
    robot, written = draft.description, []
    try:
        folder.mkdir(parents=True)
        if draft.model.folder is not None:
            shutil.copytree(draft.model.folder, folder, dirs_exist_ok=True)
            written.extend(sorted(folder.glob("*.urdf")))
        for name, text in _texts(draft).items():
            (folder / name).write_text(text, encoding="utf-8")
            written.append(folder / name)
        momentum = {name: (gain, "[s²]") for name, gain in _leg_momentum(folder).items()}
        heading = f"What differs on {robot.title} on soft ground: how accelerations of its feet move the ZMP."
        soft = folder / "soft_ground.toml"
        soft.write_text(_file(heading, {"planner.leg_momentum": momentum}), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {error.filename}: {error.strerror}") from None
    except WalkingError as error:
        raise ConfigError(f"{folder} is written, but does not walk yet: {error}") from None
    return [*written, soft]


def _texts(draft: Draft) -> dict[str, str]:
    """Return the contents of the files by name, except those that need the loaded model."""
    robot = draft.description
    heading = f"What differs on {robot.title}"
    gears, height = leg_gears(robot.joint_groups), robot.com_height - robot.sole.z
    of_drives = drive_files(gears, GRAVITY * robot.mass, height, robot.sole)
    return {
        "robot.toml": robot_text(robot),
        "planner.toml": _file(f"{heading} from config/planner.toml.", draft.planner),
        **{name: _file(f"{heading} {where}.", tables) for name, (where, tables) in of_drives.items()},
    }


def robot_text(robot: RobotDescription) -> str:
    """Return the contents of a robot.toml."""
    names = ("base_link", "torso_frame", "left_foot_frame", "right_foot_frame", "imu_frame")
    facts: dict[str, tuple[object, str]] = {
        "name": (robot.name, ""),
        "title": (robot.title, ""),
        **_source(robot),
        "mass": (robot.mass, "[kg] checked against the model"),
        **{name: (getattr(robot, name), "") for name in names},
        "com_height": (robot.com_height, "[m] above the sole frames, knees bent"),
        "step_width": (robot.step_width, "[m]"),
        "max_speed": (
            robot.max_speed,
            "[m/s] a guess by the length of the legs: raise it to what has been seen to walk",
        ),
    }
    facts["torque_latency"] = robot.torque_latency, "[s] of drives of this kind, bus and current control together"
    if robot.balance_inertia:
        facts["balance_inertia"] = True, "links of the URDF have inertias that no body can have"
    if robot.assumed_drives:
        facts["assumed_drives"] = True, "friction, gear play and motors below; remove this when they are the robot's"
    sole = {name: (getattr(robot.sole, name), "[m] left foot, in its sole frame") for name in ("x", "y", "z")}
    sensors = [
        _table_text("[force_torque_sensors]", {name: (getattr(sensor, name), "") for name in ("name", "foot", "frame")})
        for sensor in robot.force_torque_sensors
    ]
    groups = [_table_text(f"joint_groups.{name}", _group_table(group)) for name, group in robot.joint_groups.items()]
    head = f"# {robot.title}, {robot.model}.\n" + _lines(facts)
    return "\n".join([head, _table_text("sole", sole), *sensors, *groups])


def _source(robot: RobotDescription) -> dict[str, tuple[object, str]]:
    """Return the keys of the model: a package and its model, or the file of a URDF."""
    if robot.package == FILE:
        return {"model_file": (robot.model, "")}
    return {"package": (robot.package, ""), "model": (robot.model, "")}


def _group_table(group: JointGroup) -> Table:
    return {
        "joints": (group.joints, ""),
        "posture": (group.posture, "[deg]"),
        "stiffness": (group.stiffness, "[N·m/rad] from the inertia that the joints move"),
        "damping": (group.damping, "[N·m·s/rad]"),
        "velocity_limit": (group.velocity_limit, "[rad/s] or that of the URDF, where it is lower"),
        "torque_limit": (group.torque_limit, "[N·m] likewise"),
        "rotor_inertia": (
            group.rotor_inertia,
            "[kg·m²] seen through the gears: by the peak torque, as all below, unless an MJCF has it",
        ),
        "coulomb_friction": (
            group.coulomb_friction,
            "[N·m]",
        ),
        "viscous_friction": (group.viscous_friction, "[N·m·s/rad]"),
        "gear_loss": (group.gear_loss, "[-] planetary gears 0.05, servos 0.1, harmonic drives 0.2"),
        "gear_play": (group.gear_play, "[rad] planetary gears 0.2°, servos 0.33°, harmonic drives none"),
        "full_torque_speed": (group.full_torque_speed, "[rad/s] half of the next"),
        "no_load_speed": (group.no_load_speed, "[rad/s] 1.1 of the velocity limit"),
    }


def _leg_momentum(folder: Path) -> dict[str, float]:
    """Return table ``[planner.leg_momentum]``; everything else about the robot is tried on the way."""
    setup = load_setup(str(folder / ROBOT_FILE))
    layers = WalkingLayers(setup.robot, setup.walking)
    (forward, _, forward_lift), (_, lateral, outward_lift) = layers.swing_momentum.zmp_gains(Side.LEFT).tolist()
    gains = {"forward": forward, "lateral": lateral, "forward_lift": forward_lift, "outward_lift": outward_lift}
    return {name: round(gain, 4) for name, gain in gains.items()}


def _file(heading: str, tables: Mapping[str, Table]) -> str:
    return "\n".join([f"# {heading}\n", *(_table_text(name, table) for name, table in tables.items())])


def _table_text(name: str, table: Table) -> str:
    return f"[{name}]\n{_lines(table)}"


def _lines(table: Table) -> str:
    lines = [(f"{key} = {_toml(value)}", comment) for key, (value, comment) in table.items()]
    return "".join(f"{text:{_COMMENT}} # {comment}\n" if comment else f"{text}\n" for text, comment in lines)


def _toml(value: object) -> str:
    """Return a value as TOML has it, a list on one line."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return tomli_w.dumps({"value": value}).partition(" = ")[2].strip()
