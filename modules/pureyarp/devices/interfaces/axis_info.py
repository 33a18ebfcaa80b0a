"""Names and types of the joints."""

from __future__ import annotations

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.vocabulary import JointType
from pureyarp.devices.control_board_view import ControlBoardView


class IAxisInfo(ControlBoardView):
    """Names and types of the joints."""

    def getAxisName(self, axis: int) -> str:
        """Return the name of a joint; ``unknown`` without an answer."""
        answer = self._board.ask(Feature.AXIS_NAME, int(axis))
        return answer[0] if answer and isinstance(answer[0], str) else "unknown"

    def getJointType(self, axis: int) -> int:
        """Return the vocabulary of a joint's type, revolute or prismatic; unknown without an answer."""
        answer = self._board.ask(Feature.JOINT_TYPE, int(axis))
        return int(answer[0]) if answer and isinstance(answer[0], int) else int(JointType.UNKNOWN)
