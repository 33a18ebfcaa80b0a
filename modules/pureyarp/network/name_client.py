"""Questions to the name server."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping, Sequence

from pureyarp.errors import FrameTooLarge, NameServerUnreachable, NetworkError, PeerUnreachable
from pureyarp.network.contact import Contact
from pureyarp.network.listening_host import registered_host
from pureyarp.network.name_lines import CHOOSE, END_OF_REPLY, contact_of_line
from pureyarp.network.open_socket import open_socket
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire.elements import Element
from pureyarp.wire.text import from_text, to_text

_SHORTEST_WAIT = 1e-3  # [s], since 0 would not wait at all


class NameClient:
    """Speaks to the name server that the settings name, one connection a question.

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
        """Tell whether a property has a value."""
        lines = self._ask([_line(["check", name, key, value])])[0]
        return bool(lines) and lines[0].endswith(" present true")

    def announce(self, name: str) -> None:
        """Tell that a port now listens."""
        self._ask([_line(["announce", name])])

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
        one_line = line.split()[1] in ("bot", "announce")
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
