"""Angular velocities [deg/s]."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.analog_sensors import SensorClass
from pureyarp.devices.interfaces.analog_sensor_view import AnalogSensorView


class IThreeAxisGyroscopes(AnalogSensorView):
    """Angular velocities [deg/s]."""

    _kind = SensorClass.GYROSCOPE

    def getNrOfThreeAxisGyroscopes(self) -> int:
        """Return how many there are."""
        return self._count()

    def getThreeAxisGyroscopeStatus(self, sens_index: int) -> int:
        """Return whether a sensor can be read: MAS_OK, MAS_TIMEOUT, MAS_WAITING_FOR_FIRST_READ or MAS_ERROR."""
        return self._status(sens_index)

    def getThreeAxisGyroscopeName(self, sens_index: int) -> str:
        """Return the name of a sensor."""
        return self._name(sens_index)

    def getThreeAxisGyroscopeFrameName(self, sens_index: int) -> str:
        """Return the frame in which a sensor measures."""
        return self._frame(sens_index)

    def getThreeAxisGyroscopeMeasure(self, sens_index: int, out: Any) -> float:
        """Fill with angular velocity [deg/s] and return when it was measured [s], -1 without."""
        return self._measure(sens_index, out)
