"""Segments of the DCM and the CoM: where the steps end, how the DCM goes there, and its response to legs that swing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from gradiva.common import NDArray
from gradiva.contacts import ContactPlane
from gradiva.planner.footsteps import GaitSchedule, PlanningState
from gradiva.planner.planner_config import LAST_STEP_ALPHA, PlannerConfig
from gradiva.planner.walking_plan import ContactPhase

_CHOICES = 7  # durations of a double support that are tried
_SAMPLES = np.linspace(0.0, 1.0, 11)  # of the ZMP over it


@dataclass(frozen=True, slots=True, eq=False)
class DcmEnd:
    """State of the DCM in which the last double support of a part of a plan ends.

    Attributes:
        boundary: DCM at the end of the last step for the recursion, [m], shape (2,).
        position: DCM at the end of the double support, [m], shape (2,).
        velocity: [m/s], shape (2,).
    """

    boundary: NDArray
    position: NDArray
    velocity: NDArray


@dataclass(frozen=True, slots=True, eq=False)
class PendulumState:
    """DCM and CoM from which a trajectory begins.

    Attributes:
        time: [s].
        dcm_position: [m], shape (2,).
        com_position: [m], shape (3,).
        plane: Contact plane.
    """

    time: float
    dcm_position: NDArray
    com_position: NDArray
    plane: ContactPlane


def segments(
    schedule: GaitSchedule, start: PlanningState, ends: NDArray, swings: SwingResponse, end: DcmEnd | None
) -> tuple[NDArray, NDArray]:
    r"""Return p, lowest power first, shape (m, 4, 2), and E, shape (m, 2), of all segments.

    Double support, the two pieces of a swing, and so on; then the last double support and the rest.
    """
    zeta, supports = swings.rate, schedule.supports
    count = 3 * len(supports) + 2
    polynomials, growth = np.zeros((count, 4, 2)), np.zeros((count, 2))
    landing = np.exp(zeta * (schedule.touch_downs - schedule.boundaries))[:, None] * (ends - supports)
    at_apex, lifting = (
        np.exp(-zeta * before)[:, None] * landing for before in (swings.durations[:, 1], swings.durations.sum(axis=1))
    )
    for piece, grown in enumerate((at_apex, landing)):
        segments = slice(1 + piece, -1, 3)
        polynomials[segments] = swings.polynomials[:, piece]
        polynomials[segments, 0] += supports
        growth[segments] = swings.growth[:, piece] + grown
    lifting = lifting + swings.at_lift_off
    position, velocity = (schedule.middle, np.zeros(2)) if end is None else (end.position, end.velocity)
    polynomials[:-1:3] = cubic_coefficients(
        np.diff(schedule.phase_times)[::2],
        np.vstack((start.dcm_position, supports + landing)),
        np.vstack((start.dcm_velocity, zeta * (landing + swings.push[:, 1]))),
        np.vstack((supports + lifting, position)),
        np.vstack((zeta * (lifting + swings.push[:, 0]), velocity)),
    )
    polynomials[-1, 0] = schedule.middle
    return polynomials, growth


def segment_matrices(polynomials: NDArray, growth: NDArray, zeta: float) -> NDArray:
    """Return C of all segments, shape (m, 6, 10), the CoM's decaying part still zero."""
    derivative = np.diag([1.0, 2.0, 3.0], 1)
    one = np.eye(4)
    pendulum = one - derivative / zeta @ (one - derivative / zeta @ (one - derivative / zeta))
    matrices = np.zeros((len(polynomials), 6, 10))
    matrices[:, :4, 0:2] = polynomials
    matrices[:, :4, 2:4] = derivative @ polynomials
    matrices[:, :4, 4:6] = pendulum @ polynomials
    matrices[:, :4, 6:8] = derivative @ pendulum @ polynomials
    matrices[:, :4, 8:10] = derivative @ derivative @ polynomials
    matrices[:, 4] = np.hstack((growth, zeta * growth, 0.5 * growth, 0.5 * zeta * growth, zeta**2 * growth))
    return matrices


