"""Modules on a clock that a simulator moves."""

import itertools
import threading

import pytest

from pureyarp.application.rf_module import RFModule
from pureyarp.network import clock
from pureyarp.network.clock import NetworkClock
from tests.waiting import TIMEOUT, wait_until


class Counting(RFModule):
    def __init__(self, period: float) -> None:
        super().__init__()
        self._period = period
        self.times: list[float] = []

    def getPeriod(self) -> float:
        return self._period

    def updateModule(self) -> bool:
        self.times.append(clock.now())
        return True

    def stop(self) -> None:
        self.stopModule(True)


@pytest.fixture
def simulation(monkeypatch):
    """A clock without a publisher, moved by hand."""
    moved = NetworkClock("/clock", "/clock/test:i")
    moved.set_time(100.0)
    monkeypatch.setattr(clock, "_network_clock", moved)
    return moved


def test_cycles_follow_the_simulated_time(simulation):
    module = Counting(0.01)
    module.runModuleThreaded()
    wait_until(lambda: len(module.times) == 1)
    for cycle in range(1, 4):
        simulation.set_time(100.0 + cycle * 0.01 + 1e-6)
        wait_until(lambda wanted=cycle + 1: len(module.times) == wanted)
    module.stop()
    assert module.times == pytest.approx([100.0, 100.01, 100.02, 100.03], abs=1e-5)


def test_a_simulation_that_stands_still_does_not_hold_up_the_stop(simulation):
    module = Counting(0.01)
    module.runModuleThreaded()
    wait_until(lambda: module.times)
    stopper = threading.Thread(target=module.stop)
    stopper.start()
    stopper.join(TIMEOUT)
    assert module.joinModule(0.0)


def test_a_simulation_that_begins_anew_begins_a_new_grid(simulation):
    module = Counting(0.01)
    module.runModuleThreaded()
    wait_until(lambda: len(module.times) == 1)
    for time in itertools.count(0.0, 0.001):
        simulation.set_time(time)
        if len(module.times) >= 2 or time > 1e3:
            break
    module.stop()
    assert module.times[0] == 100.0
    assert 0.01 <= module.times[1] < 1e3
