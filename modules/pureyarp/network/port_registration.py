"""How a port gets its name and its address."""

from __future__ import annotations

import os
import socket

from pureyarp.errors import MalformedMessage, NetworkError, PeerUnreachable
from pureyarp.network import registration_keeper
from pureyarp.network.acceptor import listen
from pureyarp.network.byte_stream import PeerStalled
from pureyarp.network.contact import Contact
from pureyarp.network.listening_host import EVERYWHERE
from pureyarp.network.local_addresses import local_addresses
from pureyarp.network.log import log
from pureyarp.network.name_client import NameClient
from pureyarp.network.open_socket import open_socket
from pureyarp.network.peer_request import request
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire.carriers import CARRIERS
from pureyarp.wire.elements import Element, encode_vocab

ANONYMOUS = "..."
_FORBIDDEN = "@"  # begins the carrier's or the host's part of some names
_ACCEPT_TIMEOUT = 0.2  # [s] for a port of the same name to accept a connection
_ANSWER_TIMEOUT = 1.0  # [s] for it to say its name


class NameInUse(NetworkError):  # noqa: N818
    """A living port has the name, in this process or another; carries the name and the address."""


def checked_name(name: str, settings: NetworkSettings) -> str:
    """Return the full name of a port that is to be opened, or raise NetworkError if it is no name.

    As with the real bindings, a name ends before its first blank.
    """
    if not name or name == ANONYMOUS or name.startswith("="):
        return name or ANONYMOUS
    full_name = (settings.port_prefix + name).partition(" ")[0]
    if full_name != settings.port_prefix + name:
        log.warning("a port is called %s instead of '%s': names have no blanks", full_name, settings.port_prefix + name)
    if not full_name.startswith("/"):
        raise NetworkError(f"'{full_name}' is no name of a port: names begin with '/'")
    if _FORBIDDEN in full_name or any(character.isspace() for character in full_name):
        raise NetworkError(f"'{full_name}' is no name of a port: names have no blanks and no {_FORBIDDEN}")
    return full_name


class PortRegistration:
    """One port's entry in the name server."""

    def __init__(self, settings: NetworkSettings) -> None:
        self._settings = settings
        self._names = NameClient(settings)
        self._kept: Contact | None = None

    def open(self, name: str, port_number: int = -1) -> tuple[socket.socket, Contact]:
        """Register a name and return a listening socket and the port's address; -1 lets the name server choose it.

        Raises:
            NameInUse: A living port has the name; one left by a process that was killed is taken over.
            NetworkError: There is no name server, or no free address.
        """
        if name.startswith("/"):
            self._refuse_living_namesake(name)
        if port_number >= 0:
            return self._open_at(name, port_number)
        contact = self._names.register(name)
        listener = self._listen(contact.getPort())
        if listener is None:  # another program has that number, or another port was faster to take the name
            self._refuse_living_namesake(contact.getRegName())
            listener = self._listen(0)
        if listener is None:
            self._names.unregister(contact.getRegName())
            raise self._taken(contact.getRegName(), contact.getPort())
        return listener, self._corrected(contact, listener)

    def announce(self, contact: Contact) -> None:
        """Tell what the port speaks, once it listens, and have all that remembered."""
        name = contact.getRegName()
        carriers = list(CARRIERS)
        properties = {
            "offers": carriers,
            "accepts": carriers,
            "ips": self._addresses(contact),
            "process": [str(os.getpid())],
        }
        self._names.set_properties(name, properties)
        self._names.announce(name)
        registration_keeper.keep(name, contact, properties)
        self._kept = contact

    def close(self) -> None:
        """Take the entry back unless another process has the name by now; a name server may have gone."""
        kept, self._kept = self._kept, None
        if kept is None or not registration_keeper.forget(kept.getRegName(), kept):
            return
        try:
            self._names.unregister(kept.getRegName())
        except NetworkError as error:
            log.info("%s was not unregistered: %s", kept.getRegName(), error)

    def _open_at(self, name: str, port_number: int) -> tuple[socket.socket, Contact]:
        """Listen first: a name whose port cannot be opened must not lead here."""
        listener = self._listen(port_number)
        if listener is None:
            raise self._taken(name, port_number)
        try:
            return listener, self._corrected(self._names.register(name), listener)
        except NetworkError:
            listener.close()
            raise

    def _taken(self, name: str, port_number: int) -> NetworkError:
        return NetworkError(f"{name} cannot listen at {self._settings.listen_host}:{port_number}; is it taken?")

    def _listen(self, port_number: int) -> socket.socket | None:
        try:
            return listen(self._settings.listen_host, port_number)
        except OSError:
            return None

    def _corrected(self, contact: Contact, listener: socket.socket) -> Contact:
        """Tell the name server where the port really listens, if that is elsewhere."""
        number = int(listener.getsockname()[1])
        if number == contact.getPort():
            return contact
        try:
            return self._names.register(contact.getRegName(), "tcp", contact.getHost(), number)
        except NetworkError:
            listener.close()
            raise

    def _refuse_living_namesake(self, name: str) -> None:
        other = registration_keeper.kept_contact(name, self._settings) or self._names.query(name)
        if other.isValid() and self._is_alive(other):
            raise NameInUse(f"{name} is open already, at {other.toURI()}")

    def _is_alive(self, other: Contact) -> bool:
        """Tell whether the port that was registered still listens there, or hangs; not where another one does."""
        ask_its_name: list[Element] = [encode_vocab("prop"), encode_vocab("get"), other.getRegName()]
        try:
            open_socket(other.getHost(), other.getPort(), self._settings, _ACCEPT_TIMEOUT).close()
            answer = request(
                other,
                ask_its_name,
                administrative=True,
                carrier="text_ack",
                timeout=_ANSWER_TIMEOUT,
                settings=self._settings,
            )
        except PeerUnreachable as error:
            return isinstance(error.__cause__, PeerStalled)
        except MalformedMessage:
            return False
        return any(isinstance(item, list) and item[:1] == ["process"] for item in answer or [])

    def _addresses(self, contact: Contact) -> list[str]:
        if self._settings.listen_host == EVERYWHERE:
            return sorted({contact.getHost(), *local_addresses()})
        return [contact.getHost()]
