"""A linear inverted pendulum that walks on two soles, is pushed, and steps where step adaptation says."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import PlanarPose, Side, SoleRectangle
from gradiva.planner.walking_plan import quintic
from gradiva.simplified_model import RunningStep

DT = 0.005  # [s]
GAIN = 1.1  # [-] of the DCM law


@dataclass(frozen=True)
class Walker:
    """A gait of a robot; lengths in m, times in s, mass in kg."""

    com_height: float
    mass: float
    sole: SoleRectangle
    zmp_offset: tuple[float, float]
    step_width: float
    reach: float
    min_width: float
    speed: float
    duration: float = 0.9
    double_support: float = 0.18
    zmp_lag: float = 0.04
    margin: float = 0.005

    @property
    def zeta(self):
        return math.sqrt(9.81 / self.com_height)

    @property
    def single_support(self):
        return self.duration - self.double_support


class Pendulum:
    """Walks with its right foot swinging first; x ahead, the left foot stands at the origin."""

    def __init__(self, walker, adapter, shortest, place=True, time=True):
        self.walker, self.adapter, self.shortest = walker, adapter, shortest
        self.place, self.time = place, time
        self.feet = {
            Side.LEFT: np.zeros(2),
            Side.RIGHT: np.array([-walker.speed * walker.duration, -walker.step_width]),
        }
        self.side = Side.RIGHT  # swings
        self.now, self.touch_down = 0.0, walker.single_support
        self.landing = self.nominal()
        self.offset = self.nominal_offset(Side.RIGHT)
        end = self.point(self.side, self.landing) + self.offset
        z = self.point(Side.LEFT, self.feet[Side.LEFT])
        self.dcm = z + math.exp(-walker.zeta * (self.touch_down + 0.5 * walker.double_support)) * (end - z)
        self.zmp, self.correction = z, np.zeros(2)
        self.begin_swing()

    def point(self, side, sole):
        ox, oy = self.walker.zmp_offset
        return sole + np.array((ox, side.sign * oy))

    def nominal(self):
        walker = self.walker
        stance = self.feet[self.side.other]
        return stance + np.array((walker.speed * walker.duration, self.side.sign * walker.step_width))

    def nominal_offset(self, side):
        """Return the DCM of the periodic gait in mid double support, less the ZMP point of the landed foot."""
        walker, growth = self.walker, math.exp(self.walker.zeta * self.walker.duration)
        width = walker.step_width + 2.0 * walker.zmp_offset[1]
        return np.array([walker.speed * walker.duration / (growth - 1.0), -side.sign * width / (growth + 1.0)])

    def begin_swing(self):
        start, duration = self.feet[self.side], self.touch_down - self.now
        self.swing = quintic(start, np.zeros(2), np.zeros(2), self.landing, duration), self.now, duration
        self.first, self.lift_off = self.landing, self.now
        self.first_touch_down = self.touch_down

    def swinging(self):
        powers, begin, duration = self.swing
        ratio = min(1.0, (self.now - begin) / duration)
        position = sum(p * ratio**k for k, p in enumerate(powers))
        velocity = sum(k * p * ratio ** (k - 1) for k, p in enumerate(powers) if k) / duration
        acceleration = sum(k * (k - 1) * p * ratio ** (k - 2) for k, p in enumerate(powers) if k > 1) / duration**2
        return position, velocity, acceleration

    def adapt(self):
        walker, left = self.walker, self.touch_down - self.now
        if not self.place or left < 0.06:
            return None
        position, velocity, acceleration = self.swinging()
        stance = self.feet[self.side.other]
        nominal_left = self.first_touch_down - self.now
        elapsed = self.now - self.lift_off
        shortest = max(0.06, self.shortest - elapsed) if self.time else nominal_left
        longest = 1.25 * walker.single_support - elapsed if self.time else nominal_left
        if nominal_left < 0.06:
            nominal_left = left
        step = RunningStep(
            self.dcm,
            self.zmp,
            self.offset,
            walker.zeta,
            self.side,
            PlanarPose(*stance),
            PlanarPose(*self.first),
            nominal_left,
            min(shortest, left),
            max(longest, min(shortest, left)),
            walker.double_support,
            position,
            velocity,
        )
        adapted = self.adapter.adapt(step)
        self.landing = np.array([adapted.landing.x, adapted.landing.y])
        self.touch_down = self.now + adapted.time_left
        powers = quintic(position, velocity, acceleration, self.landing, adapted.time_left)
        self.swing = powers, self.now, adapted.time_left
        return adapted

    def corners(self, foot):
        x, y = self.walker.sole.x, self.walker.sole.y
        y = y if foot is Side.LEFT else (-y[1], -y[0])
        m = self.walker.margin
        return np.array([x[0] + m, y[0] + m]), np.array([x[1] - m, y[1] - m])

    def single_support_zmp(self):
        stance = self.side.other
        z = self.point(stance, self.feet[stance])
        left = self.touch_down + 0.5 * self.walker.double_support - self.now
        end = self.point(self.side, self.landing) + self.offset
        reference = z + math.exp(-self.walker.zeta * left) * (end - z)
        low, high = self.corners(stance)
        return z, np.clip(z + GAIN * (self.dcm - reference), self.feet[stance] + low, self.feet[stance] + high)

    def double_support_zmp(self, left):
        """ZMP of a cubic DCM reference that is continuous in velocity; it may be anywhere in the hull of both soles."""
        old, new, T, zeta = self.side.other, self.side, self.walker.double_support, self.walker.zeta
        z0, z1 = self.point(old, self.feet[old]), self.point(new, self.feet[new])
        middle = z1 + self.offset
        d0, d1 = math.exp(-0.5 * zeta * T) * (middle - z0), math.exp(0.5 * zeta * T) * (middle - z1)
        way, v0, v1 = z1 + d1 - z0 - d0, zeta * d0, zeta * d1
        a2, a3 = (3.0 * way - T * (2.0 * v0 + v1)) / T**2, (T * (v0 + v1) - 2.0 * way) / T**3
        t = T - left
        reference, rate = z0 + d0 + t * (v0 + t * (a2 + t * a3)), v0 + t * (2.0 * a2 + 3.0 * t * a3)
        wanted = reference - rate / zeta + GAIN * (self.dcm - reference)
        way = self.feet[new] - self.feet[old]
        choices = []
        for s in np.linspace(0.0, 1.0, 21):
            low, high = ((1 - s) * a + s * b for a, b in zip(self.corners(old), self.corners(new), strict=True))
            choices.append(np.clip(wanted, self.feet[old] + s * way + low, self.feet[old] + s * way + high))
        return reference - rate / zeta, min(choices, key=lambda z: float(np.sum((z - wanted) ** 2)))

    def advance(self, zmp, push):
        zeta = self.walker.zeta
        planned, commanded = zmp
        self.correction = self.correction + (1.0 - math.exp(-DT / self.walker.zmp_lag)) * (
            commanded - planned - self.correction
        )
        self.zmp = planned + self.correction
        growth = math.exp(zeta * DT)
        self.dcm = self.zmp + growth * (self.dcm - self.zmp) + np.asarray(push) * (DT / (self.walker.mass * zeta))
        self.now += DT

    def walk(self, push, begin, duration=0.1, steps=7, decide_every=2):
        """Return whether the DCM stays near the feet while a force [N] acts from ``begin`` [s] for ``duration``."""

        def force():
            return push if begin - 1e-9 <= self.now < begin + duration - 1e-9 else np.zeros(2)

        tick, pushed = 0, False
        for _ in range(steps):
            while self.now < self.touch_down - 1e-9:
                pushed = pushed or self.now >= begin - 1e-9
                if pushed and tick % decide_every == 0:
                    self.adapt()
                tick += 1
                self.advance(self.single_support_zmp(), force())
                if np.linalg.norm(self.dcm - self.feet[self.side.other]) > 1.0:
                    return False
            self.feet[self.side] = self.landing
            end = self.now + self.walker.double_support
            while self.now < end - 1e-9:
                self.advance(self.double_support_zmp(end - self.now), force())
            pushed = pushed or self.now >= begin - 1e-9
            self.side = self.side.other
            self.touch_down = self.now + self.walker.single_support
            self.landing = self.nominal()
            self.offset = self.nominal_offset(self.side)
            self.begin_swing()
        return True


def largest_impulse(make, direction, begin, resolution=1.0, most=32.0):
    """Return the largest impulse [N s] of 0.1 s that is survived, by bisection to ``resolution``."""
    lower, upper = 0.0, most
    while upper - lower > resolution:
        middle = 0.5 * (lower + upper)
        if make().walk(np.asarray(direction) * middle * 10.0, begin):
            lower = middle
        else:
            upper = middle
    return lower
