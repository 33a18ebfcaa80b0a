"""Temperatures and gears of the motors."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from pureyarp.devices.control_board_view import ControlBoardView


class IMotor(ControlBoardView):
    """Temperatures [deg C] and gears of the motors."""

    def getNumberOfMotors(self) -> int:
        """Ask how many motors there are; 0 without an answer."""
        return self._count(Feature.MOTORS)

    def getTemperature(self, j: int, data: Any) -> bool:
        """Fill with the temperature of a motor [deg C]."""
        return self._read(Feature.TEMPERATURE, j, data)

    def getTemperatures(self, data: Any) -> bool:
        """Fill with the temperatures of all motors [deg C]."""
        return self._read(Feature.TEMPERATURE, data)

    def getTemperatureLimit(self, j: int, data: Any) -> bool:
        """Fill with the highest allowed temperature of a motor [deg C]."""
        return self._read(Feature.TEMPERATURE_LIMIT, j, data)

    def setTemperatureLimit(self, m: int, temp: float) -> bool:
        """Set the highest allowed temperature of a motor [deg C]."""
        return self._order(Feature.TEMPERATURE_LIMIT, m, temp)

    def getGearboxRatio(self, j: int, data: Any) -> bool:
        """Fill with the ratio of a motor's gear."""
        return self._read(Feature.GEARBOX_RATIO, j, data)

    def setGearboxRatio(self, m: int, val: float) -> bool:
        """Set the ratio of a motor's gear."""
        return self._order(Feature.GEARBOX_RATIO, m, val)
