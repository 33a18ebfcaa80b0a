"""A robot over YARP."""

from gradiva.yarp_modules.robot.command_report import CommandReport
from gradiva.yarp_modules.robot.dry_run_robot import DryRunRobot
from gradiva.yarp_modules.robot.joint_modes import ControlModeLost, Rearmable
from gradiva.yarp_modules.robot.robot_io_config import RobotIoConfig, WrenchSource
from gradiva.yarp_modules.robot.yarp_robot import YarpRobot

__all__ = [
    "CommandReport",
    "ControlModeLost",
    "DryRunRobot",
    "Rearmable",
    "RobotIoConfig",
    "WrenchSource",
    "YarpRobot",
]
