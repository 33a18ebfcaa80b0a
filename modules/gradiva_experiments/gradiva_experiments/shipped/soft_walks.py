"""Walks on soft ground, and soft_limits: how soft, how little damped and how little known the ground may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import GRAVITY, Side, SoleRectangle
from gradiva.contacts import ViscoElasticParameters, static_sinkage
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, load_robot, load_setup, read_toml
from gradiva.telemetry import COM, FOOT, STYLE, WARNING
from gradiva.walking import GroundModel
from gradiva_experiments.experiment import INACCURATE, Asked, Experiment, ExperimentRun, Row, as_text, but_com, judged
from gradiva_experiments.trial import Trial

ROBOT = "icub_v2_7"
LENGTH, WIDTH = 0.19, 0.09  # [m] of the sole
STEP_LENGTH = 0.155  # [m] foot to foot
_COM_HEIGHT = 0.53  # [m] of the standing robot's CoM above its sole frames: between straight knees and bent ankles
_RAMP = 1.0  # [steps] by which the command is shorter than the walk: the last step closes the feet


@dataclass(frozen=True, slots=True)
class SoftWalk:
    """A walk on soft ground: the ground, the steps and the controller.

    Attributes:
        ground: Stiffness and damping, of the simulator and, at first, of the controller.
        steps: How many, the last of which closes the feet.
        step_length: [m].
        controller: What torque control takes the ground to be.
        learns: Whether the controller estimates the ground.
        prior: Assumed stiffness and damping over the true ones, [-].
        overrides: ``table.key`` to value, laid over all of it.
        notes: Columns of its row that say what is special about it.
        asked: What has to come.
        plant: On which robot.
        rotors: Whether motors turn with the joints, in the simulator and in the controller; the robot of the thesis has
            links alone.
    """

    ground: ViscoElasticParameters
    steps: int
    step_length: float = STEP_LENGTH
    controller: GroundModel = GroundModel.COMPLIANT
    learns: bool = False
    prior: float = 1.0
    overrides: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    asked: Asked = Asked.TO_TRACK
    plant: Plant = Plant.IDEAL
    rotors: bool = True

    @property
    def title(self) -> str:
        """Name in tables and figures."""
        notes = "".join(f", {name} {value}" for name, value in self.notes.items())
        stiffness, damping = map(as_text, self.ground)
        return f"{self.plant} plant, {self.controller}, k = {stiffness}, b = {damping}{notes}"

    def trial(self, seed: int = 0) -> Trial:
        """Return the walk by names and numbers alone."""
        tables = {**read_toml(Path(__file__).with_name("soft_walks.toml")), **self._numbers(), **self.overrides}
        step_duration = load_setup(ROBOT, tables).walking.planner.max_step_duration
        duration = (self.steps - _RAMP) * step_duration
        command = VelocityCommand(self.step_length / step_duration, duration=duration)
        return Trial(ROBOT, command, tables, self.plant, seed)

    def _numbers(self) -> dict[str, Any]:
        stiffness, damping = self.ground
        return {
            "simulation.viscoelastic.stiffness": stiffness,
            "simulation.viscoelastic.damping": damping,
            "torque_control.ground": str(self.controller),
            "contact_estimator.stiffness": self.prior * stiffness,
            "contact_estimator.damping": self.prior * damping,
            "contact_estimator.learns": self.learns,
            "planner.com_height": _COM_HEIGHT - sinkage(stiffness),
            **({} if self.rotors else dict.fromkeys(("simulation.plant.rotor_inertia", "drives.rotor_inertia"), 0.0)),
        }


def asked_of(controller: GroundModel) -> Asked:
    """Return what is asked where both controllers are compared: the rigid one's outcome is as found."""
    return Asked.TO_TRACK if controller is GroundModel.COMPLIANT else Asked.AS_FOUND


def sinkage(stiffness: float) -> float:
    """Return how deep both soles sink under the standing robot, m g / (2 A k), [m], for k [N/m³]."""
    sole = SoleRectangle((0.0, LENGTH), (0.0, WIDTH), 0.0)
    return static_sinkage(0.5 * load_robot(ROBOT).mass * GRAVITY, sole, stiffness)


