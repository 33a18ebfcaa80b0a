"""One walk of a campaign (a trial), many of them side by side in processes of their own, and what is kept of them."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import gradiva
from gradiva.common import ControlMode, NDArray, PlanningError, Side, StateError
from gradiva.planner import Command
from gradiva.setup import Plant, Setup, load_setup
from gradiva.simulated_walk import (
    WALKED,
    WALKED_BADLY,
    Observer,
    Pose,
    SimulatedWalk,
    WalkOutcome,
    WalkRequest,
    final_pose,
    plan_from_start,
    run_walk,
)
from gradiva.telemetry import plain, write_mat
from gradiva.walking import WalkingState

_TRACK_PERIOD = 0.1  # [s]


@dataclass(frozen=True, slots=True)
class RobotCase:
    """Names the robot of a walk; cases of an experiment add what it varies.

    Attributes:
        robot: Name or folder.
        plant: Simulated robot.
        control: Of layer 3.
    """

    robot: str
    plant: Plant
    control: ControlMode

    @property
    def first_columns(self) -> dict[str, Any]:
        """Columns with which its rows begin."""
        return {"robot": self.robot, "plant": str(self.plant), "control": str(self.control)}


Course = tuple[tuple[float, Command], ...]
"""Times since the walk began, [s], in ascending order, each with the command from then on."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A walk to be done, by names and numbers alone.

    Attributes:
        robot: Name of the robot.
        command: Where to.
        overrides: ``table.key`` to value, over the robot's configuration.
        plant: Whose preset is laid over the simulation.
        seed: Of all that is drawn.
        kept_in: Folder for its result and its log; None: the log is dropped.
        is_explained: Whether the cause of a fall is looked for by further walks.
        course: Commands that replace the first one while it walks.
    """

    robot: str
    command: Command
    overrides: Mapping[str, Any] = field(default_factory=dict)
    plant: Plant = Plant.IDEAL
    seed: int = 0
    kept_in: Path | None = None
    is_explained: bool = False
    course: Course = ()

    def setup(self) -> Setup:
        """Return the configuration.

        Raises:
            WalkingError: It is wrong, or the robot's model is missing.
        """
        return load_setup(self.robot, dict(self.overrides), plant=self.plant)


@dataclass(frozen=True, slots=True, eq=False)
class TrialResult:
    """Result of a trial.

    Attributes:
        figures: In the shape of ``result.json``.
        planned_pose: Where the plan ends; None when there is no plan.
        track: Of the middle of the feet in simulation, every tenth of a second, [m], shape (k, 2).
        log: File with its signals; None where it is not kept, or the robot never balanced.
    """

    figures: dict[str, Any]
    planned_pose: Pose | None
    track: NDArray = field(default_factory=lambda: np.zeros((0, 2)))
    log: Path | None = None

    @property
    def walked(self) -> bool:
        """Whether the robot did what was asked and still stands."""
        return bool(self.figures["outcome"] == WALKED)

    @property
    def stands(self) -> bool:
        """Whether the robot walked to the end and still stands, wherever that is."""
        return self.figures["outcome"] in (WALKED, WALKED_BADLY)


def run_trial(trial: Trial, observers: tuple[Observer, ...] = ()) -> TrialResult:
    """Walk; a command that cannot be planned is an outcome as well.

    Args:
        trial: What to walk.
        observers: Called after each tick.

    Raises:
        WalkingError: The configuration is wrong, or the robot's model is missing.
    """
    setup = trial.setup()
    try:
        pose = final_pose(plan_from_start(setup, trial.command))
    except PlanningError as error:
        return TrialResult({"outcome": "stopped", "reason": f"no plan: {error}"}, None)
    outcome = walk_trial(trial, observers)
    result = TrialResult(outcome.result, pose, _track(outcome))
    return result if trial.kept_in is None else kept_result(result, outcome, trial.kept_in)


def walk_trial(trial: Trial, observers: tuple[Observer, ...] = ()) -> WalkOutcome:
    """Walk in this process and keep the log.

    Raises:
        WalkingError: As ``run_trial``, or the command cannot be planned.
        KeyboardInterrupt: The walk was interrupted.
    """
    report = _ignore if trial.is_explained else None
    observers = (*observers, _Helm(trial.course)) if trial.course else observers
    return run_walk(WalkRequest(trial.setup(), trial.command, trial.seed), observers=observers, report=report)


def _ignore(line: str) -> None:
    pass


class _Helm:
    """Gives a walk the commands of a course; one that cannot be planned, or comes while it stops, is left out."""

    def __init__(self, course: Course) -> None:
        self._left = list(course)
        self._begin: float | None = None

    def __call__(self, walk: SimulatedWalk) -> None:
        """Give the command that is due, if there is one."""
        if not self._left or walk.controller.state is not WalkingState.WALKING:
            return
        self._begin = walk.time if self._begin is None else self._begin
        if walk.time - self._begin >= self._left[0][0]:
            with suppress(PlanningError, StateError):
                walk.controller.walk(self._left.pop(0)[1])


def _track(outcome: WalkOutcome) -> NDArray:
    log = outcome.walk.recorder.log
    if not len(log):
        return np.zeros((0, 2))
    rows = np.searchsorted(log.times, np.arange(log.times[0], log.times[-1], _TRACK_PERIOD))
    left, right = (log[f"simulation::{side}_foot::position"] for side in Side)
    return 0.5 * (left + right)[np.minimum(rows, len(log) - 1), :2]


class Pool(Protocol):
    """Runs trials, one after the other or side by side."""

    def run(self, trial: Trial) -> TrialResult:
        """Run one trial and wait for it."""

    def results(self, trials: Sequence[Trial]) -> Iterator[tuple[int, TrialResult]]:
        """Run all trials; yield their index and result as they finish."""

    def close(self) -> None:
        """End what runs."""


_LARGEST = 8  # [processes] beyond it, memory and not the processor is what runs short


class TrialPool:
    """Worker processes, one a core, each with single-threaded linear algebra; use it in a ``with`` statement."""

    def __init__(self, workers: int | None = None) -> None:
        """Start no process yet; the first trials do.

        Args:
            workers: How many trials run at once; by default as many as this process may use cores.
        """
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        self.workers = workers or max(1, min(_LARGEST, len(os.sched_getaffinity(0))))
        context = multiprocessing.get_context("spawn")
        self._stop = context.Event()
        self._executor = ProcessPoolExecutor(self.workers, context, initializer=_begin, initargs=(self._stop,))

    def submit(self, trial: Trial) -> Future[TrialResult]:
        """Queue one trial."""
        return self._executor.submit(_run, trial)

    def run(self, trial: Trial) -> TrialResult:
        """Run one trial and wait for it.

        Raises:
            WalkingError: As ``run_trial``.
        """
        return self.submit(trial).result()

    def results(self, trials: Sequence[Trial]) -> Iterator[tuple[int, TrialResult]]:
        """Run all trials; yield their index and result as they finish.

        Raises:
            WalkingError: As ``run_trial``.
        """
        pending = {self.submit(trial): index for index, trial in enumerate(trials)}
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield pending.pop(future), future.result()

    def close(self) -> None:
        """Drop what is queued; running walks stop at their next tick."""
        self._stop.set()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> TrialPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_stop: Event | None = None  # of this worker process


def _begin(stop: Event) -> None:
    """Ctrl-C reaches all processes of a terminal: a worker leaves it to the parent to stop the walks."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(trial: Trial) -> TrialResult:
    return run_trial(trial, (_stop_when_asked,))


