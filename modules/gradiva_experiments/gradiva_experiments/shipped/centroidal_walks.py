"""Centroidal MPC in the walk: iCub v3 pushed twice on its right arm (thesis, figure 11.6), against the DCM laws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gradiva.common import NDArray, Side
from gradiva.planner import VelocityCommand, WalkingPlan
from gradiva.push_recovery import SteppingMode
from gradiva.setup import Plant
from gradiva.simulated_walk import SimulatedWalk, WalkOutcome
from gradiva.simulation import Push
from gradiva.telemetry import COM, DCM, FOOT, MUTED, REFERENCE, STYLE, ZMP, adapted_steps, footprints
from gradiva.walking import WalkingState
from gradiva_experiments.continued_walks import PHASES, Continued, ImpulseSearch, OneWay, PushedFrom
from gradiva_experiments.experiment import Asked, Experiment, ExperimentOptions, ExperimentRun, Row
from gradiva_experiments.shipped.pushed_pendulum import name_directions
from gradiva_experiments.trial import Trial, walk_trial

ROBOT, ARM = "icub_v3", "r_elbow_1"
SPEED = 0.1  # [m/s]; the published code of the thesis has steps of 0.15 m, single and double supports of 1 s each
FORCE, DURATION = 40.0, 1.0  # [N], [s]
STARTS, _QUICK_STARTS = (8.0, 11.0), (2.0,)  # [s] from the first step on
_AFTER = 5.0  # [s] of walking after the last push has begun
_PAPER = 0.05  # [m] to the side: the published limits of landings are 0.01 m along the foot, 0.05 m outward
_SIDES = ("left", "right")
_COUNTED = 3.0  # [s] after a push begins, in which steps that lift off count
_RUNNING = 0.8  # [s] before it likewise: a step that runs when it begins is the first to answer
_LOST_BY_PENDULUM = (-0.09, 0.1)  # [s] from lift-off, of pushes outward of the stance foot, even where it knows them
DIRECTIONS = {"ahead": (1.0, 0.0), "left": (0.0, 1.0), "back": (-1.0, 0.0), "right": (0.0, -1.0)}
_WRENCH: dict[str, Any] = {
    "external_wrench.is_estimated": True,
    "external_wrench.time_constant": 0.03,  # [s] the sensors are exact; faster, landings are taken for pushes
}
_MPC: dict[str, Any] = {"walking.model": "centroidal_mpc"} | _WRENCH
_ADAPTED: dict[str, Any] = {"step_adaptation.mode": str(SteppingMode.PLACE_AND_TIME)}
_PLANNED: dict[str, Any] = {"step_adaptation.mode": str(SteppingMode.OFF)}
LAWS: dict[str, dict[str, Any]] = {
    "centroidal_mpc": _MPC | _PLANNED,
    "centroidal_mpc, adapted steps": _MPC | _ADAPTED,
    "dcm": {"walking.model": "dcm"} | _PLANNED,
    "dcm_mpc": {"walking.model": "dcm_mpc"} | _PLANNED,
    "dcm, adapted steps": {"walking.model": "dcm"} | _ADAPTED,
    "dcm, wrench, adapted steps": {"walking.model": "dcm"} | _WRENCH | _ADAPTED,
}
_MAPPED = {
    "centroidal_mpc, adapted steps": COM,
    "dcm": ZMP,
    "dcm, adapted steps": MUTED,
    "dcm, wrench, adapted steps": DCM,
}
"""Laws that are pushed in all directions, with their colours."""

_ANGLES = 8  # directions
_UNIT = 4.0  # [N·s] of the search for the largest push
_SEARCHED = "middle"  # moment of the step, at which it is searched


@dataclass(slots=True, eq=False)
class ArmPushes:
    """Pushes the arm of a robot some time after it begins to walk: an observer of a simulated walk.

    Attributes:
        force: World, [N], shape (3,).
        starts: Of the pushes, [s] after the walk has begun.
        times: When they begin on the clock of the simulation, [s].
        moments: In which part of the planned step they begin.
    """

    force: tuple[float, float, float]
    starts: Sequence[float]
    times: list[float] = field(default_factory=list)
    moments: list[str] = field(default_factory=list)

    def __call__(self, walk: SimulatedWalk) -> None:
        """Push at the first tick of the walk: all of them."""
        if self.times or walk.controller.state is not WalkingState.WALKING:
            return
        self.times = [walk.time + start for start in self.starts]
        self.moments = [self._moment(walk.controller.plan, time) for time in self.times]
        for time in self.times:
            walk.robot.push(Push(ARM, self.force, time, DURATION))

    def _moment(self, plan: WalkingPlan | None, time: float) -> str:
        """Say in which step a push begins, and whether a pendulum over the stance sole falls that knows it at once."""
        step = next((step for step in plan.steps if step.touch_down > time), None) if plan else None
        if step is None:
            return "standing"
        side, since = step.footstep.side, time - step.lift_off
        moment = (
            f"{side} foot swings since {since:.2f} s" if since >= 0.0 else f"{side} foot lifts off in {-since:.2f} s"
        )
        earliest, latest = _LOST_BY_PENDULUM
        is_lost = earliest <= since <= latest and self.force[1] * side.other.sign >= FORCE
        return f"{moment}: outward of the other one, a pendulum falls" if is_lost else moment


def pushed_walk(
    law: str, direction: tuple[float, float], options: ExperimentOptions, force: float = FORCE
) -> tuple[WalkOutcome, ArmPushes]:
    """Let the robot walk by a law of layer 2, pushed twice in a direction; quickly, once."""
    starts = options.either(STARTS, _QUICK_STARTS)
    pushes = ArmPushes((force * direction[0], force * direction[1], 0.0), starts)
    command = VelocityCommand(SPEED, duration=starts[-1] + _AFTER)
    trial = Trial(ROBOT, command, {**LAWS[law], **options.overrides}, (options.plants or (Plant.IDEAL,))[0])
    return walk_trial(trial, (pushes,)), pushes


def run_figure_11_6(run: ExperimentRun) -> None:
    """Push the walking robot in four directions with each law; the value is the mean adjustment of the MPC's steps."""
    is_quick = run.options.quick
    directions = dict(list(DIRECTIONS.items())[: 1 if is_quick else None])
    laws = list(LAWS)[: 1 if is_quick else None]
    cells = [(law, name) for law in laws for name in directions]
    for count, (law, name) in enumerate(cells):
        run.report(count, len(cells), f"{law}, pushed {name}")
        outcome, pushes = pushed_walk(law, directions[name], run.options)
        run.add_row(_row(law, name, outcome, pushes))
        if _is_mpc(law):
            title = f"iCub v3, {law}, {FORCE:g} N for {DURATION:g} s on the right arm: {name}"
            adapted = "_adapted_steps" if law != "centroidal_mpc" else ""
            run.add_figure(walk_figure(outcome, pushes, title), f"{run.name}_{name}{adapted}")
    run.report(len(cells), len(cells), "figures are written")
    map_pushes(run, _ANGLES if not is_quick else 1, list(_MAPPED)[: 1 if is_quick else None])


