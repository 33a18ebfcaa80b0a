"""How layers in other processes are asked."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gradiva.common import ConfigError


@dataclass(frozen=True, slots=True)
class RemoteConfig:
    """``[remote]`` in ``config/remote.toml``.

    Attributes:
        wait_share: Of the period that a tick waits for model control, [-].
        max_silent_ticks: In a row without an answer in time that are borne.
        lockstep_patience: That a tick in lockstep waits for model control, [s].
        look_period: Between two attempts at a connection that is not there, [s].
        healthy_look_period: Between two looks at a connection that is, [s].
    """

    wait_share: float
    max_silent_ticks: int
    lockstep_patience: float
    look_period: float
    healthy_look_period: float

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0.0:
                raise ConfigError(f"{field.name}={getattr(self, field.name)}, must be positive")
        if self.wait_share >= 1.0:
            raise ConfigError(f"wait_share={self.wait_share}: a tick cannot wait longer than its period")
