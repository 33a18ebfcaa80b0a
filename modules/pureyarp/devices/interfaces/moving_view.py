"""What the interfaces for trajectories and velocities have in common."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from pureyarp.devices.api_arguments import joints_of
from pureyarp.devices.control_board_view import ControlBoardView


class MovingView(ControlBoardView):
    """Joints that reach their speed with an acceleration [deg/s^2] and can be stopped.

    ``data`` holds one value for each joint; ``(joint, …)`` means one joint, ``(number, joints, data)`` a group.
    """

    def getAxes(self) -> int:
        """Ask how many joints there are; 0 without an answer."""
        return self._count(Feature.AXES)

    def setRefAcceleration(self, j: int, acc: float) -> bool:
        """Set with which acceleration a joint reaches its speed [deg/s^2]."""
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
