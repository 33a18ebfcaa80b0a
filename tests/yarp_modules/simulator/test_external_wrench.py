import pytest

from gradiva.common import ModelError
from gradiva.simulation import Push
from gradiva.yarp_modules.simulator.simulator_ports import answer_push


def make_push(link, force, torque, duration):
    if link == "nothing":
        raise ModelError("the model has no link or frame 'nothing'")
    return Push(link, force, 2.0, duration, torque)


def test_a_push_is_acknowledged_with_what_it_is():
    (reply,) = answer_push(["root_link", 3, 0.0, 4.0, 0, 0, 2.0, 0.5], make_push)
    assert reply == "[ACK] Correct command format: push of 5 N and 2 N·m on root_link from 2.00 to 2.50 s"


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


def test_help_tells_the_format():
    assert "link fx fy fz tx ty tz duration" in answer_push(["help"], make_push)[0]
