"""Checks of the joints' sensors: encoders and velocities, and what stands in for them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from gradiva.common import TIME_ROUNDING, NDArray, VectorDebounce, configuration, setting
from gradiva.safety.events import BridgedReadings, Finding, SafetyKind

_LONGEST_REPEAT = 0.2  # [s] over which that is looked at: a joint that creeps may read no velocity for long
_OFF = 3  # [samples] one after the other beside a velocity that repeats: one or two may be wrong themselves
_JOINT_MOTION = 0.015  # [rad] that a joint moves beside a velocity that repeats: at least 5°/s
_AGREEMENT = 0.25  # [-] of a motion, to which encoder and velocity agree
_SMOOTHING = 0.005  # [s] of velocities by positions: encoders of 0.0001 rad then are 0.007 rad/s at 1 kHz

BoolArray = npt.NDArray[np.bool_]


@configuration
class SensorCheckConfig:
    """Tolerated gaps and outliers of the sensors.

    Attributes:
        max_age: Of a measurement on the control clock, [s].
        bridge_duration: For so long a jump or readings that are not finite are bridged without a finding, [s].
        frozen_duration: A living sensor repeats itself for less, [s].
    """

    max_age: float = setting("s", above=0.0)
    bridge_duration: float = setting("s", least=0.0)
    frozen_duration: float = setting("s", above=0.0)


class RepeatedRates:
    """Finds rates that repeat to the last digit while what they are the rates of moves otherwise: they are lost.

    The motion is counted from each of two samples, and over several: a single position that is wrong is none.
    """

    def __init__(self, count: int, duration: float, motion: float) -> None:
        """Take how many rates there are, for how long a living one may repeat itself, [s], and the motion meanwhile."""
        self._count, self._duration, self._motion = count, duration - TIME_ROUNDING, motion
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._rates = np.full(self._count, np.nan)
        self._taken = -math.inf
        self._since = np.full(self._count, math.inf)
        self._first, self._second = np.zeros((2, self._count))
        self._is_first: BoolArray = np.ones(self._count, dtype=bool)
        self._off = np.zeros(self._count, dtype=int)

    def accept(self, rates: NDArray, positions: NDArray, taken: float) -> None:
        """Take a sample of which no rate repeats the last one, as `update` does."""
        self._rates, self._taken = rates, taken
        self._first = self._second = positions
        self._since.fill(taken)
        self._is_first.fill(True)
        self._off.fill(0)

    def update(self, rates: NDArray, positions: NDArray, taken: float) -> BoolArray | None:
        """Return which are lost, shape (n,); None where none is.

        Args:
            rates: As read, shape (n,).
            positions: Of which they are the rates, shape (n,).
            taken: When they were read, [s].
        """
        repeated = rates == self._rates
        count = np.count_nonzero(repeated)
        if not count:
            self.accept(rates, positions, taken)
            return None
        if taken == self._taken and count == self._count:
            return None  # the same sample; other rates are a new one, whatever its stamp
        self._rates, self._taken, duration = rates, taken, taken - self._since
        begins = ~(repeated & (duration <= _LONGEST_REPEAT))
        self._since[begins], duration[begins] = taken, 0.0
        self._off = np.where(self._is_off(positions - rates * duration, begins), self._off + 1, 0)
        lost: BoolArray = (self._off >= _OFF) & (duration >= self._duration)
        return lost if lost.any() else None

    def repeats(self, rates: NDArray) -> bool:
        """Return whether one of these rates, shape (n,), is that of the last sample."""
        return bool(np.count_nonzero(rates == self._rates))

    def _is_off(self, starts: NDArray, begins: BoolArray) -> BoolArray:
        """Return which moved otherwise since both of the first samples, whose positions ``starts`` should be.

        Half of the motion is enough since the second one, which shows only that the first one was not wrong.
        """
        self._first = np.where(begins, starts, self._first)
        self._second = np.where(begins | self._is_first, starts, self._second)
        self._is_first = begins
        motion = np.minimum(np.abs(starts - self._first), 2.0 * np.abs(starts - self._second))
        is_off: BoolArray = motion > self._motion
        return is_off


class VelocityCheck:
    """Replaces the velocities of joints whose encoders give positions alone by the low-passed change of these.

    A velocity once lost stays so until ``reset``. A change of positions beyond the limit of a joint's speed is wrong:
    the velocity before it is kept.

    Attributes:
        bridged: Velocities that were no numbers beside positions that were.
    """

    def __init__(self, joints: Sequence[str], speeds: NDArray, frozen_duration: float, bridge_duration: float) -> None:
        """Begin.

        Args:
            joints: Names.
            speeds: Their limits, [rad/s], shape (n,).
            frozen_duration: A living velocity repeats itself for less, [s].
            bridge_duration: For so long a velocity that is no number is tolerated without a finding, [s].
        """
        self._joints, self._speeds = joints, speeds
        self._repeated = RepeatedRates(len(joints), frozen_duration, _JOINT_MOTION)
        self._debounce = VectorDebounce(np.full(len(joints), bridge_duration))
        self.reset()

    def reset(self) -> None:
        """Trust all velocities."""
        self._repeated.reset()
        self._debounce.reset()
        self._positions: NDArray | None = None
        self._estimate: NDArray | None = None
        self._none: BoolArray = np.zeros(len(self._joints), dtype=bool)
        self._lost, self._has_lost = self._none.copy(), False
        self.bridged = BridgedReadings()

    @property
    def is_trusted(self) -> bool:
        """Whether all velocities are passed on as they were read last."""
        return not (self._has_lost or self.bridged.running)

    def accept(self, positions: NDArray, velocities: NDArray, taken: float) -> None:
        """Take a sample in which nothing is wrong and no velocity repeats, as `update` does."""
        self._repeated.accept(velocities, positions, taken)
        self._estimate, self._positions = velocities, positions

    def update(
        self, positions: NDArray, velocities: NDArray, interval: float, taken: float, time: float
    ) -> tuple[NDArray, list[Finding]]:
        """Return usable velocities, [rad/s], shape (n,), and new violations at ``time`` [s].

        Args:
            positions: As read, [rad], shape (n,).
            velocities: As read, [rad/s], shape (n,).
            interval: Since the last reading, [s].
            taken: When they were read, [s].
            time: Of the control clock, [s].
        """
        repeated = self._repeated.update(velocities, positions, taken)
        if repeated is None and self.is_trusted and math.isfinite(velocities @ velocities):
            self._estimate, self._positions = velocities, positions
            return velocities, []
        return self._repaired(positions, velocities, interval, time, self._none if repeated is None else repeated)

    def _repaired(
        self, positions: NDArray, velocities: NDArray, interval: float, time: float, repeated: BoolArray
    ) -> tuple[NDArray, list[Finding]]:
        repeated = repeated & ~self._lost
        is_none = ~np.isfinite(velocities) & np.isfinite(positions)
        found = [
            self._finding(joint, f"repeats {velocities[joint]:.2f} rad/s")
            for joint in np.flatnonzero(repeated).tolist()
        ]
        if is_none.any() or self.bridged.running:
            lasting = self._debounce.update(is_none & ~self._lost, time)
            found += [self._finding(joint, "") for joint in lasting]
            names = [self._joints[joint] for joint in np.flatnonzero(is_none & ~self._lost).tolist()]
            found += self.bridged.note(names, [finding.subject for finding in found])
            self._lost[lasting] = True
        self._lost |= repeated
        self._has_lost = bool(self._lost.any())
        missing = self._lost | is_none
        if missing.any():
            velocities = np.where(missing, self._differences(positions, velocities, interval), velocities)
        self._estimate, self._positions = velocities, positions
        return velocities, found

    def _differences(self, positions: NDArray, velocities: NDArray, interval: float) -> NDArray:
        """Return velocities by the change of positions, low-passed from the last velocities on, [rad/s], shape (n,)."""
        before = np.zeros_like(velocities) if self._estimate is None else np.nan_to_num(self._estimate)
        if self._positions is None or interval <= 0.0:
            return before
        change = (positions - self._positions) / interval
        can_be = np.isfinite(change) & (np.abs(change) <= self._speeds)
        return np.where(can_be, before + interval / (interval + _SMOOTHING) * (change - before), before)

    def _finding(self, joint: int, repeats: str) -> Finding:
        name, kind = self._joints[joint], SafetyKind.SENSOR_FROZEN if repeats else SafetyKind.SENSOR_NOT_FINITE
        how = f"{repeats} while the joint moves" if repeats else "gives no usable reading any more"
        return Finding(kind, name, f"the velocity of {name} {how}: taken from its positions")


class EncoderCheck:
    r"""Replaces readings that cannot be.

    A position :math:`s_k` is accepted while :math:`|s_k - s_{k-1}| \le v \Delta t + m`, with the largest speed
    :math:`v` and a margin :math:`m`; else the joint is assumed to follow its command,
    :math:`s_{k-1} + \int \dot s^* dt`, until the encoder comes back to that. A velocity is accepted where the position
    is and was a tick before, for it may be the difference of both, and while :math:`|\dot s_k| \Delta t` keeps the same
    bound.

    A joint that carries nothing, as a wrist, is not driven but moved by force, and its encoder is right, where in two
    intervals one after the other its readings :math:`r_k` change faster than that and as its velocities say,

    .. math:: |r_k - r_{k-1} - d| \le |d| / 4, \quad d = \tfrac{\Delta t}{2} (\dot s_{k-1} + \dot s_k), \quad
              |d| > v \Delta t

    A jump begins otherwise, at once or through filters: its first interval is twice the d of velocities derived from
    it. Where one is faster than v and longer than :math:`5 |d| / 4` the encoder is wrong until it comes back.
    """

    def __init__(
        self, joints: Sequence[str], speeds: NDArray, margin: float, duration: float, carrying: Collection[str] = ()
    ) -> None:
        """Begin.

        Args:
            joints: Names.
            speeds: Beyond them nothing is driven, [rad/s], shape (n,).
            margin: [rad].
            duration: Tolerated without a finding, [s].
            carrying: Names of joints that carry the weight: no blow moves them so fast.
        """
        self._joints = joints
        self._is_free = np.array([joint not in carrying for joint in joints])
        self._speeds = speeds
        self._margin = margin
        self._debounce = VectorDebounce(np.full(2 * len(joints), duration))
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next positions are accepted if they are finite."""
        self._positions: NDArray | None = None
        self._read, self._velocities = np.zeros((2, len(self._joints)))
        self._was_moved, self._has_jumped = np.zeros((2, len(self._joints)), dtype=bool)
        self._was_wrong: BoolArray | None = None
        self._debounce.reset()
        self.bridged = BridgedReadings()

    @property
    def positions(self) -> NDArray | None:
        """Last accepted or predicted positions, [rad], shape (n,)."""
        return self._positions

    @property
    def is_trusted(self) -> bool:
        """Whether all positions are passed on as they were read last."""
        return self._positions is not None and self._was_wrong is None

    def accept(self, positions: NDArray, velocities: NDArray) -> None:
        """Take a sample in which nothing is wrong, as `update` does."""
        self._positions, self._read, self._velocities = positions, positions, velocities
        self._was_moved.fill(False)
        self._debounce.clear()

    def predict(self, motion: NDArray) -> NDArray | None:
        """Move the accepted positions by the commanded ``motion``, [rad], shape (n,), and return them."""
        if self._positions is not None:
            self._positions = self._positions + motion
        return self._positions

    def update(
        self,
        positions: NDArray,
        velocities: NDArray,
        commanded_motion: NDArray,
        commanded_velocities: NDArray,
        interval: float,
        time: float,
    ) -> tuple[NDArray, NDArray, list[Finding]]:
        """Return plausible positions and velocities, and new violations.

        Args:
            positions: As read, [rad], shape (n,).
            velocities: As read, [rad/s], shape (n,).
            commanded_motion: Commanded motion since the last reading, [rad], shape (n,).
            commanded_velocities: The last commanded velocities, [rad/s], shape (n,).
            interval: Since the last reading, [s].
            time: Of the control clock, [s].
        """
        if self._positions is None:
            if np.isfinite(positions).all() and np.isfinite(velocities).all():
                self.accept(positions, velocities)
            return positions, velocities, []
        change = positions - self._positions
        if self._was_wrong is None and self._can_be(velocities * interval, interval) and self._can_be(change, interval):
            self.accept(positions, velocities)
            return positions, velocities, []
        is_none = ~(np.isfinite(velocities) & np.isfinite(positions))
        is_driven = ~self._is_moved(positions, velocities, interval)
        is_wrong = is_driven & self._is_too_far(change, interval) | is_none
        is_too_fast = is_driven & self._is_too_far(velocities * interval, interval)
        distrusted = is_too_fast | is_wrong if self._was_wrong is None else is_too_fast | is_wrong | self._was_wrong
        self._was_wrong = is_wrong if is_wrong.any() else None
        self._positions = np.where(is_wrong, self._positions + commanded_motion, positions)
        is_jump = is_wrong & ~is_none
        lasting = self._debounce.update(np.concatenate([is_none | is_too_fast, is_jump]), time)
        found = [self._finding(index, positions, self._positions) for index in lasting]
        unusable = [self._joints[index] for index in np.flatnonzero(is_none).tolist()]
        found += self.bridged.note(unusable, [finding.subject for finding in found])
        return self._positions, np.where(distrusted, commanded_velocities, velocities), found

    def _can_be(self, change: NDArray, interval: float) -> bool:
        return not self._is_too_far(change, interval).any()

    def _is_too_far(self, change: NDArray, interval: float) -> BoolArray:
        return ~(np.abs(change) <= self._speeds * interval + self._margin)  # NaN is, too

    def _is_moved(self, positions: NDArray, velocities: NDArray, interval: float) -> BoolArray:
        """Return which joints have been moved faster than they can be driven since the reading before the last one."""
        change, motion = positions - self._read, 0.5 * interval * (self._velocities + velocities)
        is_moved = self._is_free & (np.abs(change - motion) <= _AGREEMENT * np.abs(motion))  # NaN is not
        is_moved &= np.abs(motion) > self._speeds * interval
        jumps = self._is_too_far(change, interval) & ~(np.abs(change) <= (1.0 + _AGREEMENT) * np.abs(motion))
        self._has_jumped = jumps if self._was_wrong is None else jumps | self._has_jumped & self._was_wrong
        was_moved, self._was_moved = self._was_moved, is_moved
        self._read, self._velocities = positions, velocities
        return is_moved & was_moved & ~self._has_jumped

    def _finding(self, index: int, read: NDArray, bridged: NDArray) -> Finding:
        is_jump, joint = divmod(index, len(self._joints))
        name = self._joints[joint]
        if is_jump:
            off = read[joint] - bridged[joint]
            text = f"the encoder of {name} jumped by {off:+.2f} rad and did not come back"
            return Finding(SafetyKind.ENCODER_JUMP, name, text)
        return Finding(SafetyKind.SENSOR_NOT_FINITE, name, f"the encoder of {name} gives no usable reading any more")
