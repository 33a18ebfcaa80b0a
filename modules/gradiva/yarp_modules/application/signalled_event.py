"""An event that a signal handler may set."""

from __future__ import annotations

import math
import queue
import threading
import time
from contextlib import suppress

_LONGEST_SLEEP = 0.2  # [s]; a signal that comes while the thread falls asleep is handled when it wakes up


class SignalledEvent(threading.Event):
    """An event that may be set in a signal handler, once and for all.

    A handler runs in the main thread between any two of its instructions. Where that thread is just entering ``wait``
    it holds the lock of a plain event, and ``set`` would wait for it for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self._has_come = False
        self._arrived: queue.SimpleQueue[None] = queue.SimpleQueue()  # its put() is safe in a signal handler

    def is_set(self) -> bool:
        """Tell whether it has been set."""
        return self._has_come

    def set(self) -> None:
        """Set it; who waits goes on."""
        self._has_come = True
        self._arrived.put(None)

    def clear(self) -> None:
        """Refuse.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("what a signal has asked for stays asked for")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, for at most a time [s]; tell whether it is."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while not self._has_come and (rest := deadline - time.monotonic()) > 0.0:
            with suppress(queue.Empty):
                self._arrived.get(timeout=min(rest, _LONGEST_SLEEP))
                self._arrived.put(None)  # for others who wait
        return self._has_come
