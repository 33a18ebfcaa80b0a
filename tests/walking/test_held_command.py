import numpy as np

from gradiva.common import ControlMode, JointCommand, Measurement
from gradiva.walking.held_command import HeldCommand

STIFFNESS = np.array([100.0, 1000.0])


def measured(positions=(0.1, 0.2), torques=(5.0, np.nan)):
    return Measurement(0.0, np.array(positions), np.zeros(2), np.array(torques), np.zeros((2, 6)))


def held(mode, *values):
    command = HeldCommand(STIFFNESS)
    command.last = JointCommand(mode, np.array(values))
    return command


def test_after_torques_position_servos_begin_with_what_the_joints_bear():
    after = held(ControlMode.TORQUE, 1.0, 1.0)
    np.testing.assert_allclose(after.taken_over(measured()), [0.15, 0.2])
    frozen = after.frozen(after.taken_over(measured()))
    assert frozen.mode is ControlMode.POSITION
    np.testing.assert_allclose(frozen.values, [0.15, 0.2])


def test_after_velocities_they_begin_where_the_joints_are():
    np.testing.assert_allclose(held(ControlMode.VELOCITY, 1.0, 1.0).taken_over(measured()), [0.1, 0.2])


def test_positions_freeze_where_they_were_told_to_be():
    after = held(ControlMode.POSITION, 0.3, 0.4)
    assert after.frozen(after.taken_over(measured())) is after.last


def test_without_any_known_position_the_joints_are_told_to_rest():
    frozen = held(ControlMode.TORQUE, 1.0, 1.0).frozen(np.full(2, np.nan), None)
    assert frozen.mode is ControlMode.VELOCITY
    np.testing.assert_array_equal(frozen.values, 0.0)


def test_a_move_begins_where_the_joints_were_told_to_be_and_servos_have_yielded():
    np.testing.assert_array_equal(held(ControlMode.POSITION, 0.13, 0.17).start_of_move(measured()), [0.13, 0.17])


def test_a_joint_that_somebody_else_has_moved_begins_where_it_is():
    np.testing.assert_array_equal(held(ControlMode.POSITION, 0.13, 1.2).start_of_move(measured()), [0.13, 0.2])


def test_a_move_after_torques_begins_with_what_the_joints_bear():
    np.testing.assert_allclose(held(ControlMode.TORQUE, 1.0, 1.0).start_of_move(measured()), [0.15, 0.2])
