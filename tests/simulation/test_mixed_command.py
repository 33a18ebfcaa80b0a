"""Joints in modes of their own."""

from __future__ import annotations

import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand, RobotInterfaceError
from gradiva.simulation import MixedCommand

ARM = slice(3, 7)  # of iCub, without its wrist


def test_a_joint_follows_its_own_mode_while_the_others_hold(make_icub):
    robot = make_icub()
    targets = robot.position_targets
    modes = [ControlMode.POSITION] * 23
    modes[6], modes[5] = ControlMode.VELOCITY, ControlMode.TORQUE
    values = targets.copy()
    values[6], values[5] = 0.2, 0.5
    start = robot.truth().joint_positions
    robot.write(MixedCommand(tuple(modes), values))
    robot.advance(0.5)
    truth = robot.truth()
    assert truth.joint_positions[6] - start[6] == pytest.approx(0.1, abs=0.02)
    assert truth.joint_velocities[6] == pytest.approx(0.2, abs=0.02)
    assert truth.joint_torques[5] == 0.5
    np.testing.assert_allclose(truth.joint_positions[11:], start[11:], atol=0.01)


def test_joints_that_stay_in_their_mode_do_not_feel_that_another_changes_it(make_icub):
    changed, unchanged = make_icub(), make_icub()
    for robot in (changed, unchanged):
        robot.advance(0.1)
    modes = [ControlMode.POSITION] * 23
    modes[6] = ControlMode.TORQUE
    values = changed.position_targets
    values[6] = changed.truth().joint_torques[6]
    changed.write(MixedCommand(tuple(modes), values))
    for robot in (changed, unchanged):
        robot.advance(0.001)
    np.testing.assert_allclose(changed.truth().joint_torques, unchanged.truth().joint_torques, atol=1e-2)


def test_all_joints_in_one_mode_are_the_same_as_a_joint_command(make_icub):
    mixed, plain = make_icub(), make_icub()
    values = mixed.position_targets
    values[ARM] += 0.05
    mixed.write(MixedCommand((ControlMode.POSITION,) * 23, values))
    plain.write(JointCommand(ControlMode.POSITION, values))
    for robot in (mixed, plain):
        robot.advance(0.1)
    np.testing.assert_array_equal(mixed.truth().joint_positions, plain.truth().joint_positions)


def test_softer_servos_give_way(make_icub):
    robot = make_icub()
    stiffness, damping = robot.position_gains
    soft = stiffness.copy()
    soft[6] = 1.0
    before = robot.truth().joint_positions[6]
    robot.set_position_gains(soft, 0.1 * damping)
    robot.advance(0.5)
    assert robot.truth().joint_positions[6] < before - 0.01


def test_as_many_modes_as_values():
    with pytest.raises(RobotInterfaceError, match="1 modes for 2 values"):
        MixedCommand((ControlMode.POSITION,), np.zeros(2))


def test_a_value_that_is_not_finite_is_refused_with_its_mode(make_icub):
    robot = make_icub()
    values = robot.position_targets
    values[6] = np.nan
    modes = [ControlMode.POSITION] * 23
    modes[6] = ControlMode.TORQUE
    with pytest.raises(RobotInterfaceError, match="torque command of joint 'l_elbow' is nan"):
        robot.write(MixedCommand(tuple(modes), values))
