"""A walking module until its robot is there, and the samples and messages that it takes."""

import math
import threading

import numpy as np
import pytest

from gradiva.common import ConfigError, RobotInterfaceError
from gradiva.middleware import MalformedMessage, as_items, yarp
from gradiva.setup import load_setup
from gradiva.yarp_modules.robot.sensors import TrueDeflections
from gradiva.yarp_modules.walking_module import (
    NewSampleCheck,
    RobotConnector,
    check_flexible_joints,
    check_sensor_rate,
)
from gradiva.yarp_modules.walking_ports import numbers_in
from tests.waiting import TIMEOUT, wait_until


class Robot:
    """Is there after some attempts, and hangs until it may go on."""

    def __init__(self, attempts=1):
        self.attempts = attempts
        self.calls = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def open(self):
        self.calls.append("open")
        self.may_go_on.wait(TIMEOUT)
        self.attempts -= 1
        if self.attempts > 0:
            raise RobotInterfaceError("no port /torso")

    def close(self):
        self.calls.append("close")


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr("gradiva.yarp_modules.walking_module._RETRY", 0.001)


def test_it_is_tried_until_the_robot_is_there_and_left_in_the_end():
    robot, reached, meanwhile = Robot(attempts=3), threading.Event(), []
    awaited = RobotConnector(robot, lambda: None, lambda: (meanwhile.append(awaited.reason), reached.set()))
    awaited.start()
    assert reached.wait(TIMEOUT)
    wait_until(lambda: awaited.reason == "")
    assert meanwhile[0].startswith("the robot is there")
    awaited.close()
    assert robot.calls == ["open", "open", "open", "close"]


def test_the_reason_why_there_is_no_robot_is_reported():
    awaited = RobotConnector(Robot(attempts=10**9), lambda: None, lambda: None)
    assert awaited.reason.startswith("the controller is being prepared")
    awaited.start()
    wait_until(lambda: awaited.reason == "no port /torso")
    awaited.close()


def test_a_robot_that_hangs_does_not_hold_up_the_end_and_is_left_when_it_comes(monkeypatch):
    monkeypatch.setattr("gradiva.yarp_modules.walking_module._ATTEMPT_TIMEOUT", 0.05)
    robot, reached = Robot(), []
    robot.may_go_on.clear()
    awaited = RobotConnector(robot, lambda: None, lambda: reached.append(1))
    awaited.start()
    wait_until(lambda: robot.calls == ["open"])
    awaited.close()
    robot.may_go_on.set()
    wait_until(lambda: robot.calls == ["open", "close"])
    assert reached == []


def test_the_robot_is_looked_for_when_the_controller_is_prepared():
    robot, is_compiled = Robot(), threading.Event()
    awaited = RobotConnector(robot, lambda: is_compiled.wait(TIMEOUT), lambda: None)
    awaited.start()
    assert awaited.is_preparing
    assert robot.calls == []
    is_compiled.set()
    wait_until(lambda: robot.calls == ["open"] and not awaited.reason)
    assert not awaited.is_preparing
    awaited.close()


def test_a_controller_that_cannot_be_prepared_is_the_end():
    robot, failure = Robot(), ConfigError("no such task")

    def fail():
        raise failure

    awaited = RobotConnector(robot, fail, lambda: None)
    awaited.start()
    wait_until(lambda: awaited.failure is failure)
    assert awaited.reason == "the controller cannot be prepared: no such task"
    awaited.close()
    assert robot.calls == []


def test_a_source_without_a_sample_has_not_spoken():
    watch = NewSampleCheck()
    assert not watch.is_new(-math.inf)
    assert watch.is_new(0.0)


def test_a_later_sample_is_new_once():
    watch = NewSampleCheck()
    assert [watch.is_new(time) for time in (9.44, 9.45, 9.45, 9.46)] == [True, True, False, True]
    assert watch.time == 9.46


def test_the_last_digit_makes_no_new_sample():
    watch = NewSampleCheck()
    assert watch.is_new(9.45)
    assert not watch.is_new(math.nextafter(9.45, 10.0))
    assert not watch.is_new(math.nextafter(9.45, 0.0))


def test_a_simulation_that_began_anew_has_new_samples():
    watch = NewSampleCheck()
    assert watch.is_new(9.45)
    assert not watch.is_new(9.0)
    assert watch.is_new(0.01)


def test_torque_control_over_slow_boards_is_refused_in_a_line():
    with pytest.raises(
        ConfigError, match=r"needs readings every 1 ms, the boards of the robot publish them every 10 ms"
    ):
        check_sensor_rate(load_setup("icub_v2_7", ["walking.control=torque"]))


@pytest.mark.parametrize(
    "overrides",
    [
        ["walking.control=torque", "bring_up.sensor_rate=1000.0"],
        ["walking.control=torque", "walking.period=0.01"],
        ["walking.control=velocity", "walking.period=0.001"],
    ],
)
def test_fast_boards_slow_ticks_and_motion_control_pass(overrides):
    check_sensor_rate(load_setup("icub_v2_7", overrides))


HIPS = ("leg_left_1_joint_roll", "leg_left_1_joint_pitch", "leg_right_1_joint_roll", "leg_right_1_joint_pitch")


@pytest.mark.parametrize(
    ("settings", "simulated", "message"),
    [
        (
            ["flexibility.stiffness=3e3"],
            {},
            "simulator's flexible joints are none, those of .* leg_left_1_joint_roll 3000",
        ),
        ([], dict.fromkeys(HIPS, 3e3), "leg_right_1_joint_pitch 3000 N·m/rad, those of .* none: start both with"),
        (["flexibility.stiffness=2e3"], dict.fromkeys(HIPS, 3e3), "_roll 3000 N·m/rad, .*_roll 2000 N·m/rad"),
    ],
)
def test_a_simulator_whose_links_bend_otherwise_is_refused_by_name(settings, simulated, message):
    plant = load_setup("talos", settings).simulated_robot.flexible_joints
    with pytest.raises(ConfigError, match=message):
        check_flexible_joints(plant, TrueDeflections(simulated, np.zeros((3, len(simulated)))))


@pytest.mark.parametrize("table", ["flexibility", "simulation.flexibility"])
def test_a_simulator_whose_links_bend_as_configured_passes_whether_the_controller_knows_or_not(table):
    plant = load_setup("talos", [f"{table}.stiffness=3e3"]).simulated_robot.flexible_joints
    check_flexible_joints(plant, TrueDeflections(dict.fromkeys(HIPS, 3e3), np.zeros((3, 4))))
    check_flexible_joints(plant, None)  # Gazebo publishes no such port


def test_numbers_may_come_in_a_list_or_without():
    assert numbers_in([0.1, 2, -3.0], "goal:i") == [0.1, 2.0, -3.0]
    assert numbers_in([[0.1, 2]], "goal:i") == [0.1, 2.0]


@pytest.mark.parametrize("text", ["", "a b", "1.0 [no]", "(1 2) 3", '1 "2"'])
def test_a_message_without_numbers_is_refused(text):
    with pytest.raises(MalformedMessage, match="goal:i: expected numbers"):
        numbers_in(as_items(yarp.Bottle(text)), "goal:i")
