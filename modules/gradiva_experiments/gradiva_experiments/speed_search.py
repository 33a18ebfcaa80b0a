"""Search for the highest speed at which a robot walks, of several architectures side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gradiva.common import ConfigError
from gradiva.planner import PlannerConfig, VelocityCommand
from gradiva.setup import Plant, load_setup
from gradiva.simulated_walk import walking_time
from gradiva.telemetry import DCM, MUTED, STYLE
from gradiva_experiments.campaign.driver import Search
from gradiva_experiments.experiment import ExperimentRun, Row
from gradiva_experiments.trial import Trial

_WIDTH, _ROW_HEIGHT, _MARGIN = 7.0, 0.5, 0.8  # [inch]
_BAR = 0.36  # [-] of the distance of two rows


def bars_figure(rows: Sequence[dict[str, Any]], names: Sequence[str], quantity: str, paper: str) -> Figure:
    """Return two bars a row.

    Args:
        rows: Rows with ``paper`` and ``value``, either perhaps None.
        names: Columns that identify a row.
        quantity: What the bars are, with its unit.
        paper: Whose the other bars are.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _MARGIN + _ROW_HEIGHT * len(rows)), layout="constrained")
        axis = figure.subplots()
        places = np.arange(len(rows))
        for shift, key, colour, label in ((-0.5, "paper", MUTED, paper), (0.5, "value", DCM, "Gradiva, simulation")):
            lengths = [row[key] or 0.0 for row in rows]
            bars = axis.barh(places + shift * _BAR, lengths, _BAR, color=colour, label=label)
            axis.bar_label(bars, labels=[f"{length:.2f}" if length else "–" for length in lengths], padding=3)
        axis.set_yticks(places, [", ".join(str(row[name]) for name in names) for row in rows])
        axis.invert_yaxis()
        axis.margins(x=0.08)  # room for the numbers
        axis.set_xlabel(quantity, loc="right")
        figure.legend(loc="outside upper right", ncols=2)
        return figure


# -- the search --------------------------------------------------------------------------------------------------------

WalkAt = Callable[[float], Search["str | None"]]
"""Walks at a speed [m/s]: a search whose result is None when the robot walked, else the reason why it did not."""


@dataclass(frozen=True, slots=True)
class SpeedSearch:
    """Range and resolution of a search.

    Attributes:
        slowest: Where the search begins, [m/s].
        fastest: The largest speed that is tried, [m/s].
        resolution: All speeds tried are multiples of it, [m/s].
        stride: Between the speeds on the way up, [resolutions].
    """

    slowest: float
    fastest: float
    resolution: float
    stride: int

    def __post_init__(self) -> None:
        if not (self.resolution > 0.0 and self.stride >= 1 and self.resolution <= self.slowest <= self.fastest):
            raise ConfigError(f"{self}: expected 0 < resolution <= slowest <= fastest and a stride of at least 1")


@dataclass(frozen=True, slots=True)
class SpeedLimit:
    """The highest speed that was found.

    Attributes:
        speed: The highest that walks, [m/s]; None when not even the slowest does.
        next_speed: The lowest tried that does not walk, [m/s]; None when all do.
        reason: Why the next one does not walk.
    """

    speed: float | None
    next_speed: float | None
    reason: str


