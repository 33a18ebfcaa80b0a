"""Reads sensor servers, the inertial unit and the base's true motion; finds out when samples were taken."""

from __future__ import annotations

import math
import time as machine_time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from gradiva.common import ImuMeasurement, NDArray, RobotInterfaceError, nearest_name
from gradiva.middleware import Element, PersistentConnections, as_items, yarp
from gradiva.robot_model import AngleUnit, Environment, IdynTreeModel, fixed_rotation
from gradiva.yarp_modules.network_clock import control_time

_DRIFT = 1e-3  # [s/s] by which clocks may come apart: quartzes 1e-4, one that NTP slews 5e-4
_GAP = 1.0  # [s] after such a silence the source's clock may have been set without a stamp that shows it
NO_ATTITUDE = ImuMeasurement(np.full((3, 3), math.nan), np.full(3, math.nan))
_FLEXIBLE_NUMBERS = 4  # stiffness, position, velocity, torque
_NUMBERS = 18  # position, roll pitch yaw, linear and angular velocity, linear and angular acceleration


class SourceClock:
    r"""Turns stamps of another clock into this process's time.

    A sample cannot arrive before it was taken: of all differences between arrival and stamp, the least belongs to the
    message that travelled fastest. With :math:`o = \min(o + d \Delta t, t - s)` a sample of stamp :math:`s` was taken
    at :math:`s + o`, free of the jitter of the network; :math:`d` lets the clocks drift. On a simulated clock, which
    both share, stamps are taken as they are.

    A wall clock may be set while the robot walks. Stamps that jump forward make the difference smaller, which holds at
    once. A stamp that lies before the last one, or more than 1 s between two samples (in which a clock may have been
    set unseen), make it unknown: the sample that comes then counts as taken when it arrived, and the difference is
    estimated anew from there.

    Attributes:
        time: Of the last sample, [s]; −∞ before the first.
        arrival: Of the last sample, on the machine's monotonic clock, [s].
    """

    def __init__(self, max_age: float, is_shared: bool) -> None:
        """Begin.

        Args:
            max_age: A source whose last sample is older is late, [s].
            is_shared: Whether stamps and times are of one clock.
        """
        self.time = -math.inf
        self.arrival = machine_time.monotonic()
        self._max_age = max_age
        self._is_shared = is_shared
        self._stamp = -math.inf
        self._seen_at = 0.0
        self._offset = math.inf

    @property
    def has_spoken(self) -> bool:
        """Return whether there has been a sample."""
        return self._stamp > -math.inf

    def update(self, stamp: float, now: float) -> None:
        """Take the stamp of the newest sample [s]; one that was taken before counts once.

        ``now`` [s] is a time after the sample was read. One from before would make it arrive before it was taken where
        the reader was held up between the two, and all that follow late by that until the drift has made up for it.
        """
        if stamp == self._stamp:
            return
        if stamp < self._stamp or abs(now - self._seen_at) > _GAP:
            self._offset = math.inf
            self.time = min(self.time, now)
        self._offset = min(self._offset + _DRIFT * (now - self._seen_at), now - stamp)
        self._stamp, self._seen_at, self.arrival = stamp, now, machine_time.monotonic()
        self.time = stamp if self._is_shared else max(self.time, stamp + self._offset)

    def is_late(self, now: float) -> bool:
        """Return whether there was no new sample for too long, at ``now`` [s]."""
        return now - self.time > self._max_age


class Measure(Protocol):
    """Fills a vector with the values of a sensor and returns their stamp [s], −1 without."""

    def __call__(self, sens_index: int, out: yarp.Vector, /) -> float:
        """Measure."""
        ...


