"""Plans the path of the unicycle that a command asks for."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import replace
from typing import get_args

import numpy as np

from gradiva.common import NDArray, PlanningError, so3
from gradiva.planner.command import Command, GoalCommand, PathCommand, StopCommand, VelocityCommand
from gradiva.planner.planner_config import REFERENCE_POINT, SAMPLE_PERIOD, SLOW_WHEN_TURNING, PlannerConfig
from gradiva.planner.unicycle import PointFollower, UnicyclePath, UnicycleState, ramped_velocities, turn_velocities

_SMOOTH_TURN = 0.6  # [rad] between the two pieces at an end of the line, up to which it goes on
_LATER = 0.02  # [-] of the length ahead counts as distance: of two places equally near, the first is meant

Point = tuple[float, float]
_ARRIVED = 0.002  # [m] nearer than this, F is where it should be
_AHEAD = 1.0  # [rad] a path that begins within this of the heading is followed at once
_NEAR = 2.0  # [reference lengths] of a path whose beginning is nearer than this the robot stands on
_JOINING = 4.0  # [reference lengths] over which it then comes to the path
_JOINING_PIECE = 0.5  # [reference lengths]
_LOOK_PERIOD = 0.5  # [s] between two looks at how far a path has been followed
_REACH = 0.8  # [m] of a path ahead in which the robot is looked for: less than a crossing of the path is away
_TURN_BACK = 1.0  # [steps] time constant with which a velocity command turns a heading error back
_SEARCHED = 5.0  # [reference lengths] of a path that begins where the robot is


class Polyline:
    """Points joined by lines, addressed by the length along the straight pieces.

    The heading turns from piece to piece at a constant rate, over ``rounding`` before and behind each point or from
    middle to middle of shorter pieces. Pieces up to twice as long as ``rounding`` are taken for samples of a curve:
    they are cubics with these headings at their ends, and the turn goes on in the first and the last one. Samples of a
    circle get its tangent at each length.

    Attributes:
        length: [m].
    """

    def __init__(self, points: NDArray, rounding: float, start_heading: float | None = None) -> None:
        """Join the points.

        Args:
            points: World, [m], shape (k, 2); repeated points are dropped.
            rounding: Over which the heading turns before and behind a point, [m].
            start_heading: From which it turns into the first piece, [rad]; by default the first piece's own.
        """
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        points = np.vstack((points[:1], points[1:][steps > 1e-9]))
        if len(points) < 2:
            ahead = start_heading or 0.0
            points = np.vstack((points, points + 1e-9 * np.array([math.cos(ahead), math.sin(ahead)])))
        self._vertices = points
        self._points: list[Point] = [(x, y) for x, y in points.tolist()]
        pieces = np.diff(points, axis=0)
        widths = np.linalg.norm(pieces, axis=1)
        self._widths: list[float] = widths.tolist()
        self._starts: list[float] = np.concatenate(([0.0], np.cumsum(widths))).tolist()
        self.length = self._starts[-1]
        self._rounding = rounding
        self._knots, self._headings = self._heading_knots(pieces, widths, start_heading)

    def at(self, length: float) -> tuple[Point, float, float]:
        """Return the point ([m]), the heading ([rad]) and its rate ([rad/m]) at ``length`` [m] from the beginning."""
        if not math.isfinite(length):
            raise ValueError(f"length={length} is not finite")
        length = min(max(length, 0.0), self.length)
        index = min(bisect_right(self._starts, length) - 1, len(self._widths) - 1)
        heading, rate = self._heading(length)
        return self._place(index, (length - self._starts[index]) / self._widths[index]), heading, rate

    def nearest(self, point: Point, first: float = 0.0, last: float = math.inf) -> float:
        """Return the length at which the line is nearest to ``point`` between ``first`` and ``last``, [m]."""
        starts, widths = np.array(self._starts[:-1]), np.array(self._widths)
        pieces = np.diff(self._vertices, axis=0)
        along = np.einsum("ij,ij->i", point - self._vertices[:-1], pieces) / widths
        lengths = np.clip(starts + np.clip(along, 0.0, widths), first, min(last, self.length))
        ratios = np.clip((lengths - starts) / widths, 0.0, 1.0)
        places = self._vertices[:-1] + ratios[:, None] * pieces
        distances = np.hypot(*(places - point).T) + _LATER * (lengths - first)
        distances[(starts > last) | (starts + widths < first)] = math.inf
        return float(lengths[int(np.argmin(distances))])

    def from_length(self, length: float) -> NDArray:
        """Return the points of the rest of the line from ``length`` [m] on, shape (k, 2)."""
        place, *_ = self.at(length)
        return np.vstack((place, self._vertices[np.array(self._starts) > length + 1e-9]))

    def _place(self, index: int, ratio: float) -> Point:
        """Return the point at a fraction of one piece: on a straight line, or on Hermite's cubic."""
        (x0, y0), (x1, y1), width, r = self._points[index], self._points[index + 1], self._widths[index], ratio
        if width > 2.0 * self._rounding:
            return x0 + r * (x1 - x0), y0 + r * (y1 - y0)
        first, last = self._heading(self._starts[index])[0], self._heading(self._starts[index + 1])[0]
        rise, leave, arrive = r * r * (3.0 - 2.0 * r), width * r * (1.0 - r) ** 2, width * r * r * (r - 1.0)
        x = x0 + rise * (x1 - x0) + leave * math.cos(first) + arrive * math.cos(last)
        return x, y0 + rise * (y1 - y0) + leave * math.sin(first) + arrive * math.sin(last)

    def _heading(self, length: float) -> tuple[float, float]:
        """Return the heading and its rate."""
        knots, headings = self._knots, self._headings
        index = min(max(bisect_right(knots, length), 1), len(knots) - 1)
        width, change = knots[index] - knots[index - 1], headings[index] - headings[index - 1]
        rate = change / width if width > 0.0 else 0.0
        return headings[index - 1] + rate * (length - knots[index - 1]), rate

    def _heading_knots(
        self, pieces: NDArray, widths: NDArray, start_heading: float | None
    ) -> tuple[list[float], list[float]]:
        """Return lengths, and the headings there, between which the heading is linear."""
        headings = np.unwrap(np.arctan2(pieces[:, 1], pieces[:, 0]))
        starts = np.array(self._starts[:-1])
        rounded = np.minimum(self._rounding, 0.5 * widths)
        knots = np.column_stack((starts + rounded, starts + widths - rounded)).ravel()
        first = headings[0] + self._end_turn(headings[::-1], widths[::-1])
        if start_heading is not None:
            first = start_heading + 2.0 * math.pi * round((first - start_heading) / (2.0 * math.pi))
        last = headings[-1] + self._end_turn(headings, widths)
        values = np.concatenate(([first], np.repeat(headings, 2), [last]))
        return np.concatenate(([0.0], knots, [self.length])).tolist(), values.tolist()

    def _end_turn(self, headings: NDArray, widths: NDArray) -> float:
        """Return by how much the heading turns from the middle of the last piece to the end of a sampled curve."""
        if len(widths) < 2 or max(widths[-2:]) > 2.0 * self._rounding:
            return 0.0
        turn = float(headings[-1] - headings[-2])
        return turn * float(widths[-1] / (widths[-1] + widths[-2])) if abs(turn) < _SMOOTH_TURN else 0.0


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
            PlanningError: A speed exceeds its limit, the goal is out of reach, or it is no command.
        """
        if isinstance(command, StopCommand):
            return UnicyclePath.standing(start, SAMPLE_PERIOD)
        if isinstance(command, VelocityCommand):
            return self._constant_velocity(command, start)
        if isinstance(command, GoalCommand):
            return self._to_goal(command, start)
        if isinstance(command, PathCommand):
            return self._along_path(command, start)
        kinds = ", ".join(kind.__name__ for kind in get_args(Command))
        raise PlanningError(f"expected a command ({kinds}), got {command!r}")

    def check_velocity(self, command: VelocityCommand) -> None:
        """Refuse a velocity beyond its limits.

        Raises:
            PlanningError: A speed exceeds its limit.
        """
        config, limits = self._config, self._config.commands
        forward = "max_speed" if command.forward > 0.0 else "commands.max_backward_speed"
        _check(forward, "forward speed", command.forward, config.max_speed, "m/s", -limits.max_backward_speed)
        _check("commands.max_lateral_speed", "lateral speed", command.lateral, limits.max_lateral_speed, "m/s")
        _check("commands.max_angular_speed", "angular speed", command.angular, limits.max_angular_speed, "rad/s")

    def _constant_velocity(self, command: VelocityCommand, start: UnicycleState) -> UnicyclePath:
        config, limits = self._config, self._config.commands
        self.check_velocity(command)
        duration = limits.max_duration if command.duration is None else command.duration
        if not 0.0 < duration <= limits.max_duration:
            raise PlanningError(
                f"duration {duration} s is outside its limits (0, {limits.max_duration}] s of"
                " planner.commands.max_duration",
                ["planner.commands.max_duration"],
            )
        wanted = np.array([command.forward, command.lateral, command.angular])
        before = start.velocity
        pace, pace_before = config.pace(*wanted.tolist()), config.pace(*before.tolist())
        largest = max(pace, pace_before)
        fraction = min(1.0, config.pace(*(wanted - before).tolist()) / largest) if largest > 0.0 else 0.0
        ramp_up, ramp_down = fraction * self._ramp_time(largest), self._ramp_time(pace)
        velocities = ramped_velocities(before, wanted, ramp_up, ramp_down, duration, SAMPLE_PERIOD)
        errors = self._fading(start.heading_error + command.heading_error, velocities[:, 2], pace)
        return UnicyclePath.from_velocities(start, velocities, SAMPLE_PERIOD, errors)

    def _fading(self, error: float, angular: NDArray, pace: float) -> NDArray:
        r"""Return the heading error at each sample as it is turned back while the robot walks, [rad], shape (n + 1,).

        .. math:: \dot e = -e / T, \qquad T = \Delta_t

        as long as that is at most half of the highest angular speed, and this not exceeded with the commanded one.

        Args:
            error: e at the first sample, [rad].
            angular: Commanded in each interval, [rad/s], shape (n,).
            pace: Of the command, which Δt, the duration of a step, depends on, [m/s].
        """
        if error == 0.0:
            return np.zeros(len(angular) + 1)
        time_constant = _TURN_BACK * self._config.preferred_duration(pace)
        faded = error * np.exp(-SAMPLE_PERIOD / time_constant * np.arange(len(angular) + 1))
        most = self._config.commands.max_angular_speed
        rates = np.clip(np.diff(faded) / SAMPLE_PERIOD, -0.5 * most, 0.5 * most)
        rates = np.clip(angular + rates, -most, most) - angular
        return error + np.concatenate(([0.0], np.cumsum(SAMPLE_PERIOD * rates)))

    def _to_goal(self, command: GoalCommand, start: UnicycleState) -> UnicyclePath:
        speed = self._config.commands.cruise_speed if command.speed is None else command.speed
        what = f"goal ({command.x:.3f}, {command.y:.3f}) m"
        velocities = np.zeros((0, 3))
        if math.hypot(command.x - start.x, command.y - start.y) > _ARRIVED:
            velocities = self._follow(np.array([[command.x, command.y]]), speed, start, what, pursue=True)
        path = UnicyclePath.from_velocities(start, velocities, SAMPLE_PERIOD)
        if command.yaw is None:
            return path
        turn = self._turn(so3.wrap_angle(command.yaw - float(path.poses[-1, 2])))
        return UnicyclePath.from_velocities(start, np.vstack((velocities, turn)), SAMPLE_PERIOD)

    def _along_path(self, command: PathCommand, start: UnicycleState) -> UnicyclePath:
        points = self._joined(command.points, start)
        if len(points) == 1:
            x, y = points[0]
            return self._to_goal(GoalCommand(float(x), float(y), command.yaw, command.speed), start)
        turn = self._turn_towards(points[1], start)
        turned = replace(start, yaw=start.yaw + SAMPLE_PERIOD * float(turn[:, 2].sum()))
        velocities = self._follow(points, command.speed, turned, "path", pursue=False)
        velocities = np.vstack((turn, velocities))
        path = UnicyclePath.from_velocities(start, velocities, SAMPLE_PERIOD)
        wanted = _end_heading(command, self._config) if command.yaw is None else command.yaw
        rest = self._turn(so3.wrap_angle(wanted - float(path.poses[-1, 2])))
        return UnicyclePath.from_velocities(start, np.vstack((velocities, rest)), SAMPLE_PERIOD)

    def _joined(self, points: NDArray, start: UnicycleState) -> NDArray:
        """Return the path from the robot on; a path beside the robot is joined gradually.

        A path with a distant beginning is approached straight; of one that ends here the end is left.
        """
        reach, (x, y) = REFERENCE_POINT[0], (start.x, start.y)
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
        """Return the turn on the spot, from rest, to a point that does not lie ahead; a line behind is not followed."""
        angle = so3.wrap_angle(math.atan2(point[1] - start.y, point[0] - start.x) - start.yaw)
        if abs(angle) < _AHEAD or np.any(start.velocity):
            return np.zeros((0, 3))
        return self._turn(angle)

    def _turn(self, angle: float) -> NDArray:
        """Return the velocities that turn by ``angle`` [rad] on the spot, shape (n, 3)."""
        config = self._config
        acceleration = config.commands.max_angular_speed / self._ramp_time(0.0)
        return turn_velocities(angle, config.commands.max_angular_speed, acceleration, SAMPLE_PERIOD)

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
        if target.length(start) / speed > config.commands.max_duration:
            raise PlanningError(
                f"{what}: {target.length(start):.2f} m at {speed} m/s take longer than planner.commands.max_duration="
                f"{config.commands.max_duration} s",
                ["planner.commands.max_duration"],
            )
        slew = config.commands.max_angular_speed * SAMPLE_PERIOD / config.min_step_duration
        pose, v = (start.x, start.y, start.yaw), max(0.0, start.forward)
        velocities: list[tuple[float, float, float]] = []
        for _ in range(round(config.commands.max_duration / SAMPLE_PERIOD)):
            desired, desired_velocity, left = target.at(pose, follower)
            if left < _ARRIVED:
                return np.array(velocities).reshape(-1, 3)
            brake = math.sqrt(2.0 * acceleration * left)
            change = slew * (len(velocities) + 1)  # how far ω may have come from what it was
            turning = start.angular - change, start.angular + change
            v, omega = follower.velocity(pose, desired, desired_velocity, v, brake, turning)
            velocities.append((v, 0.0, omega))
            pose = _advance(pose, v, omega, SAMPLE_PERIOD)
        raise PlanningError(
            f"{what}: not reached within planner.commands.max_duration={config.commands.max_duration} s,"
            f" {left:.3f} m are left",
            ["planner.commands.max_duration"],
        )

    def _ramp_time(self, speed: float) -> float:
        steps = max(self._config.footsteps.ramp_steps, 1e-3)
        return steps * self._config.preferred_duration(speed)


class _Pursuit:
    """Pursuit of a goal: F aims at it, and beyond it by its own distance from the unicycle."""

    def __init__(self, goal: NDArray, config: PlannerConfig) -> None:
        self._goal = (float(goal[0]), float(goal[1]))
        self._ahead = REFERENCE_POINT[0]
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
    r"""Line that the unicycle follows; its progress s speeds up, slows down, and waits where it cannot keep up.

    Where the unicycle is at :math:`P(s)` with the line's heading, F is at :math:`P + R(\varphi) f`. Led there, F brings
    the unicycle itself on the line; led along the line, it would keep it inside of each curve.
    """

    def __init__(
        self, points: NDArray, speed: float, start: UnicycleState, config: PlannerConfig, acceleration: float
    ) -> None:
        self._config, self._point = config, REFERENCE_POINT
        self._line = Polyline(points, rounding=self._point[0], start_heading=start.yaw)
        self._acceleration = acceleration
        self._wanted, self._speed = speed, max(0.0, start.forward)
        self._tolerated = self._point[0]
        self._progress = 0.0

    def length(self, start: UnicycleState) -> float:
        """Return the length of the line, [m]."""
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
        self._progress = min(self._line.length, self._progress + moving * SAMPLE_PERIOD)
        along, across = moving * (1.0 - turn * fy), moving * turn * fx
        velocity = along * c - across * s, along * s + across * c
        return point, velocity, self._line.length - self._progress + error

    def _next_speed(self, curvature: float) -> float:
        """Return how fast the line may be followed in this sample, [m/s]."""
        rest = self._line.length - self._progress
        risen = self._speed + self._acceleration * SAMPLE_PERIOD
        braked = math.sqrt(2.0 * self._acceleration * rest)
        slowed = 4.0 * SLOW_WHEN_TURNING * curvature * self._wanted
        turning = 2.0 * self._wanted / (1.0 + math.sqrt(1.0 + slowed))  # v = wanted / (1 + slow_when_turning · |ω|)
        self._speed = min(self._wanted, risen, braked, turning)
        return self._speed


class PathProgress:
    """Progress along a path by odometry, which is unique also where the path crosses itself."""

    def __init__(self, path: PathCommand, config: PlannerConfig) -> None:
        self._path = path
        self._end_heading = _end_heading(path, config) if path.yaw is None else path.yaw
        self._line = Polyline(path.points, rounding=0.0)
        self._progress = 0.0
        self._looked = -math.inf

    def follow(self, place: Point, time: float) -> None:
        """Update the progress of a robot at a place, every half second."""
        if time >= self._looked + _LOOK_PERIOD:
            self._looked = time
            self._progress = self._line.nearest(place, self._progress, self._progress + _REACH)

    @property
    def rest(self) -> PathCommand:
        """Rest of the path from here on; its end has the heading of the whole path's."""
        return PathCommand(self._line.from_length(self._progress), self._path.speed, self._end_heading)


def _end_heading(command: PathCommand, config: PlannerConfig) -> float:
    """Return the heading with which a path ends, world, [rad]."""
    line = Polyline(command.points, rounding=REFERENCE_POINT[0])
    return line.at(line.length)[1]


def _advance(pose: tuple[float, float, float], v: float, omega: float, period: float) -> tuple[float, float, float]:
    """Integrate one arc, with the chord of :meth:`UnicyclePath.from_velocities`."""
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
        known = ", the fastest that the robot is known to walk" if key == "max_speed" and value > limit else ""
        raise PlanningError(
            f"{name} {round(value, 4)} {unit} is outside its limits [{lowest}, {limit}] {unit}{in_degrees} of"
            f" planner.{key}{known}",
            [f"planner.{key}"],
        )