def _stop_when_asked(walk: SimulatedWalk) -> None:
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt


# -- trials that an interrupted campaign has done ----------------------------------------------------------------------


class RecordedTrials:
    """A pool that keeps each result in a file, and takes from it what has been walked already."""

    def __init__(self, pool: Pool, path: Path) -> None:
        """Read the file, if there is one.

        Args:
            pool: Runs the trials that are not in the file.
            path: JSON, a line a trial.
        """
        self._pool, self._path = pool, path
        self._lock = threading.Lock()
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]  # the last line of a run that was killed may be torn
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        self._results = dict(map(_recorded, whole.splitlines()))

    def run(self, trial: Trial) -> TrialResult:
        """Run one trial, unless it is in the file.

        Raises:
            WalkingError: As ``run_trial``.
        """
        key = trial_key(trial)
        if key not in self._results:
            self._keep(key, self._pool.run(trial))
        return self._results[key]

    def results(self, trials: Sequence[Trial]) -> Iterator[tuple[int, TrialResult]]:
        """Yield what is in the file, then run the others; index and result of each.

        Raises:
            WalkingError: As ``run_trial``.
        """
        keys = [trial_key(trial) for trial in trials]
        others = [index for index, key in enumerate(keys) if key not in self._results]
        yield from ((index, self._results[key]) for index, key in enumerate(keys) if key in self._results)
        for place, result in self._pool.results([trials[index] for index in others]):
            self._keep(keys[others[place]], result)
            yield others[place], result

    def close(self) -> None:
        """End what runs."""
        self._pool.close()

    def _keep(self, key: str, result: TrialResult) -> None:
        with self._lock:
            self._results[key] = result
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(key, result) + "\n")


