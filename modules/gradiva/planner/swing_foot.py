"""How a foot travels from one footprint to the next."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

import numpy as np

from gradiva.common import FootReference, NDArray, minimum_acceleration, minimum_jerk, so3


class SwingProfile(StrEnum):
    """What the swing minimises."""

    MINIMUM_ACCELERATION = "minimum_acceleration"
    MINIMUM_JERK = "minimum_jerk"


class SwingFoot:
    r"""Trajectory of a swinging sole (thesis 10.2.2, appendices D.2 and D.3).

    .. math:: p(t) = p_0 + s(\sigma)(p_N - p_0) + h\, b(\sigma) e_3, \qquad
              R(t) = \mathrm{Exp}(s(\sigma) \mathrm{Log}(R_N R_0^T)) R_0, \qquad \sigma = (t - t_0) / (t_N - t_0)

    ``s`` is the minimum-acceleration (third order) or minimum-jerk (fifth order) law; ``b`` rises from 0 to its
    maximum 1 at the apex and returns to 0, in two pieces of that order. Velocity (and for minimum jerk the
    acceleration) vanish at both ends. The thesis leaves the velocity at the apex to the minimiser, which for an
    apex off the middle makes the foot rise above the apex height (2.4 times at 0.8); here it is zero, so that the
    apex is the top. Minimum jerk is then continuous up to the third derivative, minimum acceleration up to the
    first; with the apex in the middle both formulations agree (fourth and second).
    The angular velocity is :math:`\dot s\, \mathrm{Log}(R_N R_0^T)`: its axis is constant.

    Args:
        start_time: Lift-off, [s].
        end_time: Touch-down, [s].
        start: Position ([m], shape (3,)) and rotation (shape (3, 3)) at lift-off.
        end: The same at touch-down.
        height: Of the apex above the straight line, [m].
        apex_fraction: When the apex is reached, as a share of the swing, in (0, 1).
        profile: What is minimised.
    """

    def __init__(
        self,
        start_time: float,
        end_time: float,
        start: tuple[NDArray, NDArray],
        end: tuple[NDArray, NDArray],
        height: float,
        apex_fraction: float,
        profile: SwingProfile,
    ) -> None:
        self.start_time, self.end_time = start_time, end_time
        self._rate = 1.0 / (end_time - start_time)
        self._law = minimum_jerk if profile is SwingProfile.MINIMUM_JERK else minimum_acceleration
        self._apex = apex_fraction
        self._rise, self._fall = apex_pieces(apex_fraction, profile)
        self._position, self._rotation = start
        self._rotation_vector = so3.log(end[1] @ start[1].T)
        self._motion = np.concatenate((end[0] - start[0], self._rotation_vector))
        self._height = height

    def progress(self, time: float) -> float:
        """Return s: 0 at lift-off, 1 at touch-down."""
        return self._law((time - self.start_time) * self._rate)[0]

    def at(self, time: float) -> FootReference:
        """Return the sole's reference at ``time`` [s]; it rests outside the swing."""
        ratio = (time - self.start_time) * self._rate
        s, s_rate, s_acceleration = self._law(ratio)
        rate = self._rate
        b, b_rate, b_acceleration = self._bump(ratio)
        position = self._position + s * self._motion[:3]
        twist = (s_rate * rate) * self._motion
        acceleration = (s_acceleration * rate * rate) * self._motion
        position[2] += self._height * b
        twist[2] += self._height * b_rate * rate
        acceleration[2] += self._height * b_acceleration * rate * rate
        rotation = so3.exp(s * self._rotation_vector) @ self._rotation
        return FootReference(position, rotation, twist, acceleration, in_contact=False)

    def _bump(self, ratio: float) -> tuple[float, float, float]:
        """Return b and its first two derivatives with respect to σ, by Horner's rule."""
        if ratio <= 0.0 or ratio >= 1.0:
            return 0.0, 0.0, 0.0
        value = rate = acceleration = 0.0
        for coefficient in self._rise if ratio < self._apex else self._fall:
            acceleration = acceleration * ratio + 2.0 * rate
            rate = rate * ratio + value
            value = value * ratio + coefficient
        return value, rate, acceleration


@lru_cache(maxsize=32)
def apex_pieces(apex: float, profile: SwingProfile) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the two pieces of b(σ), highest power first.

    Conditions: position and n derivatives (n = 1 or 2) vanish at both ends, b = 1 and b' = 0 on both sides of the
    apex; minimum jerk adds continuous second and third derivatives there, which is what its minimiser gives.
    """
    n = 2 if profile is SwingProfile.MINIMUM_JERK else 1
    size = 2 * n + 2
    nothing = np.zeros(size)
    rows = [np.concatenate((_derivative(0.0, k, size), nothing)) for k in range(n + 1)]
    rows += [np.concatenate((nothing, _derivative(1.0, k, size))) for k in range(n + 1)]
    for k in (0, 1):
        at_apex = _derivative(apex, k, size)
        rows += [np.concatenate((at_apex, nothing)), np.concatenate((nothing, at_apex))]
    for k in range(2, 2 * n):
        at_apex = _derivative(apex, k, size)
        rows.append(np.concatenate((at_apex, -at_apex)))
    right = np.zeros(2 * size)
    right[2 * n + 2 : 2 * n + 4] = 1.0
    coefficients = np.linalg.solve(np.array(rows), right)
    return tuple(coefficients[:size][::-1].tolist()), tuple(coefficients[size:][::-1].tolist())


def _derivative(at: float, order: int, size: int) -> NDArray:
    """Row that takes the coefficients (lowest power first) to the ``order``-th derivative at ``at``."""
    row = np.zeros(size)
    for power in range(order, size):
        row[power] = np.prod(np.arange(power - order + 1, power + 1)) * at ** (power - order)
    return row
