"""Schedules the ticks of a module, measures how long they take, and keeps them punctual."""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np

EPOCH = time.time() - time.monotonic()  # [s] where this process's steady clock began to count from 1970
_STOP_LOOK = 0.02  # [s] between two looks at whether the module stops
_POLL = 0.0002  # [s] between two looks at a simulated clock, at least
_POLLED_FRACTION = 0.3  # of the simulated time that is left: at three times real time no tick is overslept
_LONGEST_WAIT = 0.5  # [s] of the machine for a simulated clock, then the module sees whether it has to stop
HISTOGRAM_EDGES_US = (100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000)
_PERCENTILE_TICKS = 1000  # [ticks] for the percentiles
_PARTS = ("estimation", "model_control", "whole_body", "total")
_SWITCH_INTERVAL = 0.0001  # [s] a thread may keep another one waiting: storing a message takes half of that
_PRIORITY = 20  # of SCHED_FIFO: above all ordinary processes, below the kernel's interrupt threads (50)
_NICENESS = -10
_YIELDED = 5  # of niceness: a third of the weight of a thread that ticks
_FULL_PERIOD = 5.0  # [s] between full collections
_LONGEST_DELAY = 60.0  # [s] after which a full collection is done though there is no time for it


class TickClock:
    """Reads the clock of ticks and waits by it: a simulated one while the process follows it, else the machine's."""

    def __init__(self, simulated: Callable[[], float | None] = lambda: None) -> None:
        """Take how a simulated clock is read, [s]: None: none is followed; NaN: it has no time yet."""
        self._simulated = simulated

    def now(self) -> float:
        """Return the time of ticks, [s]: of the simulated clock, else of the machine's monotonic one."""
        simulated = self._simulated()
        return time.monotonic() if simulated is None else simulated

    def control_time(self) -> float:
        """Return the time of control and of samples, [s]: of the simulated clock, else a steady one.

        The steady clock agrees with the wall clock when the process starts, so that logs can be compared with others,
        and is monotonic from then on: it does not follow when the wall clock is set (NTP, an operator).
        """
        simulated = self._simulated()
        return EPOCH + time.monotonic() if simulated is None else simulated

    def wait_until(self, due: float, is_stopping: Callable[[], bool]) -> bool:
        """Wait until ``due`` [s]; False when the module stops, or a simulated clock stands still."""
        deadline = time.monotonic() + _LONGEST_WAIT
        while not is_stopping():
            simulated, now = self._simulated(), time.monotonic()
            left = due - (now if simulated is None else simulated)
            if left <= 0.0:
                return True
            if simulated is not None and now >= deadline:
                return False
            time.sleep(min(left if simulated is None else max(_POLL, _POLLED_FRACTION * left), _STOP_LOOK))
        return False


class TickSchedule:
    """Waits for the next cycle. Cycles that were missed are counted and left out; those to come keep their places.

    Attributes:
        period: [s].
        lateness: Of the cycle that began last, [s].
    """

    def __init__(self, period: float, clock: TickClock) -> None:
        self.period = period
        self._clock = clock
        self.lateness = 0.0
        self._due: float | None = None
        self._began = -math.inf

    def wait(self, is_stopping: Callable[[], bool]) -> int | None:
        """Wait until the next cycle is due; return how many were missed.

        Returns:
            None when the module stops, or a simulated clock stands still: there is no cycle now.
        """
        now = self._clock.now()
        due = now if self._due is None else self._due + self.period
        missed = 0 if self._due is None else max(0, math.floor((now - due) / self.period))
        due += missed * self.period
        if due <= self._began <= now:  # the last one began when this one was due
            missed, due = missed + 1, due + self.period
        if due - now > 2.0 * self.period:  # a simulation that began anew
            due = now
        if not self._clock.wait_until(due, is_stopping):
            return None
        self._began, self._due = self._clock.now(), due
        self.lateness = max(0.0, self._began - due) + missed * self.period
        return missed

    def time_left(self) -> float:
        """Return the time until the next cycle, [s]; negative when it is late."""
        return 0.0 if self._due is None else self._due + self.period - self._clock.now()


