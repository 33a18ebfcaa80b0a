import threading

import pytest

from gradiva.middleware.embedded.application.periodic_thread import PeriodicThread
from tests.patience import wait_until


class Counting(PeriodicThread):
    """Counts its cycles and notes in which threads it is called."""

    def __init__(self, period: float = 0.001, *, fails: bool = False, begins: bool = True) -> None:
        super().__init__(period)
        self.cycles = 0
        self.calls: list[str] = []
        self.threads: set[str] = set()
        self._fails, self._begins = fails, begins

    def threadInit(self) -> bool:
        self.calls.append("init")
        self.threads.add(threading.current_thread().name)
        return self._begins

    def run(self) -> None:
        self.cycles += 1
        self.threads.add(threading.current_thread().name)
        if self._fails:
            raise ValueError("not today")

    def threadRelease(self) -> None:
        self.calls.append("release")
        self.threads.add(threading.current_thread().name)


def test_it_runs_between_init_and_release_in_one_thread_of_its_own():
    thread = Counting()
    assert thread.start()
    assert thread.isRunning()
    wait_until(lambda: thread.cycles >= 3)
    thread.stop()
    assert not thread.isRunning()
    assert thread.calls == ["init", "release"]
    assert thread.threads == {"periodic Counting"}
    assert thread.getIterations() == thread.cycles


def test_it_does_not_start_where_its_init_fails():
    thread = Counting(begins=False)
    assert not thread.start()
    thread.stop()
    assert (thread.cycles, thread.calls) == (0, ["init"])


def test_it_can_start_again_but_not_twice():
    thread = Counting()
    assert thread.start()
    assert not thread.start()
    thread.stop()
    assert thread.start()
    thread.stop()
    assert thread.calls == ["init", "release"] * 2


def test_an_exception_is_told_once_and_survived(caplog):
    thread = Counting(fails=True)
    thread.start()
    wait_until(lambda: thread.cycles >= 5)
    thread.stop()
    assert caplog.text.count("run failed: not today") == 1
    assert f"came {thread.cycles} times" in caplog.text


def test_a_long_period_does_not_delay_the_stop():
    thread = Counting(period=3600.0)
    thread.start()
    wait_until(lambda: thread.cycles == 1)
    thread.stop()
    assert thread.cycles == 1


def test_while_suspended_it_skips_cycles():
    thread = Counting()
    thread.suspend()
    assert thread.isSuspended()
    thread.start()
    assert thread.cycles == 0
    thread.resume()
    wait_until(lambda: thread.cycles > 0)
    thread.stop()


def test_it_may_stop_itself():
    class Once(Counting):
        def run(self) -> None:
            super().run()
            self.stop()

    thread = Once()
    thread.start()
    wait_until(lambda: not thread.isRunning())
    assert thread.cycles == 1


def test_statistics_begin_anew_when_asked(monkeypatch):
    times = iter([0.0, 0.2, 1.0, 1.4, 10.0, 10.1])
    monkeypatch.setattr("gradiva.middleware.embedded.network.clock.now", lambda: next(times))
    thread = Counting()
    thread.step()
    thread.step()
    assert (thread.getEstimatedPeriod(), thread.getEstimatedUsed()) == pytest.approx((1.0, 0.3))
    thread.resetStat()
    assert (thread.getIterations(), thread.getEstimatedPeriod(), thread.getEstimatedUsed()) == (0, 0.0, 0.0)
    thread.step()
    assert thread.getEstimatedUsed() == pytest.approx(0.1)


def test_a_negative_period_is_refused():
    thread = Counting(0.5)
    assert not thread.setPeriod(-1.0)
    assert thread.getPeriod() == 0.5
    assert thread.setPeriod(0.25)
    assert thread.getPeriod() == 0.25


def test_the_priority_of_a_thread_that_does_not_run_cannot_be_set():
    assert Counting().setPriority(10) == -1


def test_the_priority_of_a_running_thread_is_asked_of_the_operating_system():
    thread = Counting(period=3600.0)
    thread.start()
    assert thread.setPriority(0, 0) == 0  # the usual one, which everybody may have
    assert (thread.getPriority(), thread.getPolicy()) == (0, 0)
    assert thread.setPriority(1000, 1) != 0
    assert thread.getPriority() == 0
    thread.stop()
