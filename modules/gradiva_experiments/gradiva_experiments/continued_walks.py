"""Continues a simulated walk in many ways: each continuation runs in a fork of the process, an exact and cheap copy.

One walk is simulated up to the moment at which its continuations differ, by a push for instance, and no further: each
continuation is a ``fork`` there, which the operating system copies page by page as it is written to. A fork is
bit-identical to a walk of its own that took the same way. It is taken in the process of a worker, which has no threads
and keeps the walk from job to job; with one worker in the driver itself, beside the thread of its progress bar, whose
locks a continuation must not need. Linux only.
"""

from __future__ import annotations

import json
import math
import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

from gradiva.common import ConfigError, PlanningError, RobotInterfaceError, Side, nearest_name
from gradiva.planner import StopCommand, VelocityCommand, WalkingPlan
from gradiva.simulated_walk import SimulatedWalk
from gradiva.simulation import Push
from gradiva.walking import WalkingLog, WalkingState
from gradiva_experiments.campaign.worker_process import end_with_parent
from gradiva_experiments.pool import Job, digest, show_progress
from gradiva_experiments.trial import Trial

Outcome = dict[str, Any]
"""Result of one continuation; what JSON can hold."""


def in_fork(run: Callable[[Any], Outcome], way: Any) -> Outcome:
    """Return the outcome of a function in a fork of this process; what it changes is gone afterwards.

    Raises:
        RuntimeError: It raised an error, which is in the message.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _run_and_exit(run, way, writer)
    os.close(writer)
    try:
        with os.fdopen(reader, encoding="utf-8") as pipe:
            text = pipe.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.waitpid(child, 0)
    try:
        outcome: Outcome = json.loads(text)
    except ValueError:  # nothing, or not all of it
        outcome = {"error": "the process of a continuation was killed"}
    if "error" in outcome:
        raise RuntimeError(outcome["error"])
    return outcome


def _run_and_exit(run: Callable[[Any], Outcome], way: Any, writer: int) -> None:
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_with_parent()
        try:
            outcome = run(way)
        except BaseException:
            outcome = {"error": traceback.format_exc()}
        with os.fdopen(writer, "w", encoding="utf-8") as pipe:
            json.dump(outcome, pipe)
    finally:
        os._exit(0)  # no clean-up: what is open belongs to the parent


# -- a walk that is continued ---------------------------------------------------------------------------------------


class RobotDownError(RuntimeError):
    """The robot falls or gives up before it is continued."""


class ContinuedWalk:
    """A walk up to one moment after the other, at each of which it can be continued in many ways.

    Attributes:
        walk: Plant and controller.
        times: Of the moments by name, in the order of the walk, since the simulation began, [s].
    """

    def __init__(self, trial: Trial) -> None:
        """Put the robot on the ground, start it, and give it the command, to stand where that is a ``StopCommand``.

        Raises:
            WalkingError: The configuration is wrong, the command cannot be planned, or lacks a moment.
            RobotDownError: The robot does not even stand.
        """
        self.walk = walk = SimulatedWalk(trial.setup(), trial.seed)
        walk.recorder = _NoRecorder()  # type: ignore[assignment]
        if not walk.get_ready():
            raise RobotDownError(self._reason())
        if not isinstance(trial.command, StopCommand):
            walk.controller.walk(trial.command)
        self.times, self._reached = self._moments(), -math.inf

    def is_before(self, moment: str) -> bool:
        """Return whether the walk has not gone beyond a moment."""
        return self.times[moment] >= self._reached

    def advance(self, moment: str) -> float:
        """Walk to a moment and return its time [s]; moments come in the order of the walk.

        Raises:
            RobotDownError: The robot does not reach it.
        """
        self._reached, time = self.times[moment], self.times[moment] - 1e-9
        if not self.walk.run_until(lambda: self.walk.time >= time, 60.0):
            raise RobotDownError(self._reason())
        return self.walk.time

    def continued(self, way: Any) -> Outcome:
        """Go on from this moment in one way, and return what comes of it."""
        raise NotImplementedError

    def _moments(self) -> dict[str, float]:
        """Return when the walk can be continued, [s], by name."""
        raise NotImplementedError

    def _reason(self) -> str:
        """Return why the robot is down, or no longer walks; empty where it does what it is commanded."""
        walk = self.walk
        if walk.robot.fall is not None:
            return f"{walk.robot.fall.reason} at {walk.robot.fall.time:.2f} s"
        ended = walk.controller.state in (WalkingState.FAULT, WalkingState.STOPPED)
        return f"{walk.controller.reason} at {walk.time:.2f} s" if ended else ""


# -- a walk that is pushed -------------------------------------------------------------------------------------------

STANDING = "standing"
PHASES = {"early": 0.05, "middle": 0.4, "late": 0.75, "touch_down": 1.0}
"""Moments of a single support by name, as fractions of it."""


def check_phases(names: Iterable[str]) -> None:
    """Refuse names that are none of `PHASES`.

    Raises:
        ConfigError: There is one.
    """
    for name in names:
        if name not in PHASES:
            raise ConfigError(f"unknown --phase '{name}'{nearest_name(name, PHASES)}")


SWING_SIDE = Side.RIGHT
"""Foot that swings in the step that is pushed: its stance foot, and so the weak side, is at +y."""

_STEP = 1  # of this foot: the one before still gathers speed
_SETTLED = 1.0  # [s] between start and push of a robot that stands
WATCHED = 4.0
"""Time after a push in which the robot must not fall, [s]: four steps or more."""
RECOVERED = 1.0
"""Time for which a robot tracks as before the push when it has recovered, and is left alone: a step, [s]."""
_TRACKED, _MARGIN = 0.0125, 1.25
"""DCM error [m] that is small in any walk, and [-] of the largest in `RECOVERED` before the push: of 277 pushes of iCub
v2.7 and G1, at 0.3 m/s by position on the plant ``robot``, none felled it in `WATCHED` after it had recovered."""

APART = 0.8
"""Time from the begin of a push to that of the next one, [s]."""

Force = tuple[float, float, float]
Pushing = tuple[Force, float, int]
"""Force (axes of the heading at the first push, [N]), duration [s] and number of equal pushes."""


class PushedWalk(ContinuedWalk):
    """A walk that is pushed in the phases of a step; a robot that stands, after a second (`STANDING`)."""

    def __init__(self, trial: Trial, link: str = "") -> None:
        """Begin the walk as `ContinuedWalk`; ``link`` is pushed, the torso where it is empty."""
        super().__init__(trial)
        self.walk.recorder = self._errors = _DcmErrors(self.walk.setup.walking.walking.period)  # type: ignore[assignment]
        self._link = link or self.walk.setup.robot.torso_frame
        self._turns = isinstance(trial.command, VelocityCommand) and trial.command.angular != 0.0

    def _moments(self) -> dict[str, float]:
        plan = self.walk.controller.plan
        if plan is None or not plan.steps:
            return {STANDING: self.walk.time + _SETTLED}
        return phase_times(plan)

    def continued(self, way: Pushing) -> Outcome:
        """Push from now on and watch the robot until it is down, has recovered, or `WATCHED` has passed.

        Returns:
            Whether it ``survived``, for which ``reason`` not, and where the base is at the end: ``time_s`` and
            ``base_position`` [m].
        """
        walk, failure = self.walk, ""
        force, duration, count = way
        tracked = max(_TRACKED, _MARGIN * self._errors.largest)
        pushes = [Push(self._link, self._turned(force), walk.time + APART * k, duration) for k in range(count)]
        for push in pushes:
            walk.robot.push(push)
        end, recovered = pushes[-1].end + WATCHED - 1e-9, pushes[-1].end + RECOVERED - 1e-9
        try:
            while walk.time < min(end, recovered) and not walk.is_down:
                if _dcm_error(walk.tick()) > tracked:
                    recovered = max(pushes[-1].end, walk.time) + RECOVERED - 1e-9
        except RobotInterfaceError as error:
            failure = str(error)
        return {
            "survived": not walk.is_down and not failure,
            "reason": failure or self._reason(),
            "time_s": walk.time,
            "base_position": walk.robot.truth().base_position.tolist(),
        }

    def _turned(self, force: Force) -> Force:
        """Return a force in world axes [N], given in those of the heading of a walk that turns."""
        plan = self.walk.controller.plan if self._turns else None
        if plan is None:
            return force
        heading = plan.at(self.walk.time).heading
        c, s = math.cos(heading), math.sin(heading)
        return c * force[0] - s * force[1], s * force[0] + c * force[1], force[2]


def _dcm_error(log: WalkingLog) -> float:
    """Return the distance of the DCM from its reference, [m]; infinite where one of them is unknown."""
    state, reference = log.robot_state, log.reference
    if state is None or reference is None:
        return math.inf
    return math.dist(state.dcm_position, reference.dcm.position)


def phase_times(plan: WalkingPlan | None) -> dict[str, float]:
    """Return the time of each of `PHASES` in the step that is pushed, [s].

    Raises:
        PlanningError: The plan has no such step.
    """
    steps = [] if plan is None else [step for step in plan.steps if step.footstep.side is SWING_SIDE]
    if len(steps) <= _STEP:
        raise PlanningError(f"the walk has {len(steps)} steps of the {SWING_SIDE} foot, {_STEP + 1} are needed")
    step = steps[_STEP]
    return {phase: step.lift_off + part * (step.touch_down - step.lift_off) for phase, part in PHASES.items()}


class _NoRecorder:
    """Records nothing: of a trial the end counts."""

    def wants(self, log: WalkingLog) -> bool:
        """Return that no tick is wanted."""
        return False

    def record_standing(self, log: object, measurement: object) -> None:
        """Drop a tick."""


class _DcmErrors(_NoRecorder):
    """Remembers the DCM errors of the last `RECOVERED` seconds."""

    def __init__(self, period: float) -> None:
        self._errors: deque[float] = deque(maxlen=round(RECOVERED / period))

    def wants(self, log: WalkingLog) -> bool:
        """Remember the error of a tick, which is not wanted."""
        self._errors.append(_dcm_error(log))
        return False

    @property
    def largest(self) -> float:
        """The largest one that is known, [m]."""
        return max(filter(math.isfinite, self._errors), default=0.0)


# -- jobs ------------------------------------------------------------------------------------------------------------


class Ways(Protocol):
    """Ways to continue a walk, each chosen by the outcomes of those before it."""

    def take(self, go_on: Callable[[Any], Outcome]) -> Outcome:
        """Go on in one way after the other; return what comes of it."""


@dataclass(frozen=True, slots=True)
class OneWay:
    """One way to continue a walk.

    Attributes:
        way: As `ContinuedWalk.continued` takes it.
    """

    way: Any

    def take(self, go_on: Callable[[Any], Outcome]) -> Outcome:
        """Go on in it."""
        return go_on(self.way)


@dataclass(frozen=True, slots=True)
class Continued:
    """Result of continuations from one moment.

    Attributes:
        outcome: Returned by `Ways.take`; empty where the robot went down before.
        time: Of the moment, since the simulation began, [s].
        failure: Why the moment was not reached; empty where it was.
    """

    outcome: Outcome
    time: float = math.nan
    failure: str = ""

    @property
    def survived(self) -> bool:
        """Whether the outcome of one way is that the robot did."""
        return bool(self.outcome.get("survived"))


@dataclass(frozen=True, slots=True, eq=False)
class Continuation(Job):
    """Continues a walk from one moment; a robot that goes down without is a result as well.

    Attributes:
        trial: The walk.
        moment: Name of one of its times.
        ways: To go on.
    """

    trial: Trial
    moment: str
    ways: Ways

    def begin(self) -> ContinuedWalk:
        """Begin the walk.

        Raises:
            WalkingError: The configuration is wrong, or the command cannot be planned.
            RobotDownError: The robot does not even stand.
        """
        raise NotImplementedError

    @property
    def walk_key(self) -> str:
        """Digest of the walk: the same for jobs that differ in moment and ways alone."""
        own = [getattr(self, each.name) for each in fields(self) if each.name not in ("trial", "moment", "ways")]
        return digest([type(self).__qualname__, self.trial.key, *own])

    def run(self) -> Outcome:
        """Walk to the moment and go on from there, each way in a fork."""
        where = f"{self.trial.robot}, {self.moment.replace('_', '-')}"
        show_progress(f"{where}: on the way there")

        def go_on(way: Any) -> Outcome:
            show_progress(f"{where}: {self.in_words(way)}")
            return in_fork(walk.continued, way)

        try:
            walk, time = _walk_at(self)
        except RobotDownError as error:
            return {"outcome": {}, "time": None, "failure": f"goes down before: {error}"}
        return {"outcome": self.ways.take(go_on), "time": time, "failure": ""}

    def in_words(self, way: Any) -> str:
        """Return a way in some words, for the line of progress."""
        return "goes on"

    def result(self, value: Outcome) -> Continued:
        """Return the result."""
        time = math.nan if value["time"] is None else value["time"]
        return Continued(value["outcome"], time, value["failure"])


_kept: dict[str, ContinuedWalk] = {}
"""The last walk of this process, by `Continuation.walk_key`."""


def _walk_at(job: Continuation) -> tuple[ContinuedWalk, float]:
    """Return the walk at the moment of a job, and its time [s]; the last walk goes on unless it is beyond."""
    walk = _kept.get(job.walk_key)
    if walk is None or not walk.is_before(job.moment):
        _kept.clear()
        _kept[job.walk_key] = walk = job.begin()
    return walk, walk.advance(job.moment)


@dataclass(frozen=True, slots=True, eq=False)
class PushedFrom(Continuation):
    """Pushes a walk from one of its moments on; its ways are of type `Pushing`.

    Attributes:
        link: That is pushed; empty: the torso.
    """

    link: str = ""

    def begin(self) -> ContinuedWalk:
        """Begin the walk."""
        return PushedWalk(self.trial, self.link)

    def in_words(self, way: Pushing) -> str:
        """Return impulse and direction of a push."""
        (x, y, _), duration, _ = way
        return f"push of {duration * math.hypot(x, y):.1f} N·s to {round(math.degrees(math.atan2(y, x))) % 360}°"


# -- the largest push --------------------------------------------------------------------------------------------------

_HIGHEST = 40  # level, which no robot survives
_FIRST = 5  # level that is tried first
_STRIDE = 3  # levels up, as long as the robot survives


@dataclass(slots=True)
class ImpulseSearch:
    """Bisects for the largest impulse in one direction that the robot survives.

    Attributes:
        direction: Of the push, from straight ahead to the left, [rad].
        duration: Of the push, [s].
        unit: Impulse of one level, [N·s].
        sweeps: Whether all levels below are tried as well: a bisection sees no smaller push that fells the robot.
        outcomes: Of the levels that were tried.
        count: Number of equal pushes.
    """

    direction: float
    duration: float
    unit: float
    sweeps: bool = False
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    count: int = 1

    @property
    def survived(self) -> int:
        """Largest level that was survived."""
        return max((level for level, found in self.outcomes.items() if found["survived"]), default=0)

    @property
    def lost(self) -> int | None:
        """Smallest level above it that was not survived; None: there was none."""
        survived, outcomes = self.survived, self.outcomes
        return min((level for level in outcomes if level > survived and not outcomes[level]["survived"]), default=None)

    @property
    def holes(self) -> list[int]:
        """Levels that were not survived below one that was."""
        survived = self.survived
        return [level for level in sorted(self.outcomes) if level < survived and not self.outcomes[level]["survived"]]

    @property
    def next_level(self) -> int | None:
        """Level to be tried next; None when the search is done."""
        if self.lost is not None and self.lost - self.survived > 1:
            return (self.survived + self.lost) // 2
        if self.lost is not None or self.survived >= _HIGHEST:
            below = range(self.survived - 1, 0, -1) if self.sweeps else ()
            return next((level for level in below if level not in self.outcomes), None)
        return _FIRST if not self.outcomes else min(_HIGHEST, self.survived + _STRIDE)

    def take(self, go_on: Callable[[Pushing], Outcome]) -> Outcome:
        """Push at one level after the other; return the outcomes by level, as JSON holds them."""
        while (level := self.next_level) is not None:
            force = level * self.unit / self.duration
            forces = force * math.cos(self.direction), force * math.sin(self.direction), 0.0
            self.outcomes[level] = go_on((forces, self.duration, self.count))
        return {str(level): outcome for level, outcome in self.outcomes.items()}

    def taken(self, outcomes: Outcome) -> ImpulseSearch:
        """Return the search with its outcomes, those that `take` has returned."""
        return replace(self, outcomes={int(level): outcome for level, outcome in outcomes.items()})

    @property
    def impulse(self) -> float:
        """Largest impulse that was survived, [N·s]."""
        return self.survived * self.unit
