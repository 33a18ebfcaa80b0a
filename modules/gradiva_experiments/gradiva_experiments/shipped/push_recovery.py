"""Searches the largest push that a robot survives, over directions, phases of the gait, laws and modes of stepping."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import chain, cycle, groupby
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gradiva.common import ConfigError, ControlMode, Side
from gradiva.planner import Command, StopCommand, VelocityCommand
from gradiva.push_recovery import SteppingMode
from gradiva.setup import Plant, load_setup
from gradiva.telemetry import COM, DCM, FOOT, MUTED, STYLE, ZMP, plain
from gradiva_experiments.continued_walks import (
    APART,
    PHASES,
    STANDING,
    Continued,
    ImpulseSearch,
    PushedFrom,
    check_phases,
)
from gradiva_experiments.experiment import Asked, Experiment, ExperimentOptions, ExperimentRun, Row
from gradiva_experiments.shipped.pushed_pendulum import AttainableImpulses, name_directions
from gradiva_experiments.speed_search import overrides_for
from gradiva_experiments.trial import RobotCase, Trial

# -- the cells of a map ------------------------------------------------------------------------------------------------

LEVEL = 0.0125
"""Offset of the DCM by the smallest impulse of the search, and its resolution, [m]: J = LEVEL · m ζ."""

OFF = SteppingMode.OFF
SPEEDS = (0.0, 0.1, 0.3)  # [m/s]
DURATIONS = (0.1, 0.5)  # [s] of the push
DIRECTIONS = 12
_QUICK_MODES, _QUICK_SPEEDS, _QUICK_DURATIONS = (OFF, SteppingMode.PLACE_AND_TIME), (0.3,), (0.1,)
_QUICK_ANGLES, _QUICK_PHASES = (1.5 * math.pi,), ("early", "middle")  # to the swinging foot, where ankles do least
_ASKED, _ASKED_BACKWARD = 0.8, 0.5  # [-] of the pendulum's, with place and time; knees and heels are not in it
_BACKWARD = math.radians(135.0)  # from straight ahead, and more
_COMMAND_DURATION = 10.0  # [s] as ``gradiva walk``: a push can be repeated there


@dataclass(frozen=True, slots=True)
class PushedCase(RobotCase):
    """Names a walk of which a map is made, whatever its seed.

    Attributes:
        speed: Forward, [m/s]; 0: the robot stands.
        mode: Of step adaptation.
        model: Law of layer 2, as in ``walking.model``.
        settings: Settings as JSON, ``table.key`` to value over the robot's configuration, also of the pendulum that the
            map is compared with.
        turn: Rate of the heading, [rad/s]; the pendulum walks straight ahead.
    """

    speed: float
    mode: SteppingMode
    model: str
    settings: str = "{}"
    turn: float = 0.0

    def trial(self, seed: int, options: ExperimentOptions) -> Trial:
        """Return the walk with a seed, counted from the first; a speed beyond the planner's limit lifts it."""
        chosen = {"walking.control": str(self.control), "step_adaptation.mode": str(self.mode)}
        chosen["walking.model"] = self.model
        overrides = overrides_for(self.speed, self.robot, {**chosen, **options.overrides}, self.plant)
        return Trial(self.robot, self.command, overrides, self.plant, (options.seed or 0) + seed)

    @property
    def command(self) -> Command:
        """Command of the walk."""
        return VelocityCommand(self.speed, 0.0, self.turn, _COMMAND_DURATION) if self.speed else StopCommand()

    def phases(self, chosen: Sequence[str]) -> tuple[str, ...]:
        """Return the phases in which it is pushed, in the order of the walk."""
        return tuple(phase for phase in PHASES if phase in chosen) if self.speed else (STANDING,)

    def attainable(self, search: ImpulseSearch, phase: str) -> float | None:
        """Return the impulse that a pendulum survives with these steps, [N·s]; None where the robot stands."""
        if phase == STANDING:
            return None
        push = self.mode, search.direction, PHASES[phase], search.duration, search.count
        return _attainable(self.robot, self.settings, self.speed, *push)

    @property
    def turn_degps(self) -> float:
        """Rate of the heading as its rows have it, [°/s]."""
        return round(math.degrees(self.turn), 3)

    @property
    def as_row(self) -> Row:
        """First columns of its rows."""
        return {
            **self.first_columns,
            "speed_mps": self.speed,
            "mode": str(self.mode),
            "model": self.model,
        }


