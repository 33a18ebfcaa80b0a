"""Pushes and faults by text."""

import pytest

from gradiva.common import ModelError
from gradiva.simulation import Fault, FaultKind, Push
from gradiva.yarp_modules.rpc_commands import is_ok
from gradiva.yarp_modules.simulator.simulator_ports import answer_fault, answer_push


def answer_to(*items):
    faults = []
    return answer_fault(items, 3.5, faults.append), faults


def test_a_fault_begins_now_and_lasts_as_long_as_was_asked_for():
    reply, faults = answer_to("nan_wrench", 2, "l_foot_ft")
    assert is_ok(reply)
    assert faults == [Fault(FaultKind.NAN_WRENCH, 3.5, 2.0, "l_foot_ft")]


def test_a_value_follows_the_name_and_no_seconds_are_for_ever():
    assert answer_to("encoder_offset", 0, "l_knee", 0.3)[1] == [
        Fault(FaultKind.ENCODER_OFFSET, 3.5, None, "l_knee", 0.3)
    ]
    assert answer_to("silence", 0.3)[1] == [Fault(FaultKind.SILENCE, 3.5, 0.3)]


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (["nan_wrensh", 1, "l_foot_ft"], "did you mean 'nan_wrench'"),
        (["nan_wrench"], "1 words; expected: fault KIND SECONDS [NAME [VALUE]]"),
        (["nan_wrench", "long", "l_foot_ft"], "seconds and value have to be numbers"),
        (["nan_wrench", -1, "l_foot_ft"], "duration=-1.0, must be positive"),
        (["nan_wrench", 1], "name a force-torque sensor"),
        (["encoder_offset", 1, "l_knee"], "is no fault"),
        ([], "0 words"),
    ],
)
def test_a_malformed_fault_is_refused_with_its_reason(items, reason):
    reply, faults = answer_to(*items)
    assert not is_ok(reply)
    assert reason in reply[1]
    assert faults == []


def test_a_robot_without_that_joint_refuses():
    def inject(fault):
        raise ModelError(f"no joint '{fault.name}'")

    assert answer_fault(["nan_encoder", 1, "x"], 0.0, inject)[1] == "no joint 'x'"


def make_push(link, force, torque, duration):
    if link == "nothing":
        raise ModelError("the model has no link or frame 'nothing'")
    return Push(link, force, 2.0, duration, torque)


def test_a_push_is_acknowledged_with_its_values():
    (reply,) = answer_push(["root_link", 3, 0.0, 4.0, 0, 0, 2.0, 0.5], make_push)
    assert (
        reply == "[ACK] Correct command format: push of 5 N along (3, 0, 4) and 2 N·m on root_link from 2.00 to 2.50 s"
    )


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (["root_link", 1.0], "expected: link fx fy fz tx ty tz duration"),
        ([1.0] * 8, "expected: link fx fy fz tx ty tz duration"),
        (["root_link", "a", *[0.0] * 6], "expected seven numbers behind the link"),
        (["nothing", *[0.0] * 6, 1.0], "no link or frame 'nothing'"),
        (["root_link", *[0.0] * 7], "duration=0.0 must be positive"),
        ([], "expected: link"),
    ],
)
def test_a_wrong_push_is_refused_with_the_reason(request_, reason):
    (reply,) = answer_push(request_, make_push)
    assert reply.startswith("[ERROR] ")
    assert reason in reply


def test_help_has_the_format():
    assert "link fx fy fz tx ty tz duration" in answer_push(["help"], make_push)[0]
