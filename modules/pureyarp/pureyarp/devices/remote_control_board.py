"""Reach a control board in another process: its ports, its state, its requests."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pureyarp.data.streams import Stamp
from pureyarp.data.values import Bottle, Searchable
from pureyarp.devices.control_board_messages import CommandKind, JointData, StreamedCommand, joint_data_in
from pureyarp.devices.control_board_protocol import Dialect, Feature, JointSelection, NotInDialect, Request, Verb
from pureyarp.devices.device_ports import (
    ConnectionKeeper,
    LastMessage,
    LatchedErrorLog,
    ReplyBytes,
    TimedRpcClient,
    carrier,
    number,
    switch,
    text,
)
from pureyarp.devices.thrift_dialect import ThriftDialect
from pureyarp.devices.vocab_dialect import VocabDialect
from pureyarp.errors import NetworkError, PeerUnreachable, SettingsError
from pureyarp.network.buffered_ports import BufferedPortBottle, NewestMessagePort, write_object
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.network import Network
from pureyarp.network.ports import read_envelope, speak
from pureyarp.network.settings import current_settings
from pureyarp.wire.binary import Sendable
from pureyarp.wire.elements import Element, WireFamily

_DIALECTS: dict[WireFamily, type[Dialect]] = {WireFamily.YARP_3: VocabDialect, WireFamily.YARP_4: ThriftDialect}
_TIMEOUT = 0.5  # [s]
_log = logging.getLogger("pureyarp")


@dataclass(frozen=True, slots=True)
class MeasuredJoints:
    """Values of some joints, of one message of their board.

    Attributes:
        values: One for each joint, in the unit of their field.
        times: When each was measured, [s] on the board's clock.
    """

    values: list[float]
    times: list[float]


class ControlBoard(ABC):
    """The joints of one board, or of several made into one; all methods log why they fail, and none raises."""

    @property
    @abstractmethod
    def axes(self) -> int:
        """Return how many joints there are."""

    @abstractmethod
    def ask(self, feature: Feature, of: JointSelection = None, controller: int | None = None) -> list[Element] | None:
        """Return the values that the board answers: of one joint a number each, of several a list each."""

    @abstractmethod
    def order(
        self, feature: Feature, of: JointSelection = None, values: Sequence[Element] = (), controller: int | None = None
    ) -> bool:
        """Send an order; True when the board agreed. ``values`` has one element for each joint, or those of one."""

    @abstractmethod
    def stream(self, kind: CommandKind, of: JointSelection, values: Sequence[float]) -> bool:
        """Send set-points [deg, deg/s, N m, % or A] without waiting; whether they are followed is not known."""

    @abstractmethod
    def measured(self, field: str, of: JointSelection = None) -> MeasuredJoints | None:
        """Return the last values of a field of `JointData`; None when they are too old or not valid."""


@dataclass(frozen=True, slots=True)
class RemoteControlBoardOptions:
    """Options of a client of a control board.

    Attributes:
        local: Beginning of the names of the client's ports.
        remote: Beginning of the names of the board's ports.
        dialect: How the board is spoken to.
        state_carrier: Of the state.
        command_carrier: Of the streamed commands.
        timeout: After which the last state counts as too old, [s].
        strict_single: Whether no command of a single joint may be replaced by a newer one before it left.
        strict_several: The same for commands of several joints.
        checks_protocol: Whether a board with another version of the protocol is refused.
    """

    local: str
    remote: str
    dialect: Dialect
    state_carrier: str
    command_carrier: str
    timeout: float = _TIMEOUT
    strict_single: bool = True
    strict_several: bool = False
    checks_protocol: bool = True

    @classmethod
    def read(cls, config: Searchable) -> RemoteControlBoardOptions:
        """Return what a configuration says; ``family`` (3 or 4) is ours, all else as in YARP."""
        dialect = _dialect(config)
        state_carrier = carrier(config, "carrier", dialect.default_carrier)
        has_two = dialect.family is WireFamily.YARP_4
        strict = switch(config, "writeStrict")
        return cls(
            local=text(config, "local"),
            remote=text(config, "remote"),
            dialect=dialect,
            state_carrier=state_carrier,
            command_carrier=carrier(config, "carrier_cmd", dialect.default_carrier) if has_two else state_carrier,
            timeout=number(config, "timeout", _TIMEOUT),
            strict_single=True if strict is None else strict,
            strict_several=False if strict is None else strict,
            checks_protocol=not config.check("ignoreProtocolCheck"),
        )


def _dialect(config: Searchable) -> Dialect:
    if not config.check("family"):
        return _DIALECTS[current_settings().family]()
    family = config.find("family").toString()
    try:
        return _DIALECTS[WireFamily(family)]()
    except ValueError as error:
        raise SettingsError(f"family={family} is no family of YARP (valid: 3, 4)") from error


class ControlBoardPorts:
    """The ports for requests, commands and state; opened and connected in the order of the dialect."""

    def __init__(self, options: RemoteControlBoardOptions) -> None:
        """Open nothing yet."""
        self._options = options
        self._rpc = TimedRpcClient()
        self._command = BufferedPortBottle()
        self._state = NewestMessagePort()
        self.state = JointStateReader(self._state)
        self._sending = threading.Lock()

    def open(self) -> None:
        """Open the ports, or raise NetworkError."""
        local = self._options.local
        for port in (self._rpc, self._command, self._state):
            speak(port, self._options.dialect.family)
        opened = self._in_order(
            lambda: self._rpc.open(local + self._options.dialect.rpc_client),
            lambda: self._command.open(f"{local}/command:o"),
            lambda: self._state.open(f"{local}/stateExt:i"),
        )
        if not opened:
            raise NetworkError(f"the ports of {local} could not be opened")

    def board_is_there(self) -> bool:
        """Ask the board's port whether it lives, without a line in the log."""
        return Network.exists(self._board_state)

    def connect(self) -> None:
        """Make all three connections, or raise PeerUnreachable."""
        connected = self._in_order(self._connect_rpc, self._connect_command, self._connect_state)
        if not connected:
            raise PeerUnreachable(f"problem connecting to {self._options.remote}, is the remote device available?")

    def are_connected(self) -> bool:
        """Return whether requests and commands have a way to the board, and state comes or at least has a way."""
        if self._rpc.getOutputCount() == 0 or self._command.getOutputCount() == 0:
            return False
        return self.state.silence() < self._options.timeout or self._state_has_a_way()

    def ask(self, items: list[Element]) -> list[Element]:
        """Send a request and return the reply, or raise PeerUnreachable."""
        reply = Bottle()
        self._rpc.ask(items, reply, self._options.remote)
        return reply.items

    def ask_bytes(self, items: list[Element]) -> bytes:
        """Send a request and return the bytes of the reply, or raise PeerUnreachable."""
        reply = ReplyBytes()
        self._rpc.ask(items, reply, self._options.remote)
        return reply.data

    def send(self, message: Sendable, strict: bool) -> None:
        """Send a command; unless ``strict``, a newer one may replace it before it left."""
        with self._sending:
            write_object(self._command, message, strict)

    def close(self) -> None:
        """Close the ports; threads that wait for a reply are woken."""
        for port in (self._rpc, self._command, self._state):
            port.interrupt()
            port.close()

    def _in_order(self, *rpc_command_state: Callable[[], bool]) -> bool:
        rpc, *others = rpc_command_state
        steps = [rpc, *others] if self._options.dialect.rpc_comes_first else [*others, rpc]
        return all(step() for step in steps)

    def _connect_rpc(self) -> bool:
        return self._rpc.addOutput(self._options.remote + self._options.dialect.rpc_server)

    def _connect_command(self) -> bool:
        return self._command.addOutput(f"{self._options.remote}/command:i", self._options.command_carrier)

    def _connect_state(self) -> bool:
        return Network.connect(self._board_state, self._state.getName(), self._options.state_carrier, True)

    def _state_has_a_way(self) -> bool:
        return Network.isConnected(self._board_state, self._state.getName(), self._options.state_carrier, True)

    @property
    def _board_state(self) -> str:
        return f"{self._options.remote}/stateExt:o"


