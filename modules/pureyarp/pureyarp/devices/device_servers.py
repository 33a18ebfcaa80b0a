"""Serve control boards and analog sensors on the network, before a driver or a simulated part."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Self

from pureyarp.devices.analog_sensors_client import (
    Measurements,
    Metadata,
    measurements_messages,
    metadata_to_items,
    numbers_of,
    sizes_of,
)
from pureyarp.devices.control_board_device import ControlBoardDevice
from pureyarp.devices.control_board_messages import JointData, JointDataMessage, StreamedCommand
from pureyarp.devices.server_ports import PeriodicPublisher, ServerPorts
from pureyarp.devices.thrift_dialect import PROTOCOL_VERSION, VERSION_METHOD, ThriftAnswers
from pureyarp.devices.vocab_dialect import VocabAnswers
from pureyarp.errors import MalformedMessage, NetworkError
from pureyarp.network.buffered_ports import BufferedPortBottle
from pureyarp.network.clock import now
from pureyarp.network.ports import Contactable, Port, PortReader, open_all
from pureyarp.network.settings import current_settings
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.elements import Element, TypedList, WireFamily, encode_vocab
from pureyarp.wire.recurring_messages import RecurringMessage, RecurringMessages

_LARGEST_COUNT = 2**31 - 1
_PERIOD = 0.01  # [s]
_LOGGER = logging.getLogger("pureyarp")


class PublishingServer:
    """Has ports of its own, on some of which it publishes; to be entered as a context, or opened and closed.

    Args:
        ports: By their full names, in the order in which they are opened.
        outputs: Those of them that publish.
        publisher: Calls what publishes.
    """

    def __init__(
        self, ports: Mapping[str, Contactable], outputs: Sequence[BufferedPortBottle], publisher: PeriodicPublisher
    ) -> None:
        self._opened, self._outputs, self._publisher = ports, outputs, publisher

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Open the ports and begin to publish; a server that was closed cannot be opened again.

        Raises:
            NetworkError: A port cannot be opened; none stays open.
        """
        try:
            open_all(self._opened)
        except NetworkError:
            self.close()
            raise
        self._publisher.start()

    def close(self) -> None:
        """Close the ports and wait for the publishing thread."""
        self._publisher.stop()
        for port in reversed(list(self._opened.values())):
            port.interrupt()
            port.close()

    @property
    def has_readers(self) -> bool:
        """Return whether somebody is connected to what is published."""
        return any(int(port.getOutputCount()) > 0 for port in self._outputs)


class ControlBoardServer(PublishingServer):
    """Serves one part of a robot so that every ``remote_controlboard`` can open it.

    ======================  =======================================================================
    Port                    Content
    ======================  =======================================================================
    ``<name>/rpc:i``        requests of the 3.x family
    ``<name>/nws/rpc:i``    requests of the 4.x family; only where that family is spoken
    ``<name>/command:i``    set-points, taken in their order
    ``<name>/state:o``      positions of the joints [deg]
    ``<name>/stateExt:o``   all that is measured
    ======================  =======================================================================

    Both states go out with the same Stamp. The device is called by one thread at a time; what it raises is logged and
    answered ``[fail]``.

    Args:
        name: Such as ``/icubSim/torso``.
        device: What is commanded and measured.
        period: Of the states, [s]; None: only :meth:`publish` sends them, for instance in step with a simulation.
        family: Whose messages are spoken; None: as the settings say.
        clock: The time of the states and the answers, [s].
        ports: Whose ports are opened; None: those of this package.
    """

    def __init__(
        self,
        name: str,
        device: ControlBoardDevice,
        period: float | None = _PERIOD,
        family: WireFamily | None = None,
        clock: Callable[[], float] = now,
        ports: ServerPorts | None = None,
    ) -> None:
        self._ports = ports or ServerPorts()
        self._name = name
        self._device = device
        self._family = family or current_settings().family
        self._clock = clock
        self._device_lock = threading.Lock()
        self._publish_lock = threading.Lock()
        self._count = 0
        self._failures = RateLimitedLog(_LOGGER)
        self._readers = self._input_readers()  # the bindings do not keep them alive
        inputs = {name + ending: self._port_with(reader) for ending, reader in self._readers.items()}
        self._state, self._extended_state = self._ports.output(), self._ports.output()
        super().__init__(
            {**inputs, f"{name}/state:o": self._state, f"{name}/stateExt:o": self._extended_state},
            (self._state, self._extended_state),
            PeriodicPublisher(f"control board {name}", period, self._publish_now),
        )

    def publish(self, data: JointData, time: float) -> None:
        """Send the states of that time, [s], to all who are connected; never waits for them."""
        with self._publish_lock:
            stamp = self._ports.stamp(self._count, time)
            self._count = self._count + 1 if self._count < _LARGEST_COUNT else 0
            for port in self._outputs:
                port.setEnvelope(stamp)
            self._ports.send(self._state, _positions(data.number_of_joints).message(data.joint_position.tolist()))
            self._ports.send(self._extended_state, JointDataMessage(data, self._family))

    def _input_readers(self) -> dict[str, PortReader]:
        """Return what reads at the ports that others write to."""
        vocab_answers, thrift_answers = VocabAnswers(self._device, self._clock), ThriftAnswers(self._device)
        readers: dict[str, PortReader] = {"/rpc:i": self._ports.requests(self._one_at_a_time(vocab_answers.answer))}
        if self._family is WireFamily.YARP_4:
            answer = self._one_at_a_time(thrift_answers.answer)
            readers["/nws/rpc:i"] = self._ports.requests(answer, {VERSION_METHOD: PROTOCOL_VERSION})
        readers["/command:i"] = self._ports.commands(self._command)
        return readers

    def _port_with(self, reader: PortReader) -> Port:
        port = self._ports.input()
        port.setOutputMode(False)
        port.setReader(reader)
        return port

    def _one_at_a_time(
        self, answer: Callable[[list[Element]], list[Element]]
    ) -> Callable[[list[Element]], list[Element]]:
        def locked(request: list[Element]) -> list[Element]:
            with self._device_lock:
                return answer(request)

        return locked

    def _command(self, items: list[Element]) -> None:
        try:
            command = StreamedCommand.from_items(items)
            with self._device_lock:
                self._check(command)
                self._device.stream(command)
        except NetworkError as error:
            self._failures.warning("control board %s: a command is refused: %s", self._name, error)
        except Exception as error:
            self._failures.warning("control board %s: the device failed: %r", self._name, error, trace=True)

    def _check(self, command: StreamedCommand) -> None:
        axes = len(self._device.axis_names)
        if command.joints is None and len(command.values) != axes:
            raise MalformedMessage(f"{command.kind.value} of all {axes} joints with {len(command.values)} numbers")
        if command.joints and max(command.joints) >= axes:
            raise MalformedMessage(f"{command.kind.value} of joint {max(command.joints)} of {axes}")

    def _publish_now(self) -> None:
        with self._device_lock:
            data = self._device.read()
        self.publish(data, self._clock())


