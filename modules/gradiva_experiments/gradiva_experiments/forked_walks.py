"""Continues a simulated walk in many ways: each continuation runs in a fork of the process, an exact and cheap copy.

One walk is simulated up to the moment at which its continuations differ, by a push for instance, and no further: each
trial is a ``fork`` there, which the operating system copies page by page as it is written to. A fork is bit-identical
to a walk of its own that took the same way. The walks run in one process of their own without threads, which is what
makes a fork of it safe; Linux only.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar, cast

from gradiva.common import ConfigError, PlanningError, RobotInterfaceError, Side, nearest_name
from gradiva.planner import StopCommand, WalkingPlan
from gradiva.simulated_walk import SimulatedWalk
from gradiva.simulation import Push
from gradiva.walking import WalkingLog, WalkingState
from gradiva_experiments.trial import Trial

# -- searches and their trials ---------------------------------------------------------------------------------------

Outcome = dict[str, Any]
"""Result of one continuation; what JSON can hold."""


T = TypeVar("T")


class Search(Protocol):
    """A search whose trials are continuations of one walk, each chosen by the outcomes of those before it."""

    def next_trial(self) -> Any | None:
        """Return the next trial; None when the search is done."""

    def take(self, outcome: Outcome) -> None:
        """Take the outcome of that trial."""


class OneTrial(Generic[T]):
    """A search of one trial.

    Attributes:
        trial: What is walked.
        outcome: Its outcome; None before.
    """

    def __init__(self, trial: T) -> None:
        """Take the trial."""
        self.trial = trial
        self.outcome: Outcome | None = None

    def next_trial(self) -> T | None:
        """Return the trial, once."""
        return self.trial if self.outcome is None else None

    def take(self, outcome: Outcome) -> None:
        """Take its outcome."""
        self.outcome = outcome


def search_in_forks(
    searches: Sequence[Search], run: Callable[[Any], Outcome], processes: int
) -> Iterator[tuple[int, Search]]:
    """Carry out searches side by side, each trial in a fork of this process; yield index and search as they end.

    Args:
        searches: One trial of each runs at a time.
        run: Runs a trial in the fork; what it changes is gone afterwards.
        processes: Forks at once.

    Raises:
        RuntimeError: A trial raised an error; it is in the message.
    """
    waiting, running = list(range(len(searches)))[::-1], dict[int, tuple[int, int]]()
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                index = waiting.pop()
                trial = searches[index].next_trial()
                if trial is None:
                    yield index, searches[index]
                else:
                    child, reader = _fork(run, trial)
                    running[child] = index, reader
            if running:
                child, _ = os.wait()
                index, reader = running.pop(child)
                searches[index].take(_outcome(reader))
                waiting.append(index)
    finally:
        for child in running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _fork(run: Callable[[Any], Outcome], trial: Any) -> tuple[int, int]:
    """Return process and end of the pipe of a fork that runs a trial."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    try:
        try:
            outcome = run(trial)
        except BaseException:
            outcome = {"error": traceback.format_exc()}
        with os.fdopen(writer, "w", encoding="utf-8") as pipe:
            json.dump(outcome, pipe)
    finally:
        os._exit(0)  # no clean-up: what is open belongs to the parent


def _outcome(reader: int) -> Outcome:
    with os.fdopen(reader, encoding="utf-8") as pipe:
        text = pipe.read()
    outcome: Outcome = json.loads(text) if text else {"error": "the process of a trial was killed"}
    if "error" in outcome:
        raise RuntimeError(outcome["error"])
    return outcome


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
TRACKED, RECOVERED = 0.0125, 1.0
"""DCM error [m] and time [s], a step: a robot that tracks so well for so long has recovered, and is left alone."""

Pushing = tuple[tuple[float, float, float], float]
"""Force (world, [N]) and duration [s] of a push."""


class RobotDownError(RuntimeError):
    """The robot falls or gives up before it is pushed."""


class ForkedWalk:
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
        self.times = self._moments()

    def advance(self, moment: str) -> float:
        """Walk to a moment and return its time [s]; moments come in the order of the walk.

        Raises:
            RobotDownError: The robot does not reach it.
        """
        time = self.times[moment] - 1e-9
        if not self.walk.run_until(lambda: self.walk.time >= time, 60.0):
            raise RobotDownError(self._reason())
        return self.walk.time

    def continued(self, trial: Any) -> Outcome:
        """Go on from this moment as a trial of a search says, and return what comes of it."""
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


