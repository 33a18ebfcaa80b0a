"""Plan of a walk: swing feet, contact phases, and all references over time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike

from gradiva.common import (
    DcmPreview,
    DcmReference,
    FootReference,
    NDArray,
    Side,
    WalkingReference,
    minimum_acceleration,
    minimum_jerk,
    so3,
    unchecked,
)
from gradiva.contacts import ContactPlane
from gradiva.planner.footsteps import FootPose, Footstep, GaitSchedule, PlannedStep
from gradiva.planner.planner_config import PlannerConfig, SwingProfile

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

    def yaw_ahead(self, time: float) -> float:
        """Return the change of heading from ``time`` [s] to touch-down, [rad]."""
        return self.turn * (1.0 - self._law((time - self.start_time) * self._rate)[0])

    @property
    def apex(self) -> tuple[float, float]:
        """Time ([s]) and height (world, [m]) of the apex."""
        ratio = self.apex_fraction
        height = self._position[2] + self._law(ratio)[0] * self._way[2] + self.height
        return self.start_time + ratio * (self.end_time - self.start_time), float(height)

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


@dataclass(eq=False)
class RetargetedSwing:
    r"""Rest of a swing whose landing was moved in place or time.

    Position and rotation vector :math:`b`, with :math:`R = \mathrm{Exp}(b) R_0`, are quintics from position, velocity
    and acceleration at the retarget to rest at the new landing; the height has two of them where the apex lies ahead,
    with rest at the apex, which keeps its height and its fraction of the time that is left. At :math:`b = 0` rate and
    acceleration of :math:`b` are those of the rotation, so the swing continues in all derivatives; then

    .. math:: \omega = J \dot b, \quad \dot\omega = J \ddot b + \dot J \dot b, \qquad
              J = I + \frac{1 - \cos\theta}{\theta^2} S(b) + \frac{\theta - \sin\theta}{\theta^3} S(b)^2, \quad
              \theta = |b|

    Attributes:
        start_time: Of the retarget, [s].
        end_time: Touch-down, [s].
        start: Reference of the sole at the retarget.
        end: Position ([m], shape (3,)) and rotation (shape (3, 3)) at touch-down.
        apex: Time ([s]) and height (world, [m]) of an apex that lies ahead.
        turn: Change of heading until touch-down, not wrapped, [rad].
    """

    start_time: float
    end_time: float
    start: FootReference
    end: tuple[NDArray, NDArray]
    apex: tuple[float, float] | None
    turn: float

    def __post_init__(self) -> None:
        start, (position, rotation) = self.start, self.end
        self._duration = self.end_time - self.start_time
        vector = so3.log(rotation @ start.rotation.T)
        begin, end = np.concatenate((start.position, np.zeros(3))), np.concatenate((position, vector))
        self._powers = quintic(begin, start.twist, start.acceleration, end, self._duration)
        z, vz, az = float(start.position[2]), float(start.twist[2]), float(start.acceleration[2])
        landing = float(position[2])
        self._rises: list[tuple[float, float, NDArray]] = []  # begin, duration and powers of the pieces of the height
        if self.apex is not None:
            rise = self.apex[0] - self.start_time
            self._rises.append((self.start_time, rise, quintic(z, vz, az, self.apex[1], rise)))
            z, vz, az = self.apex[1], 0.0, 0.0
        begin_fall = self.start_time if self.apex is None else self.apex[0]
        fall = self.end_time - begin_fall
        self._rises.append((begin_fall, fall, quintic(z, vz, az, landing, fall)))

    def yaw_ahead(self, time: float) -> float:
        """Return the change of heading from ``time`` [s] to touch-down, [rad]."""
        ratio = min(1.0, max(0.0, (time - self.start_time) / self._duration))
        turned = float(self._powers[:, 5].dot(ratio ** np.arange(6.0)))
        return self.turn - turned

    def at(self, time: float) -> FootReference:
        """Return the sole's reference at ``time`` [s]; it rests after the swing."""
        value, rate, acceleration = _evaluated(self._powers, time - self.start_time, self._duration)
        begin, duration, powers = self._rises[0] if time < self._rises[0][0] + self._rises[0][1] else self._rises[-1]
        value[2], rate[2], acceleration[2] = _evaluated(powers, time - begin, duration)
        angular_velocity, angular_acceleration = _rates_of_rotation(value[3:], rate[3:], acceleration[3:])
        return unchecked(
            FootReference,
            position=value[:3].copy(),
            rotation=so3.exp(value[3:]).dot(self.start.rotation),
            twist=np.concatenate((rate[:3], angular_velocity)),
            acceleration=np.concatenate((acceleration[:3], angular_acceleration)),
            in_contact=False,
        )

    @property
    def lowest(self) -> float:
        """Least height of the sole until touch-down, [m]."""
        return min(
            float((powers @ np.power.outer(np.linspace(0.0, 1.0, 41), range(6)).T).min()) for *_, powers in self._rises
        )

    @property
    def pieces(self) -> NDArray:
        """Durations of the rise and of the fall of the foot, [s], shape (2,); without a rise the second is 0."""
        durations = [duration for _, duration, _ in self._rises]
        return np.array([*durations, 0.0][:2])

    def accelerations(self) -> NDArray:
        """Return the linear acceleration in both pieces, as ``SwingFoot.accelerations``."""
        cubics = np.zeros((2, 4, 3))
        beginnings = np.concatenate(([0.0], self.pieces[:1])) / self._duration
        rises = self._rises if len(self._rises) == 2 else self._rises * 2
        for piece, (cubic, begin, (_, duration, powers)) in enumerate(zip(cubics, beginnings, rises, strict=True)):
            for axis in range(2):
                along = _second_derivative(self._powers[:, axis], begin, 1.0 / self._duration)
                cubic[: len(along), axis] = along
            in_height = 1.0 if piece == 1 and len(self._rises) == 1 else 0.0
            up = _second_derivative(powers, in_height, 1.0 / duration)
            cubic[: len(up), 2] = up
        return cubics


