"""From a command to the path of the unicycle."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gradiva.common import NDArray, PlanningError, so3
from gradiva.planner.command import Command, GoalCommand, PathCommand, StopCommand, VelocityCommand
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.unicycle import PointFollower, UnicyclePath, UnicycleState, ramped_velocities, turn_velocities
from gradiva.planner.unicycle_planner import Polyline

_ARRIVED = 0.002  # [m] nearer than this, F is where it should be
_AHEAD = 1.0  # [rad] a path that begins within this of the heading is followed at once
_NEAR = 2.0  # [reference lengths] of a path whose beginning is nearer than this the robot stands on
_JOINING = 4.0  # [reference lengths] over which it then comes to the path
_JOINING_PIECE = 0.5  # [reference lengths]
_SEARCHED = 5.0  # [reference lengths] of a path that begins where the robot is


class UnicyclePlanner:
    """Plans the sampled path of the unicycle (thesis 10.1.1), which the footsteps follow.

    A velocity command is integrated exactly; goals and paths drive the reference point F with
    :class:`PointFollower`. Speeds rise and fall over ``ramp_steps`` steps.

    Args:
        config: Limits, ramps and the point-following law.
    """

    def __init__(self, config: PlannerConfig) -> None:
        self._config = config

    def path(self, command: Command, start: UnicycleState) -> UnicyclePath:
        """Return the path from ``start`` that ``command`` asks for.

        Raises:
            PlanningError: A speed exceeds its limit, or the goal is out of reach.
        """
        if isinstance(command, StopCommand):
            return UnicyclePath.standing(start, self._config.sample_period)
        if isinstance(command, VelocityCommand):
            return self._constant_velocity(command, start)
        if isinstance(command, GoalCommand):
            return self._to_goal(command, start)
        return self._along_path(command, start)

    def _constant_velocity(self, command: VelocityCommand, start: UnicycleState) -> UnicyclePath:
        config = self._config
        forward = "max_speed" if command.forward > 0.0 else "max_backward_speed"
        _check(forward, "forward speed", command.forward, config.max_speed, "m/s", -config.max_backward_speed)
        _check("max_lateral_speed", "lateral speed", command.lateral, config.max_lateral_speed, "m/s")
        _check("max_angular_speed", "angular speed", command.angular, config.max_angular_speed, "rad/s")
        duration = config.max_duration if command.duration is None else command.duration
        if not 0.0 < duration <= config.max_duration:
            raise PlanningError(
                f"duration {duration} s is outside its limits (0, {config.max_duration}] s of planner.max_duration",
                ["planner.max_duration"],
            )
        wanted = np.array([command.forward, command.lateral, command.angular])
        before = start.velocity
        pace, pace_before = config.pace(*wanted.tolist()), config.pace(*before.tolist())
        largest = max(pace, pace_before)
        share = min(1.0, config.pace(*(wanted - before).tolist()) / largest) if largest > 0.0 else 0.0
        ramp_up, ramp_down = share * self._ramp_time(largest), self._ramp_time(pace)
        velocities = ramped_velocities(before, wanted, ramp_up, ramp_down, duration, config.sample_period)
        return UnicyclePath.from_velocities(start, velocities, config.sample_period)

    def _to_goal(self, command: GoalCommand, start: UnicycleState) -> UnicyclePath:
        speed = self._config.cruise_speed if command.speed is None else command.speed
        what = f"goal ({command.x:.3f}, {command.y:.3f}) m"
        velocities = np.zeros((0, 3))
        if math.hypot(command.x - start.x, command.y - start.y) > _ARRIVED:
            velocities = self._follow(np.array([[command.x, command.y]]), speed, start, what, pursue=True)
        path = UnicyclePath.from_velocities(start, velocities, self._config.sample_period)
        if command.yaw is None:
            return path
        turn = self._turn(so3.wrap_angle(command.yaw - float(path.poses[-1, 2])))
        return UnicyclePath.from_velocities(start, np.vstack((velocities, turn)), self._config.sample_period)

    def _along_path(self, command: PathCommand, start: UnicycleState) -> UnicyclePath:
        points = self._joined(command.points, start)
        if len(points) == 1:
            x, y = points[0]
            return self._to_goal(GoalCommand(float(x), float(y), command.yaw, command.speed), start)
        turn = self._turn_towards(points[1], start)
        turned = replace(start, yaw=start.yaw + self._config.sample_period * float(turn[:, 2].sum()))
        velocities = self._follow(points, command.speed, turned, "path", pursue=False)
        velocities = np.vstack((turn, velocities))
        path = UnicyclePath.from_velocities(start, velocities, self._config.sample_period)
        wanted = end_heading(command, self._config) if command.yaw is None else command.yaw
        rest = self._turn(so3.wrap_angle(wanted - float(path.poses[-1, 2])))
        return UnicyclePath.from_velocities(start, np.vstack((velocities, rest)), self._config.sample_period)

    def _joined(self, points: NDArray, start: UnicycleState) -> NDArray:
        """Return the path from the robot on: what it stands beside is followed beside it, ever nearer.

        A path of which nothing at its beginning is near is come to straight; of one that ends here the end is left.
        """
        reach, (x, y) = self._config.reference_point[0], (start.x, start.y)
        line = Polyline(points, rounding=reach)
        begin = line.nearest((x, y), 0.0, _SEARCHED * reach)
        place, *_ = line.at(begin)
        if line.length - begin < _ARRIVED or len(points) == 1:
            return points[-1:]
        if math.hypot(x - place[0], y - place[1]) > _NEAR * reach:
            return np.vstack(([x, y], points))
        joining = min(_JOINING * reach, line.length - begin)
        lengths = np.linspace(0.0, joining, max(2, round(joining / (_JOINING_PIECE * reach)) + 1))
        near = np.array([line.at(begin + length)[0] for length in lengths.tolist()])
        ratio = (lengths / joining)[:, None]
        near += (1.0 - 3.0 * ratio**2 + 2.0 * ratio**3) * (np.array([x, y]) - place)
        far = line.from_length(begin + joining)
        return np.vstack((near, far[1:]))

    def _turn_towards(self, point: NDArray, start: UnicycleState) -> NDArray:
        """Turn on the spot, from rest, to what does not lie ahead: nothing leads the unicycle to a line behind it."""
        angle = so3.wrap_angle(math.atan2(point[1] - start.y, point[0] - start.x) - start.yaw)
        if abs(angle) < _AHEAD or np.any(start.velocity):
            return np.zeros((0, 3))
        return self._turn(angle)

    def _turn(self, angle: float) -> NDArray:
        """Return the velocities that turn by ``angle`` [rad] on the spot, shape (n, 3)."""
        config = self._config
        acceleration = config.max_angular_speed / self._ramp_time(0.0)
        return turn_velocities(angle, config.max_angular_speed, acceleration, config.sample_period)

    def _follow(self, points: NDArray, speed: float, start: UnicycleState, what: str, pursue: bool) -> NDArray:
        """Return the velocities that bring the middle of the feet over ``points``, shape (n, 3).

        F is led ahead of the line, or beyond the goal, by its own distance from the unicycle, so that the robot itself
        follows and arrives.

        Args:
            points: World, [m], shape (k, 2).
            speed: [m/s].
            start: Of the unicycle.
            what: For messages.
            pursue: Aim straight at the last point from wherever the robot is, instead of tracking the line.
        """
        config = self._config
        if speed <= 0.0:
            raise PlanningError(f"speed of the {what}: {speed} m/s, must be positive")
        _check("max_speed", f"speed of the {what}:", speed, config.max_speed, "m/s", 0.0)
        acceleration = speed / self._ramp_time(speed)
        follower = PointFollower(config, speed, acceleration)
        target = _Pursuit(points[-1], config) if pursue else _Track(points, speed, start, config, acceleration)
        if target.length(start) / speed > config.max_duration:
            raise PlanningError(
                f"{what}: {target.length(start):.2f} m at {speed} m/s take longer than planner.max_duration="
                f"{config.max_duration} s",
                ["planner.max_duration"],
            )
        slew = config.max_angular_speed * config.sample_period / config.min_step_duration
        pose, v = (start.x, start.y, start.yaw), max(0.0, start.forward)
        velocities: list[tuple[float, float, float]] = []
        for _ in range(round(config.max_duration / config.sample_period)):
            desired, desired_velocity, left = target.at(pose, follower)
            if left < _ARRIVED:
                return np.array(velocities).reshape(-1, 3)
            brake = math.sqrt(2.0 * acceleration * left)
            change = slew * (len(velocities) + 1)  # how far ω may have come from what it was
            turning = start.angular - change, start.angular + change
            v, omega = follower.velocity(pose, desired, desired_velocity, v, brake, turning)
            velocities.append((v, 0.0, omega))
            pose = _advance(pose, v, omega, config.sample_period)
        raise PlanningError(
            f"{what}: not reached within planner.max_duration={config.max_duration} s, {left:.3f} m are left",
            ["planner.max_duration"],
        )

    def _ramp_time(self, speed: float) -> float:
        steps = max(self._config.ramp_steps, 1e-3)
        return steps * self._config.preferred_duration(speed)


class _Pursuit:
    """F aims at the goal, and beyond it by its own distance from the unicycle."""

    def __init__(self, goal: NDArray, config: PlannerConfig) -> None:
        self._goal = (float(goal[0]), float(goal[1]))
        self._ahead = config.reference_point[0]
        self._aim: tuple[float, float] | None = None

    def length(self, start: UnicycleState) -> float:
        """Straight way from ``start``, [m]."""
        return math.hypot(self._goal[0] - start.x, self._goal[1] - start.y)

    def at(
        self, pose: tuple[float, float, float], follower: PointFollower
    ) -> tuple[tuple[float, float], tuple[float, float], float]:
        """Return where F should be, its velocity, and how far it is from there."""
        dx, dy = self._goal[0] - pose[0], self._goal[1] - pose[1]
        distance = math.hypot(dx, dy)
        if self._aim is None or distance > self._ahead:  # so near, the direction means nothing: keep the last
            scale = self._ahead / distance
            self._aim = self._goal[0] + scale * dx, self._goal[1] + scale * dy
        x, y = follower.control_point(pose)
        return self._aim, (0.0, 0.0), math.hypot(self._aim[0] - x, self._aim[1] - y)


class _Track:
    r"""The unicycle follows a line; its progress s speeds up, slows down, and waits where it cannot keep up.

    Where the unicycle is at :math:`P(s)` with the line's heading, F is at :math:`P + R(\varphi) f`. Led there, F brings
    the unicycle itself on the line; led along the line, it would keep it inside of each curve.
    """

    def __init__(
        self, points: NDArray, speed: float, start: UnicycleState, config: PlannerConfig, acceleration: float
    ) -> None:
        self._config, self._point = config, config.reference_point
        self._line = Polyline(points, rounding=self._point[0], start_heading=start.yaw)
        self._acceleration = acceleration
        self._wanted, self._speed = speed, max(0.0, start.forward)
        self._tolerated = self._point[0]
        self._progress = 0.0

    def length(self, start: UnicycleState) -> float:
        """Of the line, [m]."""
        return self._line.length

    def at(
        self, pose: tuple[float, float, float], follower: PointFollower
    ) -> tuple[tuple[float, float], tuple[float, float], float]:
        """Return where F should be, its velocity, and how far it still is to the end."""
        x, y = follower.control_point(pose)
        place, heading, turn = self._line.at(self._progress)
        c, s, (fx, fy) = math.cos(heading), math.sin(heading), self._point
        point = follower.control_point((*place, heading))
        error = math.hypot(point[0] - x, point[1] - y)
        moving = max(0.0, 1.0 - error / self._tolerated) * self._next_speed(abs(turn))
        self._progress = min(self._line.length, self._progress + moving * self._config.sample_period)
        along, across = moving * (1.0 - turn * fy), moving * turn * fx
        velocity = along * c - across * s, along * s + across * c
        return point, velocity, self._line.length - self._progress + error

    def _next_speed(self, curvature: float) -> float:
        """Return how fast the line may be followed in this sample, [m/s]."""
        config, rest = self._config, self._line.length - self._progress
        risen = self._speed + self._acceleration * config.sample_period
        braked = math.sqrt(2.0 * self._acceleration * rest)
        slowed = 4.0 * config.slow_when_turning * curvature * self._wanted
        turning = 2.0 * self._wanted / (1.0 + math.sqrt(1.0 + slowed))  # v = wanted / (1 + slow_when_turning · |ω|)
        self._speed = min(self._wanted, risen, braked, turning)
        return self._speed


def end_heading(command: PathCommand, config: PlannerConfig) -> float:
    """Return the heading with which a path ends, world, [rad]."""
    line = Polyline(command.points, rounding=config.reference_point[0])
    return line.at(line.length)[1]


def _advance(pose: tuple[float, float, float], v: float, omega: float, period: float) -> tuple[float, float, float]:
    """One arc, with the chord of :meth:`UnicyclePath.from_velocities`."""
    half = 0.5 * omega * period
    chord = v * period * (math.sin(half) / half if abs(half) > 1e-9 else 1.0)
    middle = pose[2] + half
    return (
        pose[0] + chord * math.cos(middle),
        pose[1] + chord * math.sin(middle),
        pose[2] + 2.0 * half,
    )


def _check(key: str, name: str, value: float, limit: float, unit: str, lower: float | None = None) -> None:
    """Refuse a value outside its limits, which the ``key`` of [planner] sets."""
    lowest = -limit if lower is None else lower
    if not lowest <= value <= limit:
        degrees = [f"{math.degrees(angle):.3g}" for angle in (value, lowest, limit)]
        in_degrees = f" ({degrees[0]} °/s, [{degrees[1]}, {degrees[2]}] °/s)" if unit == "rad/s" else ""
        raise PlanningError(
            f"{name} {round(value, 4)} {unit} is outside its limits [{lowest}, {limit}] {unit}{in_degrees} of"
            f" planner.{key}",
            [f"planner.{key}"],
        )
