"""Send single requests: to the name server, to any port, to a port that shall connect itself to another one."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence

from pureyarp.errors import FrameTooLarge, NameServerUnreachable, NetworkError, PeerUnreachable
from pureyarp.network.byte_stream import PeerGone, PeerStalled, open_socket
from pureyarp.network.outputs import OutgoingMessage, open_output
from pureyarp.network.settings import Contact, NetworkSettings, current_settings, log, registered_host
from pureyarp.wire import (
    ADMINISTRATION,
    CALL,
    CARRIERS,
    DATA,
    Element,
    PortCommand,
    WireFamily,
    decode_list,
    encode_vocab,
    from_text,
    items_of_reply,
    to_text,
)

ADMINISTRATOR = "admin"  # name by which a port is asked about itself
END_OF_REPLY = "*** end of message"
CHOOSE = "..."  # stands for what the name server is to choose

_REGISTRATION = re.compile(
    r"registration name (?P<name>\S+) ip (?P<host>\S+) port (?P<port>\d{1,5}) type (?P<type>\S+)"
)


def line_of_contact(contact: Contact) -> str:
    """Return the line (without its end) of a port's address."""
    return (
        f"registration name {contact.getRegName()} ip {contact.getHost()} "
        f"port {contact.getPort()} type {contact.getCarrier()}"
    )


def contact_of_line(line: str) -> Contact | None:
    """Return the port that a line registers, None for any other line."""
    found = _REGISTRATION.fullmatch(line.strip())
    if found is None:
        return None
    return Contact(found["name"], found["type"], found["host"], int(found["port"]))


_SHORTEST_WAIT = 1e-3  # [s], since 0 would not wait at all


