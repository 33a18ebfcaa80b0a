"""A robot that comes, that comes late, that hangs."""

import threading

import pytest

from gradiva.common import ConfigError, RobotInterfaceError
from gradiva.yarp_modules.walking_module import RobotConnector
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


def test_what_is_missing_is_told():
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
