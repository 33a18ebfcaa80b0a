"""The highest straight speed of several architectures, searched side by side."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

from gradiva.experiments.bars_figure import bars_figure
from gradiva.experiments.experiment import ExperimentRun, Row
from gradiva.experiments.speed_search import SpeedLimit, SpeedSearch, highest_speed
from gradiva.experiments.trial import Trial
from gradiva.planner import PlannerConfig, VelocityCommand
from gradiva.setup import load_setup

PaperSpeeds = Mapping[tuple[str, str], float]
"""Of iCub v2.7, by layer 2 and layer 3, [m/s]."""

PAPER_ROBOT = "icub_v2_7"
_FASTEST = 1.0  # [m/s] nobody looks beyond
_THOROUGH = SpeedSearch(slowest=0.10, fastest=_FASTEST, resolution=0.01, stride=8)
_QUICK = SpeedSearch(slowest=0.10, fastest=0.50, resolution=0.05, stride=8)
_DISTANCE, _QUICK_DISTANCE = 5.0, 1.0  # [m]
_SEEDS, _QUICK_SEEDS = (0, 1, 2), (0,)


def run_speed_table(run: ExperimentRun, paper: PaperSpeeds, origin: str) -> None:
    """Search the highest speed of each combination of layers for which the paper has one, with noisy sensors.

    Args:
        run: The experiment.
        paper: What the paper has.
        origin: Of these speeds, for the figure.
    """
    searches = [Architecture(run, model, control, paper) for model, control in paper]
    with ThreadPoolExecutor(len(searches)) as threads:
        futures = {threads.submit(search.row): place for place, search in enumerate(searches)}
        try:
            for future in as_completed(futures):
                run.add_row(future.result(), futures[future])
        except BaseException:
            for search in searches:
                search.cancelled.set()
            run.pool.close()
            raise
    run.add_figure(bars_figure(run.rows, ("model", "control"), run.value_title, origin), run.name)


@dataclass(slots=True, eq=False)
class Architecture:
    """One combination of simplified model control and whole-body control.

    Attributes:
        run: The experiment.
        model: Layer 2.
        control: Layer 3.
        paper: What the paper has.
        peak_speeds: Measured from stride to stride, by commanded speed, [m/s].
        cancelled: Set to end the search at the next trial.
    """

    run: ExperimentRun
    model: str
    control: str
    paper: PaperSpeeds
    peak_speeds: dict[float, float] = field(default_factory=dict)
    cancelled: threading.Event = field(default_factory=threading.Event)

    def row(self) -> Row:
        """Search, and tell what was found."""
        quick = self.run.options.quick
        search = _QUICK if quick else _THOROUGH
        limit = highest_speed(self.walk_at, search, guess=self.paper[self.model, self.control])
        robot = self.run.options.robot
        return {
            "robot": robot,
            "model": self.model,
            "control": self.control,
            "distance_m": _QUICK_DISTANCE if quick else _DISTANCE,
            "seeds": len(_QUICK_SEEDS if quick else _SEEDS),
            "resolution_mps": search.resolution,
            "peak_speed_mps": None if limit.speed is None else self.peak_speeds[limit.speed],
            "paper": self.paper[self.model, self.control] if robot == PAPER_ROBOT else None,
            "value": limit.speed,
            "outcome": "walked" if limit.speed is not None else "fell",
            "reason": _reason(limit),
        }

    def walk_at(self, speed: float) -> str | None:
        """Walk the distance with each seed; the first fall tells that the speed is too high."""
        quick = self.run.options.quick
        for seed in _QUICK_SEEDS if quick else _SEEDS:
            result = self.run.pool.run(self.trial(speed, seed, _QUICK_DISTANCE if quick else _DISTANCE))
            if self.cancelled.is_set():
                raise KeyboardInterrupt
            if not result.walked:
                self._tell(speed, str(result.figures["outcome"]))
                return f"seed {seed}: {result.figures['reason']}"
            self.peak_speeds[speed] = float(result.figures["peak_speed_mps"])
        self._tell(speed, "walked")
        return None

    def trial(self, speed: float, seed: int, distance: float) -> Trial:
        """Return a walk of ``distance`` [m] at ``speed`` [m/s] with the planner's own speed limit out of the way."""
        robot = self.run.options.robot
        layers = {"walking.model": self.model, "walking.control": self.control}
        planner = load_setup(robot, layers).walking.planner
        longest_step = math.hypot(_FASTEST * planner.min_step_duration, planner.step_width)
        duration = walking_time(planner, speed, distance)
        overrides = {
            **layers,
            "planner.max_speed": _FASTEST,
            "planner.max_feet_distance": max(planner.max_feet_distance, longest_step),
            "planner.max_duration": max(planner.max_duration, duration),
        }
        return Trial(robot, VelocityCommand(speed, duration=duration), overrides, noise=True, seed=seed)

    def _tell(self, speed: float, outcome: str) -> None:
        self.run.report(len(self.run.rows), len(self.paper), f"{self.model}, {self.control}: {speed:.2f} m/s {outcome}")


def walking_time(planner: PlannerConfig, speed: float, distance: float) -> float:
    """Return how long a command of ``speed`` [m/s] must last to cover ``distance`` [m], its two ramps included, [s]."""
    ramp = planner.ramp_steps * planner.preferred_duration(speed)
    return distance / speed + ramp


def _reason(limit: SpeedLimit) -> str:
    return limit.reason if limit.next_speed is None else f"at {limit.next_speed:.2f} m/s: {limit.reason}"
