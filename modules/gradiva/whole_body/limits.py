r"""Limit joints, torques and foot wrenches, as rows of a problem of torque control.

The joint position after a horizon h stays within its limits (thesis equation 7.2.29, with the velocity's part
written as :math:`h \dot s`):

.. math:: 2 (s^- - s - h \dot s) / h^2 \le \ddot s \le 2 (s^+ - s - h \dot s) / h^2

A wrench stays within friction pyramid, centre of pressure, torsional friction and least load. In the axes of the
sole, with the moment taken about its origin, on the plane of its bottom:

.. math::
    |f_x|, |f_y| \le \mu f_z, \quad |\mu_z| \le \mu_t f_z, \quad f_z \ge f_{min}, \quad
    x_- f_z \le -\mu_y + z f_x \le x_+ f_z, \quad y_- f_z \le \mu_x + z f_y \le y_+ f_z
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as cs
import numpy as np

from gradiva.common import GRAVITY, ConfigError, NDArray, Side, nearest_name
from gradiva.robot_model import IdynTreeModel, SymbolicDynamics
from gradiva.whole_body.qp_composer import UNBOUNDED, Priority, QpComposer
from gradiva.whole_body.reference_symbols import Parameters
from gradiva.whole_body.tasks import Body

LIMIT_HORIZON = 0.03  # [s] without it knees invert, unseen by the error of the CoM; much longer keeps off the limits
FRICTION = 0.5  # [-] of each direction of the pyramid; half of what the simulated sole has
SOLE_FRACTION = 0.9  # [-] of the sole that the centre of pressure may use
KEPT_LOAD = {side: f"{side}_kept_load" for side in Side}
"""Parameters of `limit_wrench`: part of the weight that a loaded foot carries at least, [-]; 0 unless set."""
_LEAST_LOAD = 0.02  # [-] of the weight: at most that much of ``minimum_force``, for robots of 25 kg and less


@dataclass(frozen=True, slots=True)
class JointLimitConfig:
    """Configure the limits of the joint positions.

    Attributes:
        priority: Hard, soft or off.
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
    """Configure the limits of the joint torques and their rate; the limits themselves are those of the robot.

    Attributes:
        priority: Hard, soft or off.
        weight: Of each (N·m)² of violation, when soft, [-]; at 1e4 a foot lifted under load makes torques jump a
            quarter more.
    """

    priority: Priority
    weight: float = 1e6

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
    """Return the bounds of each actuated joint's torque in one period, [N·m], (a, 1) each."""
    actuated = list(dynamics.model.description.actuated)
    limit = parameters.constant("torque_limits", dynamics.model.torque_limits()[actuated])
    last, step = parameters.symbol("last_torques", len(actuated)), parameters.symbol("torque_step")
    lower = cs.fmin(cs.fmax(last - step, -limit), limit)
    return lower, cs.fmin(cs.fmax(last + step, -limit), limit)


