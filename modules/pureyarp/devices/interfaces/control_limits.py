"""Between which positions and velocities the joints may move."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from pureyarp.devices.control_board_view import ControlBoardView


class IControlLimits(ControlBoardView):
    """Between which positions [deg] and velocities [deg/s] the joints may move."""

    def getLimits(self, axis: int, min: Any, max: Any) -> bool:
        """Fill with the lowest and highest position of a joint [deg]."""
        return self._read_pair(Feature.POSITION_LIMITS, int(axis), min, max)

    def setLimits(self, axis: int, min: float, max: float) -> bool:
        """Set the lowest and highest position of a joint [deg]."""
        return self._board.tell(Feature.POSITION_LIMITS, int(axis), [float(min), float(max)])

    def getVelLimits(self, axis: int, min: Any, max: Any) -> bool:
        """Fill with the lowest and highest velocity of a joint [deg/s]."""
        return self._read_pair(Feature.VELOCITY_LIMITS, int(axis), min, max)

    def setVelLimits(self, axis: int, min: float, max: float) -> bool:
        """Set the lowest and highest velocity of a joint [deg/s]."""
        return self._board.tell(Feature.VELOCITY_LIMITS, int(axis), [float(min), float(max)])