def chain_com(matrices: NDArray, rates: NDArray, durations: NDArray, zeta: float, com_position: NDArray) -> None:
    """Choose K of each segment so that the CoM is continuous, from ``com_position`` on."""
    begin = matrices[:, 0, 4:6] + np.exp(-rates * durations)[:, None] * matrices[:, 4, 4:6]
    powers = np.stack((np.ones_like(durations), durations, durations**2, durations**3), axis=1)
    end = np.einsum("mp,mpc->mc", powers, matrices[:, :4, 4:6]) + matrices[:, 4, 4:6]
    decays = np.exp(-zeta * durations)
    com = com_position
    for index in range(len(matrices)):
        K = com - begin[index]
        matrices[index, 5, 4:6] = K
        matrices[index, 5, 6:8] = -zeta * K
        com = end[index] + decays[index] * K


Segments = tuple[NDArray, NDArray, NDArray, NDArray]
"""Starts, durations, rates and matrices of a `PendulumTrajectory`."""


def landing_segments(start: PendulumState, touch_down: float, landing: NDArray, swing: SwingResponse) -> Segments:
    r"""Return the segments over one constant ZMP that lead from ``start`` to a DCM ``landing`` at ``touch_down`` [s].

    :math:`z = (\xi_0 - d_0 - e^{-\zeta (t_d - t_0)} \xi_d) / (1 - e^{-\zeta (t_d - t_0)})`, with the response
    :math:`d` to the swinging leg, which begins at the start or later.
    """
    zeta, duration = swing.rate, touch_down - start.time
    pieces = swing.durations[0]
    wait = max(0.0, duration - float(pieces.sum()))  # until lift-off
    decay, response = math.exp(-zeta * duration), math.exp(-zeta * wait) * swing.at_lift_off[0]
    zmp = (start.dcm_position - response - decay * landing) / (1.0 - decay)
    durations = np.array((wait, *pieces))
    polynomials, growth = np.zeros((len(durations), 4, 2)), np.empty((len(durations), 2))
    polynomials[1:] = swing.polynomials[0]
    polynomials[:, 0] += zmp
    left = duration - np.cumsum(durations)  # until touch-down at the end of each segment
    growth[:] = np.exp(-zeta * left)[:, None] * (landing - zmp)
    growth[0] += swing.at_lift_off[0]
    growth[1:] += swing.growth[0]
    is_there = durations > 0.0
    matrices = segment_matrices(polynomials[is_there], growth[is_there], zeta)
    durations = durations[is_there]
    starts, rates = start.time + np.cumsum(durations) - durations, np.full(len(durations), zeta)
    chain_com(matrices, rates, durations, zeta, start.com_position[:2])
    return starts, durations, rates, matrices


def massless_landing_segment(start: PendulumState, touch_down: float, landing: NDArray, zeta: float) -> Segments:
    """Return the same as `landing_segments` for massless legs, in a fifth of the time."""
    duration = touch_down - start.time
    decay = math.exp(-zeta * duration)
    (x, y), (end_x, end_y) = start.dcm_position.tolist(), landing.tolist()
    com_x, com_y, _ = start.com_position.tolist()
    zx, zy = (x - decay * end_x) / (1.0 - decay), (y - decay * end_y) / (1.0 - decay)
    gx, gy = end_x - zx, end_y - zy
    hx, hy, square = 0.5 * gx, 0.5 * gy, zeta * zeta
    kx, ky = com_x - zx - decay * hx, com_y - zy - decay * hy
    zeros = (0.0,) * 10
    rows = (
        (zx, zy, 0.0, 0.0, zx, zy, 0.0, 0.0, 0.0, 0.0),
        zeros,
        zeros,
        zeros,
        (gx, gy, zeta * gx, zeta * gy, hx, hy, zeta * hx, zeta * hy, square * gx, square * gy),
        (0.0, 0.0, 0.0, 0.0, kx, ky, -zeta * kx, -zeta * ky, 0.0, 0.0),
    )
    return np.array((start.time,)), np.array((duration,)), np.array((zeta,)), np.array((rows,))


