"""How long the first double support of a replanned walk takes."""

from __future__ import annotations

import numpy as np

from gradiva.common import NDArray
from gradiva.planner.dcm_trajectory import SwingResponse, cubic_coefficients, ends_of_steps
from gradiva.planner.footsteps import GaitSchedule, PlanningState
from gradiva.planner.planner_config import PlannerConfig

_CHOICES = 7  # durations that are tried
_SAMPLES = np.linspace(0.0, 1.0, 11)  # of the ZMP over the double support


def weight_shift_duration(
    schedule: GaitSchedule, start: PlanningState, config: PlannerConfig, swings: SwingResponse
) -> float:
    """Return the shortest double support in which the ZMP stays near the line between the feet, [s].

    Between the usual double support of ``schedule`` and the first one of a walk; where none keeps the ZMP within
    ``zmp_tolerance``, the one with the smallest deviation. The DCM at lift-off does not depend on the choice.
    """
    zeta = config.natural_frequency
    decays = np.exp(-zeta * np.diff(schedule.boundaries, prepend=schedule.start_time))
    ends = ends_of_steps(schedule, decays, config.last_step_alpha, swings.at_boundaries(schedule))
    support = schedule.supports[0]
    target = support + np.exp(-zeta * (schedule.boundaries[0] - schedule.lift_offs[0])) * (ends[0] - support)
    target = target + swings.at_lift_off[0]
    velocity = zeta * (target - support + swings.push[0, 0])
    usual = schedule.lift_offs[0] - schedule.start_time
    durations = np.linspace(usual, max(usual, config.first_double_support), _CHOICES)
    cubics = cubic_coefficients(
        durations,
        *np.broadcast_arrays(start.dcm_position, start.dcm_velocity, target, velocity, np.empty((_CHOICES, 2)))[:4],
    )
    zmp = _zmp(cubics, durations, zeta)
    deviation = _distance_to_segment(zmp, start.dcm_position - start.dcm_velocity / zeta, support).max(axis=1)
    fits = deviation <= config.zmp_tolerance
    return float(durations[np.argmax(fits) if fits.any() else np.argmin(deviation)])


def _zmp(cubics: NDArray, durations: NDArray, zeta: float) -> NDArray:
    """ZMP of k cubics, shape (k, samples, 2)."""
    tau = (durations[:, None] * _SAMPLES)[:, :, None]
    a0, a1, a2, a3 = (cubics[:, None, power] for power in range(4))
    position = a0 + tau * (a1 + tau * (a2 + tau * a3))
    return position - (a1 + tau * (2.0 * a2 + 3.0 * tau * a3)) / zeta


def _distance_to_segment(points: NDArray, begin: NDArray, end: NDArray) -> NDArray:
    """Distance of ``points``, shape (..., 2), from the line between two points."""
    way = end - begin
    share = np.clip(((points - begin) @ way) / max(float(way @ way), 1e-12), 0.0, 1.0)
    return np.linalg.norm(points - begin - share[..., None] * way, axis=-1)
