"""Ticks that bring no command of their own."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import ConfigError, NoSolutionFound
from gradiva.walking.safety.persistence import Patience
from gradiva.walking.safety.safety_event import Finding, SafetyKind


@dataclass(frozen=True, slots=True)
class FailurePolicyConfig:
    """What is borne of the layers.

    Attributes:
        failed_duration: For so long ticks without a usable measurement or solution are borne, [s].
        relaxed_duration: For so long ticks are borne in which layer 3 cannot meet feet and CoM and comes as near as it
            can, [s].
    """

    failed_duration: float
    relaxed_duration: float

    def __post_init__(self) -> None:
        for name in ("failed_duration", "relaxed_duration"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


class FailurePolicy:
    """Counts failed ticks in a row, and how long there has been no other."""

    def __init__(self, config: FailurePolicyConfig) -> None:
        self._patience = Patience(config.failed_duration)
        self._failed_ticks = 0

    def succeeded(self) -> None:
        """Note a tick that went well."""
        if self._failed_ticks > 0:
            self._failed_ticks = 0
            self._patience.reset()

    def failed(self, error: Exception, time: float) -> list[Finding]:
        """Note a tick that failed at ``time`` [s]; return, once, that it has lasted too long."""
        self._failed_ticks += 1
        if not self._patience.is_over(True, time):
            return []
        kind = SafetyKind.NO_SOLUTION if isinstance(error, NoSolutionFound) else SafetyKind.FAILED_TICKS
        return [Finding(kind, "", f"{self._failed_ticks} ticks failed in a row, the last one: {error}")]
