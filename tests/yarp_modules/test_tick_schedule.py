from types import SimpleNamespace

import pytest

from gradiva.yarp_modules import tick_timing
from gradiva.yarp_modules.tick_timing import TickSchedule


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
    schedule = TickSchedule(0.01)
    begins = []
    for work in (0.001, 0.009, 0.005, 0.0):
        assert schedule.wait(lambda: False) == 0
        begins.append(clock.now)
        clock.now += work
    assert begins == pytest.approx([100.0, 100.01, 100.02, 100.03])


def test_missed_ticks_are_counted_and_never_made_up_for(clock):
    schedule = TickSchedule(0.01)
    schedule.wait(lambda: False)
    clock.now += 0.045
    assert schedule.wait(lambda: False) == 3
    assert schedule.lateness == pytest.approx(0.035)
    clock.now += 0.001
    assert schedule.wait(lambda: False) == 0
    assert clock.now == pytest.approx(100.05)


def test_a_tick_that_is_late_by_less_than_a_period_comes_at_once_and_the_grid_stays(clock):
    schedule = TickSchedule(0.01)
    schedule.wait(lambda: False)
    clock.now += 0.014
    assert schedule.wait(lambda: False) == 0
    assert clock.now == pytest.approx(100.014)
    assert schedule.time_left() == pytest.approx(0.006)


def test_a_module_that_stops_waits_no_longer(clock):
    schedule = TickSchedule(10.0)
    schedule.wait(lambda: False)
    assert schedule.wait(lambda: clock.now > 100.1) is None
    assert clock.now < 100.2


@pytest.mark.parametrize(("speed", "most"), [(0.5, 30), (1.0, 17), (3.0, 9)])
def test_a_simulated_clock_is_looked_at_seldom_and_never_overslept(clock, monkeypatch, speed, most):
    looks = []

    def now():
        looks.append(clock.now)
        return speed * (clock.now - 100.0)

    simulation = SimpleNamespace(isNetworkClock=lambda: True, isValid=lambda: True, now=now)
    monkeypatch.setattr(tick_timing, "yarp", simulation)
    schedule = TickSchedule(0.01)
    assert schedule.wait(lambda: False) == 0
    looks.clear()
    assert schedule.wait(lambda: False) == 0
    assert len(looks) <= most
    assert 0.01 <= now() < 0.01 + 0.0002 * speed
