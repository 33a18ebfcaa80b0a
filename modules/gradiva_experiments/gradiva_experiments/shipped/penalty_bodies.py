"""Penalty contact of a bouncing ball and of a brick on a ramp, beside its paper (Rengifo et al., 2009)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray
from gradiva.contacts import PenaltyConfig
from gradiva.simulation import LooseBody, PenaltyWorld
from gradiva.telemetry import STYLE
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row


def checked_row(inputs: dict[str, Any], quantity: str, paper: float, value: float, tolerance: float) -> Row:
    """Return a row that is met when the value is that of the paper.

    Args:
        inputs: What was chosen.
        quantity: Its name and unit.
        paper: What the paper states, or what its equations give.
        value: Ours.
        tolerance: Largest difference, in the unit of the quantity.
    """
    is_met = abs(value - paper) <= tolerance
    return {
        **inputs,
        "quantity": quantity,
        "paper": paper,
        "value": value,
        "outcome": "met" if is_met else "failed",
        "reason": "" if is_met else f"{abs(value - paper):.3g} away, {tolerance:.3g} is allowed",
    }


_WIDTH, _PANEL_HEIGHT = 9.0, 2.6  # [inch]


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One line.

    Attributes:
        name: For the legend.
        times: [s], shape (t,).
        values: Shape (t,).
    """

    name: str
    times: NDArray
    values: NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Lines that share their axes.

    Attributes:
        title: Quantity and unit.
        traces: The lines.
        limits: Of the vertical axis, which then shows a part of the lines and says so; None: what the lines need.
    """

    title: str
    traces: Sequence[Trace]
    limits: tuple[float, float] | None = None

    @property
    def names(self) -> list[str]:
        """Return the names of the lines."""
        return [trace.name for trace in self.traces]


def traces_figure(title: str, panels: Sequence[Panel]) -> Figure:
    """Return a figure; a legend stands beside each panel whose lines are called otherwise than those above."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _PANEL_HEIGHT * len(panels)), layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        named: list[str] = []
        for axis, panel in zip(axes, panels, strict=True):
            _draw(axis, panel)
            if panel.names != named:
                axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
            named = panel.names
        axes[-1].set_xlabel("time [s]", loc="right")
        return figure


def _draw(axis: Axes, panel: Panel) -> None:
    for trace in panel.traces:
        axis.plot(trace.times, trace.values, label=trace.name)
    axis.set_title(panel.title if panel.limits is None else f"{panel.title}, enlarged")
    if panel.limits is not None:
        axis.set_ylim(*panel.limits)


# -- a bouncing ball ---------------------------------------------------------------------------------------------------

DAMPING = 5000.0  # [1/s]
STIFFNESSES = (0.0, 1.0, 5.0)  # [1/s²]
HEIGHT = 1.0  # [m] the paper's impact is at 0.45 s
BALL_MASS = 1.0  # [kg] the paper's ball rests on 9.81 N
GRAVITY = 9.81  # [m/s²]
BALL_DURATION = 2.4  # [s]
_SPEED = math.sqrt(2.0 * GRAVITY * HEIGHT)  # [m/s] at the impact
_IMPACT = math.sqrt(2.0 * HEIGHT / GRAVITY)  # [s]
_IMPACT_WINDOW = 0.004  # [s] twenty time constants of the braking
_FINE, _COARSE = 1e-6, 2e-4  # [s] in the impact and elsewhere, where a step stops what is slow
_QUICK_FINE = 5e-6  # [s]


@dataclass(frozen=True, slots=True, eq=False)
class BallMotion:
    """Motion of a ball.

    Attributes:
        times: [s], shape (t,).
        heights: Of its lowest point, [m], shape (t,).
        forces: Of the ground, [N], shape (t,).
    """

    times: NDArray
    heights: NDArray
    forces: NDArray


def run_penalty_ball(run: ExperimentRun) -> None:
    """Drop the ball with each stiffness of the paper."""
    motions = {}
    for count, stiffness in enumerate(STIFFNESSES):
        run.report(count, len(STIFFNESSES), f"k_p = {stiffness:g}")
        motions[stiffness] = motion = drop_ball(stiffness, run.options.either(_FINE, _QUICK_FINE))
        for row in ball_rows_of(stiffness, motion):
            run.add_row(row)
    run.add_figure(_figure_ball(motions), run.name)
    run.report(len(STIFFNESSES), len(STIFFNESSES), "figures are written")