def ends_of_steps(
    schedule: GaitSchedule,
    decays: NDArray,
    last_step_alpha: float,
    swing: NDArray | None = None,
    end: DcmEnd | None = None,
) -> NDArray:
    r"""Return the DCM at the step boundaries by the backward recursion (thesis eq. 10.1.17, 10.2.3).

    .. math:: \xi_N^{eos} = \alpha z_{N+1} + (1 - \alpha) z_N, \qquad
              \xi_{i-1}^{eos} = z_i + \delta_i (\xi_i^{eos} - z_i)

    Args:
        schedule: Of N steps.
        decays: :math:`\delta_i = \exp(-\int \sigma\, dt)` over step i, shape (N,); that of the first is not used.
        last_step_alpha: α.
        swing: Response of the DCM to the swinging leg at the beginning of each step, [m], shape (N, 2).
        end: Its boundary is the last one, where other steps follow.

    Returns:
        World, [m], shape (N, 2).
    """
    supports = schedule.supports
    ends = np.empty_like(supports)
    if len(ends) == 0:
        return ends
    if end is None:
        ends[-1] = last_step_alpha * schedule.last_landing + (1.0 - last_step_alpha) * supports[-1]
    else:
        ends[-1] = end.boundary
    for i in range(len(ends) - 1, 0, -1):
        ends[i - 1] = supports[i] + decays[i] * (ends[i] - supports[i])
        if swing is not None:
            ends[i - 1] += swing[i]
    return ends