@cache
def _attainable(robot: str, settings: str, speed: float, *push: Any) -> float:
    """Return the impulse of a pendulum, which is the same for all laws and seeds, [N·s]."""
    return _pendulum(robot, settings, speed).impulse(*push)


@lru_cache
def _pendulum(robot: str, settings: str, speed: float) -> AttainableImpulses:
    return AttainableImpulses(load_setup(robot, json.loads(settings)), speed)


def cases(options: ExperimentOptions) -> list[PushedCase]:
    """Return the walks: the product of what is chosen."""
    quick, settings = options.quick, json.dumps(plain(options.overrides))
    _check_pushes(options)
    return [
        PushedCase(robot, plant, control, speed, mode, model, settings, (options.turn or 0.0) if speed else 0.0)
        for robot in options.robots or (options.robot,)
        for plant in options.plants
        for control in options.controls or (ControlMode.POSITION,)
        for speed in options.speeds or (_QUICK_SPEEDS if quick else SPEEDS)
        for mode in options.modes or (_QUICK_MODES if quick else SteppingMode)
        for model in options.models or (load_setup(robot, options.overrides).walking.walking.model,)
    ]


def _check_pushes(options: ExperimentOptions) -> None:
    """Pass pushes that follow each other, and turns of robots that walk.

    Raises:
        ConfigError: They overlap, or the robot stands at each speed.
    """
    if (options.pushes or 1) > 1 and (longest := max(options.durations, default=0.0)) > APART:
        raise ConfigError(f"--pushes {options.pushes} --duration {longest:g}: pushes {APART:g} s apart would overlap")
    if options.turn and options.speeds and not any(options.speeds):
        raise ConfigError(f"--turn {options.turn_in_degrees}: the robot stands, add a --speed above 0")


def searches_of(case: PushedCase, options: ExperimentOptions) -> dict[str, list[ImpulseSearch]]:
    """Return the searches of a walk by phase: each direction with each duration.

    Raises:
        ConfigError: There is no such phase.
    """
    quick = options.quick
    phases = options.phases or (_QUICK_PHASES if quick else tuple(PHASES))
    check_phases(phases)
    count = options.directions or DIRECTIONS
    durations = options.durations or (_QUICK_DURATIONS if quick else DURATIONS)
    unit = level_impulse(case.robot)
    angles: Sequence[float] = [2.0 * math.pi * index / count for index in range(count)]
    if quick and not options.directions:
        angles = _QUICK_ANGLES
    return {
        phase: [
            ImpulseSearch(angle, duration, unit, not quick, count=options.pushes or 1)
            for duration in durations
            for angle in angles
        ]
        for phase in case.phases(phases)
    }


@lru_cache
def level_impulse(robot: str) -> float:
    """Return the impulse of one level, [N·s]: `LEVEL` times mass and natural frequency."""
    setup = load_setup(robot)
    return LEVEL * setup.robot.mass * setup.walking.planner.natural_frequency


