"""TALOS with soft hips: torque control that knows of their flexibility beside one that does not (thesis, chapter 9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gradiva.common import NDArray, Side
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant
from gradiva.simulated_walk import deflection_errors, true_com_errors
from gradiva.telemetry import (
    COM,
    DCM,
    FOOT,
    INK,
    STYLE,
    ZMP,
    SignalLog,
    WalkRecord,
    read_mat,
    rotations_from_rpy,
    shade,
)
from gradiva_experiments.experiment import Asked, Experiment, ExperimentRun, Row
from gradiva_experiments.trial import SharedTrials, Trial

_ROBOT = "talos"
_STEP, _SINGLE, _DOUBLE = 0.1, 1.2, 0.2  # [m] of the feet's middle, a foot moves twice as far; [s]
_STEPS, _QUICK_STEPS = 10, 2  # the first foot lands after one step ahead, the last one closes
_RIGHT_FIRST = -1e-6  # [m/s] to the right: the right foot leads
_STIFFNESSES = (1e4, 5e3, 3e3, 2e3, 1e3)  # [N·m/rad]
_SOFTEST = 500.0  # [N·m/rad] of figure 9.12
_RIGID_WALKS = (1e4, 5e3)  # [N·m/rad] in the thesis
_TRACKS, _TRACKS_STIFF = 0.003, 0.002  # [m] within which the CoM stays, all, and at 10 kN·m/rad


class Law(StrEnum):
    """Names what torque control knows of the flexible joints."""

    RIGID = "TSID-Rigid"
    """Nothing: neither layer 3 nor the estimation has them."""
    FLEXIBLE = "TSID-Flex"
    """Their stiffness and damping; an observer estimates deflections."""


@dataclass(frozen=True, slots=True)
class FlexibleWalk:
    """The walk of chapter 9: 1 m ahead in steps of 20 cm, right foot first.

    Attributes:
        stiffness: Of the plant's flexible joints and, unless ``overrides`` say otherwise, as the controller knows them,
            [N·m/rad].
        law: Of torque control.
        case: In the table.
        overrides: ``table.key`` to value, laid over all of it.
        asked: What has to come.
        plant: On which robot.
        seed: Of what is drawn.
        single_support: [s].
    """

    stiffness: float
    law: Law = Law.FLEXIBLE
    case: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    asked: Asked = Asked.AS_FOUND
    plant: Plant = Plant.IDEAL
    seed: int = 0
    single_support: float = _SINGLE

    @property
    def title(self) -> str:
        """Name in tables and figures."""
        return f"{self.law}, {1e-3 * self.stiffness:g} kN·m/rad{', ' * bool(self.case)}{self.case}"

    def trial(self, steps: int = _STEPS) -> Trial:
        """Return the walk by names and numbers alone."""
        duration = self.single_support + _DOUBLE
        known = "flexibility.stiffness" if self.law is Law.FLEXIBLE else "simulation.flexibility.stiffness"
        tables = {
            "walking.control": "torque",
            known: self.stiffness,
            "planner.min_step_duration": duration,
            "planner.max_step_duration": duration,
            "planner.footsteps.double_support_ratio": _DOUBLE / self.single_support,
            "planner.footsteps.ramp_steps": 0.0,
            **self.overrides,
        }
        command = VelocityCommand(_STEP / duration, lateral=_RIGHT_FIRST, duration=steps * duration)
        return Trial(_ROBOT, command, tables, self.plant, self.seed)

    def row(self, figures: Mapping[str, Any], paper: Any) -> Row:
        """Return the row of this walk; the value is the largest error of the true centre of mass, [m]."""
        flexible, tick = figures.get("flexible_joints") or {}, figures.get("tick_us", {})
        error = flexible.get("true_com_error_m", {})
        observed = flexible.get("deflection_error_rad") or {}
        outcome, reason = _judged(figures, error.get("max"), self.stiffness, self.asked)
        return {
            "plant": str(self.plant),
            "law": str(self.law),
            "stiffness": self.stiffness,
            "case": self.case,
            "seed": self.seed,
            "lasted_s": figures.get("duration_s"),
            "com_rms_m": error.get("rms"),
            "estimated_com_m": figures.get("com_error_m", {}).get("max"),
            "deflection_rad": flexible.get("deflection_rad"),
            "deflection_error_rad": observed.get("max"),
            "tick_us": tick.get("total", {}).get("median"),
            "asked": str(self.asked),
            "paper": paper,
            "value": error.get("max"),
            "outcome": outcome,
            "reason": reason,
        }


def _judged(figures: Mapping[str, Any], error: float | None, stiffness: float, asked: Asked) -> tuple[str, str]:
    """Return outcome and reason; a walk that has to track has its CoM within the thesis' limit."""
    outcome, reason = str(figures["outcome"]), str(figures["reason"])
    limit = _TRACKS_STIFF if stiffness >= max(_STIFFNESSES) else _TRACKS
    if outcome != "walked" or asked is not Asked.TO_TRACK or error is None or error <= limit:
        return outcome, reason
    return "inaccurate", f"walked, but CoM {1e3 * error:.1f} mm, {1e3 * limit:.0f} mm is the limit"