def trial_key(trial: Trial) -> str:
    """Return a digest of all that a trial is made of: robot, merged configuration, command and seed."""
    configuration = _configuration_digest(trial.robot, json.dumps(plain(trial.overrides)), trial.plant)
    walk = [type(trial.command).__name__, trial.command, *trial.course]
    return _digest([configuration, *walk, trial.seed, trial.kept_in, trial.is_explained])


@lru_cache(maxsize=1024)
def _configuration_digest(robot: str, overrides: str, plant: Plant) -> str:
    setup = load_setup(robot, json.loads(overrides), plant=plant)
    return _digest([setup.robot, setup.tables])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(plain(value), sort_keys=True, default=str).encode()).hexdigest()


def _line(key: str, result: TrialResult) -> str:
    figures = {name: getattr(result, name) for name in ("figures", "planned_pose", "track")}
    return json.dumps(plain({"trial": key, **figures, "log": None if result.log is None else str(result.log)}))


def _recorded(line: str) -> tuple[str, TrialResult]:
    kept = json.loads(line)
    pose, log = kept["planned_pose"], kept.get("log")
    track = np.array(kept["track"], dtype=float).reshape(-1, 2)
    result = TrialResult(kept["figures"], None if pose is None else tuple(pose), track, log and Path(log))
    return kept["trial"], result


# -- walks that several experiments share ------------------------------------------------------------------------------


class SharedTrials:
    """A pool that keeps results and logs beside the runs: another experiment, or a resumed one, does not walk again.

    A walk is known again by its ``trial_key`` and by the code of Gradiva: after any change it is walked anew.
    """

    def __init__(self, pool: Pool, folder: Path) -> None:
        """Take the pool that runs the trials that are not in ``folder``."""
        self._pool, self._folder = pool, folder.resolve()

    def results(self, trials: Sequence[Trial]) -> Iterator[tuple[int, TrialResult]]:
        """Yield what is in the folder, then run the others; index and result of each, with its log.

        Raises:
            WalkingError: As ``run_trial``.
        """
        kept = [replace(trial, kept_in=self._folder / _digest([trial_key(trial), code_digest()])) for trial in trials]
        files = [trial.kept_in / _RESULT for trial in kept if trial.kept_in is not None]
        known = [file.is_file() for file in files]
        for index, file in enumerate(files):
            if known[index]:
                yield index, _recorded(file.read_text(encoding="utf-8"))[1]
        others = [index for index in range(len(kept)) if not known[index]]
        for place, result in self._pool.results([kept[index] for index in others]):
            yield others[place], result


_RESULT = "result.json"


def kept_result(result: TrialResult, outcome: WalkOutcome, folder: Path) -> TrialResult:
    """Write log and result of a walk into a folder; the result comes last, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    robot, log, path = outcome.request.setup.robot, outcome.log, folder / "log.mat"
    if len(log):
        write_mat(path, log, robot.joints, robot.name)
        result = replace(result, log=path)
    unfinished = folder / f"{_RESULT}.{os.getpid()}"
    unfinished.write_text(_line("", result), encoding="utf-8")
    os.replace(unfinished, folder / _RESULT)
    return result


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return a digest of the code of Gradiva and of its experiments."""
    folders = Path(str(gradiva.__file__)).parent, Path(__file__).parent
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return _digest([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
