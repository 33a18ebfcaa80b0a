"""A control board on the network: the ports of one part of a robot, before a driver or a simulated part."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import cache

from gradiva.middleware import yarp
from gradiva.middleware.bottles import CommandReader, RequestReader
from gradiva.middleware.publishing import PeriodicPublisher, send_ready
from pureyarp.devices.control_board_device import ControlBoardDevice
from pureyarp.devices.control_board_messages import JointData, JointDataMessage, StreamedCommand
from pureyarp.devices.thrift_dialect import PROTOCOL_VERSION, VERSION_METHOD, ThriftAnswers
from pureyarp.devices.vocab_dialect import VocabAnswers
from pureyarp.errors import MalformedMessage, NetworkError
from pureyarp.network.settings import current_settings
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.elements import Element, TypedList, WireFamily
from pureyarp.wire.recurring_messages import RecurringMessages

_LARGEST_COUNT = 2**31 - 1
_logger = logging.getLogger("gradiva.yarp")


class ControlBoardServer:
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
    """

    def __init__(
        self,
        name: str,
        device: ControlBoardDevice,
        period: float | None = 0.01,
        family: WireFamily | None = None,
        clock: Callable[[], float] = yarp.now,
    ) -> None:
        self._name = name
        self._device = device
        self._family = family or current_settings().family
        self._clock = clock
        self._device_lock = threading.Lock()
        self._publish_lock = threading.Lock()
        self._count = 0
        self._complaint = RateLimitedLog(_logger)
        self._inputs = self._input_ports()
        self._state = yarp.BufferedPortBottle()
        self._extended_state = yarp.BufferedPortBottle()
        self._publisher = PeriodicPublisher(f"control board {name}", period, self._publish_now)

    def __enter__(self) -> ControlBoardServer:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Open the ports and begin to publish; a server that was closed cannot be opened again.

        Raises:
            NetworkError: A port cannot be opened; none stays open.
        """
        ports = {**{name: port for name, (port, _) in self._inputs.items()}, **self._outputs}
        for ending, port in ports.items():
            if not port.open(self._name + ending):
                self.close()
                raise NetworkError(f"control board {self._name}: the port {self._name}{ending} cannot be opened")
        self._publisher.start()

    def close(self) -> None:
        """Close the ports and wait for the publishing thread."""
        self._publisher.stop()
        for port in [*self._outputs.values(), *(port for port, _ in self._inputs.values())]:
            port.interrupt()
            port.close()

    @property
    def has_readers(self) -> bool:
        """Whether somebody is connected to a state."""
        return any(int(port.getOutputCount()) > 0 for port in self._outputs.values())

    def publish(self, data: JointData, time: float) -> None:
        """Send the states of that time, [s], to all who are connected; never waits for them."""
        with self._publish_lock:
            stamp = yarp.Stamp(self._count, time)
            self._count = self._count + 1 if self._count < _LARGEST_COUNT else 0
            for port in self._outputs.values():
                port.setEnvelope(stamp)
            send_ready(self._state, _positions(data.number_of_joints).message(data.joint_position.tolist()))
            send_ready(self._extended_state, JointDataMessage(data, self._family))

    @property
    def _outputs(self) -> dict[str, yarp.BufferedPortBottle]:
        return {"/state:o": self._state, "/stateExt:o": self._extended_state}

    def _input_ports(self) -> dict[str, tuple[yarp.Port, yarp.PortReader]]:
        """Return the ports that others write to; their readers are kept alive beside them."""
        vocab_answers, thrift_answers = VocabAnswers(self._device, self._clock), ThriftAnswers(self._device)
        readers: dict[str, yarp.PortReader] = {"/rpc:i": RequestReader(self._one_at_a_time(vocab_answers.answer))}
        if self._family is WireFamily.YARP_4:
            answer = self._one_at_a_time(thrift_answers.answer)
            readers["/nws/rpc:i"] = RequestReader(answer, {VERSION_METHOD: PROTOCOL_VERSION})
        readers["/command:i"] = CommandReader(self._command)
        return {ending: (_port_with(reader), reader) for ending, reader in readers.items()}

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
            self._complaint.warning("control board %s: a command is refused: %s", self._name, error)
        except Exception as error:
            self._complaint.warning("control board %s: the device failed: %r", self._name, error, trace=True)

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


def _port_with(reader: yarp.PortReader) -> yarp.Port:
    port = yarp.Port()
    port.setOutputMode(False)
    port.setReader(reader)
    return port
