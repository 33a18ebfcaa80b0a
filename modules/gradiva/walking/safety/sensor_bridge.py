"""From what the sensors say to what can be believed of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradiva.common import ConfigError, Measurement, NDArray, Side
from gradiva.robot_model import RobotDescription
from gradiva.walking.safety.encoder_bridge import EncoderBridge
from gradiva.walking.safety.imu_trust import ImuTrust
from gradiva.walking.safety.persistence import Patience
from gradiva.walking.safety.safety_event import Finding, SafetyKind
from gradiva.walking.safety.wrench_trust import WrenchTrust


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
        self._shapes = (len(robot.joints),), (len(robot.force_torque_sensors), 6)
        self._encoders = EncoderBridge(robot.joints, speeds, config.jump_margin, duration)
        self._wrenches = WrenchTrust(robot.force_torque_sensors, config.frozen_duration, duration)
        self._imu = ImuTrust(config.frozen_duration, duration)
        self._silence = Patience(0.0)
        self.reset()

    def reset(self) -> None:
        """Forget the past and trust all sensors."""
        for part in (self._encoders, self._wrenches, self._imu, self._silence):
            part.reset()
        self._last: Measurement | None = None
        self._last_reading = self._last_time = self._lag = 0.0
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
        age = time - measurement.time
        motion, self._last_time = (time - self._last_time) * told_velocities, time
        is_stale = not age <= self._config.max_age  # so is a time that is not finite
        found = self._stale(is_stale, age, time)
        self._is_blind = is_stale and self._last is not None
        if self._last is not None and (is_stale or measurement.time <= self._last_reading):
            self._unread_motion = self._unread_motion + motion
            return (self._blind(self._last, told_velocities, time) if is_stale else self._last), found
        if (measurement.joint_positions.shape, measurement.contact_wrenches.shape) != self._shapes:
            return measurement, found  # the estimator refuses it by name
        silence, self._last_reading, self._lag = measurement.time - self._last_reading, measurement.time, age
        if self._unread_motion is not self._no_motion:
            motion, self._unread_motion = motion + self._unread_motion, self._no_motion
        self._last, new = self._mended(measurement, motion, told_velocities, silence, time)
        return self._last, [*found, *new]

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
