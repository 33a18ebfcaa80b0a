"""Joints that another program drives: their motion, its limits, what is refused."""

import numpy as np
import pytest

from gradiva.common import ConfigError, ControlMode, JointCommand, ModelError
from gradiva.simulation import JointMotion, MixedCommand
from gradiva.simulation.joint_motions import JointMotions

ARMS = ("l_elbow", "r_elbow")


def motions(icub, *given, seed=0, limits=(-3.0, 3.0)):
    moved = JointMotions(given, icub, np.tile(limits, (len(icub.joints), 1)), seed)
    moved.begin(np.full(len(icub.joints), 0.3))
    return moved


def commanded(icub):
    return MixedCommand.of(JointCommand(ControlMode.TORQUE, np.zeros(len(icub.joints))))


def test_moved_joints_obey_their_motion_in_position_mode_and_the_others_the_controller(icub):
    moved = motions(icub, JointMotion(ARMS, 0.5, 1.0, start=2.0))
    indices = [icub.joints.index(joint) for joint in ARMS]
    times = np.arange(0.0, 30.0, 0.01)
    commands = [moved.applied(commanded(icub), time) for time in times]
    values = np.array([command.values for command in commands])
    ways = values[:, indices] - 0.3
    assert np.all(ways[times <= 2.0] == 0.0)
    assert 0.3 < np.abs(ways).max() <= 0.5
    assert np.abs(np.diff(ways, axis=0)).max() < 0.5 * 2.0 * np.pi * 0.01 + 0.02
    assert np.corrcoef(ways[300:].T)[0, 1] < 0.9, "each joint has a motion of its own"
    assert not np.delete(values, indices, axis=1).any()
    assert [index for index, mode in enumerate(commands[0].modes) if mode is ControlMode.POSITION] == sorted(indices)


def test_the_seed_draws_the_motion_and_the_limits_cut_it(icub):
    motion = JointMotion(ARMS, 0.5, 1.0)
    first, same, other = (motions(icub, motion, seed=seed).applied(commanded(icub), 5.0).values for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
    cut = motions(icub, motion, limits=(0.25, 0.4))
    values = np.array([cut.applied(commanded(icub), time).values for time in np.arange(0.0, 10.0, 0.02)])
    reached = values[:, icub.joints.index("l_elbow")]
    assert (reached.min(), reached.max()) == pytest.approx((0.27, 0.38))


def test_without_a_motion_the_command_is_handed_on(icub):
    command = commanded(icub)
    assert motions(icub).applied(command, 1.0) is command


def test_what_cannot_be_moved_is_refused(icub):
    with pytest.raises(ModelError, match=r"no joint 'l_elbw'.*l_elbow"):
        motions(icub, JointMotion(("l_elbw",), 0.5, 1.0))
    with pytest.raises(ModelError, match="moved by two"):
        motions(icub, JointMotion(ARMS, 0.5, 1.0), JointMotion(("l_elbow",), 0.1, 1.0))
    with pytest.raises(ConfigError, match=r"frequency=0\.0 must be positive"):
        JointMotion(ARMS, 0.5, 0.0)
    with pytest.raises(ConfigError, match="names no joint"):
        JointMotion((), 0.5, 1.0)


def test_a_simulated_robot_moves_its_arms_though_the_controller_holds_them(make_icub, icub):
    robot = make_icub(
        shift=(0, 0, 5), ground={"gravity": 0.0}, joint_motions=[{"joints": ARMS, "amplitude": 0.4, "frequency": 1.0}]
    )
    start, reached = robot.read().joint_positions, []
    for _ in range(150):
        robot.write(JointCommand(ControlMode.POSITION, start))
        robot.advance(0.01)
        reached.append(robot.read().joint_positions - start)
    reached = np.abs(reached).max(axis=0)
    elbow = icub.joints.index("l_elbow")
    assert reached[elbow] > 0.08
    assert reached[icub.joints.index("l_knee")] < 0.02