def quintic(
    position: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, end: ArrayLike, duration: float
) -> NDArray:
    """Return the quintic from a state to rest at ``end``, in t / duration, lowest power first, shape (6, ...)."""
    p, v, a = np.asarray(position), np.multiply(velocity, duration), np.multiply(acceleration, duration**2)
    way = np.asarray(end) - p
    return np.array(
        (
            p,
            v,
            0.5 * a,
            10.0 * way - 6.0 * v - 1.5 * a,
            -15.0 * way + 8.0 * v + 1.5 * a,
            6.0 * way - 3.0 * v - 0.5 * a,
        )
    )


def _evaluated(powers: NDArray, elapsed: float, duration: float) -> tuple[NDArray, NDArray, NDArray]:
    """Return a polynomial in t / duration and its first two derivatives in t, by Horner's rule."""
    ratio = min(1.0, max(0.0, elapsed / duration))
    value = rate = acceleration = 0.0 * powers[0]
    for coefficient in powers[::-1]:
        acceleration = acceleration * ratio + 2.0 * rate
        rate = rate * ratio + value
        value = value * ratio + coefficient
    return value, rate / duration, acceleration / duration**2


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


@dataclass(frozen=True, slots=True, eq=False)
class ContactPhase:
    """An interval without contact change.

    Attributes:
        start_time: [s].
        swing: Motion of the swinging sole; None in double support.
        swing_side: The side of the swinging sole.
        left: Where the left sole stands; if it swings, where it will land.
        right: The same of the right sole.
        stance_foot: The foot that carried the last single support, or carries this one.
        is_walking: Whether weight is shifted or a foot swings.
    """

    start_time: float
    swing: SwingFoot | RetargetedSwing | None
    swing_side: Side | None
    left: StandingFoot
    right: StandingFoot
    stance_foot: Side
    is_walking: bool

    def feet_at(self, time: float) -> tuple[FootReference, FootReference]:
        """Return the references of the left and the right sole."""
        if self.swing is None:
            return self.left.at(time), self.right.at(time)
        if self.swing_side is Side.LEFT:
            return self.swing.at(time), self.right.at(time)
        return self.left.at(time), self.swing.at(time)

    def heading_at(self, time: float) -> float:
        """Return the mean yaw of the feet, [rad]."""
        heading = 0.5 * (self.left.pose.yaw + self.right.pose.yaw)
        return heading if self.swing is None else heading - 0.5 * self.swing.yaw_ahead(time)

    def foot(self, side: Side) -> StandingFoot:
        """Return the placement at which one sole stands or will land."""
        return self.left if side is Side.LEFT else self.right


