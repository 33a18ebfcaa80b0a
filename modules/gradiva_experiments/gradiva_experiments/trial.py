"""One walk of an experiment (a trial), its result, and walks that several experiments share."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

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
from gradiva_experiments.pool import Job, Pool, digest

_TRACK_PERIOD = 0.1  # [s]


@dataclass(frozen=True, slots=True)
class RobotCase:
    """Names the robot of a walk; cases of an experiment add what it varies.

    Attributes:
        robot: Name or folder.
        plant: Simulated robot.
        control: Control mode of layer 3.
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
class Trial(Job):
    """A walk to be done, by names and numbers alone.

    Attributes:
        robot: Name of the robot.
        command: Where to.
        overrides: ``table.key`` to value, over the robot's configuration.
        plant: Plant whose preset is laid over the simulation.
        seed: Seed of all that is drawn.
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

    @property
    def key(self) -> str:
        """Digest of all that it is made of: robot, merged configuration, command and seed."""
        configuration = _configuration_digest(self.robot, json.dumps(plain(self.overrides)), self.plant)
        walk = [type(self.command).__name__, self.command, *self.course]
        return digest([configuration, *walk, self.seed, self.kept_in, self.is_explained])

    def run(self) -> dict[str, Any]:
        """Walk; see ``run_trial``."""
        return run_trial(self).as_json()

    def result(self, value: Mapping[str, Any]) -> TrialResult:
        """Return the result."""
        return TrialResult.of_json(value)


@lru_cache(maxsize=1024)
def _configuration_digest(robot: str, overrides: str, plant: Plant) -> str:
    setup = load_setup(robot, json.loads(overrides), plant=plant)
    return digest([setup.robot, setup.tables])


@dataclass(frozen=True, slots=True, eq=False)
class TrialResult:
    """Result of a trial.

    Attributes:
        figures: Figures in the shape of ``result.json``.
        planned_pose: Where the plan ends; None when there is no plan.
        track: Path of the middle of the feet in simulation, every tenth of a second, [m], shape (k, 2).
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

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {name: plain(getattr(self, name)) for name in ("figures", "planned_pose", "track", "log")}

    @staticmethod
    def of_json(kept: Mapping[str, Any]) -> TrialResult:
        """Return it from what JSON holds."""
        pose, log = kept["planned_pose"], kept.get("log")
        track = np.array(kept["track"], dtype=float).reshape(-1, 2)
        return TrialResult(kept["figures"], None if pose is None else tuple(pose), track, log and Path(log))


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


# -- walks that several experiments share ------------------------------------------------------------------------------


class SharedTrials:
    """A pool that keeps results and logs beside the runs: another experiment, or a resumed one, does not walk again.

    A walk is known again by its key and by the code of Gradiva: after any change it is walked anew.
    """

    def __init__(self, pool: Pool, folder: Path) -> None:
        """Take the pool that runs the trials that are not in ``folder``."""
        self._pool, self._folder = pool, folder.resolve()

    def results(self, trials: Sequence[Trial]) -> Iterator[tuple[int, TrialResult]]:
        """Yield what is in the folder, then run the others; index and result of each, with its log.

        Raises:
            WalkingError: As ``run_trial``.
        """
        kept = [replace(trial, kept_in=self._folder / digest([trial.key, code_digest()])) for trial in trials]
        files = [trial.kept_in / _RESULT for trial in kept if trial.kept_in is not None]
        known = [file.is_file() for file in files]
        for index, file in enumerate(files):
            if known[index]:
                yield index, TrialResult.of_json(json.loads(file.read_text(encoding="utf-8")))
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
    unfinished.write_text(json.dumps(result.as_json()), encoding="utf-8")
    os.replace(unfinished, folder / _RESULT)
    return result


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return a digest of the code of Gradiva and of its experiments."""
    folders = Path(str(gradiva.__file__)).parent, Path(__file__).parent
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return digest([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
