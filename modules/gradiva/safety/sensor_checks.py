"""Checks of the sensors: a measurement is passed on, repaired where a sensor fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gradiva.common import (
    GRAVITY,
    TIME_ROUNDING,
    BaseMeasurement,
    Debounce,
    EstimationError,
    ImuMeasurement,
    LateSource,
    Measurement,
    NDArray,
    Side,
    VectorDebounce,
    altered,
    configuration,
    sealed,
    setting,
)
from gradiva.robot_model import ForceTorqueSensor, RobotDescription
from gradiva.safety.events import BridgedReadings, Finding, SafetyKind

_MOST = 3.1 + 40.0**2  # [-], [rad²/s²] a rotation's nine numbers, squared, are 3; gyroscopes end at 35 rad/s
_REPEATS = 2  # of a reading, each taken later: a single one may be the last before a stall and the first after it
_IN_THE_AIR = 0.2  # [s] with hardly any load: no sole that stands is unloaded for so long
_UNLOADED = 0.002  # [-] of the largest landing: 2 % of the weight
_LONGEST_GAP = 1.0  # [s] of the clock in which joints may have moved unseen; in more it was set
_LARGEST_LANDING = 10.0  # [-] of the robot's weight: no landing loads a foot's sensor more
_OF_JOINTS = ("time", "joint_positions", "joint_velocities", "joint_torques", "motor_temperatures", "base")
_IMU = "IMU"
_AXIS = (2, 0, 1), (1, 2, 0)  # places of a small turn's rotation vector in its matrix
_LONGEST_REPEAT = 0.2  # [s] over which that is looked at: a joint that creeps may read no velocity for long
_OFF = 3  # [samples] one after the other beside a velocity that repeats: one or two may be wrong themselves
_JOINT_MOTION = 0.015  # [rad] that a joint moves beside a velocity that repeats: at least 5°/s
_TURN = 0.005  # [rad] likewise of an IMU about one of its axes: at least 2°/s; five steps of 1/16°
_SMOOTHING = 0.005  # [s] of velocities by positions: encoders of 0.0001 rad then are 0.007 rad/s at 1 kHz
_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)

BoolArray = npt.NDArray[np.bool_]


class FrozenSensorCheck:
    """Finds a sensor that repeats its reading.

    One reading that is seen again after a gap, in which this process or the network stalled, shows no frozen sensor.
    All zeros, and what a foot reads that is lifted, do not count: an ideal sensor repeats its offset there. They do
    where the sensor has shown that its zero is alive: that it reads noise where it carries nothing.
    """

    def __init__(self, duration: float, unloaded: float = 0.0) -> None:
        """Take the settings.

        Args:
            duration: For how long a living sensor may repeat itself, [s].
            unloaded: Largest number that a sensor reads where it carries nothing; 0: it always carries.
        """
        self._duration = duration - TIME_ROUNDING
        self._unloaded = unloaded
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._values: list[float] = []
        self._since = self._last = self._loaded = math.inf
        self._repeats = 0
        self._is_zero_alive = False

    def is_frozen(self, values: list[float], time: float, is_lifted: bool = False) -> bool:
        """Return whether this reading, taken at ``time`` [s], has been the same for too long.

        Args:
            values: The reading.
            time: When it was taken, [s].
            is_lifted: Whether the sensor is that of a foot which is planned to be in the air.
        """
        is_clock_set_back, is_zero = time < self._since, not any(values)
        if self._unloaded > 0.0 and not self._is_zero_alive:
            self._learn_zero(values, is_zero, time)
        is_idle = (is_zero or is_lifted) and not self._is_zero_alive
        if values != self._values or is_clock_set_back or is_idle:
            self._values, self._since, self._last, self._repeats = values, time, time, 0
            return False
        if time > self._last:
            self._last, self._repeats = time, self._repeats + 1
        return self._repeats >= _REPEATS and time - self._since >= self._duration

    def _learn_zero(self, values: list[float], is_zero: bool, time: float) -> None:
        """Note whether the sensor reads something where it has carried nothing for a while."""
        is_unloaded = -self._unloaded <= min(values) and max(values) <= self._unloaded and not math.isnan(sum(values))
        if is_zero or not is_unloaded or values == self._values or time < self._loaded:
            self._loaded = time
        self._is_zero_alive = time - self._loaded >= _IN_THE_AIR


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

    def update(self, rates: NDArray, positions: NDArray, taken: float) -> BoolArray | None:
        """Return which are lost, shape (n,); None where none is.

        Args:
            rates: As read, shape (n,).
            positions: Of which they are the rates, shape (n,).
            taken: When they were read, [s].
        """
        if taken == self._taken:
            return None  # the same sample
        repeated, self._rates, self._taken = rates == self._rates, rates, taken
        if not repeated.any():  # nearly always
            self._first = self._second = positions
            self._since.fill(taken)
            self._is_first.fill(True)
            self._off.fill(0)
            return None
        duration = taken - self._since
        begins = ~(repeated & (duration <= _LONGEST_REPEAT))
        self._since[begins], duration[begins] = taken, 0.0
        self._off = np.where(self._is_off(positions - rates * duration, begins), self._off + 1, 0)
        lost: BoolArray = (self._off >= _OFF) & (duration >= self._duration)
        return lost if lost.any() else None

    def repeats(self, rates: NDArray) -> bool:
        """Return whether one of these rates, shape (n,), is that of the last sample."""
        return bool((rates == self._rates).any())

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
        if repeated is None and not (self._has_lost or self.bridged.running) and math.isfinite(velocities @ velocities):
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
    bound: a light joint of a robot that falls is faster than its limit, and its encoder is not wrong.
    """

    def __init__(self, joints: Sequence[str], speeds: NDArray, margin: float, duration: float) -> None:
        """Begin.

        Args:
            joints: Names.
            speeds: Beyond them nothing moves, [rad/s], shape (n,).
            margin: [rad].
            duration: Tolerated without a finding, [s].
        """
        self._joints = joints
        self._speeds = speeds
        self._slowest = float(speeds.min())
        self._margin = margin
        self._debounce = VectorDebounce(np.full(2 * len(joints), duration))
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next positions are accepted if they are finite."""
        self._positions: NDArray | None = None
        self._was_wrong: BoolArray | None = None
        self._debounce.reset()
        self.bridged = BridgedReadings()

    @property
    def positions(self) -> NDArray | None:
        """Last accepted or predicted positions, [rad], shape (n,)."""
        return self._positions

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
                self._positions = positions
            return positions, velocities, []
        change = positions - self._positions
        if self._was_wrong is None and self._can_be(velocities * interval, interval) and self._can_be(change, interval):
            self._positions = positions
            self._debounce.clear()
            return positions, velocities, []
        is_wrong = self._is_too_far(change, interval)
        is_none = ~(np.isfinite(velocities) & np.isfinite(positions))
        is_wrong |= is_none
        is_too_fast = self._is_too_far(velocities * interval, interval)
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
        """Return whether no joint moved too far; nearly always all together moved less than the slowest may alone."""
        farthest = self._slowest * interval + self._margin
        return bool(change.dot(change) <= farthest * farthest) or not self._is_too_far(change, interval).any()

    def _is_too_far(self, change: NDArray, interval: float) -> BoolArray:
        return ~(np.abs(change) <= self._speeds * interval + self._margin)  # NaN is, too

    def _finding(self, index: int, read: NDArray, bridged: NDArray) -> Finding:
        is_jump, joint = divmod(index, len(self._joints))
        name = self._joints[joint]
        if is_jump:
            off = read[joint] - bridged[joint]
            text = f"the encoder of {name} jumped by {off:+.2f} rad and did not come back"
            return Finding(SafetyKind.ENCODER_JUMP, name, text)
        return Finding(SafetyKind.SENSOR_NOT_FINITE, name, f"the encoder of {name} gives no usable reading any more")


class WrenchCheck:
    """Refuses wrenches that are stale (frozen), not finite, or larger than any landing.

    The readings of such a sensor are not used: the ZMP is then determined by the other foot. A sensor once distrusted
    stays so until ``reset``.

    Attributes:
        untrusted: Feet of which the sensors are not used in this tick; always those that have none.
        lifted: Feet that are planned to be in the air, where ideal sensors repeat their offset.
    """

    def __init__(
        self, sensors: Sequence[ForceTorqueSensor], frozen_duration: float, bridge_duration: float, largest: float
    ) -> None:
        """Begin.

        Args:
            sensors: In the order of the readings.
            frozen_duration: A living sensor repeats itself for less, [s].
            bridge_duration: For so long unusable readings are tolerated without a finding, [s].
            largest: That a sensor can read, [N, N·m].
        """
        self._real = np.array([sensor.is_real for sensor in sensors])
        self._without = frozenset(sensor.foot for sensor in sensors if not sensor.is_real)
        self._sensors = sensors = [sensor for sensor in sensors if sensor.is_real]
        self._largest = largest
        self._frozen = [FrozenSensorCheck(frozen_duration, _UNLOADED * largest) for _ in sensors]
        self._debounce = VectorDebounce(np.full(len(sensors), bridge_duration))
        self.reset()

    def reset(self) -> None:
        """Trust all sensors."""
        for reading in self._frozen:
            reading.reset()
        self._debounce.reset()
        self._distrusted: set[Side] = set(self._without)
        self._last: NDArray | None = None
        self.untrusted: frozenset[Side] = self._without
        self.lifted: frozenset[Side] = frozenset()
        self.bridged = BridgedReadings()
        self._is_bridging = False

    def distrust(self, side: Side) -> None:
        """Do not use the sensors of a foot any more."""
        self._distrusted.add(side)
        self.untrusted = frozenset(self._distrusted)

    def update(
        self, wrenches: NDArray, time: float, taken: float | None = None, is_missing: bool = False
    ) -> tuple[NDArray, list[Finding]]:
        """Return finite wrenches, shape (sensors, 6), and new violations at ``time`` [s].

        Args:
            wrenches: As read.
            time: Of the control clock, [s].
            taken: When they were sampled, [s]; None: now.
            is_missing: Whether they are too old to be read.
        """
        if not self._without:
            return self._checked(wrenches, time, time if taken is None else taken, is_missing)
        rows, found = self._checked(wrenches[self._real], time, time if taken is None else taken, is_missing)
        wrenches = wrenches.copy()
        wrenches[self._real] = rows
        return wrenches, found

    def _checked(self, wrenches: NDArray, time: float, taken: float, is_missing: bool) -> tuple[NDArray, list[Finding]]:
        """Return the readings of the sensors that there are, and new violations."""
        found = self._frozen_ones(wrenches, taken)
        if np.vdot(wrenches, wrenches) <= self._largest * self._largest:  # which NaN is not
            self._debounce.clear()
            self._last = wrenches
            if self._is_bridging:
                self._is_bridging = False
                found += self.bridged.note(())
            self.untrusted = frozenset(self._distrusted) if self._distrusted else frozenset()
            return wrenches, found
        self._is_bridging = not is_missing
        return self._bridged(wrenches, time, found), found

    def _frozen_ones(self, wrenches: NDArray, taken: float) -> list[Finding]:
        found = []
        for sensor, reading, values in zip(self._sensors, self._frozen, wrenches.tolist(), strict=True):
            if reading.is_frozen(values, taken, sensor.foot in self.lifted):
                self._distrusted.add(sensor.foot)
                text = f"the force-torque sensor {sensor.name} repeats the same reading, {values[2]:.1f} N along z"
                found.append(Finding(SafetyKind.SENSOR_FROZEN, sensor.name, text))
        return found

    def _bridged(self, wrenches: NDArray, time: float, found: list[Finding]) -> NDArray:
        is_wrong = ~(np.abs(wrenches).max(axis=1) <= self._largest)
        for row in self._debounce.update(is_wrong, time):
            name = self._sensors[row].name
            self._distrusted.add(self._sensors[row].foot)
            text = f"the force-torque sensor {name} gives no usable reading any more, {wrenches[row, 2]:.3g} N along z"
            found.append(Finding(SafetyKind.SENSOR_NOT_FINITE, name, text))
        last = np.zeros_like(wrenches) if self._last is None else self._last
        self._last = np.where(is_wrong[:, None], last, wrenches)
        unusable = [self._sensors[row] for row in np.flatnonzero(is_wrong).tolist()]
        self.untrusted = frozenset(self._distrusted.union(sensor.foot for sensor in unusable))
        if self._is_bridging:
            found += self.bridged.note([sensor.name for sensor in unusable], [finding.subject for finding in found])
        return self._last


class ImuCheck:
    """Refuses readings of an inertial unit that is frozen or gives impossible numbers: encoders are enough to walk."""

    def __init__(self, frozen_duration: float, bridge_duration: float) -> None:
        """Begin.

        Args:
            frozen_duration: A living unit repeats itself for less, [s].
            bridge_duration: For so long unusable readings are tolerated without a finding, [s].
        """
        self._frozen = FrozenSensorCheck(frozen_duration)
        self._repeated = RepeatedRates(3, frozen_duration, _TURN)
        self._unusable = Debounce(bridge_duration)
        self.reset()

    def reset(self) -> None:
        """Trust the unit."""
        self._frozen.reset()
        self._repeated.reset()
        self._rotation: NDArray | None = None
        self._turned = np.zeros(3)
        self._unusable.reset()
        self._is_distrusted = False
        self._was_seen = False
        self.bridged = BridgedReadings()

    def update(
        self, imu: ImuMeasurement | None, time: float, taken: float | None = None
    ) -> tuple[ImuMeasurement | None, list[Finding]]:
        """Return the reading of ``taken`` [s], or None where it is not used, and new violations at ``time`` [s]."""
        if imu is None and not self._was_seen:
            return None, []  # a robot without one
        self._was_seen = True
        values = [] if imu is None else [*imu.rotation.ravel().tolist(), *imu.angular_velocity.tolist()]
        is_usable = imu is not None and sum([value * value for value in values]) <= _MOST
        found = []
        if self._unusable.update(not is_usable, time):
            found.append(Finding(SafetyKind.SENSOR_NOT_FINITE, _IMU, "the IMU gives no usable reading any more"))
            self._is_distrusted = True
        if imu is not None and (not is_usable or self.bridged.running):
            found += self.bridged.note(() if is_usable else (_IMU,), [finding.subject for finding in found])
        if imu is None or not is_usable:
            return None, found
        taken, text = time if taken is None else taken, ""
        if self._frozen.is_frozen(values, taken):
            text = "the IMU repeats the same reading"
        elif self._are_rates_lost(imu, taken):
            text = "the rates of the IMU repeat themselves while it turns: it is not used any more"
        if text and not self._is_distrusted:
            found.append(Finding(SafetyKind.SENSOR_FROZEN, _IMU, text))
            self._is_distrusted = True
        return None if self._is_distrusted else imu, found

    def _are_rates_lost(self, imu: ImuMeasurement, taken: float) -> bool:
        """Return whether the rates repeat while the attitude, turn by small turn about the unit's axes, goes on.

        Turns count from the last sample on in which no rate repeated.
        """
        rates, last = imu.angular_velocity, self._rotation
        if last is not None and imu.rotation is not last and self._repeated.repeats(rates):
            turn = last.T @ imu.rotation
            self._turned = self._turned + 0.5 * (turn[_AXIS] - turn.T[_AXIS])
        self._rotation = imu.rotation
        return self._repeated.update(rates, self._turned, taken) is not None


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


_JUMP_SPEED = 2.0  # [-] on the velocity limits: nothing moves faster from one reading to the next
_JUMP_MARGIN = 0.05  # [rad] on top of it: a reading that comes 10 ms late, at 5 rad/s


class SensorCheck:
    """Passes on a measurement as it is, or repaired where a sensor fails.

    A joint whose encoder fails is assumed to follow its command, a foot's force sensor is not used
    (``untrusted_feet``), the IMU is left out. Where the whole measurement is too old, all of it at once.
    """

    def __init__(self, config: SensorCheckConfig, robot: RobotDescription, velocity_limits: NDArray) -> None:
        """Take the tolerated limits, the robot, and its joints' velocity limits, [rad/s], shape (n,)."""
        speeds, duration = _JUMP_SPEED * velocity_limits, config.bridge_duration
        self._config = config
        self._no_motion = np.zeros_like(velocity_limits)
        joints, sensors = len(robot.joints), len(robot.force_torque_sensors)
        self._needed = {"joint_positions": (joints,), "joint_velocities": (joints,), "contact_wrenches": (sensors, 6)}
        self._unmeasured = sealed(np.full(joints, np.nan))
        self._velocities = VelocityCheck(robot.joints, velocity_limits, config.frozen_duration, duration)
        self._encoders = EncoderCheck(robot.joints, speeds, _JUMP_MARGIN, duration)
        self._wrenches = WrenchCheck(
            robot.force_torque_sensors, config.frozen_duration, duration, _LARGEST_LANDING * robot.mass * GRAVITY
        )
        self._imu = ImuCheck(config.frozen_duration, duration)
        self._stale = Debounce(0.0)
        self.reset()

    def reset(self) -> None:
        """Forget the past and trust all sensors."""
        for part in (self._velocities, self._encoders, self._wrenches, self._imu, self._stale):
            part.reset()
        self._last: Measurement | None = None
        self._last_reading = self._last_time = self._lag = self._gap = 0.0
        self._last_stamp = -math.inf
        self._unread_motion = self._no_motion
        self._is_blind = False

    @property
    def joint_positions(self) -> NDArray | None:
        """Last accepted positions of the joints, [rad], shape (n,); None before the first measurement."""
        return self._encoders.positions

    @property
    def untrusted_feet(self) -> frozenset[Side]:
        """Feet of which the force-torque sensors are not used."""
        return frozenset(Side) if self._is_blind else self._wrenches.untrusted

    @property
    def bridged_readings(self) -> dict[str, int]:
        """Number of readings that could not be used and were bridged, by sensor."""
        velocities, encoders = self._velocities.bridged.counts, self._encoders.bridged.counts
        return velocities | encoders | self._wrenches.bridged.counts | self._imu.bridged.counts

    def distrust_foot(self, side: Side) -> None:
        """Do not use the sensors of a foot any more."""
        self._wrenches.distrust(side)

    def note_lifted(self, feet: frozenset[Side]) -> None:
        """Note which feet are planned to be in the air."""
        self._wrenches.lifted = feet

    def note_gap(self, duration: float) -> None:
        """Note that the robot has moved on for ``duration`` [s] which control time did not follow."""
        self._gap += min(max(0.0, duration), _LONGEST_GAP)

    def update(
        self, measurement: Measurement, commanded_velocities: NDArray, time: float
    ) -> tuple[Measurement, list[Finding]]:
        """Return the repaired measurement and new violations.

        Args:
            measurement: The newest one.
            commanded_velocities: Commanded since the last tick, [rad/s], shape (n,).
            time: Of the control clock, [s].
        """
        measurement, found = self.usable(measurement)
        taken = self._taken(measurement.time, time, found)
        age = time - taken
        motion, self._last_time = (time - self._last_time) * commanded_velocities, time
        is_stale = not age <= self._config.max_age  # so is a time that is not finite
        found += self._stale_findings(is_stale, age, time, measurement.late)
        self._is_blind = is_stale and self._last is not None
        if self._last is not None and (is_stale or taken <= self._last_reading):
            self._unread_motion = self._unread_motion + motion
            if is_stale:
                return self._blind(self._last, commanded_velocities, time), found
            measurement, new = self._same_joints(measurement, self._last, time)
            return measurement, [*found, *new]
        interval, self._last_reading, self._lag = taken - self._last_reading + self._gap, taken, age
        self._gap = 0.0
        if self._unread_motion is not self._no_motion:
            motion, self._unread_motion = motion + self._unread_motion, self._no_motion
        if taken != measurement.time:
            measurement = altered(measurement, time=taken)
        self._last, new = self._repaired(measurement, motion, commanded_velocities, interval, time)
        return self._last, [*found, *new]

    def usable(self, measurement: Measurement) -> tuple[Measurement, list[Finding]]:
        """Return a measurement without the readings of a wrong type or shape, and a finding for each of these.

        Raises:
            EstimationError: One of those without which no robot can be balanced: positions, velocities, wrenches.
        """
        if self._is_usable(measurement):
            return measurement, []
        for name, shape in self._needed.items():
            if why := _mismatch(getattr(measurement, name), shape):
                raise EstimationError(f"{name} {why}")
        kind, wrong = SafetyKind.SENSOR_NOT_FINITE, self._optional_mismatches(measurement)
        found = [Finding(kind, name, f"{name} {why}: not used") for name, why in wrong if why]
        without = {each.subject: self._unmeasured if each.subject == "joint_torques" else None for each in found}
        return altered(measurement, **without), found

    def _is_usable(self, read: Measurement) -> bool:
        """Return whether all readings have their type and shape; cheaper than naming those that have not."""
        joints, imu, temperatures = self._needed["joint_positions"], read.imu, read.motor_temperatures
        if type(imu) is ImuMeasurement:
            if not (_is_reading(imu.rotation, (3, 3)) and _is_reading(imu.angular_velocity, (3,))):
                return False
        elif imu is not None:
            return False
        return (
            _is_reading(read.joint_positions, joints)
            and _is_reading(read.joint_velocities, joints)
            and _is_reading(read.joint_torques, joints)
            and _is_reading(read.contact_wrenches, self._needed["contact_wrenches"])
            and (temperatures is None or _is_reading(temperatures, joints))
            and (read.base is None or type(read.base) is BaseMeasurement)
        )

    def _optional_mismatches(self, measurement: Measurement) -> Iterator[tuple[str, str]]:
        joints, imu, base = self._needed["joint_positions"], measurement.imu, measurement.base
        yield "joint_torques", _mismatch(measurement.joint_torques, joints)
        if measurement.motor_temperatures is not None:
            yield "motor_temperatures", _mismatch(measurement.motor_temperatures, joints)
        if imu is not None:
            parts = getattr(imu, "rotation", None), getattr(imu, "angular_velocity", None)
            yield "imu", _mismatch(parts[0], (3, 3)) or _mismatch(parts[1], (3,))
        if base is not None and not isinstance(base, BaseMeasurement):
            yield "base", f"is a {type(base).__name__}"

    def _taken(self, stamp: float, time: float, found: list[Finding]) -> float:
        """Return when a measurement was taken, [s]: where its stamp lies in the future, as long ago as the last one."""
        if stamp - time <= self._config.max_age:
            self._last_stamp = stamp
            return stamp
        if not math.isfinite(stamp):
            if self._last is None:
                raise EstimationError(f"the measurement's time is {stamp} s")
            return math.nan
        if stamp == self._last_stamp:
            return self._last_reading
        self._last_stamp = stamp
        text = f"the measurement is stamped {stamp - time:.2f} s ahead: taken as if it were new"
        found.append(Finding(SafetyKind.CLOCK_JUMP, "measurement", text))
        return time - self._lag

    def _stale_findings(
        self, is_stale: bool, age: float, time: float, late: Sequence[LateSource] = ()
    ) -> list[Finding]:
        if not self._stale.update(is_stale, time):
            return []
        limit, names = self._config.max_age, f": {', '.join(map(str, late))}" if late else ""
        text = f"the sensors are silent: the newest measurement is {age:.3f} s old, the limit is {limit:g} s{names}"
        return [Finding(SafetyKind.STALE_MEASUREMENT, "", text)]

    def _repaired(
        self, read: Measurement, motion: NDArray, commanded_velocities: NDArray, interval: float, time: float
    ) -> tuple[Measurement, list[Finding]]:
        velocities, lost = self._velocities.update(
            read.joint_positions, read.joint_velocities, interval, read.time, time
        )
        positions, velocities, found = self._encoders.update(
            read.joint_positions, velocities, motion, commanded_velocities, interval, time
        )
        if positions is not read.joint_positions or velocities is not read.joint_velocities:
            read = replace(read, joint_positions=positions, joint_velocities=velocities)
        read, new = self._feet_and_imu(read, time)
        return read, [*lost, *found, *new]

    def _same_joints(self, read: Measurement, last: Measurement, time: float) -> tuple[Measurement, list[Finding]]:
        """Return the last measurement with what other sensors have read since: they have times of their own."""
        is_same = read.wrenches_time == last.wrenches_time and read.imu_time == last.imu_time
        if is_same or (read.contact_wrenches_time is None and (read.imu is None or read.imu.time is None)):
            return last, []
        joints = {name: getattr(last, name) for name in _OF_JOINTS}
        self._last, found = self._feet_and_imu(altered(read, **joints), time)
        return self._last, found

    def _feet_and_imu(self, read: Measurement, time: float) -> tuple[Measurement, list[Finding]]:
        """Return a measurement with the wrenches and the IMU that can be used; what is too old cannot."""
        limit = self._config.max_age + TIME_ROUNDING
        wrenches, imu = read.contact_wrenches, read.imu
        is_missing = time - read.wrenches_time > limit
        if is_missing:
            wrenches = np.full_like(wrenches, np.nan)
        if time - read.imu_time > limit:
            imu = None
        wrenches, found = self._wrenches.update(wrenches, time, read.wrenches_time, is_missing)
        imu, new = self._imu.update(imu, time, read.imu_time)
        if wrenches is not read.contact_wrenches or imu is not read.imu:
            read = replace(read, contact_wrenches=wrenches, imu=imu)
        return read, [*found, *new]

    def _blind(self, last: Measurement, commanded_velocities: NDArray, time: float) -> Measurement:
        """Return a measurement in which all joints follow their commands and the rest is unknown."""
        positions = self._encoders.predict(self._unread_motion)
        self._unread_motion = self._no_motion
        if positions is None:
            return last
        self._last = replace(
            last,
            time=time - self._lag,
            joint_positions=positions,
            joint_velocities=commanded_velocities,
            joint_torques=np.full_like(last.joint_torques, np.nan),
            imu=None,
            base=None,
        )
        return self._last


def _is_reading(value: object, shape: tuple[int, ...]) -> bool:
    return type(value) is _ARRAY and (value.dtype is _FLOAT or value.dtype == _FLOAT) and value.shape == shape


def _mismatch(value: object, shape: tuple[int, ...]) -> str:
    """Return how a reading differs from an array of numbers of its shape; empty where it does not."""
    if _is_reading(value, shape):
        return ""
    if isinstance(value, np.ndarray):
        return f"has shape {value.shape} of {value.dtype}, the robot has {shape} of float64"
    return f"is a {type(value).__name__}, not an array"