# -- one push, in all directions and at several moments of a step -----------------------------------------------------


def map_pushes(run: ExperimentRun, angles: int, laws: Sequence[str]) -> None:
    """Push at four moments of a step of the right foot, and search the largest push in the middle of it."""
    directions = [2.0 * math.pi * index / angles for index in range(angles)]
    plant, rows = (run.options.plants or (Plant.IDEAL,))[0], list[Row]()
    for count, law in enumerate(laws):
        where = "ahead" if angles == 1 else f"in each of {angles} directions"
        run.report(count, len(laws), f"{law}: largest push {where}")
        trial = Trial(ROBOT, VelocityCommand(SPEED, duration=10.0), {**LAWS[law], **run.options.overrides}, plant)
        pushes = [OneWay((_force(direction), DURATION, 1)) for direction in directions]
        searches = [ImpulseSearch(direction, DURATION, _UNIT) for direction in directions]
        jobs = [PushedFrom(trial, phase, push, ARM) for phase in PHASES for push in pushes]
        jobs += [PushedFrom(trial, _SEARCHED, search, ARM) for search in searches]
        found = dict(run.pool.results(jobs))
        for index, search in enumerate(searches):
            at = {phase: found[place * angles + index] for place, phase in enumerate(PHASES)}
            rows.append(_map_row(law, search, at, found[len(PHASES) * angles + index]))
    for row in rows:
        run.add_row(row)
    run.add_figure(map_figure(rows), f"{run.name}_largest")


def _force(direction: float) -> tuple[float, float, float]:
    """Return the force of the thesis in a direction from straight ahead to the left [rad], [N]."""
    return FORCE * math.cos(direction), FORCE * math.sin(direction), 0.0


def _map_row(law: str, search: ImpulseSearch, pushed: Mapping[str, Continued], searched: Continued) -> Row:
    search = search.taken(searched.outcome)
    at = [phase for phase, found in pushed.items() if found.survived]
    failures = {found.failure for found in (*pushed.values(), searched) if found.failure}
    lost = search.lost
    reason = "" if lost is None else f"lost at {lost * search.unit:g} N·s: {search.outcomes[lost]['reason']}"
    return {
        "law": law,
        "direction": f"{math.degrees(search.direction):.0f}°",
        "force_n": FORCE,
        "survived": f"{len(at)} of {len(PHASES)}",
        "at": at,
        "largest_ns": None if searched.failure else search.impulse,
        "paper": None,
        "value": None,
        "asked": Asked.AS_FOUND,
        "outcome": "failed" if failures else "measured",
        "reason": "; ".join(sorted(failures)) or reason,
    }


