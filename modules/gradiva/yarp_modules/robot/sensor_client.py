"""A client of one server of analog sensors, which finds its sensors by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from gradiva.common import NDArray, RobotInterfaceError, nearest_name
from gradiva.middleware import yarp


class Measure(Protocol):
    """Fills a vector with the values of a sensor and returns their stamp [s], −1 without."""

    def __call__(self, sens_index: int, out: yarp.Vector, /) -> float:
        """Measure."""
        ...


class SensorClient:
    """One ``multipleanalogsensorsclient``."""

    def __init__(self, remote: str) -> None:
        """Prepare for the server called ``remote``; `open` reaches it."""
        self.remote = remote
        self._driver = yarp.PolyDriver()

    def open(self, local: str, carrier: str, max_age: float) -> None:
        """Reach the server.

        Raises:
            RobotInterfaceError: It is not there.
        """
        config = yarp.Property()
        config.fromString(
            f"(device multipleanalogsensorsclient) (remote {self.remote}) (local {local}{self.remote}) "
            f"(carrier {carrier}) (timeout {max_age})"
        )
        if not self._driver.open(config):
            raise RobotInterfaceError(f"the sensors {self.remote} were not opened: the log says why")

    def close(self) -> None:
        """Leave the server."""
        self._driver.close()

    @property
    def ports(self) -> list[str]:
        """The ports of the server."""
        return [f"{self.remote}/measures:o", f"{self.remote}/rpc:o"]

    def force_torque(self, name: str) -> Sensor:
        """Return a force-torque sensor, [N, N·m].

        Raises:
            RobotInterfaceError: The server has none of that name.
        """
        view = self._driver.viewISixAxisForceTorqueSensors()
        if view is None:
            raise RobotInterfaceError(f"{self.remote} has no force-torque sensors")
        count = view.getNrOfSixAxisForceTorqueSensors()
        index = self._index(name, count, view.getSixAxisForceTorqueSensorName)
        return Sensor(view.getSixAxisForceTorqueSensorMeasure, index, 6)

    def gyroscope(self, name: str) -> Sensor:
        """Return a gyroscope, in the unit of the server.

        Raises:
            RobotInterfaceError: The server has none of that name.
        """
        view = self._driver.viewIThreeAxisGyroscopes()
        if view is None:
            raise RobotInterfaceError(f"{self.remote} has no gyroscopes")
        count = view.getNrOfThreeAxisGyroscopes()
        index = self._index(name, count, view.getThreeAxisGyroscopeName)
        return Sensor(view.getThreeAxisGyroscopeMeasure, index, 3)

    def orientation(self, name: str) -> Sensor:
        """Return an orientation sensor: roll, pitch, yaw in the unit of the server.

        Raises:
            RobotInterfaceError: The server has none of that name.
        """
        view = self._driver.viewIOrientationSensors()
        if view is None:
            raise RobotInterfaceError(f"{self.remote} has no orientation sensors")
        count = view.getNrOfOrientationSensors()
        index = self._index(name, count, view.getOrientationSensorName)
        return Sensor(view.getOrientationSensorMeasureAsRollPitchYaw, index, 3)

    def _index(self, name: str, count: int, name_of: Callable[[int], str]) -> int:
        names = [str(name_of(index)) for index in range(count)]
        if name not in names:
            raise RobotInterfaceError(f"{self.remote} has no sensor '{name}'{nearest_name(name, names)}")
        return names.index(name)


class Sensor:
    """One sensor of a server."""

    def __init__(self, measure: Measure, index: int, size: int) -> None:
        self._measure = measure
        self._index = index
        self._size = size
        self._values = yarp.Vector(size)

    def read(self) -> tuple[NDArray, float] | None:
        """Return values and stamp [s] of the last sample; None where there is none, or of another size."""
        stamp = self._measure(self._index, self._values)
        if stamp < 0.0 or self._values.size() != self._size:
            return None
        return np.array([self._values.get(place) for place in range(self._size)]), stamp
