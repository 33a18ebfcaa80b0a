r"""State the tasks of walking: feet, centre of mass, momentum, trunk, posture, ZMP, wrenches and torques.

Each is a class with its configuration: by kinematics the rows :math:`J` and :math:`v^*` (thesis section 7.1.1), by
torque a residual; poses follow :math:`\ddot e = -k_d \dot e - k_p e` (thesis sections 7.2.1 and 7.2.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as cs
import numpy as np

from gradiva.common import GRAVITY, ConfigError, Side
from gradiva.robot_model import SymbolicDynamics, SymbolicFrame
from gradiva.whole_body.qp_composer import UNBOUNDED, Priority
from gradiva.whole_body.reference_symbols import FootSymbols
from gradiva.whole_body.tasks import (
    Body,
    Frames,
    SoftTaskConfig,
    Task,
    WeightedTaskConfig,
    Wrenches,
    frame_acceleration,
    linear_momentum_rate,
    orientation_law,
    pose_law,
    pose_velocity,
    rotation_error,
)

ZMP_EXCESS = "zmp_excess"
"""Parameter of `WalkingComTask`: how far its ZMP may be from the loaded soles, [m]; unbounded unless set."""

_FAR = 1e3  # [m] beyond all soles


@dataclass(frozen=True, slots=True)
class PoseTaskConfig(WeightedTaskConfig):
    """Configure a task of a frame's pose; weight of each (m/s²)² and (rad/s²)².

    Attributes:
        linear_stiffness: [1/s²].
        linear_damping: [1/s].
        angular_stiffness: [1/s²].
        angular_damping: [1/s].
    """

    linear_stiffness: float
    linear_damping: float
    angular_stiffness: float
    angular_damping: float


@dataclass(frozen=True, slots=True)
class OrientationTaskConfig(WeightedTaskConfig):
    """Configure a task of a frame's orientation; weight of each (rad/s²)².

    Attributes:
        stiffness: [1/s²].
        damping: [1/s].
    """

    stiffness: float
    damping: float


@dataclass(frozen=True, slots=True)
class ComTaskConfig(WeightedTaskConfig):
    """Configure the task of the centre of mass; weight of each (m/s²)².

    Attributes:
        stiffness: [1/s²].
        damping: [1/s].
    """

    stiffness: float
    damping: float


@dataclass(frozen=True, slots=True)
class AngularMomentumTaskConfig(WeightedTaskConfig):
    """Configure the task that keeps the centroidal angular momentum at zero; weight of each (N·m)² of its rate.

    Attributes:
        damping: [1/s].
    """

    damping: float


@dataclass(frozen=True, slots=True)
class PostureTaskConfig:
    """Configure the task of the joints; always soft, critically damped.

    Attributes:
        stiffness: By joint group, [1/s²].
        weights: By joint group, of each (rad/s²)² of the residual, [-].
    """

    stiffness: dict[str, float]
    weights: dict[str, float]

    @property
    def priority(self) -> Priority:
        """Always soft."""
        return Priority.SOFT

    @property
    def weight(self) -> float:
        """Replaced by those of the joint groups."""
        return 1.0

    def __post_init__(self) -> None:
        for name, table in (("stiffness", self.stiffness), ("weights", self.weights)):
            for group, value in table.items():
                if value <= 0.0:
                    raise ConfigError(f"{name}.{group}={value}, must be positive")


@dataclass(frozen=True, slots=True)
class Gain:
    """Gain of a task of kinematics.

    Attributes:
        priority: Hard or soft.
        weight: Of each square of the velocity's residual, [-].
        gain: [1/s].
    """

    priority: Priority
    weight: float
    gain: float = 0.0


@dataclass(frozen=True, slots=True)
class PoseGains:
    """Gains of a pose task of kinematics.

    Attributes:
        priority: Hard or soft.
        weight: Of each square of the velocity's residual, [-].
        linear_gain: [1/s].
        angular_gain: [1/s].
    """

    priority: Priority
    weight: float
    linear_gain: float
    angular_gain: float


# -- the tasks of the thesis -------------------------------------------------------------------------------------------


class FootTask(Task):
    """Bring a sole to its reference pose; of a foot with load, of one without, or of both."""

    Config = PoseTaskConfig

    def __init__(
        self, name: str, side: Side, config: PoseTaskConfig | PoseGains, when_loaded: bool | None = None
    ) -> None:
        """Take the foot, and whether the task is active with load, without load, or always (None)."""
        super().__init__(name, config)
        self._side = side
        self._when_loaded = when_loaded

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        r"""Return J and v*: :math:`\dot p_r + k (p_r - p)`, :math:`\omega_r + k Log(R_r R^T)` (7.1.7, 7.1.8)."""
        frame, foot = body.feet[self._side], body.reference.feet[self._side]
        return frame.jacobian, pose_velocity(frame, foot, *self._gains(body))

    def error(self, body: Body) -> cs.SX:
        """Return v* over the gains: the pose's error, plus the motion of the reference in a time constant, (6, 1)."""
        (_, target), (linear, angular) = self.velocity(body), self._gains(body)
        return cs.vertcat(target[:3] / linear, target[3:] / angular)

    def acceleration(self, body: Body) -> cs.SX:
        """Return the residual of `pose_law`."""
        config, frame = self.config, body.feet[self._side]
        linear = self.gains(body, "linear.", config.linear_stiffness, config.linear_damping)
        angular = self.gains(body, "angular.", config.angular_stiffness, config.angular_damping)
        wanted = pose_law(frame, body.reference.feet[self._side], linear, angular)
        return frame_acceleration(frame, body.acceleration) - wanted

    def activity(self, body: Body) -> cs.SX | float:
        """Return 1 while the foot is loaded, or unloaded, as configured."""
        if self._when_loaded is None:
            return 1.0
        loaded = body.reference.feet[self._side].is_loaded
        return loaded if self._when_loaded else 1.0 - loaded

    def _gains(self, body: Body) -> tuple[cs.SX, cs.SX]:
        return (
            self.constant(body, "linear_gain", self.config.linear_gain),
            self.constant(body, "angular_gain", self.config.angular_gain),
        )