# -- the campaign ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One direction, phase and duration of a push on one walk, over its seeds.

    Attributes:
        case: The walk.
        phase: Of the gait.
        search: That is done with each seed.
        found: By seed.
    """

    case: PushedCase
    phase: str
    search: ImpulseSearch
    found: dict[int, Continued] = field(default_factory=dict)

    def job(self, seed: int, options: ExperimentOptions) -> PushedFrom:
        """Return the search with a seed, counted from the first."""
        return PushedFrom(self.case.trial(seed, options), self.phase, self.search)

    @property
    def searches(self) -> list[ImpulseSearch]:
        """The search of each seed, with its outcomes."""
        return [self.search.taken(self.found[seed].outcome) for seed in sorted(self.found)]

    @property
    def name(self) -> tuple[Any, ...]:
        """Return what it has in common with the same cell of another mode."""
        return replace(self.case, mode=OFF), self.phase, self.search.direction, self.search.duration

    @property
    def impulse(self) -> float:
        """Median over the seeds of the largest impulse that was survived, [N·s]."""
        return float(np.median([search.impulse for search in self.searches]))

    def row(self, off: float | None) -> Row:
        """Return its row; ``off`` is the impulse that is survived without adapted steps, [N·s], where it is known."""
        search, found = self.search, [self.found[seed] for seed in sorted(self.found)]
        attainable = self.case.attainable(search, self.phase)
        outcome, reason = _judged(self, off, attainable)
        return {
            **self.case.as_row,
            "phase": self.phase,
            "direction_deg": round(math.degrees(search.direction), 1),
            "push_s": search.duration,
            "pushes": search.count,
            "turn_degps": self.case.turn_degps,
            "start_s": [each.time for each in found],
            "force_n": round(self.impulse / search.duration, 1),
            "impulses": [each.impulse for each in self.searches],
            "falls": [_fall(each, one.failure) for each, one in zip(self.searches, found, strict=True)],
            "holes": [[_outcome_of(each, level) for level in each.holes] for each in self.searches],
            "paper": attainable,
            "value": self.impulse,
            "asked": _asked(self, attainable),
            "outcome": outcome,
            "reason": reason,
        }


def _judged(cell: Cell, off: float | None, attainable: float | None) -> tuple[str, str]:
    failures = {found.failure for found in cell.found.values() if found.failure}
    if failures:
        return "failed", "; ".join(sorted(failures))
    if cell.case.mode == OFF:
        return "measured", ""
    if holes := [_outcome_of(search, level) for search in cell.searches for level in search.holes]:
        return "missed", f"falls at less than it survives: {'; '.join(holes)}"
    if off is not None and cell.impulse < off - 1e-9:
        return "missed", f"survives {off:.1f} N·s without adapted steps"
    fraction = _asked_fraction(cell, attainable)
    if fraction is not None and attainable is not None and cell.impulse < (needed := fraction * attainable):
        return "missed", f"{needed:.1f} N·s are asked"
    return "met", ""


def _asked(cell: Cell, attainable: float | None) -> str:
    if cell.case.mode == OFF:
        return Asked.AS_FOUND
    fraction = _asked_fraction(cell, attainable)
    return "no less than off" + ("" if fraction is None else f", {fraction:g} of the pendulum's")


def _asked_fraction(cell: Cell, attainable: float | None) -> float | None:
    """Return the fraction of the pendulum's impulse that is asked of a cell, [-]; None: none is."""
    if cell.case.mode is not SteppingMode.PLACE_AND_TIME or attainable is None:
        return None
    is_backward = math.cos(cell.search.direction) < math.cos(_BACKWARD)
    return _ASKED_BACKWARD if is_backward else _ASKED


def _fall(search: ImpulseSearch, failure: str) -> str:
    """Return how the robot goes down at the smallest impulse that it does not survive."""
    if search.lost is None:
        return failure
    return _outcome_of(search, search.lost)


def _outcome_of(search: ImpulseSearch, level: int) -> str:
    """Return how the robot goes down at a level."""
    return f"{level * search.unit:.1f} N·s: {search.outcomes[level]['reason']}"


def cells_of(run: ExperimentRun) -> list[Cell]:
    """Return the cells in the order of their rows: those that differ by the law alone stand together."""
    cells: list[Cell] = []
    for _, walks in groupby(cases(run.options), key=lambda case: replace(case, model="")):
        cells += chain.from_iterable(zip(*(_cells(case, run.options) for case in walks), strict=True))
    return cells


def _cells(case: PushedCase, options: ExperimentOptions) -> list[Cell]:
    return [Cell(case, phase, search) for phase, found in searches_of(case, options).items() for search in found]


