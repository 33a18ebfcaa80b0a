"""How well a module keeps time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from pureyarp.wire.elements import Element

HISTOGRAM_EDGES_US = (100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000)
_REMEMBERED = 1000  # [ticks] for the percentiles


@dataclass(frozen=True, slots=True)
class HealthReport:
    """What a module tells of itself once a second.

    Attributes:
        module: Its name.
        state: What it is doing, in a word or two.
        uptime_s: Since it began, [s].
        period_ms: Of its ticks, [ms].
        ticks: So far.
        deadline_misses: Ticks that took longer than the period.
        overruns: Ticks that were left out because an earlier one ended too late; never made up for.
        errors: Ticks that ended by an exception.
        tick_median_us: Of the last 1000 ticks, [µs].
        tick_p99_us: [µs].
        tick_max_us: Of all ticks, [µs].
        lateness_p99_us: By how much ticks begin late, [µs].
        histogram: Ticks so far that took up to 100, 200, 500 µs, 1, 2, 5, 10, 20, 50, 100 ms, and longer.
        real_time: Which measures for real time are in force.
    """

    module: str
    state: str
    uptime_s: float
    period_ms: float
    ticks: int
    deadline_misses: int
    overruns: int
    errors: int
    tick_median_us: float
    tick_p99_us: float
    tick_max_us: float
    lateness_p99_us: float
    histogram: tuple[int, ...]
    real_time: str

    def items(self) -> list[Element]:
        """Return the report as pairs (name value), in the order of the fields."""
        return [[name, _element(getattr(self, name))] for name in self.__slots__]


class ModuleHealth:
    """Counts and times the ticks of one module.

    Attributes:
        module: Its name.
        period: Of its ticks, [s].
        state: What it is doing; the module keeps it up to date.
        real_time: Which measures for real time are in force.
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
        self._durations = np.zeros(_REMEMBERED)
        self._lateness = np.zeros(_REMEMBERED)
        self._longest = 0.0
        self._histogram = [0] * (len(HISTOGRAM_EDGES_US) + 1)

    @contextmanager
    def tick(self, lateness: float = 0.0, missed: int = 0) -> Iterator[None]:
        """Time what is done within.

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
        place = self._ticks % _REMEMBERED
        self._durations[place], self._lateness[place] = duration, lateness
        self._ticks += 1
        self._misses += duration > self.period
        self._longest = max(self._longest, duration)
        self._histogram[int(np.searchsorted(HISTOGRAM_EDGES_US, duration * 1e6))] += 1

    def report(self) -> HealthReport:
        """Return what there is to tell now; may be called from any thread."""
        known = max(1, min(self._ticks, _REMEMBERED))
        median, p99 = np.percentile(self._durations[:known], [50, 99]) * 1e6
        return HealthReport(
            module=self.module,
            state=self.state,
            uptime_s=round(time.monotonic() - self._begin, 3),
            period_ms=round(self.period * 1e3, 3),
            ticks=self._ticks,
            deadline_misses=self._misses,
            overruns=self._overruns,
            errors=self.errors,
            tick_median_us=round(float(median), 1),
            tick_p99_us=round(float(p99), 1),
            tick_max_us=round(self._longest * 1e6, 1),
            lateness_p99_us=round(float(np.percentile(self._lateness[:known], 99)) * 1e6, 1),
            histogram=tuple(self._histogram),
            real_time=self.real_time,
        )


def _element(value: str | int | float | tuple[int, ...]) -> Element:
    return list(value) if isinstance(value, tuple) else value