Samples = Callable[[SignalLog], NDArray]


@dataclass(frozen=True, slots=True)
class Quantity:
    """Components of a figure, over time.

    Attributes:
        title: Of the figure.
        samples: Their values, shape (T, n).
        panels: Key in ``result.json``, below ``largest_``, to title, one a component.
    """

    title: str
    samples: Samples
    panels: Mapping[str, str]

    def largest(self, log: SignalLog) -> dict[str, float | None]:
        """Return the largest magnitude of each component; None of a robot that never balanced."""
        values = np.abs(self.samples(log)).max(axis=0) if len(log) else [None] * len(self.panels)
        return {f"largest_{key}": value for key, value in zip(self.panels, values, strict=True)}


_WALKS = "walks"  # folder of the walks beside the runs: the experiments of the chapter share most of them


def _add_walks(
    run: ExperimentRun, walks: Sequence[FlexibleWalk], papers: Sequence[Any], quantity: Quantity | None = None
) -> list[SignalLog]:
    """Walk all, side by side, and add a row for each; return the logs if a quantity of them is asked for."""
    steps, logs = run.options.either(_STEPS, _QUICK_STEPS), [SignalLog() for _ in walks]
    pool = SharedTrials(run.pool, run.folder.path.parent / _WALKS)
    for count, (place, result) in enumerate(pool.results([walk.trial(steps) for walk in walks]), 1):
        row = walks[place].row(result.figures, papers[place])
        if quantity is not None:
            logs[place] = SignalLog() if result.log is None else read_mat(result.log).log
            row |= quantity.largest(logs[place])
        run.add_row(row, place)
        run.report(count, len(walks), f"{walks[place].title}: {result.figures['outcome']}")
    return logs


# -- table 9.1 ---------------------------------------------------------------------------------------------------------


def run_table_9_1(run: ExperimentRun) -> None:
    """Walk with both laws at five stiffnesses; the value is the largest error of the true centre of mass, [m]."""
    stiffnesses = _STIFFNESSES[:1] if run.options.quick else _STIFFNESSES
    walks = [
        FlexibleWalk(stiffness, law, asked=Asked.TO_TRACK if law is Law.FLEXIBLE else Asked.AS_FOUND)
        for law in (Law.RIGID, Law.FLEXIBLE)
        for stiffness in stiffnesses
    ]
    _add_walks(run, walks, [_paper(walk) for walk in walks])


def _paper(walk: FlexibleWalk) -> str:
    return "success" if walk.law is Law.FLEXIBLE or walk.stiffness in _RIGID_WALKS else "failure"


# -- figures 9.6 to 9.11 -----------------------------------------------------------------------------------------------


def com_error_mm(log: SignalLog) -> NDArray:
    """Return the error of the true CoM from the stance sole, [mm], shape (T, 3)."""
    return 1e3 * true_com_errors(log)


def angular_momentum(log: SignalLog) -> NDArray:
    """Return the true angular momentum about the CoM, whose reference is zero, [N·m·s], shape (T, 3)."""
    return log["simulation::angular_momentum"]


def left_foot_error_deg(log: SignalLog) -> NDArray:
    """Return the angle between the left foot's true and desired attitude, [deg], shape (T, 1)."""
    names = ("simulation::left_foot::orientation", "left_foot::orientation::desired")
    true, desired = (rotations_from_rpy(log[name]) for name in names)
    cosine = 0.5 * (np.einsum("tij,tij->t", true, desired) - 1.0)
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))[:, None]


