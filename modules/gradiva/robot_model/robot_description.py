"""Describe a robot beside its URDF: joints, soles, sensors, servos, limits; the types of ``robot.toml``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from gradiva.common import ConfigError, ControlMode, ModelError, NDArray, Side, SoleRectangle, nearest_name
from gradiva.robot_model.flexible_joints import UNLIMITED, FlexibleJoint
from gradiva.robot_model.robot_ports import RobotPorts

T = TypeVar("T")
_MASS_TOLERANCE = 0.005  # [-] the description rounds


@dataclass(frozen=True, slots=True)
class ForceTorqueSensor:
    """A force-torque sensor between a foot and the ground.

    Attributes:
        name: Of the sensor.
        foot: Which foot it belongs to.
        frame: Of the model; its wrench is about the origin and in the axes of this frame.
        is_real: Whether the robot has it; else nothing reads it, and its wrench is estimated from joint torques.
    """

    name: str
    foot: Side
    frame: str
    is_real: bool = True


PerJoint = float | tuple[float, ...]
"""One number for all joints of a group, or one a joint."""


@dataclass(frozen=True, slots=True)
class JointGroup:
    r"""Joints that share a posture weight, and their drives: servo, rotor, gear and motor, all seen at the joint.

    A joint is a degree of freedom of the model. Where it has no motor it is passive: it turns by its spring and damper.
    The position servo's torque, which the boards of the robot compute, is

    .. math:: \tau = (k_p - k_v) (s^* - s) + k_d (\beta \dot s^* - \dot s)
                     + \int k_i (s^* - s) + k_v (\beta \dot s^* - \dot s)\, dt

    Each number is one for the group, or a list with one a joint.

    Attributes:
        joints: Names, in the robot's order.
        posture: Start posture that the inverse kinematics begins from, [deg], one a joint.
        stiffness: Of the position servos, :math:`k_p`, [N·m/rad]; of passive joints that of their springs about
            ``posture``, or 0.
        damping: Of the position servos, :math:`k_d`, [N·m·s/rad]; of passive joints their own.
        velocity_limit: Of references, intersected with the URDF's, [rad/s].
        torque_limit: Peak, intersected with the URDF's, [N·m]: of the motor, seen at the joint before friction and gear
            loss take their part. A gear's peak by its catalogue is at its output; taken here as it is, it is cautious.
        integral_gain: :math:`k_i`, [N·m/(rad·s)].
        velocity_stiffness: The part of the stiffness that an integral of the velocity's error gives, :math:`k_v`,
            [N·m/rad].
        integral_limit: Of the integral's torque, [N·m].
        velocity_feedforward: Fraction of the velocity of the reference that is fed forward, :math:`\beta`, [-].
        rotor_inertia: Of rotor and gear, reflected: N² J with the ratio N, [kg·m²].
        coulomb_friction: [N·m].
        viscous_friction: [N·m·s/rad].
        gear_loss: Fraction of the drive's torque that the gear loses as friction, 1 - efficiency, [-]; harmonic drives
            have an efficiency of 0.7 to 0.8 (catalogues).
        gear_play: Between the ends of the play, [rad].
        full_torque_speed: Up to which the motor has its peak torque, [rad/s].
        no_load_speed: At which it has none left, [rad/s]; 0: the torque does not depend on the speed.
        actuated: Whether the joints have motors; else nothing commands them.
        measured: Whether the joints have encoders.
    """

    joints: tuple[str, ...]
    posture: tuple[float, ...]
    stiffness: PerJoint
    damping: PerJoint
    velocity_limit: PerJoint
    torque_limit: PerJoint
    integral_gain: PerJoint = 0.0
    velocity_stiffness: PerJoint = 0.0
    integral_limit: PerJoint = 0.0
    velocity_feedforward: PerJoint = 0.0
    rotor_inertia: PerJoint = 0.0
    coulomb_friction: PerJoint = 0.0
    viscous_friction: PerJoint = 0.0
    gear_loss: PerJoint = 0.2
    gear_play: PerJoint = 0.0
    full_torque_speed: PerJoint = 0.0
    no_load_speed: PerJoint = 0.0
    actuated: bool = True
    measured: bool = True

    def __post_init__(self) -> None:
        if len(self.posture) != len(self.joints):
            raise ConfigError(f"posture has {len(self.posture)} values for {len(self.joints)} joints")
        for name in QUANTITIES:
            values = getattr(self, name)
            if isinstance(values, tuple) and len(values) != len(self.joints):
                raise ConfigError(f"{name}={list(values)} has {len(values)} values for {len(self.joints)} joints")
            if any(value < 0.0 for value in self.per_joint(name)):
                raise ConfigError(f"{name}={values}, must not be negative")
        for name in (*(("stiffness",) if self.actuated else ()), "velocity_limit", "torque_limit"):
            if not all(value > 0.0 for value in self.per_joint(name)):
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        self._check_drives()

    def per_joint(self, quantity: str) -> tuple[float, ...]:
        """Return one number a joint."""
        values = getattr(self, quantity)
        return values if isinstance(values, tuple) else (float(values),) * len(self.joints)

    def _check_drives(self) -> None:
        for full, none in zip(self.per_joint("full_torque_speed"), self.per_joint("no_load_speed"), strict=True):
            if full > 0.0 and full >= none:
                raise ConfigError(f"full_torque_speed={full}, must be below no_load_speed={none}")
        for name in ("gear_loss", "velocity_feedforward"):
            if any(value > 1.0 for value in self.per_joint(name)):
                raise ConfigError(f"{name}={getattr(self, name)}, must not exceed 1")
        gains = zip(*map(self.per_joint, ("stiffness", "integral_gain", "velocity_stiffness")), strict=True)
        for (stiffness, gain, part), limit in zip(gains, self.per_joint("integral_limit"), strict=True):
            if max(gain, part) > 0.0 and limit == 0.0:
                raise ConfigError(f"integral_limit={limit}, must be positive where the servo has an integral")
            if part > 0.0 and part >= stiffness:
                raise ConfigError(f"velocity_stiffness={part}, must be below stiffness={stiffness}")


FLEXIBLE_GROUP = "flexible_joints"
"""Name of the joint group of the flexible joints."""

QUANTITIES = tuple(field.name for field in fields(JointGroup) if field.type == "PerJoint")
"""Fields of a `JointGroup` that are numbers, one for the group or one a joint."""


@dataclass(frozen=True, slots=True, eq=False)
class ServoLaw:
    """Gains of the position servos of all joints, see `JointGroup`; arrays of shape (n,)."""

    stiffness: NDArray
    damping: NDArray
    velocity_feedforward: NDArray
    integral_gain: NDArray
    velocity_stiffness: NDArray
    integral_limit: NDArray

    @property
    def lag(self) -> NDArray:
        """Lag of a joint behind a set-point that moves at constant speed, [s], shape (n,).

        That of a velocity loop is (1 - β) k_v / k_i, the inverse of its position gain; else (1 - β) k_d / k_p.
        """
        is_loop = self.velocity_stiffness > 0.0
        per_velocity = np.where(is_loop, self.velocity_stiffness, self.damping)
        return (1.0 - self.velocity_feedforward) * per_velocity / np.where(is_loop, self.integral_gain, self.stiffness)

    @classmethod
    def of(cls, description: RobotDescription) -> ServoLaw:
        """Return that of the robot's boards."""
        return cls(**{field.name: description.per_joint(field.name) for field in fields(cls)})

    def scaled(self, stiffness: float) -> ServoLaw:
        """Return the law with other gains of the position's error: all of them by a factor, [-]."""
        return replace(
            self,
            stiffness=stiffness * self.stiffness,
            integral_gain=stiffness * self.integral_gain,
            velocity_stiffness=stiffness * self.velocity_stiffness,
        )


