"""A joint that leaves its mode freezes the walk by name; preparing takes the motors again."""

from __future__ import annotations

import threading

import pytest

from gradiva.common import JointCommand
from gradiva.safety import SafetyKind
from gradiva.walking import WalkingState
from gradiva.yarp_modules.robot import ControlModeLost
from tests.yarp_modules.walking_double import WalkingDouble

pytestmark = pytest.mark.walk


def test_a_lost_joint_is_a_fault_with_its_name_until_the_robot_is_prepared_anew(monkeypatch):
    double = WalkingDouble()
    double.get_ready()
    write, lost, rearmed = double.robot.write, {"l_knee": "hardware fault"}, []

    def write_to_some(command: JointCommand) -> None:
        write(command)  # the other joints go on
        if lost:
            raise ControlModeLost("joints are no longer in mode position direct (l_knee: hardware fault)", lost)

    def rearm() -> None:
        rearmed.append(double.robot.time)
        lost.clear()

    monkeypatch.setattr(double.robot, "write", write_to_some)
    monkeypatch.setattr(double.robot, "rearm", rearm, raising=False)
    double.run(0.1)
    assert double.controller.state is WalkingState.FAULT
    assert "l_knee: hardware fault" in double.controller.reason
    (event,) = double.controller.safety_events
    assert (event.kind, event.subject) == (SafetyKind.CONTROL_MODE, "l_knee")
    assert double.robot.fall is None
    asking = threading.Thread(target=double.session.answer, args=(["prepareRobot"],))
    asking.start()
    while asking.is_alive():
        double.run(0.01)
    double.run_to(WalkingState.PREPARED)
    assert len(rearmed) == 1
    assert double.robot.fall is None
