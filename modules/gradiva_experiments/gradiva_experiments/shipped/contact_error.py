"""Rotational springs in place of the exact contact of a sole on soft ground (thesis, figure 8.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gradiva.common import FootContact, NDArray, Side, SoleRectangle, so3
from gradiva.contacts import LinearContact, SoleMotion, ViscoElasticContact, ViscoElasticParameters
from gradiva.telemetry import COM, DCM, STYLE, ZMP
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row, as_text
from gradiva_experiments.shipped.soft_walks import LENGTH, WIDTH

GROUND = ViscoElasticParameters(stiffness=2e6, damping=1e4)
AXES = ("roll", "pitch", "yaw")
_ANGLES, _QUICK_ANGLES = (5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 80.0), (10.0, 30.0, 60.0)  # [deg]
_CURVE = tuple(np.linspace(0.0, 85.0, 171).tolist())  # [deg]
_TITLE = f"A sole of {LENGTH:g} m × {WIDTH:g} m on k = {as_text(GROUND.stiffness)} N/m³"
_TOLERANCE = 1e-9  # [-] of the closed form against the sum over the sole

_SOLE = SoleRectangle(x=(-LENGTH / 2, LENGTH / 2), y=(-WIDTH / 2, WIDTH / 2), z=0.0)
_EXACT = ViscoElasticContact(_SOLE, Side.LEFT, is_unilateral=False)
_LINEAR = LinearContact(LENGTH, WIDTH, GROUND)
_AT_REST = FootContact(True, np.zeros(3), np.eye(3), *GROUND)


def run_figure_8_3(run: ExperimentRun) -> None:
    """Turn a resting sole about each axis; the value is the linear moment's error about it, [N·m].

    The thesis draws the error in yaw and gives no number of it; it says that the error grows with the angle, and alike
    in the other components. What is tested is that, and that the exact moment is the sum over the sole.
    """
    angles = run.options.either(_ANGLES, _QUICK_ANGLES)
    for axis, name in enumerate(AXES):
        for smaller, angle in pairwise((0.0, *angles)):
            run.add_row(_row(axis, angle, smaller))
        run.report(len(run.rows), len(AXES) * len(angles), name)
    errors = {name: np.array([moment_error(axis, angle) for angle in _CURVE]) for axis, name in enumerate(AXES)}
    run.add_figure(contact_error_figure(np.array(_CURVE), errors, _TITLE), run.name)


def moments(axis: int, angle: float) -> tuple[float, float, float]:
    """Return the moment about an axis by the closed form, summed over the sole, and of the springs, [N·m].

    Args:
        axis: 0, 1 or 2.
        angle: Of the sole about it, [deg].
    """
    turn = np.zeros(3)
    turn[axis] = math.radians(angle)
    rotation, zero = so3.exp(turn), np.zeros(3)
    exact = _EXACT.wrench(SoleMotion(zero, rotation, np.zeros(6)), _AT_REST)
    linear = _LINEAR.wrench(zero, rotation, np.zeros(6))
    return float(exact[3 + axis]), float(_summed_moment(rotation)[axis]), float(linear[3 + axis])


def moment_error(axis: int, angle: float) -> float:
    """Return exact less linear moment, [N·m]."""
    exact, _, linear = moments(axis, angle)
    return exact - linear


def _summed_moment(rotation: NDArray) -> NDArray:
    """Sum over four points, which is exact for what is quadratic over the rectangle (Gauss)."""
    total = np.zeros(3)
    for x in (-1.0, 1.0):
        for y in (-1.0, 1.0):
            point = np.array([x * LENGTH, y * WIDTH, 0.0]) / (2.0 * math.sqrt(3.0))
            lever = rotation @ point
            total += so3.cross(lever, GROUND.stiffness * (point - lever))
    area = LENGTH * WIDTH * abs(float(rotation[2, 2]))
    return 0.25 * area * total


def _row(axis: int, angle: float, smaller: float) -> Row:
    """Return the row of one angle [deg] beside the one before it."""
    exact, summed, linear = moments(axis, angle)
    is_equal = abs(exact - summed) <= _TOLERANCE * abs(summed)
    grows = exact - linear > moment_error(axis, smaller)
    return {
        "axis": AXES[axis],
        "angle_deg": angle,
        "exact_nm": exact,
        "linear_nm": linear,
        "error_ratio": (exact - linear) / abs(exact),
        "paper": "figure only" if AXES[axis] == "yaw" else "alike",
        "value": exact - linear,
        "outcome": "met" if is_equal and grows else "failed",
        "reason": f"the sum over the sole is {summed:.6g} N·m, the error {'grows' if grows else 'does not grow'}",
    }


_SIZE = (6.0, 3.4)  # [inch]
_COLOURS = (COM, ZMP, DCM)


def contact_error_figure(angles: NDArray, errors: Mapping[str, NDArray], title: str) -> Figure:
    """Return one curve an axis.

    Args:
        angles: [deg], shape (k,).
        errors: Name of the axis to the error of the moment about it, [N·m], shape (k,).
        title: Above all.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axis = figure.subplots()
        for colour, (name, values) in zip(_COLOURS, errors.items(), strict=True):
            axis.plot(angles, values, color=colour, label=name)
        axis.set_xlabel("angle of the sole [°]", loc="right")
        axis.set_title("exact less linear moment about the same axis [N·m]")
        axis.legend(loc="upper left")
        return figure


EXPERIMENTS = (
    Experiment(
        "figure_8_3",
        "Romualdi, thesis, chapter 8, figure 8.3",
        "What rotational springs miss of a sole that turns on soft ground.",
        run_figure_8_3,
        "error of the moment [N·m]",
        own_robots=(),
    ),
)
