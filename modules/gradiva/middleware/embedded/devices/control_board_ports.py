"""The three ports of a client of a control board, and their connections."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from gradiva.middleware.embedded.data.bottle import Bottle
from gradiva.middleware.embedded.devices.joint_state_reader import JointStateReader
from gradiva.middleware.embedded.devices.remote_control_board_options import RemoteControlBoardOptions
from gradiva.middleware.embedded.devices.reply_bytes import ReplyBytes
from gradiva.middleware.embedded.network.buffered_port import BufferedPortBottle
from gradiva.middleware.embedded.network.network import Network
from gradiva.middleware.embedded.network.rpc import RpcClient
from gradiva.middleware.embedded.wire.elements import Element
from gradiva.middleware.errors import MiddlewareError


class ControlBoardPorts:
    """The ports for requests, commands and state, which are opened and connected in the order of the dialect."""

    def __init__(self, options: RemoteControlBoardOptions) -> None:
        """Open nothing yet."""
        self._options = options
        self._rpc = RpcClient()
        self._command = BufferedPortBottle()
        self._state_port = BufferedPortBottle()
        self.state = JointStateReader(self._state_port)
        self._request = threading.Lock()
        self._sending = threading.Lock()

    def open(self) -> None:
        """Open the ports, or raise MiddlewareError."""
        local = self._options.local
        steps: list[Callable[[], bool]] = [
            lambda: self._command.open(f"{local}/command:o"),
            lambda: self._state_port.open(f"{local}/stateExt:i"),
        ]
        self._with_rpc(steps, lambda: self._rpc.open(local + self._options.dialect.rpc_client))
        if not all(step() for step in steps):
            raise MiddlewareError(f"the ports of {local} could not be opened")
        self._state_port.useCallback(self.state)

    def connect(self) -> None:
        """Make the connections that are missing, or raise PeerUnreachable."""
        steps: list[Callable[[], None]] = [self._connect_command, self._connect_state]
        self._with_rpc(steps, self._connect_rpc)
        for step in steps:
            step()

    def has_outputs(self) -> bool:
        """Tell whether requests and commands have a way to the board."""
        return self._rpc.getOutputCount() > 0 and self._command.getOutputCount() > 0

    def state_is_connected(self) -> bool:
        """Ask the board whether it sends its state here."""
        remote, local = self._remote("/stateExt:o"), self._state_port.getName()
        return Network.isConnected(remote, local, self._options.state_carrier, True)

    def forget_outputs(self) -> None:
        """Drop the ways to a board that is no longer the same, so that `connect` makes new ones."""
        self._rpc.asPort().removeOutputs()
        self._command.asPort().removeOutputs()

    def ask(self, items: list[Element]) -> list[Element]:
        """Send a request and return the reply, or raise PeerUnreachable."""
        reply = Bottle()
        self._exchange(items, reply)
        return reply.items

    def ask_bytes(self, items: list[Element]) -> bytes:
        """Send a request and return the bytes of the reply, or raise PeerUnreachable."""
        reply = ReplyBytes()
        self._exchange(items, reply)
        return reply.data

    def send(self, items: Sequence[Element], strict: bool) -> None:
        """Send a command; unless ``strict``, a newer one may replace it before it left."""
        with self._sending:
            message = self._command.prepare()
            message.items = list(items)
            self._command.write(strict)

    def close(self) -> None:
        """Close the ports; whoever waits for a reply is woken."""
        for port in (self._rpc, self._command, self._state_port):
            port.interrupt()
            port.close()
