"""What Gradiva has to know of a robot beside its URDF."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gradiva.common import ConfigError, ModelError, NDArray, Side, SoleRectangle, nearest_name
from gradiva.robot_model.robot_ports import RobotPorts

_MASS_TOLERANCE = 0.005  # [-] the description rounds


@dataclass(frozen=True, slots=True)
class ForceTorqueSensor:
    """A force-torque sensor between a foot and the ground.

    Attributes:
        name: Of the sensor.
        foot: Which foot it belongs to.
        frame: Of the model; its wrench is told about the origin and in the axes of this frame.
    """

    name: str
    foot: Side
    frame: str


@dataclass(frozen=True, slots=True)
class JointGroup:
    """Joints that share a posture weight, servo gains and limits.

    Attributes:
        joints: Names, in the robot's order.
        posture: Start posture that the inverse kinematics begins from, [deg], one a joint.
        stiffness: Of the position servos, [N·m/rad].
        damping: Of the position servos, [N·m·s/rad].
        velocity_limit: Intersected with the URDF's, [rad/s].
        torque_limit: Intersected with the URDF's, [N·m].
    """

    joints: tuple[str, ...]
    posture: tuple[float, ...]
    stiffness: float
    damping: float
    velocity_limit: float
    torque_limit: float

    def __post_init__(self) -> None:
        if len(self.posture) != len(self.joints):
            raise ConfigError(f"posture has {len(self.posture)} values for {len(self.joints)} joints")
        _check_positive(self, "stiffness", "velocity_limit", "torque_limit")
        if self.damping < 0.0:
            raise ConfigError(f"damping={self.damping}, must not be negative")


@dataclass(frozen=True, slots=True)
class RobotDescription:
    """A robot: the model it comes from, the names that walking uses, soles, sensors and servos.

    Attributes:
        name: Its folder below ``robots/``.
        title: For people.
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
        force_torque_sensors: Between the feet and the ground.
        com_height: Of the start posture, above the sole frames, [m].
        step_width: Distance of the sole frames in the start posture, [m].
        max_speed: Above it a walk is refused, [m/s].
        model_file: The URDF, found by ``gradiva.setup``.
        ports: On the YARP network; None for a robot that is only simulated in process.
        position_limits: Lower and upper position of joints whose limits are narrower than the URDF's, as the boards of
            a robot tell them, [rad].
        balance_inertia: Whether links with an inertia that no body can have get the nearest one that a body can have,
            see ``inertia.py``; else such a model is refused.
        max_slope_deg: Steepest ground that position control has been seen to walk by a plan for level ground, ahead or
            back and to the sides, [°]; None: nothing is known.
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
    force_torque_sensors: tuple[ForceTorqueSensor, ...]
    com_height: float
    step_width: float
    max_speed: float
    model_file: str = field(default="")
    ports: RobotPorts | None = None
    position_limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    balance_inertia: bool = False
    max_slope_deg: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _check_positive(self, "mass", "com_height", "step_width", "max_speed")
        if self.max_slope_deg is not None and min(self.max_slope_deg) <= 0.0:
            raise ConfigError(f"max_slope_deg={self.max_slope_deg}, must be positive")
        for joint, (lower, upper) in self.position_limits.items():
            if joint not in self.joints:
                raise ConfigError(f"position_limits: no joint '{joint}'{nearest_name(joint, self.joints)}")
            if lower > upper:
                raise ConfigError(f"position_limits: {joint} may move from {lower} to {upper} rad, which is nowhere")
        if self.ports is not None:
            self.ports.check(self.joints, (sensor.name for sensor in self.force_torque_sensors))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the actuated joints, in order."""
        return tuple(joint for group in self.joint_groups.values() for joint in group.joints)

    @property
    def posture(self) -> NDArray:
        """Where the inverse kinematics of the start posture begins, [rad], shape (n,)."""
        return np.radians([angle for group in self.joint_groups.values() for angle in group.posture])

    def per_joint(self, quantity: str) -> NDArray:
        """Return a group's number spread over its joints, shape (n,).

        Args:
            quantity: ``stiffness``, ``damping``, ``velocity_limit`` or ``torque_limit``.
        """
        groups = self.joint_groups.values()
        return np.array([float(getattr(group, quantity)) for group in groups for _ in group.joints])

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


def _check_positive(described: JointGroup | RobotDescription, *names: str) -> None:
    for name in names:
        if getattr(described, name) <= 0.0:
            raise ConfigError(f"{name}={getattr(described, name)}, must be positive")
