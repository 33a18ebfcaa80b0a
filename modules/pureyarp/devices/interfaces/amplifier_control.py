"""The amplifiers that feed the motors."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from pureyarp.devices.control_board_view import ControlBoardView


class IAmplifierControl(ControlBoardView):
    """The amplifiers that feed the motors: currents [A], duty cycles [%], voltages [V]."""

    def enableAmp(self, j: int) -> bool:
        """Switch the amplifier of a motor on."""
        return self._board.tell(Feature.AMPLIFIER_ENABLE, int(j))

    def disableAmp(self, j: int) -> bool:
        """Switch the amplifier of a motor off."""
        return self._board.tell(Feature.AMPLIFIER_DISABLE, int(j))

    def getAmpStatus(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(joint, data)`` with the board's own status words."""
        return self._read(Feature.AMPLIFIER_STATUS, *arguments)

    def getCurrent(self, j: int, data: Any) -> bool:
        """Fill with the measured current of a motor [A]."""
        return self._read_measured("current", j, data)

    def getCurrents(self, data: Any) -> bool:
        """Fill with the measured currents of all motors [A]."""
        return self._read_measured("current", data)

    def getMaxCurrent(self, j: int, data: Any) -> bool:
        """Fill with the highest allowed current of a motor [A]."""
        return self._read(Feature.MAXIMUM_CURRENT, j, data)

    def setMaxCurrent(self, j: int, v: float) -> bool:
        """Set the highest allowed current of a motor [A]."""
        return self._order(Feature.MAXIMUM_CURRENT, j, v)

    def getNominalCurrent(self, j: int, data: Any) -> bool:
        """Fill with the nominal current of a motor [A]."""
        return self._read(Feature.NOMINAL_CURRENT, j, data)

    def setNominalCurrent(self, m: int, val: float) -> bool:
        """Set the nominal current of a motor [A]."""
        return self._order(Feature.NOMINAL_CURRENT, m, val)

    def getPeakCurrent(self, j: int, data: Any) -> bool:
        """Fill with the peak current of a motor [A]."""
        return self._read(Feature.PEAK_CURRENT, j, data)

    def setPeakCurrent(self, m: int, val: float) -> bool:
        """Set the peak current of a motor [A]."""
        return self._order(Feature.PEAK_CURRENT, m, val)

    def getPWM(self, j: int, data: Any) -> bool:
        """Fill with the measured duty cycle of a motor [%]."""
        return self._read_measured("pwm", j, data)

    def getPWMLimit(self, j: int, data: Any) -> bool:
        """Fill with the highest allowed duty cycle of a motor [%]."""
        return self._read(Feature.PWM_LIMIT, j, data)

    def setPWMLimit(self, j: int, val: float) -> bool:
        """Set the highest allowed duty cycle of a motor [%]."""
        return self._order(Feature.PWM_LIMIT, j, val)

    def getPowerSupplyVoltage(self, j: int, data: Any) -> bool:
        """Fill with the supply voltage of an amplifier [V]."""
        return self._read(Feature.SUPPLY_VOLTAGE, j, data)
