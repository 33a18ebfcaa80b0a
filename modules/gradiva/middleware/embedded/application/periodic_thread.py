"""A thread that does the same thing every period."""

from __future__ import annotations

import logging
import os
import threading

from gradiva.middleware.embedded.application.exception_report import ExceptionReport
from gradiva.middleware.embedded.application.periodic_schedule import PeriodicSchedule
from gradiva.middleware.embedded.application.running_mean import RunningMean
from gradiva.middleware.embedded.network import clock

_LOGGER = logging.getLogger("gradiva.yarp")


class PeriodicThread:
    """To be subclassed: `run` is called every period of YARP's clock, between `threadInit` and `threadRelease`.

    An exception in `run` is logged with its traceback once and the thread goes on. (The real Python bindings know the
    type, but cannot be subclassed: what must run on both keeps its own thread or is an `RFModule`.)

    Args:
        period: From the beginning of one call to that of the next, [s].
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._stop = threading.Event()
        self._go_on = threading.Event()
        self._go_on.set()
        self._has_begun = threading.Event()
        self._is_initialised = False
        self._thread: threading.Thread | None = None
        self._report = ExceptionReport(type(self).__name__)
        self._priority, self._policy = 0, 0
        self._iterations = 0
        self._last_begin: float | None = None
        self._periods, self._used = RunningMean(), RunningMean()

    def run(self) -> None:
        """Do one cycle."""

    def threadInit(self) -> bool:
        """Begin, in the thread; False keeps it from running."""
        return True

    def threadRelease(self) -> None:
        """End, in the thread; called if `threadInit` returned True."""

    def start(self) -> bool:
        """Start the thread and return what `threadInit` returned."""
        if self.isRunning():
            return False
        self._stop.clear()
        self._has_begun.clear()
        self._thread = threading.Thread(target=self._live, name=f"periodic {type(self).__name__}", daemon=True)
        self._thread.start()
        self._has_begun.wait()
        return self._is_initialised

    def askToStop(self) -> None:
        """Stop after the present cycle, without waiting for it."""
        self._stop.set()
        self._go_on.set()

    def stop(self) -> None:
        """Stop and wait for the end; from within `run` it only asks."""
        self.askToStop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def step(self) -> None:
        """Do one cycle in the caller's thread."""
        begin = clock.now()
        if self._last_begin is not None:
            self._periods.add(begin - self._last_begin)
        self._last_begin = begin
        try:
            self.run()
        except Exception as error:
            self._report.tell(error, "run")
        self._used.add(clock.now() - begin)
        self._iterations += 1

    def isRunning(self) -> bool:
        """Return whether the thread lives."""
        return self._thread is not None and self._thread.is_alive()

    def suspend(self) -> None:
        """Skip the cycles from now on."""
        self._go_on.clear()

    def resume(self) -> None:
        """Do the cycles again."""
        self._last_begin = None  # the break is no period
        self._go_on.set()

    def isSuspended(self) -> bool:
        """Return whether cycles are skipped."""
        return not self._go_on.is_set()

    def getPeriod(self) -> float:
        """Return the wanted time from one cycle to the next, [s]."""
        return self._period

    def setPeriod(self, period: float) -> bool:
        """Change the period, [s], from the next cycle on; a negative one is refused."""
        if period < 0:
            _LOGGER.error("%s: a period of %g s is refused", type(self).__name__, period)
            return False
        self._period = period
        return True

    def getIterations(self) -> int:
        """Return the number of cycles since the start or the last `resetStat`."""
        return self._iterations

    def getEstimatedPeriod(self) -> float:
        """Return the mean time from one cycle to the next, [s]."""
        return self._periods.mean

    def getEstimatedUsed(self) -> float:
        """Return the mean time that `run` took, [s]."""
        return self._used.mean

    def resetStat(self) -> None:
        """Begin all statistics anew."""
        self._iterations = 0
        self._last_begin = None
        self._periods, self._used = RunningMean(), RunningMean()

    def getPriority(self) -> int:
        """Return the last priority that was granted, 0 without."""
        return self._priority

    def getPolicy(self) -> int:
        """Return the last scheduling policy that was granted, 0 (SCHED_OTHER) without."""
        return self._policy

    def setPriority(self, priority: int, policy: int = -1) -> int:
        """Ask the operating system for ``priority`` of the running thread; return 0, or the number of the error."""
        wanted_policy = self._policy if policy < 0 else policy
        thread_id = self._thread.native_id if self._thread is not None and self.isRunning() else None
        if thread_id is None:
            return -1
        try:
            os.sched_setscheduler(thread_id, wanted_policy, os.sched_param(priority))
        except OSError as error:
            _LOGGER.error("%s: priority %d is refused: %s", type(self).__name__, priority, error.strerror)
            return error.errno or -1
        self._priority, self._policy = priority, wanted_policy
        return 0

    def _live(self) -> None:
        try:
            self._is_initialised = self._initialises()
        finally:
            self._has_begun.set()
        if not self._is_initialised:
            return
        try:
            self._cycle()
        finally:
            self._release()

    def _initialises(self) -> bool:
        try:
            return self.threadInit()
        except Exception as error:
            self._report.tell(error, "threadInit")
            return False

    def _cycle(self) -> None:
        schedule = PeriodicSchedule(clock.now())
        while not self._stop.is_set():
            if self._go_on.is_set():
                self.step()
            clock.pause(schedule.time_left(self._period, clock.now()), self._stop)

    def _release(self) -> None:
        try:
            self.threadRelease()
        except Exception as error:
            self._report.tell(error, "threadRelease")
        self._report.tell_counts()
