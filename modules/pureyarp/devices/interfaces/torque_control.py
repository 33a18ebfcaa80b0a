"""Torques that the joints apply."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind
from pureyarp.devices.control_board_view import ControlBoardView


class ITorqueControl(ControlBoardView):
    """Torques [N m]; commanded ones are streamed, so that success only means that they left."""

    def getAxes(self) -> int:
        """Ask how many joints there are; 0 without an answer."""
        return self._count(Feature.AXES)

    def setRefTorque(self, j: int, t: float) -> bool:
        """Command the torque of a joint [N m]."""
        return self._stream(CommandKind.TORQUE, j, t)

    def setRefTorques(self, *arguments: Any) -> bool:
        """Command ``(torques)`` or ``(number, joints, torques)`` [N m]."""
        return self._stream(CommandKind.TORQUE, *arguments)

    def getRefTorque(self, j: int, data: Any) -> bool:
        """Fill with the last commanded torque of a joint [N m]."""
        return self._read(Feature.TORQUE_REFERENCE, j, data)

    def getRefTorques(self, data: Any) -> bool:
        """Fill with the last commanded torques of all joints [N m]."""
        return self._read(Feature.TORQUE_REFERENCE, data)

    def getTorque(self, j: int, data: Any) -> bool:
        """Fill with the measured torque of a joint [N m]."""
        return self._read_measured("torque", j, data)

    def getTorques(self, data: Any) -> bool:
        """Fill with the measured torques of all joints [N m]."""
        return self._read_measured("torque", data)

    def getTorqueRange(self, j: int, min: Any, max: Any) -> bool:
        """Fill with the smallest and largest torque of a joint [N m]."""
        return self._read_pair(Feature.TORQUE_RANGE, int(j), min, max)

    def getTorqueRanges(self, mins: Any, maxs: Any) -> bool:
        """Fill with the smallest and largest torques of all joints [N m]."""
        return self._read_pair(Feature.TORQUE_RANGE, None, mins, maxs)