class NameClient:
    """Speaks to the name server that the settings name, with one connection a request.

    Every method raises `NameServerUnreachable` if there is no whole answer within ``timeout`` ([s]).
    """

    def __init__(self, settings: NetworkSettings, timeout: float = 3.0) -> None:
        self._settings = settings
        self._timeout = timeout

    def register(self, name: str, carrier: str = "", host: str = "", port: int = -1) -> Contact:
        """Register a name (empty or ``...`` for an anonymous one) and return its address; what is left out is chosen.

        The host is chosen so that peers reach what listens at this process's ``listen_host``.
        """
        host = host or registered_host(self._settings)
        words = ["register", name or CHOOSE]
        if carrier or host or port >= 0:
            words += [carrier or CHOOSE, host or CHOOSE, str(port) if port >= 0 else CHOOSE]
        lines = self._ask([_line(words, "\r\n")])[0]
        contacts = _contacts(lines)
        if not contacts:
            raise NetworkError(f"the name server at {self._where()} did not register '{name}': {' '.join(lines)}")
        return contacts[0]

    def unregister(self, name: str) -> None:
        """Make the name server forget a name."""
        self._ask([_line(["unregister", name])])

    def query(self, name: str) -> Contact:
        """Return the address of a name, an invalid contact if it is not registered."""
        if name == self._settings.namespace:  # known without asking
            return Contact(name, "tcp", self._settings.name_server_host, self._settings.name_server_port)
        contacts = _contacts(self._ask([_line(["query", name])])[0])
        return contacts[0] if contacts else Contact()

    def query_all(self, names: Sequence[str]) -> list[Contact]:
        """Return the address of each name, as `query` does, over one connection."""
        answers = self._ask([_line(["query", name]) for name in names])
        return [next(iter(_contacts(lines)), Contact()) for lines in answers]

    def list_names(self, prefix: str = "") -> list[Contact]:
        """Return all registered ports, or those called ``prefix`` or ``prefix/…``."""
        words = ["list", prefix] if prefix else ["list"]
        return _contacts(self._ask([_line(words)])[0])

    def set_property(self, name: str, key: str, *values: Element) -> bool:
        """Set a property of a registered port; False if there is no such port."""
        command = _line(["bot", "set", name, key], end="")
        reply = self._ask([f"{command} {to_text(list(values))}\r\n"])[0]
        return "(error" not in reply[0]

    def set_properties(self, name: str, properties: Mapping[str, Sequence[str]]) -> None:
        """Set several properties of words over one connection."""
        self._ask([_line(["set", name, key, *values], "\r\n") for key, values in properties.items()])

    def get_property(self, name: str, key: str) -> list[Element]:
        """Return the values of a property, empty if it is not set."""
        return from_text(self._ask([_line(["bot", "get", name, key])])[0][0])

    def check_property(self, name: str, key: str, value: str) -> bool:
        """Return whether a property has a value."""
        lines = self._ask([_line(["check", name, key, value])])[0]
        return bool(lines) and lines[0].endswith(" present true")

    def announce(self, name: str) -> None:
        """Announce that a port now listens."""
        self._ask([_line(["announce", name])])

    def subscribe(self, source: str, destination: str, mode: str = "") -> bool:
        """Have two ports connected whenever both are there; ``from`` and ``to`` end this with one of them."""
        return self._is_granted(["subscribe", source, destination, *([mode] if mode else [])])

    def unsubscribe(self, source: str, destination: str) -> bool:
        """End what `subscribe` began; the connection stays."""
        return self._is_granted(["unsubscribe", source, destination])

    def _is_granted(self, words: Sequence[str]) -> bool:
        return self._ask([_line(words)])[0] == ["[ok]"]

    def command(self, text: str) -> list[str]:
        """Send any command as it is and return the lines of the answer, without the end line."""
        return self._ask([_line(text.split())])[0]

    def _ask(self, lines: Sequence[str]) -> list[list[str]]:
        deadline = time.monotonic() + self._timeout
        try:
            with open_socket(
                self._settings.name_server_host, self._settings.name_server_port, self._settings, self._timeout
            ) as sock:
                return [self._answer(sock, line, deadline) for line in lines]
        except (OSError, PeerUnreachable) as error:
            raise NameServerUnreachable(f"no name server at {self._where()}: {error}") from error

    def _answer(self, sock: socket.socket, line: str, deadline: float) -> list[str]:
        sock.sendall(line.encode("utf-8", "surrogateescape"))
        one_line = line.split()[1] in ("bot", "announce", "subscribe", "unsubscribe")
        received = bytearray()
        while not _is_complete(received, one_line):
            sock.settimeout(max(deadline - time.monotonic(), _SHORTEST_WAIT))
            piece = sock.recv(65536)
            if not piece:
                raise PeerUnreachable("it closed the connection without an answer")
            received += piece
            if len(received) > self._settings.limits.largest_frame:
                raise FrameTooLarge(f"the name server at {self._where()} does not end its answer")
        lines = received.decode("utf-8", "surrogateescape").split("\r\n")
        return [text for text in lines[:-1] if text != END_OF_REPLY] if not one_line else lines[:1]

    def _where(self) -> str:
        settings = self._settings
        found_in = settings.found_in or "default address"
        return f"{settings.name_server_host}:{settings.name_server_port} ({found_in})"


def _line(words: Sequence[str], end: str = "\n") -> str:
    for word in words:
        if not word or any(character.isspace() for character in word):
            raise NetworkError(f"'{word}' cannot be said to a name server: names have no blanks and are not empty")
    return f"NAME_SERVER {' '.join(words)}{end}"


def _is_complete(received: bytearray, one_line: bool) -> bool:
    if one_line or received.startswith(b"["):  # an answer such as [ok] stands alone
        return received.endswith(b"\n")
    return received.endswith(END_OF_REPLY.encode() + b"\r\n")


def _contacts(lines: Sequence[str]) -> list[Contact]:
    found = (contact_of_line(line) for line in lines)
    return [contact for contact in found if contact is not None]


