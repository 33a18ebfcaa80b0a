"""Round trips and streams of the middleware between two processes, beside YARP's own bindings."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gradiva.simulated_walk import measure_periodic_stream, measure_round_trips, measure_strict_stream, private_network
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row

# -- lateness of the machine itself ------------------------------------------------------------------------------------


class MachineLateness:
    """Wake-ups of a loop that does nothing but sleep.

    Attributes:
        lateness_us: Of each wake-up.
    """

    def __init__(self) -> None:
        self.lateness_us: list[float] = []

    def percentile(self, percentile: float) -> float:
        """Return the lateness that ``percentile`` per cent of the wake-ups stayed below, [µs]."""
        return float(np.percentile(self.lateness_us, percentile))


@contextmanager
def machine_lateness(rate: float) -> Iterator[MachineLateness]:
    """Sleep at ``rate`` [Hz] in a thread beside what is measured; the result is there when the context has ended."""
    result, stop = MachineLateness(), threading.Event()
    sleeper = threading.Thread(target=_sleep, args=(result.lateness_us, 1.0 / rate, stop), name="sleeper", daemon=True)
    sleeper.start()
    try:
        yield result
    finally:
        stop.set()
        sleeper.join()


def _sleep(lateness_us: list[float], period: float, stop: threading.Event) -> None:
    due = time.monotonic()
    while not (stop.is_set() and lateness_us):
        due += period
        time.sleep(max(due - time.monotonic(), 0.0))
        lateness_us.append(1e6 * (time.monotonic() - due))


# -- load --------------------------------------------------------------------------------------------------------------


class Load(NamedTuple):
    """The load of the machine beside a measurement.

    Attributes:
        busy_loops: Processes that only compute, each in a session of its own, as modules and other users' programs are.
        has_priority: Whether the measured processes have real-time priority.
    """

    busy_loops: int
    has_priority: bool

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.busy_loops} busy loops{', SCHED_FIFO' if self.has_priority else ''}"


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Compute in ``count`` processes."""
    command = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


# -- the experiment ----------------------------------------------------------------------------------------------------

_LOADS = (Load(0, False), Load(2, False), Load(2, True))
_ROUND_TRIP = 150.0  # [µs] allowed
_REAL_ROUND_TRIP = {"tcp": 236.0, "fast_tcp": 222.0}  # [µs] of YARP 3.12.3's Python bindings, loopback
_RATE = 500.0  # [Hz]


def run_yarp_streams(run: ExperimentRun) -> None:
    """Measure each carrier; ``paper`` is what YARP's own Python bindings reach, where that is known.

    ``run_delay`` is for how long a call's process waited for a core, on average, and ``machine`` how late a loop that
    only sleeps wakes up meanwhile, the same percentile: where that alone is above the limit, the row says nothing of
    the middleware. Real-time priority is left out where this user may not have it.
    """
    calls, messages, duration = (1000, 2000, 3.0) if run.options.quick else (10_000, 10_000, 60.0)
    loads = [load for load in _LOADS if not load.has_priority or _may_have_priority()]
    with private_network() as network:
        for load in loads:
            with busy_loops(load.busy_loops):
                for carrier in ("tcp", "fast_tcp"):
                    _add(run, _round_trip_row(network, carrier, calls, load))
                    _add(run, _strict_row(network, carrier, messages, load))
        for carrier in ("tcp", "fast_tcp", "udp"):
            _add(run, _age_row(network, carrier, duration))


def _may_have_priority() -> bool:
    return os.geteuid() == 0 or resource.getrlimit(resource.RLIMIT_RTPRIO)[0] > 0


def _add(run: ExperimentRun, row: Row) -> None:
    run.add_row(row)
    what = f"{row['what']}, {row['carrier']}, {row['load']}"
    run.report(len(run.rows), 4 * len(_LOADS) + 3, f"{what}: {row['value']:.4g} {row['unit']}")


def _round_trip_row(network: Mapping[str, str], carrier: str, calls: int, load: Load) -> Row:
    trips = measure_round_trips(network, carrier, calls, load.has_priority)
    median, p99 = np.percentile(trips.durations_us, [50, 99])
    complaint = f"{trips.failures} calls failed" if trips.failures else _above(median, _ROUND_TRIP, "µs")
    row = _row("round trip of 100 doubles, median", carrier, calls, float(median), "µs", _ROUND_TRIP, complaint)
    paper = None if load.busy_loops else _REAL_ROUND_TRIP[carrier]
    return {**row, "load": str(load), "p99": float(p99), "run_delay": trips.run_delay_us, "paper": paper}


def _strict_row(network: Mapping[str, str], carrier: str, messages: int, load: Load) -> Row:
    stream = measure_strict_stream(network, carrier, messages, load.has_priority)
    complaint = f"{stream.lost} lost" if stream.lost else "" if stream.in_order else "out of order"
    row = _row("strict stream of 100 doubles, lost", carrier, messages, stream.lost, "messages", 0, complaint)
    return {**row, "load": str(load), "messages_per_s": stream.rate}


def _age_row(network: Mapping[str, str], carrier: str, duration: float) -> Row:
    with machine_lateness(_RATE) as machine:
        stream = measure_periodic_stream(network, carrier, _RATE, duration)
    age, limit = stream.age_us(99.9), 1e6 / _RATE
    complaint = _above(age, limit, "µs") or (f"{stream.missing} missing" if stream.missing else "")
    what = f"{_RATE:.0f} Hz for {duration:.0f} s, age of 99.9 % below"
    row = _row(what, carrier, len(stream.ages_us), age, "µs", limit, complaint)
    return {
        **row,
        "load": str(_LOADS[0]),
        "median": stream.age_us(50),
        "missing": stream.missing,
        "machine": machine.percentile(99.9),
    }


def _above(value: float, limit: float, unit: str) -> str:
    return f"{value:.0f} {unit}, {limit:.0f} are allowed" if value > limit else ""


def _row(what: str, carrier: str, messages: int, value: float, unit: str, limit: float, complaint: str) -> Row:
    row: dict[str, Any] = {"what": what, "carrier": carrier, "messages": messages, "limit": limit, "paper": None}
    return {**row, "value": value, "unit": unit, "outcome": "failed" if complaint else "met", "reason": complaint}


EXPERIMENTS = (
    Experiment(
        "yarp_streams",
        "YARP 3.12.3's Python bindings",
        "Round trips and strict streams between two processes, also under load, and 500 Hz streams, on each carrier.",
        run_yarp_streams,
        own_robots=(),
    ),
)
