"""The checklist, against a robot that is well and one that is not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from gradiva.common.errors import Finding
from gradiva.middleware import ControlMode as BoardMode
from gradiva.middleware import Feature, PidType, SensorClass
from gradiva.robot_model import Environment, IdynTreeModel, fixed_rotation
from gradiva.setup import Setup, load_setup
from gradiva.walking import WalkingLayers
from gradiva.yarp_modules.bring_up import BringUp
from tests.yarp_modules.robot.conftest import network, running_robot  # noqa: F401 (fixtures)
from tests.yarp_modules.robot.fake_robot import FakeRobot, ground_at

BACKWARD = [0.0, 0.0, 180.0]  # [deg] roll, pitch, yaw of iCub v2.7's base


@pytest.fixture(scope="module")
def setup() -> Setup:
    """Look for a fifth of a second only; this process plays the robot as well, so its messages stumble."""
    settings = ["bring_up.rate_duration=0.2", "bring_up.max_gap=30", "bring_up.min_rate=0.5", "robot_io.max_age=0.3"]
    settings += ["robot_io.first_sample_timeout=1.0", "bring_up.sensor_rate=50"]
    return load_setup("icub_v2_7", settings)


@pytest.fixture(scope="module")
def posture(setup) -> np.ndarray:
    return WalkingLayers(setup.robot, setup.walking).start_posture.joint_positions


@pytest.fixture
def fake(running_robot, posture) -> FakeRobot:  # noqa: F811
    """Let iCub v2.7 stand in its start posture."""
    running_robot.reset()
    running_robot.place_joints(posture)
    for contact in ("l_foot_ft", "r_foot_ft"):
        ground_at(running_robot, contact, [0.0, 0.0, -162.16 + 3.757, 0.0, 0.0, 0.0])
    return running_robot


@pytest.fixture
def findings(setup, posture) -> Callable[[], list[Finding]]:
    return lambda: list(BringUp(setup, Environment.SIMULATION, posture).findings())


def text_of(found: list[Finding], verdict: str) -> str:
    return "\n".join(f"{finding.text} → {finding.remedy}" for finding in found if finding.verdict == verdict)


def imu_frame_level(fake: FakeRobot, setup: Setup) -> None:
    """Turn the IMU as it is mounted, so that the base is level: the frame of v2.7's IMU lies in the root link."""
    turn = fixed_rotation(IdynTreeModel(setup.robot), "root_link", "root_link_imu_frame")
    yaw, pitch = math.atan2(turn[1, 0], turn[0, 0]), -math.asin(turn[2, 0])
    roll = math.atan2(turn[2, 1], turn[2, 2])
    angles = [math.degrees(angle) for angle in (roll, pitch, yaw)]
    fake.sensors["xsens_inertial"].values[SensorClass.ORIENTATION, "root_link_imu_acc"] = angles


def test_a_robot_that_is_well_passes_every_stage(fake, setup, findings):
    imu_frame_level(fake, setup)
    found = findings()
    assert text_of(found, "fail") == ""
    assert "joint limits: 23 of 23 joints have wider ones" in text_of(found, "ok")  # the fake boards allow ±180°
    good = text_of(found, "ok")
    for stage in ("ports of the robot are there", "/icubSim/left_leg/stateExt:o:", "6 joints as described",
                  "all samples are fresh", "the robot stands, weight 324 N", "all 23 joints are in position mode",
                  "tilt by IMU", "kp 1 to 1", "start posture: ", "nothing was commanded"):  # fmt: skip
        assert stage in good, f"{stage}\n{good}"
    assert not any(board.commands for board in fake.boards.values())


def test_every_fault_is_reported_with_its_remedy(fake, findings):
    fake.set_mode("l_knee", BoardMode.HARDWARE_FAULT)
    fake.set_mode("r_knee", BoardMode.TORQUE)
    fake.boards["head"].position[0] = 20.0
    fake.boards["left_leg"].table.set(Feature.PID, (3,), [(0.0,) * 10], PidType.POSITION)
    fake.set_limits("l_hip_pitch", -5.0, 5.0)
    fake.boards["torso"].position[2] = 60.0
    ground_at(fake, "l_foot_ft", [0.0, 0.0, -20.0, 0.0, 0.0, 0.0])
    fake.sensors["xsens_inertial"].values[SensorClass.GYROSCOPE, "root_link_imu_acc"] = [30.0, 0.0, 0.0]
    found = findings()
    failed, warned = text_of(found, "fail"), text_of(found, "warn")
    assert "l_knee is in mode hardware fault → release the emergency button" in failed
    assert "the start posture lies outside the robot's limits: l_hip_pitch at" in failed
    assert "tilt by IMU and encoders" in failed  # the IMU reports roll 0, and is mounted otherwise
    for line in (
        "r_knee: torque → another program may command them",
        "neck_pitch is at 20.0°",
        "kp is 0",
        "together 186 N of the weight of 324 N → zero the force-torque sensors",
        "gyroscope measures 0.52 rad/s",
        "torso_pitch is 59.8° away",
        "look whether the way is free",
    ):
        assert line in warned, f"{line}\n{warned}"


def test_a_robot_whose_ports_are_missing_fails_at_once_with_their_names(fake, findings):
    fake.stop("right_leg")
    fake.stop("head")
    found = findings()
    missing = "is not there: no port rpc:i, command:i, stateExt:o"
    assert f"/icubSim/right_leg {missing} → start the robot's yarprobotinterface" in text_of(found, "fail")
    assert f"/icubSim/head {missing} → walking does not need it" in text_of(found, "warn")
    assert text_of(found, "ok").splitlines()[1:] == ["18 of 24 ports of the robot are there → "]  # behind its margins
    assert len(found) == 4


def test_joints_in_another_order_warn_and_foreign_joints_fail(fake, findings):
    torso, arm = fake.boards["torso"], fake.boards["left_arm"]
    torso.call_axes("torso_pitch", "torso_roll", "torso_yaw")
    arm.call_axes("shoulder", *arm.axis_names[1:])
    found = findings()
    assert "/icubSim/torso has torso_pitch torso_roll torso_yaw; described: torso_yaw" in text_of(found, "warn")
    assert "[ports.boards] of robot.toml is of another robot" in text_of(found, "fail")
    assert "has the axes l_shoulder_pitch" in text_of(found, "fail") or "were not opened" in text_of(found, "fail")


def test_a_hanging_robot_is_recognised(fake, findings):
    for contact in ("l_foot_ft", "r_foot_ft"):
        ground_at(fake, contact, [0.0, 0.0, 3.757, 0.0, 0.0, 0.0])
    fake.sensors["left_arm/FT"].is_mute = True  # walking does not need it
    found = findings()
    assert "the robot hangs" in text_of(found, "ok")
    assert "left_arm/FT" not in text_of(found, "fail")


def test_a_silent_sensor_fails_at_the_rates_and_ends_the_list(fake, findings):
    fake.sensors["left_leg/FT"].is_mute = True
    found = findings()
    assert "/icubSim/left_leg/FT/measures:o: silent → its device is open" in text_of(found, "fail")
    assert "no sample of l_foot_ft of /icubSim/left_leg/FT" in found[-1].text
