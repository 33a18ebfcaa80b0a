"""What can be set about the joypad."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gradiva.common import ConfigError


@dataclass(frozen=True, slots=True)
class JoypadConfig:
    """``[joypad]`` in ``config/joypad.toml``.

    Attributes:
        period: Between two messages, [s].
        step: Of full deflection, that one key press adds, [-].
        ramp: How fast the deflection follows, [1/s].
        dead_zone: Below which the stick is at rest, [-].
        status_period: Between two questions for the state of the walk, [s].
    """

    period: float
    step: float
    ramp: float
    dead_zone: float
    status_period: float

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0.0:
                raise ConfigError(f"{field.name}={getattr(self, field.name)}, must be positive")
        if self.dead_zone >= self.step:
            raise ConfigError(f"dead_zone={self.dead_zone}: must be smaller than step={self.step}")
        if self.step > 1.0:
            raise ConfigError(f"step={self.step}: full deflection is 1")
