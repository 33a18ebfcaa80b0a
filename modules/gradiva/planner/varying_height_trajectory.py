"""DCM and CoM over time at a varying CoM height, on a grid."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from gradiva.common import GRAVITY, DcmReference, NDArray
from gradiva.contacts import ContactPlane
from gradiva.planner.dcm_segments import cubic_coefficients, ends_of_steps
from gradiva.planner.footsteps import GaitSchedule, PlanningState
from gradiva.planner.planner_config import HEIGHT_GRID_PERIOD, LAST_STEP_ALPHA, PlannerConfig

_REST = 5.0  # [s] after the last step, in which the CoM settles on the DCM (by a factor of 1e8 or more)
_REST_PERIOD = 0.02  # [s] of the grid there


class ComHeight:
    r"""A height that rises in the middle of each single support and is nominal in double support.

    .. math:: z = h + A \cdot 64\, \sigma^3 (1 - \sigma)^3, \qquad \sigma = (t - t_{lift}) / (t_{land} - t_{lift})

    Continuous up to the acceleration, whose largest magnitude is :math:`24 A / (t_{land} - t_{lift})^2`.

    Args:
        schedule: Lift-offs and touch-downs.
        height: h, [m].
        amplitude: A, [m].
    """

    def __init__(self, schedule: GaitSchedule, height: float, amplitude: float) -> None:
        self._lift_offs = schedule.lift_offs
        self._durations = schedule.touch_downs - schedule.lift_offs
        self._height, self._amplitude = height, amplitude

    def at(self, times: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Return height [m], velocity [m/s] and acceleration [m/s²] at ``times``, each of shape (n,)."""
        if len(self._lift_offs) == 0:
            return np.full(len(times), self._height), np.zeros(len(times)), np.zeros(len(times))
        step = np.maximum(np.searchsorted(self._lift_offs, times, side="right") - 1, 0)
        duration = self._durations[step]
        sigma = np.clip((times - self._lift_offs[step]) / duration, 0.0, 1.0)
        u, u_rate = sigma * (1.0 - sigma), 1.0 - 2.0 * sigma
        scale = 64.0 * self._amplitude
        height = self._height + scale * u**3
        velocity = scale * 3.0 * u**2 * u_rate / duration
        acceleration = scale * 6.0 * u * (u_rate**2 - u) / duration**2
        return height, velocity, acceleration


