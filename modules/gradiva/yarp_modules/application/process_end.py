"""How a process is brought to its end: asked, told, killed; never waited for without bound."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from enum import StrEnum
from threading import Event
from typing import Protocol

_LOOK = 0.02  # [s]


class Ending(StrEnum):
    """What it took."""

    QUIT = "quit"
    TERMINATED = "terminated"
    KILLED = "killed"
    IMMORTAL = "does not end"


class Endable(Protocol):
    """A process."""

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        ...

    def ask_to_quit(self) -> bool:
        """Ask it over RPC; False if it cannot be asked, or does not answer."""
        ...

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How long each step may take.

    Attributes:
        after_quit: [s] A robot that walks closes its feet first, for which its module takes 10 s at most.
        after_terminate: [s].
        after_kill: [s] only a process that hangs in the kernel needs more than a moment.
    """

    after_quit: float = 15.0
    after_terminate: float = 4.0
    after_kill: float = 2.0


def end_process(process: Endable, patience: Patience, hurry: Event) -> Ending:
    """End a process and return what it took; ``hurry`` leaves out the polite part."""
    if not process.is_alive:
        return Ending.QUIT
    if not hurry.is_set() and process.ask_to_quit() and _ended(process, patience.after_quit, hurry):
        return Ending.QUIT
    process.send(signal.SIGTERM)
    if _ended(process, patience.after_terminate, hurry):
        return Ending.TERMINATED
    process.send(signal.SIGKILL)
    return Ending.KILLED if _ended(process, patience.after_kill, Event()) else Ending.IMMORTAL


def _ended(process: Endable, patience: float, hurry: Event) -> bool:
    deadline = time.monotonic() + patience
    while process.is_alive:
        if time.monotonic() >= deadline or hurry.is_set():
            return not process.is_alive
        time.sleep(_LOOK)
    return True
