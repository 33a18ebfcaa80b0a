"""Run a port: its name, its listening socket, its connections in and out.

`PortCore` has no interface for its owner; `ports.py` and `buffered_ports.py` give it one. Commands to the port itself
(`port_commands.py`) do not reach the owner.
"""

from __future__ import annotations

import atexit
import contextlib
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import replace

from pureyarp.errors import NetworkError, PeerUnreachable
from pureyarp.network.byte_stream import LineProtocol, PeerGone, PeerStalled
from pureyarp.network.channels import IncomingMessage, MessageHandler
from pureyarp.network.inputs import Acceptor, InputConnection, PortInputs, listen
from pureyarp.network.outputs import OutgoingMessage, PortOutputs, Reply, open_output
from pureyarp.network.peers import NameClient, administer
from pureyarp.network.port_commands import Administration, answer_line
from pureyarp.network.registrations import NameInUse, PortRegistration, checked_name
from pureyarp.network.settings import Contact, NetworkSettings, current_settings, log
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire import (
    CARRIERS,
    Element,
    PortCommand,
    Sent,
    WireFamily,
    data_command,
    decode_list,
    encode_vocab,
    from_text,
)

_JOIN_TIMEOUT = 1.0  # [s] for a thread to end


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
        properties: Set by administrators.
        envelope: Text sent beside every message from now on; empty for none.
        peer_faults: Logs faults of peers at a limited rate.
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
        self.peer_faults = RateLimitedLog(log)
        self.inputs = PortInputs(self.settings.limits.most_connections)
        self.outputs = PortOutputs()
        self._line_protocols = dict(line_protocols or {})
        self._administration = Administration(self)
        self._registration: PortRegistration | None = None
        self._acceptor: Acceptor | None = None
        self._lifecycle = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Return whether the port listens."""
        return self._acceptor is not None

    @property
    def has_outputs(self) -> bool:
        """Return whether there is an output."""
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
            NameServerUnreachable: No name server answers.
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
        """Close all connections, stop listening, unregister; wake waiting readers before."""
        with self._lifecycle:
            acceptor, self._acceptor = self._acceptor, None
            if acceptor is None:
                return
            open_ports.discard(self)
            self.outputs.close()
            ask_senders_to_disconnect(self)
            acceptor.close()
            self.inputs.close(_JOIN_TIMEOUT)
            if self._registration is not None:
                self._registration.close()
            self._registration = None

    def connect(self, destination: str, carrier: str = "") -> str:
        """Add an output to ``/name`` or ``carrier://name``, in the place of an older one.

        Returns:
            The line that an administrator reads about it.

        Raises:
            NetworkError: The connection cannot be made; carries the line that says why.
        """
        wanted = Contact.fromString(destination)
        carrier = carrier or wanted.getCarrier()
        shown = f"{carrier}:/{wanted.getName()}" if carrier else wanted.getName()
        self.outputs.drop_dead()
        self._refuse_outputs()
        receiver = self._receiver(wanted, shown)
        if (older := self.outputs.named(receiver.getName())) is not None:
            self.outputs.remove(older)
        spoken = CARRIERS.get(carrier or receiver.getCarrier(), None if carrier else CARRIERS["tcp"])
        if spoken is None:
            log.warning("%s: the carrier %s is not spoken; %s are", self.name, carrier, ", ".join(CARRIERS))
            raise NetworkError(f"Cannot connect to {shown}")
        try:
            self.outputs.add(open_output(self.name, receiver, spoken, self.settings))
        except PeerUnreachable as error:
            log.warning("%s: %s", self.name, error)
            raise NetworkError(f"Cannot connect to {shown}") from error
        return f"Added connection from {self.name} to {shown}"

    def disconnect(self, peer: str) -> str:
        """Remove the output to a peer, or else the inputs from it, and return the line about it.

        Raises:
            NetworkError: There is no connection with this peer.
        """
        name = Contact.fromString(peer).getName()
        output = self.outputs.named(name)
        if output is not None:
            self.outputs.remove(output)
            return f"Removed connection from {self.name} to {name}"
        inputs = self.inputs.named(name)
        for connection in inputs:
            connection.close()
            self.inputs.forget(connection)
        if not inputs:
            raise NetworkError(
                f"Could not find an outgoing connection to {name}\r\nCould not find an incoming connection from {name}"
            )
        return f"Removing connection from {name} to {self.name}"

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
        """Return the protocol of connections that begin with these 8 bytes, None for YARP's carriers."""
        return next((serve for start, serve in self._line_protocols.items() if header.startswith(start)), None)

    def introduced(self, connection: InputConnection) -> None:
        """Note the sender of a new connection that has introduced itself."""
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
        connection.send_lines(answer_line(self, command))
        return None

    def _refuse_outputs(self) -> None:
        if not self.allows_outputs:
            raise NetworkError("Outputs not allowed")
        if self.is_rpc and len(self.outputs):
            raise NetworkError("RPC output already connected")

    def _receiver(self, wanted: Contact, shown: str) -> Contact:
        if wanted.isValid():
            return wanted
        try:
            found = NameClient(self.settings).query(wanted.getName())
        except NetworkError as error:
            log.warning("%s: %s", self.name, error)
            found = Contact()
        if not found.isValid():
            raise NetworkError(f"Do not know how to connect to {shown}")
        return found

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
            self.peer_faults.warning("%s: a connection is refused: there are %d already", self.name, most)
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
        return [] if reply is None else reply  # the sender must get an answer

    def _handled(self, handler: MessageHandler, message: IncomingMessage) -> Sent | None:
        try:
            return handler(message)
        except (PeerGone, PeerStalled):
            raise
        except NetworkError as error:
            self.peer_faults.warning("%s: a message from %s was not taken: %s", self.name, message.source.sender, error)
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


class OpenPorts:
    """Remembers ports until they are closed, so that none stays registered when its program forgets to close it."""

    def __init__(self) -> None:
        self._ports: list[PortCore] = []
        self._lock = threading.Lock()

    def add(self, port: PortCore) -> None:
        """Remember a port that has been opened."""
        with self._lock:
            self._ports.append(port)

    def discard(self, port: PortCore) -> None:
        """Forget a port that is being closed."""
        with self._lock:
            self._ports = [other for other in self._ports if other is not port]

    def close_all(self) -> None:
        """Close the ports that are still open, the youngest first."""
        while self._ports:
            port = self._ports[-1]
            port.close()
            self.discard(port)  # one that was closed while it opened does not do so itself


open_ports = OpenPorts()
atexit.register(open_ports.close_all)


_CLOSE_TIMEOUT = 0.5  # [s] for a sender to obey


def ask_senders_to_disconnect(port: PortCore) -> None:
    """Have every port that sends to this one remove its output; those that do not answer are left alone."""
    names = NameClient(port.settings, timeout=_CLOSE_TIMEOUT)
    senders = {connection.sender for connection in port.inputs.all() if connection.is_rooted}
    for sender in sorted(senders - {port.name}):
        with contextlib.suppress(NetworkError):
            contact = names.query(sender)
            if contact.isValid():
                _ask_to_disconnect(contact, port)


def _ask_to_disconnect(sender: Contact, port: PortCore) -> None:
    deletion: list[Element] = [encode_vocab("del"), port.name]
    administer(sender, deletion, _CLOSE_TIMEOUT, port.settings)