@dataclass(frozen=True, slots=True)
class RotorCoupling:
    r"""A rotor that turns with several joints, as in a differential: at the speed :math:`c^\top \dot s`.

    Attributes:
        joints: Names.
        coefficients: c, of each of ``joints``, [-].
        inertia: Of rotor and gear, at the speed :math:`c^\top \dot s`, [kg·m²].
    """

    joints: tuple[str, ...]
    coefficients: tuple[float, ...]
    inertia: float

    def __post_init__(self) -> None:
        if len(self.coefficients) != len(self.joints):
            raise ConfigError(f"{len(self.coefficients)} coefficients for {len(self.joints)} joints")
        if self.inertia <= 0.0:
            raise ConfigError(f"inertia={self.inertia}, must be positive")


@dataclass(frozen=True, slots=True)
class RobotDescription:
    """A robot: the model it comes from, the names that walking uses, soles, sensors and servos.

    Attributes:
        name: Its folder below ``robots/``.
        title: In texts and figures.
        package: Python package that carries the model.
        model: Name of the model in that package.
        mass: Of the whole robot, checked against the model, [kg].
        base_link: The floating base.
        torso_frame: The frame kept upright.
        left_foot_frame: Sole frame, x forward, z up.
        right_foot_frame: Sole frame, x forward, z up.
        imu_frame: Frame of the inertial unit.
        joint_groups: Name to group; their concatenation is the order of the joints.
        sole: Rectangle of the left sole.
        force_torque_sensors: Between the feet and the ground; none: see ``without_foot_sensors``.
        com_height: Of the start posture, above the sole frames, [m].
        step_width: Distance of the sole frames in the start posture, [m].
        max_speed: Above it a walk is refused, [m/s]; known by position control.
        model_file: The URDF, found by ``gradiva.setup``.
        ports: On the YARP network; None for a robot that is only simulated in process.
        position_limits: Lower and upper position of joints whose limits are narrower than the URDF's, as the boards of
            a robot report them, [rad].
        balance_inertia: Whether links with an inertia that no body can have get the nearest one that a body can have,
            else such a model is refused, see `is_physical`.
        assumed_drives: Whether friction, gear play and motor curves of the joints are assumed by torque and speed, not
            known of this robot; what walks on the plant ``robot`` says so.
        max_slope_deg: Steepest ground that position control has been seen to walk by a plan for level ground, ahead or
            back and to the sides, [°]; None: nothing is known.
        max_torque_slope_deg: Steepest ground that torque control has been seen to walk, as above, [°].
        max_torque_speed: Above it a walk by torque control is refused, [m/s]; None: ``max_speed`` counts there too.
        torque_latency: From a torque's command to the torque, bus and current control together, [s].
        rotor_couplings: Rotors that turn with several joints, beside those of ``JointGroup.rotor_inertia``.
        flexible_joints: Passive joints in which the deflection of links is concentrated, as the controller knows them;
            beside ``joints`` unless the description is ``with_flexible_joints``.
    """

    name: str
    title: str
    package: str
    model: str
    mass: float
    base_link: str
    torso_frame: str
    left_foot_frame: str
    right_foot_frame: str
    imu_frame: str
    joint_groups: dict[str, JointGroup]
    sole: SoleRectangle
    com_height: float
    step_width: float
    max_speed: float
    force_torque_sensors: tuple[ForceTorqueSensor, ...] = ()
    model_file: str = field(default="")
    ports: RobotPorts | None = None
    position_limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    balance_inertia: bool = False
    assumed_drives: bool = False
    max_slope_deg: tuple[float, float] | None = None
    max_torque_slope_deg: tuple[float, float] | None = None
    max_torque_speed: float | None = None
    torque_latency: float = 0.01
    rotor_couplings: tuple[RotorCoupling, ...] = ()
    flexible_joints: tuple[FlexibleJoint, ...] = ()

    def __post_init__(self) -> None:
        for name in ("mass", "com_height", "step_width", "max_speed"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        for name in ("max_slope_deg", "max_torque_slope_deg"):
            if (limits := getattr(self, name)) is not None and min(limits) <= 0.0:
                raise ConfigError(f"{name}={limits}, must be positive")
        if self.max_torque_speed is not None and self.max_torque_speed <= 0.0:
            raise ConfigError(f"max_torque_speed={self.max_torque_speed}, must be positive")
        if self.torque_latency < 0.0:
            raise ConfigError(f"torque_latency={self.torque_latency}, must not be negative")
        for joint, (lower, upper) in self.position_limits.items():
            if joint not in self.joints:
                raise ConfigError(f"position_limits: no joint '{joint}'{nearest_name(joint, self.joints)}")
            if lower > upper:
                raise ConfigError(f"position_limits: {joint} may move from {lower} to {upper} rad, which is nowhere")
        for joint in (joint for coupling in self.rotor_couplings for joint in coupling.joints):
            if joint not in self.joints:
                raise ConfigError(f"rotor_couplings: no joint '{joint}'{nearest_name(joint, self.joints)}")
        if self.ports is not None:
            wired = {*self.actuated_joints, *self.measured_joints}
            contacts = [sensor.name for sensor in self.real_force_torque_sensors]
            self.ports.check([joint for joint in self.joints if joint in wired], contacts)

    def known_speed(self, control: ControlMode) -> float:
        """Return the fastest speed that the robot is known to walk by a control mode, [m/s]; of velocity: position."""
        by_torque = self.max_torque_speed if control is ControlMode.TORQUE else None
        return self.max_speed if by_torque is None else by_torque

    @property
    def drives_note(self) -> str:
        """One line on drives that are assumed; empty where they are the robot's."""
        if not self.assumed_drives:
            return ""
        return (
            f"friction, gear play and motors of {self.title} are assumed by torque and speed of each joint:"
            " joint_groups of its robot.toml"
        )

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, the degrees of freedom of the model, in order."""
        return tuple(joint for group in self.joint_groups.values() for joint in group.joints)

    @property
    def leg_joints(self) -> tuple[str, ...]:
        """Names of the joints of the legs, the left one first."""
        return tuple(joint for side in Side for joint in self.joint_groups[f"{side}_leg"].joints)

    def with_flexible_joints(self) -> RobotDescription:
        """Return the description whose ``joints`` are these joints, then the flexible ones as a passive group.

        It is that of models of the flexible robot, with ``actuated`` and ``passive`` joints; measurements and commands
        are of this one. A robot without flexible joints is its own.
        """
        flexible = self.flexible_joints
        if not flexible or flexible[-1].name in self.joints:
            return self
        group = JointGroup(
            joints=tuple(joint.name for joint in flexible),
            posture=(0.0,) * len(flexible),
            stiffness=tuple(joint.stiffness for joint in flexible),
            damping=tuple(joint.damping for joint in flexible),
            velocity_limit=UNLIMITED,
            torque_limit=UNLIMITED,
            gear_loss=0.0,
            actuated=False,
            measured=False,
        )
        return replace(self, joint_groups={**self.joint_groups, FLEXIBLE_GROUP: group})

    def without_foot_sensors(self) -> RobotDescription:
        """Return the description of the robot in whose feet nothing measures forces.

        The places of sensors stay, or each sole is one: wrenches are estimated there, and simulated soles touch there.
        """
        places = self.force_torque_sensors or tuple(
            ForceTorqueSensor(f"{side}_foot", side, self.foot_frame(side)) for side in Side
        )
        ports = None if self.ports is None else self.ports.without_contacts()
        estimated = tuple(replace(place, is_real=False) for place in places)
        return replace(self, force_torque_sensors=estimated, ports=ports)

    @property
    def real_force_torque_sensors(self) -> tuple[ForceTorqueSensor, ...]:
        """Sensors that the robot has; of the others the wrench is estimated."""
        return tuple(sensor for sensor in self.force_torque_sensors if sensor.is_real)

    @property
    def actuated(self) -> tuple[int, ...]:
        """Indices of the joints that have motors: of those that commands are for, in order, (a,)."""
        return self._indices(lambda group: group.actuated)

    @property
    def passive(self) -> tuple[int, ...]:
        """Indices of the joints without motors, (n - a,)."""
        return self._indices(lambda group: not group.actuated)

    @property
    def measured(self) -> tuple[int, ...]:
        """Indices of the joints that have encoders, (m,)."""
        return self._indices(lambda group: group.measured)

    @property
    def actuated_joints(self) -> tuple[str, ...]:
        """Names of the joints that have motors, in the order of a command, (a,)."""
        return tuple(self.joints[index] for index in self.actuated)

    @property
    def measured_joints(self) -> tuple[str, ...]:
        """Names of the joints that have encoders, in the order of a measurement, (m,)."""
        return tuple(self.joints[index] for index in self.measured)

    @property
    def selection(self) -> slice | list[int]:
        """Index that takes the actuated joints out of an array of all; where all are, it copies nothing."""
        return list(self.actuated) if self.passive else slice(None)

    @property
    def actuation(self) -> NDArray:
        """Selection matrix S of the actuated joints: s_a = S s, generalised forces Sᵀ τ; shape (a, n)."""
        return np.eye(len(self.joints))[list(self.actuated)]

    def _indices(self, wanted: Callable[[JointGroup], bool]) -> tuple[int, ...]:
        flags = [wanted(group) for group in self.joint_groups.values() for _ in group.joints]
        return tuple(index for index, flag in enumerate(flags) if flag)

    @property
    def posture(self) -> NDArray:
        """Return the joint positions from which the start posture is solved, [rad], shape (n,)."""
        return np.radians([angle for group in self.joint_groups.values() for angle in group.posture])

    def per_joint(self, quantity: str) -> NDArray:
        """Return a quantity of the joint groups, one number a joint, shape (n,).

        Args:
            quantity: Field of `JointGroup`: one of ``QUANTITIES``.
        """
        return np.array([value for group in self.joint_groups.values() for value in group.per_joint(quantity)])

    @property
    def rotor_inertia_matrix(self) -> NDArray:
        r"""Inertia of the rotors, which adds to the joint block of the mass matrix, [kg·m²], shape (n, n).

        .. math:: \mathrm{diag}(N^2 J) + \sum_k J_k c_k c_k^\top

        What a rotor's spin does to the link that carries it is of order 1 / N of this and is neglected.
        """
        matrix = np.diag(self.per_joint("rotor_inertia"))
        for coupling in self.rotor_couplings:
            rows = [self.joints.index(joint) for joint in coupling.joints]
            matrix[np.ix_(rows, rows)] += coupling.inertia * np.outer(coupling.coefficients, coupling.coefficients)
        return matrix

    def spread(self, numbers: dict[str, float], where: str) -> NDArray:
        """Return numbers given by group name as one number a joint, shape (n,).

        Raises:
            ConfigError: A group is unknown or missing.
        """
        for name in numbers:
            if name not in self.joint_groups:
                raise ConfigError(f"{where}: unknown joint group '{name}'{nearest_name(name, self.joint_groups)}")
        missing = [name for name in self.joint_groups if name not in numbers]
        if missing:
            raise ConfigError(f"{where}: missing joint group '{missing[0]}'")
        return np.array([numbers[name] for name, group in self.joint_groups.items() for _ in group.joints])

    def check_mass(self, mass: float) -> None:
        """Pass when a model of ``mass`` [kg] is the one that is described.

        Raises:
            ModelError: It weighs something else.
        """
        if abs(mass - self.mass) > _MASS_TOLERANCE * self.mass:
            raise ModelError(f"{self.name}: the model weighs {mass:.2f} kg, its description says {self.mass} kg")

    def foot_frame(self, side: Side) -> str:
        """The sole frame of one foot."""
        return self.left_foot_frame if side is Side.LEFT else self.right_foot_frame

    def sensors_of(self, side: Side) -> list[int]:
        """Rows of ``Measurement.contact_wrenches`` that belong to one foot."""
        return [row for row, sensor in enumerate(self.force_torque_sensors) if sensor.foot is side]

    @property
    def model_path(self) -> Path:
        """The URDF as a path."""
        return Path(self.model_file)


class ConfiguredRobot(Protocol):
    """A robot that brings its configuration, as ``gradiva.load_robot`` returns it."""

    @property
    def description(self) -> RobotDescription:
        """Description of the robot."""
        ...

    def part(self, kind: type[T], table: str) -> T:
        """Return a table of its configuration as an instance of ``kind``."""
        ...


def configured(kind: type[T], given: T | ConfiguredRobot, table: str) -> T:
    """Return a configuration: the one that is given, or that of a robot in the table called so.

    Raises:
        ConfigError: The robot's table is refused.
    """
    return given if isinstance(given, kind) else given.part(kind, table)  # type: ignore[union-attr]