def cubic_coefficients(
    duration: NDArray, position: NDArray, velocity: NDArray, end_position: NDArray, end_velocity: NDArray
) -> NDArray:
    """Return cubics that match position and velocity at both ends (thesis eq. 10.1.21 to 10.1.23).

    Args:
        duration: Shape (k,), [s].
        position: At the beginning, shape (k, 2).
        velocity: The same, [m/s].
        end_position: At the end.
        end_velocity: The same, [m/s].

    Returns:
        Lowest power first, shape (k, 4, 2).
    """
    T = duration[:, None]
    way = end_position - position
    a2 = (3.0 * way - T * (2.0 * velocity + end_velocity)) / T**2
    a3 = (T * (velocity + end_velocity) - 2.0 * way) / T**3
    return np.stack((position, velocity, a2, a3), axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class SwingResponse:
    r"""Response of the DCM to the legs that swing, in N single supports.

    With :math:`\delta = M a` of the swinging foot (:class:`LegMomentumConfig`), the DCM of a single support is that of
    a pendulum with massless legs, plus the solution :math:`d` of :math:`\dot d = \zeta (d + \delta)` that vanishes at
    touch-down:

    .. math:: d = q + E e^{\zeta (t - t_e)}, \qquad q = -\sum_k \frac{\delta^{(k)}}{\zeta^k}

    :math:`\delta` is a cubic on either side of the apex of the swing, two pieces (of a retargeted one between the
    levels where its height rests), so :math:`q` is one as well.
    :math:`d` is continuous; its rate jumps where the foot's acceleration does: at an apex off the middle of a
    minimum-acceleration swing. M is taken for the heading in the middle of the swing.

    Attributes:
        rate: ζ, [1/s].
        durations: Of the k pieces, [s], shape (N, k).
        polynomials: q of each piece, lowest power first, shape (N, k, 4, 2).
        growth: E of each piece, at its end t_e, [m], shape (N, k, 2).
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
        """Return the response to the swings among ``phases``; zero where the plan has massless legs."""
        pieces = [_push(phase, config) for phase in phases if phase.swing is not None]
        count = len(pieces[0][0]) if pieces else 2
        durations = np.array([piece[0] for piece in pieces]).reshape(-1, count)
        pushes = np.array([piece[1] for piece in pieces]).reshape(-1, count, 4, 2)
        zeta = config.natural_frequency
        polynomials = -pushes
        for _ in range(3):
            polynomials = np.diag([1.0, 2.0, 3.0], 1) / zeta @ polynomials - pushes
        powers = durations[..., None] ** np.arange(4.0)
        ends = np.einsum("npk,npkc->npc", powers, polynomials)
        decays = np.exp(-zeta * durations)[..., None]
        growth, after = -ends, np.zeros_like(ends[:, 0])  # the response where the next piece begins
        for piece in range(count - 1, -1, -1):
            growth[:, piece] += after
            after = polynomials[:, piece, 0] + decays[:, piece] * growth[:, piece]
        landing = np.einsum("nk,nkc->nc", powers[:, -1], pushes[:, -1])
        return cls(zeta, durations, polynomials, growth, after, np.stack((pushes[:, 0, 0], landing), axis=1))

    def at_boundaries(self, schedule: GaitSchedule) -> NDArray:
        """Return the response where each step begins for the DCM, [m], shape (N, 2)."""
        begin = np.concatenate(([schedule.start_time], schedule.boundaries[:-1]))[: len(schedule.lift_offs)]
        return np.exp(-self.rate * (schedule.lift_offs - begin))[:, None] * self.at_lift_off


def _push(phase: ContactPhase, config: PlannerConfig) -> tuple[NDArray, NDArray]:
    """Return the durations of the pieces of a swing, and δ in them, shape (2, 4, 2)."""
    swing, side = phase.swing, phase.swing_side
    assert swing is not None
    assert side is not None
    if not config.leg_momentum.is_planned:
        return swing.pieces, np.zeros((len(swing.pieces), 4, 2))
    heading = phase.heading_at(0.5 * (swing.start_time + swing.end_time))
    return swing.pieces, swing.accelerations() @ config.leg_momentum.matrix(side, heading).T


def weight_shifts(
    schedule: GaitSchedule,
    start: PlanningState,
    config: PlannerConfig,
    swings: SwingResponse,
    longest: float,
    end: DcmEnd | None = None,
) -> tuple[NDArray, NDArray]:
    """Return k durations of the first double support, [s], and n points of the ZMP over each, [m], shape (k, n, 2).

    From that of ``schedule`` to the ``longest`` one, [s]. The DCM at lift-off does not depend on it: all steps wait.
    After the steps others follow where they have an ``end``.
    """
    zeta = config.natural_frequency
    decays = np.exp(-zeta * np.diff(schedule.boundaries, prepend=schedule.start_time))
    ends = ends_of_steps(schedule, decays, LAST_STEP_ALPHA, swings.at_boundaries(schedule), end)
    support = schedule.supports[0]
    target = support + np.exp(-zeta * (schedule.boundaries[0] - schedule.lift_offs[0])) * (ends[0] - support)
    target = target + swings.at_lift_off[0]
    velocity = zeta * (target - support + swings.push[0, 0])
    usual = schedule.lift_offs[0] - schedule.start_time
    durations = np.linspace(usual, max(usual, longest), _CHOICES)
    states = start.dcm_position, start.dcm_velocity, target, velocity, np.empty((_CHOICES, 2))
    cubics = cubic_coefficients(durations, *np.broadcast_arrays(*states)[:4])
    tau = (durations[:, None] * _SAMPLES)[:, :, None]
    a0, a1, a2, a3 = (cubics[:, None, power] for power in range(4))
    position = a0 + tau * (a1 + tau * (a2 + tau * a3))
    return durations, position - (a1 + tau * (2.0 * a2 + 3.0 * tau * a3)) / zeta


def shortest_within(tolerance: float, deviations: NDArray, durations: NDArray) -> float:
    """Return the first duration whose deviation is within a tolerance, else the one that deviates least."""
    fits = deviations <= tolerance
    return float(durations[np.argmax(fits) if fits.any() else np.argmin(deviations)])
