import pytest

from gradiva.yarp_modules.simulator.simulated_joints import JointMove


def test_a_move_takes_as_long_as_its_mean_speed_says_and_ends_at_its_goal():
    move = JointMove.at_speed(0.2, -0.3, 5.0, 0.25)
    assert move.duration == pytest.approx(2.0)
    assert [move.is_over(time) for time in (5.0, 6.99, 7.0)] == [False, False, True]
    assert [move.position(time) for time in (4.0, 5.0, 6.0, 7.0, 9.0)] == pytest.approx([0.2, 0.2, -0.05, -0.3, -0.3])


def test_a_move_begins_and_ends_at_rest_and_is_fastest_half_way():
    move = JointMove.at_speed(0.0, 1.0, 0.0, 1.0)
    assert move.position(0.01) < 1e-4
    assert 1.0 - move.position(0.99) < 1e-4
    assert (move.position(0.51) - move.position(0.49)) / 0.02 == pytest.approx(1.875, rel=1e-3)


def test_a_move_to_where_the_joint_is_is_over_at_once():
    move = JointMove.at_speed(0.4, 0.4, 1.0, 0.1)
    assert move.is_over(1.0)
    assert move.position(1.0) == 0.4