class SensorClient:
    """Is the client of one sensor server, a ``multipleanalogsensorsclient``."""

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

    def connections(self, local: str, carrier: str) -> list[tuple[str, str, str]]:
        """Return source, destination and carrier of its connections, as the device makes them below ``local``."""
        ours, (measures, rpc) = local + self.remote, self.ports
        return [(measures, f"{ours}/measures:i", carrier), (f"{ours}/rpc:i", rpc, "tcp")]

    def force_torque(self, name: str) -> Sensor:
        """Return a force-torque sensor, [N, N·m].

        Raises:
            RobotInterfaceError: The server has none of that name.
        """
        view = self._driver.viewISixAxisForceTorqueSensors()
        if view is None:
            raise RobotInterfaceError(f"{self.remote} has no force-torque sensors")
        index = self._index(name, view.getNrOfSixAxisForceTorqueSensors(), view.getSixAxisForceTorqueSensorName)
        return Sensor(view.getSixAxisForceTorqueSensorMeasure, index, 6)

    def gyroscope(self, name: str) -> Sensor:
        """Return a gyroscope, in the unit of the server.

        Raises:
            RobotInterfaceError: The server has none of that name.
        """
        view = self._driver.viewIThreeAxisGyroscopes()
        if view is None:
            raise RobotInterfaceError(f"{self.remote} has no gyroscopes")
        index = self._index(name, view.getNrOfThreeAxisGyroscopes(), view.getThreeAxisGyroscopeName)
        return Sensor(view.getThreeAxisGyroscopeMeasure, index, 3)

    def orientation(self, name: str) -> Sensor:
        """Return an orientation sensor: roll, pitch, yaw in the unit of the server.

        Raises:
            RobotInterfaceError: The server has none of that name.
        """
        view = self._driver.viewIOrientationSensors()
        if view is None:
            raise RobotInterfaceError(f"{self.remote} has no orientation sensors")
        index = self._index(name, view.getNrOfOrientationSensors(), view.getOrientationSensorName)
        return Sensor(view.getOrientationSensorMeasureAsRollPitchYaw, index, 3)

    def _index(self, name: str, count: int, name_of: Callable[[int], str]) -> int:
        names = [str(name_of(index)) for index in range(count)]
        if name not in names:
            raise RobotInterfaceError(f"{self.remote} has no sensor '{name}'{nearest_name(name, names)}")
        return names.index(name)


class Sensor:
    """Reads one sensor of a server."""

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


class RemoteImu:
    """Reads attitude and angular rate, from the frame of the sensor to that of ``RobotDescription.imu_frame``.

    Attributes:
        name: Sensor and server, for messages.
        ports: Which ports of the robot have to be there.
    """

    def __init__(self, model: IdynTreeModel, environment: Environment) -> None:
        """Find the server.

        Raises:
            ModelError: A joint lies between the sensor and the frame of the description.
        """
        ports = model.description.ports
        assert ports is not None, "checked by YarpRobot"
        server, self._port = ports.imu()
        self._client = SensorClient(ports.full_name(environment, server.name))
        self.name = f"{self._port.name} of {self._client.remote}"
        self.ports = self._client.ports
        self._scale = math.radians(1.0) if server.angle_unit is AngleUnit.DEGREES else 1.0
        self._frame_in_sensor = fixed_rotation(model, self._port.frame, model.description.imu_frame)

    def open(self, local: str, carrier: str, max_age: float) -> None:
        """Reach the server.

        Raises:
            RobotInterfaceError: It is not there, or lacks the sensor.
        """
        self._client.open(local, carrier, max_age)
        self._orientation = self._client.orientation(self._port.name)
        self._gyroscope = self._client.gyroscope(self._port.name)

    def close(self) -> None:
        """Leave the server."""
        self._client.close()

    def connections(self, local: str, carrier: str) -> list[tuple[str, str, str]]:
        """Return source, destination and carrier of the server's connections."""
        return self._client.connections(local, carrier)

    def read(self, clock: SourceClock) -> ImuMeasurement:
        """Return the last sample and update its clock; NaN where there is none."""
        attitude, rate = self._orientation.read(), self._gyroscope.read()
        if attitude is None or rate is None:
            return NO_ATTITUDE
        clock.update(attitude[1], control_time())
        rotation = rotation_of(self._scale * attitude[0]) @ self._frame_in_sensor
        return ImuMeasurement(rotation, self._frame_in_sensor.T @ (self._scale * rate[0]), clock.time)


