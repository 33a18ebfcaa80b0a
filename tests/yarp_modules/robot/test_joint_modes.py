"""Orders to boards side by side, and joints that leave their mode."""

from __future__ import annotations

import threading

import pytest

from gradiva.common import ControlModeLost, JointCommand
from gradiva.safety import SafetyKind
from gradiva.walking import WalkingState
from gradiva.yarp_modules.robot.joint_modes import BoardOrders
from tests.session.walking_double import WalkingDouble
from tests.waiting import wait_until

BOARDS = {"/arm": (0, 2), "/leg": (1, 3)}


@pytest.fixture
def orders():
    orders = BoardOrders(BOARDS)
    orders.open()
    yield orders
    assert orders.close()


def test_every_joint_is_ordered_once_and_an_agreement_is_reported(orders):
    ordered = []
    orders.give(lambda joint: ordered.append(joint) or True)
    assert orders.wait(60.0)
    assert sorted(ordered) == [0, 1, 2, 3]
    assert orders.pending() == []


def test_a_joint_that_refuses_or_fails_keeps_no_other_from_being_ordered(orders):
    ordered = []

    def order(joint):
        ordered.append(joint)
        if joint == 0:
            raise OSError("gone")
        return joint != 1

    orders.give(order)
    assert not orders.wait(60.0)
    assert sorted(ordered) == [0, 1, 2, 3]


def test_a_board_that_hangs_delays_no_other_and_carries_out_the_newest_order_alone(orders):
    answers, ordered = threading.Event(), []

    def order(name):
        def carry_out(joint):
            if joint == 1:
                answers.wait()
            ordered.append((name, joint))
            return True

        return carry_out

    orders.give(order("torque"))
    wait_until(lambda: ("torque", 2) in ordered, "the arm")
    orders.give(order("position"))
    wait_until(lambda: ("position", 2) in ordered, "the arm again")
    assert orders.pending() == ["/leg"]
    assert not orders.wait(0.0)
    answers.set()
    assert orders.wait(60.0)
    assert [one for one in ordered if one[1] in BOARDS["/leg"]] == [("torque", 1), ("position", 1), ("position", 3)]


def test_a_board_that_hangs_at_the_end_is_named_and_its_orders_are_dropped():
    answers, ordered = threading.Event(), []
    orders = BoardOrders(BOARDS)
    orders.open()
    orders.give(lambda joint: ordered.append(joint) or joint != 1 or answers.wait())
    wait_until(lambda: {0, 1, 2} <= set(ordered), "the other board")
    assert not orders.close()
    answers.set()
    assert orders.close()
    orders.open()
    orders.give(lambda joint: True)
    assert orders.wait(60.0)
    assert orders.close()
    assert 3 not in ordered


@pytest.mark.walk
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
    asking = threading.Thread(target=double.answer, args=("prepareRobot",))
    asking.start()
    while asking.is_alive():
        double.run(0.01)
    double.run_to(WalkingState.PREPARED)
    assert len(rearmed) == 1
    assert double.robot.fall is None
