"""Faults by text."""

import pytest

from gradiva.common import ModelError
from gradiva.simulation import Fault, FaultKind
from gradiva.yarp_modules.rpc_commands import is_ok
from gradiva.yarp_modules.simulator.simulator_ports import answer_fault


def told(*items):
    faults = []
    return answer_fault(items, 3.5, faults.append), faults


def test_a_fault_begins_now_and_lasts_as_long_as_was_asked_for():
    reply, faults = told("nan_wrench", 2, "l_foot_ft")
    assert is_ok(reply)
    assert faults == [Fault(FaultKind.NAN_WRENCH, 3.5, 2.0, "l_foot_ft")]


def test_a_value_follows_the_name_and_no_seconds_are_for_ever():
    assert told("encoder_offset", 0, "l_knee", 0.3)[1] == [Fault(FaultKind.ENCODER_OFFSET, 3.5, None, "l_knee", 0.3)]
    assert told("silence", 0.3)[1] == [Fault(FaultKind.SILENCE, 3.5, 0.3)]


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (["nan_wrensh", 1, "l_foot_ft"], "did you mean 'nan_wrench'"),
        (["nan_wrench"], "1 words; expected: fault KIND SECONDS [NAME [VALUE]]"),
        (["nan_wrench", "long", "l_foot_ft"], "seconds and value have to be numbers"),
        (["nan_wrench", -1, "l_foot_ft"], "duration=-1.0, must be positive"),
        (["nan_wrench", 1], "has to have a name"),
        (["encoder_offset", 1, "l_knee"], "is no fault"),
        ([], "0 words"),
    ],
)
def test_what_is_no_fault_is_refused_with_its_reason(items, reason):
    reply, faults = told(*items)
    assert not is_ok(reply)
    assert reason in reply[1]
    assert faults == []


def test_a_robot_without_that_joint_refuses():
    def inject(fault):
        raise ModelError(f"no joint '{fault.name}'")

    assert answer_fault(["nan_encoder", 1, "x"], 0.0, inject)[1] == "no joint 'x'"