def map_figure(rows: Sequence[Row]) -> Figure:
    """Return the largest push of one second by direction, ahead is up, a line a law, with the force of the thesis."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_MAP_SIZE, layout="constrained")
        axes: Any = figure.subplots(subplot_kw={"projection": "polar"})
        name_directions(axes, "left,\nstance foot", "right,\nswing foot")
        for law in dict.fromkeys(row["law"] for row in rows):
            values = [row["largest_ns"] for row in rows if row["law"] == law]
            angles = np.linspace(0.0, 2.0 * np.pi, len(values) + 1)
            axes.plot(angles, [*values, *values[:1]], "o-", ms=3.0, color=_MAPPED[law], label=law)
        circle = np.linspace(0.0, 2.0 * np.pi, 100)
        axes.plot(
            circle, np.full(100, FORCE * DURATION), color=REFERENCE, label=f"{FORCE * DURATION:g} N·s of the thesis"
        )
        figure.suptitle(
            f"iCub v3, arm pushed for {DURATION:g} s in mid-step: largest survived [N·s]", x=0.01, ha="left"
        )
        figure.legend(loc="outside lower left", ncols=2)
        return figure


def adjustments(outcome: WalkOutcome, pushes: ArmPushes) -> NDArray:
    """Return distances of planned and adjusted footholds of the steps that answer to the pushes, [m], shape (n,)."""
    log = outcome.walk.recorder.log
    if not len(log) or "step_adaptation::delay" not in log:
        return np.zeros(0)
    begin, end = pushes.times[0] - _RUNNING, pushes.times[-1] + _COUNTED
    return np.array([step.distance for step in adapted_steps(log) if begin <= step.nominal.time < end])


def _is_mpc(law: str) -> bool:
    return law.startswith("centroidal_mpc")


def _row(law: str, direction: str, outcome: WalkOutcome, pushes: ArmPushes) -> Row:
    moved, figures = adjustments(outcome, pushes), outcome.result
    is_mpc = _is_mpc(law)
    return {
        "law": law,
        "direction": direction,
        "force_n": FORCE,
        "pushed_while": pushes.moments,
        "adjusted_steps": len(moved),
        "largest_adjustment_m": float(moved.max(initial=0.0)),
        "dcm_error_m": figures["dcm_error_m"]["max"],
        "paper": _PAPER if is_mpc and direction in _SIDES else None,
        "value": float(moved.mean()) if len(moved) else 0.0,
        "asked": Asked.TO_WALK if is_mpc else Asked.AS_FOUND,
        "outcome": figures["outcome"],
        "reason": "; ".join([figures["reason"], *(moment for moment in pushes.moments if moment.endswith("falls"))]),
    }


_SIZE = (10.0, 8.0)  # [inch]
_MAP_SIZE = (6.5, 7.0)  # [inch]
_FORCES = (COM, DCM, MUTED)


def walk_figure(outcome: WalkOutcome, pushes: ArmPushes, title: str) -> Figure:
    """Return the path from above with planned and adjusted footholds, the error of the CoM and the estimated force."""
    log = outcome.log
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        above, error, force = figure.subplots(3, 1)
        times, com, planned = log.times, log["com::position::measured"], log["com::position::desired"]
        above.plot(planned[:, 0], planned[:, 1], color=REFERENCE, label="planned CoM")
        above.plot(com[:, 0], com[:, 1], color=COM, label="CoM")
        sole = outcome.walk.setup.robot.sole
        for side in Side:
            corners = [foot.corners(sole) for foot in footprints(log) if foot.side is side]
            for count, each in enumerate(corners):
                label = f"{side} foot" if count == 0 else None
                above.fill(each[:, 0], each[:, 1], facecolor="none", edgecolor=FOOT[side], label=label)
        for count, step in enumerate(adapted_steps(log)):
            for move, colour, label in ((0.0, MUTED, "planned foothold"), (1.0, DCM, "adjusted foothold")):
                x, y = step.nominal.position[:2] + move * step.move
                above.plot(x, y, "s", color=colour, label=label if count == 0 else None)
        above.set_aspect("equal", adjustable="datalim")
        above.set_title("from above [m]")
        for index, colour, label in ((0, COM, "ahead"), (1, DCM, "to the left")):
            error.plot(times, com[:, index] - planned[:, index], color=colour, label=label)
        error.set_title("CoM off its plan [m]")
        if "external_wrench::force" in log:
            for axis, colour, values in zip("xyz", _FORCES, log["external_wrench::force"].T, strict=True):
                force.plot(times, values, color=colour, label=axis)
        force.set_ylim(-2.0 * FORCE, 2.0 * FORCE)  # a robot that falls feels more
        force.set_title("estimated external force [N]")
        force.set_xlabel("time [s]")
        for axes in (error, force):
            for begin in (begin for begin in pushes.times if begin < times[-1]):
                axes.axvspan(begin, begin + DURATION, color=MUTED, alpha=0.25, linewidth=0.0)
        for axes in (above, error, force):
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return figure


EXPERIMENTS = (
    Experiment(
        "figure_11_6",
        "Romualdi, thesis, chapter 11, figure 11.6",
        "Centroidal MPC: iCub v3 walks, and is pushed twice on the right arm by 40 N for 1 s; beside it the DCM laws.",
        run_figure_11_6,
        "mean adjustment of the footholds [m]",
        plants=(Plant.IDEAL,),
        takes=("settings",),
        quick=f"pushed ahead alone, by the MPC alone: once {_QUICK_STARTS[0]:g} s after the first step, and by larger"
        " and larger pushes in search of the largest survived.",
        own_robots=(ROBOT,),
    ),
)
