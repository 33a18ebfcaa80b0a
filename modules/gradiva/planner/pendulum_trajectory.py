"""The DCM trajectory of constant CoM height, in closed form."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Self

import numpy as np

from gradiva.common import DcmReference, NDArray, unchecked
from gradiva.planner.dcm_trajectory import SwingResponse, cubic_coefficients, ends_of_steps
from gradiva.planner.footsteps import GaitSchedule, PlanningState
from gradiva.planner.planner_config import PlannerConfig


@dataclass(eq=False)
class PendulumTrajectory:
    r"""DCM and CoM of the linear inverted pendulum (thesis 10.1.3, 10.2.1).

    Single support of step i, which ends at :math:`B_i`: :math:`\xi = z_i + e^{\zeta (t - B_i)} (\xi_i^{eos} - z_i)`,
    plus what the DCM gives way to the swinging leg (``swing_response``).
    Double support: the cubic that matches position and velocity at both ends, so that the ZMP
    :math:`\xi - \dot\xi / \zeta` is continuous. The first one starts at the given DCM, the last one ends at rest in
    the middle of the feet. The CoM solves :math:`\dot x = -\zeta (x - \xi)`:

    .. math:: \xi = p(t) + E e^{\zeta (t - t_e)} \quad\Rightarrow\quad
              x = p - \dot p / \zeta + \ddot p / \zeta^2 - \dddot p / \zeta^3
                  + \tfrac{1}{2} E e^{\zeta (t - t_e)} + K e^{-\zeta (t - t_0)}

    Each segment is one matrix C: the row :math:`[1, \tau, \tau^2, \tau^3, e^{\rho (\tau - D)}, e^{-\zeta \tau}]`
    times C gives :math:`\xi, \dot\xi, x, \dot x, \ddot\xi`. The growth rate ρ is ζ in single support, else 0 (E = 0).

    Attributes:
        starts: Of the segments, [s], shape (m,).
        durations: D of the segments, [s], shape (m,); 0 of the last one, which lasts for ever.
        rates: ρ of the segments, [1/s], shape (m,).
        matrices: C of the segments, shape (m, 6, 10).
        frequency: ζ, [1/s].
        height: Of the CoM, [m].
    """

    starts: NDArray
    durations: NDArray
    rates: NDArray
    matrices: NDArray
    frequency: float
    height: float

    def __post_init__(self) -> None:
        self._start_list, self._duration_list = self.starts.tolist(), self.durations.tolist()
        self._rate_list = self.rates.tolist()

    @classmethod
    def plan(cls, schedule: GaitSchedule, start: PlanningState, config: PlannerConfig, swings: SwingResponse) -> Self:
        """Return the trajectory of ``schedule`` that begins with the DCM and CoM of ``start``.

        Args:
            schedule: Times and ZMP points.
            start: DCM and CoM.
            config: CoM height, α.
            swings: How the DCM gives way to the legs.
        """
        zeta = config.natural_frequency
        decays = np.exp(-zeta * np.diff(schedule.boundaries, prepend=schedule.start_time))
        ends = ends_of_steps(schedule, decays, config.last_step_alpha, swings.at_boundaries(schedule))
        polynomials, growth = _segments(schedule, start, ends, swings)
        times = schedule.phase_times
        starts = np.insert(times, np.arange(2, len(times), 2), times[1:-1:2] + swings.durations[:, 0])
        durations = np.append(np.diff(starts), 0.0)
        rates = np.full(len(starts), zeta)
        rates[::3] = rates[-1] = 0.0
        matrices = _segment_matrices(polynomials, growth, zeta)
        _chain_com(matrices, rates, durations, zeta, start.com_position[:2])
        return cls(starts, durations, rates, matrices, zeta, config.com_height)

    def at(self, time: float) -> tuple[DcmReference, NDArray, NDArray]:
        """Return the DCM, the CoM position and velocity; before the start, those of the start."""
        index = max(0, bisect_right(self._start_list, time) - 1)
        tau = max(0.0, time - self._start_list[index])
        square = tau * tau
        growth = math.exp(self._rate_list[index] * (tau - self._duration_list[index]))
        row = np.array((1.0, tau, square, square * tau, growth, math.exp(-self.frequency * tau)))
        values = row.dot(self.matrices[index])
        dcm = unchecked(
            DcmReference,
            position=values[:2],
            velocity=values[2:4],
            natural_frequency=self.frequency,
            divergence_rate=self.frequency,
            acceleration=values[8:],
        )
        _, _, _, _, x, y, vx, vy, _, _ = values.tolist()
        return dcm, np.array((x, y, self.height)), np.array((vx, vy, 0.0))

    def sampled(self, times: NDArray) -> tuple[NDArray, NDArray]:
        """Return the DCM, shape (n, 2), and the divergence rate, shape (n,)."""
        index = np.maximum(np.searchsorted(self.starts, times, side="right") - 1, 0)
        tau = np.maximum(0.0, times - self.starts[index])
        growth = np.exp(self.rates[index] * (tau - self.durations[index]))
        C = self.matrices[index, :5, :2]
        cubic = C[:, 0] + tau[:, None] * (C[:, 1] + tau[:, None] * (C[:, 2] + tau[:, None] * C[:, 3]))
        return cubic + growth[:, None] * C[:, 4], np.full(len(times), self.frequency)

    def spliced(self, since: float, time: float, continuation: Self) -> Self:
        """Return this trajectory between ``since`` and ``time`` [s], and ``continuation`` from there on."""
        first = max(0, int(np.searchsorted(self.starts, since, side="right")) - 1)
        keep = slice(first, int(np.searchsorted(self.starts, time - 1e-9)))
        return type(self)(
            np.concatenate((self.starts[keep], continuation.starts)),
            np.concatenate((self.durations[keep], continuation.durations)),
            np.concatenate((self.rates[keep], continuation.rates)),
            np.concatenate((self.matrices[keep], continuation.matrices)),
            self.frequency,
            self.height,
        )


def _segments(
    schedule: GaitSchedule, start: PlanningState, ends: NDArray, swings: SwingResponse
) -> tuple[NDArray, NDArray]:
    """Return p, lowest power first, shape (m, 4, 2), and E, shape (m, 2), of all segments.

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
    polynomials[:-1:3] = cubic_coefficients(
        np.diff(schedule.phase_times)[::2],
        np.vstack((start.dcm_position, supports + landing)),
        np.vstack((start.dcm_velocity, zeta * (landing + swings.push[:, 1]))),
        np.vstack((supports + lifting, schedule.middle)),
        np.vstack((zeta * (lifting + swings.push[:, 0]), np.zeros((1, 2)))),
    )
    polynomials[-1, 0] = schedule.middle
    return polynomials, growth


def _segment_matrices(polynomials: NDArray, growth: NDArray, zeta: float) -> NDArray:
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


def _chain_com(matrices: NDArray, rates: NDArray, durations: NDArray, zeta: float, com_position: NDArray) -> None:
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
