"""DCM and CoM over time at constant CoM height, in closed form."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from gradiva.common import DcmReference, NDArray, unchecked
from gradiva.contacts import ContactPlane
from gradiva.planner.dcm_segments import (
    DcmEnd,
    PendulumState,
    SwingResponse,
    chain_com,
    ends_of_steps,
    landing_segments,
    massless_landing_segment,
    segment_matrices,
    segments,
)
from gradiva.planner.footsteps import GaitSchedule, Motion, PlanningState
from gradiva.planner.planner_config import LAST_STEP_ALPHA, PlannerConfig


@dataclass(eq=False)
class PendulumTrajectory:
    r"""DCM and CoM of the linear inverted pendulum (thesis 10.1.3, 10.2.1).

    Single support of step i, which ends at :math:`B_i`: :math:`\xi = z_i + e^{\zeta (t - B_i)} (\xi_i^{eos} - z_i)`,
    plus the response to the swinging leg (:class:`SwingResponse`).
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
        height: Of the CoM above the contact plane, [m].
        plane: Contact plane.
    """

    starts: NDArray
    durations: NDArray
    rates: NDArray
    matrices: NDArray
    frequency: float
    height: float
    plane: ContactPlane

    def __post_init__(self) -> None:
        self._height, self._slope = self.height + self.plane.height, self.plane.slope
        self._start_list, self._duration_list = self.starts.tolist(), self.durations.tolist()
        self._rate_list = self.rates.tolist()

    @classmethod
    def plan(
        cls,
        schedule: GaitSchedule,
        start: PlanningState,
        config: PlannerConfig,
        swings: SwingResponse,
        end: DcmEnd | None = None,
    ) -> Self:
        """Return the trajectory of ``schedule`` that begins with the DCM and CoM of ``start``.

        Args:
            schedule: Times and ZMP points.
            start: DCM and CoM.
            config: CoM height, α.
            swings: Response of the DCM to the swinging legs.
            end: State in which the last double support ends, for other steps follow; None: at rest.
        """
        zeta = config.natural_frequency
        decays = np.exp(-zeta * np.diff(schedule.boundaries, prepend=schedule.start_time))
        ends = ends_of_steps(schedule, decays, LAST_STEP_ALPHA, swings.at_boundaries(schedule), end)
        polynomials, growth = segments(schedule, start, ends, swings, end)
        times = schedule.phase_times
        starts = np.insert(times, np.arange(2, len(times), 2), times[1:-1:2] + swings.durations[:, 0])
        durations = np.append(np.diff(starts), 0.0)
        rates = np.full(len(starts), zeta)
        rates[::3] = rates[-1] = 0.0
        matrices = segment_matrices(polynomials, growth, zeta)
        if end is not None:
            starts, durations, rates, matrices = starts[:-1], durations[:-1], rates[:-1], matrices[:-1]
        chain_com(matrices, rates, durations, zeta, start.com_position[:2])
        return cls(starts, durations, rates, matrices, zeta, config.com_height, start.contact_plane)

    @classmethod
    def to_landing(
        cls,
        start: PendulumState,
        touch_down: float,
        landing: NDArray,
        config: PlannerConfig,
        swing: SwingResponse | None = None,
    ) -> Self:
        """Return the trajectory over one constant ZMP that leads from ``start`` to a DCM at touch-down.

        Args:
            start: DCM and CoM.
            touch_down: [s].
            landing: The DCM there, [m], shape (2,).
            config: CoM height.
            swing: Response to the swing, which begins at the start or later; None: legs have no mass.
        """
        zeta = config.natural_frequency
        if swing is None:
            parts = massless_landing_segment(start, touch_down, landing, zeta)
        else:
            parts = landing_segments(start, touch_down, landing, swing)
        return cls(*parts, zeta, config.com_height, start.plane)

    def moved(self, time: float, motion: Motion, com_position: NDArray) -> Self:
        """Return what follows ``time`` [s], the beginning of a segment, translated and delayed.

        Args:
            time: Before the delay, [s].
            motion: Translation and delay.
            com_position: From which the CoM goes on, [m], shape (2,) or (3,); the difference dies out.
        """
        rest = slice(int(np.searchsorted(self.starts, time - 1e-9)), None)
        starts, matrices = self.starts[rest], self.matrices[rest].copy()
        shift = np.array((motion.x, motion.y))
        matrices[:, 0, 0:2] += shift
        matrices[:, 0, 4:6] += shift
        begin = matrices[0, 0, 4:6] + math.exp(-self.rates[rest][0] * self.durations[rest][0]) * matrices[0, 4, 4:6]
        gap = com_position[:2] - begin - matrices[0, 5, 4:6]
        decaying = np.exp(-self.frequency * (starts - starts[0]))[:, None] * gap
        matrices[:, 5, 4:6] += decaying
        matrices[:, 5, 6:8] -= self.frequency * decaying
        return type(self)(
            starts + motion.delay,
            self.durations[rest],
            self.rates[rest],
            matrices,
            self.frequency,
            self.height,
            self.plane,
        )

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
        a, b = self._slope
        return dcm, np.array((x, y, self._height + (a * x + b * y))), np.array((vx, vy, a * vx + b * vy))

    def sampled(self, times: NDArray) -> tuple[NDArray, NDArray]:
        """Return the DCM, shape (n, 2), and the divergence rate, shape (n,)."""
        index = np.maximum(self.starts.searchsorted(times, side="right") - 1, 0)
        tau = np.maximum(0.0, times - self.starts.take(index))
        terms = np.ones((5, len(times)))
        terms[1] = tau
        np.multiply(tau, tau, out=terms[2])
        np.multiply(terms[2], tau, out=terms[3])
        np.exp(self.rates.take(index) * (tau - self.durations.take(index)), out=terms[4])
        dcm = np.einsum("in,nij->nj", terms, self._dcm_matrices.take(index, axis=0))
        return dcm, np.full(len(times), self.frequency)

    @cached_property
    def _dcm_matrices(self) -> NDArray:
        """C of the DCM alone, shape (m, 5, 2)."""
        return self.matrices[:, :5, :2].copy()

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
            continuation.plane,
        )
