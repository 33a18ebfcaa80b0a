"""References that are not renewed."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import ConfigError, Side, WalkingReference
from gradiva.walking.safety.persistence import Patience
from gradiva.walking.safety.safety_event import Finding, SafetyKind


@dataclass(frozen=True, slots=True)
class ReferenceWatchConfig:
    """What is borne of the planner.

    Attributes:
        max_age: Of a reference, [s].
    """

    max_age: float

    def __post_init__(self) -> None:
        if self.max_age <= 0.0:
            raise ConfigError(f"max_age={self.max_age}, must be positive")


class ReferenceWatch:
    """Compares the time of the references with the clock; a planner in the same process is never late."""

    def __init__(self, config: ReferenceWatchConfig) -> None:
        self._max_age = config.max_age
        self._patience = Patience(0.0)

    def reset(self) -> None:
        """Forget the past."""
        self._patience.reset()

    def findings(self, reference: WalkingReference, time: float) -> list[Finding]:
        """Return that the reference is too old at ``time`` [s]."""
        age = time - reference.time
        if not self._patience.is_over(age > self._max_age, time):
            return []
        swinging = [str(side) for side in Side if not reference.foot(side).in_contact]
        phase = f"while the {swinging[0]} foot swings" if swinging else "in double support"
        text = f"the references stopped {age:.2f} s ago {phase}, the limit is {self._max_age:.2f} s"
        return [Finding(SafetyKind.STALE_REFERENCE, "", text)]
