"""Soles over time: those that swing, those whose landing was moved while they swing, and those that stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.polynomial import Polynomial

from gradiva.common import FootReference, NDArray, minimum_acceleration, minimum_jerk, so3, unchecked
from gradiva.planner.footsteps import FootPose, Motion
from gradiva.planner.planner_config import SwingProfile

_LAWS = {  # s(σ), lowest power first
    SwingProfile.MINIMUM_ACCELERATION: (0.0, 0.0, 3.0, -2.0),
    SwingProfile.MINIMUM_JERK: (0.0, 0.0, 0.0, 10.0, -15.0, 6.0),
}

_SAMPLED_POWERS = np.power.outer(np.linspace(0.0, 1.0, 41), range(6))

_DESCENT = 0.18  # [s] before touch-down, in which the sole of a moved step comes down
_RISE = 0.3  # [s] in which it goes up at most
_SHORTEST_RISE = 0.06  # [s] for less it only comes down
_LIFT_SPEED = 0.2  # [m/s] with which it goes up at most: a knee that is nearly straight follows no faster
_QUINTIC_PEAK = 1.875  # [-] of the speed of a quintic from rest to rest, over way / duration


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
        """Return the linear acceleration while the foot rises and while it falls, [m/s²], shape (2, 4, 3).

        Cubics in the time since the beginning of the piece, lowest power first.
        """
        apex = self.apex_fraction
        begins = (0.0, 0.0, 1.0 / apex), (apex, 1.0, -1.0 / (1.0 - apex))  # σ, h, dh/dσ
        cubics = np.zeros((2, 4, 3))
        for cubic, powers, (ratio, h, slope) in zip(cubics, self._powers, begins, strict=True):
            along = _second_derivative(_LAWS[self.profile], ratio, self._rate)
            up = _second_derivative(powers[::-1], h, slope * self._rate)
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


@dataclass(eq=False)
class RetargetedSwing:
    r"""Rest of a swing whose landing was moved in place or time.

    Position and rotation vector :math:`b`, with :math:`R = \mathrm{Exp}(b) R_0`, are quintics from position, velocity
    and acceleration at the retarget to rest at the new landing; the height has several, with rest between them: a foot
    that moves far, on a robot that tilts, goes up, stays up, and comes down last. At :math:`b = 0` rate and
    acceleration of :math:`b` are those of the rotation, so the swing continues in all derivatives; then

    .. math:: \omega = J \dot b, \quad \dot\omega = J \ddot b + \dot J \dot b, \qquad
              J = I + \frac{1 - \cos\theta}{\theta^2} S(b) + \frac{\theta - \sin\theta}{\theta^3} S(b)^2, \quad
              \theta = |b|

    Attributes:
        start_time: Of the retarget, [s].
        end_time: Touch-down, [s].
        start: Reference of the sole at the retarget.
        end: Position ([m], shape (3,)) and rotation (shape (3, 3)) at touch-down.
        levels: Times ([s]) and heights (world, [m]) on the way at which the height rests.
        turn: Change of heading until touch-down, not wrapped, [rad].
    """

    start_time: float
    end_time: float
    start: FootReference
    end: tuple[NDArray, NDArray]
    levels: tuple[tuple[float, float], ...]
    turn: float

    def __post_init__(self) -> None:
        start, (position, rotation) = self.start, self.end
        self._duration = duration = self.end_time - self.start_time
        vector = so3.log(rotation @ start.rotation.T).tolist()
        begin, end = [*start.position.tolist(), 0.0, 0.0, 0.0], [*position.tolist(), *vector]
        velocity, acceleration = start.twist.tolist(), start.acceleration.tolist()
        self._powers = [quintic(*state, duration) for state in zip(begin, velocity, acceleration, end, strict=True)]
        self._turns = any(vector) or any(velocity[3:]) or any(acceleration[3:])
        state, now = (begin[2], velocity[2], acceleration[2]), self.start_time
        self._heights: list[tuple[float, float, Quintic]] = []  # begin, duration and powers of the pieces
        for time, height in (*self.levels, (self.end_time, end[2])):
            self._heights.append((now, time - now, quintic(*state, height, time - now)))
            state, now = (height, 0.0, 0.0), time

    @classmethod
    def over(
        cls,
        top: float,
        start_time: float,
        end_time: float,
        start: FootReference,
        end: tuple[NDArray, NDArray],
        turn: float,
    ) -> Self:
        """Return the swing that rests at ``top`` (world, [m]), or as high as the time that is left allows."""
        return cls(start_time, end_time, start, end, _levels(start, top, start_time, end_time), turn)

    def yaw_ahead(self, time: float) -> float:
        """Return the change of heading from ``time`` [s] to touch-down, [rad]."""
        return self.turn - _evaluated(self._powers[5], time - self.start_time, self._duration)[0]

    def at(self, time: float) -> FootReference:
        """Return the sole's reference at ``time`` [s]; it rests after the swing."""
        elapsed, duration = time - self.start_time, self._duration
        x, vx, ax = _evaluated(self._powers[0], elapsed, duration)
        y, vy, ay = _evaluated(self._powers[1], elapsed, duration)
        z, vz, az = self._height(time)
        rotation, spin, push = self.start.rotation, np.zeros(3), np.zeros(3)
        if self._turns:
            vector, rate, change = np.array([_evaluated(powers, elapsed, duration) for powers in self._powers[3:]]).T
            rotation = so3.exp(vector).dot(rotation)
            spin, push = _rates_of_rotation(vector, rate, change)
        return unchecked(
            FootReference,
            position=np.array((x, y, z)),
            rotation=rotation,
            twist=np.array((vx, vy, vz, *spin)),
            acceleration=np.array((ax, ay, az, *push)),
            in_contact=False,
        )

    def _height(self, time: float) -> tuple[float, float, float]:
        """Return the height of the sole and its first two derivatives."""
        begin, duration, powers = self._piece(time)
        return _evaluated(powers, time - begin, duration)

    def _piece(self, time: float) -> tuple[float, float, Quintic]:
        """Return begin, duration and powers of the height's quintic at ``time`` [s]."""
        return next((piece for piece in self._heights if time < piece[0] + piece[1]), self._heights[-1])

    @property
    def lowest(self) -> float:
        """Least height of the sole until touch-down, [m]."""
        _, _, powers = self._heights[0]  # the others begin and end at rest: there they have their least height
        return min(float((_SAMPLED_POWERS @ powers).min()), float(self.end[0][2]))

    @property
    def pieces(self) -> NDArray:
        """Durations of the k pieces of the height, [s], shape (k,)."""
        return np.array([duration for _, duration, _ in self._heights])

    def accelerations(self) -> NDArray:
        """Return the linear acceleration in the k pieces, as ``SwingFoot.accelerations``, shape (k, 4, 3)."""
        rate = 1.0 / self._duration
        cubics = np.zeros((len(self._heights), 4, 3))
        for cubic, (begin, duration, powers) in zip(cubics, self._heights, strict=True):
            for axis in range(2):
                along = _second_derivative(self._powers[axis], (begin - self.start_time) * rate, rate)
                cubic[: len(along), axis] = along
            up = _second_derivative(powers, 0.0, 1.0 / duration)
            cubic[: len(up), 2] = up
        return cubics


