"""Modules on a clock that a simulator moves."""

import itertools
import threading

import pytest

from gradiva.middleware.embedded.application.periodic_thread import PeriodicThread
from gradiva.middleware.embedded.network import clock
from gradiva.middleware.embedded.network.network_clock import NetworkClock
from tests.patience import PATIENCE, wait_until


class Counting(PeriodicThread):
    def __init__(self, period: float) -> None:
        super().__init__(period)
        self.times: list[float] = []

    def run(self) -> None:
        self.times.append(clock.now())


@pytest.fixture
def simulation(monkeypatch):
    """A clock that nobody publishes, moved by hand."""
    moved = NetworkClock("/clock", "/clock/test:i")
    moved.set_time(100.0)
    monkeypatch.setattr(clock, "_network_clock", moved)
    return moved


def test_cycles_follow_the_simulated_time(simulation):
    thread = Counting(0.01)
    thread.start()
    wait_until(lambda: len(thread.times) == 1)
    for cycle in range(1, 4):
        simulation.set_time(100.0 + cycle * 0.01 + 1e-6)
        wait_until(lambda wanted=cycle + 1: len(thread.times) == wanted)
    thread.stop()
    assert thread.times == pytest.approx([100.0, 100.01, 100.02, 100.03], abs=1e-5)


def test_a_simulation_that_stands_still_does_not_hold_up_the_stop(simulation):
    thread = Counting(0.01)
    thread.start()
    wait_until(lambda: thread.times)
    stopper = threading.Thread(target=thread.stop)
    stopper.start()
    stopper.join(PATIENCE)
    assert not thread.isRunning()


def test_a_simulation_that_begins_anew_begins_a_new_grid(simulation):
    thread = Counting(0.01)
    thread.start()
    wait_until(lambda: len(thread.times) == 1)
    for time in itertools.count(0.0, 0.001):
        simulation.set_time(time)
        if len(thread.times) >= 2 or time > 1e3:
            break
    thread.stop()
    assert thread.times[0] == 100.0
    assert 0.01 <= thread.times[1] < 1e3
