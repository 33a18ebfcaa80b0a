"""The border between the controller and a robot: simulated in process, or over YARP."""

from __future__ import annotations

from typing import Protocol

from gradiva.common.joint_command import JointCommand
from gradiva.common.measurement import Measurement


class RobotInterface(Protocol):
    """A robot that can be sensed and commanded."""

    def read(self) -> Measurement:
        """Return the newest sample of all sensors.

        Raises:
            RobotInterfaceError: The robot does not answer.
        """
        ...

    def write(self, command: JointCommand) -> None:
        """Hand a command to the motors; it holds until the next one.

        Raises:
            RobotInterfaceError: The robot refuses the command or its mode.
        """
        ...
