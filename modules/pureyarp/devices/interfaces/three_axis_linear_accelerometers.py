"""Proper accelerations [m/s^2]."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.analog_sensors import SensorClass
from pureyarp.devices.interfaces.analog_sensor_view import AnalogSensorView


class IThreeAxisLinearAccelerometers(AnalogSensorView):
    """Proper accelerations [m/s^2]."""

    _kind = SensorClass.LINEAR_ACCELEROMETER

    def getNrOfThreeAxisLinearAccelerometers(self) -> int:
        """Return how many there are."""
        return self._count()

    def getThreeAxisLinearAccelerometerStatus(self, sens_index: int) -> int:
        """Return whether a sensor can be read: MAS_OK, MAS_TIMEOUT, MAS_WAITING_FOR_FIRST_READ or MAS_ERROR."""
        return self._status(sens_index)

    def getThreeAxisLinearAccelerometerName(self, sens_index: int) -> str:
        """Return the name of a sensor."""
        return self._name(sens_index)

    def getThreeAxisLinearAccelerometerFrameName(self, sens_index: int) -> str:
        """Return the frame in which a sensor measures."""
        return self._frame(sens_index)

    def getThreeAxisLinearAccelerometerMeasure(self, sens_index: int, out: Any) -> float:
        """Fill with proper acceleration [m/s^2] and return when it was measured [s], -1 without."""
        return self._measure(sens_index, out)
