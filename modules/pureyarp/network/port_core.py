"""A port without an interface for its owner: a name, a listening socket, connections in and out."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import replace

from pureyarp.errors import NetworkError
from pureyarp.network.acceptor import Acceptor, listen
from pureyarp.network.administration import Administration
from pureyarp.network.byte_stream import PeerGone, PeerStalled
from pureyarp.network.contact import Contact
from pureyarp.network.current_settings import current_settings
from pureyarp.network.incoming_message import IncomingMessage, MessageHandler
from pureyarp.network.input_connection import InputConnection
from pureyarp.network.line_connection import LineProtocol
from pureyarp.network.log import log
from pureyarp.network.open_ports import open_ports
from pureyarp.network.outgoing_message import OutgoingMessage
from pureyarp.network.port_farewell import ask_senders_to_disconnect
from pureyarp.network.port_inputs import PortInputs
from pureyarp.network.port_lines import PortLines
from pureyarp.network.port_outputs import PortOutputs, Reply
from pureyarp.network.port_registration import NameInUse, PortRegistration, checked_name
from pureyarp.network.port_wiring import connect_port, disconnect_port
from pureyarp.network.settings import NetworkSettings
from pureyarp.network.transferable import Sent
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.binary import PortCommand, data_command, decode_list
from pureyarp.wire.elements import Element, WireFamily, encode_vocab
from pureyarp.wire.text import from_text

_JOIN_PATIENCE = 1.0  # [s] for a thread to end


class PortCore:
    """Opens and closes, connects and administers itself; hands data to ``handler`` and sends what it is given.

    Attributes:
        settings: Of the network, taken when the port opens unless they are given.
        name: Full name, or the last one that it had, or that another port has; empty before.
        contact: Name and address, or the last ones that it had; invalid before.
        handler: Takes the messages; without one they are left unread.
        only_stores: Whether the handler does nothing but store, at once: one thread then serves all such ports.
        allows_inputs: Whether data is taken.
        allows_outputs: Whether connections to other ports may be added.
        is_rpc: Whether at most one of them.
        properties: What administrators have left here.
        envelope: Text sent beside every message from now on; empty for none.
        complaint: Says what peers do wrong; a flood of it must not fill the log.
    """

    def __init__(
        self,
        settings: NetworkSettings | None = None,
        handler: MessageHandler | None = None,
        line_protocols: Mapping[bytes, LineProtocol] | None = None,
    ) -> None:
        self._given_settings = settings
        self.settings = settings or NetworkSettings()
        self.name = ""
        self.contact = Contact()
        self.handler = handler
        self.only_stores = False
        self.allows_inputs = True
        self.allows_outputs = True
        self.is_rpc = False
        self.properties: dict[str, list[Element]] = {}
        self.envelope = ""
        self.complaint = RateLimitedLog(log)
        self.inputs = PortInputs(self.settings.limits.most_connections)
        self.outputs = PortOutputs()
        self._line_protocols = dict(line_protocols or {})
        self._administration = Administration(self)
        self._lines = PortLines(self)
        self._registration: PortRegistration | None = None
        self._acceptor: Acceptor | None = None
        self._lifecycle = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Tell whether the port listens."""
        return self._acceptor is not None

    @property
    def has_outputs(self) -> bool:
        """Tell whether anybody is sent to."""
        return len(self.outputs) > 0

    @property
    def port_number(self) -> int:
        """Return the TCP port where it listens."""
        return self.contact.getPort()

    def speak(self, family: WireFamily) -> None:
        """Speak this family first, whatever the settings of the process say; for a port that is still closed."""
        self._given_settings = replace(self._given_settings or current_settings(), family=family)

    def open(self, name: str, port_number: int = -1) -> None:
        """Register a name (empty or ``...``: one that the name server makes up) and listen; at any TCP port for -1.

        Raises:
            NameServerUnreachable: Nobody gives out names.
            NameInUse: A living port has the name.
            NetworkError: The name is none, or the port is open already.
        """
        self._take_settings()
        registration = PortRegistration(self.settings)
        full_name = checked_name(name, self.settings)
        try:
            listener, contact = registration.open(full_name, port_number)
        except NameInUse:
            self.name = full_name
            raise
        try:
            self._listen(listener, contact)
            self._registration = registration
            registration.announce(contact)
        except BaseException:
            self.close()
            raise

    def open_at(self, contact: Contact) -> None:
        """Listen at the address of a contact, under its name, without registering it; port 0 takes any free one.

        Raises:
            OSError: The address cannot be listened at.
            NetworkError: The port is open already.
        """
        self._take_settings()
        listener = listen(contact.getHost(), max(contact.getPort(), 0))
        number = int(listener.getsockname()[1])
        self._listen(listener, Contact(contact.getRegName(), contact.getCarrier() or "tcp", contact.getHost(), number))

    def close(self) -> None:
        """Take leave of all peers, stop listening, unregister; what waits for a message has to be woken before."""
        with self._lifecycle:
            acceptor, self._acceptor = self._acceptor, None
            if acceptor is None:
                return
            open_ports.discard(self)
            self.outputs.close()
            ask_senders_to_disconnect(self)
            acceptor.close()
            self.inputs.close(_JOIN_PATIENCE)
            if self._registration is not None:
                self._registration.close()
            self._registration = None

    def connect(self, destination: str, carrier: str = "") -> str:
        """Add an output to ``/name`` or ``carrier://name`` and return the line that says so, or raise why not."""
        return connect_port(self, destination, carrier)

    def disconnect(self, peer: str) -> str:
        """Remove the output to a peer, or the inputs from it, or raise NetworkError if there are none."""
        return disconnect_port(self, peer)

    def offer(self, sent: Sent) -> bool:
        """Send to all outputs without waiting for any; False if a peer turned out to be dead."""
        return self.outputs.offer(self._message(False, sent))

    def send(self, sent: Sent, timeout: float | None = None) -> bool:
        """Send to all outputs and wait until all have taken it; False if one is dead or too slow ([s])."""
        return self.outputs.send(self._message(False, sent), _deadline(timeout))

    def call(self, sent: Sent, timeout: float | None = None) -> tuple[bool, list[Reply]]:
        """Send to all outputs and return whether all went well, and their replies."""
        return self.outputs.call(self._message(True, sent), _deadline(timeout))

    def line_protocol(self, header: bytes) -> LineProtocol | None:
        """Return who serves connections that begin with these 8 bytes."""
        return next((serve for start, serve in self._line_protocols.items() if header.startswith(start)), None)

    def introduced(self, connection: InputConnection) -> None:
        """Take notice of who is at the other end of a new connection."""
        self.inputs.introduced(connection)

    def forget(self, connection: InputConnection) -> None:
        """Let go of a connection that has ended."""
        self.inputs.forget(connection)

    def handle(self, command: PortCommand, payload: bytes | str, connection: InputConnection) -> Sent | None:
        """Do what a message wants and return the reply."""
        if command.is_data:
            return self._deliver(command, payload, connection)
        if command.character == "a":
            return self._administer(payload, connection)
        connection.tell(self._lines.answer(command))
        return None

    def _message(self, wants_reply: bool, sent: Sent) -> OutgoingMessage:
        return OutgoingMessage(data_command(wants_reply, self.envelope), sent)

    def _take_settings(self) -> None:
        if self.is_open:
            raise NetworkError(f"{self.name} is open already")
        self.settings = self._given_settings or current_settings()
        self.inputs = PortInputs(self.settings.limits.most_connections)
        self.outputs = PortOutputs()

    def _listen(self, listener: socket.socket, contact: Contact) -> None:
        self.name, self.contact = contact.getRegName(), contact
        self._acceptor = Acceptor(listener, self.name, self._accept)
        self._acceptor.start()
        open_ports.add(self)

    def _accept(self, sock: socket.socket, peer_host: str, peer_port: int) -> None:
        connection = InputConnection(self, sock, peer_host, peer_port)
        if not self.inputs.admit(connection):
            most = self.settings.limits.most_connections
            self.complaint.warning("%s: a connection is refused: there are %d already", self.name, most)
            sock.close()
            return
        try:
            connection.start()
        except RuntimeError as error:  # no further thread
            log.error("%s: a connection is refused: %s", self.name, error)
            self.inputs.forget(connection)
            sock.close()

    def _deliver(self, command: PortCommand, payload: bytes | str, connection: InputConnection) -> Sent | None:
        wants_reply = command.character == "d"
        reply: Sent | None = None
        if self.handler is not None and self.allows_inputs:
            reply = self._handled(self.handler, IncomingMessage(payload, command.argument, wants_reply, connection))
        if not wants_reply:
            return None
        return [] if reply is None else reply  # never leave the sender without an answer

    def _handled(self, handler: MessageHandler, message: IncomingMessage) -> Sent | None:
        try:
            return handler(message)
        except (PeerGone, PeerStalled):
            raise
        except NetworkError as error:
            self.complaint.warning("%s: a message from %s was not taken: %s", self.name, message.source.sender, error)
            return [encode_vocab("fail"), str(error)]
        except Exception as error:
            log.exception("%s: a message from %s was not taken", self.name, message.source.sender)
            return [encode_vocab("fail"), str(error) or type(error).__name__]

    def _administer(self, payload: bytes | str, connection: InputConnection) -> Sent:
        if isinstance(payload, str):
            return self._administration.answer(from_text(payload))
        decoded = decode_list(payload, connection.family)
        connection.family = decoded.family
        return self._administration.answer(decoded.items)


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout
