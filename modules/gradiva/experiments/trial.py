"""One walk of a campaign, small enough to be sent to another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradiva.common import NDArray, PlanningError, Side
from gradiva.experiments.planned_walk import Pose, final_pose, plan_from_start
from gradiva.experiments.simulated_walk import Observer
from gradiva.experiments.walk_result import WalkOutcome, WalkRequest, run_walk
from gradiva.planner import Command
from gradiva.setup import Setup, load_setup

_TRACK_PERIOD = 0.1  # [s]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What to walk, by names and numbers alone.

    Attributes:
        robot: Name of the robot.
        command: Where to.
        overrides: ``table.key`` to value, over the robot's configuration.
        noise: Whether the noise preset is laid over the simulation.
        seed: Of the noise.
    """

    robot: str
    command: Command
    overrides: Mapping[str, Any] = field(default_factory=dict)
    noise: bool = False
    seed: int = 0

    def setup(self) -> Setup:
        """Return the configuration.

        Raises:
            WalkingError: It is wrong, or the robot's model is missing.
        """
        return load_setup(self.robot, dict(self.overrides), noise=self.noise)


@dataclass(frozen=True, slots=True, eq=False)
class TrialResult:
    """How a trial went.

    Attributes:
        figures: In the shape of ``result.json``.
        planned_pose: Where the plan ends; None when there is no plan.
        track: Of the middle of the feet in simulation, every tenth of a second, [m], shape (k, 2).
    """

    figures: dict[str, Any]
    planned_pose: Pose | None
    track: NDArray = field(default_factory=lambda: np.zeros((0, 2)))

    @property
    def walked(self) -> bool:
        """Whether the robot did what was asked and still stands."""
        return bool(self.figures["outcome"] == "walked")


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
    return TrialResult(outcome.result, pose, _track(outcome))


def walk_trial(trial: Trial, observers: tuple[Observer, ...] = ()) -> WalkOutcome:
    """Walk in this process and keep the log.

    Raises:
        WalkingError: As ``run_trial``, or the command cannot be planned.
        KeyboardInterrupt: The walk was interrupted.
    """
    return run_walk(WalkRequest(trial.setup(), trial.command, trial.seed), observers=observers)


def _track(outcome: WalkOutcome) -> NDArray:
    log = outcome.walk.recorder.log
    if not len(log):
        return np.zeros((0, 2))
    rows = np.searchsorted(log.times, np.arange(log.times[0], log.times[-1], _TRACK_PERIOD))
    left, right = (log[f"simulation::{side}_foot::position"] for side in Side)
    return 0.5 * (left + right)[np.minimum(rows, len(log) - 1), :2]
