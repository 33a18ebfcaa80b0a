"""Soles over time: those that swing and those that stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.polynomial import Polynomial

from gradiva.common import FootReference, NDArray, minimum_acceleration, minimum_jerk, so3, unchecked
from gradiva.planner.footsteps import FootPose, Motion
from gradiva.planner.planner_config import SwingProfile

_LAWS = {  # s(σ), lowest power first
    SwingProfile.MINIMUM_ACCELERATION: (0.0, 0.0, 3.0, -2.0),
    SwingProfile.MINIMUM_JERK: (0.0, 0.0, 0.0, 10.0, -15.0, 6.0),
}


@dataclass(eq=False)
class SwingFoot:
    r"""Trajectory of a swinging sole (thesis 10.2.2, appendices D.2 and D.3).

    .. math:: p(t) = p_0 + s(\sigma)(p_N - p_0) + h\, b(\sigma) e_3, \qquad
              R(t) = \mathrm{Exp}(s(\sigma) \mathrm{Log}(R_N R_0^T)) R_0, \qquad \sigma = (t - t_0) / (t_N - t_0)

    ``s`` is the minimum-acceleration (third order) or minimum-jerk (fifth order) law; ``b`` rises from 0 to its
    maximum 1 at the apex and returns to 0, one polynomial of that order on each side. Velocity (and for minimum
    jerk the acceleration) vanish at both ends. The thesis leaves the velocity at the apex to the minimiser, which
    for an apex off the middle lifts the foot above the apex height (2.4 times at 0.8); here it is zero. The
    acceleration there minimises the jerk, but never so large that the foot would dip below the ground.
    With the apex in the middle both formulations agree: continuous up to the fourth (second) derivative.
    The angular velocity is :math:`\dot s\, \mathrm{Log}(R_N R_0^T)`: its axis is constant.

    Attributes:
        start_time: Lift-off, [s].
        end_time: Touch-down, [s].
        start: Position ([m], shape (3,)) and rotation (shape (3, 3)) at lift-off.
        end: The same at touch-down.
        height: Of the apex above the straight line, [m].
        apex_fraction: When the apex is reached, as a fraction of the swing, in (0, 1).
        profile: Quantity that is minimised.
        turn: Change of the foot's heading, not wrapped, [rad].
    """

    start_time: float
    end_time: float
    start: tuple[NDArray, NDArray]
    end: tuple[NDArray, NDArray]
    height: float
    apex_fraction: float
    profile: SwingProfile
    turn: float = 0.0

    def __post_init__(self) -> None:
        self._rate = 1.0 / (self.end_time - self.start_time)
        self._law = minimum_jerk if self.profile is SwingProfile.MINIMUM_JERK else minimum_acceleration
        self._powers = _apex_powers(self.apex_fraction, self.profile)
        self._position, self._rotation = self.start
        self._rotation_vector = so3.log(self.end[1] @ self._rotation.T)
        self._motion = np.concatenate((self.end[0] - self._position, self._rotation_vector))
        self._way = self._motion[:3]
        self._begin: list[float] = self._position.tolist()
        self._moved: list[float] = self._motion.tolist()
        self._turns = bool(np.count_nonzero(self._rotation_vector))

    def moved(self, motion: Motion) -> SwingFoot:
        """Return the swing elsewhere, later; both footholds stay on their contact planes."""
        return replace(
            self,
            start_time=self.start_time + motion.delay,
            end_time=self.end_time + motion.delay,
            start=_moved_placement(self.start, motion),
            end=_moved_placement(self.end, motion),
        )

    def yaw_ahead(self, time: float) -> float:
        """Return the change of heading from ``time`` [s] to touch-down, [rad]."""
        return self.turn * (1.0 - self._law((time - self.start_time) * self._rate)[0])

    def at(self, time: float) -> FootReference:
        """Return the sole's reference at ``time`` [s]; it rests outside the swing."""
        ratio = (time - self.start_time) * self._rate
        s, s_rate, s_acceleration = self._law(ratio)
        rate, height = self._rate, self.height
        b, b_rate, b_acceleration = self._bump(ratio)
        x, y, z = self._begin
        dx, dy, dz, rx, ry, rz = self._moved
        v, a = s_rate * rate, s_acceleration * rate * rate
        rise, push = height * b_rate * rate, height * b_acceleration * rate * rate
        rotation = so3.exp(s * self._rotation_vector).dot(self._rotation) if self._turns else self._rotation
        return unchecked(
            FootReference,
            position=np.array((x + s * dx, y + s * dy, z + s * dz + height * b)),
            rotation=rotation,
            twist=np.array((v * dx, v * dy, v * dz + rise, v * rx, v * ry, v * rz)),
            acceleration=np.array((a * dx, a * dy, a * dz + push, a * rx, a * ry, a * rz)),
            in_contact=False,
        )

    @property
    def pieces(self) -> NDArray:
        """Durations of the rise and of the fall of the foot, [s], shape (2,)."""
        return (self.end_time - self.start_time) * np.array((self.apex_fraction, 1.0 - self.apex_fraction))

    def accelerations(self) -> NDArray:
        """Return the linear acceleration while the foot rises and while it falls, as ``Swing``, shape (2, 4, 3)."""
        apex = self.apex_fraction
        begins = (0.0, 0.0, 1.0 / apex), (apex, 1.0, -1.0 / (1.0 - apex))  # σ, h, dh/dσ
        cubics = np.zeros((2, 4, 3))
        for cubic, powers, (ratio, h, slope) in zip(cubics, self._powers, begins, strict=True):
            along = second_derivative(_LAWS[self.profile], ratio, self._rate)
            up = second_derivative(powers[::-1], h, slope * self._rate)
            cubic[: len(along)] += along[:, None] * self._way
            cubic[: len(up), 2] += self.height * up
        return cubics

    def _bump(self, ratio: float) -> tuple[float, float, float]:
        """Return b and its first two derivatives with respect to σ, by Horner's rule."""
        if ratio <= 0.0 or ratio >= 1.0:
            return 0.0, 0.0, 0.0
        side = 0 if ratio < self.apex_fraction else 1
        slope = 1.0 / self.apex_fraction if side == 0 else -1.0 / (1.0 - self.apex_fraction)
        h = ratio * slope if side == 0 else (ratio - 1.0) * slope  # 0 on the ground, 1 at the apex
        value = rate = acceleration = 0.0
        for coefficient in self._powers[side]:
            acceleration = acceleration * h + 2.0 * rate
            rate = rate * h + value
            value = value * h + coefficient
        return value, rate * slope, acceleration * slope * slope