def add_walks(run: ExperimentRun, walks: Sequence[SoftWalk], papers: Sequence[Any]) -> list[Row]:
    """Walk all, side by side, and add a row for each; return them in the order of the walks.

    Args:
        run: The experiment.
        walks: What to walk.
        papers: What the paper has for each.
    """
    before, rows = len(run.rows), {}
    for index, result in run.pool.results([walk.trial() for walk in walks]):
        walk = walks[index]
        rows[index] = soft_row(walk, result.figures, papers[index])
        run.add_row(rows[index], before + index)
        run.report(len(rows), len(walks), f"{walk.title}: {rows[index]['outcome']}")
    return [rows[index] for index in sorted(rows)]


def soft_row(walk: SoftWalk, figures: Mapping[str, Any], paper: Any) -> Row:
    """Return the row of one walk; the value is the largest error of the centre of mass, [m].

    Args:
        walk: What was walked.
        figures: In the shape of ``result.json``.
        paper: What the paper has.
    """
    error = figures.get("com_error_m", {})
    outcome, reason = judged(figures)
    return {
        "robot": ROBOT,
        "plant": str(walk.plant),
        "controller": str(walk.controller),
        "stiffness": walk.ground.stiffness,
        "damping": walk.ground.damping,
        "step_m": walk.step_length,
        "steps": walk.steps,
        **walk.notes,
        "lasted_s": figures.get("duration_s"),
        "com_rms_m": error.get("rms"),
        "asked": str(walk.asked),
        "paper": paper,
        "value": error.get("max"),
        "outcome": outcome,
        "reason": reason,
    }


# -- outcomes as bars --------------------------------------------------------------------------------------------------

_WIDTH, _ROW_HEIGHT, _MARGIN = 8.0, 0.34, 1.0  # [inch]
_COLOURS = {"walked": COM, INACCURATE: FOOT[Side.RIGHT]}  # all else is a warning


def outcome_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Return a bar a row.

    Args:
        rows: With ``plant``, ``controller``, ``stiffness``, ``damping``, ``lasted_s``, ``paper``, ``value`` and
            ``outcome``, perhaps with a ``case``.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _MARGIN + _ROW_HEIGHT * len(rows)), layout="constrained")
        axis = figure.subplots()
        _draw(axis, rows)
        return figure


def _draw(axis: Axes, rows: Sequence[dict[str, Any]]) -> None:
    places = np.arange(len(rows))
    lasted = [row["lasted_s"] or 0.0 for row in rows]
    colours = [_COLOURS.get(row["outcome"], WARNING) for row in rows]
    bars = axis.barh(places, lasted, 0.62, color=colours)
    axis.bar_label(bars, labels=[_label(row) for row in rows], padding=3)
    axis.set_yticks(places, [_name(row) for row in rows])
    axis.invert_yaxis()
    axis.set_xlim(0.0, 2.1 * max([*lasted, 1.0]))  # room for the labels
    axis.set_title("ground: k [N/m³], b [N·s/m³]")
    axis.set_xlabel("time until the walk was done, or over [s]", loc="right")
    axis.grid(visible=False, axis="y")


def _name(row: dict[str, Any]) -> str:
    case = f"\n{row['case']}" if "case" in row else ""
    return f"{row['plant']}, {row['controller']}, k = {as_text(row['stiffness'])}, b = {as_text(row['damping'])}{case}"


def _label(row: dict[str, Any]) -> str:
    paper = "" if row["paper"] is None else f" (thesis: {row['paper']})"
    return f"{_outcome(row)}{paper}"


def _outcome(row: dict[str, Any]) -> str:
    if row["outcome"] == INACCURATE:
        return but_com(row["value"])
    error = f", CoM within {1e3 * row['value']:.1f} mm" if row["outcome"] == "walked" else ""
    return f"{row['outcome']}{error}"


