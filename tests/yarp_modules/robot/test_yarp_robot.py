"""A robot behind its ports, read and commanded."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ConfigError, ControlMode, ControlModeLost, JointCommand, LateSource, RobotInterfaceError
from gradiva.middleware import ControlMode as BoardMode
from gradiva.middleware import SensorClass, carrier_between, yarp
from gradiva.robot_model import Environment
from gradiva.setup import load_setup
from gradiva.yarp_modules.network_clock import control_time
from gradiva.yarp_modules.robot import RobotIoConfig, YarpRobot
from pureyarp.devices.device_ports import ConnectionKeeper
from tests.waiting import wait_until
from tests.yarp_modules.robot.conftest import reach, read_until_late
from tests.yarp_modules.robot.fake_robot import ground_at


def command(values: np.ndarray, mode: ControlMode = ControlMode.POSITION) -> JointCommand:
    return JointCommand(mode, values)


def drive(robot: YarpRobot, values: np.ndarray, mode: ControlMode = ControlMode.POSITION) -> None:
    """Command until all joints are in their mode, as a controller does tick by tick, and once more."""
    wait_until(lambda: robot.write(command(values, mode)) or robot.is_engaged, f"all joints in mode {mode}")
    robot.write(command(values, mode))


def test_encoders_come_in_radians_and_in_the_order_of_the_description(fake, robot):
    positions, begin = np.linspace(-0.5, 0.6, 23), control_time()
    fake.place_joints(positions)
    wait_until(lambda: np.allclose(robot.read().joint_positions, positions), "the positions of the boards")
    measurement = robot.read()
    np.testing.assert_allclose(measurement.joint_velocities, 0.0)
    assert measurement.joint_torques.shape == (23,)
    assert begin <= measurement.time <= control_time()  # however busy the machine is


def test_the_ground_wrench_is_turned_to_the_sole_and_lacks_the_weight_of_the_foot(fake, robot):
    ground_at(fake, "l_foot_ft", [1.0, -2.0, -100.0, 0.0, 0.0, 0.5])
    wait_until(lambda: robot.read().contact_wrenches[0, 2] > 50.0, "the wrench")
    left, right = robot.read().contact_wrenches
    np.testing.assert_allclose(left[:3], [1.0, 2.0, 103.757], atol=1e-3)  # x stays, y and z are turned round
    assert right[2] == pytest.approx(3.756, abs=1e-3)  # an unloaded sensor that reads nothing hides a foot of 0.38 kg


def test_the_imu_is_turned_to_radians_and_a_rotation(fake, robot):
    sensors = fake.sensors["xsens_inertial"]
    sensors.values[SensorClass.ORIENTATION, "root_link_imu_acc"] = [10.0, -20.0, 30.0]
    sensors.values[SensorClass.GYROSCOPE, "root_link_imu_acc"] = [90.0, 0.0, -45.0]
    wait_until(lambda: bool(robot.read().imu.angular_velocity.any()), "the gyroscope")
    imu = robot.read().imu
    np.testing.assert_allclose(imu.angular_velocity, np.deg2rad([90.0, 0.0, -45.0]), atol=1e-12)
    assert np.arctan2(imu.rotation[1, 0], imu.rotation[0, 0]) == pytest.approx(np.deg2rad(30.0))
    assert -np.arcsin(imu.rotation[2, 0]) == pytest.approx(np.deg2rad(-20.0))
    np.testing.assert_allclose(imu.rotation @ imu.rotation.T, np.eye(3), atol=1e-12)


def test_positions_are_commanded_in_position_direct_after_all_joints_have_reported_it(fake, robot):
    goal = np.linspace(0.3, -0.4, 23)
    drive(robot, goal)
    assert set(fake.modes()) == {BoardMode.POSITION_DIRECT}
    wait_until(lambda: np.allclose(fake.joint_positions(), goal), "the joints where they were errors to be")


def test_no_velocity_passes_before_all_joints_are_in_velocity_mode(fake, robot):
    fake.refuse("l_knee")
    for _ in range(20):
        robot.write(command(np.full(23, 0.2), ControlMode.VELOCITY))
        time.sleep(0.005)
    assert not robot.is_engaged
    assert all(not board.velocity.any() for board in fake.boards.values())


def test_velocities_arrive_in_degrees_a_second(fake, robot):
    drive(robot, np.full(23, 0.2), ControlMode.VELOCITY)
    wait_until(lambda: np.allclose(fake.boards["left_leg"].velocity, np.rad2deg(0.2)), "the velocities")


def test_torques_arrive_in_newton_metres_and_are_read_back(fake, robot):
    torques = np.linspace(-3.0, 3.0, 23)
    drive(robot, torques, ControlMode.TORQUE)
    wait_until(lambda: np.allclose(robot.read().joint_torques, torques), "the torques")


def test_a_joint_that_does_not_get_into_the_mode_is_named_with_the_mode_it_is_in(fake, connect):
    robot = connect("mode_timeout=0.1")
    fake.refuse("l_knee")
    fake.set_mode("l_knee", BoardMode.HARDWARE_FAULT)
    robot.write(command(np.zeros(23)))  # is no error: all may still be on their way
    errors = []

    def only_the_knee_is_reported():
        try:
            robot.write(command(np.zeros(23)))
        except ControlModeLost as error:
            errors.append(error)
        return errors and errors[-1].joints == {"l_knee": "hardware fault"}

    wait_until(only_the_knee_is_reported, lambda: f"the other boards did not switch: {errors[-1:]}")
    assert "did not get in mode position direct (" in str(errors[0])
    assert "(l_knee: hardware fault)" in str(errors[-1])


def test_a_joint_that_leaves_the_mode_is_reported_at_every_tick_and_the_others_go_on(fake, robot):
    drive(robot, np.zeros(23))
    fake.set_mode("r_hip_roll", BoardMode.IDLE)
    with pytest.raises(ControlModeLost, match=r"are no longer in mode position direct \(r_hip_roll: idle\)"):
        wait_until(lambda: robot.write(command(np.full(23, 0.1))), "the lost joint")
    with pytest.raises(ControlModeLost, match="r_hip_roll"):
        robot.write(command(np.full(23, 0.2)))
    joint = fake.description.joints.index("l_knee")
    wait_until(lambda: np.isclose(fake.joint_positions()[joint], 0.2), "the other joints")


def test_rearming_switches_the_joints_before_the_first_command(fake, robot):
    robot.rearm()
    wait_until(lambda: set(fake.modes()) == {BoardMode.POSITION_DIRECT}, "the modes")
    drive(robot, np.full(23, 0.1))


def test_a_freeze_out_of_torque_control_does_not_wait_for_a_board_that_hangs(fake, connect):
    robot = connect("mode_timeout=2.0")
    drive(robot, np.zeros(23), ControlMode.TORQUE)
    hung, others = fake.boards["left_leg"], [board for part, board in fake.boards.items() if part != "left_leg"]
    hung.answers.clear()
    robot.write(command(np.full(23, 0.1)))  # returns, though the board answers only at the end of this test

    def is_frozen(board):
        return BoardMode.TORQUE not in board.modes

    wait_until(lambda: all(map(is_frozen, others)), "the healthy boards are frozen")
    with pytest.raises(ControlModeLost, match=r"did not get in mode position direct \(l_hip_pitch: ") as lost:
        wait_until(lambda: robot.write(command(np.full(23, 0.1))), "the board that hangs is named")
    assert set(lost.value.joints) == {
        joint for joint in fake.description.joints if fake.ports.board_of(joint) == "left_leg"
    }
    wait_until(lambda: np.allclose(others[-1].position, np.rad2deg(0.1)), "the others follow their set-points")
    assert not is_frozen(hung)
    hung.answers.set()
    wait_until(lambda: is_frozen(hung), "the board that answers again is frozen as well")


def test_joints_whose_board_has_not_answered_are_not_in_their_mode_even_if_it_reports_it(fake, connect):
    robot = connect("mode_timeout=2.0")
    drive(robot, np.zeros(23))
    hung = fake.boards["left_leg"]
    hung.answers.clear()
    robot.rearm()
    robot.write(command(np.full(23, 0.1)))
    assert set(fake.modes()) == {BoardMode.POSITION_DIRECT}
    assert not robot.is_engaged
    with pytest.raises(ControlModeLost, match="l_hip_pitch: its board does not answer"):
        wait_until(lambda: robot.write(command(np.full(23, 0.1))), "the board that hangs is named")
    hung.answers.set()
    robot.rearm()
    drive(robot, np.full(23, 0.1))


def test_a_board_that_hangs_when_the_robot_is_left_keeps_no_other_from_holding(fake, connect, monkeypatch, caplog):
    monkeypatch.setattr("gradiva.yarp_modules.robot.joint_modes._TIMEOUT", 0.5)
    monkeypatch.setattr("gradiva.yarp_modules.robot.joint_modes._JOIN_TIMEOUT", 0.05)
    robot = connect()
    drive(robot, np.zeros(23), ControlMode.TORQUE)
    hung = fake.boards["left_leg"]
    hung.answers.clear()
    with caplog.at_level("INFO", "gradiva.robot"):
        robot.close()
    others = {mode for board in fake.boards.values() if board is not hung for mode in board.modes}
    assert others == {BoardMode.POSITION}
    assert set(hung.modes) == {BoardMode.TORQUE}
    assert "let go of the robot: no answer from /icubSim/left_leg" in caplog.text
    assert "/icubSim/left_leg hang: their connections stay open" in caplog.text
    hung.answers.set()
    wait_until(robot._orders.close, "the board that answers again")


def test_boards_stay_open_while_one_of_them_is_asked_for_temperatures(connect, monkeypatch, caplog):
    monkeypatch.setattr("gradiva.yarp_modules.robot.joint_boards._JOIN_TIMEOUT", 0.05)
    robot, answers, asked = connect("temperature_period=0.01"), threading.Event(), threading.Event()
    monkeypatch.setattr(robot._temperatures, "_are_silent", lambda: asked.set() or not answers.wait(60.0))
    assert asked.wait(60.0)
    robot.close()
    assert "boards hang: their connections stay open" in caplog.text
    assert robot._joints.driver.isValid()
    answers.set()


def test_boards_that_hang_are_asked_last_whether_the_robot_is_there(robot, monkeypatch):
    asked = []
    monkeypatch.setattr("gradiva.yarp_modules.robot.yarp_robot.is_there", lambda port: asked.append(port))
    monkeypatch.setattr(robot, "_late", (LateSource("encoders of /icubSim/torso", 1.0),))
    robot._release(command(np.zeros(23)))
    assert asked[-1] == "/icubSim/torso/rpc:i"
    assert len(asked) == len(robot._joints.board_names)


def test_an_exception_while_the_robot_is_reached_or_left_leaves_nothing_open(fake, monkeypatch):
    def fail(*_):
        raise KeyError("l_knee")

    robot = reach(fake)
    with monkeypatch.context() as patch:
        patch.setattr(robot._imu, "open", fail)
        with pytest.raises(KeyError):
            robot.open()
    assert not is_open(robot)
    robot.open()
    assert is_open(robot)
    robot.write(command(np.zeros(23)))
    monkeypatch.setattr("gradiva.yarp_modules.robot.yarp_robot.hold_in_position_mode", fail)
    with pytest.raises(KeyError):
        robot.close()
    assert not is_open(robot)


def is_open(robot):
    return robot._joints.driver.isValid() or any(thread.is_alive() for thread in robot._orders._threads)


def test_after_rearming_the_joint_is_switched_again(fake, robot):
    drive(robot, np.zeros(23))
    fake.set_mode("r_hip_roll", BoardMode.IDLE)
    with pytest.raises(ControlModeLost):
        wait_until(lambda: robot.write(command(np.zeros(23))), "the lost joint")
    robot.rearm()
    drive(robot, np.full(23, 0.1))
    assert set(fake.modes()) == {BoardMode.POSITION_DIRECT}


def test_a_command_that_is_not_finite_or_of_the_wrong_size_is_refused_before_any_mode_is_switched(fake, robot):
    for values in (np.full(23, np.nan), np.zeros(22)):
        with pytest.raises(RobotInterfaceError, match="a command must be 23 finite numbers"):
            robot.write(command(values))
    assert set(fake.modes()) == {BoardMode.POSITION}


def test_a_stale_wrench_is_late_by_name_and_reads_nan_until_it_is_sent_again(fake, robot):
    sensors = fake.sensors["left_leg/FT"]
    sensors.is_mute = True
    left, right = read_until_late(robot, "l_foot_ft of /icubSim/left_leg/FT").contact_wrenches
    assert np.isnan(left).all()
    assert np.isfinite(right).all()
    sensors.is_mute = False
    assert np.isfinite(read_until_late(robot).contact_wrenches).all()


def test_a_mute_imu_is_late_by_name_and_reads_nan(fake, robot):
    fake.sensors["xsens_inertial"].is_mute = True
    measurement = read_until_late(robot, "root_link_imu_acc of /icubSim/xsens_inertial")
    assert np.isnan(measurement.imu.rotation).all()


def test_a_board_that_is_gone_leaves_an_old_sample_and_its_name(fake, robot):
    fake.stop("left_leg")
    wait_until(lambda: control_time() - robot.read().time > 0.2, "an old sample")
    measurement = read_until_late(robot, "encoders of /icubSim/left_leg")
    assert str(measurement.late[0]) == f"encoders of /icubSim/left_leg ({measurement.late[0].age:.2f} s)"
    assert measurement.late[0].age > 0.2
    assert robot.lost_connections() == []  # not yet: it may be a stall
    wait_until(lambda: robot.read() and "/icubSim/left_leg/stateExt:o" in robot.lost_connections(), "it is lost")
    assert robot.silent_sources() == ["encoders of /icubSim/left_leg"]
    before = robot.sample_time()
    wait_until(lambda: robot.sample_time() > before, "lockstep goes on with the other sources")


def test_a_connection_that_its_device_does_not_make_again_is_made_again(connect, monkeypatch):
    monkeypatch.setattr(ConnectionKeeper, "start", lambda _: None)  # as the real bindings' devices
    robot = connect()
    state = ("/icubSim/left_leg/stateExt:o", f"{robot._local}/icubSim/left_leg/stateExt:i")
    assert yarp.Network.disconnect(*state)
    wait_until(lambda: carrier_between(*state), "it is made again")
    read_until_late(robot)  # the board is heard again


@pytest.mark.parametrize("server", ["left_leg", "left_leg/FT", "xsens_inertial"])
def test_a_server_that_restarts_is_reached_again(fake, robot, server):
    fake.stop(server)
    wait_until(lambda: robot.read() is not None and robot.late != (), "something late")
    fake.start(server)
    read_until_late(robot)


@pytest.mark.parametrize("part", ["_joints", "_wrenches", "_imu"])
def test_a_reader_that_was_held_up_once_is_not_late_from_then_on(robot, part, monkeypatch):
    source, read = getattr(robot, part), getattr(robot, part).read

    def held_up(*clocks):
        time.sleep(0.5)  # the sample that is read is younger than the beginning of the reading
        return read(*clocks)

    monkeypatch.setattr(source, "read", held_up)
    robot.read()
    monkeypatch.undo()
    read_until_late(robot)


def test_boards_without_any_sample_are_a_named_error_though_all_sources_have_spoken(robot, monkeypatch):
    monkeypatch.setattr(robot, "_last", None)
    monkeypatch.setattr(robot._joints, "read", lambda: None)
    with pytest.raises(RobotInterfaceError, match="no sample yet of encoders of /icubSim/torso, encoders of"):
        robot.read()


def test_a_robot_that_is_not_there_is_refused_with_the_missing_ports(fake):
    fake.stop("right_leg")
    fake.stop("xsens_inertial")
    robot = reach(fake)
    with pytest.raises(RobotInterfaceError) as refused:
        robot.open()
    for port in ("/icubSim/right_leg/rpc:i", "/icubSim/right_leg/stateExt:o", "/icubSim/xsens_inertial/measures:o"):
        assert port in str(refused.value)


def test_a_sensor_that_never_sends_is_named(fake):
    fake.sensors["right_leg/FT"].is_mute = True
    robot = reach(fake, "first_sample_timeout=1.0")
    with pytest.raises(RobotInterfaceError, match="no sample of r_foot_ft of /icubSim/right_leg/FT"):
        robot.open()
    fake.sensors["right_leg/FT"].is_mute = False
    robot.open()  # nothing stayed open that would be in the way
    robot.close()


def test_closing_leaves_the_joints_in_position_mode_at_their_goals(fake, connect):
    robot = connect()
    goal = np.linspace(0.1, -0.1, 23)
    drive(robot, goal)
    robot.close()
    assert set(fake.modes()) == {BoardMode.POSITION}
    np.testing.assert_allclose(np.deg2rad(fake.boards["left_leg"].target), goal[-12:-6], atol=1e-9)


def test_closing_without_a_command_leaves_the_motors_alone(fake, connect):
    fake.set_mode("l_knee", BoardMode.TORQUE)
    connect().close()
    assert BoardMode.TORQUE in fake.modes()


def test_the_limits_of_the_boards_come_in_radians_and_differences_are_logged(fake, robot, caplog):
    fake.set_limits("l_knee", -100.0, 0.0)
    assert robot.limits()["l_knee"] == pytest.approx((np.deg2rad(-100.0), 0.0))
    assert "l_knee: robot -100.0° to 0.0°, model" in caplog.text


def test_the_gains_of_the_boards_are_read_back(robot):
    gains = robot.pids()["r_knee"]
    assert (gains.kp, gains.kd, gains.ki) == (1.0, 0.1, 0.01)


def test_temperatures_are_asked_for_beside_the_control(robot):
    wait_until(lambda: robot.read().motor_temperatures is not None, "temperatures")
    assert robot.read().motor_temperatures[fake_index(robot)] == 37.5


def fake_index(robot: YarpRobot) -> int:
    """Return the place of a joint that is the first of its board."""
    return load_setup("icub_v2_7").robot.joints.index("l_hip_pitch")


def test_a_robot_without_ports_is_refused():
    setup = load_setup("icub_v2_7")
    config = setup.part(RobotIoConfig, "robot_io")
    with pytest.raises(ConfigError, match=r"icub_v2_7: robot.toml has no table \[ports\]"):
        YarpRobot(replace(setup.robot, ports=None), Environment.SIMULATION, config, "/walking")
