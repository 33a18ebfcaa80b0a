"""Analog sensors in another process."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.middleware.analog_sensors import (
    MeasurementsReader,
    SensorClass,
    SensorMeasurement,
    SensorMetadata,
    metadata_from_items,
)
from pureyarp.data.values import Bottle, Searchable
from pureyarp.devices.complaint import Complaint
from pureyarp.devices.connection_keeper import ConnectionKeeper
from pureyarp.devices.last_message import LastMessage, Received
from pureyarp.devices.mas_status import (
    MAS_ERROR,
    MAS_OK,
    MAS_TIMEOUT,
    MAS_WAITING_FOR_FIRST_READ,
)
from pureyarp.devices.parameters import carrier, number, text
from pureyarp.devices.question_port import QuestionPort
from pureyarp.errors import NetworkError, PeerUnreachable
from pureyarp.network.buffered_ports import NewestMessagePort
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.network import Network
from pureyarp.wire.elements import PlainList

_TIMEOUT = 0.02  # [s]
_SILENCE = 0.5  # [s] after which the server is asked whether it still sends here


@dataclass(frozen=True, slots=True)
class AnalogSensorsClientOptions:
    """What a client of analog sensors is opened with.

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


Measurements = dict[SensorClass, tuple[SensorMeasurement, ...]]


class AnalogSensorsClient:
    """Analog sensors in another process, reached again whenever that process comes back."""

    def __init__(self, options: AnalogSensorsClientOptions) -> None:
        """Prepare; `open` reaches the server."""
        self._options = options
        self._rpc = QuestionPort()
        self._port = NewestMessagePort()
        self._metadata: dict[SensorClass, tuple[SensorMetadata, ...]] = {}
        self._reader = MeasurementsReader()
        self._last = LastMessage(self._port, "measurements", self._measurements)
        self._late = Complaint()
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
            self._late.say("%s: no data received in the last %.3f s", self._options.remote, silence)
            return MAS_TIMEOUT
        self._late.settle()
        return MAS_OK if 0 <= index < len(last.content.get(kind, ())) else MAS_ERROR

    def _measurements(self, message: IncomingMessage) -> Measurements:
        payload, family = message.payload, message.source.family
        usual = self._reader.usual(payload, family) if isinstance(payload, bytes) else None
        return self._reader.from_items(message.items()) if usual is None else usual

    def _open_ports(self) -> None:
        local = self._options.local
        if not (self._rpc.open(f"{local}/rpc:i") and self._port.open(f"{local}/measures:i")):
            raise NetworkError(f"the ports of {local} could not be opened")

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
