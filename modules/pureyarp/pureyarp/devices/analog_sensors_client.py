"""Read analog sensors of another process, by kind: their messages, the client, and its views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, TypeVar

import numpy as np

from pureyarp.data.values import Bottle, Searchable
from pureyarp.data.vectors import Vector
from pureyarp.devices.device_ports import (
    ConnectionKeeper,
    LastMessage,
    LatchedErrorLog,
    Received,
    TimedRpcClient,
    carrier,
    number,
    text,
)
from pureyarp.errors import MalformedMessage, NetworkError, PeerUnreachable
from pureyarp.network.buffered_ports import NewestMessagePort
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.network import Network
from pureyarp.network.ports import open_all
from pureyarp.wire.elements import Element, PlainList, TypedList, WireFamily
from pureyarp.wire.recurring_messages import RecurringMessages

_TIMEOUT = 0.02  # [s]
_SILENCE = 0.5  # [s] after which the server is asked whether it still sends here

MAS_OK = 0
MAS_ERROR = 1
MAS_OVF = 2
MAS_TIMEOUT = 3
MAS_WAITING_FOR_FIRST_READ = 4
MAS_UNKNOWN = 5


class SensorClass(IntEnum):
    """The kinds of analog sensors, numbered as they stand in every message; each has its units.

    ============================ =================== ===========================================
    Kind                         Numbers             Unit
    ============================ =================== ===========================================
    gyroscope                    3                   deg/s
    linear accelerometer         3                   m/s^2
    magnetometer                 3                   T
    orientation                  3                   deg (roll, pitch, yaw)
    temperature                  1                   deg C
    force torque                 6                   N, then N m
    contact load cells, encoder  any                 of the device
    arrays, skin patches
    position                     3                   m
    linear velocity              3                   m/s
    angular accelerometer        3                   deg/s^2
    ============================ =================== ===========================================
    """

    GYROSCOPE = 0
    LINEAR_ACCELEROMETER = 1
    MAGNETOMETER = 2
    ORIENTATION = 3
    TEMPERATURE = 4
    FORCE_TORQUE = 5
    CONTACT_LOAD_CELLS = 6
    ENCODER_ARRAY = 7
    SKIN_PATCH = 8
    POSITION = 9
    LINEAR_VELOCITY = 10
    ANGULAR_ACCELEROMETER = 11

    @property
    def size(self) -> int | None:
        """Return how many numbers a sensor of this kind measures; None when each has its own."""
        if self is SensorClass.TEMPERATURE:
            return 1
        if self is SensorClass.FORCE_TORQUE:
            return 6
        return None if self in _OF_ANY_SIZE else 3


_OF_ANY_SIZE = (SensorClass.CONTACT_LOAD_CELLS, SensorClass.ENCODER_ARRAY, SensorClass.SKIN_PATCH)


@dataclass(frozen=True, slots=True)
class SensorMeasurement:
    """Measurement of one sensor.

    Attributes:
        values: In the units of its `SensorClass`.
        time: When, [s] since the epoch.
    """

    values: tuple[float, ...]
    time: float


Measurements = Mapping[SensorClass, Sequence[SensorMeasurement]]


def measurements_to_items(measurements: Measurements) -> list[Element]:
    """Return the message of ``measures:o``: one list for each kind, of (numbers) and time each."""
    return PlainList([_listed(measurements.get(kind, ())) for kind in SensorClass])


Sizes = list[tuple[SensorClass, int]]
"""Kind, and how many numbers, of each sensor of a message, in its order."""


def sizes_of(measurements: Measurements) -> Sizes:
    """Return the kind of each sensor and how many numbers it measures."""
    return [(kind, len(one.values)) for kind in SensorClass for one in measurements.get(kind, ())]


def measurements_messages(sizes: Sizes) -> RecurringMessages:
    """Return the messages of such sensors; their numbers are those of `numbers_of`."""
    count = sum(size + 1 for _, size in sizes)
    return RecurringMessages(lambda numbers: measurements_to_items(measurements_of(sizes, numbers)), count)


def measurements_of(sizes: Sizes, numbers: Sequence[float]) -> dict[SensorClass, tuple[SensorMeasurement, ...]]:
    """Return what such sensors measured, given their numbers; the inverse of `numbers_of`."""
    found: dict[SensorClass, list[SensorMeasurement]] = {}
    start = 0
    for kind, size in sizes:
        end = start + size
        found.setdefault(kind, []).append(SensorMeasurement(tuple(numbers[start:end]), numbers[end]))
        start = end + 1
    return {kind: tuple(sensors) for kind, sensors in found.items()}


def numbers_of(measurements: Measurements) -> list[float]:
    """Return values and time of each sensor, in the order in which they stand in the message."""
    sensors = [one for kind in SensorClass for one in measurements.get(kind, ())]
    return [float(number) for one in sensors for number in (*one.values, one.time)]


def measurements_from_items(items: Sequence[Element]) -> dict[SensorClass, tuple[SensorMeasurement, ...]]:
    """Return what a message of ``measures:o`` says; the kinds without sensors are left out.

    Raises:
        MalformedMessage: The message is none, or a sensor has not as many numbers as its kind.
    """
    return _by_kind(items, "measurements", _measurement)


def _listed(sensors: Sequence[SensorMeasurement]) -> PlainList:
    return PlainList([PlainList([TypedList(float, map(float, one.values)), float(one.time)]) for one in sensors])


_Sensor = TypeVar("_Sensor")


def _by_kind(
    items: Sequence[Element], what: str, sensor: Callable[[SensorClass, Element], _Sensor]
) -> dict[SensorClass, tuple[_Sensor, ...]]:
    """Return the sensors of each kind in a message that has one list for each; kinds without sensors are left out."""
    if len(items) != len(SensorClass):
        raise MalformedMessage(f"sensor {what} have {len(SensorClass)} kinds, not {len(items)}")
    found: dict[SensorClass, tuple[_Sensor, ...]] = {}
    for kind, element in zip(SensorClass, items, strict=True):
        if not isinstance(element, list):
            raise MalformedMessage(f"the {what} of {kind.name} are no list: {element!r:.60}")
        if element:
            found[kind] = tuple(sensor(kind, one) for one in element)
    return found


def _measurement(kind: SensorClass, element: Element) -> SensorMeasurement:
    match element:
        case [list() as numbers, float() | int() as time]:
            values = tuple(float(number) for number in numbers if isinstance(number, int | float))
        case _:
            raise MalformedMessage(f"a measurement of {kind.name} is (numbers) time, not {element!r:.60}")
    if len(values) != len(numbers) or kind.size not in (None, len(values)):
        raise MalformedMessage(f"a measurement of {kind.name} has {kind.size} numbers, not {numbers!r:.60}")
    return SensorMeasurement(values, float(time))


@dataclass(frozen=True, slots=True)
class SensorMetadata:
    """Name and frame of a sensor.

    Attributes:
        name: Of the sensor.
        frame: In which it measures; empty for sensors without one.
        additional: Whatever the device adds.
    """

    name: str
    frame: str = ""
    additional: str = ""


Metadata = Mapping[SensorClass, Sequence[SensorMetadata]]


def metadata_to_items(metadata: Metadata) -> list[Element]:
    """Return the reply to ``getMetadata``: one list for each kind, of (name, frame, additional) each."""
    return PlainList([_described(metadata.get(kind, ())) for kind in SensorClass])


def metadata_from_items(items: Sequence[Element]) -> dict[SensorClass, tuple[SensorMetadata, ...]]:
    """Return what a reply to ``getMetadata`` says; the kinds without sensors are left out.

    Raises:
        MalformedMessage: The reply is none.
    """
    return _by_kind(items, "metadata", _sensor)


def _described(sensors: Sequence[SensorMetadata]) -> PlainList:
    return PlainList([PlainList([one.name, one.frame, one.additional]) for one in sensors])


def _sensor(kind: SensorClass, element: Element) -> SensorMetadata:
    words = element if isinstance(element, list) else []
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) != 3:
        raise MalformedMessage(f"a sensor of {kind.name} is (name frame additional), not {element!r:.60}")
    return SensorMetadata(*texts)


ReadMeasurements = dict[SensorClass, tuple[SensorMeasurement, ...]]


class MeasurementsReader:
    """Takes messages of ``measures:o`` apart; one of the same sensors as the last one in a tenth of the time."""

    def __init__(self) -> None:
        self._sizes = sizes_of({})
        self._messages = measurements_messages(self._sizes)

    def usual(self, message: bytes, family: WireFamily) -> ReadMeasurements | None:
        """Return what the bytes of a message say; None where it differs from the last one in more than numbers."""
        numbers = self._messages.numbers_in(message, family)
        return None if numbers is None else measurements_of(self._sizes, numbers)

    def from_items(self, items: Sequence[Element]) -> ReadMeasurements:
        """Return what the elements of a message say, and expect the next one to be alike.

        Raises:
            MalformedMessage: The message is none, or a sensor has not as many numbers as its kind.
        """
        measurements = measurements_from_items(items)
        if (sizes := sizes_of(measurements)) != self._sizes:
            self._sizes, self._messages = sizes, measurements_messages(sizes)
        return measurements


@dataclass(frozen=True, slots=True)
class AnalogSensorsClientOptions:
    """Options of a client of analog sensors.

    Attributes:
        local: Beginning of the names of the client's ports.
        remote: Beginning of the names of the server's ports.
        carrier: Of the measurements.
        timeout: After which the last measurements count as too old, [s].
    """

    local: str
    remote: str
    carrier: str = "tcp"
    timeout: float = _TIMEOUT

    @classmethod
    def read(cls, config: Searchable) -> AnalogSensorsClientOptions:
        """Return what a configuration says."""
        return cls(
            text(config, "local"),
            text(config, "remote"),
            carrier(config, "carrier", "tcp"),
            number(config, "timeout", _TIMEOUT),
        )


class AnalogSensorsClient:
    """Analog sensors in another process, reached again whenever that process comes back."""

    def __init__(self, options: AnalogSensorsClientOptions) -> None:
        """Prepare; `open` reaches the server."""
        self._options = options
        self._rpc = TimedRpcClient()
        self._port = NewestMessagePort()
        self._metadata: dict[SensorClass, tuple[SensorMetadata, ...]] = {}
        self._reader = MeasurementsReader()
        self._last = LastMessage(self._port, "measurements", self._measurements)
        self._late = LatchedErrorLog()
        self._keeper = ConnectionKeeper(options.remote, self._is_connected, self._reach_again)

    def open(self) -> None:
        """Open ports, connect and ask for the sensors; raise NetworkError and leave nothing open if that fails."""
        try:
            self._open_ports()
            self._connect()
            self._metadata = self._ask_metadata()
        except NetworkError:
            self._close_ports()
            raise
        self._keeper.start()

    def close(self) -> None:
        """Leave the server."""
        self._keeper.stop()
        self._close_ports()
        self._keeper.join()

    def sensors(self, kind: SensorClass) -> tuple[SensorMetadata, ...]:
        """Return the sensors of a kind."""
        return self._metadata.get(kind, ())

    def status(self, kind: SensorClass, index: int) -> int:
        """Return whether a sensor can be read."""
        return self._status(self._last.read(), kind, index)

    def measurement(self, kind: SensorClass, index: int) -> SensorMeasurement | None:
        """Return what a sensor measured last; None unless its status is good."""
        last = self._last.read()
        if last is None or self._status(last, kind, index) != MAS_OK:
            return None
        return last.content[kind][index]

    def _status(self, last: Received[Measurements] | None, kind: SensorClass, index: int) -> int:
        if last is None:
            return MAS_WAITING_FOR_FIRST_READ
        silence = last.age()
        if silence > self._options.timeout:
            self._late.error("%s: no data received in the last %.3f s", self._options.remote, silence)
            return MAS_TIMEOUT
        self._late.reset()
        return MAS_OK if 0 <= index < len(last.content.get(kind, ())) else MAS_ERROR

    def _measurements(self, message: IncomingMessage) -> Measurements:
        payload, family = message.payload, message.source.family
        usual = self._reader.usual(payload, family) if isinstance(payload, bytes) else None
        return self._reader.from_items(message.items()) if usual is None else usual

    def _open_ports(self) -> None:
        local = self._options.local
        open_all({f"{local}/rpc:i": self._rpc, f"{local}/measures:i": self._port})

    def _close_ports(self) -> None:
        for port in (self._rpc, self._port):
            port.interrupt()
            port.close()

    def _connect(self) -> None:
        remote, here = self._options.remote, self._port.getName()
        asks = self._rpc.addOutput(f"{remote}/rpc:o")
        if not (asks and Network.connect(f"{remote}/measures:o", here, self._options.carrier, True)):
            raise PeerUnreachable(f"problem connecting to {remote}, is the remote device available?")

    def _ask_metadata(self) -> dict[SensorClass, tuple[SensorMetadata, ...]]:
        answer = Bottle()
        self._rpc.ask(PlainList(["getMetadata"]), answer, self._options.remote)
        return metadata_from_items(answer.items)

    def _is_connected(self) -> bool:
        last = self._last.read()
        if self._rpc.getOutputCount() == 0:
            return False
        if last is not None and last.silence() < max(_SILENCE, self._options.timeout):
            return True
        sender, here = f"{self._options.remote}/measures:o", self._port.getName()
        return Network.isConnected(sender, here, self._options.carrier, True)

    def _reach_again(self) -> bool:
        if not Network.exists(f"{self._options.remote}/measures:o") or self._keeper.is_stopped:
            return False
        try:
            self._connect()
            self._metadata = self._ask_metadata()
        except NetworkError:
            return False
        return True


class AnalogSensorView:
    """The sensors of one kind; an index beyond them gives ``unknown``, -1 or an error, never an exception."""

    _kind: ClassVar[SensorClass]

    def __init__(self, client: AnalogSensorsClient) -> None:
        """Look at the sensors of a client through this interface."""
        self._client = client

    def _count(self) -> int:
        """Return how many there are."""
        return len(self._client.sensors(self._kind))

    def _status(self, sens_index: int) -> int:
        """Return whether a sensor can be read: MAS_OK, MAS_TIMEOUT, MAS_WAITING_FOR_FIRST_READ or MAS_ERROR."""
        return self._client.status(self._kind, int(sens_index))

    def _name(self, sens_index: int) -> str:
        """Return the name of a sensor."""
        sensors = self._client.sensors(self._kind)
        return sensors[sens_index].name if 0 <= sens_index < len(sensors) else "unknown"

    def _frame(self, sens_index: int) -> str:
        """Return the frame in which a sensor measures."""
        sensors = self._client.sensors(self._kind)
        return sensors[sens_index].frame if 0 <= sens_index < len(sensors) else "unknown"

    def _measure(self, sens_index: int, out: Any) -> float:
        """Fill the Vector ``out`` in the unit of the class; return when it was measured [s], -1 without."""
        if not isinstance(out, Vector):
            raise TypeError(f"a Vector is expected, not {out!r}")
        measurement = self._client.measurement(self._kind, int(sens_index))
        if measurement is None:
            return -1.0
        out.array = np.array(measurement.values)
        return measurement.time


class ISixAxisForceTorqueSensors(AnalogSensorView):
    """Forces [N], then torques [N m]."""

    _kind = SensorClass.FORCE_TORQUE
    getNrOfSixAxisForceTorqueSensors = AnalogSensorView._count
    getSixAxisForceTorqueSensorStatus = AnalogSensorView._status
    getSixAxisForceTorqueSensorName = AnalogSensorView._name
    getSixAxisForceTorqueSensorFrameName = AnalogSensorView._frame
    getSixAxisForceTorqueSensorMeasure = AnalogSensorView._measure


class IThreeAxisGyroscopes(AnalogSensorView):
    """Angular velocities [deg/s]."""

    _kind = SensorClass.GYROSCOPE
    getNrOfThreeAxisGyroscopes = AnalogSensorView._count
    getThreeAxisGyroscopeStatus = AnalogSensorView._status
    getThreeAxisGyroscopeName = AnalogSensorView._name
    getThreeAxisGyroscopeFrameName = AnalogSensorView._frame
    getThreeAxisGyroscopeMeasure = AnalogSensorView._measure


class IThreeAxisLinearAccelerometers(AnalogSensorView):
    """Proper accelerations [m/s^2]."""

    _kind = SensorClass.LINEAR_ACCELEROMETER
    getNrOfThreeAxisLinearAccelerometers = AnalogSensorView._count
    getThreeAxisLinearAccelerometerStatus = AnalogSensorView._status
    getThreeAxisLinearAccelerometerName = AnalogSensorView._name
    getThreeAxisLinearAccelerometerFrameName = AnalogSensorView._frame
    getThreeAxisLinearAccelerometerMeasure = AnalogSensorView._measure


class IOrientationSensors(AnalogSensorView):
    """Orientations as roll, pitch and yaw [deg]."""

    _kind = SensorClass.ORIENTATION
    getNrOfOrientationSensors = AnalogSensorView._count
    getOrientationSensorStatus = AnalogSensorView._status
    getOrientationSensorName = AnalogSensorView._name
    getOrientationSensorFrameName = AnalogSensorView._frame

    def getOrientationSensorMeasureAsRollPitchYaw(self, sens_index: int, rpy: Any) -> float:
        """Fill with roll, pitch and yaw [deg] and return when it was measured [s], -1 without."""
        return self._measure(sens_index, rpy)


class ITemperatureSensors(AnalogSensorView):
    """Temperatures [deg C]."""

    _kind = SensorClass.TEMPERATURE
    getNrOfTemperatureSensors = AnalogSensorView._count
    getTemperatureSensorStatus = AnalogSensorView._status
    getTemperatureSensorName = AnalogSensorView._name
    getTemperatureSensorFrameName = AnalogSensorView._frame
    getTemperatureSensorMeasure = AnalogSensorView._measure
