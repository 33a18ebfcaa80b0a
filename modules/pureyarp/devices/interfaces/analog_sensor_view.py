"""What all interfaces of analog sensors have in common."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradiva.middleware.analog_sensors import SensorClass
from pureyarp.data.vectors import Vector
from pureyarp.devices.analog_sensors_client import AnalogSensorsClient


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
