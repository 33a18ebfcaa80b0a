"""Run a port: its name, its listening socket, its connections in and out, commands to the port itself.

`PortCore` has no interface for its owner; `ports.py` and `buffered_ports.py` give it one. Commands to the port itself
(`Administration`, `answer_line`) do not reach the owner.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import platform
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from pureyarp.errors import NetworkError, PeerUnreachable
from pureyarp.network.byte_stream import LineProtocol, PeerGone, PeerStalled
from pureyarp.network.channels import IncomingMessage, MessageHandler
from pureyarp.network.inputs import Acceptor, InputConnection, PortInputs, listen
from pureyarp.network.outputs import OutgoingMessage, OutputConnection, PortOutputs, Reply, open_output
from pureyarp.network.peers import NameClient, request
from pureyarp.network.registrations import NameInUse, PortRegistration, checked_name
from pureyarp.network.settings import Contact, NetworkSettings, current_settings, log
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire import (
    CARRIERS,
    Dictionary,
    Element,
    PortCommand,
    Sent,
    Vocab32,
    WireFamily,
    data_command,
    decode_list,
    decode_vocab,
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
    request(sender, deletion, administrative=True, carrier="text_ack", timeout=_CLOSE_TIMEOUT, settings=port.settings)


_LINE_HELP = (
    "This is a YARP port. Here are the commands it responds to:",
    "*       Gives a description of this port",
    "d       Signals the beginning of input for the port's owner",
    "D       Like d, but no reply is wanted",
    "a       Signals the beginning of an administrative message",
    "q       Disconnects",
    "?       Gives this help",
    "/port   Requests to send output to /port",
    "!/port  Requests to stop sending output to /port",
    "~/port  Requests to stop receiving input from /port",
)


def answer_line(port: PortCore, command: PortCommand) -> list[str]:
    """Carry out a command to a port that is a single line, and return the lines of the answer."""
    if command.character == "*":
        return lines_about(port)
    if command.character == "?":
        return list(_LINE_HELP)
    if command.character == "q":
        return []
    try:
        return [_change(port, command)]
    except NetworkError as error:
        return str(error).split("\r\n")


def _change(port: PortCore, command: PortCommand) -> str:
    if command.character in ("!", "~"):
        return port.disconnect(command.argument)
    if command.character == "/" or "://" in command.text:
        return port.connect(command.text)
    return f"Port {port.name} does not know the command '{command.text}'; '?' lists the commands"


_HELP = (
    "[help]                  # give this help",
    "[ver]                   # report protocol version information",
    '[add] "/portname"       # add an output connection',
    '[add] "/portname" "car" # add an output with a given carrier',
    '[del] "/portname"       # remove an input or output connection',
    "[list] [in]             # list input connections",
    "[list] [out]            # list output connections",
    '[list] [in]  "/portname" # give details for input',
    '[list] [out] "/portname" # give details for output',
    "[prop] [get]            # get all user-defined port properties",
    '[prop] [get] "prop"     # get a user-defined port property (prop, val)',
    '[prop] [set] "prop" val # set a user-defined port property (prop, val)',
    '[prop] [get] "/portname" # get Qos properties of a connection to/from a port',
    '[prop] [set] "/portname" # set Qos properties of a connection to/from a port',
)
_MOST_PROPERTIES = 256

_OK: list[Element] = [encode_vocab("ok")]
_FAIL: list[Element] = [encode_vocab("fail")]


class Administration:
    """Answers administrative Bottles."""

    def __init__(self, port: PortCore) -> None:
        self._port = port
        self._answers: dict[str, Callable[[list[Element]], list[Element]]] = {
            "ver": lambda arguments: [encode_vocab("ver"), 1, 2, 3],
            "help": lambda arguments: [encode_vocab("many"), *_HELP],
            "add": self._add,
            "del": self._delete,
            "list": self._list,
            "prop": self._properties,
            "atch": lambda arguments: [*_FAIL, "port monitors are not supported"],
            "dtch": lambda arguments: _OK,
            "get": self._no_parameters,
            "set": self._no_parameters,
        }

    def answer(self, request: list[Element]) -> list[Element]:
        """Return the reply to a request; never raises for what it says."""
        answer = self._answers.get(_word(request, 0))
        if answer is None:
            return [*_FAIL, "send [help] for list of valid commands"]
        return answer(request[1:])

    def _add(self, arguments: list[Element]) -> list[Element]:
        return _outcome(lambda: self._port.connect(_word(arguments, 0), _word(arguments, 1)))

    def _delete(self, arguments: list[Element]) -> list[Element]:
        return _outcome(lambda: self._port.disconnect(_word(arguments, 0)))

    def _list(self, arguments: list[Element]) -> list[Element]:
        self._port.outputs.drop_dead()
        direction, peer = _word(arguments, 0), _word(arguments, 1)
        if direction == "in":
            return input_details(self._port, peer) if peer else input_names(self._port)
        return output_details(self._port, peer) if peer else output_names(self._port)

    def _properties(self, arguments: list[Element]) -> list[Element]:
        action, key, values = _word(arguments, 0), _word(arguments, 1), arguments[2:]
        if action == "get":
            return self._property(key)
        if action != "set" or not key:
            return [*_FAIL, "property action not known"]
        if key.startswith("/"):
            return self._set_quality(key, values)
        if key not in self._port.properties and len(self._port.properties) >= _MOST_PROPERTIES:
            return [*_FAIL, f"a port has at most {_MOST_PROPERTIES} properties"]
        self._port.properties[key] = values
        return _OK

    def _property(self, key: str) -> list[Element]:
        port = self._port
        if key == port.name:
            return port_properties(port)
        if not key.startswith("/"):
            return port.properties.get(key, [])
        ends = self._ends(key)
        return connection_properties(ends[0].type_of_service()) if ends else []

    def _set_quality(self, peer: str, values: list[Element]) -> list[Element]:
        ends = self._ends(peer)
        for value in values:
            if isinstance(value, list) and _word(value, 0) == "qos":
                wanted = type_of_service(value[1] if len(value) > 1 else [])
                if wanted is None or not ends:
                    return _FAIL
                for end in ends:
                    end.set_type_of_service(wanted)
        return _OK if ends else _FAIL

    def _ends(self, peer: str) -> list[OutputConnection | InputConnection]:
        output = self._port.outputs.named(peer)
        return [*([] if output is None else [output]), *self._port.inputs.named(peer)]

    def _no_parameters(self, arguments: list[Element]) -> list[Element]:
        return [-1, f"Could not find an incoming connection to {_word(arguments, 1)}\r\n"]


def _outcome(act: Callable[[], str]) -> list[Element]:
    try:
        return [0, f"{act()}\r\n"]
    except NetworkError as error:
        return [-1, f"{error}\r\n"]


def _word(items: list[Element], index: int) -> str:
    """Return a string or a vocab as text, empty for anything else."""
    item = items[index] if index < len(items) else ""
    if isinstance(item, Vocab32):
        return decode_vocab(item)
    return item if isinstance(item, str) else ""


_CODE_POINTS = {"LOW": 10, "NORM": 0, "HIGH": 36, "CRIT": 44}  # differentiated services, by YARP's priorities
_LARGEST = 255


def type_of_service(request: Element) -> int | None:
    """Return the IP type of service that ``((priority HIGH))``, ``((dscp n))`` or ``((tos n))`` asks for, else None."""
    if not isinstance(request, list):
        return None
    for setting in request:
        if isinstance(setting, list) and len(setting) == 2:
            key, value = setting
            found = _value(str(key), value)
            if found is not None and 0 <= found <= _LARGEST:
                return found
    return None


def _value(key: str, value: Element) -> int | None:
    if key == "priority" and isinstance(value, str) and value in _CODE_POINTS:
        return _CODE_POINTS[value] * 4
    if isinstance(value, int) and key in ("tos", "dscp"):
        return int(value) if key == "tos" else int(value) * 4
    return None


_UNKNOWN = -1  # scheduling of threads is left to the system


def lines_about(port: PortCore) -> list[str]:
    """Return the description of a port as lines for a terminal."""
    address = f"tcp://{port.contact.getHost()}:{port.contact.getPort()}/"
    outgoing = [
        f"There is an output connection from {port.name} to {output.target} using {output.carrier.name}"
        for output in port.outputs.all()
    ]
    incoming = [
        f"There is an input connection from {connection.sender} to {port.name} using {connection.carrier_name}"
        for connection in port.inputs.all()
    ]
    return [
        f"This is {port.name} at {address}",
        *(outgoing or ["There are no outgoing connections"]),
        *(incoming or ["There are no incoming connections"]),
    ]


def output_names(port: PortCore) -> list[Element]:
    """Return the names of the ports that a port sends to."""
    return [output.target for output in port.outputs.all()]


def input_names(port: PortCore) -> list[Element]:
    """Return the names of all senders to a port."""
    return [connection.sender for connection in port.inputs.all()]


def output_details(port: PortCore, target: str) -> list[Element]:
    """Return the ends and the carrier of an outgoing connection, empty if there is none."""
    output = port.outputs.named(target)
    return [] if output is None else _connection_details(port.name, target, output.carrier.name)


def input_details(port: PortCore, sender: str) -> list[Element]:
    """Return the ends and the carrier of an incoming connection, empty if there is none."""
    connections = port.inputs.named(sender)
    return _connection_details(sender, port.name, connections[0].carrier_name) if connections else []


def port_properties(port: PortCore) -> list[Element]:
    """Return the process and the platform of a port, and what it is for."""
    process: dict[str, Element] = {"arguments": " ".join(sys.argv[1:]), "name": sys.argv[0], "pid": os.getpid()}
    uses = {"is_input": port.allows_inputs, "is_output": port.allows_outputs, "is_rpc": port.is_rpc}
    return [
        ["sched", _dictionary({"policy": _UNKNOWN, "priority": _UNKNOWN, "tid": _UNKNOWN})],
        ["process", _dictionary({**process, "policy": _UNKNOWN, "priority": _UNKNOWN})],
        ["platform", _dictionary({"hostname": platform.node(), "os": platform.system()})],
        ["port", _dictionary({**{key: int(value) for key, value in uses.items()}, "type": "yarp/bottle"})],
    ]


def connection_properties(type_of_service: int) -> list[Element]:
    """Return the scheduling and the quality of service of a connection."""
    return [
        ["sched", _dictionary({"policy": _UNKNOWN, "priority": _UNKNOWN, "tid": _UNKNOWN})],
        ["qos", _dictionary({"tos": type_of_service})],
    ]


def _connection_details(source: str, target: str, carrier: str) -> list[Element]:
    details: list[Element] = [["from", source], ["to", target], ["carrier", carrier]]
    spoken = CARRIERS.get(carrier)
    return [*details, ["connectionless", 1]] if spoken is not None and spoken.is_datagram else details


def _dictionary(values: dict[str, Element]) -> Dictionary:
    return Dictionary({key: [values[key]] for key in sorted(values)})
