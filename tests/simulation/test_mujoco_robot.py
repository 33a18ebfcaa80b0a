from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradiva.common import ConfigError, ControlMode, JointCommand, RobotInterfaceError, RobotPosture, Side, so3
from gradiva.robot_model import RobotDescription
from gradiva.setup import data_folder, load_robot, read_toml
from gradiva.simulation import MujocoRobot, Push

from .conftest import MakeRobot
from .standing import configured, standing_posture

TICK = 0.01  # [s]
GRAVITY = 9.81


def positions(values: np.ndarray) -> JointCommand:
    return JointCommand(ControlMode.POSITION, values)


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


def test_the_zmp_of_the_readings_is_the_ground_projection_of_the_com(description: RobotDescription) -> None:
    robot = MujocoRobot(description, configured(), standing_posture(description))
    robot.advance(4.0)
    truth = robot.truth()
    total = np.zeros(6)
    for side in Side:
        wrench, origin = truth.foot_wrench(side), truth.foot_position(side)
        total[:3] += wrench[:3]
        total[3:] += wrench[3:] + so3.cross(origin, wrench[:3])
    zmp = np.array([-total[4], total[3]]) / total[2]
    np.testing.assert_allclose(zmp, truth.com_position[:2], atol=1e-4)


def test_the_base_is_measured_where_it_is(description: RobotDescription) -> None:
    posture = standing_posture(description)
    robot = MujocoRobot(description, configured(), posture)
    robot.push(Push(link=description.base_link, force=(30.0, 20.0, 0.0), start=0.0, duration=0.1))
    robot.advance(0.1)
    base, truth = robot.read().base, robot.truth()
    assert base is not None
    np.testing.assert_allclose(base.position, truth.base_position, atol=1e-15)
    np.testing.assert_allclose(base.rotation, truth.base_rotation, atol=1e-12)
    np.testing.assert_allclose(base.twist, truth.base_twist, atol=1e-12)
    assert np.abs(base.twist[:3]).max() > 1e-3


def test_the_soles_start_loaded_and_still(description: RobotDescription) -> None:
    robot = MujocoRobot(description, configured(), standing_posture(description))
    assert robot.time == 0.0
    np.testing.assert_array_equal(robot.truth().base_twist, np.zeros(6))
    load = robot.read().contact_wrenches[:, 2].sum()
    assert load == pytest.approx(description.mass * GRAVITY, rel=0.15)
    robot.advance(TICK)
    assert np.abs(robot.truth().base_twist[:3]).max() < 0.01


def test_without_noise_the_measurement_is_the_truth(make_icub: MakeRobot) -> None:
    robot = make_icub()
    robot.advance(0.5)
    measurement, truth = robot.read(), robot.truth()
    np.testing.assert_array_equal(measurement.joint_positions, truth.joint_positions)
    np.testing.assert_array_equal(measurement.joint_velocities, truth.joint_velocities)
    np.testing.assert_array_equal(measurement.joint_torques, truth.joint_torques)
    assert measurement.time == truth.time == 0.5


def test_wrenches_are_means_over_the_time_since_the_last_reading(make_icub: MakeRobot) -> None:
    often, seldom = make_icub(), make_icub()
    often.read()
    seldom.read()
    samples = []
    for _ in range(20):
        often.advance(0.001)
        samples.append(often.read().contact_wrenches)
    seldom.advance(0.02)
    np.testing.assert_allclose(seldom.read().contact_wrenches, np.mean(samples, axis=0), atol=1e-9)
    np.testing.assert_array_equal(often.read().contact_wrenches, samples[-1])


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
    noise = read_toml(data_folder("config") / "noise.toml")["simulation"]
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


def test_reading_the_truth_does_not_change_the_run(make_icub: MakeRobot) -> None:
    watched, alone = make_icub(), make_icub()
    for _ in range(20):
        watched.advance(TICK)
        watched.read()
        watched.truth()
    alone.advance(0.2)
    np.testing.assert_array_equal(watched.truth().joint_positions, alone.truth().joint_positions)


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