@dataclass(frozen=True, slots=True, eq=False)
class ReceivedState:
    """A state and its time.

    Attributes:
        joints: What was measured.
        measured_at: [s], on the board's clock; 0 if it does not say.
    """

    joints: JointData
    measured_at: float


class JointStateReader:
    """Reads the messages of ``stateExt:o``."""

    def __init__(self, port: NewestMessagePort) -> None:
        """Read from a port, which may still be closed."""
        self._port = port
        self._last = LastMessage(port, "state", self._state)

    def fresh(self, timeout: float) -> ReceivedState | None:
        """Return the last state unless it came longer than ``timeout`` [s] ago."""
        last = self._last.read()
        return last.content if last is not None and last.age() <= timeout else None

    def silence(self) -> float:
        """Return for how long nothing came, [s] of real time; infinite before the first message."""
        last = self._last.read()
        return float("inf") if last is None else last.silence()

    def _state(self, message: IncomingMessage) -> ReceivedState:
        stamp = Stamp()
        stamped = read_envelope(message.envelope, stamp, self._port.getName())
        return ReceivedState(_joint_data(message), stamp.getTime() if stamped else 0.0)


def _joint_data(message: IncomingMessage) -> JointData:
    usual = joint_data_in(message.payload, message.source.family) if isinstance(message.payload, bytes) else None
    return JointData.from_items(message.items()) if usual is None else usual


