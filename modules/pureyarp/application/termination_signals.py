"""Ctrl-C and a polite kill end a module between two cycles."""

from __future__ import annotations

import logging
import os
import queue
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

_LOGGER = logging.getLogger("pureyarp")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LAST_PATIENT_SIGNAL = 3


class TerminationSignals:
    """While it is entered, SIGINT and SIGTERM call ``stop`` and a fourth one ends the process at once.

    ``stop`` runs in a thread of its own: the signal may come while the main thread holds any lock. Outside the main
    thread Python has no signals, and nothing happens.

    Args:
        stop: What ends the module.
    """

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self._arrived: queue.SimpleQueue[int | None] = queue.SimpleQueue()  # its put() is safe in a signal handler
        self._previous: dict[signal.Signals, Any] = {}
        self._count = 0

    def __enter__(self) -> TerminationSignals:
        if threading.current_thread() is threading.main_thread():
            self._watcher = threading.Thread(target=self._watch, name="termination signals", daemon=True)
            self._watcher.start()
            self._previous = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if self._previous:
            self._arrived.put(None)
        self._previous = {}

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self._count > _LAST_PATIENT_SIGNAL:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        self._arrived.put(number)

    def _watch(self) -> None:
        count = 0
        while (number := self._arrived.get()) is not None:
            count += 1
            name = signal.Signals(number).name
            if count == 1:
                _LOGGER.info("%s: the module stops", name)
                self._stop()
            else:
                _LOGGER.warning("%s: the module is stopping; the fourth signal ends it at once", name)