def _levels(foot: FootReference, top: float, time: float, touch_down: float) -> tuple[tuple[float, float], ...]:
    """Return times and heights at which the height rests: as high as the time that is left allows."""
    up = touch_down - _DESCENT - time
    if up < _SHORTEST_RISE:
        return ()
    rise = min(up, _RISE)
    height, velocity = float(foot.position[2]), float(foot.twist[2])
    level = min(top, height + rise * max(_LIFT_SPEED / _QUINTIC_PEAK, 0.5 * velocity))
    if up - rise < 1e-3:
        return ((time + up, level),)
    return (time + rise, level), (time + up, level)


Quintic = tuple[float, float, float, float, float, float]


def quintic(position: float, velocity: float, acceleration: float, end: float, duration: float) -> Quintic:
    """Return the quintic from a state to rest at ``end``, in t / duration, lowest power first."""
    way, v, a = end - position, velocity * duration, acceleration * duration * duration
    return (
        position,
        v,
        0.5 * a,
        10.0 * way - 6.0 * v - 1.5 * a,
        -15.0 * way + 8.0 * v + 1.5 * a,
        6.0 * way - 3.0 * v - 0.5 * a,
    )


def _evaluated(powers: Quintic, elapsed: float, duration: float) -> tuple[float, float, float]:
    """Return a quintic in t / duration and its first two derivatives in t."""
    r = min(1.0, max(0.0, elapsed / duration))
    c0, c1, c2, c3, c4, c5 = powers
    value = c0 + r * (c1 + r * (c2 + r * (c3 + r * (c4 + r * c5))))
    rate = c1 + r * (2.0 * c2 + r * (3.0 * c3 + r * (4.0 * c4 + r * 5.0 * c5)))
    bend = 2.0 * c2 + r * (6.0 * c3 + r * (12.0 * c4 + r * 20.0 * c5))
    return value, rate / duration, bend / (duration * duration)


def _rates_of_rotation(vector: NDArray, rate: NDArray, acceleration: NDArray) -> tuple[NDArray, NDArray]:
    """Return angular velocity and acceleration of Exp(b) from b and its derivatives, world axes."""
    square = float(vector.dot(vector))
    if square > 1e-4:
        angle = math.sqrt(square)
        sine, cosine = math.sin(angle), math.cos(angle)
        a, b = (1.0 - cosine) / square, (angle - sine) / (square * angle)
        da = (angle * sine - 2.0 * (1.0 - cosine)) / square**2  # of a, over the angle
        db = (3.0 * sine - angle * cosine - 2.0 * angle) / (square**2 * angle)
    else:
        a, b = 0.5 - square / 24.0 + square**2 / 720.0, 1.0 / 6.0 - square / 120.0 + square**2 / 5040.0
        da, db = -1.0 / 12.0 + square / 180.0, -1.0 / 60.0 + square / 1260.0
    along = float(vector.dot(rate))
    turned, twice = so3.cross(vector, rate), so3.cross(vector, so3.cross(vector, rate))
    speed = rate + a * turned + b * twice
    bent = so3.cross(vector, acceleration)
    change = acceleration + da * along * turned + a * bent + db * along * twice
    change += b * (so3.cross(rate, turned) + so3.cross(vector, bent))
    return speed, change


def _second_derivative(coefficients: Sequence[float] | NDArray, begin: float, rate: float) -> NDArray:
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