@dataclass(eq=False)
class VaryingHeightTrajectory:
    r"""Time-varying DCM and CoM (thesis 4.5).

    .. math:: \xi = x + \eta \dot x, \quad \dot\xi = \sigma (\xi - z), \quad \sigma = (\dot\eta + 1) / \eta, \qquad
              \dot\eta = \eta^2 \omega^2 - 1, \quad \omega^2 = (g + \ddot h) / h

    η is integrated backward, where it is stable, from :math:`\sqrt{h/g}` at the end. As
    :math:`\sigma = \frac{d}{dt} \ln \eta + 1/\eta`, the DCM of a single support stays a closed form,
    :math:`\xi = z_i + e^{S(t) - S(B_i)} (\xi_i^{eos} - z_i)` with :math:`S = \ln \eta + \int dt / \eta`; double
    supports are cubics as with constant height. The CoM follows forward from :math:`\dot x = (\xi - x) / \eta`.
    All are kept at grid points that include every contact change, and read by cubic Hermite interpolation.


    Attributes:
        times: Of the grid points, [s], shape (n,).
        values: ξ (2), x (2), h, η there, [m, m, m, s], shape (n, 6).
        rates: Their time derivatives, shape (n, 6).
        plane: Contact plane, above which h is the height.
    """

    times: NDArray
    values: NDArray
    rates: NDArray
    plane: ContactPlane

    def __post_init__(self) -> None:
        self._time_list = self.times.tolist()

    @classmethod
    def plan(
        cls,
        schedule: GaitSchedule,
        start: PlanningState,
        config: PlannerConfig,
        before: DcmReference | None = None,
    ) -> Self:
        """Return the trajectory of ``schedule`` that begins with the DCM and CoM of ``start``.

        Args:
            schedule: Times and ZMP points.
            start: DCM and CoM.
            config: Height, amplitude, grid.
            before: The reference that is continued; η is blended from its value over the first double support.
        """
        phases = schedule.phase_times
        times = _grid(phases, HEIGHT_GRID_PERIOD)
        profile = ComHeight(schedule, config.com_height, config.pendulum.com_height_amplitude)
        eta, eta_rate = _natural_period(times, profile, config)
        if before is not None:
            _blend(times, eta, eta_rate, phases[1] - phases[0], before)
        steps = np.diff(times)
        turns = np.concatenate(([0.0], np.cumsum(_integral(steps, 1.0 / eta, -eta_rate / eta**2))))
        dcm, dcm_velocity = _dcm(times, schedule, start, config, (eta_rate + 1.0) / eta, np.log(eta) + turns)
        com = _com(dcm, dcm_velocity, start.com_position[:2], np.diff(turns), steps)
        height, height_rate, _ = profile.at(times)
        values = np.column_stack((dcm, com, height, eta))
        rates = np.column_stack((dcm_velocity, (dcm - com) / eta[:, None], height_rate, eta_rate))
        return cls(times, values, rates, start.contact_plane)

    def at(self, time: float) -> tuple[DcmReference, NDArray, NDArray]:
        """Return the DCM, the CoM position and velocity; before the start, those of the start."""
        index = min(max(0, bisect_right(self._time_list, time) - 1), len(self._time_list) - 2)
        step = self._time_list[index + 1] - self._time_list[index]
        s = min(1.0, max(0.0, (time - self._time_list[index]) / step))
        v0, v1 = self.values[index], self.values[index + 1]
        r0, r1 = step * self.rates[index], step * self.rates[index + 1]
        way = v1 - v0
        a2, a3 = 3.0 * way - 2.0 * r0 - r1, r0 + r1 - 2.0 * way
        value = v0 + s * (r0 + s * (a2 + s * a3))
        rate = (r0 + s * (2.0 * a2 + 3.0 * s * a3)) / step
        eta = float(value[5])
        acceleration = (2.0 * a2[:2] + 6.0 * s * a3[:2]) / step**2
        dcm = DcmReference(value[:2], rate[:2], 1.0 / eta, (float(rate[5]) + 1.0) / eta, acceleration)
        (x, y, _), (vx, vy, vz), (a, b) = value[2:5], rate[2:5], self.plane.slope
        height = self.plane.height_at(x, y) + value[4]
        return dcm, np.array((x, y, height)), np.array((vx, vy, vz + (a * vx + b * vy)))

    def sampled(self, times: NDArray) -> tuple[NDArray, NDArray]:
        """Return the DCM, shape (n, 2), and the divergence rate, shape (n,)."""
        index = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 2)
        step = (self.times[index + 1] - self.times[index])[:, None]
        s = np.clip((times - self.times[index])[:, None] / step, 0.0, 1.0)
        columns = [0, 1, 5]
        v0, way = self.values[index][:, columns], np.diff(self.values, axis=0)[index][:, columns]
        r0, r1 = step * self.rates[index][:, columns], step * self.rates[index + 1][:, columns]
        a2, a3 = 3.0 * way - 2.0 * r0 - r1, r0 + r1 - 2.0 * way
        value = v0 + s * (r0 + s * (a2 + s * a3))
        eta_rate = ((r0 + s * (2.0 * a2 + 3.0 * s * a3)) / step)[:, 2]
        return value[:, :2], (eta_rate + 1.0) / value[:, 2]

    def spliced(self, since: float, time: float, continuation: Self) -> Self:
        """Return this trajectory between ``since`` and ``time`` [s], and ``continuation`` from there on."""
        first = max(0, int(np.searchsorted(self.times, since, side="right")) - 1)
        keep = slice(first, int(np.searchsorted(self.times, time - 1e-9)))
        return type(self)(
            np.concatenate((self.times[keep], continuation.times)),
            np.concatenate((self.values[keep], continuation.values)),
            np.concatenate((self.rates[keep], continuation.rates)),
            continuation.plane,
        )


def _grid(phases: NDArray, period: float) -> NDArray:
    """Return grid points at most ``period`` apart, with all contact changes among them, and the rest at the end."""
    pieces = [
        np.linspace(begin, end, max(2, int(np.ceil((end - begin) / period))), endpoint=False)
        for begin, end in pairwise(phases.tolist())
    ]
    return np.concatenate((*pieces, phases[-1] + np.arange(0.0, _REST + _REST_PERIOD, _REST_PERIOD)))


def _natural_period(times: NDArray, profile: ComHeight, config: PlannerConfig) -> tuple[NDArray, NDArray]:
    """Integrate η backward with the fourth-order Runge-Kutta method; return η and its rate, shape (n,)."""
    height, _, acceleration = profile.at(times)
    square = (GRAVITY + acceleration) / height
    middle_height, _, middle_acceleration = profile.at(0.5 * (times[:-1] + times[1:]))
    middles = ((GRAVITY + middle_acceleration) / middle_height).tolist()
    squares, steps = square.tolist(), np.diff(times).tolist()
    eta = [1.0 / config.natural_frequency] * len(times)
    for k in range(len(steps) - 1, -1, -1):
        h, e, w0, w, w1 = steps[k], eta[k + 1], squares[k], middles[k], squares[k + 1]
        k1 = e * e * w1 - 1.0
        k2 = (e - 0.5 * h * k1) ** 2 * w - 1.0
        k3 = (e - 0.5 * h * k2) ** 2 * w - 1.0
        k4 = (e - h * k3) ** 2 * w0 - 1.0
        eta[k] = e - h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
    values = np.array(eta)
    return values, values**2 * square - 1.0


