"""How long a call takes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_WARM_UP = 50  # [calls] that fill caches and do not count


def durations(calls: Iterable[Callable[[], object]]) -> list[float]:
    """Make the calls one after the other, garbage collection off; return their durations, [µs]."""
    samples: list[float] = []
    clock = time.perf_counter
    gc.collect()
    gc.disable()
    try:
        for call in calls:
            start = clock()
            call()
            samples.append(1e6 * (clock() - start))
    finally:
        gc.enable()
    return samples[min(_WARM_UP, len(samples) // 10) :]


def benchmark_row(
    name: str, samples: Sequence[float] | npt.NDArray[np.float64], violation: float | None = None
) -> dict[str, Any]:
    """Return a row of the benchmark's JSON.

    Args:
        name: Of what was timed.
        samples: Durations, [µs].
        violation: Largest constraint violation of an optimisation, in the units of its constraints.
    """
    median, p99 = np.percentile(samples, [50, 99])
    return {
        "name": name,
        "median_us": float(median),
        "p99_us": float(p99),
        "max_us": float(np.max(samples)),
        "max_violation": violation,
        "samples": len(samples),
    }
