"""Motion of the feet between two contact changes: standing soles and the swing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import Polynomial

from gradiva.common import FootReference, NDArray, Side, minimum_acceleration, minimum_jerk, so3, unchecked
from gradiva.planner.footsteps import FootPose, Footstep, GaitSchedule
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
    """

    start_time: float
    end_time: float
    start: tuple[NDArray, NDArray]
    end: tuple[NDArray, NDArray]
    height: float
    apex_fraction: float
    profile: SwingProfile

    def __post_init__(self) -> None:
        self._rate = 1.0 / (self.end_time - self.start_time)
        self._law = minimum_jerk if self.profile is SwingProfile.MINIMUM_JERK else minimum_acceleration
        self._powers = _apex_powers(self.apex_fraction, self.profile)
        self._position, self._rotation = self.start
        self._rotation_vector = so3.log(self.end[1] @ self._rotation.T)
        self._motion = np.concatenate((self.end[0] - self._position, self._rotation_vector))
        self._way = self._motion[:3]

    def progress(self, time: float) -> float:
        """Return s: 0 at lift-off, 1 at touch-down."""
        return self._law((time - self.start_time) * self._rate)[0]

    def at(self, time: float) -> FootReference:
        """Return the sole's reference at ``time`` [s]; it rests outside the swing."""
        ratio = (time - self.start_time) * self._rate
        s, s_rate, s_acceleration = self._law(ratio)
        rate = self._rate
        b, b_rate, b_acceleration = self._bump(ratio)
        position = self._position + s * self._way
        twist = (s_rate * rate) * self._motion
        acceleration = (s_acceleration * rate * rate) * self._motion
        position[2] += self.height * b
        twist[2] += self.height * b_rate * rate
        acceleration[2] += self.height * b_acceleration * rate * rate
        rotation = so3.exp(s * self._rotation_vector).dot(self._rotation)
        return unchecked(
            FootReference,
            position=position,
            rotation=rotation,
            twist=twist,
            acceleration=acceleration,
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


def _second_derivative(coefficients: tuple[float, ...], begin: float, rate: float) -> NDArray:
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
    """

    pose: FootPose
    height: float = 0.0
    placement: tuple[NDArray, NDArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.placement = self.pose.placement(self.height)
        self._reference = FootReference(*self.placement, np.zeros(6), np.zeros(6), in_contact=True)

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
        turn: By how much the heading changes over the phase, [rad].
        stance_foot: The foot that carried the last single support, or carries this one.
        is_walking: Whether weight is shifted or a foot swings.
    """

    start_time: float
    swing: SwingFoot | None
    swing_side: Side | None
    left: StandingFoot
    right: StandingFoot
    turn: float
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
        return heading if self.swing is None else heading - self.turn * (1.0 - self.swing.progress(time))

    def foot(self, side: Side) -> StandingFoot:
        """Return the placement at which one sole stands or will land."""
        return self.left if side is Side.LEFT else self.right


def standing_phase(time: float, feet: dict[Side, StandingFoot], stance_foot: Side, is_walking: bool) -> ContactPhase:
    """Return the double support of ``feet`` that begins at ``time`` [s]."""
    return ContactPhase(time, None, None, feet[Side.LEFT], feet[Side.RIGHT], 0.0, stance_foot, is_walking)


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
    )
    landed = feet | {step.side: after}
    turn = 0.5 * (after.pose.yaw - before.pose.yaw)
    return ContactPhase(
        lift_off, swing, step.side, landed[Side.LEFT], landed[Side.RIGHT], turn, step.side.other, is_walking=True
    )