COM_ERROR = Quantity(
    "error of the true CoM",
    com_error_mm,
    {"x_mm": "ahead [mm]", "y_mm": "to the left [mm]", "z_mm": "up [mm]"},
)
MOMENTUM = Quantity(
    "angular momentum about the CoM",
    angular_momentum,
    {"x_nms": "about x [N·m·s]", "y_nms": "about y [N·m·s]", "z_nms": "about z [N·m·s]"},
)
LEFT_FOOT = Quantity("angle of the left foot to its reference", left_foot_error_deg, {"deg": "[deg]"})


def run_comparison(run: ExperimentRun, stiffness: float, quantity: Quantity) -> None:
    """Walk with both laws; the value is the largest error of the true centre of mass, [m].

    Args:
        run: The experiment.
        stiffness: [N·m/rad].
        quantity: What is drawn.
    """
    asked = {Law.RIGID: Asked.AS_FOUND, Law.FLEXIBLE: Asked.TO_TRACK}
    walks = [FlexibleWalk(stiffness, law, asked=asked[law]) for law in (Law.RIGID, Law.FLEXIBLE)]
    logs = _add_walks(run, walks, [_paper(walk) for walk in walks], quantity)
    lines = {str(walk.law): (log, _COLOURS[walk.law]) for walk, log in zip(walks, logs, strict=True)}
    run.add_figure(lines_figure(lines, quantity, f"TALOS, {1e-3 * stiffness:g} kN·m/rad: {quantity.title}"), run.name)


_SIZE = (9.0, 2.0)  # [inch] of one panel
_COLOURS = {Law.RIGID: ZMP, Law.FLEXIBLE: COM}
_BY_STIFFNESS = (INK, DCM, FOOT[Side.LEFT], COM, FOOT[Side.RIGHT], ZMP)  # from stiff to soft
_FALL = 1.0  # [s] before the end of a log, in which a robot that falls sets no scale
_STANDS = 3.0  # [s] a log that ends so much earlier than another is of a robot that fell


def lines_figure(lines: Mapping[str, tuple[SignalLog, Any]], quantity: Quantity, title: str) -> Figure:
    """Return a panel for each component, with a line for each log that is not empty, and grey double supports.

    Args:
        lines: Label to log and colour; the first one is drawn first.
        quantity: What is drawn.
        title: Of the figure.
    """
    walks = {name: (log.times, quantity.samples(log), colour) for name, (log, colour) in lines.items() if len(log)}
    longest = max((log for log, _ in lines.values()), key=len)
    begin, end = _walking_time(longest)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_SIZE[0], _SIZE[1] * len(quantity.panels) + 0.7), layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots(len(quantity.panels), 1, sharex=True, squeeze=False)[:, 0]
        for column, (axis, panel) in enumerate(zip(axes, quantity.panels.values(), strict=True)):
            shown = [0.0]
            for name, (times, values, colour) in walks.items():
                fell = times[-1] < end - _STANDS
                axis.plot(times, values[:, column], linewidth=1.0, color=colour, label=name)
                shown += values[(times >= begin) & (times <= times[-1] - _FALL * fell), column].tolist()
                if fell:
                    axis.axvline(times[-1], color=colour, linewidth=1.0, linestyle=":")
            margin = 0.08 * (max(shown) - min(shown)) + 1e-9
            axis.set_ylim(min(shown) - margin, max(shown) + margin)
            axis.set_xlim(begin, end)
            axis.set_title(panel)
            shade(axis, longest.times, WalkRecord(longest, ()).in_double_support())
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=3)
        axes[-1].set_xlabel("time [s]", loc="right")
        return figure


def _walking_time(log: SignalLog) -> tuple[float, float]:
    """Return from when on a robot walks, and the end of its log, [s]."""
    if not len(log):
        return 0.0, 1.0
    walks = log["walking::is_walking"][:, 0] > 0.5 if "walking::is_walking" in log else [True]
    return float(log.times[np.argmax(walks)]), float(log.times[-1])


# -- figures 9.12 and 9.13 ---------------------------------------------------------------------------------------------


