"""Where the DCM passes at the end of each step."""

from __future__ import annotations

import numpy as np

from gradiva.common import NDArray
from gradiva.planner.footsteps import GaitSchedule


def ends_of_steps(
    schedule: GaitSchedule, decays: NDArray, last_step_alpha: float, swing: NDArray | None = None
) -> NDArray:
    r"""Return the DCM at the step boundaries by the backward recursion (thesis eq. 10.1.17, 10.2.3).

    .. math:: \xi_N^{eos} = \alpha z_{N+1} + (1 - \alpha) z_N, \qquad
              \xi_{i-1}^{eos} = z_i + \delta_i (\xi_i^{eos} - z_i)

    Args:
        schedule: Of N steps.
        decays: :math:`\delta_i = \exp(-\int \sigma\, dt)` over step i, shape (N,); that of the first is not used.
        last_step_alpha: α.
        swing: What the legs that swing in it add to the DCM where each step begins, [m], shape (N, 2).

    Returns:
        World, [m], shape (N, 2).
    """
    supports = schedule.supports
    ends = np.empty_like(supports)
    if len(ends) == 0:
        return ends
    ends[-1] = last_step_alpha * schedule.last_landing + (1.0 - last_step_alpha) * supports[-1]
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