class ModuleHealth:
    """Counts and times the ticks of one module.

    Attributes:
        module: Its name.
        period: Of its ticks, [s].
        state: Of the module, which keeps it up to date.
        real_time: Priority that the process has got.
        errors: Ticks that ended by an exception.
    """

    def __init__(self, module: str, period: float) -> None:
        self.module = module
        self.period = period
        self.state = ""
        self.real_time = ""
        self.errors = 0
        self._begin = time.monotonic()
        self._ticks = self._misses = self._overruns = 0
        self._durations = np.zeros(_PERCENTILE_TICKS)
        self._lateness = np.zeros(_PERCENTILE_TICKS)
        self._longest = 0.0
        self._histogram = [0] * (len(HISTOGRAM_EDGES_US) + 1)

    @contextmanager
    def tick(self, lateness: float = 0.0, missed: int = 0) -> Iterator[None]:
        """Time the block within.

        Args:
            lateness: By how much it begins late, [s].
            missed: Ticks that were left out before.
        """
        self._overruns += missed
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.record(time.perf_counter() - begin, lateness)

    def record(self, duration: float, lateness: float = 0.0) -> None:
        """Count a tick that took ``duration`` [s] and began late by ``lateness`` [s]."""
        place = self._ticks % _PERCENTILE_TICKS
        self._durations[place], self._lateness[place] = duration, lateness
        self._ticks += 1
        self._misses += duration > self.period
        self._longest = max(self._longest, duration)
        self._histogram[int(np.searchsorted(HISTOGRAM_EDGES_US, duration * 1e6))] += 1

    def report(self) -> dict[str, object]:
        """Return how well the module keeps time, by name; may be called from any thread.

        Misses are ticks that took longer than the period; overruns were left out because an earlier one ended too
        late. Median and percentiles are of the last 1000 ticks; the histogram counts those that took up to 100, 200,
        500 µs, 1, 2, 5, 10, 20, 50, 100 ms, and longer.
        """
        known = max(1, min(self._ticks, _PERCENTILE_TICKS))
        median, p99 = np.percentile(self._durations[:known], [50, 99]) * 1e6
        return {
            "module": self.module,
            "state": self.state,
            "uptime_s": round(time.monotonic() - self._begin, 3),
            "period_ms": round(self.period * 1e3, 3),
            "ticks": self._ticks,
            "deadline_misses": self._misses,
            "overruns": self._overruns,
            "errors": self.errors,
            "tick_median_us": round(float(median), 1),
            "tick_p99_us": round(float(p99), 1),
            "tick_max_us": round(self._longest * 1e6, 1),
            "lateness_p99_us": round(float(np.percentile(self._lateness[:known], 99)) * 1e6, 1),
            "histogram": tuple(self._histogram),
            "real_time": self.real_time,
        }


class LapTimer:
    """Times the parts of one tick.

    Attributes:
        laps: Part to duration, [µs]; zero for parts that did not run.
    """

    def __init__(self) -> None:
        self.laps = dict.fromkeys(_PARTS, 0.0)
        self._begin = self._last = 0.0

    def start(self) -> None:
        """Begin a tick."""
        self.laps = dict.fromkeys(_PARTS, 0.0)
        self._begin = self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """End one part of the tick."""
        now = time.perf_counter()
        self.laps[part] = 1e6 * (now - self._last)
        self._last = now

    def stop(self) -> None:
        """End the tick."""
        self.laps["total"] = 1e6 * (time.perf_counter() - self._begin)


class GarbageKeeper:
    """Collects garbage in the time that is left after a tick, never within one.

    Objects made before the first tick are exempt from collection; later ones die young or are collected when the
    time left is twice the duration of the last collection.
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
        """Exempt the objects made since `begin` from collection; nothing ticks yet."""
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


def give_way_to_ticks() -> None:
    """Lower the priority of this thread: ticks of all modules come first, at equal priority they wait for it.

    A real-time one by one; else, on Linux alone, where a thread has a niceness of its own, that by ``_YIELDED``.
    """
    with suppress(AttributeError, OSError):
        if os.sched_getscheduler(0) == os.SCHED_FIFO:
            lower = max(1, os.sched_getparam(0).sched_priority - 1)
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(lower))
        elif sys.platform == "linux":
            os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) + _YIELDED)


def raise_priority() -> str:
    """Give this thread, and those that it starts, a real-time priority where permitted; return which it has got."""
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