def rotation_of(roll_pitch_yaw: NDArray) -> NDArray:
    """Return R_z(yaw) R_y(pitch) R_x(roll) of three angles [rad], shape (3, 3)."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(roll_pitch_yaw), np.cos(roll_pitch_yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


@dataclass(frozen=True, slots=True, eq=False)
class FloatingBase:
    """Holds the true pose and twist of the base, in world.

    Attributes:
        time: When it was there, by the simulator's stamp, [s].
        position: [m], shape (3,).
        rotation: Shape (3, 3).
        twist: Linear, then angular velocity, [m/s, rad/s], shape (6,).
    """

    time: float
    position: NDArray
    rotation: NDArray
    twist: NDArray


T = TypeVar("T")


class _TruthPort(Generic[T]):
    """Keeps the last message of a port of a simulator, which robots do not have."""

    def __init__(self, remote: str, own: str) -> None:
        """Prepare; `open` connects ``remote`` to ``own``, below the prefix of our ports."""
        self.remote, self._own = remote, own
        self._port = yarp.BufferedPortBottle()
        self._connections: PersistentConnections | None = None
        self._last: T | None = None

    def read(self) -> T | None:
        """Return the last message; None before the first good one."""
        message = self._port.read(False)
        found = None if message is None else self._values(as_items(message))
        self._last = self._last if found is None else found
        return self._last

    def _values(self, items: Sequence[Element]) -> T | None:
        """Return the values of a message; None of one of another form."""
        raise NotImplementedError

    def open(self, local: str, carrier: str) -> None:
        """Open our port below ``local`` and connect it.

        Raises:
            RobotInterfaceError: The name is taken.
        """
        name = f"{local}/{self._own}"
        self._last = None
        open_port(self._port, name)
        self._connections = PersistentConnections([(self.remote, name, carrier)])
        self._connections.start()

    def close(self) -> None:
        """Close the port."""
        if self._connections is not None:
            self._connections.stop()
        self._port.interrupt()
        self._port.close()


class FloatingBasePort(_TruthPort[FloatingBase]):
    """Reads ``<prefix>/floating_base/state:o``."""

    def __init__(self, remote: str) -> None:
        super().__init__(remote, "floating_base/state:i")

    def _values(self, items: Sequence[Element]) -> FloatingBase | None:
        numbers = np.array(_numbers_in(items))
        if len(numbers) != _NUMBERS or not np.isfinite(numbers).all():
            return None
        stamp = yarp.Stamp()
        time = stamp.getTime() if self._port.getEnvelope(stamp) and stamp.isValid() else control_time()
        return FloatingBase(time, numbers[:3], rotation_of(numbers[3:6]), numbers[6:12])


@dataclass(frozen=True, slots=True, eq=False)
class TrueDeflections:
    """Deflections of a simulator's links.

    Attributes:
        stiffness: By name of the flexible joint, [N·m/rad].
        motion: Positions, velocities and torques of springs and dampers, [rad, rad/s, N·m], shape (3, f).
    """

    stiffness: Mapping[str, float]
    motion: NDArray


class FlexibleJointsPort(_TruthPort[TrueDeflections]):
    """Reads ``<prefix>/flexible_joints/state:o``."""

    def __init__(self, remote: str) -> None:
        super().__init__(remote, "flexible_joints/state:i")

    def _values(self, items: Sequence[Element]) -> TrueDeflections | None:
        rows = {str(item[0]): _numbers_in(item) for item in items if isinstance(item, list) and item}
        if not all(len(numbers) == _FLEXIBLE_NUMBERS for numbers in rows.values()):
            return None
        table = np.array([*rows.values()], dtype=float).reshape(len(rows), _FLEXIBLE_NUMBERS).T
        return TrueDeflections(dict(zip(rows, table[0].tolist(), strict=True)), table[1:])


def _numbers_in(items: Sequence[Element]) -> list[float]:
    return [float(item) for item in items if isinstance(item, int | float)]


def open_port(port: yarp.BufferedPortVector | yarp.BufferedPortBottle, name: str) -> None:
    """Open a port, for the first time or again.

    A real buffered port that was interrupted before it was closed is connected again, but reads nothing until it is
    resumed.

    Raises:
        RobotInterfaceError: The name is taken, or there is no name server.
    """
    if not port.open(name):
        raise RobotInterfaceError(f"port {name} could not be opened: does another walking module run?")
    port.resume()
