from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradiva.common import ConfigError, ControlMode, JointCommand, RobotInterfaceError, RobotPosture, Side, so3
from gradiva.robot_model import RobotDescription
from gradiva.setup import data_folder, read_toml
from gradiva.simulation import MujocoRobot

from .conftest import MakeRobot
from .standing import configured, positions, standing_posture

TICK = 0.01  # [s]
GRAVITY = 9.81


def test_every_robot_stands_for_two_seconds_with_its_weight_on_the_soles(
    description: RobotDescription,
) -> None:
    robot = MujocoRobot(description, configured(), standing_posture(description))
    robot.advance(1.9)
    robot.read()
    robot.advance(0.1)
    wrenches = robot.read().contact_wrenches
    truth = robot.truth()
    weight = description.mass * GRAVITY
    assert robot.fall is None
    assert np.degrees(so3.tilt(truth.left_foot_rotation)) < 0.1
    assert truth.foot_slip_m < 1e-3
    assert (wrenches[:, 2] > 0.05 * weight).all()
    assert wrenches[:, 2].sum() == pytest.approx(weight, rel=2e-3)
    for side in Side:
        share = truth.foot_wrench(side)
        assert 0.3 * weight < share[2] < 0.7 * weight
        assert abs(truth.foot_position(side)[2]) < 2e-4


def test_positions_follow_commands_of_each_joint_in_the_descriptions_order(
    description: RobotDescription,
) -> None:
    posture = standing_posture(description)
    joints = len(description.joints)
    in_the_air = RobotPosture(
        posture.base_position + np.array([0.0, 0.0, 5.0]), posture.base_rotation, posture.joint_positions
    )
    robot = MujocoRobot(description, configured(ground={"gravity": 0.0}), in_the_air)
    steps = np.linspace(-0.04, 0.05, joints)
    target = posture.joint_positions + steps
    robot.write(positions(target))
    robot.advance(1.5)
    np.testing.assert_allclose(robot.read().joint_positions, target, atol=2e-3)


def test_velocity_commands_move_the_joints_at_that_speed(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), ground={"gravity": 0.0})
    elbow = 6
    velocity = np.zeros(23)
    velocity[elbow] = 0.5
    before = robot.read().joint_positions
    robot.write(JointCommand(ControlMode.VELOCITY, velocity))
    robot.advance(0.5)
    after = robot.read()
    assert after.joint_velocities[elbow] == pytest.approx(0.5, abs=0.02)
    np.testing.assert_allclose(after.joint_positions - before, 0.5 * velocity, atol=0.01)


def test_a_diverging_simulation_is_reported_by_name_alone(
    make_icub: MakeRobot, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    robot = make_icub(shift=(0, 0, 5))
    robot._data.qvel[:] = np.nan
    robot.advance(0.002)
    with pytest.raises(RobotInterfaceError, match="the simulation diverged"):
        robot.read()
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_torque_commands_are_the_torques(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5))
    torques = np.linspace(-3.0, 3.0, 23)
    robot.write(JointCommand(ControlMode.TORQUE, torques))
    robot.advance(0.002)
    np.testing.assert_allclose(robot.read().joint_torques, torques, atol=1e-12)


def test_torques_stop_at_the_lower_limit_of_description_and_model(make_icub: MakeRobot, icub: RobotDescription) -> None:
    robot = make_icub(shift=(0, 0, 5))
    robot.write(JointCommand(ControlMode.TORQUE, np.full(23, 1e4)))
    robot.advance(0.001)
    torques = robot.read().joint_torques
    assert torques[icub.joints.index("l_hip_pitch")] == 55.5  # the model's
    assert torques[icub.joints.index("torso_pitch")] == 60.0  # the description's: the model allows 50 kN·m


def test_switching_to_velocity_control_keeps_the_robot_standing(make_icub: MakeRobot) -> None:
    robot = make_icub()
    robot.advance(0.5)
    before = robot.truth()
    robot.write(JointCommand(ControlMode.VELOCITY, np.zeros(23)))
    robot.advance(0.01)
    np.testing.assert_allclose(robot.truth().joint_torques, before.joint_torques, atol=0.5)
    robot.advance(1.0)
    assert robot.fall is None
    np.testing.assert_allclose(robot.truth().joint_positions, before.joint_positions, atol=0.01)


def test_wrong_commands_are_refused_by_name(make_icub: MakeRobot) -> None:
    robot = make_icub()
    with pytest.raises(RobotInterfaceError, match="22 values commanded to 23 joints"):
        robot.write(positions(np.zeros(22)))
    values = np.zeros(23)
    values[1] = np.nan
    with pytest.raises(RobotInterfaceError, match="position command of joint 'torso_roll' is nan"):
        robot.write(positions(values))


def test_time_advances_by_whole_physics_steps_only(make_icub: MakeRobot) -> None:
    robot = make_icub()
    robot.advance(0.003)
    assert robot.time == pytest.approx(0.003, abs=1e-15)
    with pytest.raises(RobotInterfaceError, match="no multiple of the step"):
        robot.advance(0.0005)
    with pytest.raises(RobotInterfaceError, match="no multiple of the step"):
        robot.advance(-0.001)


def test_equal_seeds_give_bit_equal_runs_and_other_seeds_do_not(make_icub: MakeRobot) -> None:
    noise = read_toml(data_folder("config") / "plant_noisy.toml")["simulation"]
    last = []
    for seed in (3, 3, 4):
        robot = make_icub(seed=seed, **noise)
        for _ in range(20):
            measurement = robot.read()
            robot.write(positions(measurement.joint_positions))
            robot.advance(TICK)
        last.append(np.concatenate([robot.truth().joint_positions, robot.read().contact_wrenches.ravel()]))
    np.testing.assert_array_equal(last[0], last[1])
    assert np.abs(last[0] - last[2]).max() > 1e-4


def test_a_moved_and_turned_world_moves_the_run_with_it(make_icub: MakeRobot) -> None:
    shift, heading = (3.0, -2.0, 0.0), 0.7
    here, there = make_icub(), make_icub(shift=shift, heading=heading)
    for robot in (here, there):
        robot.advance(0.3)
    turn = so3.rotation_z(heading)
    one, other = here.truth(), there.truth()
    np.testing.assert_allclose(other.com_position, turn @ one.com_position + shift, atol=1e-6)
    np.testing.assert_allclose(other.base_rotation, turn @ one.base_rotation, atol=1e-5)
    np.testing.assert_allclose(there.read().contact_wrenches[:, 2], here.read().contact_wrenches[:, 2], atol=0.5)


def test_the_command_takes_effect_after_its_delay(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), servo={"delay": 0.004})
    robot.write(JointCommand(ControlMode.TORQUE, np.full(23, 0.5)))
    robot.advance(0.004)
    assert np.abs(robot.read().joint_torques - 0.5).max() > 0.1
    robot.advance(0.001)
    np.testing.assert_allclose(robot.read().joint_torques, 0.5)


def test_impossible_starts_are_refused(make_icub: MakeRobot, icub: RobotDescription) -> None:
    with pytest.raises(ConfigError, match=r"sole starts 0\.0\d+ m below the floor"):
        make_icub(shift=(0, 0, -0.02))
    with pytest.raises(ConfigError, match="the posture has 3 of 23 joints"):
        MujocoRobot(icub, configured(), RobotPosture(np.zeros(3), np.eye(3), np.zeros(3)))
