"""How each joint gives way to contact."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.vocabulary import InteractionMode
from pureyarp.devices.interfaces.mode_view import ModeView


class IInteractionMode(ModeView):
    """How each joint gives way to contact, as a vocabulary: stiff or compliant."""

    _feature = Feature.INTERACTION_MODE
    _field = "interaction_modes"

    def getInteractionMode(self, axis: int) -> int:
        """Return the mode of a joint; unknown when none arrived in time."""
        return self._mode(axis, unknown=int(InteractionMode.UNKNOWN))

    def getInteractionModes(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with modes."""
        return self._read_modes(*arguments)

    def setInteractionMode(self, axis: int, mode: int) -> bool:
        """Set the mode of a joint."""
        return self._set_mode(axis, mode)

    def setInteractionModes(self, *arguments: Any) -> bool:
        """Set ``(modes)`` or ``(number, joints, modes)``."""
        return self._set_modes(*arguments)
