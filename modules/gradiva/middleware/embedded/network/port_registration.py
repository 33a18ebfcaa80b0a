"""How a port gets its name and its address."""

from __future__ import annotations

import os
import socket

from gradiva.middleware.embedded.network import registration_keeper
from gradiva.middleware.embedded.network.acceptor import listen
from gradiva.middleware.embedded.network.contact import Contact
from gradiva.middleware.embedded.network.listening_host import EVERYWHERE
from gradiva.middleware.embedded.network.local_addresses import local_addresses
from gradiva.middleware.embedded.network.log import log
from gradiva.middleware.embedded.network.name_client import NameClient
from gradiva.middleware.embedded.network.open_socket import open_socket
from gradiva.middleware.embedded.network.settings import NetworkSettings
from gradiva.middleware.embedded.wire.carriers import CARRIERS
from gradiva.middleware.errors import MiddlewareError, PeerUnreachable

ANONYMOUS = "..."
_PATIENCE = 0.2  # [s] for a port of the same name to accept a connection


def checked_name(name: str, settings: NetworkSettings) -> str:
    """Return the full name of a port that is to be opened, or raise MiddlewareError if it is no name."""
    if not name or name == ANONYMOUS or name.startswith("="):
        return name or ANONYMOUS
    full_name = settings.port_prefix + name
    if not full_name.startswith("/"):
        raise MiddlewareError(f"'{full_name}' is no name of a port: names begin with '/'")
    if any(character.isspace() for character in full_name):
        raise MiddlewareError(f"'{full_name}' is no name of a port: names have no blanks")
    return full_name


class PortRegistration:
    """One port's entry in the name server."""

    def __init__(self, settings: NetworkSettings) -> None:
        self._settings = settings
        self._names = NameClient(settings)
        self._kept: Contact | None = None

    def open(self, name: str, port_number: int = -1) -> tuple[socket.socket, Contact]:
        """Register a name and return a listening socket and the port's address; -1 lets the name server choose it."""
        if name.startswith("/"):
            self._warn_of_a_living_namesake(name)
        if port_number >= 0:
            return self._open_at(name, port_number)
        contact = self._names.register(name)
        listener = self._listen(contact.getPort()) or self._listen(0)  # somebody else may have that number
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
        """Take the entry back unless another port has the name by now; a name server that has gone is no matter."""
        kept, self._kept = self._kept, None
        if kept is None or not registration_keeper.forget(kept.getRegName(), kept):
            return
        try:
            self._names.unregister(kept.getRegName())
        except MiddlewareError as error:
            log.info("%s was not unregistered: %s", kept.getRegName(), error)

    def _open_at(self, name: str, port_number: int) -> tuple[socket.socket, Contact]:
        """Listen first: a name whose port cannot be opened must not lead here."""
        listener = self._listen(port_number)
        if listener is None:
            raise self._taken(name, port_number)
        try:
            return listener, self._corrected(self._names.register(name), listener)
        except MiddlewareError:
            listener.close()
            raise

    def _taken(self, name: str, port_number: int) -> MiddlewareError:
        return MiddlewareError(f"{name} cannot listen at {self._settings.listen_host}:{port_number}; is it taken?")

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
        except MiddlewareError:
            listener.close()
            raise

    def _warn_of_a_living_namesake(self, name: str) -> None:
        other = self._names.query(name)
        if not other.isValid():
            return
        try:
            open_socket(other.getHost(), other.getPort(), self._settings, _PATIENCE).close()
        except PeerUnreachable:
            return
        log.warning("%s is already open at %s; from now on the name leads here", name, other.toURI())

    def _addresses(self, contact: Contact) -> list[str]:
        if self._settings.listen_host == EVERYWHERE:
            return sorted({contact.getHost(), *local_addresses()})
        return [contact.getHost()]