def test_sensors_are_late_by_their_delay(make_icub: MakeRobot) -> None:
    late, prompt = make_icub(sensors={"delay": 0.003}), make_icub()
    for robot in (late, prompt):
        robot.read()
        robot.write(positions(0.95 * robot.truth().joint_positions))
    prompt.advance(0.007)
    late.advance(0.01)
    delayed, direct = late.read(), prompt.read()
    assert delayed.time == pytest.approx(0.007, abs=1e-12)
    np.testing.assert_array_equal(delayed.joint_positions, direct.joint_positions)
    np.testing.assert_allclose(delayed.contact_wrenches, direct.contact_wrenches, atol=1e-9)
    assert delayed.imu is not None
    assert direct.imu is not None
    np.testing.assert_array_equal(delayed.imu.rotation, direct.imu.rotation)


def test_the_gyro_tells_the_turn_of_the_imu_in_its_own_axes(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), heading=0.4)
    robot.write(JointCommand(ControlMode.TORQUE, np.linspace(-5.0, 5.0, 23)))
    robot.advance(0.1)
    before = robot.read().imu
    robot.advance(0.001)
    after = robot.read().imu
    assert before is not None
    assert after is not None
    turned = so3.log(before.rotation.T @ after.rotation) / 0.001  # the engine moves with the new velocity
    np.testing.assert_allclose(turned, after.angular_velocity, atol=5e-3)
    assert np.abs(turned).max() > 0.2


def test_base_and_com_velocities_are_derivatives_of_the_positions(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), heading=1.0)
    robot.write(JointCommand(ControlMode.TORQUE, np.linspace(-5.0, 5.0, 23)))
    robot.advance(0.1)
    one = robot.truth()
    robot.advance(0.001)
    two = robot.truth()
    moved = np.concatenate([two.base_position - one.base_position, so3.log(two.base_rotation @ one.base_rotation.T)])
    np.testing.assert_allclose(moved / 0.001, two.base_twist, atol=1e-9)  # the engine moves with the new one
    velocity = (two.com_position - one.com_position) / 0.001
    np.testing.assert_allclose(velocity, two.com_velocity, atol=5e-3)


def test_a_free_robot_falls_with_gravity(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5))
    start = robot.truth().com_position
    robot.advance(0.2)
    truth = robot.truth()
    np.testing.assert_allclose(truth.com_velocity, [0.0, 0.0, -0.2 * GRAVITY], atol=1e-3)
    np.testing.assert_allclose(truth.com_position - start, [0.0, 0.0, -0.5 * GRAVITY * 0.04], atol=2e-3)
    np.testing.assert_array_equal(robot.read().contact_wrenches, np.zeros((2, 6)))


def test_a_push_gives_the_robot_its_impulse(make_icub: MakeRobot, icub: RobotDescription) -> None:
    push = {"link": "chest", "force": [20.0, -40.0, 10.0], "start": 0.05, "duration": 0.1}
    robot = make_icub(shift=(0, 0, 5), pushes=[push], ground={"gravity": 0.0})
    robot.advance(0.05)
    assert np.abs(robot.truth().com_velocity).max() < 1e-3
    robot.advance(0.2)
    momentum = icub.mass * robot.truth().com_velocity
    np.testing.assert_allclose(momentum, [2.0, -4.0, 1.0], atol=0.002)


def test_pushes_to_the_left_and_right_move_the_robot_there_alike() -> None:
    talos = load_robot("talos")
    speeds = []
    for force in (60.0, -60.0):
        robot = MujocoRobot(talos, configured(), standing_posture(talos))
        robot.push(Push("torso_2_link", (0.0, force, 0.0), start=0.2, duration=0.1))
        robot.advance(0.3)
        speeds.append(robot.truth().com_velocity[1])
    assert speeds[0] > 0.02
    assert speeds[1] == pytest.approx(-speeds[0], rel=0.05)


