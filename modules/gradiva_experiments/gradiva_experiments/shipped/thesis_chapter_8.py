"""Torque control on soft ground beside torque control that takes it to be rigid (thesis, chapter 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray, Side
from gradiva.contacts import ViscoElasticParameters
from gradiva.setup import Plant
from gradiva.telemetry import COM, FOOT, MUTED, REFERENCE, STYLE, ZMP, SignalLog, WalkRecord, draw_plot
from gradiva.walking import GroundModel
from gradiva_experiments.experiment import COM_LIMIT, INACCURATE, Asked, Experiment, ExperimentRun, Row, as_text, judged
from gradiva_experiments.shipped.soft_walks import ROBOT, SoftWalk, add_walks, asked_of, outcome_figure, soft_row
from gradiva_experiments.trial import walk_trial

# -- table 8.1 ---------------------------------------------------------------------------------------------------------

GROUNDS = tuple(ViscoElasticParameters(k, b) for b in (1e4, 1e3) for k in (8e5, 1e6, 2e6))
_QUICK_GROUNDS = (GROUNDS[2], GROUNDS[3])
_RIGID_WALKS = {ViscoElasticParameters(2e6, 1e4)}  # in the thesis; all others fall
_TABLE_STEPS, _TABLE_QUICK_STEPS = 16, 3


def run_table_8_1(run: ExperimentRun) -> None:
    """Walk each ground with each controller on each plant; the value is the largest error of the centre of mass, [m].

    Only on the ideal plant, with links alone as in the thesis, something is asked. There the grounds on which the
    thesis' rigid controller walks are walked by it with rotors as well.
    """
    grounds, steps = (_QUICK_GROUNDS, _TABLE_QUICK_STEPS) if run.options.quick else (GROUNDS, _TABLE_STEPS)
    walks = [
        _as_in_the_thesis(ground, steps, controller)
        if plant is Plant.IDEAL
        else SoftWalk(ground, steps, controller=controller, asked=Asked.AS_FOUND, plant=plant)
        for plant in run.options.plants
        for controller in (GroundModel.COMPLIANT, GroundModel.RIGID)
        for ground in grounds
    ]
    if Plant.IDEAL in run.options.plants and not run.options.quick:
        for ground in sorted(_RIGID_WALKS):
            notes = {"rotors": "of the robot"}
            walks.append(SoftWalk(ground, steps, controller=GroundModel.RIGID, asked=Asked.AS_FOUND, notes=notes))
    add_walks(run, walks, [_paper_table(walk) for walk in walks])
    run.add_figure(outcome_figure([row for row in run.rows if row.get("rotors") != "of the robot"]), run.name)


def _as_in_the_thesis(ground: ViscoElasticParameters, steps: int, controller: GroundModel) -> SoftWalk:
    notes = {"rotors": "none"}
    return SoftWalk(ground, steps, controller=controller, asked=asked_of(controller), notes=notes, rotors=False)


def _paper_table(walk: SoftWalk) -> str | None:
    """Return what the thesis has, whose robot is the ideal one without rotors."""
    if walk.plant is not Plant.IDEAL or walk.rotors:
        return None
    is_success = walk.controller is GroundModel.COMPLIANT or walk.ground in _RIGID_WALKS
    return "success" if is_success else "failure"


# -- figures 8.6 to 8.8 ------------------------------------------------------------------------------------------------

_COMPARISON_STEPS, _COMPARISON_QUICK_STEPS = 6, 2
Papers = dict[GroundModel, str]


def run_comparison(run: ExperimentRun, ground: ViscoElasticParameters, papers: Papers) -> None:
    """Walk with each controller; the value is the largest error of the centre of mass, [m].

    Args:
        run: The experiment.
        ground: Stiffness and damping.
        papers: What the thesis says of each controller.
    """
    logs = {}
    for count, (controller, paper) in enumerate(papers.items()):
        run.report(count, len(papers), str(controller))
        steps = run.options.either(_COMPARISON_STEPS, _COMPARISON_QUICK_STEPS)
        walk = _as_in_the_thesis(ground, steps, controller)
        outcome = walk_trial(walk.trial())
        logs[str(controller)] = log = outcome.walk.recorder.log
        run.add_row(soft_row(walk, outcome.result, paper) | {"force_rate_nps": force_rate(log)})
    title = f"Torque control on k = {as_text(ground.stiffness)} N/m³, b = {as_text(ground.damping)} N·s/m³"
    run.add_figure(comparison_figure(logs, title), run.name)
    run.report(len(papers), len(papers), "figures are written")


def force_rate(log: SignalLog) -> float | None:
    """Return the root mean square of the rate of the left normal force, [N/s]: how the foot shakes.

    Impacts and the changes of load that a walk needs are in it as well.
    """
    force = log["left_foot::linear_force::measured"][:, 2] if len(log) else np.zeros(0)
    if len(force) < 2:
        return None
    return float(np.sqrt(np.mean((np.diff(force) / np.diff(log.times)) ** 2)))


_COMPLIANT, _RIGID = GroundModel.COMPLIANT, GroundModel.RIGID
_GOOD = "walks, error below 0.01 m"
run_figure_8_6 = partial(
    run_comparison, ground=ViscoElasticParameters(2e6, 1e4), papers={_COMPLIANT: _GOOD, _RIGID: _GOOD}
)
run_figure_8_7 = partial(
    run_comparison, ground=ViscoElasticParameters(2e6, 1e3), papers={_COMPLIANT: "walks", _RIGID: "falls at 1.75 s"}
)
run_figure_8_8 = partial(
    run_comparison, ground=ViscoElasticParameters(1e6, 1e4), papers={_COMPLIANT: "walks", _RIGID: "fails at 0.9 s"}
)


_COMPARISON_SIZE = (10.0, 9.0)  # [inch]
_FOOT = FOOT[Side.LEFT]
_PANELS = (
    ("centre of mass, x [m]", "com::position", 0, COM),
    ("centre of mass, y [m]", "com::position", 1, COM),
    ("centre of mass, height [m]", "com::position", 2, COM),
    ("left foot, normal force [N]", "left_foot::linear_force", 2, ZMP),
    ("left foot, moment about y [N·m]", "left_foot::angular_torque", 1, ZMP),
    ("left foot, height [m]", "left_foot::position", 2, _FOOT),
)


def comparison_figure(logs: Mapping[str, SignalLog], title: str) -> Figure:
    """Return a column of panels a log; panels of a row share their axis.

    Args:
        logs: By the name of the controller; one in which nothing was recorded stays empty.
        title: Above all.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_COMPARISON_SIZE, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots(len(_PANELS), len(logs), sharey="row", sharex=True, squeeze=False)
        for column, (name, log) in enumerate(logs.items()):
            for row, (quantity, signal, axis_index, colour) in enumerate(_PANELS):
                axes[row][column].set_title(f"{name}: {quantity}")
                if len(log):
                    _draw_comparison(axes[row][column], log, signal, axis_index, colour)
            axes[-1][column].set_xlabel("time [s]", loc="right")
        axes[0][0].legend(loc="upper left")
        return figure