def drop_ball(stiffness: float, fine: float = _FINE, duration: float = BALL_DURATION) -> BallMotion:
    """Let the ball fall and rest for ``duration`` [s]; steps of ``fine`` [s] during the impact."""
    gains = PenaltyConfig(stiffness, DAMPING, rest_penetration=0.0)
    world = PenaltyWorld(LooseBody.ball(BALL_MASS), gains, 1.0, np.array([0.0, 0.0, -GRAVITY]))
    world.place(np.array([0.0, 0.0, HEIGHT]), np.zeros(3))
    samples = []
    while world.time < duration - 0.5 * _COARSE:
        is_impact = _IMPACT - 2.0 * _COARSE < world.time < _IMPACT + _IMPACT_WINDOW
        world.advance(fine if is_impact else _COARSE)
        samples.append((world.time, world.position[2], world.force[2]))
    return BallMotion(*np.array(samples).T)


def ball_rows_of(stiffness: float, motion: BallMotion) -> list[Row]:
    r"""Return impact, penetration and rest beside the paper's equations.

    .. math:: f(t_i) = m g + m k_v |\dot p(t_i)|, \quad |p| \le |\dot p(t_i)| / k_v, \quad f = m g + m k_p |p|

    For :math:`k_p > 0` the penetration vanishes a quarter of a period :math:`2 \pi / \sqrt{k_p}` after the impact.
    """
    depth = _SPEED / DAMPING
    after = int(np.searchsorted(motion.times, _IMPACT + _IMPACT_WINDOW))
    inputs = {"k_p": stiffness, "k_v": DAMPING}
    kept = depth if stiffness == 0.0 else 0.0
    peak = BALL_MASS * (GRAVITY + DAMPING * _SPEED)
    resting = BALL_MASS * (GRAVITY + stiffness * depth)
    return [
        checked_row(inputs, "force at the impact [N]", peak, float(motion.forces.max()), 0.01 * peak),
        checked_row(inputs, "largest penetration [mm]", 1e3 * depth, -1e3 * float(motion.heights.min()), 0.02),
        checked_row(inputs, "force after the impact [N]", resting, float(motion.forces[after]), 2e-4),
        checked_row(inputs, "penetration at 2.4 s [mm]", 1e3 * kept, -1e3 * float(motion.heights[-1]), 0.02),
    ]


def _figure_ball(motions: dict[float, BallMotion]) -> Figure:
    """The whole fall, then the parts of it that the paper draws."""
    heights, forces = [], []
    for stiffness, motion in motions.items():
        name = f"$k_p$ = {stiffness:g}"
        heights.append(Trace(name, motion.times, 1e3 * motion.heights))
        forces.append(Trace(name, motion.times, motion.forces))
    return traces_figure(
        f"Bouncing ball, $k_v$ = {DAMPING:g}",
        [
            Panel("height [mm]", heights),
            Panel("height [mm]", heights, (-1.0, 0.5)),
            Panel("normal force [N]", forces),
            Panel("normal force [N]", forces, (9.809, 9.816)),
        ],
    )


# -- a brick on a ramp -------------------------------------------------------------------------------------------------

SLOPE = math.radians(20.0)  # sticks for μ above 0.364
FRICTIONS = (0.25, 0.35, 0.38, 0.45, 0.6, 0.9)  # [-]
_QUICK_FRICTIONS = (0.25, 0.45)
SPEED = 0.5  # [m/s] at the start, down the ramp
BRICK_DURATION, _QUICK_DURATION = 4.0, 1.0  # [s] the slowest to stop takes 3.4 s
BRICK_MASS = 2.0  # [kg]
SIZE = (0.2, 0.1, 0.05)  # [m]
GAINS = PenaltyConfig(stiffness=500.0, damping=250.0, rest_penetration=1e-4)  # the paper's for its biped
_STEP = 1e-3  # [s]


@dataclass(frozen=True, slots=True, eq=False)
class SlidingMotion:
    """Motion of a brick.

    Attributes:
        times: [s], shape (t,).
        speeds: Down the ramp, [m/s], shape (t,).
        frictions: Force up the ramp, [N], shape (t,).
    """

    times: NDArray
    speeds: NDArray
    frictions: NDArray


