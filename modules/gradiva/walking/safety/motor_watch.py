"""Motors that get warm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, NDArray
from gradiva.walking.safety.persistence import Persistence
from gradiva.walking.safety.safety_event import Finding, SafetyKind


@dataclass(frozen=True, slots=True)
class MotorWatchConfig:
    """What is borne of a motor.

    Attributes:
        warn_temperature: [°C].
        stop_temperature: [°C].
        duration: For so long, a single wrong reading is none, [s].
    """

    warn_temperature: float
    stop_temperature: float
    duration: float

    def __post_init__(self) -> None:
        if not self.warn_temperature < self.stop_temperature:
            raise ConfigError(
                f"warn_temperature={self.warn_temperature}, must be below stop_temperature={self.stop_temperature}"
            )
        if self.duration < 0.0:
            raise ConfigError(f"duration={self.duration}, must not be negative")


class MotorWatch:
    """Compares the temperature of each motor with two limits; NaN is a motor that gives none."""

    def __init__(self, config: MotorWatchConfig, joints: Sequence[str]) -> None:
        self._joints = joints
        self._limits = np.repeat([config.warn_temperature, config.stop_temperature], len(joints))
        self._persistence = Persistence(np.full(2 * len(joints), config.duration))

    def reset(self) -> None:
        """Forget the past."""
        self._persistence.reset()

    def findings(self, temperatures: NDArray | None, time: float) -> list[Finding]:
        """Return what is newly wrong; temperatures in [°C], shape (n,), or None where the robot gives none."""
        if temperatures is None or temperatures.shape != (len(self._joints),):
            return []
        both = np.concatenate([temperatures, temperatures])
        lasting = self._persistence.update(both > self._limits, time)
        return [self._finding(index, both[index]) for index in lasting]

    def _finding(self, index: int, temperature: float) -> Finding:
        is_hot, joint = divmod(index, len(self._joints))
        name = self._joints[joint]
        text = f"the motor of {name} has {temperature:.0f} °C, the limit is {self._limits[index]:.0f} °C"
        return Finding(SafetyKind.MOTOR_HOT if is_hot else SafetyKind.MOTOR_WARM, name, text)