@cache
def _positions(joints: int) -> RecurringMessages:
    """Return the messages of ``state:o``."""
    return RecurringMessages(lambda numbers: TypedList(float, numbers), joints)


class AnalogSensorsServer(PublishingServer):
    """Publishes ``<name>/measures:o`` and answers on ``<name>/rpc:o`` which sensors there are.

    Nothing is published while reading fails: clients notice by the time that passes, as they do with a real server.
    """

    def __init__(
        self,
        name: str,
        sensors: Metadata,
        read: Callable[[], Measurements],
        period: float | None = _PERIOD,
        clock: Callable[[], float] = now,
        ports: ServerPorts | None = None,
    ) -> None:
        """Serve ``sensors``, whose measurements ``read`` returns in the same order or raises.

        Args:
            name: Beginning of the names of both ports.
            sensors: The sensors of each kind.
            read: Called from the server's thread, or by `publish`.
            period: Between two messages, [s] of real time; None leaves it to the caller to `publish`.
            clock: The time of the messages, [s].
            ports: Whose ports are opened; None: those of this package.
        """
        self._name = name
        self._sensors = sensors
        self._read = read
        self._clock = clock
        self._ports = ports or ServerPorts()
        self._port = self._ports.output()
        rpc, self._requests = self._ports.input(), self._ports.requests(self._answer)
        rpc.setReader(self._requests)  # the bindings do not keep it alive
        self._sizes = sizes_of({})  # of the last message: the next one will hardly have others
        self._messages = measurements_messages(self._sizes)
        self._count = 0
        self._is_failing = False
        ports_by_name = {f"{name}/measures:o": self._port, f"{name}/rpc:o": rpc}
        super().__init__(ports_by_name, [self._port], PeriodicPublisher(f"sensors {name}", period, self.publish))

    def publish(self, time: float | None = None) -> bool:
        """Read the sensors and send what they measured; False, and a line once, if reading fails.

        Args:
            time: Of the message's Stamp, [s]; None: now.
        """
        message = self._message()
        if message is None:
            return False
        stamp = self._ports.stamp(self._count, self._clock() if time is None else time)
        self._count = (self._count + 1) % 2**31
        self._port.setEnvelope(stamp)
        self._ports.send(self._port, message)
        return True

    def _message(self) -> RecurringMessage | None:
        try:
            message = self._message_of(self._read())
        except Exception as error:
            if not self._is_failing:
                _LOGGER.error("%s publishes nothing: %s: %s", self._name, type(error).__name__, error)
            self._is_failing = True
            return None
        if self._is_failing:
            _LOGGER.warning("%s publishes again", self._name)
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
