"""A brick that slides down a ramp, or not (Rengifo et al., 2009, II.B)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from gradiva.common import NDArray
from gradiva.contacts import PenaltyConfig
from gradiva.experiments.experiment import ExperimentRun, Row
from gradiva.experiments.penalty.checked_row import checked_row
from gradiva.experiments.penalty.traces_figure import Panel, Trace, traces_figure
from gradiva.simulation import LooseBody, PenaltyWorld

SLOPE = math.radians(20.0)  # sticks for μ above 0.364
FRICTIONS = (0.25, 0.35, 0.38, 0.45, 0.6, 0.9)  # [-]
_QUICK_FRICTIONS = (0.25, 0.45)
SPEED = 0.5  # [m/s] at the start, down the ramp
DURATION, _QUICK_DURATION = 4.0, 1.0  # [s] the slowest to stop takes 3.4 s
MASS = 2.0  # [kg]
SIZE = (0.2, 0.1, 0.05)  # [m]
GRAVITY = 9.81  # [m/s²]
GAINS = PenaltyConfig(stiffness=500.0, damping=250.0, rest_penetration=1e-4)  # the paper's for its biped
_STEP = 1e-3  # [s]


@dataclass(frozen=True, slots=True, eq=False)
class SlidingMotion:
    """What a brick did.

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
    frictions, duration = (_QUICK_FRICTIONS, _QUICK_DURATION) if run.options.quick else (FRICTIONS, DURATION)
    motions = {}
    for count, friction in enumerate(frictions):
        run.report(count, len(frictions), f"μ = {friction:g}")
        motions[friction] = slide(friction, duration)
        for row in rows_of(friction, motions[friction]):
            run.add_row(row)
    run.add_figure(_figure(motions), run.name)
    run.report(len(frictions), len(frictions), "drawn")


def slide(friction: float, duration: float = DURATION) -> SlidingMotion:
    """Push the brick down the ramp for ``duration`` [s]; x points down, z away from it."""
    gravity = GRAVITY * np.array([math.sin(SLOPE), 0.0, -math.cos(SLOPE)])
    world = PenaltyWorld(LooseBody.brick(MASS, SIZE), GAINS, friction, gravity)
    world.place(np.array([0.0, 0.0, 0.5 * SIZE[2] - GAINS.rest_penetration]), np.array([SPEED, 0.0, 0.0]))
    samples = []
    for _ in range(round(duration / _STEP)):
        world.advance(_STEP)
        samples.append((world.time, world.velocity[0], -world.force[0]))
    return SlidingMotion(*np.array(samples).T)


def rows_of(friction: float, motion: SlidingMotion) -> list[Row]:
    r"""Return speed and friction at the end beside Coulomb's.

    The brick sticks for :math:`\mu \cos\alpha > \sin\alpha`; then friction is :math:`m g \sin\alpha`, else
    :math:`\mu m g \cos\alpha`. The paper gives no numbers, these are its equations 5 to 9.
    """
    weight, limit = MASS * GRAVITY * math.sin(SLOPE), friction * MASS * GRAVITY * math.cos(SLOPE)
    sticks = limit > weight
    inputs = {"friction": friction, "slope_deg": math.degrees(SLOPE), "sticks": sticks}
    slid = 0.0 if sticks else SPEED + (weight - limit) / MASS * float(motion.times[-1])
    rows = [
        checked_row(inputs, "speed at the end [m/s]", slid, float(motion.speeds[-1]), 1e-3),
        checked_row(inputs, "friction at the end [N]", min(weight, limit), float(motion.frictions[-1]), 1e-3),
    ]
    if sticks:
        stop = SPEED * MASS / (limit - weight)
        stopped = float(motion.times[int(np.argmax(motion.speeds < 1e-3 * SPEED))])
        rows.append(checked_row(inputs, "time to stop [s]", stop, stopped, 0.05))
    return rows


def _figure(motions: dict[float, SlidingMotion]) -> Figure:
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