def standing_phase(time: float, feet: dict[Side, StandingFoot], stance_foot: Side, is_walking: bool) -> ContactPhase:
    """Return the double support of ``feet`` that begins at ``time`` [s]."""
    return ContactPhase(time, None, None, feet[Side.LEFT], feet[Side.RIGHT], stance_foot, is_walking)


def swinging_phase(swing: SwingFoot | RetargetedSwing, side: Side, landed: dict[Side, StandingFoot]) -> ContactPhase:
    """Return the single support in which the foot of ``side`` swings; ``landed``: both feet after it."""
    left, right = landed[Side.LEFT], landed[Side.RIGHT]
    return ContactPhase(swing.start_time, swing, side, left, right, side.other, is_walking=True)


def contact_phases(
    steps: Sequence[Footstep],
    schedule: GaitSchedule,
    feet: dict[Side, StandingFoot],
    stance_foot: Side,
    config: PlannerConfig,
) -> list[ContactPhase]:
    """Return all phases: double and single supports in turn, then the stand at the end.

    Args:
        steps: In order.
        schedule: Their times.
        feet: Where the feet stand at first.
        stance_foot: Of the first double support.
        config: Swing height, apex and profile.
    """
    feet = dict(feet)
    phases = [standing_phase(schedule.start_time, feet, stance_foot, is_walking=True)]
    times: NDArray = np.column_stack((schedule.lift_offs, schedule.touch_downs))
    for step, (lift_off, touch_down) in zip(steps, times.tolist(), strict=True):
        stance_foot = step.side.other
        phases.append(_swinging_phase(step, lift_off, touch_down, feet, config))
        feet[step.side] = phases[-1].foot(step.side)
        phases.append(standing_phase(touch_down, feet, stance_foot, is_walking=True))
    phases.append(standing_phase(schedule.end_time, feet, stance_foot, is_walking=False))
    return phases


def _swinging_phase(
    step: Footstep,
    lift_off: float,
    touch_down: float,
    feet: dict[Side, StandingFoot],
    config: PlannerConfig,
) -> ContactPhase:
    """Return the single support in which a step is made from where its foot stands among ``feet``."""
    before, after = feet[step.side], StandingFoot(step.pose, config.landing_height)
    swing = SwingFoot(
        lift_off,
        touch_down,
        before.placement,
        after.placement,
        config.swing_height,
        config.apex_fraction,
        config.swing_profile,
        after.pose.yaw - before.pose.yaw,
    )
    return swinging_phase(swing, step.side, feet | {step.side: after})


class DcmTrajectory(Protocol):
    """Gives the DCM and the CoM at any time from a start on; after the last step both rest."""

    @property
    def plane(self) -> ContactPlane:
        """Contact plane, above which the CoM has its height."""
        ...

    def at(self, time: float) -> tuple[DcmReference, NDArray, NDArray]:
        """Return the DCM, the CoM position ([m], shape (3,)) and its velocity ([m/s], shape (3,)) at ``time``.

        The arrays are made for the caller.
        """
        ...

    def sampled(self, times: NDArray) -> tuple[NDArray, NDArray]:
        """Return the DCM ([m], shape (n, 2)) and the divergence rate σ ([rad/s], shape (n,)) at ``times`` (n,)."""
        ...

    def spliced(self, since: float, time: float, continuation: Self) -> Self:
        """Return this trajectory between ``since`` and ``time`` [s], and ``continuation``, which starts at ``time``."""
        ...


