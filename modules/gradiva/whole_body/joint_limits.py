r"""Limits of the joints, as bounds of accelerations and torques.

The joint position after a horizon h stays within its limits (thesis equation 7.2.29, with the velocity's share
written as :math:`h \dot s`):

.. math:: 2 (s^- - s - h \dot s) / h^2 \le \ddot s \le 2 (s^+ - s - h \dot s) / h^2
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as cs

from gradiva.common import ConfigError, NDArray, nearest_name
from gradiva.robot_model import IdynTreeModel, SymbolicDynamics
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.task_config import Priority


@dataclass(frozen=True, slots=True)
class JointLimitConfig:
    """Of the joint positions.

    Attributes:
        priority: How binding.
        weight: Of each (rad/s²)² of violation, when soft, [-].
        horizon: After which a joint may have reached its limit, [s].
        margin: Kept from each limit, [rad].
        narrowed: Lower and upper position of joints that are to stay within less than they can, [rad]: a knee that
            passes its straight leg is held there by whatever wants the leg shorter.
    """

    priority: Priority
    weight: float
    horizon: float
    margin: float
    narrowed: dict[str, tuple[float, float]]

    def __post_init__(self) -> None:
        for name in ("weight", "horizon"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        if self.margin < 0.0:
            raise ConfigError(f"margin={self.margin}, must not be negative")


@dataclass(frozen=True, slots=True)
class TorqueLimitConfig:
    """Of the joint torques and their rate; the limits themselves are those of the robot.

    Attributes:
        priority: How binding.
        weight: Of each (N·m)² of violation, when soft, [-].
    """

    priority: Priority
    weight: float

    def __post_init__(self) -> None:
        if self.weight <= 0.0:
            raise ConfigError(f"weight={self.weight}, must be positive")


def acceleration_bounds(
    config: JointLimitConfig, dynamics: SymbolicDynamics, parameters: Parameters
) -> tuple[cs.SX, cs.SX]:
    """Return the lower and upper bound of each joint's acceleration, [rad/s²], (n, 1) each."""
    lower, upper = narrowed_limits(config, dynamics.model)
    horizon = parameters.constant("joint_limit_horizon", config.horizon)
    reached = dynamics.joint_positions + horizon * dynamics.joint_velocities
    least = parameters.constant("lowest_joint_positions", lower + config.margin)
    most = parameters.constant("highest_joint_positions", upper - config.margin)
    return 2.0 * (least - reached) / horizon**2, 2.0 * (most - reached) / horizon**2


def narrowed_limits(config: JointLimitConfig, model: IdynTreeModel) -> tuple[NDArray, NDArray]:
    """Return the lower and upper position of each joint, [rad], (n,) each.

    Raises:
        ConfigError: A joint is unknown, or has no room left.
    """
    lower, upper = (limits.copy() for limits in model.joint_limits())
    joints = model.description.joints
    for joint, (least, most) in config.narrowed.items():
        if joint not in joints:
            raise ConfigError(f"joint_limits.narrowed: no joint '{joint}'{nearest_name(joint, joints)}")
        row = joints.index(joint)
        lower[row], upper[row] = max(lower[row], least), min(upper[row], most)
        if lower[row] >= upper[row]:
            raise ConfigError(f"joint_limits.narrowed.{joint}={[least, most]} leaves it no room")
    return lower, upper


def torque_bounds(dynamics: SymbolicDynamics, parameters: Parameters) -> tuple[cs.SX, cs.SX]:
    """Return the lower and upper bound of each torque, [N·m], (n, 1) each: what is left of the limits in one period."""
    limit = parameters.constant("torque_limits", dynamics.model.torque_limits())
    last, step = parameters.symbol("last_torques", dynamics.joints), parameters.symbol("torque_step")
    lower = cs.fmin(cs.fmax(last - step, -limit), limit)
    return lower, cs.fmin(cs.fmax(last + step, -limit), limit)
