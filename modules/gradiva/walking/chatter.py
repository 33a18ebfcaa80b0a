r"""Measure chatter: what oscillates above 25 Hz, faster than balance, steps and sensors' filters need.

A loop without gain margin oscillates, at half the tick rate where it is the one through the foot wrenches. Its size is
the root mean square, above the corner :math:`f_c`, of a foot's normal force, the ZMP and the joints' commands. After
the walk it is taken without a change of phase, by the Butterworth filter of fourth order run forward and backward,

.. math:: \frac{1}{1 + \left(\tan(\pi f_c T) / \tan(\pi f T)\right)^8},

and online by the same filter run forward. In simulation forces and ZMP are what the ground exerts, as true means over
each tick: a sensor that averages 2 ms folds into ticks of 10 ms what is none of the loop's, and adds its noise. On a
robot, and online, they are those of the sensors. The true ZMP passes the low pass of the measured one. Where the corner
is at half the tick rate or above, T of 20 ms, it is half of the difference from tick to tick, which is the amplitude of
what alternates.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, Side, low_pass_gain
from gradiva.walking.walking_log import WalkingLog

_CORNER = 25.0  # [Hz]
_ORDER = 4
_EXTENSION = 0.5  # [s] by which a series is continued at both ends; the filter settles in a tenth of it
_ZMP, _COMMANDS = slice(2, 4), slice(4, None)  # channels, behind both normal forces
_MEMORY = 1.0  # [s] of the mean that is known online
_LANDED, _SHIFTED = 0.1, 1.0  # [s] after the last touch-down, between which the last weight shift is looked at
_LOADED = 0.05  # [-] of the weight, on a foot that has landed
_STANDING, _SINGLE, _DOUBLE = 0.0, 1.0, 2.0  # phases in the record

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Chatter:
    """Root mean squares above 25 Hz.

    Attributes:
        foot_force: Normal force of the foot with more of it, as a fraction of the weight, [-].
        zmp: Both axes, [m].
        command: Joint command with most of it, [rad], [rad/s] or [N·m] as the joints are commanded.
        joint: Index of that joint.
    """

    foot_force: float
    zmp: float
    command: float
    joint: int

    @classmethod
    def of(cls, mean_squares: NDArray, weight: float) -> Chatter:
        """Return the figures of mean squares of the channels, shape (4 + n,)."""
        commands = mean_squares[_COMMANDS]
        return cls(
            float(math.sqrt(mean_squares[:2].max())) / weight,
            float(math.sqrt(mean_squares[_ZMP].sum())),
            float(math.sqrt(commands.max())),
            int(commands.argmax()),
        )


def high_passed(values: NDArray, period: float) -> NDArray:
    """Return what is above 25 Hz without a change of phase, shape (T, m) like the values, T of at least 2.

    Args:
        values: A row a tick.
        period: Of the ticks, [s].
    """
    if _is_too_slow(period):
        return 0.5 * np.diff(values, axis=0, prepend=values[:1])
    rows = min(len(values) - 1, round(_EXTENSION / period))
    before, after = 2.0 * values[0] - values[rows:0:-1], 2.0 * values[-1] - values[-2 : -rows - 2 : -1]
    extended = np.concatenate((before, values, after))
    frequencies: NDArray = np.asarray(np.fft.rfftfreq(len(extended), period), dtype=float)
    gains = high_pass_gains(frequencies, period)
    spectrum = np.fft.rfft(extended, axis=0) * gains[:, None]
    return np.fft.irfft(spectrum, len(extended), axis=0)[rows : rows + len(values)]


def high_pass_gains(frequencies: NDArray, period: float) -> NDArray:
    """Return how much of each frequency [Hz] `high_passed` leaves of a series with ticks of ``period`` [s], [-]."""
    if _is_too_slow(period):
        return np.asarray(np.abs(np.sin(np.pi * period * frequencies)))
    powers = np.tan(np.pi * period * frequencies) ** (2 * _ORDER)
    return np.asarray(powers / (powers + math.tan(math.pi * _CORNER * period) ** (2 * _ORDER)))


def _is_too_slow(period: float) -> bool:
    return 2.0 * _CORNER * period > 0.95


Load = tuple[NDArray, NDArray]
"""Normal forces of both feet, [N], and ZMP, [m], shape (2,) each."""


def _measured_load(log: WalkingLog) -> Load:
    """Return what the sensors say of a tick in which the loop ran."""
    state = log.robot_state
    assert state is not None, "the loop ran"
    return np.array([state.foot_wrench(side)[2] for side in Side]), state.zmp_position


class ChatterRecord:
    """Keeps every tick of the loop, of which the log of a fast loop has a few, and measures its chatter."""

    def __init__(self, weight: float, period: float) -> None:
        """Begin with nothing.

        Args:
            weight: Of the robot, [N].
            period: Of the ticks, [s].
        """
        self._weight, self._period = weight, period
        self._rows, self._width = array("d"), 6  # time, phase, forces, ZMP and commands of each tick
        self._zmp: NDArray | None = None  # true one behind the low pass, where there is one

    def add(self, log: WalkingLog, true_load: Load | None = None) -> None:
        """Keep a tick; nothing of one in which the loop did not run.

        Args:
            log: Of the tick.
            true_load: As means over the tick, of a simulator; None: that of the sensors.
        """
        if log.desired is None or log.reference is None:
            return
        phase = _DOUBLE if log.reference.is_double_support else _SINGLE
        phase = phase if log.reference.is_walking else _STANDING
        forces, zmp = _measured_load(log) if true_load is None else self._low_passed(log, *true_load)
        row = log.time, phase, *forces, *zmp, *log.command.values
        self._width = len(row)
        self._rows.extend(row)  # at once: an interrupt leaves whole rows

    def _low_passed(self, log: WalkingLog, forces: NDArray, zmp: NDArray) -> Load:
        """Return a true load with the ZMP behind the low pass of the measured one; without load it stays."""
        assert log.robot_state is not None, "the loop ran"
        last = self._zmp if self._zmp is not None else log.robot_state.zmp_position
        if np.isfinite(zmp).all():
            gain = 1.0 if self._zmp is None else low_pass_gain(log.robot_state.zmp_lag, self._period)
            last = self._zmp = last + gain * (zmp - last)
        return forces, last

    def figures(self) -> dict[str, Chatter]:
        """Return the chatter of double and single support and of ``shift``, the last weight shift, as far as known."""
        times, phases, values = self._arrays()
        if len(times) < 2:
            return {}
        begin, end = self.last_shift()
        shift = (times >= begin) & (times <= end)
        masks = {"double_support": (phases == _DOUBLE) & ~shift, "single_support": phases == _SINGLE, "shift": shift}
        fast = high_passed(values, self._period) ** 2
        return {name: Chatter.of(fast[rows].mean(axis=0), self._weight) for name, rows in masks.items() if rows.any()}

    def last_shift(self) -> tuple[float, float]:
        """Return the begin and the end of the weight shift after the last step, [s]; NaN before the first step.

        It follows the touch-down itself: a foot that lands late is not loaded when the plan says so, and its impact is
        no chatter.
        """
        times, phases, values = self._arrays()
        lifted = times[phases == _SINGLE].max(initial=-math.inf)
        is_loaded = values[:, :2].min(axis=1, initial=math.inf) >= _LOADED * self._weight
        landed = times[(times > lifted) & is_loaded].min(initial=math.inf)
        return (landed + _LANDED, landed + _SHIFTED) if math.isfinite(lifted + landed) else (math.nan, math.nan)

    def loads(self) -> tuple[NDArray, Mask, NDArray]:
        """Return times [s], whether one foot stands alone by the plan, (T,), normal forces over the weight, (T, 2)."""
        times, phases, values = self._arrays()
        return times, phases == _SINGLE, values[:, :2] / self._weight

    def sustained(self, begin: float, end: float) -> float | None:
        """Return how much of its weight a foot's force oscillates with in each part of a time, [-]; None: not known.

        Args:
            begin: Of the time, [s].
            end: Of the time, [s]; it is looked at in quarters, of which a landing shakes one or two.
        """
        times, _, values = self._arrays()
        bounds = np.searchsorted(times, np.linspace(begin, end, 5))
        if np.any(np.diff(bounds) < 2) or times[-1] + 1.5 * self._period < end:
            return None
        fast = high_passed(values[:, :2], self._period) ** 2
        quarters = [fast[first:last].mean(axis=0).max() for first, last in pairwise(bounds)]
        return math.sqrt(min(quarters)) / self._weight

    def frequency(self, begin: float = -math.inf, end: float = math.inf) -> float:
        """Return the frequency above 25 Hz at which a foot's force oscillates most in a time, [Hz]."""
        times, _, values = self._arrays()
        rows = (times >= begin) & (times <= end)
        forces = values[rows, :2]
        if len(forces) < 2 or _is_too_slow(self._period):
            return 0.5 / self._period
        window = np.hanning(len(forces))[:, None]
        power = (np.abs(np.fft.rfft(window * (forces - forces.mean(axis=0)), axis=0)) ** 2).sum(axis=1)
        frequencies = np.fft.rfftfreq(len(forces), self._period)
        return float(frequencies[np.argmax(np.where(frequencies >= _CORNER, power, 0.0))])

    def _arrays(self) -> tuple[NDArray, NDArray, NDArray]:
        rows = np.array(self._rows).reshape(-1, self._width)
        return rows[:, 0], rows[:, 1], rows[:, 2:]


