"""Measures how late the swinging sole follows, against acceleration, time and height of its swing."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from gradiva.common import ControlMode, NDArray, PlanningError, Side, WalkingReference
from gradiva.planner import Foothold, FootPose, PlannedStep, Retarget, VelocityCommand, WalkingPlan
from gradiva.push_recovery import SteppingMode
from gradiva.setup import Plant
from gradiva.simulated_walk import SimulatedWalk
from gradiva.simulation import SimulatedState
from gradiva_experiments.continued_walks import phase_times
from gradiva_experiments.experiment import Asked, Experiment, ExperimentRun, Row
from gradiva_experiments.pool import Job
from gradiva_experiments.trial import RobotCase, Trial

SPEED = 0.1  # [m/s]
ACCELERATIONS = (6.0, 12.0, 18.0)  # [m/s²] of the cubic that a landing is chosen for
TIMES = (0.40, 0.50, 0.60)  # [s] to touch-down
AHEAD, OUTWARD = "ahead", "outward"
ALL = "all"
_COMMAND_DURATION = 10.0  # [s]
_LATEST = 0.15  # [s] lag that is looked for
_LAGS = np.arange(0.0, _LATEST, 0.001)  # [s]
_AFTER_LIFT_OFF = 0.05  # [s] until the landing moves
_FIGURES = ("peak_mps2", "largest_mm", "touch_down_mm", "height_mm")
_ALIKE = ("robot", "plant", "control", "acceleration_mps2")


@dataclass(frozen=True, slots=True)
class SwingCase(RobotCase):
    """Names a walk of which one landing is moved.

    Attributes:
        way: ``ahead`` or ``outward``.
        time: From then to touch-down, T, [s].
        acceleration: A, of a cubic from rest over the way d = A T² / 6, [m/s²].
        is_high: Whether the sole swings as high as a step that catches a push.
    """

    way: str
    time: float
    acceleration: float
    is_high: bool

    @property
    def distance(self) -> float:
        """Way of the sole, [m]."""
        return self.acceleration * self.time**2 / 6.0

    def trial(self, overrides: dict[str, Any]) -> Trial:
        """Return the walk."""
        chosen = {"walking.control": str(self.control), "step_adaptation.mode": str(SteppingMode.OFF), **overrides}
        return Trial(self.robot, VelocityCommand(SPEED, duration=_COMMAND_DURATION), chosen, self.plant)

    @property
    def as_row(self) -> Row:
        """First columns of its row."""
        return {
            **self.first_columns,
            "way": self.way,
            "time_s": self.time,
            "acceleration_mps2": self.acceleration,
            "high": self.is_high,
            "distance_m": round(self.distance, 3),
        }


def lag_of(times: NDArray, wanted: NDArray, reached: NDArray) -> float:
    """Return by how much ``reached`` is later than ``wanted``, both along one axis, [s]; least squares."""
    errors = [float(np.square(np.interp(times - lag, times, wanted) - reached).sum()) for lag in _LAGS]
    return float(_LAGS[int(np.argmin(errors))])


class MovedSwing:
    """One swing whose landing is moved, and how the sole follows it."""

    def __init__(self, case: SwingCase, trial: Trial) -> None:
        """Walk until shortly after a lift-off."""
        self.walk, self._case = SimulatedWalk(trial.setup(), trial.seed), case
        self.walk.get_ready(0.5)
        self.walk.controller.walk(trial.command)
        start = phase_times(self._plan)["early"] + _AFTER_LIFT_OFF
        while self.walk.time < start and not self.walk.is_down:
            self.walk.tick()

    @property
    def _plan(self) -> WalkingPlan:
        plan = self.walk.controller.plan
        assert plan is not None, "a robot that walks has a plan"
        return plan

    def followed(self) -> tuple[NDArray, NDArray, NDArray]:
        """Move the landing; return times [s], and the sole wanted and reached from the stance sole, shape (n, 3).

        Raises:
            PlanningError: The planner refuses the landing.
        """
        case, walk, samples = self._case, self.walk, list[tuple[float, NDArray, NDArray]]()
        plan, start = self._plan, walk.time
        step = plan.landings[plan.landings.after(start)]
        side, touch_down = step.footstep.side, start + case.time
        foothold = Foothold(self._landing(step, plan.at(start)), touch_down)
        walk.controller.retarget(Retarget((foothold,), following=2 if case.is_high else 0))
        while walk.time < touch_down - 1e-9 and not walk.is_down:
            wanted, state = self._plan.at(walk.time).foot(side).position, walk.robot.truth()
            samples.append((walk.time, wanted.copy(), _sole(state, side) - _sole(state, side.other)))
            walk.tick()
        times, wanted_way, reached_way = (np.array(values) for values in zip(*samples, strict=True))
        return times, wanted_way - wanted_way[0], reached_way - reached_way[0]

    def _landing(self, step: PlannedStep, reference: WalkingReference) -> FootPose:
        """Return the moved landing: its way from where the sole is, ahead or outward, the rest as planned."""
        case, pose, sole = self._case, step.footstep.pose, reference.foot(step.footstep.side).position
        if case.way == AHEAD:
            return replace(pose, x=float(sole[0]) + case.distance)
        return replace(pose, y=float(sole[1]) + step.footstep.side.sign * case.distance)


def _sole(state: SimulatedState, side: Side) -> NDArray:
    return state.left_foot_position if side is Side.LEFT else state.right_foot_position


def cases(run: ExperimentRun) -> Iterator[SwingCase]:
    """Return the swings: the product of what is chosen."""
    options = run.options
    controls = options.controls or (ControlMode.POSITION,)
    count = 1 if options.quick else None
    swings = product((OUTWARD, AHEAD)[:count], TIMES[:count], ACCELERATIONS[:count], (False, True))
    for robot, plant, control, swing in product(options.robots or (options.robot,), options.plants, controls, swings):
        way, time, acceleration, is_high = swing
        yield SwingCase(robot, plant, control, way, time, acceleration, is_high)


def run_swing_lag(run: ExperimentRun) -> None:
    """Move one landing of each walk; the value is the lag of the sole along its way, [s]. Totals are the last rows."""
    chosen = list(cases(run))
    jobs = [SwingJob(case, case.trial(run.options.overrides)) for case in chosen]
    for place, figures in run.pool.results(jobs):
        case = chosen[place]
        run.add_row({**case.as_row, **figures, "asked": Asked.AS_FOUND}, place)
        text = f"{case.robot} {case.way} {case.time} s: {figures['value']} {figures['reason']}"
        run.report(len(run.rows), len(chosen), text)
    for row in totals(run.rows):
        run.add_row(row)


def totals(rows: Iterable[Row]) -> list[Row]:
    """Return a row for each acceleration of a robot: the largest figures of its swings, and their median lag, [s]."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in _ALIKE), []).append(row)
    return [{**dict(zip(_ALIKE, name, strict=True)), **_total(swings)} for name, swings in groups.items()]


