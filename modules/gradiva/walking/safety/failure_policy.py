"""Ticks that bring no command of their own: which error, where it arose, and for how long they are tolerated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from gradiva.common import ConfigError, NoSolutionFound
from gradiva.walking.safety.persistence import Patience
from gradiva.walking.safety.safety_event import Finding, SafetyKind

_PACKAGE = __name__.partition(".")[0]
_LONGEST_MESSAGE = 200  # [characters] some solvers answer with pages


@dataclass(frozen=True, slots=True)
class FailurePolicyConfig:
    """What is tolerated of the layers.

    Attributes:
        failed_duration: For so long ticks that raise an error are tolerated without a break, [s].
        relaxed_duration: For so long ticks are tolerated in which layer 3 cannot meet feet and CoM and comes as near as
            it can, [s].
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
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._patience.reset()
        self._failed_ticks = 0

    def succeeded(self) -> None:
        """Note a tick that went well."""
        if self._failed_ticks > 0:
            self.reset()

    def failed(self, error: Exception, time: float) -> list[Finding]:
        """Return what a tick that failed at ``time`` [s] is, and, once, that they have lasted too long."""
        self._failed_ticks += 1
        found = [failed_tick(error)]
        if self._patience.is_over(True, time):
            kind = SafetyKind.NO_SOLUTION if isinstance(error, NoSolutionFound) else SafetyKind.FAILED_TICKS
            text = f"{self._failed_ticks} ticks failed in a row, the last one: {found[0].text}"
            found.append(Finding(kind, "", text))
        return found


def failed_tick(error: Exception) -> Finding:
    """Return an error by its type, message, room and line, such as ``KeyError 'x' in estimation (base_source.py:90)``.

    The subject is the same for the same error at the same place.
    """
    name = type(error).__name__
    room, line = _place(error.__traceback__)
    return Finding(SafetyKind.FAILED_TICK, f"{name}{room}", f"{name} {_message(error)}{room}{line}")


def _place(traceback: TracebackType | None) -> tuple[str, str]:
    """Return the innermost room of this package that an error passed, and the file and line where it arose."""
    room = line = ""
    while traceback is not None:
        package, _, path = str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")
        room = f" in {path.partition('.')[0]}" if package == _PACKAGE else room
        line = f" ({Path(traceback.tb_frame.f_code.co_filename).name}:{traceback.tb_lineno})"
        traceback = traceback.tb_next
    return room, line


def _message(error: Exception) -> str:
    """Return the first line of an error's message."""
    try:
        text = str(error).strip().partition("\n")[0]
    except Exception:  # an error of a library may not be able to say what it is
        text = ""
    return text[:_LONGEST_MESSAGE] or "without a message"
