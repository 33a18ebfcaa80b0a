"""The three ports of a client of a control board, and their connections."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pureyarp.data.values import Bottle
from pureyarp.devices.joint_state_reader import JointStateReader
from pureyarp.devices.question_port import QuestionPort
from pureyarp.devices.remote_control_board_options import RemoteControlBoardOptions
from pureyarp.devices.reply_bytes import ReplyBytes
from pureyarp.errors import NetworkError, PeerUnreachable
from pureyarp.network.buffered_ports import BufferedPortBottle, NewestMessagePort, write_object
from pureyarp.network.network import Network
from pureyarp.network.ports import speak
from pureyarp.wire.binary import Sendable
from pureyarp.wire.elements import Element


class ControlBoardPorts:
    """The ports for requests, commands and state; opened and connected in the order of the dialect."""

    def __init__(self, options: RemoteControlBoardOptions) -> None:
        """Open nothing yet."""
        self._options = options
        self._rpc = QuestionPort()
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
        """Tell whether requests and commands have a way to the board, and state comes or at least has a way."""
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
        """Close the ports; whoever waits for a reply is woken."""
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