def _draw_comparison(axis: Axes, log: SignalLog, signal: str, column: int, colour: str) -> None:
    axis.plot(log.times, log[f"{signal}::measured"][:, column], color=colour, linewidth=1.0, label="measured")
    if f"{signal}::desired" in log:
        desired = log[f"{signal}::desired"][:, column]
        axis.plot(log.times, desired, color=REFERENCE, linewidth=0.9, dashes=(3.0, 1.6), label="desired")


# -- figure 8.9 --------------------------------------------------------------------------------------------------------

GROUND = ViscoElasticParameters(8e6, 1e4)
_PAPER_FAILS_AT = 20.0  # [N, N·m] at about 4 s
_ALL, _SOME = (0.0, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0), (1.0, 2.0, 5.0, 10.0, 20.0)  # [N, N·m]
_NOISE_STEPS, _NOISE_QUICK_STEPS = 3, 2
_THESIS_INTERVAL, _TICK = 1e-5, 1e-3  # [s] of its integration, and of the controller
_QUICK = {_THESIS_INTERVAL: 10.0, _TICK: 1.0}  # [N, N·m] of the same power
_FILTER = 0.003  # [s] of the low pass on what the model misses of a wrench; with 0.02 the robot falls


@dataclass(frozen=True, slots=True)
class NoiseCase:
    """Target, interval and filter of a noise on the wrenches.

    Attributes:
        name: In the table.
        interval: Between two draws, [s].
        target: Of the noise: the wrench on the robot, the reading of the sensors, or both.
        filter_time: Time constant of the low pass on measured wrenches, 0 for none, [s].
        deviations: σ of each component, [N, N·m].
    """

    name: str
    interval: float
    target: str
    filter_time: float
    deviations: tuple[float, ...]


