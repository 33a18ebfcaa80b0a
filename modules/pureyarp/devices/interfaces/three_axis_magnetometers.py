"""Magnetic fields [T]."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.analog_sensors import SensorClass
from pureyarp.devices.interfaces.analog_sensor_view import AnalogSensorView


class IThreeAxisMagnetometers(AnalogSensorView):
    """Magnetic fields [T]."""

    _kind = SensorClass.MAGNETOMETER

    def getNrOfThreeAxisMagnetometers(self) -> int:
        """Return how many there are."""
        return self._count()

    def getThreeAxisMagnetometerStatus(self, sens_index: int) -> int:
        """Return whether a sensor can be read: MAS_OK, MAS_TIMEOUT, MAS_WAITING_FOR_FIRST_READ or MAS_ERROR."""
        return self._status(sens_index)

    def getThreeAxisMagnetometerName(self, sens_index: int) -> str:
        """Return the name of a sensor."""
        return self._name(sens_index)

    def getThreeAxisMagnetometerFrameName(self, sens_index: int) -> str:
        """Return the frame in which a sensor measures."""
        return self._frame(sens_index)

    def getThreeAxisMagnetometerMeasure(self, sens_index: int, out: Any) -> float:
        """Fill with magnetic field [T] and return when it was measured [s], -1 without."""
        return self._measure(sens_index, out)
