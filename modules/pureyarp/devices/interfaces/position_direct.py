"""Positions that the joints follow at once."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind
from pureyarp.devices.control_board_view import ControlBoardView


class IPositionDirect(ControlBoardView):
    """Positions [deg] that the joints follow at once; they are streamed, so that success only means that they left."""

    def getAxes(self) -> int:
        """Ask how many joints there are; 0 without an answer."""
        return self._count(Feature.AXES)

    def setPosition(self, j: int, ref: float) -> bool:
        """Command the position of a joint [deg]."""
        return self._stream(CommandKind.POSITION_DIRECT, j, ref)

    def setPositions(self, *arguments: Any) -> bool:
        """Command ``(positions)`` or ``(number, joints, positions)`` [deg]."""
        return self._stream(CommandKind.POSITION_DIRECT, *arguments)

    def getRefPosition(self, j: int, data: Any) -> bool:
        """Fill with the last commanded position of a joint [deg]."""
        return self._read(Feature.POSITION_REFERENCE, j, data)

    def getRefPositions(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with the last commanded positions [deg]."""
        return self._read(Feature.POSITION_REFERENCE, *arguments)
