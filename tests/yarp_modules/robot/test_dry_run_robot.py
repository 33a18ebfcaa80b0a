"""A dry run reads everything, writes nothing, and reports the commands."""

from __future__ import annotations

import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand, Measurement, RobotInterfaceError
from gradiva.yarp_modules.robot import DryRunRobot

JOINTS = ("hip", "knee")


class SilentRobot:
    """A robot at rest that must not be written to."""

    def __init__(self) -> None:
        self.time = 0.0

    def read(self) -> Measurement:
        self.time += 0.01
        return Measurement(self.time, np.array([0.1, -0.2]), np.zeros(2), np.zeros(2), np.zeros((0, 6)))

    def write(self, command: JointCommand) -> None:
        raise AssertionError("a dry run writes nothing")


def report_of(*commands: JointCommand) -> list[str]:
    robot = DryRunRobot(SilentRobot(), JOINTS)
    for command in commands:
        robot.read()
        robot.write(command)
    return robot.report.lines()


def position(*values: float) -> JointCommand:
    return JointCommand(ControlMode.POSITION, np.deg2rad(values))


def test_nothing_reaches_the_robot_and_the_report_counts_the_commands():
    assert report_of(position(1.0, 2.0), position(1.0, 2.0))[0] == "2 commands would have been sent to the motors"


def test_each_joint_has_its_range_its_largest_step_and_how_far_it_was_off():
    lines = report_of(position(5.0, 0.0), position(8.0, -1.0), position(7.0, -1.0))
    hip = next(line.split() for line in lines if line.startswith("hip"))
    knee = next(line.split() for line in lines if line.startswith("knee"))
    off = 8.0 - np.rad2deg(0.1)
    assert [float(value) for value in hip[1:]] == pytest.approx([5.0, 8.0, 3.0, off], abs=1e-3)
    assert [float(value) for value in knee[1:4]] == pytest.approx([-1.0, 0.0, 1.0])


def test_changes_of_mode_are_reported_with_their_time():
    lines = report_of(position(0.0, 0.0), position(0.0, 0.0), JointCommand(ControlMode.VELOCITY, np.array([0.1, 0.0])))
    assert "   0.000 s  all joints to mode position" in lines
    assert "   0.020 s  all joints to mode velocity" in lines


def test_the_first_jump_is_reported_with_its_joint():
    line = next(line for line in report_of(position(np.rad2deg(0.1), 0.0)) if "first positions" in line)
    assert line == f"the first positions are up to {np.rad2deg(0.2):.2f} deg from those measured (knee)"


def test_without_commands_the_report_is_one_line():
    assert report_of() == ["nothing would have been sent to the motors"]


def test_a_dry_run_refuses_as_the_robot_does():
    robot = DryRunRobot(SilentRobot(), JOINTS)
    with pytest.raises(RobotInterfaceError, match="before the first sample"):
        robot.write(position(0.0, 0.0))
    robot.read()
    with pytest.raises(RobotInterfaceError, match="2 finite numbers"):
        robot.write(position(0.0, np.nan))
