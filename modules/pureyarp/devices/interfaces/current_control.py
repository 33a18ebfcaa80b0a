"""Currents of the motors."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind
from pureyarp.devices.control_board_view import ControlBoardView


class ICurrentControl(ControlBoardView):
    """Currents [A]; commanded ones are streamed, so that success only means that they left."""

    def getNumberOfMotors(self) -> int:
        """Ask how many motors there are; 0 without an answer."""
        return self._count(Feature.MOTORS)

    def setRefCurrent(self, m: int, curr: float) -> bool:
        """Command the current of a motor [A]."""
        return self._stream(CommandKind.CURRENT, m, curr)

    def setRefCurrents(self, *arguments: Any) -> bool:
        """Command ``(currents)`` or ``(number, motors, currents)`` [A]."""
        return self._stream(CommandKind.CURRENT, *arguments)

    def getRefCurrent(self, j: int, data: Any) -> bool:
        """Fill with the last commanded current of a motor [A]."""
        return self._read(Feature.CURRENT_REFERENCE, j, data)

    def getRefCurrents(self, data: Any) -> bool:
        """Fill with the last commanded currents of all motors [A]."""
        return self._read(Feature.CURRENT_REFERENCE, data)

    def getCurrent(self, j: int, data: Any) -> bool:
        """Fill with the measured current of a motor [A]."""
        return self._read_measured("current", j, data)

    def getCurrents(self, data: Any) -> bool:
        """Fill with the measured currents of all motors [A]."""
        return self._read_measured("current", data)

    def getCurrentRange(self, j: int, min: Any, max: Any) -> bool:
        """Fill with the smallest and largest current of a motor [A]."""
        return self._read_pair(Feature.CURRENT_RANGE, int(j), min, max)

    def getCurrentRanges(self, mins: Any, maxs: Any) -> bool:
        """Fill with the smallest and largest currents of all motors [A]."""
        return self._read_pair(Feature.CURRENT_RANGE, None, mins, maxs)
