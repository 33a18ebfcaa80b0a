"""The unicycle: state, sampled path, ramps of its velocity, and the law that follows a point."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray
from gradiva.planner.planner_config import (
    REFERENCE_POINT,
    SAMPLE_PERIOD,
    SLOW_WHEN_TURNING,
    UNICYCLE_GAIN,
    PlannerConfig,
)


@dataclass(frozen=True, slots=True)
class UnicycleState:
    """Pose (world) and velocity (own axes) of the unicycle.

    Attributes:
        x: [m].
        y: [m].
        yaw: Not wrapped, [rad].
        forward: [m/s].
        lateral: To the left, [m/s].
        angular: As commanded, [rad/s].
        heading_error: Less the commanded heading, of a velocity that turns it back, [rad].
    """

    x: float
    y: float
    yaw: float
    forward: float = 0.0
    lateral: float = 0.0
    angular: float = 0.0
    heading_error: float = 0.0

    @property
    def place(self) -> tuple[float, float]:
        """Place, world, [m]."""
        return self.x, self.y

    @property
    def velocity(self) -> NDArray:
        """Forward, lateral and angular velocity, shape (3,)."""
        return np.array([self.forward, self.lateral, self.angular])


@dataclass(frozen=True, slots=True, eq=False)
class UnicyclePath:
    """A path of the unicycle, sampled; it ends at rest where the last sample stands.

    Attributes:
        period: dT, [s].
        poses: x, y, yaw (world), [m, m, rad], shape (n, 3).
        velocities: Forward, lateral, angular, as commanded over the interval that follows the sample, shape (n, 3).
        travelled: Integral of the forward and the lateral velocity, [m], shape (n, 2).
        heading_errors: Yaw less the commanded one, [rad], shape (n,).
    """

    period: float
    poses: NDArray
    velocities: NDArray
    travelled: NDArray
    heading_errors: NDArray

    @classmethod
    def from_velocities(
        cls, start: UnicycleState, velocities: NDArray, period: float, heading_errors: NDArray | None = None
    ) -> UnicyclePath:
        r"""Integrate piecewise constant velocities exactly (thesis 10.1.1, with a lateral velocity).

        Each interval is an arc: its chord has the length :math:`v T \,\mathrm{sinc}(\omega T / 2)` and the
        direction of the yaw in the middle of the interval.

        Args:
            start: Where the first sample stands.
            velocities: Forward, lateral, angular, one row an interval, shape (n, 3).
            period: [s].
            heading_errors: As they fade, from that of the start on, [rad], shape (n + 1,); None: there are none.
        """
        errors = np.zeros(len(velocities) + 1) if heading_errors is None else heading_errors
        turned = period * velocities[:, 2] + np.diff(errors)
        yaw = start.yaw + np.concatenate(([0.0], np.cumsum(turned)))
        middle = yaw[:-1] + 0.5 * turned
        chord = np.sinc(turned / (2.0 * math.pi)) * period
        c, s = chord * np.cos(middle), chord * np.sin(middle)
        forward, lateral = velocities[:, 0], velocities[:, 1]
        poses = np.empty((len(yaw), 3))
        poses[0] = start.x, start.y, start.yaw
        poses[1:, 0] = start.x + np.cumsum(c * forward - s * lateral)
        poses[1:, 1] = start.y + np.cumsum(s * forward + c * lateral)
        poses[:, 2] = yaw
        travelled = np.concatenate((np.zeros((1, 2)), period * np.cumsum(velocities[:, :2], axis=0)))
        return cls(period, poses, np.vstack((velocities, np.zeros((1, 3)))), travelled, errors)

    @classmethod
    def standing(cls, state: UnicycleState, period: float) -> UnicyclePath:
        """Return the path that stays where ``state`` is."""
        return cls.from_velocities(state, np.zeros((0, 3)), period)

    @property
    def end_index(self) -> int:
        """Index of the last sample."""
        return len(self.poses) - 1

    @property
    def duration(self) -> float:
        """[s]."""
        return self.end_index * self.period

    def state(self, index: int) -> UnicycleState:
        """Return one sample; the last one for indices beyond the end."""
        index = min(index, self.end_index)
        (x, y, yaw), (forward, lateral, angular) = self.poses[index].tolist(), self.velocities[index].tolist()
        return UnicycleState(x, y, yaw, forward, lateral, angular, float(self.heading_errors[index]))


def ramped_velocities(
    start: NDArray, command: NDArray, ramp_up: float, ramp_down: float, duration: float, period: float
) -> NDArray:
    """Return a velocity that goes linearly from ``start`` to ``command``, stays, and falls linearly to zero.

    Args:
        start: Forward, lateral, angular, shape (3,).
        command: The same.
        ramp_up: [s].
        ramp_down: [s].
        duration: Of the whole, [s]; where it is shorter than both ramps, they are shortened alike.
        period: [s].

    Returns:
        Mean velocities of the intervals, shape (n, 3).
    """
    count = max(1, round(duration / period))
    shrink = min(1.0, count * period / max(ramp_up + ramp_down, 1e-9))
    middle = (np.arange(count) + 0.5) * period
    rise = np.minimum(1.0, middle / max(shrink * ramp_up, 1e-9))
    fall = np.minimum(1.0, (count * period - middle) / max(shrink * ramp_down, 1e-9))
    return (start + rise[:, None] * (command - start)) * fall[:, None]


def turn_velocities(angle: float, max_rate: float, acceleration: float, period: float) -> NDArray:
    """Return the velocities of a turn on the spot by exactly ``angle`` [rad], trapezoidal in time.

    Returns:
        Forward, lateral (zero), angular, shape (n, 3); no rows where there is nothing to turn.
    """
    if abs(angle) < 1e-9:
        return np.zeros((0, 3))
    peak = min(max_rate, math.sqrt(abs(angle) * acceleration))
    ramp = peak / acceleration
    turn = ramped_velocities(np.zeros(3), np.array([0.0, 0.0, peak]), ramp, ramp, abs(angle) / peak + ramp, period)
    return turn * (angle / (period * turn[:, 2].sum()))


class PointFollower:
    r"""Drives the reference point F of the unicycle to a desired point (thesis eq. 10.1.5, 10.1.6).

    .. math:: u = \begin{bmatrix} v \\ \omega \end{bmatrix} = B(\theta)^{-1} (\dot x_F^* - K (x_F - x_F^*)), \qquad
              B(\theta) = R(\theta) \begin{bmatrix} 1 & -F_y \\ 0 & F_x \end{bmatrix}

    The velocity of F is shortened to v_max first, so that u keeps its direction far from the goal; then ω is
    kept within its limit and v within [0, v_max / (1 + c |ω|)]: the robot turns towards what lies behind it (unless
    that is nearer than half the way to F: then it goes back), slows down when it turns or
    has to turn, and speeds up no faster than the ramp allows.

    Args:
        config: Reference point, gain and limits.
        max_speed: v_max of this command, [m/s].
        acceleration: Largest rise of v, [m/s²].
    """

    def __init__(self, config: PlannerConfig, max_speed: float, acceleration: float) -> None:
        self._point = REFERENCE_POINT
        self._gain = UNICYCLE_GAIN
        self._max_speed = max_speed
        self._max_angular = config.commands.max_angular_speed
        self._slow = SLOW_WHEN_TURNING
        self._max_rise = acceleration * SAMPLE_PERIOD

    def control_point(self, pose: tuple[float, float, float]) -> tuple[float, float]:
        """Return F for the unicycle's pose x, y, yaw (world, [m])."""
        x, y, yaw = pose
        c, s = math.cos(yaw), math.sin(yaw)
        fx, fy = self._point
        return x + c * fx - s * fy, y + s * fx + c * fy

    def velocity(
        self,
        pose: tuple[float, float, float],
        desired: tuple[float, float],
        desired_velocity: tuple[float, float],
        last_speed: float,
        speed_limit: float,
        angular_range: tuple[float, float],
    ) -> tuple[float, float]:
        """Return v [m/s] and ω [rad/s].

        Args:
            pose: x, y, yaw of the unicycle.
            desired: Where F should be, [m].
            desired_velocity: [m/s].
            last_speed: v of the sample before, [m/s].
            speed_limit: What the rest of the way allows, [m/s].
            angular_range: Least and largest ω, within the limit, [rad/s].
        """
        x, y = self.control_point(pose)
        error_x, error_y = x - desired[0], y - desired[1]
        wx = desired_velocity[0] - self._gain * error_x
        wy = desired_velocity[1] - self._gain * error_y
        shrink = min(1.0, self._max_speed / max(math.hypot(wx, wy), 1e-9))
        wx, wy = shrink * wx, shrink * wy
        c, s = math.cos(pose[2]), math.sin(pose[2])
        along, across = c * wx + s * wy, c * wy - s * wx
        omega = across / self._point[0]
        is_near = math.hypot(error_x, error_y) < 0.5 * self._point[0]
        if along < 0.0 and not is_near:
            omega = math.copysign(self._max_angular, omega)  # it lies behind: turn, to the left if exactly behind
        omega = min(self._max_angular, angular_range[1], max(-self._max_angular, angular_range[0], omega))
        limit = min(self._max_speed / (1.0 + self._slow * abs(omega)), speed_limit, last_speed + self._max_rise)
        if not is_near:
            limit *= max(0.0, along) ** 2 / max(wx * wx + wy * wy, 1e-9)  # cos² of the angle still to turn
        backward = -0.25 * self._max_speed if is_near else 0.0
        return min(limit, max(backward, along + self._point[1] * omega)), omega
