"""Lets simulated time pass only when the controller has answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from gradiva.yarp_modules.simulator.simulated_part import SimulatedPart

_LOOK = 0.02  # [s] between two looks at whether to stop


class LockstepGate:
    """Waits until every board that is commanded by streaming has got a newer command than the last sample.

    A board counts while one of its joints is in a mode whose set-points are streamed, from the next sample on. One that
    stays silent for longer than the patience is not waited for until its next command.
    """

    def __init__(self, parts: Iterable[SimulatedPart], patience: float) -> None:
        """Listen to ``parts``.

        Args:
            parts: The boards.
            patience: With one that is silent, [s] of real time.
        """
        self._parts = tuple(parts)
        self._patience = patience
        self._answered = threading.Event()
        self._silent: dict[str, int] = {}
        self.note_sample()
        for part in self._parts:
            part.command_taken = self._answered.set

    @property
    def expected(self) -> list[str]:
        """Boards whose commands are waited for."""
        counted = [part for part in self._parts if part.name in self._counts]
        return [part.name for part in counted if part.is_streamed_to and not self._is_given_up(part)]

    def note_sample(self) -> None:
        """Wait for commands newer than now; to be called before a sample is published."""
        self._counts = {part.name: part.commands for part in self._parts if part.is_streamed_to}

    def wait(self, is_stopping: Callable[[], bool]) -> list[str]:
        """Wait for the commands; return the boards that were silent for too long."""
        deadline = time.monotonic() + self._patience
        while waiting := self._unanswered():
            self._answered.clear()
            left = deadline - time.monotonic()
            if left <= 0.0 or is_stopping():
                break
            if self._unanswered():
                self._answered.wait(min(left, _LOOK))
        if waiting and not is_stopping():
            self._silent |= {part.name: part.commands for part in self._parts if part.name in waiting}
            return waiting
        return []

    def _unanswered(self) -> list[str]:
        expected = self.expected
        return [part.name for part in self._parts if part.name in expected and part.commands == self._counts[part.name]]

    def _is_given_up(self, part: SimulatedPart) -> bool:
        return self._silent.get(part.name) == part.commands
