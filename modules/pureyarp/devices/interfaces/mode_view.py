"""What the interfaces for control modes and interaction modes have in common."""

from __future__ import annotations

from typing import Any, ClassVar

from gradiva.middleware.control_board.feature import Feature
from pureyarp.data.conversions import checked_integer
from pureyarp.devices.api_arguments import Joints, fill, joints_and_data
from pureyarp.devices.control_board_view import ControlBoardView
from pureyarp.wire.elements import Vocab32


class ModeView(ControlBoardView):
    """Modes of joints, each a vocabulary; ``_field`` of the state is what is read, ``_feature`` what is set."""

    _feature: ClassVar[Feature]
    _field: ClassVar[str]

    def _mode(self, joint: int, unknown: int) -> int:
        measured = self._board.measured(self._field, int(joint))
        return int(measured.values[0]) if measured else unknown

    def _read_modes(self, *arguments: Any) -> bool:
        of, destination = joints_and_data(arguments)
        measured = self._board.measured(self._field, of)
        return measured is not None and fill(destination, [int(mode) for mode in measured.values])

    def _set_mode(self, joint: int, mode: int) -> bool:
        return self._board.tell(self._feature, int(joint), [Vocab32(checked_integer(mode, 32))])

    def _set_modes(self, *arguments: Any) -> bool:
        of: Joints
        of, data = joints_and_data(arguments)
        values = self._values(of, data)
        return values is not None and self._board.tell(self._feature, of, [Vocab32(value) for value in values])
