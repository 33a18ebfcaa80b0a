"""Draft the description of a new robot from its URDF alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import GRAVITY, ModelError, NDArray, Side, SoleRectangle
from gradiva.robot_model import (
    ForceTorqueSensor,
    IdynTreeModel,
    JointGroup,
    RobotDescription,
    is_physical,
    unphysical_links,
)
from gradiva.setup.new_robot.first_posture import FirstPosture, first_posture
from gradiva.setup.new_robot.limbs import Choices, Limbs, find_limbs
from gradiva.setup.new_robot.sole_fit import fit_sole
from gradiva.simulation.rigid_tree import RigidTree, weld
from gradiva.simulation.urdf import Urdf, read_urdf

# Servos: natural frequency [rad/s] and damping ratio [-] over the inertia that a joint moves, as on the shipped robots.
_TRUNK_SERVO = (45.0, 0.25)
_ARM_SERVO = (30.0, 1.0)
_STANDING = 6.0  # [-] of m g h: the least stiffness of a leg joint that the robot stands on without toppling
_USELESS = 5.0  # [-] of m g h: torque limits of a URDF above it are none
_LEG_TORQUE, _ARM_TORQUE = 0.5, 0.25  # [-] of m g h, where the URDF has no useful limit
_VELOCITY = 8.0  # [rad/s] where the URDF has no limit
_SLOW = 1.0  # [rad/s] of the slowest leg joint: below it the top speed is lowered in proportion
_FROUDE = 0.12  # [-] of the top speed: that of iCub v2.7 at 0.27 m/s, which all shipped robots walk with a wide margin
_ROOM = 0.03  # [m] between two soles that pass each other
_STRIDE = 0.75  # [-] of the length of the legs: the longest step
_ARMATURE = 0.02  # [-] of the largest inertia that a leg joint moves


@dataclass(frozen=True, slots=True)
class Draft:
    """A first description, with what the planner needs beside it.

    Attributes:
        description: Of the robot.
        posture: Its first posture.
        armature: Inertia of motors and gears at the joints, [kg·m²].
        notes: What was found and what was guessed, a line each.
    """

    description: RobotDescription
    posture: FirstPosture
    armature: float
    notes: tuple[str, ...]

    @property
    def planner(self) -> dict[str, tuple[object, str]]:
        """Table ``[planner]``, values and units: what differs from config/planner.toml, by legs and soles."""
        robot, leg, sole = self.description, self.posture.leg_length, self.description.sole
        middle = [round(0.5 * sum(sole.x), 4) + 0.0, round(0.5 * sum(sole.y), 4) + 0.0]
        longest = math.hypot(_STRIDE * leg, robot.step_width)
        return {
            "zmp_offset": (middle, "[m] the middle of the sole"),
            "cruise_speed": (round(0.5 * robot.max_speed, 2), "[m/s]"),
            "swing_height": (round(0.035 * leg, 3), "[m]"),
            "time_weight": (round(0.02 * (leg / 0.5) ** 2.5, 3), "[m² s²] step durations grow with the legs"),
            "min_feet_distance": (round(sole.width + 0.5 * _ROOM, 3), "[m]"),
            "max_feet_distance": (round(longest, 2), "[m] three quarters of a leg ahead"),
            "min_step_width": (round(min(sole.width + _ROOM, robot.step_width), 3), "[m]"),
            "heel_length": (round(max(-sole.x[0], 0.01), 4), "[m]"),
            "zmp_tolerance": (round(0.25 * sole.width, 3), "[m] half the half-width of the sole"),
        }


def draft_robot(
    name: str,
    source: tuple[str, str],
    model_file: Path,
    choices: Choices | None = None,
    sole: SoleRectangle | None = None,
    title: str | None = None,
) -> Draft:
    """Return the draft of a robot.

    Args:
        name: Its folder.
        source: ``package`` and ``model`` of robot.toml.
        model_file: The URDF.
        choices: What the user names.
        sole: Of the left foot; by default fitted to the shapes of the foot.
        title: Name for reports; ``name`` by default.

    Raises:
        ModelError: The URDF is none of a biped, or something has to be named; the message says what.
    """
    urdf = read_urdf(model_file)
    limbs = find_limbs(urdf, choices or Choices())
    tree = weld(urdf, limbs.base_link, limbs.joints)
    left_foot = tree.body_of(limbs.soles[Side.LEFT])
    sole = sole or fit_sole(left_foot, limbs.soles[Side.LEFT], model_file)
    bare = _bare_description(name, source, model_file, limbs, urdf, tree, sole)
    model = IdynTreeModel(bare)
    posture = first_posture(model, tree, limbs, sole)
    inertia = _joint_inertias(model, posture.joint_positions)
    groups = _joint_groups(model, limbs, posture, inertia, bare.mass * GRAVITY * posture.com_height)
    legs = [bare.joints.index(name) for side in Side for name in limbs.legs[side]]
    slowest = float(model.velocity_limits()[legs].min())
    fraction = min(1.0, max(slowest, 0.5 * _SLOW) / _SLOW)
    width = max(posture.hip_distance, sole.width + _ROOM)
    described = replace(
        bare,
        title=title or name,
        joint_groups=groups,
        com_height=math.floor(1e3 * posture.com_height) / 1e3,
        step_width=round(width, 3),
        max_speed=round(fraction * _FROUDE * math.sqrt(GRAVITY * posture.leg_length), 2),
    )
    armature = _two_digits(_ARMATURE * float(inertia[legs].max()))
    return Draft(described, posture, armature, tuple(_notes(urdf, limbs, described)))


def _bare_description(
    name: str,
    source: tuple[str, str],
    model_file: Path,
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
        package=source[0],
        model=source[1],
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
        model_file=str(model_file),
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


def _joint_groups(
    model: IdynTreeModel, limbs: Limbs, posture: FirstPosture, inertia: NDArray, toppling: float
) -> dict[str, JointGroup]:
    """Return the groups with servos and limits.

    Args:
        model: The robot.
        limbs: Names of the joints.
        posture: Where the joints begin.
        inertia: That each joint moves, [kg·m²], shape (n,).
        toppling: m g h, [N·m/rad].
    """
    torques, velocities = model.torque_limits(), model.velocity_limits()
    groups, first = {}, 0
    for group, joints in limbs.groups.items():
        rows = slice(first, first + len(joints))
        first += len(joints)
        is_arm, is_leg = group.endswith("_arm"), group.endswith("_leg")
        frequency, damping_ratio = _ARM_SERVO if is_arm else _TRUNK_SERVO
        moved = max(inertia[rows], default=1.0)
        stiffness = max(frequency**2 * moved, _STANDING * toppling if is_leg else 0.0)
        groups[group] = JointGroup(
            joints=joints,
            posture=tuple(round(float(angle), 1) + 0.0 for angle in np.degrees(posture.joint_positions[rows])),
            stiffness=_two_digits(stiffness),
            damping=_two_digits(2.0 * damping_ratio * math.sqrt(stiffness * moved)),
            velocity_limit=_limit(velocities[rows], _VELOCITY * _USELESS, _VELOCITY),
            torque_limit=_limit(
                torques[rows], _USELESS * toppling, (_ARM_TORQUE if is_arm else _LEG_TORQUE) * toppling
            ),
        )
    return groups


def _joint_inertias(model: IdynTreeModel, joint_positions: NDArray) -> NDArray:
    """Return what each joint moves when the base stands still, [kg·m²], shape (n,)."""
    kinematics = model.kinematics_and_dynamics()
    kinematics.setJointPos(joint_positions)
    size = 6 + len(joint_positions)
    matrix = idyn.MatrixDynSize(size, size)
    if not kinematics.getFreeFloatingMassMatrix(matrix):
        raise ModelError(f"{model.description.name}: iDynTree computes no mass matrix")
    return np.array(np.diag(matrix.toNumPy())[6:], dtype=float)


def _limit(of_urdf: NDArray, useless: float, otherwise: float) -> float:
    """Return the largest limit of a group's joints in the URDF, which bounds each of them, or another one."""
    useful = of_urdf[(of_urdf > 0.0) & (of_urdf < useless)]
    return _two_digits(float(useful.max()) if len(useful) == len(of_urdf) > 0 else otherwise, up=True)


