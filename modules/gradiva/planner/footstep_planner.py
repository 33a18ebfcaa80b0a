"""Plans the footsteps, in place and time, along the path of the unicycle."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, PlanningError, Side
from gradiva.planner.footsteps import FootPose, Footstep
from gradiva.planner.planner_config import SAMPLE_PERIOD, PlannerConfig
from gradiva.planner.unicycle import UnicyclePath


class FootstepPlanner:
    r"""Chooses the impact times on the sampled path of the unicycle (thesis eq. 10.1.14).

    Variables: the impact time of each step, one after the other.

    Objective: :math:`K_t / \Delta_t^2 + K_x \Delta_x^2`, neither fast nor long steps. :math:`\Delta_x` is the motion of
    the foot relative to the other one: the way forward, twice the way sideways, and twice the turn on a lever.

    Constraints: :math:`t_{min} \le \Delta_t \le t_{max}`; distance of the feet in double support within
    :math:`[d_{min}, d_{max}]`; yaw between them at most :math:`\theta_{max}`. All samples within the time limits
    are tried at once.

    The feet are the wheels of the unicycle, with one exception: sideways and in turns the leading foot (the left
    one when moving or turning left) takes the motion of the next step as well, the trailing foot then none; so the
    feet neither approach each other nor toe in. What still comes too near is moved outward: the lateral distance
    of the feet, in their mean direction, is at least ``min_step_width`` plus the room of their heels when toed out.

    Args:
        config: Weights and limits.
    """

    def __init__(self, config: PlannerConfig) -> None:
        self._config = config
        period = SAMPLE_PERIOD
        first = math.ceil(config.min_step_duration / period - 1e-9)
        last = math.floor(config.max_step_duration / period + 1e-9)
        if last < first:
            raise PlanningError(
                f"no multiple of {period} s lies between planner.min_step_duration="
                f"{config.min_step_duration} s and planner.max_step_duration={config.max_step_duration} s",
                [f"planner.{key}" for key in ("min_step_duration", "max_step_duration")],
            )
        self._counts = np.arange(first, last + 1)
        self._time_cost = config.footsteps.time_weight / (self._counts * period) ** 2

    def plan(
        self, path: UnicyclePath, left_foot: FootPose, right_foot: FootPose, first: Side, at_least: int = 0
    ) -> list[Footstep]:
        """Return the steps along ``path``; the last one closes the feet side by side.

        Args:
            path: Of the unicycle; starts with both feet on the ground.
            left_foot: Where the left foot stands.
            right_foot: Where the right foot stands.
            first: The foot that moves first.
            at_least: How many steps there must be, though nothing be left to do.

        Raises:
            PlanningError: No impact time satisfies the constraints; the message names the binding one.
        """
        feet = {Side.LEFT: left_foot, Side.RIGHT: right_foot}
        goal = FootPose(*path.poses[-1].tolist())
        width = self._config.step_width
        final = {side: goal.beside(side, 0.5 * width) for side in Side}
        steps: list[Footstep] = []
        side, index = first, 0
        while (
            index < path.end_index
            or len(steps) < at_least
            or not all(feet[foot].is_close(final[foot]) for foot in Side)
        ):
            count, pose = self._best(path, index, side, feet[side.other], len(steps) + 1)
            index = min(index + count, path.end_index)
            feet[side] = pose
            duration = count * SAMPLE_PERIOD
            steps.append(Footstep(side, pose, duration, path.state(index)))
            side = side.other
        return steps

    def check(self, pose: FootPose, stance: FootPose, side: Side) -> None:
        """Refuse a landing beside a stance foot that no planned step would have.

        Raises:
            PlanningError: A distance or the turn is outside its limits; the message names it.
        """
        dx, dy, turn = pose.x - stance.x, pose.y - stance.y, pose.yaw - stance.yaw
        mean, distance = 0.5 * (pose.yaw + stance.yaw), pose.distance(stance)
        width = side.sign * (math.cos(mean) * dy - math.sin(mean) * dx)
        for name, value, is_upper in (
            ("max_feet_distance", distance, True),
            ("min_feet_distance", distance, False),
            ("min_step_width", width, False),
            ("max_step_turn", abs(turn), True),
        ):
            limit = getattr(self._config, name)
            if (value > limit + 1e-9) if is_upper else (value < limit - 1e-9):
                unit = "rad" if name == "max_step_turn" else "m"
                raise PlanningError(
                    f"the {side} foot lands at {value:.3f} {unit}, planner.{name}={limit:.3f} {unit}",
                    [f"planner.{name}"],
                )

    def first_side(self, path: UnicyclePath) -> Side:
        """Return the foot that leads the first motion to a side or the first turn; the left one if there is none."""
        index = min(2 * int(self._counts[-1]), path.end_index)
        turned = path.poses[index, 2] - path.poses[0, 2]
        sideways = path.travelled[index, 1] - path.travelled[0, 1]
        lean = turned / self._config.max_step_turn + sideways / self._config.step_width
        return Side.RIGHT if lean < -1e-6 else Side.LEFT

    def _best(self, path: UnicyclePath, index: int, side: Side, stance: FootPose, number: int) -> tuple[int, FootPose]:
        """Return the number of samples until the best impact of ``side``, and where it lands."""
        poses = self._landings(path, index, side, stance)
        violations = self._violations(poses, stance)
        feasible = np.all(violations <= 1e-9, axis=0)
        if not feasible.any():
            self._refuse(violations, side, number, path.period * index)
        cost = np.where(feasible, self._time_cost + self._way_cost(path, index), np.inf)
        best = int(np.argmin(cost))
        to_end = path.end_index - index - int(self._counts[0])
        if 0 <= to_end < len(self._counts) and feasible[to_end]:
            best = to_end  # the path ends within reach of this step: land there
        return int(self._counts[best]), FootPose(*poses[best].tolist())

    def _landings(self, path: UnicyclePath, index: int, side: Side, stance: FootPose) -> NDArray:
        """Return x, y, yaw of the foot for all candidate impacts, shape (m, 3).

        The motion of the next step is added only as far as ``max_step_turn`` leaves room for it.
        """
        now = np.minimum(index + self._counts, path.end_index)
        later = np.minimum(index + 2 * self._counts, path.end_index)
        turn = side.sign * (path.poses[later, 2] - path.poses[now, 2])
        shift = path.travelled[later, 1] - path.travelled[now, 1]
        room = self._config.max_step_turn + side.sign * (stance.yaw - path.poses[now, 2])
        yaw = path.poses[now, 2] + side.sign * np.maximum(0.0, np.minimum(turn, room))
        out = 0.5 * self._config.step_width + np.maximum(0.0, side.sign * shift)
        landing = np.empty((len(now), 3))
        landing[:, 0] = path.poses[now, 0] - side.sign * out * np.sin(yaw)
        landing[:, 1] = path.poses[now, 1] + side.sign * out * np.cos(yaw)
        landing[:, 2] = yaw
        self._make_room(landing, side, stance)
        return landing

    def _make_room(self, landing: NDArray, side: Side, stance: FootPose) -> None:
        """Move landings that are too near the stance foot outward, in place."""
        mean = 0.5 * (landing[:, 2] + stance.yaw)
        c, s = side.sign * np.cos(mean), side.sign * np.sin(mean)
        width = c * (landing[:, 1] - stance.y) - s * (landing[:, 0] - stance.x)
        needed = self._config.min_step_width + self._config.footsteps.heel_length * np.abs(
            np.sin(landing[:, 2] - stance.yaw)
        )
        push = np.maximum(0.0, needed - width)
        landing[:, 0] -= s * push
        landing[:, 1] += c * push

    def _way_cost(self, path: UnicyclePath, index: int) -> NDArray:
        now = np.minimum(index + self._counts, path.end_index)
        way = path.travelled[now] - path.travelled[index]
        turn = self._config.footsteps.turning_lever * (path.poses[now, 2] - path.poses[index, 2])
        return way[:, 0] ** 2 + 4.0 * (way[:, 1] ** 2 + turn**2)

    def _violations(self, poses: NDArray, stance: FootPose) -> NDArray:
        """Return by how much each constraint (row, as in ``_LIMITS``) fails for each candidate, shape (3, m)."""
        config = self._config
        dx, dy = poses[:, 0] - stance.x, poses[:, 1] - stance.y
        distance = np.hypot(dx, dy)
        return np.array(
            [
                config.min_feet_distance - distance,
                distance - config.max_feet_distance,
                np.abs(poses[:, 2] - stance.yaw) - config.max_step_turn,
            ]
        )

    def _refuse(self, violations: npt.NDArray[np.float64], side: Side, number: int, time: float) -> None:
        least = violations.min(axis=1)
        where = f"step {number} ({side} foot, {time:.2f} s along the path)"
        worst = int(np.argmax(least))
        if least[worst] <= 1e-9:
            keys = [f"planner.{name}" for name in _LIMITS]
            raise PlanningError(f"{where}: no impact time satisfies all of {', '.join(keys)} together", keys)
        name = _LIMITS[worst]
        limit = getattr(self._config, name)
        value = limit + float(least[worst]) * (1.0 if name.startswith("max") else -1.0)
        unit = "rad" if name == "max_step_turn" else "m"
        text = f"no step keeps planner.{name}={limit:.3f} {unit}, the best gives {value:.3f} {unit}"
        if name == "max_feet_distance":
            text = f"too long a step, the feet {value:.3f} m apart, planner.{name}={limit:.3f} m; {self._speed_hint()}"
        raise PlanningError(f"{where}: {text}", [f"planner.{name}"])

    def _speed_hint(self) -> str:
        """Return the highest speed straight ahead, that of the longest step in the shortest time, rounded down."""
        config, shortest = self._config, float(self._counts[0] * SAMPLE_PERIOD)
        ahead = math.sqrt(max(0.0, config.max_feet_distance**2 - config.step_width**2))
        speed = math.floor(100.0 * ahead / shortest + 1e-9) / 100.0
        return f"a step lasts {shortest:.2f} s at least, straight ahead {speed:.2f} m/s can be planned"


_LIMITS = ("min_feet_distance", "max_feet_distance", "max_step_turn")
