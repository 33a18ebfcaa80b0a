"""Which quantity each joint follows."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from pureyarp.devices.interfaces.mode_view import ModeView


class IControlMode(ModeView):
    """Which quantity each joint follows, as a vocabulary: position, position direct, velocity, torque..."""

    _feature = Feature.CONTROL_MODE
    _field = "control_modes"

    def getControlMode(self, j: int) -> int:
        """Return the mode of a joint; -1 when none arrived in time."""
        return self._mode(j, unknown=-1)

    def getControlModes(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with modes."""
        return self._read_modes(*arguments)

    def setControlMode(self, j: int, mode: int) -> bool:
        """Set the mode of a joint."""
        return self._set_mode(j, mode)

    def setControlModes(self, *arguments: Any) -> bool:
        """Set ``(modes)`` or ``(number, joints, modes)``."""
        return self._set_modes(*arguments)