CASES = (
    NoiseCase("drawn every 10 µs, felt and measured", _THESIS_INTERVAL, "both", 0.0, _ALL),
    NoiseCase("drawn every 10 µs, felt and not measured", _THESIS_INTERVAL, "robot", 0.0, _ALL),
    NoiseCase("drawn every 10 µs, felt and measured, filtered", _THESIS_INTERVAL, "both", _FILTER, _SOME),
    NoiseCase("drawn every 1 ms, felt and measured", _TICK, "both", 0.0, _SOME),
    NoiseCase("drawn every 1 ms, felt and measured, filtered", _TICK, "both", _FILTER, _SOME),
)


def run_figure_8_9(run: ExperimentRun) -> None:
    """Walk with each noise; the value is the largest error of the centre of mass, [m].

    The noise has the same σ in all components: newtons and newton metres, as in the thesis.
    """
    quick = run.options.quick
    steps = _NOISE_QUICK_STEPS if quick else _NOISE_STEPS
    noises = [
        (case, deviation) for case in CASES for deviation in ((_QUICK[case.interval],) if quick else case.deviations)
    ]
    walks = [_walk(case, deviation, steps) for case, deviation in noises]
    add_walks(run, walks, [_paper_noise(case, deviation) for case, deviation in noises])
    run.add_figure(noise_figure(run.rows), run.name)


def _walk(case: NoiseCase, deviation: float, steps: int) -> SoftWalk:
    noise = "simulation.viscoelastic.noise"
    overrides = {
        f"{noise}.force": deviation,
        f"{noise}.moment": deviation,
        f"{noise}.interval": case.interval,
        f"{noise}.target": case.target,
        "torque_control.compliant.wrench_time_constant": case.filter_time,
    }
    notes = {"noise": case.name, "sigma": deviation}
    is_asked = case is CASES[0] and deviation < _PAPER_FAILS_AT
    asked = Asked.TO_TRACK if is_asked else Asked.AS_FOUND
    return SoftWalk(GROUND, steps, overrides=overrides, notes=notes, asked=asked)


def _paper_noise(case: NoiseCase, deviation: float) -> str | None:
    """The thesis draws in each of its steps and has no filter; its text does not say what the controller measures."""
    if case.interval != _THESIS_INTERVAL or case.filter_time > 0.0:
        return None
    return "success" if deviation < _PAPER_FAILS_AT else "failure"


_NOISE_SIZE = (8.0, 4.0)  # [inch]


def noise_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Return a line a kind of noise, as far as the robot walked, below the limit or above it; a cross marks a fall.

    Args:
        rows: With ``noise``, ``sigma``, ``value`` and ``outcome``.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_NOISE_SIZE, layout="constrained")
        axis = figure.subplots()
        for name in dict.fromkeys(row["noise"] for row in rows):
            _draw_noise(axis, name, [row for row in rows if row["noise"] == name])
        axis.axhline(1e3 * COM_LIMIT, color=MUTED, linewidth=0.9, dashes=(3.0, 1.6), label="limit")
        axis.plot([], [], "x", color=MUTED, label="fell, whatever the error")
        axis.set_title("largest error of the centre of mass [mm]")
        axis.set_xlabel("standard deviation of the noise [N, N·m]", loc="right")
        axis.set_ylim(bottom=-0.5)
        figure.legend(loc="outside right upper")
        return figure


def _draw_noise(axis: Axes, name: str, rows: Sequence[dict[str, Any]]) -> None:
    walked = [row for row in rows if row["outcome"] in ("walked", INACCURATE)]
    (line,) = axis.plot(
        [row["sigma"] for row in walked], [1e3 * row["value"] for row in walked], marker="o", markersize=3, label=name
    )
    fallen = [row["sigma"] for row in rows if row not in walked]
    axis.plot(fallen, [0.0] * len(fallen), "x", color=line.get_color())