class RemoteControlBoard(ControlBoard):
    """A control board in another process, reached again whenever that process comes back."""

    def __init__(self, options: RemoteControlBoardOptions, ports: ControlBoardPorts | None = None) -> None:
        """Prepare; `open` reaches the board, through ports of its own unless others are given."""
        self._options = options
        self._dialect = options.dialect
        self._ports = ports or ControlBoardPorts(options)
        self._axes = 0
        self._unheard: defaultdict[str, LatchedErrorLog] = defaultdict(LatchedErrorLog)
        self._keeper = ConnectionKeeper(options.remote, self._ports.are_connected, self._reach_again)

    @property
    def axes(self) -> int:
        """Return how many joints the board said it has when it was opened."""
        return self._axes

    def open(self) -> None:
        """Open ports, connect and ask who is there; raise NetworkError and leave nothing open if that fails."""
        try:
            self._ports.open()
            self._ports.connect()
            self._axes = self._introduction()
        except NetworkError:
            self._ports.close()
            raise
        self._keeper.start()

    def close(self) -> None:
        """Leave the board."""
        self._keeper.stop()
        self._ports.close()
        self._keeper.join()

    def ask(
        self, feature: Feature, of: JointSelection | str = None, controller: int | None = None
    ) -> list[Element] | None:
        """Return what the board answers; None, and a line, if it does not or will not."""
        try:
            return self._answer(Request(Verb.GET, feature, of, (), controller))
        except NetworkError as error:
            _log.error("%s: %s", self._options.remote, error)
            return None

    def order(
        self,
        feature: Feature,
        of: JointSelection | str = None,
        values: Sequence[Element] = (),
        controller: int | None = None,
    ) -> bool:
        """Send an order; False, and a line in the log, if the board does not agree."""
        try:
            self._answer(Request(Verb.SET, feature, of, values, controller))
        except NetworkError as error:
            _log.error("%s: %s", self._options.remote, error)
            return False
        return True

    def stream(self, kind: CommandKind, of: JointSelection, values: Sequence[float]) -> bool:
        """Send set-points; False, and a line, if the board takes none of this kind."""
        strict = self._options.strict_single if isinstance(of, int) else self._options.strict_several
        joints = (of,) if isinstance(of, int) else of
        try:
            message = StreamedCommand(kind, joints, tuple(values)).message(self._dialect.family)
        except NetworkError as error:
            _log.error("%s: %s", self._options.remote, error)
            return False
        self._ports.send(message, strict)
        return True

    def measured(self, field: str, of: JointSelection = None) -> MeasuredJoints | None:
        """Return values of the last state; None, and a line once, if it is too old or does not have them."""
        state = self._ports.state.fresh(self._options.timeout)
        if state is None or not state.joints.is_valid(field):
            self._unheard[field].error(
                "%s: no valid %s within %g s", self._options.remote, field, self._options.timeout
            )
            return None
        self._unheard[field].reset()
        values: list[float] = getattr(state.joints, field).tolist()
        return self._chosen(values, of, state.measured_at)

    def understands(self, verb: Verb, feature: Feature, of: JointSelection | str) -> bool:
        """Return whether boards of this family have words for a request."""
        try:
            self._dialect.encode(Request(verb, feature, of))
        except NotInDialect:
            return False
        return True

    def axis_name(self, joint: int) -> str:
        """Return the name of a joint, or raise NetworkError."""
        return str(self._answer(Request(Verb.GET, Feature.AXIS_NAME, joint))[0])

    def _chosen(self, values: list[float], of: JointSelection, time: float) -> MeasuredJoints | None:
        if of is None:
            return MeasuredJoints(values, [time] * len(values))
        joints = (of,) if isinstance(of, int) else of
        if joints and not (min(joints) >= 0 and max(joints) < len(values)):
            _log.error("%s has %d joints, there is no %s", self._options.remote, len(values), of)
            return None
        return MeasuredJoints([values[joint] for joint in joints], [time] * len(joints))

    def _answer(self, request: Request) -> list[Element]:
        return self._dialect.decode(request, self._ports.ask(self._dialect.encode(request)))

    def _introduction(self) -> int:
        if self._options.checks_protocol:
            self._dialect.check_protocol(self._ports)
        axes = self._answer(Request(Verb.GET, Feature.AXES))[0]
        if not isinstance(axes, int) or axes <= 0:
            raise NetworkError(f"{self._options.remote} says that it has {axes!r} axes")
        self._dialect.introduce(self._ports)
        return axes

    def _reach_again(self) -> bool:
        if not self._ports.board_is_there() or self._keeper.is_stopped:
            return False
        try:
            self._ports.connect()
            axes = self._introduction()
        except NetworkError:
            return False
        if axes != self._axes:
            _log.error("%s came back with %d axes instead of %d", self._options.remote, axes, self._axes)
            self._axes = axes
        return True