def request(
    contact: Contact,
    items: Sequence[Element],
    command: PortCommand = CALL,
    *,
    carrier: str = "tcp",
    sender: str = ADMINISTRATOR,
    timeout: float | None = None,
    settings: NetworkSettings | None = None,
) -> list[Element] | None:
    """Send a Bottle to a port and return the reply, None if none was expected or given.

    Args:
        contact: Where the port is.
        items: Of the Bottle.
        command: ``CALL``, ``ADMINISTRATION`` of the port itself, or ``DATA``, to which its owner is not to answer.
        carrier: tcp, fast_tcp, text or text_ack; text and udp bring no reply.
        sender: Name to introduce oneself by; without a leading ``/`` an anonymous client.
        timeout: Of the whole, [s]; None waits for an answer as long as it takes.
        settings: Those of the process by default.

    Raises:
        PeerUnreachable: The port does not take the message, or does not answer in time.
        MalformedMessage: What it answers is no Bottle.
    """
    known = settings or current_settings()
    deadline = None if timeout is None else time.monotonic() + timeout
    output = open_output(sender, contact, CARRIERS[carrier], known, timeout)
    message = OutgoingMessage(command, list(items))
    try:
        if command != DATA:
            return items_of(output.call(message, deadline), output.family)
        output.begin(message, deadline)
        output.finish(deadline)
        return None
    except (PeerGone, PeerStalled) as error:
        raise PeerUnreachable(f"{contact.getName()}: {error}") from error
    finally:
        output.close()


def administer(
    contact: Contact, items: Sequence[Element], timeout: float, settings: NetworkSettings | None = None
) -> list[Element]:
    """Send a Bottle to a port itself, as its tools do, and return the reply, empty if none was given; see `request`."""
    return request(contact, items, ADMINISTRATION, carrier="text_ack", timeout=timeout, settings=settings) or []


def items_of(reply: bytes | str | None, family: WireFamily) -> list[Element] | None:
    """Return the elements of a reply."""
    if reply is None:
        return None
    return items_of_reply(reply) if isinstance(reply, str) else decode_list(reply, family).items


LOOK_PERIOD = 0.1  # [s] between two looks for what is waited for
_VERSION_TIMEOUT = 3.0  # [s] for a port to answer with its version


def exists(name: str, quiet: bool = True, check_version: bool = True) -> bool:
    """Return whether a port is registered, accepts connections and, with ``check_version``, answers."""
    try:
        contact = contact_of(name)
        settings = current_settings()
        open_socket(contact.getHost(), contact.getPort(), settings, settings.limits.handshake_timeout).close()
        if check_version:
            _check_version(contact)
    except NetworkError as error:
        (log.debug if quiet else log.warning)("%s does not exist: %s", name, error)
        return False
    return True


def contact_of(name: str) -> Contact:
    """Return where a port is, or raise `NetworkError`."""
    given = Contact.fromString(name)
    if given.isValid():
        return given
    contact = NameClient(current_settings()).query(given.getRegName())
    if not contact.isValid():
        raise NetworkError(f"the name server does not know {name}")
    return contact


def wait_for(is_there: Callable[[], bool], what: str, quiet: bool, is_given_up: Callable[[float], bool]) -> bool:
    """Look until something is there; ``is_given_up`` waits a period, [s], and returns whether to give up."""
    if is_there():
        return True
    if not quiet:
        log.info("waiting for %s", what)
    while not is_given_up(LOOK_PERIOD):
        if is_there():
            return True
    return False


def _check_version(contact: Contact) -> None:
    version = encode_vocab("ver")
    reply = administer(contact, [version], _VERSION_TIMEOUT)
    if not reply or reply[0] not in (version, "ver"):
        raise NetworkError(f"{contact.getName()} answers, but not with its version")


_CONNECT_TIMEOUT = 10.0  # [s] for a source, which has to ask the name server and to shake hands itself