def _moved_placement(placement: tuple[NDArray, NDArray], motion: Motion) -> tuple[NDArray, NDArray]:
    """Return a placement elsewhere on its own contact plane."""
    position, rotation = placement
    nx, ny, nz = rotation[:, 2].tolist()
    shift = motion.x, motion.y, -(nx * motion.x + ny * motion.y) / nz
    return position + shift, rotation


def second_derivative(coefficients: Sequence[float] | NDArray, begin: float, rate: float) -> NDArray:
    """Return the second derivative of a polynomial in begin + rate τ as one in τ, lowest powers first."""
    of_time = Polynomial(coefficients)(Polynomial((begin, rate)))
    return np.asarray(of_time.deriv(2).coef, dtype=float)


def _apex_powers(apex: float, profile: SwingProfile) -> tuple[tuple[float, ...], tuple[float, ...]]:
    r"""Return the coefficients, highest power first, of the polynomials in h that rise to and fall from the apex.

    Minimum jerk: with :math:`a` the apex fraction, :math:`c = 1 - a` and :math:`A` the downward acceleration at the
    apex, the jerk is continuous there for :math:`A = \frac{20}{3} (1/a^2 - 1/(ac) + 1/c^2)`; a quintic of length
    :math:`l` stays above the ground for :math:`A l^2 \le 20`.
    """
    if profile is SwingProfile.MINIMUM_ACCELERATION:
        return (-2.0, 3.0, 0.0, 0.0), (-2.0, 3.0, 0.0, 0.0)
    lengths = apex, 1.0 - apex
    smoothest = 20.0 / 3.0 * (lengths[0] ** -2 - 1.0 / (lengths[0] * lengths[1]) + lengths[1] ** -2)
    acceleration = min(smoothest, 20.0 / max(lengths) ** 2)
    rise, fall = (
        (6.0 - 0.5 * bend, bend - 15.0, 10.0 - 0.5 * bend, 0.0, 0.0, 0.0)
        for bend in (acceleration * length**2 for length in lengths)
    )
    return rise, fall


@dataclass(eq=False)
class StandingFoot:
    """A sole that rests where it stands.

    Attributes:
        pose: On its contact plane.
        height: Of the sole frame above the contact plane, [m].
        placement: Position ([m], shape (3,)) and rotation (shape (3, 3)) of the sole frame.
        landing: x, y, yaw and slopes of the contact plane, as in a ``DcmPreview``.
    """

    pose: FootPose
    height: float = 0.0
    placement: tuple[NDArray, NDArray] = field(init=False, repr=False)
    landing: tuple[float, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        pose = self.pose
        self.placement = pose.placement(self.height)
        self.landing = pose.x, pose.y, pose.yaw, *pose.plane.slope
        position, rotation = self.placement
        self._reference = unchecked(
            FootReference,
            position=position,
            rotation=rotation,
            twist=np.zeros(6),
            acceleration=np.zeros(6),
            in_contact=True,
        )

    def at(self, time: float) -> FootReference:
        """Return the reference, which is constant."""
        return self._reference

    def moved(self, motion: Motion) -> StandingFoot:
        """Return the sole elsewhere on its contact plane."""
        return StandingFoot(self.pose.moved(motion.x, motion.y), self.height)