def highest_speed(walk_at: WalkAt, search: SpeedSearch, guess: float = 0.0) -> Search[SpeedLimit]:
    """Go up in strides until a speed does not walk, or down until one does, then halve the interval.

    Exact where walking at a speed implies walking at all lower ones; else a speed that walks while the next
    multiple of the resolution, or a stride beyond it, does not.

    Args:
        walk_at: Walks.
        search: Where to look.
        guess: Where to begin, [m/s]; below the slowest, there.
    """
    lowest, last = round(search.slowest / search.resolution), round(search.fastest / search.resolution)
    found = _Interval(walk_at, search, last + 1)
    index = min(last, max(lowest, round(guess / search.resolution)))
    while found.walks < last < found.fails:
        yield from found.walk(index)
        index = min(index + search.stride, last)
    while found.walks == 0 and found.fails > lowest:
        yield from found.walk(max(found.fails - search.stride, lowest))
    while found.walks > 0 and found.fails - found.walks > 1 and found.fails <= last:
        yield from found.walk((found.walks + found.fails) // 2)
    return found.limit(last)


class _Interval:
    """Between the highest speed that walks and the lowest above it that does not, in multiples of the resolution.

    Attributes:
        walks: 0 while none does.
        fails: Beyond the fastest while none does.
    """

    def __init__(self, walk_at: WalkAt, search: SpeedSearch, beyond: int) -> None:
        self._walk_at = walk_at
        self._resolution = search.resolution
        self._reason = f"all speeds up to {search.fastest} m/s walk"
        self.walks, self.fails = 0, beyond

    def walk(self, index: int) -> Search[None]:
        """Walk at a speed and note how it went."""
        why = yield from self._walk_at(self._speed(index))
        if why is None:
            self.walks = index
        else:
            self.fails, self._reason = index, why

    def limit(self, last: int) -> SpeedLimit:
        """Return what has been found."""
        walks = self._speed(self.walks) if self.walks else None
        fails = self._speed(self.fails) if self.fails <= last else None
        return SpeedLimit(walks, fails, self._reason)

    def _speed(self, index: int) -> float:
        return round(index * self._resolution, 9)


# -- the walks of a search ---------------------------------------------------------------------------------------------

FASTEST = 1.0  # [m/s] the end of the search
THOROUGH = SpeedSearch(slowest=0.10, fastest=FASTEST, resolution=0.01, stride=8)
QUICK = SpeedSearch(slowest=0.10, fastest=0.50, resolution=0.05, stride=8)
SEEDS = (0, 1, 2)


@dataclass(slots=True, eq=False)
class WalkedSpeeds:
    """Walks a distance at the speeds that a search asks for.

    Attributes:
        robot: Name or folder.
        plant: Simulated robot.
        overrides: ``table.key`` to value; the planner's own speed limit is out of the way.
        seeds: Seeds with all of which a speed has to be walked; one where nothing is drawn.
        distance: Distance of each walk, [m].
        note: Called with each speed [m/s] and how it went.
        peak_speeds: Measured from stride to stride, by commanded speed, [m/s].
    """

    robot: str
    plant: Plant
    overrides: Mapping[str, Any]
    seeds: Sequence[int]
    distance: float
    note: Callable[[float, str], None] = lambda speed, outcome: None
    peak_speeds: dict[float, float] = field(default_factory=dict)

    def walk_at(self, speed: float) -> Search[str | None]:
        """Walk the distance with each seed; return the reason of the first fall, None without one.

        Wherever the robot ends: a search is for what it can balance.
        """
        for seed in self.seeds:
            result = yield from self.trial(speed, seed).done()
            if not result.stands:
                self.note(speed, str(result.figures["outcome"]))
                return f"seed {seed}: {result.figures['reason']}"
            self.peak_speeds[speed] = float(result.figures["peak_speed_mps"])
        self.note(speed, "walked")
        return None

    def trial(self, speed: float, seed: int) -> Trial:
        """Return a walk at ``speed`` [m/s]."""
        planner = load_setup(self.robot, self.overrides, plant=self.plant).walking.planner
        duration = walking_time(planner, speed, self.distance)
        overrides = {
            **faster_planner(planner, FASTEST),
            "planner.commands.max_duration": max(planner.commands.max_duration, duration),
            **self.overrides,
        }
        return Trial(self.robot, VelocityCommand(speed, duration=duration), overrides, self.plant, seed)


def faster_planner(planner: PlannerConfig, speed: float) -> dict[str, Any]:
    """Return the overrides with which the planner's limits allow ``speed`` [m/s]."""
    longest_step = math.hypot(speed * planner.min_step_duration, planner.step_width)
    return {
        "planner.max_speed": speed,
        "planner.max_feet_distance": max(planner.max_feet_distance, longest_step),
    }


def overrides_for(speed: float, robot: str, overrides: Mapping[str, Any], plant: Plant) -> dict[str, Any]:
    """Return the overrides of a walk at ``speed`` [m/s]; where it is beyond the planner's limits, they are lifted."""
    planner = load_setup(robot, overrides, plant=plant).walking.planner
    return {**(faster_planner(planner, speed) if speed > planner.max_speed else {}), **overrides}


def add_rows_of(run: ExperimentRun, searches: Sequence[Search[Row]]) -> None:
    """Carry out searches side by side, and add the row that each returns at its place."""
    for place, row in run.pool.searches(searches):
        run.add_row(row, place)


# -- a table of architectures ------------------------------------------------------------------------------------------

PaperSpeeds = Mapping[tuple[str, str], float]
"""Of iCub v2.7, by layer 2 and layer 3, [m/s]."""

PAPER_ROBOT = "icub_v2_7"
_DISTANCE, _QUICK_DISTANCE = 5.0, 1.0  # [m]


def run_speed_table(run: ExperimentRun, paper: PaperSpeeds, origin: str) -> None:
    """Search the highest speed of each combination of layers for which the paper has one, plant by plant.

    Args:
        run: The experiment.
        paper: What the paper has.
        origin: Origin of these speeds, for the figure.
    """
    kinds = [(plant, model, control) for plant in run.options.plants for model, control in paper]
    searches = [_architecture(run, *kind, total=len(kinds)) for kind in kinds]
    add_rows_of(run, [_row(run, search, paper) for search in searches])
    run.add_figure(bars_figure(run.rows, ("plant", "model", "control"), run.value_title, origin), run.name)


def _architecture(run: ExperimentRun, plant: Plant, model: str, control: str, total: int) -> WalkedSpeeds:
    """Return the walks of a combination of simplified model control and whole-body control."""
    quick, overrides = run.options.quick, {"walking.model": model, "walking.control": control, **run.options.overrides}
    seeds = SEEDS[:1] if quick or plant is Plant.IDEAL else SEEDS
    distance = _QUICK_DISTANCE if quick else _DISTANCE

    def note(speed: float, outcome: str) -> None:
        run.report(len(run.rows), total, f"{plant}, {model}, {control}: {speed:.2f} m/s {outcome}")

    return WalkedSpeeds(run.options.robot, plant, overrides, seeds, distance, note)


def _row(run: ExperimentRun, walks: WalkedSpeeds, paper: PaperSpeeds) -> Search[Row]:
    """Search, and return the row."""
    model, control = walks.overrides["walking.model"], walks.overrides["walking.control"]
    search = QUICK if run.options.quick else THOROUGH
    limit = yield from highest_speed(walks.walk_at, search, guess=paper[model, control])
    return {
        "robot": walks.robot,
        "plant": str(walks.plant),
        "model": model,
        "control": control,
        "distance_m": walks.distance,
        "seeds": len(walks.seeds),
        "resolution_mps": search.resolution,
        "peak_speed_mps": None if limit.speed is None else walks.peak_speeds[limit.speed],
        "paper": paper[model, control] if walks.robot == PAPER_ROBOT else None,
        "value": limit.speed,
        "outcome": "walked" if limit.speed is not None else "fell",
        "reason": limit_reason(limit),
    }


def limit_reason(limit: SpeedLimit) -> str:
    """Return why no higher speed is walked, and which one."""
    return limit.reason if limit.next_speed is None else f"at {limit.next_speed:.2f} m/s: {limit.reason}"
