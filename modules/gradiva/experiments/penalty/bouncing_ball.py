"""A ball that falls on a penalty contact (Rengifo et al., 2009, II.A, figures 4 and 5)."""

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

DAMPING = 5000.0  # [1/s]
STIFFNESSES = (0.0, 1.0, 5.0)  # [1/s²]
HEIGHT = 1.0  # [m] the paper's impact is at 0.45 s
MASS = 1.0  # [kg] the paper's ball rests on 9.81 N
GRAVITY = 9.81  # [m/s²]
DURATION = 2.4  # [s]
_SPEED = math.sqrt(2.0 * GRAVITY * HEIGHT)  # [m/s] at the impact
_IMPACT = math.sqrt(2.0 * HEIGHT / GRAVITY)  # [s]
_IMPACT_WINDOW = 0.004  # [s] twenty time constants of the braking
_FINE, _COARSE = 1e-6, 2e-4  # [s] in the impact and elsewhere, where a step stops what is slow
_QUICK_FINE = 5e-6  # [s]


@dataclass(frozen=True, slots=True, eq=False)
class BallMotion:
    """What a ball did.

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
        motions[stiffness] = motion = drop_ball(stiffness, _QUICK_FINE if run.options.quick else _FINE)
        for row in rows_of(stiffness, motion):
            run.add_row(row)
    run.add_figure(_figure(motions), run.name)
    run.report(len(STIFFNESSES), len(STIFFNESSES), "drawn")


def drop_ball(stiffness: float, fine: float = _FINE, duration: float = DURATION) -> BallMotion:
    """Let the ball fall and rest for ``duration`` [s]; steps of ``fine`` [s] during the impact."""
    gains = PenaltyConfig(stiffness, DAMPING, rest_penetration=0.0)
    world = PenaltyWorld(LooseBody.ball(MASS), gains, 1.0, np.array([0.0, 0.0, -GRAVITY]))
    world.place(np.array([0.0, 0.0, HEIGHT]), np.zeros(3))
    samples = []
    while world.time < duration - 0.5 * _COARSE:
        is_impact = _IMPACT - 2.0 * _COARSE < world.time < _IMPACT + _IMPACT_WINDOW
        world.advance(fine if is_impact else _COARSE)
        samples.append((world.time, world.position[2], world.force[2]))
    return BallMotion(*np.array(samples).T)


def rows_of(stiffness: float, motion: BallMotion) -> list[Row]:
    r"""Return impact, penetration and rest beside the paper's equations.

    .. math:: f(t_i) = m g + m k_v |\dot p(t_i)|, \quad |p| \le |\dot p(t_i)| / k_v, \quad f = m g + m k_p |p|

    For :math:`k_p > 0` the penetration vanishes a quarter of a period :math:`2 \pi / \sqrt{k_p}` after the impact.
    """
    depth = _SPEED / DAMPING
    after = int(np.searchsorted(motion.times, _IMPACT + _IMPACT_WINDOW))
    inputs = {"k_p": stiffness, "k_v": DAMPING}
    kept = depth if stiffness == 0.0 else 0.0
    peak = MASS * (GRAVITY + DAMPING * _SPEED)
    resting = MASS * (GRAVITY + stiffness * depth)
    return [
        checked_row(inputs, "force at the impact [N]", peak, float(motion.forces.max()), 0.01 * peak),
        checked_row(inputs, "largest penetration [mm]", 1e3 * depth, -1e3 * float(motion.heights.min()), 0.02),
        checked_row(inputs, "force after the impact [N]", resting, float(motion.forces[after]), 2e-4),
        checked_row(inputs, "penetration at 2.4 s [mm]", 1e3 * kept, -1e3 * float(motion.heights[-1]), 0.02),
    ]


def _figure(motions: dict[float, BallMotion]) -> Figure:
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
