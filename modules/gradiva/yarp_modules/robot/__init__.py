"""A robot over YARP."""

from gradiva.yarp_modules.robot.contact_wrenches import WrenchSource
from gradiva.yarp_modules.robot.dry_run_robot import CommandReport, DryRunRobot
from gradiva.yarp_modules.robot.yarp_robot import RobotIoConfig, YarpRobot

__all__ = [
    "CommandReport",
    "DryRunRobot",
    "RobotIoConfig",
    "WrenchSource",
    "YarpRobot",
]