def _total(swings: list[Row]) -> Row:
    walked = [swing for swing in swings if swing["value"] is not None]
    lags, fell = [swing["value"] for swing in walked], sum(swing["outcome"] == "fell" for swing in walked)
    outcome = "fell" if fell else "measured" if walked else "refused"
    return {
        "time_s": ALL,
        "swings": len(walked),
        "refused": len(swings) - len(walked),
        "fell": fell,
        **{name: max((abs(swing[name]) for swing in walked), default=None) for name in _FIGURES},
        "largest_lag_s": max(lags, default=None),
        **_judged(outcome, statistics.median(lags) if lags else None),
        "asked": Asked.AS_FOUND,
    }


@dataclass(frozen=True, slots=True, eq=False)
class SwingJob(Job):
    """Moves a landing in the process of a worker.

    Attributes:
        case: Which landing.
        trial: The walk.
    """

    case: SwingCase
    trial: Trial

    def run(self) -> Row:
        """Return the figures of the swing."""
        return _measured(self.case, self.trial)


def _measured(case: SwingCase, trial: Trial) -> Row:
    """Return the figures of one swing; a landing that the planner refuses has none."""
    swing = MovedSwing(case, trial)
    try:
        times, wanted, reached = swing.followed()
    except PlanningError as error:
        return {**dict.fromkeys(_FIGURES), **_judged("refused", None, str(error))}
    axis = 0 if case.way == AHEAD else 1
    along, late = wanted[:, axis], 1e3 * (wanted - reached)
    period = float(times[1] - times[0])
    figures = (
        float(np.abs(np.diff(along, 2)).max() / period**2),
        float(np.abs(late[:, axis]).max()),
        float(math.copysign(1.0, along[-1]) * late[-1, axis]),
        float(np.abs(late[:, 2]).max()),
    )
    rounded = dict(zip(_FIGURES, (round(figure, 1) for figure in figures), strict=True))
    outcome = "fell" if swing.walk.is_down else "measured"
    return {**rounded, **_judged(outcome, lag_of(times, along, reached[:, axis]))}


def _judged(outcome: str, lag: float | None, reason: str = "") -> Row:
    return {"paper": None, "value": lag, "outcome": outcome, "reason": reason}


EXPERIMENTS = (
    Experiment(
        "swing_lag",
        "Gradiva's own experiment",
        "Landings that are moved while the sole swings: how late it follows, against acceleration, time and height.",
        run_swing_lag,
        "lag [s]",
        plants=(Plant.IDEAL,),
        takes=("robots", "controls", "settings"),
    ),
)