class ChatterMonitor:
    """Measures the chatter of the last second while the loop runs."""

    def __init__(self, weight: float, period: float) -> None:
        """Begin at rest.

        Args:
            weight: Of the robot, [N].
            period: Of the ticks, [s].
        """
        self._weight, self._gain = weight, low_pass_gain(_MEMORY, period)
        self._filter, self._rest = _causal_filter(period)
        self._states: NDArray | None = None
        self._mean_squares = np.zeros(0)

    def update(self, log: WalkingLog) -> None:
        """Take a tick; one in which the loop did not run begins anew."""
        if log.desired is None:
            self._states = None
            return
        channels = np.concatenate((*_measured_load(log), log.command.values))
        if self._states is None:
            self._mean_squares, self._states = np.zeros(len(channels)), np.outer(self._rest, channels)
        self._states[0] = channels
        self._states = self._filter.dot(self._states)
        fast = self._states[0]
        self._mean_squares += self._gain * (fast * fast - self._mean_squares)

    @property
    def chatter(self) -> Chatter | None:
        """Return the figures of the last second; None while the loop does not run."""
        return None if self._states is None else Chatter.of(self._mean_squares, self._weight)


def _causal_filter(period: float) -> tuple[NDArray, NDArray]:
    """Return the matrix from (sample, states) to (output, next states), and (sample, states) of a constant 1.

    Poles of the analogue filter go to the z plane by the bilinear transform with the corner where it is asked for; all
    zeros are at z = 1, and the gain at half the tick rate is 1 (transposed direct form II).
    """
    if _is_too_slow(period):
        numerator, denominator = np.array([0.5, -0.5]), np.array([1.0, 0.0])
    else:
        angles = math.pi * (2.0 * np.arange(_ORDER) + _ORDER + 1.0) / (2.0 * _ORDER)
        poles = math.tan(math.pi * _CORNER * period) * np.exp(1j * angles)
        denominator = np.poly((1.0 + poles) / (1.0 - poles)).real
        numerator = np.poly(np.ones(_ORDER))
        numerator *= np.polyval(denominator, -1.0) / np.polyval(numerator, -1.0)
    order = len(denominator) - 1
    matrix = np.zeros((order + 1, order + 1))
    matrix[:-1, 1:] = np.eye(order)
    matrix[:, 0] = numerator - denominator * numerator[0]
    matrix[0, 0] = numerator[0]
    matrix[1:, 1] -= denominator[1:]
    return matrix, np.append(1.0, np.cumsum(numerator[:0:-1])[::-1])
