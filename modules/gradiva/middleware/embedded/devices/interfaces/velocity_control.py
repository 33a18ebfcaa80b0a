"""Velocities that the joints follow."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind
from gradiva.middleware.embedded.devices.api_arguments import joints_of
from gradiva.middleware.embedded.devices.control_board_view import ControlBoardView


class IVelocityControl(ControlBoardView):
    """Velocities [deg/s] that the joints follow; they are streamed, so that success only means that they left."""

    def getAxes(self) -> int:
        """Ask how many joints there are; 0 without an answer."""
        return self._count(Feature.AXES)

    def velocityMove(self, *arguments: Any) -> bool:
        """Command ``(joint, velocity)``, ``(velocities)`` or ``(number, joints, velocities)`` [deg/s]."""
        return self._stream(CommandKind.VELOCITY, *arguments)

    def getRefVelocity(self, j: int, data: Any) -> bool:
        """Fill with the last commanded velocity of a joint [deg/s]."""
        return self._read(Feature.VELOCITY_REFERENCE, j, data)

    def getRefVelocities(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with the last commanded velocities [deg/s]."""
        return self._read(Feature.VELOCITY_REFERENCE, *arguments)

    def setRefAcceleration(self, j: int, acc: float) -> bool:
        """Set with which acceleration a joint reaches its velocity [deg/s^2]."""
        return self._order(Feature.TRAJECTORY_ACCELERATION, j, acc)

    def setRefAccelerations(self, *arguments: Any) -> bool:
        """Set ``(accelerations)`` or ``(number, joints, accelerations)`` [deg/s^2]."""
        return self._order(Feature.TRAJECTORY_ACCELERATION, *arguments)

    def getRefAcceleration(self, j: int, data: Any) -> bool:
        """Fill with the acceleration of a joint [deg/s^2]."""
        return self._read(Feature.TRAJECTORY_ACCELERATION, j, data)

    def getRefAccelerations(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with accelerations [deg/s^2]."""
        return self._read(Feature.TRAJECTORY_ACCELERATION, *arguments)

    def stop(self, *arguments: Any) -> bool:
        """Stop all joints, ``(joint)`` or ``(number, joints)``."""
        return self._board.tell(Feature.STOP, joints_of(arguments))
