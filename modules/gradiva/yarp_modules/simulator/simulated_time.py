"""Lets simulated time pass: at the pace of real time, in pauses, and in lockstep with a controller."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from gradiva.yarp_modules.simulator.simulated_part import SimulatedPart

_LARGEST_LAG = 0.05  # [s] of real time; what is lost beyond it is not made up for
_PACE_LOOK = 0.02  # [s] between two looks at whether to stop
_PAUSE_LOOK = 0.1  # [s] between two looks at whether to stop
_ROUNDING = 1e-9  # [s]
_GATE_LOOK = 0.02  # [s] between two looks at whether to stop
_WINDOW = 1.0  # [s] of real time


class Pace:
    """Waits until simulated times are due, on an absolute schedule that begins anew when it cannot be kept.

    Attributes:
        speed: Simulated seconds a real one; 0: as fast as possible.
        slips: How often the schedule began anew because the machine was too slow.
        lost: By how much simulated time is behind because of them, [s] of real time.
    """

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.slips = 0
        self.lost = 0.0
        self._anchor: tuple[float, float] | None = None  # simulated and real time

    def begin_anew(self) -> None:
        """Let the next time be due at once, as after a pause."""
        self._anchor = None

    def wait_for(self, simulated_time: float, is_stopping: Callable[[], bool]) -> bool:
        """Wait until ``simulated_time`` [s] is due; return whether it was too late to keep the schedule."""
        if self.speed <= 0.0:
            return False
        now = time.monotonic()
        if self._anchor is None:
            self._anchor = (simulated_time, now)
        due = self._anchor[1] + (simulated_time - self._anchor[0]) / self.speed
        if now - due > _LARGEST_LAG:
            self.slips += 1
            self.lost += now - due
            self._anchor = (simulated_time, now)
            return True
        while (left := due - time.monotonic()) > 0.0 and not is_stopping():
            time.sleep(min(left, _PACE_LOOK))
        return False


class Pause:
    """Stops simulated time, or lets it pass up to an instant. Ticks ask, answers over RPC change it.

    Attributes:
        is_on: Whether time stands still, or will after an instant.
    """

    def __init__(self, is_on: bool) -> None:
        self.is_on = is_on
        self._until: float | None = None
        self._reached = threading.Event()

    def begin(self) -> None:
        """Let time stand still, now; clients that wait for an instant are released."""
        self._until = None
        self.is_on = True
        self.release()

    def end(self) -> None:
        """Let time pass; clients that wait for an instant are released."""
        self._until = None
        self.is_on = False
        self.release()

    @property
    def is_awaited(self) -> bool:
        """Return whether a client waits for an instant."""
        return self._until is not None

    def run_until(self, time: float, is_stopping: Callable[[], bool]) -> None:
        """Let time pass up to ``time`` [s], and wait for it, or for `begin` or `end`."""
        self._reached.clear()
        self._until = time
        while not self._reached.wait(_PAUSE_LOOK) and not is_stopping():
            pass

    def release(self) -> None:
        """End every wait for an instant."""
        self._reached.set()

    def holds(self, time: float) -> bool:
        """Return whether time stands still at ``time`` [s]."""
        until = self._until  # an answer over RPC may change it meanwhile
        if not self.is_on:
            return False
        if until is None:
            return True
        if time < until - _ROUNDING:
            return False
        self._until = None
        self._reached.set()
        return True


class LockstepGate:
    """Waits until every board that is commanded by streaming has got a newer command than the last sample.

    A board counts while one of its joints is in a mode whose set-points are streamed, from the next sample on. One that
    stays silent for longer than the timeout is not waited for until its next command. While the sensors are silent by a
    fault there is nothing to answer, and time passes; the first sample after it is waited for as each other.
    """

    def __init__(self, parts: Iterable[SimulatedPart], timeout: float) -> None:
        """Listen to ``parts``.

        Args:
            parts: The boards.
            timeout: With one that is silent, [s] of real time.
        """
        self._parts = tuple(parts)
        self._timeout = timeout
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

    def note_sample(self, is_published: bool = True) -> None:
        """Wait for commands newer than now, or for none where the sample is not published; to be called before."""
        streamed = [part for part in self._parts if part.is_streamed_to] if is_published else []
        self._counts = {part.name: part.commands for part in streamed}

    def wait(self, is_stopping: Callable[[], bool]) -> list[str]:
        """Wait for the commands; return the boards that were silent for too long."""
        deadline = time.monotonic() + self._timeout
        while waiting := self._unanswered():
            self._answered.clear()
            left = deadline - time.monotonic()
            if left <= 0.0 or is_stopping():
                break
            if self._unanswered():
                self._answered.wait(min(left, _GATE_LOOK))
        if waiting and not is_stopping():
            self._silent |= {part.name: part.commands for part in self._parts if part.name in waiting}
            return waiting
        return []

    def _unanswered(self) -> list[str]:
        expected = self.expected
        return [part.name for part in self._parts if part.name in expected and part.commands == self._counts[part.name]]

    def _is_given_up(self, part: SimulatedPart) -> bool:
        return self._silent.get(part.name) == part.commands


class RealTimeFactor:
    """Measures the real-time factor over the last second.

    Attributes:
        factor: Simulated seconds a real one.
        load: Part of the real time at work, waits for the processor included, [-].
        cost: Of the processor's time that all threads need, seconds a simulated one.
    """

    def __init__(self) -> None:
        self.factor = 0.0
        self.load = 0.0
        self.cost = 0.0
        self._busy = 0.0
        self._begin: tuple[float, float, float] | None = None  # real, simulated and the processor's time

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Count the block within as work."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._busy += time.perf_counter() - begin

    def note(self, simulated_time: float) -> None:
        """Take the time of the simulation, [s]."""
        if self._begin is not None and time.perf_counter() - self._begin[0] < _WINDOW:
            return  # the processor's time of all threads is asked for once a window: it costs more than a message
        now = (time.perf_counter(), simulated_time, time.process_time())
        if self._begin is not None:
            passed, simulated, worked = (end - begin for begin, end in zip(self._begin, now, strict=True))
            self.factor, self.load = simulated / passed, self._busy / passed
            self.cost = worked / simulated if simulated > 0.0 else 0.0
        self._begin, self._busy = now, 0.0

    @property
    def text(self) -> str:
        """In a line of text."""
        return f"{self.factor:.2f} simulated seconds a real one, at work for {100.0 * self.load:.0f} % of the time"
