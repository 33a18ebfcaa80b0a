"""View analog sensors by kind, as the interfaces of the bindings do."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pureyarp.data.vectors import Vector
from pureyarp.devices.analog_sensors_client import AnalogSensorsClient, SensorClass


class AnalogSensorView:
    """The sensors of one kind; an index beyond them gives ``unknown``, -1 or an error, never an exception."""

    _kind: ClassVar[SensorClass]

    def __init__(self, client: AnalogSensorsClient) -> None:
        """Look at the sensors of a client through this interface."""
        self._client = client

    def _count(self) -> int:
        return len(self._client.sensors(self._kind))

    def _status(self, index: int) -> int:
        return self._client.status(self._kind, int(index))

    def _name(self, index: int) -> str:
        sensors = self._client.sensors(self._kind)
        return sensors[index].name if 0 <= index < len(sensors) else "unknown"

    def _frame(self, index: int) -> str:
        sensors = self._client.sensors(self._kind)
        return sensors[index].frame if 0 <= index < len(sensors) else "unknown"

    def _measure(self, index: int, out: Any) -> float:
        """Fill the Vector ``out`` and return the time of the measurement [s], or -1."""
        if not isinstance(out, Vector):
            raise TypeError(f"a Vector is expected, not {out!r}")
        measurement = self._client.measurement(self._kind, int(index))
        if measurement is None:
            return -1.0
        out.array = np.array(measurement.values)
        return measurement.time


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


class IOrientationSensors(AnalogSensorView):
    """Orientations as roll, pitch and yaw [deg]."""

    _kind = SensorClass.ORIENTATION

    def getNrOfOrientationSensors(self) -> int:
        """Return how many there are."""
        return self._count()

    def getOrientationSensorStatus(self, sens_index: int) -> int:
        """Return whether a sensor can be read: MAS_OK, MAS_TIMEOUT, MAS_WAITING_FOR_FIRST_READ or MAS_ERROR."""
        return self._status(sens_index)

    def getOrientationSensorName(self, sens_index: int) -> str:
        """Return the name of a sensor."""
        return self._name(sens_index)

    def getOrientationSensorFrameName(self, sens_index: int) -> str:
        """Return the frame in which a sensor measures."""
        return self._frame(sens_index)

    def getOrientationSensorMeasureAsRollPitchYaw(self, sens_index: int, rpy: Any) -> float:
        """Fill with roll, pitch and yaw [deg] and return when it was measured [s], -1 without."""
        return self._measure(sens_index, rpy)


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