def _searched(run: ExperimentRun, cells: Sequence[Cell]) -> None:
    """Search all cells with each seed, walk by walk, and add the row of each that is done."""
    seeds = range(run.options.seeds or 1)
    walks = dict.fromkeys((cell.case, seed) for cell in cells for seed in seeds)
    places = [(cell, seed) for case, seed in walks for cell in cells if cell.case == case]
    off: dict[tuple[Any, ...], float] = {}
    run.report(0, len(places), f"largest push: {len(places)} searches")
    for done, (place, found) in enumerate(
        run.pool.results([cell.job(seed, run.options) for cell, seed in places]), start=1
    ):
        cell, seed = places[place]
        cell.found[seed] = found
        if len(cell.found) < len(seeds):
            continue
        if cell.case.mode == OFF:
            off[cell.name] = cell.impulse
        for number, other in enumerate(cells):  # one of adapted steps may have been done before that without
            if other.name == cell.name and len(other.found) == len(seeds):
                run.add_row(other.row(off.get(cell.name)), number)
        row = cell.row(off.get(cell.name))
        run.report(done, len(places), f"{_title(row)}: {row['value']:.1f} N·s")


def _title(row: Mapping[str, Any]) -> str:
    direction = f"{row['direction_deg']:.0f}°, {row['push_s']:g} s"
    return f"{row['robot']}, {row['model']}, {row['speed_mps']:g} m/s, {row['mode']}, {row['phase']}, {direction}"


def run_push_recovery(run: ExperimentRun) -> None:
    """Search each cell of each map, then sum up each map and draw it; the value is the largest impulse survived."""
    _searched(run, cells_of(run))
    cells = run.rows
    for row in sums(cells):
        run.add_row(row)
    for name, rows in _groups(cells, ("robot", "plant", "control", "speed_mps", "push_s")).items():
        robot, plant, control, speed, duration = name
        title = f"{robot}, {plant} plant, {control} control, {_walk_in_words(run.options, speed)}"
        title = f"{title}, {_pushes_in_words(run.options, duration)}"
        file = f"{run.name}_{str(robot).rstrip('/').rpartition('/')[2]}_{plant}_{control}_{speed:g}_{duration:g}"
        run.add_figure(polar_figure(rows, title), file.replace(".", ""))


def _walk_in_words(options: ExperimentOptions, speed: float) -> str:
    turning = f", turning at {options.turn_in_degrees} °/s" if options.turn and speed else ""
    return f"{speed:g} m/s{turning}"


def _pushes_in_words(options: ExperimentOptions, duration: float) -> str:
    if (count := options.pushes or 1) == 1:
        return f"push of {duration:g} s"
    return f"{count} pushes of {duration:g} s, {APART:g} s apart"


