"""Pace, pause and the gate of the lockstep, without a robot."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from gradiva.yarp_modules.simulator.simulated_time import LockstepGate, Pace, Pause, RealTimeFactor
from tests.waiting import TIMEOUT, wait_until


def go_on() -> bool:
    return False


def part(name, streamed=True):
    return SimpleNamespace(name=name, commands=0, is_streamed_to=streamed, command_taken=lambda: None)


def command(one):
    one.commands += 1
    one.command_taken()


class MadeUpTime:
    """A machine's time that passes only where a thread sleeps; half of it is the processor's."""

    def __init__(self):
        self.now = 100.0

    def sleep(self, duration):
        self.now += duration

    def monotonic(self):
        return self.now

    perf_counter = monotonic

    def process_time(self):
        return 0.5 * self.now


@pytest.fixture
def machine(monkeypatch):
    made_up = MadeUpTime()
    monkeypatch.setattr("gradiva.yarp_modules.simulator.simulated_time.time", made_up)
    return made_up


def test_simulated_time_is_due_by_the_speed_and_does_not_drift(machine):
    pace, begin = Pace(2.0), machine.now
    for step in range(11):
        assert not pace.wait_for(0.01 * step, go_on)
        machine.sleep(0.001)  # work
    assert machine.now - begin == pytest.approx(0.051)
    assert pace.slips == 0


def test_a_schedule_that_cannot_be_kept_begins_anew(machine):
    pace = Pace(1.0)
    pace.wait_for(0.0, go_on)
    machine.sleep(0.08)
    assert pace.wait_for(0.01, go_on)
    assert pace.slips == 1
    assert pace.lost == pytest.approx(0.07)
    begin = machine.now
    assert not pace.wait_for(0.02, go_on)
    assert machine.now - begin == pytest.approx(0.01)


def test_as_fast_as_possible_waits_for_nothing(machine):
    pace, begin = Pace(0.0), machine.now
    pace.wait_for(0.0, go_on)
    pace.wait_for(1000.0, go_on)
    assert machine.now == begin


def test_a_pause_holds_until_it_ends():
    pause = Pause(True)
    assert pause.holds(1.0)
    pause.end()
    assert not pause.holds(1.0)
    pause.begin()
    assert pause.holds(1.0)


def test_time_passes_up_to_an_instant_and_waiting_clients_go_on():
    pause = Pause(True)
    waiting = threading.Thread(target=pause.run_until, args=(2.0, go_on))
    waiting.start()
    wait_until(lambda: not pause.holds(1.0))
    assert not pause.holds(1.99)
    assert pause.holds(2.0)
    waiting.join(TIMEOUT)
    assert not waiting.is_alive()
    assert pause.holds(1.0)


@pytest.mark.parametrize("change_of_mind", [Pause.begin, Pause.end])
def test_a_client_that_waits_for_an_instant_goes_on_when_time_is_stopped_or_released(change_of_mind):
    pause = Pause(True)
    waiting = threading.Thread(target=pause.run_until, args=(2.0, go_on))
    waiting.start()
    wait_until(lambda: pause.is_awaited)
    change_of_mind(pause)
    waiting.join(TIMEOUT)
    assert not waiting.is_alive()
    assert not pause.is_awaited


def test_the_gate_waits_for_all_boards_that_are_streamed_to():
    leg, arm, head = part("leg"), part("arm"), part("head", streamed=False)
    gate = LockstepGate([leg, arm, head], timeout=10.0)
    assert gate.expected == ["leg", "arm"]
    command(leg)
    begin = time.monotonic()  # before the timer: a busy machine may stop here
    threading.Timer(0.05, command, [arm]).start()
    assert gate.wait(go_on) == []
    assert 0.04 < time.monotonic() - begin < 5.0


def test_a_command_from_before_the_sample_does_not_count():
    leg = part("leg")
    gate = LockstepGate([leg], timeout=0.05)
    command(leg)
    gate.note_sample()
    assert gate.wait(go_on) == ["leg"]


def test_a_board_that_begins_to_be_streamed_to_is_waited_for_from_the_next_sample_on():
    leg = part("leg", streamed=False)
    gate = LockstepGate([leg], timeout=0.02)
    leg.is_streamed_to = True
    assert gate.wait(go_on) == []
    gate.note_sample()
    assert gate.wait(go_on) == ["leg"]


def test_a_silent_board_is_given_up_until_its_next_command():
    leg = part("leg")
    gate = LockstepGate([leg], timeout=0.02)
    assert gate.wait(go_on) == ["leg"]
    assert gate.expected == []
    assert gate.wait(go_on) == []
    command(leg)
    assert gate.expected == ["leg"]
    gate.note_sample()
    assert gate.wait(go_on) == ["leg"]


def test_while_the_sensors_are_silent_no_board_is_waited_for_and_none_is_given_up():
    leg = part("leg")
    gate = LockstepGate([leg], timeout=0.02)
    command(leg)
    gate.note_sample(is_published=False)
    assert gate.expected == []
    assert gate.wait(go_on) == []
    gate.note_sample()
    assert gate.expected == ["leg"]
    assert gate.wait(go_on) == ["leg"]


def test_the_real_time_factor_and_the_load_are_measured(machine):
    speedometer = RealTimeFactor()
    speedometer.note(0.0)
    with speedometer.busy():
        machine.sleep(0.3)
    speedometer.note(0.6)
    assert speedometer.factor == 0.0, "a second has not passed"
    machine.sleep(0.75)
    speedometer.note(2.1)
    assert speedometer.factor == pytest.approx(2.0)
    assert speedometer.load == pytest.approx(0.3 / 1.05)
    assert speedometer.cost == pytest.approx(0.25)
