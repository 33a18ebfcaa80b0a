r"""How the DCM gives way to the legs that swing.

With :math:`\delta = M a` of the swinging foot (``leg_momentum``), the DCM of a single support is that of a pendulum
whose legs have no mass, plus the solution :math:`d` of :math:`\dot d = \zeta (d + \delta)` that vanishes at touch-down:

.. math:: d = q + E e^{\zeta (t - t_e)}, \qquad q = -\sum_k \frac{\delta^{(k)}}{\zeta^k}

:math:`\delta` is a cubic on either side of the apex of the swing, so :math:`q` is one as well. :math:`d` is continuous;
its rate jumps where the foot's acceleration does: at an apex off the middle of a minimum-acceleration swing. M is taken
for the heading in the middle of the swing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from gradiva.common import NDArray
from gradiva.planner.contact_phase import ContactPhase
from gradiva.planner.footsteps import GaitSchedule
from gradiva.planner.planner_config import PlannerConfig


@dataclass(frozen=True, slots=True, eq=False)
class SwingResponse:
    """Of N single supports, in two pieces each: until the apex of the swing, and from it on.

    Attributes:
        rate: ζ, [1/s].
        durations: Of the pieces, [s], shape (N, 2).
        polynomials: q of each piece, lowest power first, shape (N, 2, 4, 2).
        growth: E of each piece, at its end t_e, [m], shape (N, 2, 2).
        at_lift_off: d, [m], shape (N, 2).
        push: δ at lift-off and at touch-down, [m], shape (N, 2, 2).
    """

    rate: float
    durations: NDArray
    polynomials: NDArray
    growth: NDArray
    at_lift_off: NDArray
    push: NDArray

    @classmethod
    def of(cls, phases: Iterable[ContactPhase], config: PlannerConfig) -> Self:
        """Return the response to the swings among ``phases``; nothing where the plan knows of no legs."""
        pieces = [_push(phase, config) for phase in phases if phase.swing is not None]
        durations = np.array([piece[0] for piece in pieces]).reshape(-1, 2)
        pushes = np.array([piece[1] for piece in pieces]).reshape(-1, 2, 4, 2)
        zeta = config.natural_frequency
        polynomials = -pushes
        for _ in range(3):
            polynomials = np.diag([1.0, 2.0, 3.0], 1) / zeta @ polynomials - pushes
        powers = durations[..., None] ** np.arange(4.0)
        ends = np.einsum("npk,npkc->npc", powers, polynomials)
        decays = np.exp(-zeta * durations)[..., None]
        at_apex = polynomials[:, 1, 0] - decays[:, 1] * ends[:, 1]
        growth = np.stack((at_apex - ends[:, 0], -ends[:, 1]), axis=1)
        at_lift_off = polynomials[:, 0, 0] + decays[:, 0] * growth[:, 0]
        landing = np.einsum("nk,nkc->nc", powers[:, 1], pushes[:, 1])
        return cls(zeta, durations, polynomials, growth, at_lift_off, np.stack((pushes[:, 0, 0], landing), axis=1))

    def at_boundaries(self, schedule: GaitSchedule) -> NDArray:
        """Return by how much the DCM gives way where each step begins for it, [m], shape (N, 2)."""
        begin = np.concatenate(([schedule.start_time], schedule.boundaries[:-1]))[: len(schedule.lift_offs)]
        return np.exp(-self.rate * (schedule.lift_offs - begin))[:, None] * self.at_lift_off


def _push(phase: ContactPhase, config: PlannerConfig) -> tuple[NDArray, NDArray]:
    """Return the durations of the pieces of a swing, and δ in them, shape (2, 4, 2)."""
    swing, side = phase.swing, phase.swing_side
    assert swing is not None
    assert side is not None
    if not config.leg_momentum.is_planned:
        return swing.pieces, np.zeros((2, 4, 2))
    heading = phase.heading_at(0.5 * (swing.start_time + swing.end_time))
    return swing.pieces, swing.accelerations() @ config.leg_momentum.matrix(side, heading).T
