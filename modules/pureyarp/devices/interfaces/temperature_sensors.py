"""Temperatures [deg C]."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.analog_sensors import SensorClass
from pureyarp.devices.interfaces.analog_sensor_view import AnalogSensorView


class ITemperatureSensors(AnalogSensorView):
    """Temperatures [deg C]."""

    _kind = SensorClass.TEMPERATURE

    def getNrOfTemperatureSensors(self) -> int:
        """Return how many there are."""
        return self._count()

    def getTemperatureSensorStatus(self, sens_index: int) -> int:
        """Return whether a sensor can be read: MAS_OK, MAS_TIMEOUT, MAS_WAITING_FOR_FIRST_READ or MAS_ERROR."""
        return self._status(sens_index)

    def getTemperatureSensorName(self, sens_index: int) -> str:
        """Return the name of a sensor."""
        return self._name(sens_index)

    def getTemperatureSensorFrameName(self, sens_index: int) -> str:
        """Return the frame in which a sensor measures."""
        return self._frame(sens_index)

    def getTemperatureSensorMeasure(self, sens_index: int, out: Any) -> float:
        """Fill with temperature [deg C] and return when it was measured [s], -1 without."""
        return self._measure(sens_index, out)
