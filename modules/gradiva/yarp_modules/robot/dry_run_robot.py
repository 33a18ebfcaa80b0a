"""A robot that is read, and commanded only on paper."""

from __future__ import annotations

from collections.abc import Sequence

from gradiva.common import JointCommand, Measurement, RobotInterface, RobotInterfaceError
from gradiva.yarp_modules.robot.command_report import CommandReport


class DryRunRobot:
    """Does everything but write: what would have been sent is kept in a report.

    The joints do not follow, so the walk that the controller thinks of and the robot part company: tracking errors and
    safety events of a dry run are to be expected once the robot is prepared.

    Attributes:
        report: What would have been sent.
    """

    def __init__(self, robot: RobotInterface, joints: Sequence[str]) -> None:
        """Wrap a robot with these joints."""
        self._robot = robot
        self._measurement: Measurement | None = None
        self.report = CommandReport(joints)

    def read(self) -> Measurement:
        """Return the newest sample of all sensors."""
        self._measurement = self._robot.read()
        return self._measurement

    def write(self, command: JointCommand) -> None:
        """Note a command.

        Raises:
            RobotInterfaceError: The robot would have refused it.
        """
        if self._measurement is None:
            raise RobotInterfaceError("a command before the first sample")
        self.report.note(command, self._measurement)