@dataclass(frozen=True, slots=True)
class WrenchConeConfig:
    """Configure the wrench cone of a foot; by default as on rigid and on soft ground.

    Attributes:
        priority: Hard, soft or off.
        weight: Of each N² and (N·m)² of violation, when soft, [-].
        friction: Coefficient of each direction of the pyramid, [-].
        torsional_friction: Moment about the vertical over the normal force, [m]; half a sole's width times friction.
        sole_fraction: Of the sole, about its middle, that the centre of pressure may use, [-].
        minimum_force: Normal force that a loaded foot keeps, [N]; at most a fiftieth of the robot's weight.
    """

    priority: Priority
    weight: float
    friction: float = FRICTION
    torsional_friction: float = 0.03
    sole_fraction: float = SOLE_FRACTION
    minimum_force: float = 5.0

    def __post_init__(self) -> None:
        for name in ("weight", "friction", "torsional_friction"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        if not 0.0 < self.sole_fraction <= 1.0:
            raise ConfigError(f"sole_fraction={self.sole_fraction}, must be in (0, 1]")
        if self.minimum_force < 0.0:
            raise ConfigError(f"minimum_force={self.minimum_force}, must not be negative: the ground does not pull")


def cone_numbers(config: WrenchConeConfig, corners: NDArray, height: float) -> NDArray:
    """Return μ, μ_t, x₋, x₊, y₋, y₊, z and the least f_z of one contact, shape (8,).

    Args:
        config: Of the cone.
        corners: Of the touching rectangle in the frame of the contact, [m], shape (4, 2).
        height: Of the rectangle in that frame, [m].
    """
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = 0.5 * (1.0 - config.sole_fraction) * (high - low)
    (x0, y0), (x1, y1) = low + margin, high - margin
    return np.array([config.friction, config.torsional_friction, x0, x1, y0, y1, height, config.minimum_force])


def cone_rows(wrench: cs.SX, numbers: cs.SX) -> cs.SX:
    """Return what must not be positive, of a wrench in the axes of the sole about its origin, (11, 1)."""
    fx, fy, fz, mx, my, mz = cs.vertsplit(wrench)
    friction, torsion, x0, x1, y0, y1, z, least = cs.vertsplit(numbers)
    forward, left = z * fx - my, mx + z * fy  # normal force times where it acts on the sole's bottom
    return cs.vertcat(
        fx - friction * fz,
        -fx - friction * fz,
        fy - friction * fz,
        -fy - friction * fz,
        mz - torsion * fz,
        -mz - torsion * fz,
        forward - x1 * fz,
        x0 * fz - forward,
        left - y1 * fz,
        y0 * fz - left,
        least - fz,
    )


def in_axes_of(rotation: cs.SX, wrench: cs.SX) -> cs.SX:
    """Return a wrench in the axes of a frame, about the same point, (6, 1)."""
    return cs.vertcat(rotation.T @ wrench[:3], rotation.T @ wrench[3:])


def limit_joint_positions(composer: QpComposer, body: Body, config: JointLimitConfig) -> None:
    """Keep the actuated joints within their positions."""
    lower, upper = acceleration_bounds(config, body.dynamics, body.parameters)
    for joint in body.dynamics.model.description.passive:
        lower[joint], upper[joint] = -UNBOUNDED, UNBOUNDED
    composer.bound("joint positions", 0, lower, upper, config.priority, config.weight)


def limit_torques(composer: QpComposer, body: Body, config: TorqueLimitConfig) -> None:
    """Keep the torques within their limits, and within ``torque_step`` of the ``last_torques``, inputs."""
    lower, upper = torque_bounds(body.dynamics, body.parameters)
    composer.limit("joint torques", body.torques, lower, upper, config.priority, config.weight)


def limit_wrench(composer: QpComposer, body: Body, side: Side, wrench: cs.SX, config: WrenchConeConfig) -> None:
    """Keep the wrench of one foot in its cone, while the foot is loaded."""
    robot = body.dynamics.model.description
    weight, name = robot.mass * GRAVITY, f"{side} foot's wrench"
    least = min(config.minimum_force, _LEAST_LOAD * weight)
    cone = cone_numbers(replace(config, minimum_force=least), robot.sole.corners(side), robot.sole.z)
    numbers = body.parameters.constant(f"{name}.cone", cone)
    kept = weight * body.parameters.constant(KEPT_LOAD[side], 0.0)
    numbers = cs.vertcat(numbers[:-1], cs.fmax(numbers[-1], kept))
    limit_contact(composer, body, side, name, wrench, numbers, config)


def limit_contact(
    composer: QpComposer, body: Body, contact: str, name: str, wrench: cs.SX, numbers: cs.SX, config: WrenchConeConfig
) -> None:
    """Keep the wrench of a contact in its cone, while it is loaded; ``numbers`` are its ``cone_numbers``."""
    value = cone_rows(in_axes_of(body.feet[contact].rotation, wrench), numbers)
    endless = UNBOUNDED * cs.SX.ones(value.numel())
    upper = (1.0 - body.reference.feet[contact].is_loaded) * endless
    composer.limit(name, value, -endless, upper, config.priority, config.weight)
