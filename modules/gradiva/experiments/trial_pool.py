"""Trials side by side, each in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing.synchronize import Event

from gradiva.experiments.simulated_walk import SimulatedWalk
from gradiva.experiments.trial import Trial, TrialResult, run_trial

_LARGEST = 8  # [processes] beyond it, memory and not the processor is what runs short


class TrialPool:
    """Worker processes, one a core, each with single-threaded linear algebra; use it in a ``with`` statement."""

    def __init__(self, workers: int | None = None) -> None:
        """Start no process yet; the first trials do.

        Args:
            workers: How many trials run at once; by default as many as this process may use cores.
        """
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        self.workers = workers or max(1, min(_LARGEST, len(os.sched_getaffinity(0))))
        context = multiprocessing.get_context("spawn")
        self._stop = context.Event()
        self._executor = ProcessPoolExecutor(self.workers, context, initializer=_begin, initargs=(self._stop,))

    def submit(self, trial: Trial) -> Future[TrialResult]:
        """Queue one trial."""
        return self._executor.submit(_run, trial)

    def run(self, trial: Trial) -> TrialResult:
        """Run one trial and wait for it.

        Raises:
            WalkingError: As ``run_trial``.
        """
        return self.submit(trial).result()

    def results(self, trials: Sequence[Trial]) -> Iterator[tuple[int, TrialResult]]:
        """Run all trials; yield their index and result as they finish.

        Raises:
            WalkingError: As ``run_trial``.
        """
        pending = {self.submit(trial): index for index, trial in enumerate(trials)}
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield pending.pop(future), future.result()

    def close(self) -> None:
        """Drop what is queued; running walks stop at their next tick."""
        self._stop.set()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> TrialPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_stop: Event | None = None  # of this worker process


def _begin(stop: Event) -> None:
    """Ctrl-C reaches all processes of a terminal: a worker leaves it to the parent to stop the walks."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(trial: Trial) -> TrialResult:
    return run_trial(trial, (_stop_when_asked,))


def _stop_when_asked(walk: SimulatedWalk) -> None:
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt
