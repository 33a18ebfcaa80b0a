"""How the modules speak to a robot's boards and sensors: table ``[robot_io]``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gradiva.common import ConfigError

_CARRIERS = ("tcp", "fast_tcp", "udp")


class WrenchSource(StrEnum):
    """Who tells the ground's wrenches."""

    SENSORS = "sensors"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True)
class RobotIoConfig:
    """Connections, ages and time limits.

    Attributes:
        carrier: Of states, commands and sensors.
        wrenches: By the sensors themselves, or by the ports of ``wholeBodyDynamics``.
        floating_base: Whether the true motion of the base is read, where a simulator tells it.
        max_age: A source whose last sample is older is late, [s].
        first_sample_timeout: In which every source has to speak once, [s].
        mode_timeout: In which all joints have to report a control mode, [s].
        velocity_acceleration: Of the boards' ramps in velocity mode, [deg/s²].
        release_speed: Of what a board may still move when it is let go of, [deg/s].
        temperature_period: Between two questions for the motors' temperatures; 0 for none, [s].
        limit_tolerance: By which limits of robot and model may differ untold, [deg].
    """

    carrier: str
    wrenches: WrenchSource
    floating_base: bool
    max_age: float
    first_sample_timeout: float
    mode_timeout: float
    velocity_acceleration: float
    release_speed: float
    temperature_period: float
    limit_tolerance: float

    def __post_init__(self) -> None:
        if self.carrier not in _CARRIERS:
            raise ConfigError(f"carrier='{self.carrier}', must be one of {', '.join(_CARRIERS)}")
        positive = ("max_age", "first_sample_timeout", "mode_timeout", "velocity_acceleration", "release_speed")
        for name in positive:
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        for name in ("temperature_period", "limit_tolerance"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must not be negative")