def run_stiffnesses(run: ExperimentRun, quantity: Quantity) -> None:
    """Walk with TSID-Flex, ever softer; the value is the largest error of the true centre of mass, [m]."""
    stiffnesses = _STIFFNESSES[:1] if run.options.quick else (*_STIFFNESSES, _SOFTEST)
    walks = [FlexibleWalk(stiffness, asked=Asked.TO_TRACK) for stiffness in stiffnesses]
    logs = _add_walks(run, walks, ["success"] * len(walks), quantity)
    labels = [f"{1e-3 * walk.stiffness:g} kN·m/rad" for walk in walks]
    softest_first = reversed(list(zip(labels, logs, _BY_STIFFNESS, strict=False)))  # stiff ones err least: in front
    lines = {label: (log, colour) for label, log, colour in softest_first}
    run.add_figure(lines_figure(lines, quantity, f"TALOS, TSID-Flex: {quantity.title}"), run.name)


def estimation_errors(log: SignalLog) -> NDArray:
    """Return the observer's errors of the first flexible joint: torque [N·m], mrad and mrad/s, shape (T, 3)."""
    rates = log["flexible_joints::velocities::estimated"] - log["simulation::flexible_joints::velocities"]
    angles = deflection_errors(log)
    torques = log["flexible_joints::torques::estimated"] - log["simulation::flexible_joints::torques"]
    return np.column_stack((torques[:, 0], 1e3 * angles[:, 0], 1e3 * rates[:, 0]))


OBSERVATION = Quantity(
    "roll of the left hip, observed less true",
    estimation_errors,
    {"torque_nm": "torque [N·m]", "position_mrad": "position [mrad]", "velocity_mrad_s": "velocity [mrad/s]"},
)


# -- flexible_limits ---------------------------------------------------------------------------------------------------

_SOFTER = (500.0, 400.0, 300.0, 200.0, 100.0)  # [N·m/rad]
_STIFF, _MIDDLE, _SOFT, _VERY_SOFT = 1e4, 5e3, 2e3, 1e3  # [N·m/rad]
_WRONG = (0.7, 1.3)  # [-] of the truth, as the controller knows it
_LEARNING = 5.0  # [1/s] rate at which stiffness is learned
_SINGLES = (1.0, 0.8, 0.6, 0.5)  # [s]
_OF_NOW = {"torque_control.spring_horizon": 0.0}  # as in the thesis
_HARD = {f"torque_control.priorities.{task}": "hard" for task in ("com", "angular_momentum")}  # likewise
_TUNED = {  # the best of 39 sets of gains, drawn at random, of which four walk at 2 kN·m/rad; what matters of it
    "torque_control.weights.com": 150.0,
    "torque_control.com.stiffness": 33.0,  # [1/s²]
    "torque_control.com.damping": 8.7,  # [1/s]
    **{f"torque_control.posture_weights.{leg}": 1.9 for leg in ("left_leg", "right_leg")},
    **{f"torque_control.posture_stiffness.{leg}": 96.0 for leg in ("left_leg", "right_leg")},  # [1/s²]
}
_SEEDS, _QUICK_SEEDS = 3, 1


def run_flexible_limits(run: ExperimentRun) -> None:
    """Walk with TSID-Flex beyond the thesis; the value is the largest error of the true centre of mass, [m]."""
    walks = _limit_walks(_QUICK_SEEDS) if run.options.quick else _limit_walks(_SEEDS)
    walks = [next(walk for walk in walks if walk.case == case) for case in _CASES] if run.options.quick else walks
    _add_walks(run, walks, [None] * len(walks))


_CASES = ("softer", "hips differ", "without observer", "known 0.7 ×", "noisy sensors", "faster, 1 s")


def _limit_walks(seeds: int) -> list[FlexibleWalk]:
    sides = {"flexibility.stiffness": [_MIDDLE, _MIDDLE, _SOFT, _SOFT]}
    noisy = [
        FlexibleWalk(stiffness, case="noisy sensors", asked=Asked.TO_WALK, plant=Plant.NOISY, seed=seed)
        for stiffness in (_MIDDLE, _VERY_SOFT)
        for seed in range(seeds)
    ]
    return [
        *(FlexibleWalk(stiffness, case="softer") for stiffness in _SOFTER),
        FlexibleWalk(_MIDDLE, case="hips differ", overrides=sides, asked=Asked.TO_WALK),
        *(_observed(stiffness, "none") for stiffness in (_STIFF, _MIDDLE, _VERY_SOFT)),
        _observed(_VERY_SOFT, "measured"),
        *(FlexibleWalk(stiffness, Law.RIGID, "tuned", _TUNED) for stiffness in _STIFFNESSES),
        *(FlexibleWalk(stiffness, case="springs of now", overrides=_OF_NOW) for stiffness in (_STIFF, _VERY_SOFT)),
        *(FlexibleWalk(stiffness, case="hard momentum", overrides=_HARD) for stiffness in (_STIFF, _SOFT)),
        *(_wrongly_known(stiffness, known) for stiffness in (_MIDDLE, _VERY_SOFT) for known in _WRONG),
        *(_wrongly_known(_VERY_SOFT, known, _LEARNING) for known in _WRONG),
        *noisy,
        *(FlexibleWalk(_MIDDLE, case=f"faster, {single:g} s", single_support=single) for single in _SINGLES),
    ]