def connect(source: str, destination: str, carrier: str = "", quiet: bool = False) -> bool:
    """Let ``source`` send to ``destination``, by the destination's own carrier unless one is given.

    ``destination`` may carry the carrier itself: ``fast_tcp://in``. Failures are logged, as debugging if ``quiet``.
    """
    try:
        to = Contact.fromString(destination)
        sender, receiver = _ports(source, to.getRegName())
        _report_former_connection(sender, receiver)
        _add(sender, receiver, carrier or to.getCarrier(), current_settings())
    except NetworkError as error:
        return _failed(f"{source} is not connected to {destination}: {error}", quiet)
    return True


def connect_ports(sender: Contact, receiver: Contact, carrier: str, settings: NetworkSettings) -> None:
    """Let one port send to another unless it does so by this carrier (empty: by any); raises `NetworkError`."""
    present = _carrier_between(sender, receiver, settings)
    if not present or carrier not in ("", present):
        _add(sender, receiver, carrier, settings)


def _add(sender: Contact, receiver: Contact, carrier: str, settings: NetworkSettings) -> None:
    by = carrier or receiver.getCarrier()
    _ask(sender, [encode_vocab("add"), f"{by}:/{receiver.getRegName()}"], settings)


def disconnect(source: str, destination: str, quiet: bool = False) -> bool:
    """Let ``source`` no longer send to ``destination``. Failures are logged, as debugging if ``quiet``."""
    try:
        sender, receiver = _ports(source, Contact.fromString(destination).getRegName())
        _ask(sender, [encode_vocab("del"), receiver.getRegName()], current_settings())
    except NetworkError as error:
        return _failed(f"{source} is not disconnected from {destination}: {error}", quiet)
    return True


def is_connected(source: str, destination: str, carrier: str = "", quiet: bool = True) -> bool:
    """Return whether ``source`` sends to ``destination``, and by this carrier if one is given.

    Costs two short connections: to the name server and to the source.
    """
    try:
        to = Contact.fromString(destination)
        sender, receiver = _ports(source, to.getRegName())
        present = _carrier_between(sender, receiver, current_settings())
    except NetworkError as error:
        return _failed(f"{source} is not connected to {destination}: {error}", quiet)
    wanted = carrier or to.getCarrier()
    if not present or wanted not in ("", present):
        by = f", it uses {present}" if present else ""
        return _failed(f"{source} is not connected to {destination} {wanted}{by}", quiet)
    return True


def _ports(source: str, destination: str) -> tuple[Contact, Contact]:
    sender, receiver = NameClient(current_settings()).query_all([source, destination])
    for name, contact in ((source, sender), (destination, receiver)):
        if not contact.isValid():
            raise NetworkError(f"the name server does not know {name}")
    return sender, receiver


def _carrier_between(sender: Contact, receiver: Contact, settings: NetworkSettings) -> str:
    """Return how a port sends to another one, empty if it does not."""
    question: list[Element] = [encode_vocab("list"), encode_vocab("out"), receiver.getRegName()]
    items = administer(sender, question, _CONNECT_TIMEOUT, settings)
    pairs = (item for item in items if isinstance(item, list) and len(item) == 2)
    return next((str(value) for key, value in pairs if key == "carrier"), "")


def _report_former_connection(sender: Contact, receiver: Contact) -> None:
    present = _carrier_between(sender, receiver, current_settings())
    if present:
        log.info("%s is already connected to %s by %s", sender.getName(), receiver.getName(), present)


def _ask(sender: Contact, command: list[Element], settings: NetworkSettings) -> None:
    """Let a port do something, or raise its own words."""
    reply = administer(sender, command, _CONNECT_TIMEOUT, settings)
    if not reply or reply[0] != 0:
        words = [item for item in reply if isinstance(item, str)]
        raise NetworkError(" ".join(" ".join(words).split()) or f"{sender.getName()} does not understand")


def _failed(reason: str, quiet: bool) -> bool:
    if quiet:
        log.debug(reason)
    else:
        log.warning(reason)
    return False
