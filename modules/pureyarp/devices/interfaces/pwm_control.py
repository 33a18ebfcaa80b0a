"""Duty cycles of the motors."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind
from pureyarp.devices.control_board_view import ControlBoardView


class IPWMControl(ControlBoardView):
    """Duty cycles [%]; commanded ones are streamed, so that success only means that they left."""

    def getNumberOfMotors(self) -> int:
        """Ask how many motors there are; 0 without an answer."""
        return self._count(Feature.MOTORS)

    def setRefDutyCycle(self, m: int, ref: float) -> bool:
        """Command the duty cycle of a motor [%]."""
        return self._stream(CommandKind.PWM, m, ref)

    def setRefDutyCycles(self, data: Any) -> bool:
        """Command the duty cycles of all motors [%]."""
        return self._stream(CommandKind.PWM, data)

    def getRefDutyCycle(self, j: int, data: Any) -> bool:
        """Fill with the last commanded duty cycle of a motor [%]."""
        return self._read(Feature.DUTY_CYCLE_REFERENCE, j, data)

    def getRefDutyCycles(self, data: Any) -> bool:
        """Fill with the last commanded duty cycles of all motors [%]."""
        return self._read(Feature.DUTY_CYCLE_REFERENCE, data)

    def getDutyCycle(self, j: int, data: Any) -> bool:
        """Fill with the measured duty cycle of a motor [%]."""
        return self._read_measured("pwm", j, data)

    def getDutyCycles(self, data: Any) -> bool:
        """Fill with the measured duty cycles of all motors [%]."""
        return self._read_measured("pwm", data)
