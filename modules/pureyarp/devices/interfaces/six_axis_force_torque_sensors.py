"""Forces [N] and torques [N m]."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.analog_sensors import SensorClass
from pureyarp.devices.interfaces.analog_sensor_view import AnalogSensorView


class ISixAxisForceTorqueSensors(AnalogSensorView):
    """Forces [N] and torques [N m]."""

    _kind = SensorClass.FORCE_TORQUE

    def getNrOfSixAxisForceTorqueSensors(self) -> int:
        """Return how many there are."""
        return self._count()

    def getSixAxisForceTorqueSensorStatus(self, sens_index: int) -> int:
        """Return whether a sensor can be read: MAS_OK, MAS_TIMEOUT, MAS_WAITING_FOR_FIRST_READ or MAS_ERROR."""
        return self._status(sens_index)

    def getSixAxisForceTorqueSensorName(self, sens_index: int) -> str:
        """Return the name of a sensor."""
        return self._name(sens_index)

    def getSixAxisForceTorqueSensorFrameName(self, sens_index: int) -> str:
        """Return the frame in which a sensor measures."""
        return self._frame(sens_index)

    def getSixAxisForceTorqueSensorMeasure(self, sens_index: int, out: Any) -> float:
        """Fill with force [N], then torque [N m] and return when it was measured [s], -1 without."""
        return self._measure(sens_index, out)