class TrunkTask(Task):
    """Turn a frame of the trunk to its reference rotation."""

    Config = OrientationTaskConfig

    def __init__(self, name: str, frame: str, rotation: str, config: OrientationTaskConfig | Gain) -> None:
        """Take the frame, and the name of its reference's rotation."""
        super().__init__(name, config)
        self._frame = frame
        self._rotation = rotation

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        r"""Return J and v*: :math:`\omega_r + k Log(R_r R^T)` (7.1.10)."""
        frame, gain = body.dynamics.frame(self._frame), self.constant(body, "gain", self.config.gain)
        error = rotation_error(frame, getattr(body.reference, self._rotation))
        return frame.jacobian[3:, :], body.reference.trunk_angular_velocity + gain * error

    def acceleration(self, body: Body) -> cs.SX:
        """Return the residual of `orientation_law`."""
        frame, reference = body.dynamics.frame(self._frame), body.reference
        wanted = orientation_law(
            frame,
            getattr(reference, self._rotation),
            reference.trunk_angular_velocity,
            reference.trunk_angular_acceleration,
            self.gains(body, "", self.config.stiffness, self.config.damping),
        )
        return frame_acceleration(frame, body.acceleration)[3:] - wanted


class WalkingComTask(Task):
    """Bring the centre of mass to its reference, by torque through the wrenches."""

    Config = ComTaskConfig

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        r"""Return J and v*: :math:`\dot x_r + k (x_r - x)`; the linear part of (7.1.4)."""
        dynamics, reference = body.dynamics, body.reference
        gain = self.constant(body, "gain", self.config.gain)
        target = reference.com_velocity + gain * (reference.com_position - dynamics.com_position)
        return dynamics.com_jacobian, target

    def error(self, body: Body) -> cs.SX:
        """Return v* over the gain, as `FootTask.error`, (3, 1)."""
        return self.velocity(body)[1] / self.constant(body, "gain", self.config.gain)

    def acceleration(self, body: Body) -> cs.SX:
        """Return Σ f / m + g - ẍ*, with ẍ* = ẍ_r + k_d (ẋ_r - ẋ) + k_p (x_r - x), less `excess_acceleration`."""
        dynamics, reference = body.dynamics, body.reference
        stiffness, damping = self.gains(body, "", self.config.stiffness, self.config.damping)
        wanted = reference.com_acceleration + damping * (reference.com_velocity - dynamics.com_velocity)
        wanted += stiffness * (reference.com_position - dynamics.com_position)
        wanted[:2] -= excess_acceleration(body, wanted)
        return linear_momentum_rate(dynamics, body.wrenches) / dynamics.mass - wanted


