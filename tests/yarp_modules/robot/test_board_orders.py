"""Orders to boards side by side: one that hangs delays no other, and the newest order counts."""

from __future__ import annotations

import threading

import pytest

from gradiva.yarp_modules.robot.joint_modes import BoardOrders
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


def test_a_board_that_hangs_at_the_end_is_told_apart_and_what_was_ordered_is_forgotten():
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
