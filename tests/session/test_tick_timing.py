"""Ticks: their schedule, the report of a module's health, the garbage collector."""

import gc
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from gradiva.session import tick_timing
from gradiva.session.tick_timing import (
    HISTOGRAM_EDGES_US,
    GarbageKeeper,
    ModuleHealth,
    TickClock,
    TickSchedule,
    give_way_to_ticks,
    share_turns_often,
)


class FakeTime:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = FakeTime()
    monkeypatch.setattr(tick_timing, "time", clock)
    return clock


def test_ticks_lie_on_a_grid_however_long_they_take(clock):
    schedule = TickSchedule(0.01, TickClock())
    begins = []
    for work in (0.001, 0.009, 0.005, 0.0):
        assert schedule.wait(lambda: False) == 0
        begins.append(clock.now)
        clock.now += work
    assert begins == pytest.approx([100.0, 100.01, 100.02, 100.03])


def test_missed_ticks_are_counted_and_never_made_up_for(clock):
    schedule = TickSchedule(0.01, TickClock())
    schedule.wait(lambda: False)
    clock.now += 0.045
    assert schedule.wait(lambda: False) == 3
    assert schedule.lateness == pytest.approx(0.035)
    clock.now += 0.001
    assert schedule.wait(lambda: False) == 0
    assert clock.now == pytest.approx(100.05)


def test_a_tick_that_is_late_by_less_than_a_period_comes_at_once_and_the_grid_stays(clock):
    schedule = TickSchedule(0.01, TickClock())
    schedule.wait(lambda: False)
    clock.now += 0.014
    assert schedule.wait(lambda: False) == 0
    assert clock.now == pytest.approx(100.014)
    assert schedule.time_left() == pytest.approx(0.006)


def test_a_tick_that_begins_when_the_next_is_due_replaces_it(clock, monkeypatch):
    clock.simulated = 5.0
    schedule, begins, missed = TickSchedule(0.01, TickClock(lambda: clock.simulated)), [], []
    assert schedule.wait(lambda: False) == 0
    for seen in (5.02, 5.03):  # a simulated clock steps by a period, or by two where the process was not run
        monkeypatch.setattr(clock, "sleep", lambda seconds, to=seen: setattr(clock, "simulated", to))
        missed.append(schedule.wait(lambda: False))
        begins.append(clock.simulated)
    assert begins == [5.02, 5.03]
    assert missed == [0, 1]


def test_a_module_that_stops_waits_no_longer(clock):
    schedule = TickSchedule(10.0, TickClock())
    schedule.wait(lambda: False)
    assert schedule.wait(lambda: clock.now > 100.1) is None
    assert clock.now < 100.2


@pytest.mark.parametrize(("speed", "most"), [(0.5, 30), (1.0, 17), (3.0, 9)])
def test_a_simulated_clock_is_looked_at_seldom_and_never_overslept(clock, speed, most):
    looks = []

    def now():
        looks.append(clock.now)
        return speed * (clock.now - 100.0)

    schedule = TickSchedule(0.01, TickClock(now))
    assert schedule.wait(lambda: False) == 0
    looks.clear()
    assert schedule.wait(lambda: False) == 0
    assert len(looks) <= most
    assert 0.01 <= now() < 0.01 + 0.0002 * speed


def test_a_simulated_clock_that_stands_still_or_has_no_time_yet_makes_no_tick(clock):
    for simulated in (5.0, float("nan")):
        begin = clock.now
        assert not TickClock(lambda now=simulated: now).wait_until(5.01, lambda: False)
        assert clock.now == pytest.approx(begin + 0.5, abs=0.02)


def test_ticks_are_counted_by_how_long_they_take():
    health = ModuleHealth("walking", 0.01)
    for duration in (0.00005, 0.0001, 0.003, 0.02, 1.0):
        health.record(duration, lateness=0.001)
    report = health.report()
    assert report["ticks"] == 5
    assert report["deadline_misses"] == 2
    assert report["histogram"][0] == 2
    assert report["histogram"][HISTOGRAM_EDGES_US.index(5000)] == 1
    assert report["histogram"][HISTOGRAM_EDGES_US.index(20000)] == 1
    assert report["histogram"][-1] == 1
    assert sum(report["histogram"]) == 5
    assert report["tick_median_us"] == pytest.approx(3000.0)
    assert report["tick_max_us"] == pytest.approx(1e6)
    assert report["lateness_p99_us"] == pytest.approx(1000.0)


def test_percentiles_are_of_the_last_thousand_ticks_the_maximum_of_all():
    health = ModuleHealth("walking", 0.01)
    health.record(0.5)
    for _ in range(1000):
        health.record(0.002)
    report = health.report()
    assert report["tick_p99_us"] == pytest.approx(2000.0)
    assert report["tick_max_us"] == pytest.approx(500000.0)


def test_a_tick_that_fails_is_timed_and_overruns_are_counted():
    health = ModuleHealth("walking", 0.01)

    def fail():
        with health.tick(missed=3):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        fail()
    assert (health.report()["ticks"], health.report()["overruns"]) == (1, 3)


def test_a_report_before_the_first_tick_and_its_names():
    table = ModuleHealth("walking", 0.01).report()
    assert next(iter(table.items())) == ("module", "walking")
    assert (table["ticks"], table["period_ms"]) == (0, 10.0)


def test_garbage_is_left_alone_within_ticks_and_collected_in_idle_time():
    was_enabled = gc.isenabled()
    keeper = GarbageKeeper()
    keeper.begin()
    try:
        assert not gc.isenabled()
        cycle = []
        cycle.append(cycle)
        before = gc.get_count()[0]
        del cycle
        keeper.use_idle_time(-1.0)
        assert gc.get_count()[0] >= before - 1
        keeper.use_idle_time(1.0)
        assert gc.get_count()[0] < before
    finally:
        keeper.end()
    assert gc.isenabled()
    if not was_enabled:
        gc.disable()


def test_threads_take_turns_within_a_millisecond():
    before = sys.getswitchinterval()
    try:
        share_turns_often()
        assert sys.getswitchinterval() <= 0.001
    finally:
        sys.setswitchinterval(before)


def test_a_thread_gives_way_to_ticks_by_one_real_time_priority(monkeypatch):
    set_to = []
    monkeypatch.setattr(os, "sched_getscheduler", lambda _: os.SCHED_FIFO)
    monkeypatch.setattr(os, "sched_getparam", lambda _: os.sched_param(20))
    monkeypatch.setattr(os, "sched_setscheduler", lambda _, kind, param: set_to.append((kind, param.sched_priority)))
    give_way_to_ticks()
    assert set_to == [(os.SCHED_FIFO, 19)]


@pytest.mark.skipif(sys.platform != "linux", reason="a thread has a niceness of its own on Linux alone")
def test_at_ordinary_priority_a_thread_gives_way_to_ticks_by_its_own_niceness():
    def niceness():
        return os.getpriority(os.PRIO_PROCESS, 0)

    before = niceness()
    with ThreadPoolExecutor(1, initializer=give_way_to_ticks) as executor:
        assert executor.submit(niceness).result() == min(19, before + 5)
    assert niceness() == before
