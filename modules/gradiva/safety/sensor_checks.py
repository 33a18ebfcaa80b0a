"""Checks of the sensors: a measurement is passed on, repaired where a sensor fails."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from gradiva.common import (
    TIME_ROUNDING,
    Debounce,
    ImuMeasurement,
    Measurement,
    NDArray,
    Side,
    VectorDebounce,
    altered,
    sealed,
)
from gradiva.robot_model import ForceTorqueSensor
from gradiva.safety.events import BridgedReadings, Finding, SafetyKind
from gradiva.safety.joint_sensors import EncoderCheck, RepeatedRates, SensorCheckConfig, VelocityCheck

_MOST = 3.1 + 40.0**2  # [-], [rad²/s²] a rotation's nine numbers, squared, are 3; gyroscopes end at 35 rad/s
_REPEATS = 2  # of a reading, each taken later: a single one may be the last before a stall and the first after it
_IN_THE_AIR = 0.2  # [s] with hardly any load: no sole that stands is unloaded for so long
_UNLOADED = 0.002  # [-] of the largest landing: 2 % of the weight
_IMU = "IMU"
_AXIS = (2, 0, 1), (1, 2, 0)  # places of a small turn's rotation vector in its matrix
_TURN = 0.005  # [rad] of an IMU about one of its axes beside rates that repeat: at least 2°/s; five steps of 1/16°
_JUMP = 0.0105  # [rad], 0.6°, from sample to sample that no rate shows: robot plants have 0.57° at most
_NOISES = 6.0  # [-] of its rms, which noise never is
_FORGOTTEN = 0.05  # [-] of the mean square at each sample, twenty of them
_LONGEST_STEP = 0.05  # [s] between two samples, over which the rates are integrated
_NONE: frozenset[Side] = frozenset()


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

    def accept(self, values: list[float], time: float) -> None:
        """Take a reading that is another one than the last, as `is_frozen` does."""
        self._values, self._since, self._last, self._repeats = values, time, time, 0

    def is_frozen(self, values: list[float], time: float, is_lifted: bool = False) -> bool:
        """Return whether this reading, taken at ``time`` [s], has been the same for too long.

        Args:
            values: The reading.
            time: When it was taken, [s].
            is_lifted: Whether the sensor is that of a foot which is planned to be in the air.
        """
        has_changed = values != self._values
        if self._unloaded > 0.0 and not self._is_zero_alive:
            self._learn_zero(values, has_changed, time)
        if has_changed or time < self._since or (not self._is_zero_alive and (is_lifted or not any(values))):
            self.accept(values, time)
            return False
        if time > self._last:
            self._last, self._repeats = time, self._repeats + 1
        return self._repeats >= _REPEATS and time - self._since >= self._duration

    def _learn_zero(self, values: list[float], has_changed: bool, time: float) -> None:
        """Note whether the sensor reads something, another one each time, where it has carried nothing for a while."""
        unloaded = self._unloaded
        is_unloaded = max(values) <= unloaded and -unloaded <= min(values) and not math.isnan(sum(values))
        if not (is_unloaded and has_changed and any(values)) or time < self._loaded:
            self._loaded = time
        else:
            self._is_zero_alive = time - self._loaded >= _IN_THE_AIR


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
        taken = time if taken is None else taken
        if not self._without:
            return self._checked(wrenches, time, taken, is_missing)
        rows, found = self._checked(wrenches[self._real], time, taken, is_missing)
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
            self.untrusted = frozenset(self._distrusted) if self._distrusted else _NONE
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


class ImuMounting:
    r"""Sees that an inertial unit has been tilted in its mounting, in mid-walk.

    Its attitude then jumps while its rates say that it hardly turned. From the sample before, with the period Δ,

    .. math:: E = (R_{k-1} \, Exp(\tfrac{\Delta}{2} (\omega_{k-1} + \omega_k)))^\top R_k

    is a jump where its part about the horizontal axes is larger than 0.6°, six times its own rms of before (noise), and
    :math:`\tfrac{\Delta}{2} |\omega_k - \omega_{k-1}|`, by which the integral may err. A heading alone may jump:
    compasses correct it. Readings stay as they are: a robot walks on with a tilt of a degree, and one that is taken
    off by mistake would stay.
    """

    def __init__(self) -> None:
        """Begin."""
        self.reset()

    def reset(self) -> None:
        """Take the unit as it is mounted."""
        self._last: ImuMeasurement | None = None
        self._taken = -math.inf
        self._noise = 0.0  # [rad²], mean square of E about the horizontal axes

    def tilted(self, imu: ImuMeasurement, taken: float) -> float:
        """Return by how much the unit was tilted before the reading of ``taken`` [s], [rad]; 0 if it was not."""
        last, period = self._last, taken - self._taken
        if period == 0.0:
            return 0.0
        self._noise *= 1.0 - _FORGOTTEN
        self._last, self._taken = imu, taken  # after a clock that stepped back, the first one
        if last is None or not 0.0 < period <= _LONGEST_STEP:
            return 0.0
        before, now, change = last.angular_velocity, imu.angular_velocity, (imu.rotation - last.rotation).ravel()
        if change.dot(change) < 0.5 * _JUMP**2 and now.dot(now) * period * period < 0.25 * _JUMP**2:
            return 0.0  # it turned by too little
        seen = last.rotation.T @ imu.rotation
        small = 0.5 * (seen[_AXIS] - seen.T[_AXIS]) - 0.5 * period * (before + now)  # E, of small turns
        x, y, _ = (last.rotation @ small).tolist()
        tilt, noise = math.hypot(x, y), _NOISES * math.sqrt(self._noise)
        self._noise += _FORGOTTEN * tilt * tilt
        return tilt if tilt > max(_JUMP, noise) + 0.5 * period * math.dist(before, now) else 0.0


class ImuCheck:
    """Refuses readings of an inertial unit that is frozen or gives impossible numbers: encoders are enough to walk.

    A unit that is tilted in mid-walk is named (``ImuMounting``).
    """

    def __init__(self, frozen_duration: float, bridge_duration: float) -> None:
        """Begin.

        Args:
            frozen_duration: A living unit repeats itself for less, [s].
            bridge_duration: For so long unusable readings are tolerated without a finding, [s].
        """
        self._frozen = FrozenSensorCheck(frozen_duration)
        self._repeated = RepeatedRates(3, frozen_duration, _TURN)
        self._unusable = Debounce(bridge_duration)
        self.mounting = ImuMounting()
        self.reset()

    def reset(self) -> None:
        """Trust the unit."""
        self._frozen.reset()
        self.mounting.reset()
        self._repeated.reset()
        self._rotation: NDArray | None = None
        self._turned = np.zeros(3)
        self._unusable.reset()
        self._is_distrusted = self._was_seen = False
        self._was_trusted, self._rates = False, [math.nan] * 3  # of the last reading
        self._pending: tuple[ImuMeasurement, float] | None = None  # the last reading, where the checks do not know it
        self.bridged = BridgedReadings()

    def update(
        self, imu: ImuMeasurement | None, time: float, taken: float | None = None
    ) -> tuple[ImuMeasurement | None, list[Finding]]:
        """Return the reading of ``taken`` [s], or None where it is not used, and new violations at ``time`` [s]."""
        taken = time if taken is None else taken
        if imu is None:
            self._was_trusted = False
            return None, self._unusable_findings(True, time) if self._was_seen else []  # of a robot without one, none
        rates, last = imu.angular_velocity.tolist(), self._rates
        self._rates, is_usable = rates, self._is_usable(imu.rotation, *rates)
        if is_usable and self._was_trusted and rates[0] != last[0] and rates[1] != last[1] and rates[2] != last[2]:
            self._pending = imu, taken
            return self._mounted(imu, taken, [])
        self._was_seen, self._was_trusted = True, False
        self._catch_up()
        found = self._unusable_findings(not is_usable, time)
        if not is_usable or self.bridged.running:
            found += self.bridged.note(() if is_usable else (_IMU,), [finding.subject for finding in found])
        if is_usable:
            found += self._repeat_findings(imu, taken)
            self._was_trusted = not self._is_distrusted
        return self._mounted(imu, taken, found) if self._was_trusted else (None, found)

    def _mounted(self, imu: ImuMeasurement, taken: float, found: list[Finding]) -> tuple[ImuMeasurement, list[Finding]]:
        """Return the reading, and the findings with that the unit was tilted."""
        if tilt := self.mounting.tilted(imu, taken):
            text = f"the attitude of the IMU jumped by {math.degrees(tilt):.1f}° and its rates did not: is it fixed?"
            found = [*found, Finding(SafetyKind.IMU_JUMP, _IMU, text)]
        return imu, found

    @staticmethod
    def _is_usable(rotation: NDArray, x: float, y: float, z: float) -> bool:
        attitude = rotation.ravel()
        return bool(attitude.dot(attitude) + (x * x + y * y + z * z) <= _MOST)  # NaN is not

    def _catch_up(self) -> None:
        """Give the checks of repeated readings the last one, which repeated nothing."""
        if self._pending is not None:
            (imu, taken), self._pending = self._pending, None
            self._frozen.accept(_values(imu), taken)
            self._repeated.accept(imu.angular_velocity, self._turned, taken)
            self._rotation = imu.rotation

    def _unusable_findings(self, is_unusable: bool, time: float) -> list[Finding]:
        if not self._unusable.update(is_unusable, time):
            return []
        self._is_distrusted = True
        return [Finding(SafetyKind.SENSOR_NOT_FINITE, _IMU, "the IMU gives no usable reading any more")]

    def _repeat_findings(self, imu: ImuMeasurement, taken: float) -> list[Finding]:
        if self._frozen.is_frozen(_values(imu), taken):
            text = "the IMU repeats the same reading"
        elif self._are_rates_lost(imu, taken):
            text = "the rates of the IMU repeat themselves while it turns: it is not used any more"
        else:
            return []
        was_distrusted, self._is_distrusted = self._is_distrusted, True
        return [] if was_distrusted else [Finding(SafetyKind.SENSOR_FROZEN, _IMU, text)]

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


def _values(imu: ImuMeasurement) -> list[float]:
    return [*imu.rotation.ravel().tolist(), *imu.angular_velocity.tolist()]


_JUMP_SPEED = 2.0  # [-] on the velocity limits: nothing moves faster from one reading to the next
_JUMP_MARGIN = 0.05  # [rad] on top of it: a reading that comes 10 ms late, at 5 rad/s


class JointSensorCheck:
    """Passes on the readings of joints; a sample in which a check may find something is checked, and repaired.

    No check of a joint can find anything where no velocity repeats its last reading, and all joints together moved, and
    say that they move, less than the slowest one may alone. Nearly all samples are such: they are accepted at once, and
    the checks get the last of them only before the next sample that they have to look at.

    Attributes:
        positions: Last accepted or predicted positions, [rad], shape (n,); None before the first.
    """

    def __init__(
        self, config: SensorCheckConfig, joints: Sequence[str], velocity_limits: NDArray, carrying: Collection[str] = ()
    ) -> None:
        """Take the tolerated limits, names of joints, their velocity limits, [rad/s], and names of those that carry."""
        speeds, duration = _JUMP_SPEED * velocity_limits, config.bridge_duration
        self._slowest = float(speeds.min())
        self._velocities = VelocityCheck(joints, velocity_limits, config.frozen_duration, duration)
        self._encoders = EncoderCheck(joints, speeds, _JUMP_MARGIN, duration, carrying)
        self.reset()

    def reset(self) -> None:
        """Forget the past and trust all sensors."""
        self._velocities.reset()
        self._encoders.reset()
        self.positions: NDArray | None = None
        self._read = np.zeros(0)  # velocities
        self._pending: float | None = None  # [s] when the last sample was taken, where the checks do not know it
        self._was_trusted = False

    @property
    def bridged_counts(self) -> dict[str, int]:
        """Number of readings that could not be used and were bridged, by joint."""
        return self._velocities.bridged.counts | self._encoders.bridged.counts

    def predict(self, motion: NDArray) -> NDArray | None:
        """Move the accepted positions by the commanded ``motion``, [rad], shape (n,), and return them."""
        self._catch_up()
        self.positions = self._encoders.predict(motion)
        return self.positions

    def accepts(self, read: Measurement, interval: float) -> bool:
        """Accept the joints of a measurement, ``interval`` [s] after the last one, if no check can find anything."""
        positions, velocities = read.joint_positions, read.joint_velocities
        if not self._was_trusted or self.positions is None or np.count_nonzero(velocities == self._read):
            return False
        change, square = positions - self.positions, (self._slowest * interval + _JUMP_MARGIN) ** 2
        speed = velocities.dot(velocities)
        if not (change.dot(change) <= square and speed * interval * interval <= square):  # nor where one is NaN
            return False
        self.positions, self._read, self._pending = positions, velocities, read.time
        return True

    def repaired(
        self, read: Measurement, motion: NDArray, commanded_velocities: NDArray, interval: float, time: float
    ) -> tuple[Measurement, list[Finding]]:
        """Return a measurement with plausible positions and velocities of the joints, and new violations.

        Args:
            read: As read.
            motion: Commanded since the last reading, [rad], shape (n,).
            commanded_velocities: The last ones, [rad/s], shape (n,).
            interval: Since the last reading, [s].
            time: Of the control clock, [s].
        """
        self._catch_up()
        positions, self._read = read.joint_positions, read.joint_velocities
        velocities, lost = self._velocities.update(positions, self._read, interval, read.time, time)
        positions, velocities, found = self._encoders.update(
            positions, velocities, motion, commanded_velocities, interval, time
        )
        self.positions = self._encoders.positions
        self._was_trusted = self._velocities.is_trusted and self._encoders.is_trusted
        if positions is not read.joint_positions or velocities is not read.joint_velocities:
            read = altered(read, joint_positions=sealed(positions), joint_velocities=sealed(velocities))
        return read, lost + found

    def _catch_up(self) -> None:
        """Give the checks the last sample, in which they would have found nothing."""
        if self._pending is not None and self.positions is not None:
            self._velocities.accept(self.positions, self._read, self._pending)
            self._encoders.accept(self.positions, self._read)
        self._pending = None
