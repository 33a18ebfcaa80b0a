"""The law that drives the unicycle."""

from __future__ import annotations

import math

from gradiva.planner.planner_config import PlannerConfig


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
        self._point = config.reference_point
        self._gain = config.unicycle_gain
        self._max_speed = max_speed
        self._max_angular = config.max_angular_speed
        self._slow = config.slow_when_turning
        self._max_rise = acceleration * config.sample_period

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