class PushedWalk(ForkedWalk):
    """A walk that is pushed in the phases of a step; a robot that stands, after a second (`STANDING`)."""

    def __init__(self, trial: Trial, link: str = "") -> None:
        """Begin the walk as `ForkedWalk`; ``link`` is pushed, the torso where it is empty."""
        super().__init__(trial)
        self._link = link or self.walk.setup.robot.torso_frame

    def _moments(self) -> dict[str, float]:
        plan = self.walk.controller.plan
        if plan is None or not plan.steps:
            return {STANDING: self.walk.time + _SETTLED}
        return phase_times(plan)

    def continued(self, trial: Pushing) -> Outcome:
        """Push from now on and watch the robot until it is down, has recovered, or `WATCHED` has passed.

        Returns:
            Whether it ``survived``, for which ``reason`` not, and where the base is at the end: ``time_s`` and
            ``base_position`` [m].
        """
        walk, parent, failure = self.walk, os.getppid(), ""
        push = Push(self._link, trial[0], walk.time, trial[1])
        walk.robot.push(push)
        end, recovered = push.end + WATCHED - 1e-9, push.end + RECOVERED - 1e-9
        try:
            while walk.time < min(end, recovered) and not walk.is_down and os.getppid() == parent:
                if not _is_tracking(walk.tick()):
                    recovered = max(push.end, walk.time) + RECOVERED - 1e-9
        except RobotInterfaceError as error:
            failure = str(error)
        return {
            "survived": not walk.is_down and not failure,
            "reason": failure or self._reason(),
            "time_s": walk.time,
            "base_position": walk.robot.truth().base_position.tolist(),
        }


def _is_tracking(log: WalkingLog) -> bool:
    """Return whether the DCM is within `TRACKED` of its reference."""
    state, reference = log.robot_state, log.reference
    if state is None or reference is None:
        return False
    return math.dist(state.dcm_position, reference.dcm.position) <= TRACKED


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

    def wants(self, log: object) -> bool:
        """Return that no tick is wanted."""
        return False

    def record_standing(self, log: object, measurement: object) -> None:
        """Drop a tick."""


# -- many walks, in a process of their own ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WalkSearches:
    """A walk and what is searched for at its phases.

    Attributes:
        trial: The walk.
        searches: By phase, in the order of the walk; their trials are of type `Pushing`.
        link: That is pushed; empty: the torso.
    """

    trial: Trial
    searches: Mapping[str, Sequence[Search]]
    link: str = ""

    def begin(self) -> ForkedWalk:
        """Begin the walk.

        Raises:
            WalkingError: The configuration is wrong, or the command cannot be planned.
            RobotDownError: The robot does not even stand.
        """
        return PushedWalk(self.trial, self.link)


@dataclass(frozen=True, slots=True)
class FoundSearch:
    """A search that has ended.

    Attributes:
        walk: Which of the walks.
        phase: Of the walk.
        index: Which search of that phase.
        search: With its outcome.
        time: Of the push, since the simulation began, [s].
        failure: Why nothing was searched; empty where it was.
    """

    walk: int
    phase: str
    index: int
    search: Search
    time: float = math.nan
    failure: str = ""


def search_walks(walks: Sequence[WalkSearches], processes: int | None = None) -> Iterator[FoundSearch]:
    """Simulate the walks one after the other and carry out their searches side by side; yield these as they end.

    Args:
        walks: A robot that goes down without a push is a result: its searches fail.
        processes: Forks at once; by default as many as this process may use cores.

    Raises:
        WalkingError: A configuration is wrong, or a command cannot be planned.
        RuntimeError: A trial raised an error, or the process was killed.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the new process: a fork copies no other thread
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    count = processes or len(os.sched_getaffinity(0))
    process = context.Process(target=_serve, args=(sender, walks, count), daemon=True)
    process.start()
    sender.close()
    try:
        while (found := _received(receiver)) is not None:
            yield found
    finally:
        process.terminate()  # its forks end with it, at their next tick
        process.join()


def _received(receiver: Connection) -> FoundSearch | None:
    try:
        message = receiver.recv()
    except EOFError:
        raise RuntimeError("the process of the walks was killed") from None
    if isinstance(message, Exception):
        raise message
    return cast("FoundSearch | None", message)


def _serve(sender: Connection, walks: Sequence[WalkSearches], processes: int) -> None:
    """Run the walks and send what is found; Ctrl-C reaches all processes of a terminal and is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for index, walk in enumerate(walks):
            for found in _searched(index, walk, processes):
                sender.send(found)
        sender.send(None)
    except Exception as error:
        sender.send(error)


def _searched(index: int, walk: WalkSearches, processes: int) -> Iterator[FoundSearch]:
    begun, failure = None, ""
    for phase, searches in walk.searches.items():
        try:
            begun = begun or walk.begin()
            time = begun.advance(phase)
        except RobotDownError as error:
            failure = f"goes down before: {error}"
        if failure or begun is None:
            yield from (
                FoundSearch(index, phase, place, search, failure=failure) for place, search in enumerate(searches)
            )
            continue
        for place, search in search_in_forks(searches, begun.continued, processes):
            yield FoundSearch(index, phase, place, search, time)
