"""Pace, pause and the gate of the lockstep, without a robot."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from gradiva.yarp_modules.simulator.lockstep_gate import LockstepGate
from gradiva.yarp_modules.simulator.pace import Pace
from gradiva.yarp_modules.simulator.pause import Pause
from gradiva.yarp_modules.simulator.speedometer import Speedometer


def go_on() -> bool:
    return False


def part(name, streamed=True):
    return SimpleNamespace(name=name, commands=0, is_streamed_to=streamed, command_taken=lambda: None)


def command(one):
    one.commands += 1
    one.command_taken()


def test_simulated_time_is_due_by_the_speed_and_does_not_drift():
    pace, begin = Pace(2.0), time.monotonic()
    for step in range(11):
        assert not pace.wait_for(0.01 * step, go_on)
    passed = time.monotonic() - begin
    assert 0.049 < passed < 0.5


def test_a_schedule_that_cannot_be_kept_begins_anew():
    pace = Pace(1.0)
    pace.wait_for(0.0, go_on)
    time.sleep(0.08)
    assert pace.wait_for(0.01, go_on)
    assert pace.slips == 1
    assert pace.lost == pytest.approx(0.07, abs=0.05)
    assert not pace.wait_for(0.02, go_on)


def test_as_fast_as_possible_waits_for_nothing():
    pace, begin = Pace(0.0), time.monotonic()
    pace.wait_for(0.0, go_on)
    pace.wait_for(1000.0, go_on)
    assert time.monotonic() - begin < 0.5


def test_a_pause_holds_until_it_ends():
    pause = Pause(True)
    assert pause.holds(1.0)
    pause.end()
    assert not pause.holds(1.0)
    pause.begin()
    assert pause.holds(1.0)


def test_time_passes_up_to_an_instant_and_whoever_waits_goes_on():
    pause = Pause(True)
    waiting = threading.Thread(target=pause.run_until, args=(2.0, go_on))
    waiting.start()
    deadline = time.monotonic() + 5.0
    while pause.holds(1.0) and time.monotonic() < deadline:
        time.sleep(0.001)
    assert not pause.holds(1.99)
    assert pause.holds(2.0)
    waiting.join(5.0)
    assert not waiting.is_alive()
    assert pause.holds(1.0)


@pytest.mark.parametrize("change_of_mind", [Pause.begin, Pause.end])
def test_whoever_waits_for_an_instant_goes_on_when_time_is_stopped_or_let_go(change_of_mind):
    pause = Pause(True)
    waiting = threading.Thread(target=pause.run_until, args=(2.0, go_on))
    waiting.start()
    deadline = time.monotonic() + 5.0
    while not pause.is_awaited and time.monotonic() < deadline:
        time.sleep(0.001)
    change_of_mind(pause)
    waiting.join(5.0)
    assert not waiting.is_alive()
    assert not pause.is_awaited


def test_the_gate_waits_for_all_boards_that_are_streamed_to():
    leg, arm, head = part("leg"), part("arm"), part("head", streamed=False)
    gate = LockstepGate([leg, arm, head], patience=10.0)
    assert gate.expected == ["leg", "arm"]
    command(leg)
    threading.Timer(0.05, command, [arm]).start()
    begin = time.monotonic()
    assert gate.wait(go_on) == []
    assert 0.04 < time.monotonic() - begin < 5.0


def test_a_command_from_before_the_sample_does_not_count():
    leg = part("leg")
    gate = LockstepGate([leg], patience=0.05)
    command(leg)
    gate.note_sample()
    assert gate.wait(go_on) == ["leg"]


def test_a_board_that_begins_to_be_streamed_to_is_waited_for_from_the_next_sample_on():
    leg = part("leg", streamed=False)
    gate = LockstepGate([leg], patience=0.02)
    leg.is_streamed_to = True
    assert gate.wait(go_on) == []
    gate.note_sample()
    assert gate.wait(go_on) == ["leg"]


def test_a_silent_board_is_given_up_until_its_next_command():
    leg = part("leg")
    gate = LockstepGate([leg], patience=0.02)
    assert gate.wait(go_on) == ["leg"]
    assert gate.expected == []
    assert gate.wait(go_on) == []
    command(leg)
    assert gate.expected == ["leg"]
    gate.note_sample()
    assert gate.wait(go_on) == ["leg"]


def test_the_speedometer_tells_speed_and_load():
    speedometer = Speedometer()
    speedometer.note(0.0)
    with speedometer.busy():
        time.sleep(0.3)
    time.sleep(0.75)
    speedometer.note(2.1)
    assert speedometer.factor == pytest.approx(2.0, rel=0.3)
    assert speedometer.load == pytest.approx(0.3, abs=0.15)
    assert speedometer.cost < 0.5