SIGMA, INTERVAL = 5.0, 1e-5  # [N, N·m] and [s], as in the thesis
# -- figure 8.10 -------------------------------------------------------------------------------------------------------

TOLERANCE = 0.1  # [-] of the truth
_PAPER_TIME = 1.0  # [s] "less than a second"
_VARYING_STEPS, _VARYING_QUICK_STEPS = 9, 4
_PLACES, _QUICK_PLACES = (0.35, 0.75), (0.2,)  # [m] from where on the ground is another one
_CASES: dict[str, tuple[ViscoElasticParameters, ...]] = {
    "k": tuple(ViscoElasticParameters(k, 1e4) for k in (1e6, 2e6, 8e5)),
    "b": tuple(ViscoElasticParameters(1e6, b) for b in (1e4, 5e3, 1.5e4)),
    "k and b": (
        ViscoElasticParameters(1e6, 1e4),
        ViscoElasticParameters(2e6, 5e3),
        ViscoElasticParameters(8e5, 1.5e4),
    ),
}


def run_figure_8_10(run: ExperimentRun) -> None:
    """Walk over two edges in the ground; the value is how long a foot needs to know what it stands on, [s]."""
    cases = dict(list(_CASES.items())[:1]) if run.options.quick else _CASES
    for count, (name, grounds) in enumerate(cases.items()):
        run.report(count, len(cases), f"varying {name}")
        outcome = walk_trial(varying_walk(grounds, run.options.quick).trial())
        log = outcome.walk.recorder.log
        for row in rows_of(name, log, outcome.result):
            run.add_row(row)
        title = f"Space-varying {name}, σ = {SIGMA:g} N, N·m"
        figure = draw_plot("Soft ground", WalkRecord(log, outcome.walk.setup.robot.joints))
        figure.text(0.01, 0.99, title, va="top")
        run.add_figure(figure, f"{run.name}_{name.replace(' ', '_')}")
    run.report(len(cases), len(cases), "figures are written")


def varying_walk(grounds: tuple[ViscoElasticParameters, ...], is_quick: bool) -> SoftWalk:
    """Return the walk from the first ground over the others; the first one is known at the start."""
    places = _QUICK_PLACES if is_quick else _PLACES
    noise = {"force": SIGMA, "moment": SIGMA, "interval": INTERVAL, "target": "both"}
    patches = [
        {"stiffness": ground.stiffness, "damping": ground.damping, "beyond_x": place}
        for ground, place in zip(grounds[1:], places, strict=False)
    ]
    overrides = {"simulation.viscoelastic.patches": patches, "simulation.viscoelastic.noise": noise}
    return SoftWalk(grounds[0], _VARYING_QUICK_STEPS if is_quick else _VARYING_STEPS, learns=True, overrides=overrides)


def rows_of(case: str, log: SignalLog, result: dict[str, Any]) -> Iterator[Row]:
    """Return a row a change of the ground; of a walk that ended before the first one, a row that says so.

    A walk that fell, or whose CoM strayed, spoils all its rows.

    Args:
        case: What varies.
        log: Of the walk.
        result: In the shape of ``result.json``.
    """
    outcome, reason = judged(result)
    ended = {} if outcome == "walked" else {"outcome": outcome, "reason": reason}
    changes = ground_changes(log, TOLERANCE)
    for change in changes:
        yield _row(case, change) | ended
    if not changes:
        yield _without_change(case) | ended


def _without_change(case: str) -> Row:
    reason = "no foot came onto other ground"
    return {"varies": case, "paper": _PAPER_TIME, "value": None, "outcome": "missed", "reason": reason}


def _row(case: str, change: GroundChange) -> Row:
    is_met = change.settled_after is not None and change.settled_after < _PAPER_TIME
    return {
        "varies": case,
        "foot": str(change.side),
        "at_s": change.time,
        "parameter": change.parameter,
        "before": change.before,
        "truth": change.truth,
        "estimate_at_end": change.estimate,
        "paper": _PAPER_TIME,
        "value": change.settled_after,
        "outcome": "met" if is_met else "missed",
        "reason": f"within {TOLERANCE:.0%} of the truth from then to the end of the stance"
        if is_met
        else "not in time",
    }


PARAMETERS = ("stiffness", "damping")


