"""From what the sensors say to what can be believed of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gradiva.common import (
    GRAVITY,
    BaseMeasurement,
    ConfigError,
    EstimationError,
    ImuMeasurement,
    Measurement,
    NDArray,
    Side,
    altered,
    sealed,
)
from gradiva.robot_model import RobotDescription
from gradiva.walking.safety.encoder_bridge import EncoderBridge
from gradiva.walking.safety.imu_trust import ImuTrust
from gradiva.walking.safety.persistence import Patience
from gradiva.walking.safety.safety_event import Finding, SafetyKind
from gradiva.walking.safety.wrench_trust import WrenchTrust

_HARDEST = 10.0  # [-] of the robot's weight: no landing loads a foot's sensor more
_FLOAT = np.dtype(np.float64)


@dataclass(frozen=True, slots=True)
class SensorBridgeConfig:
    """What is borne of the sensors.

    Attributes:
        max_age: Of a measurement on the control clock, [s].
        bridge_duration: For so long a jump or readings that are not finite are bridged in silence, [s].
        jump_speed: Factor on the velocity limits beyond which nothing moves, [-].
        jump_margin: On top of it, [rad].
        frozen_duration: A living sensor repeats itself for less, [s].
    """

    max_age: float
    bridge_duration: float
    jump_speed: float
    jump_margin: float
    frozen_duration: float

    def __post_init__(self) -> None:
        for name in ("max_age", "jump_speed", "jump_margin", "frozen_duration"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        if self.bridge_duration < 0.0:
            raise ConfigError(f"bridge_duration={self.bridge_duration}, must not be negative")


class SensorBridge:
    """Hands on a measurement as it is while all is well, and mended where a sensor fails.

    An encoder that fails is taken to do as it was told, a foot's sensor is not used (``untrusted_feet``), the IMU is
    left out. Where the whole measurement is too old, all of it at once.
    """

    def __init__(self, config: SensorBridgeConfig, robot: RobotDescription, velocity_limits: NDArray) -> None:
        """Take what is borne, the robot, and its joints' velocity limits, [rad/s], shape (n,)."""
        speeds, duration = config.jump_speed * velocity_limits, config.bridge_duration
        self._config = config
        self._no_motion = np.zeros_like(velocity_limits)
        joints, sensors = len(robot.joints), len(robot.force_torque_sensors)
        self._needed = {"joint_positions": (joints,), "joint_velocities": (joints,), "contact_wrenches": (sensors, 6)}
        self._unmeasured = sealed(np.full(joints, np.nan))
        self._encoders = EncoderBridge(robot.joints, speeds, config.jump_margin, duration)
        self._wrenches = WrenchTrust(
            robot.force_torque_sensors, config.frozen_duration, duration, _HARDEST * robot.mass * GRAVITY
        )
        self._imu = ImuTrust(config.frozen_duration, duration)
        self._silence = Patience(0.0)
        self.reset()

    def reset(self) -> None:
        """Forget the past and trust all sensors."""
        for part in (self._encoders, self._wrenches, self._imu, self._silence):
            part.reset()
        self._last: Measurement | None = None
        self._last_reading = self._last_time = self._lag = 0.0
        self._last_stamp = -math.inf
        self._unread_motion = self._no_motion
        self._is_blind = False

    @property
    def joint_positions(self) -> NDArray | None:
        """Where the joints were last, [rad], shape (n,); None before the first measurement."""
        return self._encoders.positions

    @property
    def untrusted_feet(self) -> frozenset[Side]:
        """Feet of which the force-torque sensors are not believed."""
        return frozenset(Side) if self._is_blind else self._wrenches.untrusted

    def condemn_foot(self, side: Side) -> None:
        """Do not believe the sensors of a foot any more."""
        self._wrenches.condemn(side)

    def update(
        self, measurement: Measurement, told_velocities: NDArray, time: float
    ) -> tuple[Measurement, list[Finding]]:
        """Return what can be believed, and what has newly been wrong for too long.

        Args:
            measurement: The newest one.
            told_velocities: What the joints were told to do since the last tick, [rad/s], shape (n,).
            time: Of the control clock, [s].
        """
        measurement, found = self.usable(measurement)
        taken = self._taken(measurement.time, time, found)
        age = time - taken
        motion, self._last_time = (time - self._last_time) * told_velocities, time
        is_stale = not age <= self._config.max_age  # so is a time that is not finite
        found += self._stale(is_stale, age, time)
        self._is_blind = is_stale and self._last is not None
        if self._last is not None and (is_stale or taken <= self._last_reading):
            self._unread_motion = self._unread_motion + motion
            return (self._blind(self._last, told_velocities, time) if is_stale else self._last), found
        silence, self._last_reading, self._lag = taken - self._last_reading, taken, age
        if self._unread_motion is not self._no_motion:
            motion, self._unread_motion = motion + self._unread_motion, self._no_motion
        if taken != measurement.time:
            measurement = altered(measurement, time=taken)
        self._last, new = self._mended(measurement, motion, told_velocities, silence, time)
        return self._last, [*found, *new]

    def usable(self, measurement: Measurement) -> tuple[Measurement, list[Finding]]:
        """Return a measurement without the readings that are none by their type or shape, and these.

        Raises:
            EstimationError: It is one that no robot can be balanced without: positions, velocities, wrenches.
        """
        if self._is_usable(measurement):
            return measurement, []
        for name, shape in self._needed.items():
            if wrong := _mismatch(getattr(measurement, name), shape):
                raise EstimationError(f"{name} {wrong}")
        unusable = {name: why for name, why in self._optional_mismatches(measurement) if why}
        found = [
            Finding(SafetyKind.SENSOR_NOT_FINITE, name, f"{name} {why}: not used") for name, why in unusable.items()
        ]
        without = {name: self._unmeasured if name == "joint_torques" else None for name in unusable}
        return altered(measurement, **without), found

    def _is_usable(self, read: Measurement) -> bool:
        """Tell whether all readings are of their type and shape; cheaper than to say which are not."""
        joints, imu, temperatures = self._needed["joint_positions"], read.imu, read.motor_temperatures
        return (
            _is_reading(read.joint_positions, joints)
            and _is_reading(read.joint_velocities, joints)
            and _is_reading(read.joint_torques, joints)
            and _is_reading(read.contact_wrenches, self._needed["contact_wrenches"])
            and (temperatures is None or _is_reading(temperatures, joints))
            and (
                imu is None
                or (
                    type(imu) is ImuMeasurement
                    and _is_reading(imu.rotation, (3, 3))
                    and _is_reading(imu.angular_velocity, (3,))
                )
            )
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

    def _stale(self, is_stale: bool, age: float, time: float) -> list[Finding]:
        if not self._silence.is_over(is_stale, time):
            return []
        limit = self._config.max_age
        text = f"the sensors are silent: the newest measurement is {age:.2f} s old, the limit is {limit:.2f} s"
        return [Finding(SafetyKind.STALE_MEASUREMENT, "", text)]

    def _mended(
        self, measurement: Measurement, motion: NDArray, told_velocities: NDArray, silence: float, time: float
    ) -> tuple[Measurement, list[Finding]]:
        read = measurement
        positions, velocities, found = self._encoders.update(
            read.joint_positions, read.joint_velocities, motion, told_velocities, silence, time
        )
        wrenches, new = self._wrenches.update(read.contact_wrenches, time)
        imu, newer = self._imu.update(read.imu, time)
        is_mended = positions is not read.joint_positions or velocities is not read.joint_velocities
        if is_mended or wrenches is not read.contact_wrenches or imu is not read.imu:
            read = replace(
                read, joint_positions=positions, joint_velocities=velocities, contact_wrenches=wrenches, imu=imu
            )
        return read, [*found, *new, *newer]

    def _blind(self, last: Measurement, told_velocities: NDArray, time: float) -> Measurement:
        """All joints do as they were told; of the rest nothing is known."""
        positions = self._encoders.predict(self._unread_motion)
        self._unread_motion = self._no_motion
        if positions is None:
            return last
        self._last = replace(
            last,
            time=time - self._lag,
            joint_positions=positions,
            joint_velocities=told_velocities,
            joint_torques=np.full_like(last.joint_torques, np.nan),
            imu=None,
            base=None,
        )
        return self._last


def _is_reading(value: object, shape: tuple[int, ...]) -> bool:
    return type(value) is np.ndarray and value.dtype == _FLOAT and value.shape == shape


def _mismatch(value: object, shape: tuple[int, ...]) -> str:
    """Return what a reading is instead of an array of numbers of its shape; empty where it is one."""
    if _is_reading(value, shape):
        return ""
    if isinstance(value, np.ndarray):
        return f"has shape {value.shape} of {value.dtype}, the robot has {shape} of float64"
    return f"is a {type(value).__name__}, not an array"