def _observed(stiffness: float, source: str) -> FlexibleWalk:
    """Return the walk in which deflections are measured by the simulator, or taken to be zero."""
    case = {"none": "without observer", "measured": "deflections measured"}[source]
    return FlexibleWalk(stiffness, case=case, overrides={"flexible_joint_observer.source": source})


def _wrongly_known(stiffness: float, known: float, learning: float = 0.0) -> FlexibleWalk:
    """Return the walk of a plant with ``stiffness``, of which the controller knows a multiple, dampers included.

    Args:
        stiffness: Of the plant, [N·m/rad].
        known: What the controller knows of it at first, [-].
        learning: Rate at which it learns it, [1/s].
    """
    overrides = {
        "flexibility.stiffness": known * stiffness,
        "simulation.flexibility.stiffness": stiffness,
        "flexible_joint_observer.stiffness_rate": learning,
    }
    case = f"known {known:g} ×{', learned' * bool(learning)}"
    return FlexibleWalk(stiffness, case=case, overrides=overrides, asked=Asked.TO_WALK)


def _figure(number: int, stiffness: float, quantity: Quantity) -> Experiment:
    return Experiment(
        f"figure_9_{number}",
        f"Romualdi, thesis, chapter 9, figure 9.{number}",
        f"TSID-Flex and TSID-Rigid at {1e-3 * stiffness:g} kN·m/rad: {quantity.title}.",
        partial(run_comparison, stiffness=stiffness, quantity=quantity),
        "largest CoM error [m]",
        quick=f"the first {_QUICK_STEPS} of {_STEPS} steps.",
        own_robots=(_ROBOT,),
    )


_STIFFEST_ALONE = f"{1e-3 * max(_STIFFNESSES):g} kN·m/rad alone, the first {_QUICK_STEPS} of {_STEPS} steps."
EXPERIMENTS = (
    Experiment(
        "table_9_1",
        "Romualdi, thesis, chapter 9, table 9.1",
        "TALOS with hips that bend, at five stiffnesses, by torque control that knows of it and by one that does not.",
        run_table_9_1,
        "largest CoM error [m]",
        quick=_STIFFEST_ALONE,
        own_robots=(_ROBOT,),
    ),
    *(_figure(6 + place, 1e4, quantity) for place, quantity in enumerate((COM_ERROR, MOMENTUM, LEFT_FOOT))),
    *(_figure(9 + place, 3e3, quantity) for place, quantity in enumerate((COM_ERROR, MOMENTUM, LEFT_FOOT))),
    Experiment(
        "figure_9_12",
        "Romualdi, thesis, chapter 9, figure 9.12",
        "The error of the centre of mass under TSID-Flex, down to 0.5 kN·m/rad.",
        partial(run_stiffnesses, quantity=COM_ERROR),
        "largest CoM error [m]",
        quick=_STIFFEST_ALONE,
        own_robots=(_ROBOT,),
    ),
    Experiment(
        "figure_9_13",
        "Romualdi, thesis, chapter 9, figure 9.13",
        "The errors of the observed torque, position and velocity of a flexible joint, down to 0.5 kN·m/rad.",
        partial(run_stiffnesses, quantity=OBSERVATION),
        "largest CoM error [m]",
        quick=_STIFFEST_ALONE,
        own_robots=(_ROBOT,),
    ),
    Experiment(
        "flexible_limits",
        "Gradiva's own experiment",
        "TSID-Flex on softer, unlike and wrongly known hips, unobserved, with noisy sensors, and in a faster gait.",
        run_flexible_limits,
        "largest CoM error [m]",
        quick=f"one walk of each kind, the first {_QUICK_STEPS} of {_STEPS} steps.",
        own_robots=(_ROBOT,),
    ),
)
