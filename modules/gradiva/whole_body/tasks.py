r"""State the tasks of the whole body: gains, weights, priorities, and rows in the symbols of a problem.

By kinematics a task has rows :math:`J` and a velocity :math:`v^*`: it is the constraint :math:`J \nu = v^*` when hard,
the cost :math:`\| J \nu - v^* \|^2_\Lambda` when soft (thesis section 7.1.1). By torque it is a residual that is affine
in :math:`\dot\nu` or in the foot wrenches :math:`f_k`; poses follow :math:`\ddot e = -k_d \dot e - k_p e` (thesis
sections 7.2.1 and 7.2.2).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Protocol

import casadi as cs

from gradiva.common import ConfigError, Side
from gradiva.robot_model import SymbolicDynamics, SymbolicFrame, symbolic_log
from gradiva.whole_body.whole_body_reference import FootSymbols


class Priority(StrEnum):
    """How binding a task or a limit is."""

    HARD = "hard"
    """A constraint: without an answer that meets it there is none. Relaxed, it is as a soft one."""
    SOFT = "soft"
    """Each square of what is missing costs its weight."""
    OFF = "off"
    """Not asked for."""


class _Task(Protocol):
    @property
    def priority(self) -> Priority: ...

    @property
    def weight(self) -> float: ...


@dataclass(frozen=True, slots=True)
class PoseTaskConfig:
    """Of a frame's position and orientation.

    Attributes:
        priority: How binding.
        weight: Of each (m/s²)² and (rad/s²)² that is missing, when soft, [-].
        linear_stiffness: [1/s²].
        linear_damping: [1/s].
        angular_stiffness: [1/s²].
        angular_damping: [1/s].
    """

    priority: Priority
    weight: float
    linear_stiffness: float
    linear_damping: float
    angular_stiffness: float
    angular_damping: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class OrientationTaskConfig:
    """Of a frame's orientation.

    Attributes:
        priority: How binding.
        weight: Of each (rad/s²)² that is missing, when soft, [-].
        stiffness: [1/s²].
        damping: [1/s].
    """

    priority: Priority
    weight: float
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class ComTaskConfig:
    """Of the centre of mass.

    Attributes:
        priority: How binding.
        weight: Of each (m/s²)² that is missing, when soft, [-].
        stiffness: [1/s²].
        damping: [1/s].
    """

    priority: Priority
    weight: float
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class AngularMomentumTaskConfig:
    """Of the centroidal angular momentum, which is asked to be zero.

    Attributes:
        priority: How binding.
        weight: Of each (N·m)² that is missing to its rate, when soft, [-].
        damping: [1/s].
    """

    priority: Priority
    weight: float
    damping: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class ZmpTaskConfig:
    """Of a zero moment point.

    Attributes:
        priority: How binding.
        weight: Of each (N·m)² of the moment about it, when soft, [-].
    """

    priority: Priority
    weight: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class PostureTaskConfig:
    """Of the joints; always soft, critically damped.

    Attributes:
        stiffness: By joint group, [1/s²].
        weights: By joint group, of each (rad/s²)² that is missing, [-].
    """

    stiffness: dict[str, float]
    weights: dict[str, float]

    def __post_init__(self) -> None:
        for name, table in (("stiffness", self.stiffness), ("weights", self.weights)):
            for group, value in table.items():
                if value <= 0.0:
                    raise ConfigError(f"{name}.{group}={value}, must be positive")


def check_task(config: _Task) -> None:
    """Pass when a task can be asked for as its configuration says.

    Raises:
        ConfigError: A number is negative, or a hard task has no weight.
    """
    refuse_negative(config)
    if config.priority is Priority.HARD and config.weight == 0.0:
        raise ConfigError("weight=0.0, must be positive: it is what a hard task costs where it cannot be met")


def refuse_negative(config: object) -> None:
    """Pass when no number of a configuration is negative.

    Raises:
        ConfigError: One is.
    """
    for entry in fields(config):  # type: ignore[arg-type]
        value = getattr(config, entry.name)
        if isinstance(value, float) and value < 0.0:
            raise ConfigError(f"{entry.name}={value}, must not be negative")


@dataclass
class Task:
    """Rows, what they ask for, and the symbols that are set from outside.

    Attributes:
        jacobian: J, (m, 6 + n).
        target: v*, (m, 1).
        parameters: Name to symbol: references and gains.
    """

    jacobian: cs.SX
    target: cs.SX
    parameters: dict[str, cs.SX] = field(default_factory=dict)


def rotation_error(body: SymbolicFrame, rotation: cs.SX) -> cs.SX:
    r"""Return the rotation that is missing to ``rotation``: :math:`Log(R_r R^T)`, world, [rad], (3, 1)."""
    return symbolic_log(rotation @ body.rotation.T)


def se3_task(dynamics: SymbolicDynamics, frame: str, name: str, linear_gain: cs.SX, angular_gain: cs.SX) -> Task:
    r"""Pose of a frame: :math:`\dot p^* = \dot p_r + k (p_r - p)`, :math:`\omega^* = \omega_r + k Log(R_r R^T)`.

    Thesis equations (7.1.7) and (7.1.8).
    """
    body = dynamics.frame(frame)
    position = cs.SX.sym(f"{name}_position", 3)
    rotation = cs.SX.sym(f"{name}_rotation", 3, 3)
    twist = cs.SX.sym(f"{name}_twist", 6)
    linear = twist[:3] + linear_gain * (position - body.position)
    angular = twist[3:] + angular_gain * rotation_error(body, rotation)
    parameters = {f"{name}_position": position, f"{name}_rotation": rotation, f"{name}_twist": twist}
    return Task(body.jacobian, cs.vertcat(linear, angular), parameters)


def so3_task(dynamics: SymbolicDynamics, frame: str, name: str, angular_velocity: cs.SX, gain: cs.SX) -> Task:
    r"""Orientation of a frame: :math:`\omega^* = \omega_r + k Log(R_r R^T)`, thesis equation (7.1.10)."""
    body = dynamics.frame(frame)
    rotation = cs.SX.sym(f"{name}_rotation", 3, 3)
    target = angular_velocity + gain * rotation_error(body, rotation)
    return Task(body.jacobian[3:, :], target, {f"{name}_rotation": rotation})


def com_task(dynamics: SymbolicDynamics, gain: cs.SX) -> Task:
    r"""Centre of mass: :math:`\dot x^* = \dot x_r + k (x_r - x)`; the linear part of thesis equation (7.1.4)."""
    position = cs.SX.sym("com_position", 3)
    velocity = cs.SX.sym("com_velocity", 3)
    target = velocity + gain * (position - dynamics.com_position)
    return Task(dynamics.com_jacobian, target, {"com_position": position, "com_velocity": velocity})


def angular_momentum_task(dynamics: SymbolicDynamics) -> Task:
    """Centroidal angular momentum, asked to be zero: what the legs swing, the arms swing back."""
    return Task(dynamics.centroidal_momentum_matrix[3:, :], cs.SX(3, 1))


def posture_task(dynamics: SymbolicDynamics, gain: cs.SX) -> Task:
    r"""Joints: :math:`\dot s^* = k (s_r - s)`, thesis equations (7.1.11) and (7.1.12)."""
    posture = cs.SX.sym("posture", dynamics.joints)
    jacobian = cs.horzcat(cs.SX(dynamics.joints, 6), cs.SX.eye(dynamics.joints))
    return Task(jacobian, gain * (posture - dynamics.joint_positions), {"posture": posture})


Gains = tuple[cs.SX, cs.SX]
"""k_p [1/s²] and k_d [1/s]."""
Wrenches = dict[Side, cs.SX]
Frames = dict[Side, SymbolicFrame]


def frame_acceleration(frame: SymbolicFrame, acceleration: cs.SX) -> cs.SX:
    r"""Return :math:`J \dot\nu + \dot J \nu`, linear then angular, (6, 1)."""
    return frame.jacobian @ acceleration + frame.bias_acceleration


def pose_law(frame: SymbolicFrame, foot: FootSymbols, linear: Gains, angular: Gains) -> cs.SX:
    r"""Return the acceleration that brings a sole to its reference, (6, 1).

    .. math::
        \ddot p^* = \ddot p_r + k_d (\dot p_r - \dot p) + k_p (p_r - p), \quad
        \dot\omega^* = \dot\omega_r + k_d (\omega_r - \omega) + k_p Log(R_r R^T)

    Args:
        frame: The sole.
        foot: Its reference.
        linear: Of the position.
        angular: Of the orientation.
    """
    missing = foot.twist - frame.twist
    position = linear[0] * (foot.position - frame.position) + linear[1] * missing[:3]
    orientation = angular[0] * rotation_error(frame, foot.rotation) + angular[1] * missing[3:]
    return foot.acceleration + cs.vertcat(position, orientation)


def orientation_law(
    frame: SymbolicFrame,
    rotation: cs.SX,
    angular_velocity: cs.SX,
    angular_acceleration: cs.SX,
    gains: Gains,
) -> cs.SX:
    r"""Return the angular acceleration that turns a frame to its reference, (3, 1); the law of ``pose_law``."""
    damping = gains[1] * (angular_velocity - frame.twist[3:])
    return angular_acceleration + gains[0] * rotation_error(frame, rotation) + damping


def linear_momentum_rate(dynamics: SymbolicDynamics, wrenches: Wrenches) -> cs.SX:
    r"""Return :math:`\sum_k f_k + m g`, [N], (3, 1)."""
    return wrenches[Side.LEFT][:3] + wrenches[Side.RIGHT][:3] + dynamics.mass * dynamics.gravity


def angular_momentum_rate(dynamics: SymbolicDynamics, feet: Frames, wrenches: Wrenches) -> cs.SX:
    r"""Return :math:`\sum_k S(p_k - x) f_k + \mu_k`, about the CoM, [N·m], (3, 1)."""
    rate = cs.SX.zeros(3)
    for side in Side:
        lever = feet[side].position - dynamics.com_position
        rate += cs.cross(lever, wrenches[side][:3]) + wrenches[side][3:]
    return rate


def angular_momentum(dynamics: SymbolicDynamics) -> cs.SX:
    """Return the centroidal angular momentum, [N·m·s], (3, 1)."""
    momentum = dynamics.centroidal_momentum_matrix[3:, :]
    return momentum @ cs.vertcat(dynamics.base_twist, dynamics.joint_velocities)


def global_zmp_moment(feet: Frames, wrenches: Wrenches, zmp: cs.SX) -> cs.SX:
    r"""Return the horizontal moment of the wrenches about the desired ZMP, [N·m], (2, 1).

    With :math:`\Gamma_k = [[0, 0, p_x, 0, -1, 0], [0, 0, p_y, 1, 0, 0]]`, :math:`\sum_k \Gamma_k f_k - z_r f_z`: zero
    where the ZMP is as wanted (thesis section 7.2).
    """
    moment = cs.SX.zeros(2)
    for side in Side:
        moment += local_zmp_moment(wrenches[side], zmp - feet[side].position[:2])
    return moment


def local_zmp_moment(wrench: cs.SX, zmp: cs.SX) -> cs.SX:
    r"""Return :math:`[-\mu_y, \mu_x] - z f_z` of one foot, with z from the sole origin, world axes, [N·m], (2, 1)."""
    return cs.vertcat(-wrench[4], wrench[3]) - zmp * wrench[2]


def expected_wrench(frame: SymbolicFrame, foot: FootSymbols) -> cs.SX:
    """Return the expected wrench about the sole origin where the foot really is, [N, N·m], (6, 1)."""
    force = foot.wrench[:3]
    return cs.vertcat(force, foot.wrench[3:] + cs.cross(foot.position - frame.position, force))


def expected_zmp(frame: SymbolicFrame, foot: FootSymbols) -> cs.SX:
    """Return where the expected wrench has its centre of pressure, from the sole origin, world axes, [m], (2, 1)."""
    wrench = expected_wrench(frame, foot)
    force = cs.fmax(wrench[2], 1.0)  # [N] of an unloaded foot the point means nothing
    return cs.vertcat(-wrench[4], wrench[3]) / force