def sums(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each map that has another one to be compared with: the sums over its cells and its pendulum's.

    A map of adapted steps is compared with that without, one of a law with that of the first law.
    """
    found = []
    for name, cells in _groups(rows, ("robot", "plant", "control", "speed_mps", "push_s")).items():
        maps = _groups(cells, ("mode", "model"))
        robot, plant, control, speed, duration = name
        first = next(iter(maps))[1]
        for (mode, model), each in maps.items():
            others = {"off": maps.get((OFF, model)), first: maps.get((mode, first))}
            compared = [_compared(each, other, label) for label, other in others.items() if other and other is not each]
            if mode == OFF and model == first and len(_groups(cells, ("model",))) == 1:
                continue
            pendulum = [row["paper"] for row in each]
            found.append(
                {
                    "robot": robot,
                    "plant": plant,
                    "control": control,
                    "speed_mps": speed,
                    "mode": mode,
                    "model": model,
                    "phase": "sum",
                    "push_s": duration,
                    "pushes": each[0]["pushes"],
                    "turn_degps": each[0]["turn_degps"],
                    "paper": None if None in pendulum else sum(pendulum),
                    "value": sum(row["value"] for row in each),
                    "asked": Asked.AS_FOUND,
                    "outcome": "measured",
                    "reason": "; ".join(compared),
                }
            )
    return found


def _compared(cells: Sequence[Row], others: Sequence[Row], label: str) -> str:
    """Return how much more, or less, impulse a map survives in sum than another one, and in how many cells less."""
    pairs = list(zip(others, cells, strict=False))
    value, floor = sum(row["value"] for row in cells), sum(row["value"] for row in others)
    worse = sum(after["value"] < before["value"] - 1e-9 for before, after in pairs)
    gain = f"{value / floor - 1.0:+.0%} over " if floor else "against "
    return f"{gain}{label} ({floor:.1f} N·s), worse in {worse} of {len(pairs)} cells"


def _groups(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


# -- the figure --------------------------------------------------------------------------------------------------------

_MODE_COLOURS = dict(zip(SteppingMode, (ZMP, COM, DCM), strict=True))
_MODEL_COLOURS = (ZMP, FOOT[Side.LEFT], COM, FOOT[Side.RIGHT], DCM)
_PANEL = 3.5  # [inch]


def polar_figure(rows: Sequence[Row], title: str) -> Figure:
    """Return a polar plot a phase: the largest impulse survived in each direction, ahead is up.

    Its lines are the modes of stepping; of several laws, one below the other a mode, the laws.
    """
    models = [str(model) for (model,) in _groups(rows, ("model",))]
    maps = list(_groups(rows, ("mode",)).values()) if len(models) > 1 else [list(rows)]
    colours = dict(zip(models, cycle(_MODEL_COLOURS), strict=False)) if len(models) > 1 else {}
    with matplotlib.rc_context(STYLE):
        columns = len(_groups(rows, ("phase",)))
        size = (_PANEL * max(2, columns), 0.85 * _PANEL * len(maps) + 1.1)
        figure = Figure(figsize=size, layout="constrained")
        common = f", steps {rows[0]['mode'].replace('_', ' ')}" if colours and len(maps) == 1 else ""
        figure.suptitle(f"{title}{common}:\nlargest impulse survived [N·s]", x=0.01, ha="left")
        largest = max(max(row["value"], row["paper"] or 0.0) for row in rows)
        axes = figure.subplots(len(maps), columns, subplot_kw={"projection": "polar"}, squeeze=False)
        for line, cells in zip(axes, maps, strict=True):
            for axis, ((phase,), found) in zip(line, _groups(cells, ("phase",)).items(), strict=True):
                _draw_phase(axis, found, colours)
                mode = f", {found[0]['mode'].replace('_', ' ')}" if len(maps) > 1 else ""
                axis.set_title(f"{str(phase).replace('_', '-')}{mode}")
                axis.set_ylim(0.0, 1.05 * largest or 1.0)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=len(models) + 1 if colours else 2)
        return figure


def _draw_phase(axis: Any, rows: Sequence[Row], colours: Mapping[str, str]) -> None:
    """Draw a line a law in its colour, or, where there are no colours, a line a mode; the pendulum's are dotted."""
    name_directions(axis, *(("left", "right") if rows[0]["phase"] == STANDING else ("stance\nfoot", "swing\nfoot")))
    for (mode, model), cells in _groups(rows, ("mode", "model")).items():
        angles, attainable = np.radians([row["direction_deg"] for row in cells]), [row["paper"] for row in cells]
        label, colour = (
            (model, colours[model]) if colours else (mode.replace("_", " "), _MODE_COLOURS[SteppingMode(mode)])
        )
        _draw_closed(axis, angles, [row["value"] for row in cells], color=colour, label=label)
        if None in attainable or (colours and model != rows[-1]["model"]):
            continue
        style = {"color": MUTED, "label": "pendulum"} if colours else {"color": colour, "label": f"{label}, pendulum"}
        _draw_closed(axis, angles, attainable, ls=":", lw=1.0, **style)


def _draw_closed(axis: Any, angles: Any, values: Sequence[float], **style: Any) -> None:
    axis.plot(np.append(angles, angles[0]), [*values, values[0]], marker="o", ms=3.0, **style)


EXPERIMENTS = (
    Experiment(
        "push_recovery",
        "Gradiva's own experiment",
        "Largest push that a robot survives, over directions and phases of the gait, with and without adapted steps.",
        run_push_recovery,
        "impulse [N·s]",
        plants=(Plant.IDEAL,),
        takes=(
            *("robots", "controls", "models", "speeds", "seeds", "seed", "settings"),
            *("modes", "directions", "phases", "durations", "pushes", "turn"),
        ),
        paper_title="pendulum",
    ),
)
