"""Publishes analog sensors as YARP's own server of multiple analog sensors does."""

from __future__ import annotations

import logging
from collections.abc import Callable

from gradiva.middleware import yarp
from gradiva.middleware.bottles import RequestReader
from gradiva.middleware.publishing import PeriodicPublisher, send_ready
from pureyarp.devices.analog_sensors_client import (
    Measurements,
    Metadata,
    measurements_messages,
    metadata_to_items,
    numbers_of,
    sizes_of,
)
from pureyarp.errors import NetworkError
from pureyarp.wire.elements import Element, encode_vocab
from pureyarp.wire.recurring_messages import RecurringMessage

_log = logging.getLogger("gradiva.yarp")

_PERIOD = 0.01  # [s]


class AnalogSensorsServer:
    """Publishes ``<name>/measures:o`` and tells on ``<name>/rpc:o`` which sensors there are.

    Nothing is published while reading fails: clients notice by the time that passes, as they do with a real server.
    """

    def __init__(
        self, name: str, sensors: Metadata, read: Callable[[], Measurements], period: float | None = _PERIOD
    ) -> None:
        """Serve ``sensors``, whose measurements ``read`` returns in the same order or raises.

        Args:
            name: Beginning of the names of both ports.
            sensors: The sensors of each kind.
            read: Called from the server's thread, or by `publish`.
            period: Between two messages, [s] of real time; None leaves it to the caller to `publish`.
        """
        self._name = name
        self._sensors = sensors
        self._read = read
        self._port = yarp.BufferedPortBottle()
        self._rpc = yarp.Port()
        self._requests = RequestReader(self._answer)  # the bindings do not keep it alive
        self._sizes = sizes_of({})  # of the last message: the next one will hardly have others
        self._messages = measurements_messages(self._sizes)
        self._count = 0
        self._is_failing = False
        self._publisher = PeriodicPublisher(f"sensors {name}", period, self.publish)

    def __enter__(self) -> AnalogSensorsServer:
        """Open."""
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def open(self) -> None:
        """Open both ports and begin to publish; a server that was closed cannot be opened again.

        Raises:
            NetworkError: A port cannot be opened; none stays open.
        """
        self._rpc.setReader(self._requests)
        if not (self._port.open(f"{self._name}/measures:o") and self._rpc.open(f"{self._name}/rpc:o")):
            self._close_ports()
            raise NetworkError(f"the ports of {self._name} could not be opened")
        self._publisher.start()

    def close(self) -> None:
        """Publish no more."""
        self._publisher.stop()
        self._close_ports()

    @property
    def has_readers(self) -> bool:
        """Whether somebody is connected to the measurements."""
        return int(self._port.getOutputCount()) > 0

    def publish(self, time: float | None = None) -> bool:
        """Read the sensors and send what they measured; False, and a line once, if reading fails.

        Args:
            time: Of the message's Stamp, [s]; None: now.
        """
        message = self._message()
        if message is None:
            return False
        stamp = yarp.Stamp(self._count, yarp.now() if time is None else time)
        self._count = (self._count + 1) % 2**31
        self._port.setEnvelope(stamp)
        send_ready(self._port, message)
        return True

    def _close_ports(self) -> None:
        for port in (self._rpc, self._port):
            port.interrupt()
            port.close()

    def _message(self) -> RecurringMessage | None:
        try:
            message = self._message_of(self._read())
        except Exception as error:
            if not self._is_failing:
                _log.error("%s publishes nothing: %s: %s", self._name, type(error).__name__, error)
            self._is_failing = True
            return None
        if self._is_failing:
            _log.warning("%s publishes again", self._name)
        self._is_failing = False
        return message

    def _message_of(self, measurements: Measurements) -> RecurringMessage:
        self._check(measurements)
        sizes = sizes_of(measurements)
        if sizes != self._sizes:
            self._sizes, self._messages = sizes, measurements_messages(sizes)
        return self._messages.message(numbers_of(measurements))

    def _check(self, measurements: Measurements) -> None:
        for kind, sensors in self._sensors.items():
            measured = measurements.get(kind, ())
            if len(measured) != len(sensors):
                raise NetworkError(f"{len(sensors)} sensors of {kind.name}, but {len(measured)} measurements")
            if any(kind.size not in (None, len(one.values)) for one in measured):
                raise NetworkError(f"a measurement of {kind.name} must have {kind.size} numbers")

    def _answer(self, question: list[Element]) -> list[Element]:
        if question == ["getMetadata"]:
            return metadata_to_items(self._sensors)
        return [encode_vocab("fail")]
