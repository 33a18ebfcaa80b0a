"""A part of a simulated robot as its board shows it, and the moves of its joints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradiva.middleware import (
    CommandKind,
    ControlMode,
    Feature,
    InteractionMode,
    MalformedMessage,
    NotOffered,
    PidType,
    StreamedCommand,
)
from gradiva.yarp_modules.simulator.simulated_joints import JointMove
from tests.yarp_modules.simulator.conftest import make_world

ELBOW, WRIST, WRIST_YAW = 3, 5, 6


@pytest.fixture
def arm(world):
    return world.parts["left_arm"]


def stream(part, kind, **values):
    names = list(part.axis_names)
    joints = tuple(names.index(name) for name in values)
    part.stream(StreamedCommand(kind, joints, tuple(values.values())))


def position(part, joint):
    return part.read().joint_position[joint]


def let_pass(world, duration):
    world.advance(duration)
    world.sample(())


def test_a_robot_without_commands_stands_in_its_start_posture(world):
    before = world.truth()
    let_pass(world, 2.0)
    assert world.fall is None
    np.testing.assert_allclose(world.truth().joint_positions, before.joint_positions, atol=0.01)
    assert all(mode == ControlMode.POSITION for part in world.parts.values() for mode in part.read().control_modes)


def test_taking_over_in_another_position_mode_does_not_move_the_robot(world):
    let_pass(world, 0.5)
    undisturbed = make_world()
    undisturbed.advance(0.5)
    for part in world.parts.values():
        joints = tuple(range(len(part.axis_names)))
        part.set_control_modes(joints, [ControlMode.POSITION_DIRECT] * len(joints))
        part.stream(
            StreamedCommand(
                CommandKind.POSITION_DIRECT, None, tuple(part.parameter(Feature.POSITION_REFERENCE, joints, None))
            )
        )
    world.advance(0.5)
    undisturbed.advance(0.5)
    np.testing.assert_allclose(world.truth().joint_positions, undisturbed.truth().joint_positions, atol=1e-12)


def test_position_direct_is_followed_at_once_and_cut_at_the_limits(world, arm):
    arm.set_control_modes((ELBOW, WRIST), [ControlMode.POSITION_DIRECT] * 2)
    stream(arm, CommandKind.POSITION_DIRECT, l_elbow=60.0, l_wrist_pitch=1000.0)
    let_pass(world, 1.5)
    assert position(arm, ELBOW) == pytest.approx(60.0, abs=2.0)
    upper = arm.parameter(Feature.POSITION_LIMITS, (WRIST,), None)[0][1]
    assert position(arm, WRIST) == pytest.approx(upper)


def test_a_move_goes_at_the_reference_speed_and_reports_its_end(world, arm):
    start = arm.parameter(Feature.TARGET_POSITION, (ELBOW,), None)[0]
    arm.set_parameter(Feature.TRAJECTORY_SPEED, (ELBOW,), [20.0], None)
    arm.move_by((ELBOW,), [20.0])
    assert arm.parameter(Feature.TARGET_POSITION, (ELBOW,), None) == pytest.approx([start + 20.0])
    let_pass(world, 0.5)
    assert arm.parameter(Feature.POSITION_REFERENCE, (ELBOW,), None) == pytest.approx([start + 10.0])
    assert not arm.is_motion_done((ELBOW,))
    let_pass(world, 0.51)
    assert arm.is_motion_done((ELBOW,))
    let_pass(world, 0.5)
    assert position(arm, ELBOW) == pytest.approx(start + 20.0, abs=2.0)


def test_a_move_can_be_stopped_half_way(world, arm):
    arm.move_to((WRIST,), [20.0])
    let_pass(world, 1.0)
    arm.stop((WRIST,))
    let_pass(world, 1.0)
    assert arm.is_motion_done((WRIST,))
    assert position(arm, WRIST) == pytest.approx(10.0, abs=0.1)


def test_velocities_are_followed_until_they_are_stopped(world, arm):
    start = position(arm, ELBOW)
    arm.set_control_modes((ELBOW, WRIST), [ControlMode.VELOCITY] * 2)
    stream(arm, CommandKind.VELOCITY, l_elbow=10.0, l_wrist_pitch=-5.0)
    let_pass(world, 1.0)
    data = arm.read()
    assert data.joint_velocity[[ELBOW, WRIST]] == pytest.approx([10.0, -5.0], abs=0.5)
    assert data.joint_position[ELBOW] == pytest.approx(start + 10.0, abs=1.0)
    assert data.joint_position[WRIST] == pytest.approx(-5.0)
    arm.stop((ELBOW, WRIST))
    let_pass(world, 1.0)
    assert arm.read().joint_velocity[[ELBOW, WRIST]] == pytest.approx([0.0, 0.0], abs=0.1)


def test_torques_are_followed_and_idle_joints_exert_none(world, arm):
    arm.set_control_modes((0, ELBOW), [ControlMode.TORQUE, ControlMode.IDLE])
    stream(arm, CommandKind.TORQUE, l_shoulder_pitch=-1.25)
    let_pass(world, 0.05)
    assert arm.read().torque[[0, ELBOW]] == pytest.approx([-1.25, 0.0])
    assert arm.parameter(Feature.TORQUE_REFERENCE, (0,), None) == [-1.25]


def test_mixed_joints_move_and_drift(world, arm):
    arm.set_control_modes((WRIST,), [ControlMode.MIXED])
    arm.move_to((WRIST,), [5.0])
    let_pass(world, 0.6)
    assert position(arm, WRIST) == pytest.approx(5.0)
    stream(arm, CommandKind.VELOCITY, l_wrist_pitch=3.0)
    let_pass(world, 1.0)
    assert position(arm, WRIST) == pytest.approx(8.0, abs=0.02)


def test_each_joint_has_its_own_mode(world, arm):
    arm.set_control_modes((0, ELBOW), [ControlMode.POSITION_DIRECT, ControlMode.VELOCITY])
    arm.set_control_modes((WRIST,), [ControlMode.FORCE_IDLE])
    modes = arm.read().control_modes
    assert modes[0] == ControlMode.POSITION_DIRECT
    assert modes[1] == ControlMode.POSITION
    assert modes[ELBOW] == ControlMode.VELOCITY
    assert modes[WRIST] == ControlMode.IDLE


def test_set_points_of_another_mode_are_ignored_with_a_warning(world, arm, caplog):
    before = position(arm, WRIST_YAW)
    stream(arm, CommandKind.POSITION_DIRECT, l_wrist_yaw=10.0)
    let_pass(world, 0.1)
    assert position(arm, WRIST_YAW) == before
    assert "left_arm: position direct set-points of l_wrist_yaw are ignored in mode POSITION" in caplog.text


def test_compliant_joints_have_the_stiffness_of_their_impedance(world):
    head = world.parts["torso"]
    stiffness = head.gains()[0]
    head.set_parameter(Feature.IMPEDANCE, (0,), [(2.0, 0.1)], None)
    head.set_interaction_modes((0,), [InteractionMode.COMPLIANT])
    assert head.gains()[0][0] == pytest.approx(math.degrees(2.0))
    assert head.gains()[0][1:] == pytest.approx(stiffness[1:])
    assert head.read().interaction_modes[0] == InteractionMode.COMPLIANT


def test_gains_are_reported_per_degree_and_can_be_changed(world, arm):
    gains = arm.parameter(Feature.PID, (ELBOW,), PidType.POSITION)[0]
    assert gains[0] == pytest.approx(math.radians(1250.0))  # robot.toml: 1250 N·m/rad
    before = position(arm, ELBOW)
    arm.set_parameter(Feature.PID, (ELBOW,), [(0.0, 0.01, *gains[2:])], PidType.POSITION)
    let_pass(world, 1.0)
    assert position(arm, ELBOW) < before - 2.0  # a soft elbow sinks
    with pytest.raises(MalformedMessage, match="gains must not be negative"):
        arm.set_parameter(Feature.PID, (ELBOW,), [(-1.0, *gains[1:])], PidType.POSITION)


def test_limits_names_and_loops_can_be_asked_for(world):
    leg = world.parts["left_leg"]
    knee = list(leg.axis_names).index("l_knee")
    assert leg.parameter(Feature.POSITION_LIMITS, (knee,), None)[0] == pytest.approx([-124.0, 4.0], abs=1.0)
    limits = leg.parameter(Feature.VELOCITY_LIMITS, (knee,), None)[0]
    assert limits == pytest.approx([0.0, math.degrees(6.7)])  # robot.toml
    let_pass(world, 0.1)
    reference, error = (
        leg.parameter(feature, (knee,), PidType.POSITION)[0] for feature in (Feature.PID_REFERENCE, Feature.PID_ERROR)
    )
    assert reference - error == pytest.approx(position(leg, knee))
    assert leg.parameter(Feature.PID_OUTPUT, (knee,), PidType.POSITION)[0] == pytest.approx(leg.read().torque[knee])


def test_modes_and_goals_that_the_joints_do_not_have_are_refused(arm):
    with pytest.raises(NotOffered, match="control mode PWM"):
        arm.set_control_modes((0,), [ControlMode.PWM])
    with pytest.raises(NotOffered, match="current set-points"):
        stream(arm, CommandKind.CURRENT, l_elbow=1.0)
    with pytest.raises(NotOffered, match="encoders that are set"):
        arm.set_parameter(Feature.ENCODER, (0,), [0.0], None)
    with pytest.raises(IndexError):
        arm.move_to((7,), [0.0])


def test_a_move_has_its_mean_speed_and_ends_at_its_goal():
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