def _two_digits(value: float, up: bool = False) -> float:
    """Return a number of two significant digits, which is no less if ``up``."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round((math.ceil(value / unit - 1e-9) if up else round(value / unit)) * unit, 6)


def _notes(urdf: Urdf, limbs: Limbs, robot: RobotDescription) -> list[str]:
    simulated = [sensor.name for sensor in robot.force_torque_sensors if sensor.name not in urdf.force_torque_joints]
    notes = [
        f"base {limbs.base_link}, torso {limbs.torso_frame}, IMU {limbs.imu_frame}",
        *(f"{group}: {', '.join(joints) or 'none'}" for group, joints in limbs.groups.items()),
        f"soles {limbs.soles[Side.LEFT]} and {limbs.soles[Side.RIGHT]}:"
        f" {robot.sole.length:.3f} m × {robot.sole.width:.3f} m",
        f"mass {robot.mass:.2f} kg, CoM {robot.com_height} m above the sole frames, step width {robot.step_width} m",
    ]
    if simulated:
        notes.append(f"no force-torque sensors in the feet: {', '.join(simulated)} are simulated at the soles")
    if robot.balance_inertia:
        inertias = {name: own.inertia for name, link in urdf.links.items() if (own := link.inertial) is not None}
        notes.append(
            f"no body can have the inertia of {'; '.join(unphysical_links(inertias))}: balance_inertia = true raises"
            " the smaller moments; correct the URDF and remove it if you know them"
        )
    return notes