def run_penalty_ramp(run: ExperimentRun) -> None:
    """Let the brick slide with frictions below and above the angle of the ramp."""
    frictions, duration = (_QUICK_FRICTIONS, _QUICK_DURATION) if run.options.quick else (FRICTIONS, BRICK_DURATION)
    motions = {}
    for count, friction in enumerate(frictions):
        run.report(count, len(frictions), f"μ = {friction:g}")
        motions[friction] = slide(friction, duration)
        for row in brick_rows_of(friction, motions[friction]):
            run.add_row(row)
    run.add_figure(_figure_brick(motions), run.name)
    run.report(len(frictions), len(frictions), "figures are written")


def slide(friction: float, duration: float = BRICK_DURATION) -> SlidingMotion:
    """Push the brick down the ramp for ``duration`` [s]; x points down, z away from it."""
    gravity = GRAVITY * np.array([math.sin(SLOPE), 0.0, -math.cos(SLOPE)])
    world = PenaltyWorld(LooseBody.brick(BRICK_MASS, SIZE), GAINS, friction, gravity)
    world.place(np.array([0.0, 0.0, 0.5 * SIZE[2] - GAINS.rest_penetration]), np.array([SPEED, 0.0, 0.0]))
    samples = []
    for _ in range(round(duration / _STEP)):
        world.advance(_STEP)
        samples.append((world.time, world.velocity[0], -world.force[0]))
    return SlidingMotion(*np.array(samples).T)


def brick_rows_of(friction: float, motion: SlidingMotion) -> list[Row]:
    r"""Return speed and friction at the end beside Coulomb's.

    The brick sticks for :math:`\mu \cos\alpha > \sin\alpha`; then friction is :math:`m g \sin\alpha`, else
    :math:`\mu m g \cos\alpha`. The paper gives no numbers, these are its equations 5 to 9.
    """
    weight, limit = BRICK_MASS * GRAVITY * math.sin(SLOPE), friction * BRICK_MASS * GRAVITY * math.cos(SLOPE)
    sticks = limit > weight
    inputs = {"friction": friction, "slope_deg": math.degrees(SLOPE), "sticks": sticks}
    slid = 0.0 if sticks else SPEED + (weight - limit) / BRICK_MASS * float(motion.times[-1])
    rows = [
        checked_row(inputs, "speed at the end [m/s]", slid, float(motion.speeds[-1]), 1e-3),
        checked_row(inputs, "friction at the end [N]", min(weight, limit), float(motion.frictions[-1]), 1e-3),
    ]
    if sticks:
        stop = SPEED * BRICK_MASS / (limit - weight)
        stopped = float(motion.times[int(np.argmax(motion.speeds < 1e-3 * SPEED))])
        rows.append(checked_row(inputs, "time to stop [s]", stop, stopped, 0.05))
    return rows


def _figure_brick(motions: dict[float, SlidingMotion]) -> Figure:
    speeds = [Trace(f"μ = {friction:g}", motion.times, motion.speeds) for friction, motion in motions.items()]
    forces = [Trace(f"μ = {friction:g}", motion.times, motion.frictions) for friction, motion in motions.items()]
    return traces_figure(
        f"Brick on a ramp of {math.degrees(SLOPE):.0f}°, sticks for μ > {math.tan(SLOPE):.3f}",
        [
            Panel("speed [m/s]", speeds),
            Panel("speed [m/s]", speeds, (-0.05, 1.1 * SPEED)),
            Panel("friction [N]", forces),
        ],
    )


EXPERIMENTS = (
    Experiment(
        "penalty_ball",
        "Rengifo et al., A penalty-based approach for contact forces computation in bipedal robots, figures 4 and 5",
        "A ball falls on a penalty contact: impact, penetration, rest.",
        run_penalty_ball,
        own_robots=(),
    ),
    Experiment(
        "penalty_ramp",
        "Rengifo et al., A penalty-based approach for contact forces computation in bipedal robots, section II.B",
        "A brick slides down a ramp, or sticks.",
        run_penalty_ramp,
        own_robots=(),
    ),
)