def test_a_torque_turns_the_robot(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), ground={"gravity": 0.0})
    robot.push(Push("root_link", (0.0, 0.0, 0.0), start=0.0, duration=0.1, torque=(0.0, 0.0, -2.0)))
    robot.advance(0.1)
    truth = robot.truth()
    assert truth.base_twist[5] < -0.1
    assert np.abs(truth.com_velocity).max() < 1e-3


def test_every_robot_stands_with_noise_and_delay(description: RobotDescription) -> None:
    noise = read_toml(data_folder("config") / "noise.toml")["simulation"]
    robot = MujocoRobot(description, configured(**noise), standing_posture(description), seed=1)
    target = positions(robot.truth().joint_positions)
    for _ in range(100):
        robot.read()
        robot.write(target)
        robot.advance(TICK)
    assert robot.fall is None


def test_a_push_beyond_balance_is_reported_as_a_fall(make_icub: MakeRobot) -> None:
    push = {"link": "chest", "force": [0.0, 300.0, 0.0], "start": 0.1, "duration": 0.2}
    robot = make_icub(pushes=[push])
    robot.advance(2.5)
    assert robot.fall is not None
    assert "base tilt" in robot.fall.reason
    assert 0.3 < robot.fall.time < 2.0


def test_a_push_on_an_unknown_link_is_refused(make_icub: MakeRobot) -> None:
    push = {"link": "chets", "force": [0.0, 1.0, 0.0], "start": 0.0, "duration": 0.1}
    with pytest.raises(Exception, match="no link or frame 'chets'; did you mean 'chest'"):
        make_icub(pushes=[push])


def test_the_plants_mass_scales(make_icub: MakeRobot, icub: RobotDescription) -> None:
    robot = make_icub(plant={"mass_scale": 1.1})
    robot.advance(1.0)
    robot.read()
    robot.advance(0.1)
    load = robot.read().contact_wrenches[:, 2].sum()
    assert load == pytest.approx(1.1 * icub.mass * GRAVITY, rel=3e-3)


def test_on_a_slope_the_imu_leans_and_the_ground_pulls_downhill(make_icub: MakeRobot) -> None:
    slope = np.radians(2.0)
    robot = make_icub(ground={"slope_forward": slope})
    level = make_icub()
    imu, reference = robot.read().imu, level.read().imu
    assert imu is not None
    assert reference is not None
    lean = so3.log(imu.rotation @ reference.rotation.T)
    np.testing.assert_allclose(lean, [0.0, -slope, 0.0], atol=1e-9)
    robot.advance(1.0)
    truth = robot.truth()
    total = truth.left_foot_wrench + truth.right_foot_wrench
    assert total[0] / total[2] == pytest.approx(np.tan(slope), rel=0.05)


def test_encoder_noise_does_not_reach_the_truth(make_icub: MakeRobot) -> None:
    robot = make_icub(sensors={"encoder_noise": 0.01})
    error = robot.read().joint_positions - robot.truth().joint_positions
    assert 0.004 < error.std() < 0.02


def test_the_positive_work_of_the_servos_is_counted(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), ground={"gravity": 0.0})
    assert robot.positive_work_j == 0.0
    torques = np.zeros(23)
    torques[0] = 2.0
    start = robot.truth().joint_positions[0]
    robot.write(JointCommand(ControlMode.TORQUE, torques))
    robot.advance(0.1)
    work = 2.0 * (robot.truth().joint_positions[0] - start)
    assert work > 0.01
    assert robot.positive_work_j == pytest.approx(work, rel=0.05)


def test_impossible_starts_are_refused(make_icub: MakeRobot, icub: RobotDescription) -> None:
    with pytest.raises(ConfigError, match=r"sole starts 0\.0\d+ m below the floor"):
        make_icub(shift=(0, 0, -0.02))
    with pytest.raises(ConfigError, match="the posture has 3 of 23 joints"):
        MujocoRobot(icub, configured(), RobotPosture(np.zeros(3), np.eye(3), np.zeros(3)))
