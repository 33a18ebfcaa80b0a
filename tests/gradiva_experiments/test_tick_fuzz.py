"""Seeded faults within the tick; ``gradiva experiment tick_fuzz`` has ten thousand."""

import pytest

from gradiva.common import ControlMode
from gradiva.safety import SafetySupervisor
from gradiva.setup import load_setup
from gradiva.walking import WalkingController
from gradiva_experiments.shipped.tick_fuzz import FuzzedWalk, TickFaultKind, row_of
from tests.conftest import long

pytestmark = pytest.mark.walk


@pytest.mark.parametrize("mode", [ControlMode.POSITION, long(ControlMode.VELOCITY), long(ControlMode.TORQUE)])
def test_no_error_leaves_a_tick_each_fault_is_an_event_and_each_command_can_be_sent(mode):
    overrides = [f"walking.control={mode}", "walking.prepare_duration=0.3", "simulation.timestep=0.001"]
    walk = FuzzedWalk(load_setup("icub_v2_7", overrides), seed=11)
    results = [walk.case() for _ in range(60)]
    assert [(result.faults, result.complaints) for result in results if result.complaints] == []
    assert sum(result.froze for result in results) < 15
    assert {result.kind for result in results} == set(TickFaultKind)
    row = row_of("icub_v2_7", mode, TickFaultKind.CLOCK, [each for each in results if each.kind is TickFaultKind.CLOCK])
    assert (row["value"], row["outcome"], row["reason"]) == (0, "met", "")


def test_the_fuzz_finds_errors_that_leave_the_tick_and_faults_without_an_event(monkeypatch):
    walk = FuzzedWalk(load_setup("icub_v2_7", ["walking.prepare_duration=0.3"]), seed=12)
    monkeypatch.setattr(SafetySupervisor, "failed", lambda self, error, time: (_ for _ in ()).throw(error))
    monkeypatch.setattr(WalkingController, "freeze_without_safety", lambda self, measurement, errors: errors[0].nothing)
    found = (complaint for _ in range(30) for complaint in walk.case().complaints)
    assert any("left the tick" in complaint for complaint in found)
    monkeypatch.undo()
    monkeypatch.setattr(SafetySupervisor, "note", lambda self, findings, time: None)
    found = (complaint for _ in range(30) for complaint in walk.case().complaints)
    assert any("without an event" in complaint for complaint in found)