# -- soft_limits -------------------------------------------------------------------------------------------------------

_STIFFNESSES = (6e5, 5e5, 4e5, 3e5, 2e5, 1.5e5)  # [N/m³]
_DAMPINGS = (300.0, 100.0, 30.0, 10.0)  # [N·s/m³]
_WELL_DAMPED, _SOFT = 1e4, 8e5  # [N·s/m³], [N/m³]
_PRIORS = (1.0 / 3.0, 3.0)  # [-] of the truth
_UNKNOWN = (ViscoElasticParameters(2e6, 1e4), ViscoElasticParameters(8e5, 1e3))
_STIFF_ENOUGH, _DAMPED_ENOUGH = 3e5, 300.0  # [N/m³], [N·s/m³] beyond these a limit is looked for
_SOFTEST, _LEAST_DAMPED = 3e5, 100.0  # [N/m³], [N·s/m³] that have been walked on: what a quick run shows
_SOFTENS_AT = 5.0  # [s] under standing feet
_STEPS, _QUICK_STEPS = 6, 2


def run_soft_limits(run: ExperimentRun) -> None:
    """Walk where it is ever softer, less damped, less known; the value is the largest error of the CoM, [m]."""
    walks = _one_of_each(_QUICK_STEPS) if run.options.quick else _all(_STEPS)
    add_walks(run, walks, [None] * len(walks))
    run.add_figure(outcome_figure(run.rows), run.name)


def _one_of_each(steps: int) -> list[SoftWalk]:
    return [
        _softer(_SOFTEST, steps),
        _less_damped(_LEAST_DAMPED, steps),
        _unknown(_UNKNOWN[0], _PRIORS[1], steps),
        _softening(True, steps),
    ]


def _all(steps: int) -> list[SoftWalk]:
    return [
        *(_softer(stiffness, steps) for stiffness in _STIFFNESSES),
        *(_less_damped(damping, steps) for damping in _DAMPINGS),
        *(_unknown(ground, prior, steps) for ground in _UNKNOWN for prior in _PRIORS),
        *(_softening(learns, steps) for learns in (True, False)),
    ]


def _softer(stiffness: float, steps: int) -> SoftWalk:
    asked = Asked.TO_TRACK if stiffness >= _STIFF_ENOUGH else Asked.AS_FOUND
    return SoftWalk(ViscoElasticParameters(stiffness, _WELL_DAMPED), steps, notes={"case": "softer"}, asked=asked)


def _less_damped(damping: float, steps: int) -> SoftWalk:
    asked = Asked.TO_TRACK if damping >= _DAMPED_ENOUGH else Asked.AS_FOUND
    return SoftWalk(ViscoElasticParameters(_SOFT, damping), steps, notes={"case": "less damped"}, asked=asked)


def _unknown(ground: ViscoElasticParameters, prior: float, steps: int) -> SoftWalk:
    asked = Asked.TO_TRACK if ground.stiffness > _SOFT else Asked.AS_FOUND
    notes = {"case": f"learned from {prior:.2g} × the truth"}
    return SoftWalk(ground, steps, learns=True, prior=prior, notes=notes, asked=asked)


def _softening(learns: bool, steps: int) -> SoftWalk:
    """Feet that the ground lets down take the body with them, for as long as legs need to stretch."""
    patch = {"stiffness": _SOFT, "damping": _WELL_DAMPED, "after": _SOFTENS_AT}
    overrides = {"simulation.viscoelastic.patches": [patch]}
    notes = {"case": f"softens to {as_text(_SOFT)} under the feet, {'learned' if learns else 'unnoticed'}"}
    return SoftWalk(_UNKNOWN[0], steps, learns=learns, overrides=overrides, notes=notes, asked=Asked.TO_WALK)


EXPERIMENTS = (
    Experiment(
        "soft_limits",
        "Gradiva's own experiment",
        "The softest, the least damped and the least known ground on which torque control still walks.",
        run_soft_limits,
        "largest CoM error [m]",
        own_robots=(ROBOT,),
    ),
)
