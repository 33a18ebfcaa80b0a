"""What a process can do so that its ticks come in time: collector, priority, turns of the threads."""

from __future__ import annotations

import gc
import os
import sys
import time

_SWITCH_INTERVAL = 0.0001  # [s] a thread may keep another one waiting: storing a message takes half of that
_PRIORITY = 20  # of SCHED_FIFO: above all ordinary processes, below the kernel's interrupt threads (50)
_NICENESS = -10
_FULL_PERIOD = 5.0  # [s] between full collections
_LONGEST_DELAY = 60.0  # [s] after which a full collection is done though there is no time for it


class GarbageKeeper:
    """Collects garbage in the time that is left after a tick, never within one.

    What was made before the first tick is taken out of the collector's sight; what comes afterwards dies young or
    is collected when the time left is twice what the last collection took.
    """

    def __init__(self) -> None:
        self._costs = {0: 0.0, 2: 0.0}  # [s] of the last collection, by generation
        self._last_full = time.monotonic()

    def begin(self) -> None:
        """Switch the automatic collection off."""
        gc.collect()
        gc.freeze()
        gc.disable()

    def keep(self) -> None:
        """Take what was made since `begin` out of the collector's sight; nothing ticks yet."""
        if not gc.isenabled():
            gc.collect()
            gc.freeze()

    def use_idle_time(self, time_left: float) -> None:
        """Collect if it is likely to end within ``time_left`` [s]."""
        since_full = time.monotonic() - self._last_full
        if since_full > _FULL_PERIOD and (time_left > 2.0 * self._costs[2] or since_full > _LONGEST_DELAY):
            self._collect(2)
            self._last_full = time.monotonic()
        elif time_left > 2.0 * self._costs[0]:
            self._collect(0)

    def end(self) -> None:
        """Leave the collection to Python again."""
        gc.unfreeze()
        gc.enable()

    def _collect(self, generation: int) -> None:
        begin = time.perf_counter()
        gc.collect(generation)
        self._costs[generation] = time.perf_counter() - begin


def share_turns_often() -> None:
    """Let a thread that plans, or is busy with messages, hold up the tick for a tenth of a millisecond at a time.

    Python's 5 ms is half a period: samples then wait for the end of the tick, and the tick for the planner.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL)


def raise_priority() -> str:
    """Give this thread, and those that it starts, a real-time priority where permitted; return what came of it."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        return f"real-time priority {_PRIORITY}"
    except (AttributeError, OSError):
        pass
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _NICENESS)
        return f"niceness {_NICENESS} (a real-time priority is not permitted)"
    except (AttributeError, OSError):
        return "ordinary priority (neither a real-time priority nor a lower niceness is permitted)"