@dataclass(frozen=True, slots=True)
class GroundChange:
    """One parameter of the ground at one touch-down.

    Attributes:
        side: Of the foot.
        parameter: ``stiffness`` [N/m³] or ``damping`` [N·s/m³].
        time: Of the touch-down, [s].
        before: What it was below this foot before.
        truth: What it is.
        estimate: At the end of the stance.
        settled_after: Time from touch-down after which the estimate stays near the truth, [s]; None: it does not.
    """

    side: Side
    parameter: str
    time: float
    before: float
    truth: float
    estimate: float
    settled_after: float | None


def ground_changes(log: SignalLog, tolerance: float) -> list[GroundChange]:
    """Return both parameters of each touch-down on ground that differs from the last, in the order of time.

    Args:
        log: Of a walk on soft ground.
        tolerance: Of the estimate, over the truth, [-].
    """
    if not len(log):
        return []
    changes = [change for side in Side for change in _changes_below(log, side, tolerance)]
    return sorted(changes, key=lambda change: change.time)


def _changes_below(log: SignalLog, side: Side, tolerance: float) -> Iterator[GroundChange]:
    for last, now in pairwise(_stances(log[f"{side}_foot::contact::is_active"][:, 0] > 0.5)):
        truths = {name: log[f"simulation::{side}_foot::contact::{name}"][:, 0] for name in PARAMETERS}
        if all(truth[last[-1]] == truth[now[-1]] for truth in truths.values()):
            continue
        for name, truth in truths.items():
            estimate = log[f"{side}_foot::contact::{name}"][now, 0]
            yield GroundChange(
                side=side,
                parameter=name,
                time=float(log.times[now[0]]),
                before=float(truth[last[-1]]),
                truth=float(truth[now[-1]]),
                estimate=float(estimate[-1]),
                settled_after=_settled_after(log.times[now], estimate / truth[now[-1]], tolerance),
            )


def _stances(is_active: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    """Return the rows of each stance."""
    rows = np.flatnonzero(is_active)
    return np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else []


def _settled_after(times: NDArray, ratio: NDArray, tolerance: float) -> float | None:
    """Return when the ratio is near one for good; the first row of a stance is what was known before."""
    outside = np.flatnonzero(np.abs(ratio - 1.0) > tolerance)
    if not len(outside):
        return 0.0
    return None if outside[-1] == len(ratio) - 1 else float(times[outside[-1] + 1] - times[0])


EXPERIMENTS = (
    Experiment(
        "table_8_1",
        "Romualdi, thesis, chapter 8, table 8.1",
        "Torque control for soft and for rigid ground on six soft grounds.",
        run_table_8_1,
        "largest CoM error [m]",
        plants=tuple(Plant),
        own_robots=(ROBOT,),
    ),
    Experiment(
        "figure_8_6",
        "Romualdi, thesis, chapter 8, figure 8.6",
        "Both kinds of torque control side by side: k = 2e6 N/m³, b = 1e4 N·s/m³.",
        run_figure_8_6,
        "largest CoM error [m]",
        own_robots=(ROBOT,),
    ),
    Experiment(
        "figure_8_7",
        "Romualdi, thesis, chapter 8, figure 8.7",
        "The same with less damping: k = 2e6 N/m³, b = 1e3 N·s/m³.",
        run_figure_8_7,
        "largest CoM error [m]",
        own_robots=(ROBOT,),
    ),
    Experiment(
        "figure_8_8",
        "Romualdi, thesis, chapter 8, figure 8.8",
        "The same on softer ground: k = 1e6 N/m³, b = 1e4 N·s/m³.",
        run_figure_8_8,
        "largest CoM error [m]",
        own_robots=(ROBOT,),
    ),
    Experiment(
        "figure_8_9",
        "Romualdi, thesis, chapter 8, figure 8.9",
        "Noise on the wrenches of soft ground, drawn every 10 µs and every millisecond, with and without a filter.",
        run_figure_8_9,
        "largest CoM error [m]",
        own_robots=(ROBOT,),
    ),
    Experiment(
        "figure_8_10",
        "Romualdi, thesis, chapter 8, figure 8.10",
        "Stiffness and damping of the ground, learned while they change from place to place.",
        run_figure_8_10,
        "time until known [s]",
        own_robots=(ROBOT,),
    ),
)
