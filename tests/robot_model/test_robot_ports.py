from dataclasses import replace

import pytest

from gradiva.common import ConfigError
from gradiva.robot_model import Environment, IdynTreeModel, MeasuredWrench, RobotPorts
from tests.conftest import EVERY_ROBOT, ROBOTS, description_of


def ports_of(name: str) -> RobotPorts:
    ports = description_of(name).ports
    assert ports is not None
    return ports


@pytest.mark.parametrize("name", EVERY_ROBOT)
def test_every_sensor_measures_in_a_frame_of_the_model(name):
    model, ports = IdynTreeModel(description_of(name)), ports_of(name)
    inertial = [sensor for server in ports.inertial_servers for sensor in server.sensors]
    for sensor in (*ports.force_torque_sensors, *inertial):
        assert model.model.getFrameIndex(sensor.frame) >= 0, f"{name} has no frame {sensor.frame}"


def test_the_boards_have_the_joints_of_the_gazebo_plugins_in_their_order():
    assert ports_of("icub_v2_7").boards["torso"] == ("torso_yaw", "torso_roll", "torso_pitch")
    assert ports_of("icub_v3").boards["torso"] == ("torso_yaw", "torso_pitch", "torso_roll")
    assert {name: len(ports_of(name).joints) for name in ROBOTS} == {
        "g1": 29,
        "icub_v2_7": 32,
        "icub_v3": 32,
        "talos": 32,
    }
    assert ports_of("icub_v3").board_of("l_wrist_yaw") == "left_arm"


def test_names_have_the_prefix_of_the_robot_that_is_meant():
    ports = ports_of("icub_v2_7")
    assert ports.full_name(Environment.SIMULATION, "left_leg") == "/icubSim/left_leg"
    assert ports.full_name(Environment.HARDWARE, "head/inertials") == "/icub/head/inertials"


def test_a_ground_wrench_is_found_by_server_sensor_and_sign():
    server, sensor = ports_of("icub_v2_7").sensor_of("r_foot_ft")
    assert (server.name, sensor.name, sensor.sign) == ("right_leg/FT", "r_foot_ft", 1.0)
    server, sensor = ports_of("icub_v3").sensor_of("l_foot_front_ft")
    assert (server.name, sensor.wrench, sensor.sign) == ("left_leg/FT", MeasuredWrench.PARENT_ON_CHILD, -1.0)


def test_the_imu_of_walking_is_found_by_server_and_sensor():
    server, sensor = ports_of("icub_v2_7").imu()
    assert (server.name, sensor.name, sensor.frame) == ("xsens_inertial", "root_link_imu_acc", "root_link_imu_frame")


def test_what_is_missing_is_named_with_what_exists():
    ports, robot = ports_of("icub_v2_7"), description_of("icub_v2_7")
    with pytest.raises(ConfigError, match="no control board has joint 'l_kne'; did you mean 'l_knee'"):
        ports.board_of("l_kne")
    with pytest.raises(ConfigError, match=r"no force-torque sensor carries 'foot'.*valid: l_foot_ft, r_foot_ft"):
        ports.sensor_of("foot")
    with pytest.raises(ConfigError, match="no control board has joint 'torso_pitch'"):
        replace(robot, ports=replace(ports, boards={"head": ports.boards["head"]}))
    with pytest.raises(ConfigError, match="contact_wrenches: no port for 'r_foot_ft'"):
        replace(robot, ports=replace(ports, contact_wrenches={"l_foot_ft": "/left"}))
    with pytest.raises(ConfigError, match="walking_imu: no inertial sensor 'imu'"):
        replace(ports, walking_imu="imu")


def test_names_that_occur_twice_or_are_malformed_are_refused():
    ports = ports_of("icub_v2_7")
    with pytest.raises(ConfigError, match="joint 'neck_roll' is named twice"):
        replace(ports, boards=ports.boards | {"neck": ("neck_roll",)})
    with pytest.raises(ConfigError, match="'icubSim': names of ports begin with a slash"):
        replace(ports, prefixes=ports.prefixes | {"simulation": "icubSim"})
    with pytest.raises(ConfigError, match="prefixes are needed of simulation, hardware, not of simulation"):
        replace(ports, prefixes={"simulation": "/icubSim"})
