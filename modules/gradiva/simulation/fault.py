"""A sensor or a motor that fails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from gradiva.common import ConfigError


class FaultKind(StrEnum):
    """What fails, and how."""

    FROZEN_WRENCH = "frozen_wrench"
    DEAD_WRENCH = "dead_wrench"
    NAN_WRENCH = "nan_wrench"
    REVERSED_WRENCH = "reversed_wrench"
    TURNED_WRENCH = "turned_wrench"
    ENCODER_OFFSET = "encoder_offset"
    NAN_ENCODER = "nan_encoder"
    NAN_IMU = "nan_imu"
    FROZEN_IMU = "frozen_imu"
    TILTED_IMU = "tilted_imu"
    SILENCE = "silence"
    HOT_MOTOR = "hot_motor"
    WEAK_MOTOR = "weak_motor"

    @property
    def is_of_wrench(self) -> bool:
        """Whether a force-torque sensor fails."""
        return self in (
            FaultKind.FROZEN_WRENCH,
            FaultKind.DEAD_WRENCH,
            FaultKind.NAN_WRENCH,
            FaultKind.REVERSED_WRENCH,
            FaultKind.TURNED_WRENCH,
        )

    @property
    def is_of_joint(self) -> bool:
        """Whether the encoder or the motor of a joint fails."""
        return self in (FaultKind.ENCODER_OFFSET, FaultKind.NAN_ENCODER, FaultKind.HOT_MOTOR, FaultKind.WEAK_MOTOR)


_NEEDS_VALUE = (FaultKind.ENCODER_OFFSET, FaultKind.HOT_MOTOR, FaultKind.TURNED_WRENCH, FaultKind.TILTED_IMU)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault over an interval.

    Attributes:
        kind: What fails, and how.
        start: Since the robot's start, [s].
        duration: [s]; None for ever.
        name: Of the force-torque sensor or the joint; empty for the IMU and for the silence of all sensors.
        value: Of an encoder's offset [rad]; by how much a motor gets hotter [°C/s]; which part of its torque a weak
            motor has left, 0 for a dead one [-]; about its z axis by which a force-torque sensor is mounted turned, and
            about its x axis by which an IMU is mounted tilted [rad].
    """

    kind: FaultKind
    start: float
    duration: float | None = None
    name: str = ""
    value: float = 0.0

    def __post_init__(self) -> None:
        if self.duration is not None and self.duration <= 0.0:
            raise ConfigError(f"{self.kind}: duration={self.duration}, must be positive")
        if bool(self.name) != (self.kind.is_of_wrench or self.kind.is_of_joint):
            raise ConfigError(f"{self.kind}: name='{self.name}', a joint or a force-torque sensor has to have a name")
        if self.kind in _NEEDS_VALUE and self.value == 0.0:
            raise ConfigError(f"{self.kind} of '{self.name}': value=0 is no fault")
        if self.kind is FaultKind.WEAK_MOTOR and not 0.0 <= self.value < 1.0:
            raise ConfigError(f"{self.kind} of '{self.name}': value={self.value}, must lie between 0 and 1")

    @property
    def end(self) -> float:
        """When it stops, [s]."""
        return math.inf if self.duration is None else self.start + self.duration

    def is_active(self, time: float) -> bool:
        """Whether it acts at ``time`` [s]."""
        return self.start <= time < self.end