@dataclass(eq=False)
class WalkingPlan:
    """References over time from ``start_time`` on; immutable: a replan or a retarget makes a new one.

    Attributes:
        phases: Supports in order, the last one stands for ever.
        trajectory: DCM and CoM.
        steps: All steps of the plan, with their times.
        end_time: End of the last double support, [s].
    """

    phases: tuple[ContactPhase, ...]
    trajectory: DcmTrajectory
    steps: tuple[PlannedStep, ...]
    end_time: float

    def __post_init__(self) -> None:
        self.start_time = self.phases[0].start_time
        self._starts = [phase.start_time for phase in self.phases]
        self._last: tuple[float, WalkingReference | None] = math.nan, None

    @property
    def footsteps(self) -> tuple[Footstep, ...]:
        """All footsteps, in order."""
        return tuple(step.footstep for step in self.steps)

    def phase_at(self, time: float) -> ContactPhase:
        """Return the contact phase at ``time`` [s]; the first one before the start."""
        return self.phases[max(0, bisect_right(self._starts, time) - 1)]

    def at(self, time: float) -> WalkingReference:
        """Return all references at ``time`` [s]; those of the start before it, those of the end after it.

        The last ones are kept: layer 3 asks for those of the end of a period, the next tick for the same.
        """
        last_time, last = self._last
        if last is not None and last_time == time:
            return last
        phase = self.phase_at(time)
        left, right = phase.feet_at(time)
        dcm, com_position, com_velocity = self.trajectory.at(time)
        reference = unchecked(
            WalkingReference,
            time=time,
            dcm=dcm,
            com_position=com_position,
            com_velocity=com_velocity,
            left_foot=left,
            right_foot=right,
            stance_foot=phase.stance_foot,
            heading=phase.heading_at(time),
            is_walking=phase.is_walking,
        )
        self._last = time, reference
        return reference

    def preview(self, time: float, period: float, count: int) -> DcmPreview:
        r"""Return the plan sampled over ``count`` intervals of ``period`` [s] from ``time`` on.

        The ZMP of an interval is the constant one that carries the DCM from its beginning to its end,
        :math:`z_k = (\xi_{k+1} - e^{\sigma T} \xi_k) / (1 - e^{\sigma T})`: the preview obeys the predictive
        controller's own model. A foot that swings is given where it will land.
        """
        times = time + period * np.arange(count + 1.0)
        dcm, rates = self.trajectory.sampled(times)
        growth = np.exp(period * rates[:-1])[:, None]
        zmp = (dcm[1:] - growth * dcm[:-1]) / (1.0 - growth)
        starts, grounded, landings = self._sampled_phases
        index = np.maximum(np.searchsorted(starts, times[:-1], side="right") - 1, 0)
        in_contact, poses = grounded[index], landings[index]
        return DcmPreview(period, dcm, zmp, rates[:-1], in_contact[:, 0], in_contact[:, 1], poses[:, 0], poses[:, 1])

    @cached_property
    def _sampled_phases(self) -> tuple[NDArray, npt.NDArray[np.bool_], NDArray]:
        """Start, feet in contact (left, right) and their landings (x, y, yaw, slopes) of all phases, for previews."""
        grounded = np.array([[phase.swing_side is not side for side in Side] for phase in self.phases])
        landings = np.array([(phase.left.landing, phase.right.landing) for phase in self.phases])
        return np.array(self._starts), grounded, landings

    def spliced(self, since: float, time: float, continuation: WalkingPlan) -> WalkingPlan:
        """Return this plan between ``since`` and ``time`` [s], and ``continuation``, which starts at ``time``.

        What ended before ``since`` is forgotten, so that replanning for hours does not grow the plan.
        """
        first = max(0, bisect_right(self._starts, since) - 1)
        keep = [phase for phase in self.phases[first:] if phase.start_time < time - 1e-9]
        kept_steps = [step for step in self.steps if since <= step.touch_down < time + 1e-9]
        return WalkingPlan(
            (*keep, *continuation.phases),
            self.trajectory.spliced(since, time, continuation.trajectory),
            (*kept_steps, *continuation.steps),
            continuation.end_time,
        )
