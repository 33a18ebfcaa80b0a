r"""Largest push that a linear inverted pendulum survives which walks on two soles: what a robot can attain with steps.

.. math:: \dot\xi = \zeta (\xi - z) + F / (m \zeta)

The ZMP z is that of the plan and a correction by the ankle, which follows the commanded one with a lag, within the
soles; the DCM ξ is known exactly and at once. Height and angular momentum are constant: what knees, arms and a turning
trunk give, and take, is not in it. The next step is the answer of `StepAdapter` in each control period, in its place
alone or in place and time, or stays as it was; from the push on, steps are the shortest at the same speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradiva.common import GRAVITY, NDArray, PlanarPose, Side, SoleRectangle
from gradiva.planner import FROZEN_TIME, quintic
from gradiva.push_recovery import (
    LONGEST_SUPPORT,
    SOLE_MARGIN,
    ZMP_LAG,
    RunningStep,
    StepAdapter,
    SteppingMode,
    legs_of,
)
from gradiva.setup import GccCompiler, Setup, cache_folder
from gradiva_experiments.continued_walks import APART

_STEP = 0.005  # [s] of the simulation
_DECIMATION = 2  # steps of it in a control period
_GAIN = 1.1  # [-] of the DCM law
_LOST = 1.0  # [m] of the DCM from the stance sole
_STEPS = 7  # that it has to walk
_FRACTIONS = np.linspace(0.0, 1.0, 21)[:, None]  # of the second foot in the support of both


@dataclass(frozen=True, slots=True)
class PendulumGait:
    """A periodic gait straight ahead.

    Attributes:
        com_height: [m].
        mass: [kg].
        sole: Of the left foot.
        zmp_offset: Nominal ZMP in the left foot, mirrored in the right one, [m].
        step_width: Between the feet, [m].
        speed: [m/s].
        duration: Of a step, [s].
        double_support: Of that, [s].
        shortest: Duration and double support of the steps after a push, [s].
    """

    com_height: float
    mass: float
    sole: SoleRectangle
    zmp_offset: tuple[float, float]
    step_width: float
    speed: float
    duration: float = 0.9
    double_support: float = 0.18
    shortest: tuple[float, float] = (0.9, 0.18)

    @classmethod
    def of(cls, setup: Setup, speed: float) -> PendulumGait:
        """Return the gait with which a robot is commanded to walk straight ahead at a speed [m/s]."""
        planner = setup.walking.planner
        duration = planner.preferred_duration(speed)
        return cls(
            com_height=planner.com_height,
            mass=setup.robot.mass,
            sole=setup.robot.sole,
            zmp_offset=planner.zmp_offset,
            step_width=planner.step_width,
            speed=speed,
            duration=duration,
            double_support=duration - planner.single_support(duration),
            shortest=(least := planner.min_step_duration, least - planner.single_support(least)),
        )

    @property
    def catching(self) -> PendulumGait:
        """The gait at the same speed after a push: with the shortest steps."""
        duration, double_support = self.shortest
        return replace(self, duration=duration, double_support=double_support)

    @property
    def natural_frequency(self) -> float:
        """ζ, [rad/s]."""
        return math.sqrt(GRAVITY / self.com_height)

    @property
    def single_support(self) -> float:
        """Duration of a single support, [s]."""
        return self.duration - self.double_support

    def point(self, side: Side, foot: NDArray) -> NDArray:
        """Return the nominal ZMP under a foot at ``foot``, [m], shape (2,)."""
        return foot + np.array([self.zmp_offset[0], side.sign * self.zmp_offset[1]])

    def landing(self, swing: Side, stance: NDArray) -> NDArray:
        """Return the nominal landing of a foot beside the other one, [m], shape (2,)."""
        return stance + np.array([self.speed * self.duration, swing.sign * self.step_width])

    def dcm_offset(self, landing: Side) -> NDArray:
        """Return the DCM less the ZMP point of the landing foot, in the middle of double support, [m], shape (2,)."""
        growth = math.exp(self.natural_frequency * self.duration)
        width = self.step_width + 2.0 * self.zmp_offset[1]
        return np.array([self.speed * self.duration / (growth - 1.0), -landing.sign * width / (growth + 1.0)])

    def corners(self, side: Side) -> tuple[NDArray, NDArray]:
        """Return the least and greatest corner of a sole less its margin, in its frame, [m], shape (2,) each."""
        corners = self.sole.corners(side, SOLE_MARGIN)
        return corners.min(axis=0), corners.max(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class PendulumPush:
    """A constant force on the pendulum.

    Attributes:
        impulse: [N·s], shape (2,).
        begin: [s].
        duration: [s].
    """

    impulse: NDArray
    begin: float
    duration: float

    def force(self, now: float) -> NDArray | float:
        """Return the force at a time [s], [N], shape (2,) or zero."""
        is_pushed = self.begin - 1e-9 <= now < self.begin + self.duration - 1e-9
        return self.impulse / self.duration if is_pushed else 0.0


class PushedPendulum:
    """Walks from a touch-down of the left foot at the origin on, x ahead; the right foot swings first.

    Attributes:
        now: Since then, [s].
        dcm_position: [m], shape (2,).
        zmp_position: [m], shape (2,).
    """

    def __init__(self, gait: PendulumGait, adapter: StepAdapter, mode: SteppingMode) -> None:
        """Begin on the periodic gait.

        Args:
            gait: To walk with.
            adapter: Adapts the running step.
            mode: What may be adapted.
        """
        self._gait, self._catching = gait, gait.catching
        self._adapter, self._mode = adapter, mode
        self._feet = {Side.LEFT: np.zeros(2), Side.RIGHT: -gait.landing(Side.LEFT, np.zeros(2))}
        self.now = 0.0
        self._begin_step(Side.RIGHT)
        stance = gait.point(Side.LEFT, self._feet[Side.LEFT])
        left = gait.single_support + 0.5 * gait.double_support
        self.dcm_position = stance + math.exp(-gait.natural_frequency * left) * (self._end_of_step - stance)
        self.zmp_position, self._correction = stance, np.zeros(2)

    def survives(self, pushes: Sequence[PendulumPush]) -> bool:
        """Walk a few steps and return whether the DCM stays near the feet; from the first push on steps are adapted."""
        left = list(pushes)
        return all(self._step(left, pushes[0].begin) for _ in range(_STEPS))

    def lasts(self, pushes: Sequence[PendulumPush], longest: float) -> float:
        """Walk on, by whole steps, and return when the DCM is lost, [s]; infinite where it is not.

        Args:
            pushes: In the order of their times; from the first one on steps are adapted.
            longest: It walks for so long, [s].
        """
        left, first = list(pushes), min((push.begin for push in pushes), default=math.inf)
        while self.now < longest - 1e-6:
            if not self._step(left, first):
                return self.now
        return math.inf

    def _step(self, pushes: list[PendulumPush], first: float) -> bool:
        """Walk a step and return whether the DCM stays near the feet; pushes that are over are dropped."""
        if not self._single_support(pushes, first):
            return False
        self._feet[self._side] = self._landing
        end = self.now + self._gait.double_support
        while self.now < end - 1e-9:
            self._advance(self._double_support_zmp(end - self.now), pushes)
        self._begin_step(self._side.other)
        return True

    def _single_support(self, pushes: list[PendulumPush], first: float) -> bool:
        ticks = 0
        while self.now < self._touch_down - 1e-9:
            if self.now >= first - 1e-9 and ticks % _DECIMATION == 0 and self._mode is not SteppingMode.OFF:
                self._gait = self._gait if self._mode is SteppingMode.PLACE else self._catching
                self._adapt()
            self._advance(self._single_support_zmp(), pushes)
            ticks += 1
            if float(np.abs(self.dcm_position - self._feet[self._side.other]).max()) > _LOST:
                return False
        return True

    def _advance(self, zmp: tuple[NDArray, NDArray], pushes: list[PendulumPush]) -> None:
        """Let a step of the simulation pass, with a planned and a commanded ZMP."""
        zeta, (planned, commanded) = self._gait.natural_frequency, zmp
        while pushes and self.now > pushes[0].begin + pushes[0].duration:
            pushes.pop(0)
        dcm_velocity = pushes[0].force(self.now) / (self._gait.mass * zeta) if pushes else 0.0
        residual = commanded - planned - self._correction
        self._correction = self._correction + (1.0 - math.exp(-_STEP / ZMP_LAG)) * residual
        self.zmp_position = planned + self._correction
        growth = math.exp(zeta * _STEP)
        self.dcm_position = self.zmp_position + growth * (self.dcm_position - self.zmp_position) + _STEP * dcm_velocity
        self.now += _STEP

    # -- the running step ----------------------------------------------------------------------------------------------

    def _begin_step(self, side: Side) -> None:
        gait = self._gait
        self._side, self._lift_off, self._touch_down = side, self.now, self.now + gait.single_support
        self._support = gait.single_support
        self._landing = self._nominal = gait.landing(side, self._feet[side.other])
        self._swing = self._swing_to(self._feet[side], np.zeros(2), np.zeros(2), gait.single_support)

    @property
    def _end_of_step(self) -> NDArray:
        """Where the DCM is to be in the middle of the next double support."""
        return self._gait.point(self._side, self._landing) + self._gait.dcm_offset(self._side)

    def _swing_to(self, position: NDArray, velocity: NDArray, acceleration: NDArray, duration: float) -> _Swing:
        states = zip(position, velocity, acceleration, self._landing, strict=True)
        return _Swing(np.array([quintic(*state, duration) for state in states]).T, self.now, duration)

    def _adapt(self) -> None:
        gait, left = self._gait, self._touch_down - self.now
        if left < FROZEN_TIME:
            return
        nominal_left = self._lift_off + self._support - self.now
        nominal_left = nominal_left if nominal_left >= FROZEN_TIME else left
        shortest = longest = nominal_left
        if self._mode is SteppingMode.PLACE_AND_TIME:
            elapsed = self.now - self._lift_off
            shortest = max(FROZEN_TIME, self._adapter.legs.shortest - elapsed)
            longest = LONGEST_SUPPORT * self._support - elapsed
        position, velocity, acceleration = self._swing.at(self.now)
        step = RunningStep(
            dcm_position=self.dcm_position,
            zmp_position=self.zmp_position,
            dcm_offset=gait.dcm_offset(self._side),
            natural_frequency=gait.natural_frequency,
            side=self._side,
            stance=PlanarPose(*self._feet[self._side.other].tolist()),
            landing=PlanarPose(*self._nominal.tolist()),
            time_left=nominal_left,
            shortest=min(shortest, left),
            longest=max(longest, min(shortest, left)),
            double_support=gait.double_support,
            swing_position=position,
            swing_velocity=velocity,
        )
        adapted = self._adapter.adapt(step)
        self._landing = np.array([adapted.landing.x, adapted.landing.y])
        self._touch_down = self.now + adapted.time_left
        self._swing = self._swing_to(position, velocity, acceleration, adapted.time_left)

    # -- the law of the ankle ------------------------------------------------------------------------------------------

    def _single_support_zmp(self) -> tuple[NDArray, NDArray]:
        """Return the planned ZMP, and that of the DCM law about the way to the landing, within the stance sole."""
        gait, stance = self._gait, self._side.other
        foot = self._feet[stance]
        zmp = gait.point(stance, foot)
        left = self._touch_down + 0.5 * gait.double_support - self.now
        reference = zmp + math.exp(-gait.natural_frequency * left) * (self._end_of_step - zmp)
        low, high = gait.corners(stance)
        return zmp, np.clip(zmp + _GAIN * (self.dcm_position - reference), foot + low, foot + high)

    def _double_support_zmp(self, left: float) -> tuple[NDArray, NDArray]:
        """Return the ZMP of a cubic DCM reference, and that of the DCM law about it, within the hull of both soles."""
        gait, zeta, duration = self._gait, self._gait.natural_frequency, self._gait.double_support
        old, new = self._side.other, self._side
        first, last = gait.point(old, self._feet[old]), gait.point(new, self._feet[new])
        begin = math.exp(-0.5 * zeta * duration) * (self._end_of_step - first)
        end = math.exp(0.5 * zeta * duration) * (self._end_of_step - last)
        way, v0, v1 = last + end - first - begin, zeta * begin, zeta * end
        a2 = (3.0 * way - duration * (2.0 * v0 + v1)) / duration**2
        a3 = (duration * (v0 + v1) - 2.0 * way) / duration**3
        t = duration - left
        reference, rate = first + begin + t * (v0 + t * (a2 + t * a3)), v0 + t * (2.0 * a2 + 3.0 * t * a3)
        planned = reference - rate / zeta
        wanted = planned + _GAIN * (self.dcm_position - reference)
        bounds = zip(gait.corners(old), gait.corners(new), strict=True)
        low, high = (
            (1.0 - _FRACTIONS) * (self._feet[old] + one) + _FRACTIONS * (self._feet[new] + other)
            for one, other in bounds
        )
        choices = np.minimum(np.maximum(wanted, low), high)
        return planned, np.asarray(choices[int(np.argmin(((choices - wanted) ** 2).sum(axis=1)))])


@dataclass(frozen=True, slots=True, eq=False)
class _Swing:
    """Quintic of a swinging sole: powers of t / duration, lowest first, shape (6, 2)."""

    powers: NDArray
    start: float
    duration: float

    def at(self, time: float) -> tuple[NDArray, NDArray, NDArray]:
        """Return position [m], velocity [m/s] and acceleration [m/s²], shape (2,) each."""
        ratio = min(1.0, (time - self.start) / self.duration)
        k = np.arange(6.0)
        powers = ratio**k
        rates = np.append(0.0, powers[:-1]) * k
        bends = np.append([0.0, 0.0], powers[:-2]) * k * (k - 1.0)
        return powers @ self.powers, rates @ self.powers / self.duration, bends @ self.powers / self.duration**2


# -- the largest impulse -----------------------------------------------------------------------------------------------

_STRIDE = 8  # resolutions up, as long as the pendulum survives
_MOST = 400  # resolutions


def largest(survives: Callable[[float], bool], resolution: float) -> float:
    """Return the largest multiple of ``resolution`` below one that is not survived, by bisection."""
    low, high = 0, _STRIDE
    while high < _MOST and survives(high * resolution):
        low, high = high, high + _STRIDE
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if survives(middle * resolution) else (low, middle)
    return low * resolution


class AttainableImpulses:
    """Largest impulses that the pendulum of one robot survives, as configured; it does not tip over toes and heels."""

    def __init__(self, setup: Setup, speed: float) -> None:
        """Take the robot and the speed of its gait [m/s]."""
        planner, config = setup.walking.planner, setup.walking.step_adaptation
        config = replace(config, tipping_margin=SOLE_MARGIN)
        legs, compiler = legs_of(config, planner), GccCompiler(cache_folder())
        self._gait = PendulumGait.of(setup, speed)
        self._adapter = StepAdapter(config, setup.robot.sole, planner.zmp_offset, legs, compiler)

    def lasts(self, pushes: Sequence[PendulumPush], longest: float) -> float:
        """Return for how long the pendulum lasts whose steps change place and time, [s]; at most ``longest``."""
        return min(
            longest, PushedPendulum(self._gait, self._adapter, SteppingMode.PLACE_AND_TIME).lasts(pushes, longest)
        )

    def impulse(self, mode: SteppingMode, direction: float, phase: float, duration: float, count: int = 1) -> float:
        """Return the largest impulse of a push that is survived, [N·s].

        Args:
            mode: What may be adapted.
            direction: Of the push, from straight ahead to the left, towards the stance foot, [rad].
            phase: At which the push begins, as a fraction of single support.
            duration: Of the push, [s].
            count: Number of equal pushes.
        """
        gait, way = self._gait, np.array([math.cos(direction), math.sin(direction)])
        begin = phase * gait.single_support

        def survives(impulse: float) -> bool:
            """Return whether the pendulum survives pushes of ``impulse`` [N·s] each."""
            pushes = [PendulumPush(impulse * way, begin + APART * number, duration) for number in range(count)]
            return PushedPendulum(gait, self._adapter, mode).survives(pushes)

        return largest(survives, _RESOLUTION * gait.mass * gait.natural_frequency)


_RESOLUTION = 0.005  # [m] of DCM offset


def name_directions(axis: Any, left: str, right: str) -> None:
    """Turn a polar axis so that ahead is up, and name the directions of its pushes outside of the circle."""
    axis.set_theta_zero_location("N")
    axis.set_rlabel_position(45.0)  # the labels of the circles, beside the directions
    axis.set_thetagrids([0.0, 90.0, 180.0, 270.0], ["ahead", left, "back", right])
    for label, side in zip(axis.get_xticklabels(), ("center", "right", "center", "left"), strict=True):
        label.set_horizontalalignment(side)
