"""Ticks that bring no command of their own."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import ConfigError, NoSolutionFound
from gradiva.walking.safety.safety_event import Finding, SafetyKind


@dataclass(frozen=True, slots=True)
class FailurePolicyConfig:
    """What is borne of the layers.

    Attributes:
        max_failed_ticks: How many successive ticks are borne without a usable measurement or solution.
        max_relaxed_ticks: How many successive ticks are borne in which layer 3 cannot meet feet and CoM and comes as
            near as it can.
    """

    max_failed_ticks: int
    max_relaxed_ticks: int

    def __post_init__(self) -> None:
        for name in ("max_failed_ticks", "max_relaxed_ticks"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


class FailurePolicy:
    """Counts failed ticks in a row."""

    def __init__(self, config: FailurePolicyConfig) -> None:
        self._max_failed_ticks = config.max_failed_ticks
        self._failed_ticks = 0

    def succeeded(self) -> None:
        """Note a tick that went well."""
        self._failed_ticks = 0

    def failed(self, error: Exception) -> list[Finding]:
        """Note a tick that failed; return that these are too many."""
        self._failed_ticks += 1
        if self._failed_ticks <= self._max_failed_ticks:
            return []
        kind = SafetyKind.NO_SOLUTION if isinstance(error, NoSolutionFound) else SafetyKind.FAILED_TICKS
        return [Finding(kind, "", f"{self._failed_ticks} ticks failed in a row, the last one: {error}")]
