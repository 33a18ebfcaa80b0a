"""Whether the inertial unit can be believed."""

from __future__ import annotations

from gradiva.common import ImuMeasurement
from gradiva.walking.safety.frozen_reading import FrozenReading
from gradiva.walking.safety.persistence import Patience
from gradiva.walking.safety.safety_event import Finding, SafetyKind

_MOST = 3.1 + 40.0**2  # [-], [rad²/s²] a rotation's nine numbers, squared, are 3; gyroscopes end at 35 rad/s


class ImuTrust:
    """Withholds readings of an inertial unit that froze or gives impossible numbers: encoders are enough to walk."""

    def __init__(self, frozen_duration: float, bridge_duration: float) -> None:
        """Begin.

        Args:
            frozen_duration: A living unit repeats itself for less, [s].
            bridge_duration: For so long readings that are none are tolerated in silence, [s].
        """
        self._frozen = FrozenReading(frozen_duration)
        self._silent = Patience(bridge_duration)
        self.reset()

    def reset(self) -> None:
        """Trust the unit."""
        self._frozen.reset()
        self._silent.reset()
        self._is_condemned = False
        self._was_seen = False

    def update(self, imu: ImuMeasurement | None, time: float) -> tuple[ImuMeasurement | None, list[Finding]]:
        """Return the reading, or None where it is not believed, and what is newly wrong at ``time`` [s]."""
        if imu is None and not self._was_seen:
            return None, []  # a robot without one
        self._was_seen = True
        values = [] if imu is None else [*imu.rotation.ravel().tolist(), *imu.angular_velocity.tolist()]
        is_usable = imu is not None and sum([value * value for value in values]) <= _MOST
        found = []
        if self._silent.is_over(not is_usable, time):
            found.append(Finding(SafetyKind.SENSOR_NOT_FINITE, "IMU", "the IMU gives no usable reading any more"))
            self._is_condemned = True
        if imu is None or not is_usable:
            return None, found
        if self._frozen.is_frozen(values, time) and not self._is_condemned:
            found.append(Finding(SafetyKind.SENSOR_FROZEN, "IMU", "the IMU repeats the same reading"))
            self._is_condemned = True
        return None if self._is_condemned else imu, found