class AngularMomentumTask(Task):
    """Keep the centroidal angular momentum at zero: arms swing against the legs."""

    Config = AngularMomentumTaskConfig

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        """Return the angular rows of the centroidal momentum matrix, and zero."""
        return body.dynamics.centroidal_momentum_matrix[3:, :], cs.SX(3, 1)

    def acceleration(self, body: Body) -> cs.SX:
        """Return Σ S(p - x) f + μ + k_d L."""
        damping = self.constant(body, "damping", self.config.damping)
        rate = angular_momentum_rate(body.dynamics, body.feet, body.wrenches)
        return rate + damping * angular_momentum(body.dynamics)


class WalkingPostureTask(Task):
    """Bring the actuated joints to their reference positions, each with a weight of its own."""

    Config = PostureTaskConfig

    def __init__(self, config: PostureTaskConfig | Gain, weights: Mapping[str, float], where: str) -> None:
        """Take the gains, the weights by joint group, and in which table those stand."""
        super().__init__("posture", config)
        self._weights = weights
        self._where = where

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        r"""Return J and v*: :math:`k (s_r - s)` (7.1.11, 7.1.12)."""
        joints, gain, rows = body.dynamics.joints, self.constant(body, "gain", self.config.gain), _actuated(body)
        target = gain * (body.reference.posture - body.dynamics.joint_positions)
        return cs.horzcat(cs.SX(joints, 6), cs.SX.eye(joints))[rows, :], target[rows]

    def acceleration(self, body: Body) -> cs.SX:
        r"""Return :math:`\ddot s - k_p (s_r - s) + k_d \dot s`, critically damped."""
        stiffness = body.dynamics.model.description.spread(self.config.stiffness, "[posture.stiffness]")
        spring = self.constant(body, "stiffness", stiffness)
        damper = self.constant(body, "damping", 2.0 * np.sqrt(stiffness))
        error = body.reference.posture - body.dynamics.joint_positions
        wanted = spring * error - damper * body.dynamics.joint_velocities
        return (body.acceleration[6:] - wanted)[_actuated(body)]

    def weights(self, body: Body) -> cs.SX:
        """Return those of the joint groups, one a joint."""
        weights = body.dynamics.model.description.spread(dict(self._weights), self._where)
        return self.constant(body, "weights", weights)[_actuated(body)]


class WrenchTask(Task):
    r"""Keep the wrench of one foot near the expected one, or near zero without load.

    Moments weigh :math:`(m g / \max(f_{r,z}, f_0))^2` times as much as forces, so that both centres of pressure share
    what is asked for, not both moments: a foot with a tenth of the load would have its own at its edge and rock there.
    """

    def __init__(self, name: str, side: Side, weight: float) -> None:
        super().__init__(name, SoftTaskConfig(weight))
        self._side = side

    def acceleration(self, body: Body) -> cs.SX:
        """Return f - f_r."""
        return body.wrenches[self._side] - self._expected(body)

    def weights(self, body: Body) -> cs.SX:
        """Return those of three forces and three moments, by the load that is expected."""
        load = self._expected(body)[2] / (body.dynamics.mass * GRAVITY)
        moments = super().weights(body) / cs.fmax(load, _LEAST_LOAD) ** 2
        return cs.vertcat(*[super().weights(body)] * 3, *[moments] * 3)

    def _expected(self, body: Body) -> cs.SX:
        foot = body.reference.feet[self._side]
        return foot.is_loaded * expected_wrench(body.feet[self._side], foot)