def _blend(times: NDArray, eta: NDArray, eta_rate: NDArray, duration: float, before: DcmReference) -> None:
    """Blend η, in place, with that of ``before`` over ``duration`` [s].

    Meanwhile η is off the solution of its differential equation by the small change that the next steps make in it.
    """
    eta_before = 1.0 / before.natural_frequency
    gap = eta_before - eta[0]
    gap_rate = before.divergence_rate * eta_before - 1.0 - eta_rate[0]
    s = np.minimum(1.0, (times - times[0]) / duration)
    eta += gap * (1.0 + s * s * (2.0 * s - 3.0)) + gap_rate * duration * s * (1.0 - s) ** 2
    eta_rate += gap * 6.0 * s * (s - 1.0) / duration + gap_rate * (1.0 - s) * (1.0 - 3.0 * s)


def _integral(steps: NDArray, values: NDArray, rates: NDArray) -> NDArray:
    """Return the integral over each interval, fourth order, from values and time derivatives at its ends."""
    return steps * (0.5 * (values[:-1] + values[1:]) + steps / 12.0 * (rates[:-1] - rates[1:]))


def _dcm(
    times: NDArray,
    schedule: GaitSchedule,
    start: PlanningState,
    config: PlannerConfig,
    sigma: NDArray,
    exponent: NDArray,
) -> tuple[NDArray, NDArray]:
    """Return the DCM and its velocity at the grid points, shape (n, 2) each; ``exponent`` is S."""
    phases = schedule.phase_times
    from scipy.interpolate import CubicHermiteSpline  # a quarter of a second, of plans with a varying height alone

    at_boundary = CubicHermiteSpline(times, exponent, sigma)(schedule.boundaries)
    decays = np.exp(-np.diff(at_boundary, prepend=exponent[0]))
    ends = ends_of_steps(schedule, decays, LAST_STEP_ALPHA)
    node = np.searchsorted(times, phases - 1e-9)
    dcm = np.tile(schedule.middle, (len(times), 1))
    velocity = np.zeros_like(dcm)
    for i, support in enumerate(schedule.supports):
        part = slice(node[2 * i + 1], node[2 * i + 2] + 1)
        growth = np.exp(exponent[part] - at_boundary[i])[:, None]
        dcm[part] = support + growth * (ends[i] - support)
        velocity[part] = sigma[part, None] * (dcm[part] - support)
    dcm[0], velocity[0] = start.dcm_position, start.dcm_velocity
    begin, end = node[:-1:2], node[1::2]
    cubics = cubic_coefficients(times[end] - times[begin], dcm[begin], velocity[begin], dcm[end], velocity[end])
    for first, last, (a0, a1, a2, a3) in zip(begin, end, cubics, strict=True):
        tau = (times[first:last] - times[first])[:, None]
        dcm[first:last] = a0 + tau * (a1 + tau * (a2 + tau * a3))
        velocity[first:last] = a1 + tau * (2.0 * a2 + 3.0 * tau * a3)
    return dcm, velocity


def _com(dcm: NDArray, dcm_velocity: NDArray, com_position: NDArray, turns: NDArray, steps: NDArray) -> NDArray:
    r"""Return the CoM at the grid points, shape (n, 2).

    With y = x − ξ: :math:`\dot y = -y / \eta - \dot\xi`, Simpson's rule for the second term; ``turns`` are the
    integrals of 1/η.
    """
    h = steps[:, None]
    decay, half_decay = np.exp(-turns), np.exp(-0.5 * turns)
    begin, end = dcm_velocity[:-1], dcm_velocity[1:]
    middle = 1.5 * np.diff(dcm, axis=0) / h - 0.25 * (begin + end)
    push = h / 6.0 * (decay[:, None] * begin + 4.0 * half_decay[:, None] * middle + end)
    gap = com_position - dcm[0]
    x, y = float(gap[0]), float(gap[1])
    gaps = [(x, y)]
    for a, (px, py) in zip(decay.tolist(), push.tolist(), strict=True):
        x, y = a * x - px, a * y - py
        gaps.append((x, y))
    return dcm + np.array(gaps)
