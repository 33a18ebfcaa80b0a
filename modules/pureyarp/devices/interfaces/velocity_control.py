"""Velocities that the joints follow."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind
from pureyarp.devices.interfaces.moving_view import MovingView


class IVelocityControl(MovingView):
    """Velocities [deg/s] that the joints follow; they are streamed, so that success only means that they left."""

    def velocityMove(self, *arguments: Any) -> bool:
        """Command ``(joint, velocity)``, ``(velocities)`` or ``(number, joints, velocities)`` [deg/s]."""
        return self._stream(CommandKind.VELOCITY, *arguments)

    def getRefVelocity(self, j: int, data: Any) -> bool:
        """Fill with the last commanded velocity of a joint [deg/s]."""
        return self._read(Feature.VELOCITY_REFERENCE, j, data)

    def getRefVelocities(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with the last commanded velocities [deg/s]."""
        return self._read(Feature.VELOCITY_REFERENCE, *arguments)