_LEAST_LOAD = 0.1  # [-] of the weight, f_0: moments of feet with less weigh a tenth of those of the angular momentum


def _actuated(body: Body) -> list[int]:
    return list(body.dynamics.model.description.actuated)


# -- equations ---------------------------------------------------------------------------------------------------------


def excess_acceleration(body: Body, acceleration: cs.SX) -> cs.SX:
    r"""Return the part of a horizontal acceleration that no ZMP near the soles exerts, [m/s²], (2, 1).

    :math:`z = x - \ddot x^* x_z / (g + \ddot x_z^*)`, with :math:`x_z` above the soles, is to be within `ZMP_EXCESS`
    of the box about the loaded soles, in the axes of the pelvis' heading; where it is, exactly 0 is returned.
    """
    dynamics, reference = body.dynamics, body.reference
    excess = body.parameters.constant(ZMP_EXCESS, UNBOUNDED)
    heading = dynamics.base_rotation[:2, 0]
    ahead = heading / cs.norm_2(heading)
    turn = cs.horzcat(ahead, cs.vertcat(-ahead[1], ahead[0]))
    low, high, loads, height = cs.SX([_FAR, _FAR]), cs.SX([-_FAR, -_FAR]), cs.SX(0), cs.SX(0)
    for side in Side:
        foot, is_loaded = body.feet[side], reference.feet[side].is_loaded
        for corner in dynamics.model.description.sole.corners(side):
            point = turn.T @ (foot.position + foot.rotation @ cs.vertcat(*corner, 0.0))[:2]
            low = cs.fmin(low, point + (1.0 - is_loaded) * 2.0 * _FAR)
            high = cs.fmax(high, point - (1.0 - is_loaded) * 2.0 * _FAR)
        loads, height = loads + is_loaded, height + is_loaded * foot.position[2]
    height = dynamics.com_position[2] - height / cs.fmax(loads, 1.0)
    square = (acceleration[2] - dynamics.gravity[2]) / height
    zmp = turn.T @ (dynamics.com_position[:2] - acceleration[:2] / square)
    beyond = zmp - cs.fmin(cs.fmax(zmp, low - excess), high + excess)
    return cs.if_else(loads > 0.0, -square * (turn @ beyond), 0.0)


def angular_momentum_rate(dynamics: SymbolicDynamics, feet: Frames, wrenches: Wrenches) -> cs.SX:
    r"""Return :math:`\sum_k S(p_k - x) f_k + \mu_k`, about the CoM, [N·m], (3, 1)."""
    rate = cs.SX.zeros(3)
    for name, wrench in wrenches.items():
        lever = feet[name].position - dynamics.com_position
        rate += cs.cross(lever, wrench[:3]) + wrench[3:]
    return rate


def angular_momentum(dynamics: SymbolicDynamics) -> cs.SX:
    """Return the centroidal angular momentum, [N·m·s], (3, 1)."""
    momentum = dynamics.centroidal_momentum_matrix[3:, :]
    return momentum @ cs.vertcat(dynamics.base_twist, dynamics.joint_velocities)


def expected_wrench(frame: SymbolicFrame, foot: FootSymbols) -> cs.SX:
    """Return the expected wrench about the sole origin where the foot really is, [N, N·m], (6, 1)."""
    force = foot.wrench[:3]
    return cs.vertcat(force, foot.wrench[3:] + cs.cross(foot.position - frame.position, force))
