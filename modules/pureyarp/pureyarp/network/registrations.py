"""Register the ports of this process with the name server, and keep them registered.

One daemon thread a process, started with the first port. Every period it asks, over one connection, for all names of
this process; no port that opens or closes waits for its requests. A name that is unknown is registered again with its
address and properties. A name that has another address, because the name server had forgotten ours, is left to its new
owner if that one is alive, else taken back. If the name server is gone, was a temporary one of another process and
listened on loopback, one of the survivors takes its place: all try, and the one that binds the address wins.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pureyarp.errors import MalformedMessage, NameServerUnreachable, NetworkError, PeerUnreachable
from pureyarp.network.byte_stream import PeerStalled, open_socket
from pureyarp.network.inputs import listen
from pureyarp.network.peers import NameClient, administer
from pureyarp.network.settings import (
    EVERYWHERE,
    Contact,
    NetworkSettings,
    current_settings,
    is_loopback,
    local_addresses,
    log,
)
from pureyarp.wire import CARRIERS, Element, encode_vocab

if TYPE_CHECKING:
    from pureyarp.network.name_server import NameServer


_has_begun = False


def has_begun() -> bool:
    """Return whether the network was initialised."""
    return _has_begun


def begin_participation() -> None:
    """Note that the network is initialised."""
    global _has_begun
    _has_begun = True


def end_participation() -> None:
    """Note that the network is no longer initialised."""
    global _has_begun
    _has_begun = False


TEMPORARY = "temporary"  # property of the name server's own name: it runs within another program and ends with it

_server_lock = threading.Lock()
_server: NameServer | None = None


def serve_names(settings: NetworkSettings) -> bool:
    """Start a name server in this process; False if the address is not on loopback, or another process was faster."""
    global _server
    if not is_loopback(settings.name_server_host):
        return False
    from pureyarp.network.name_server import NameServer

    with _server_lock:
        if _server is not None:
            return True
        server = NameServer(settings, is_temporary=True)
        try:
            server.start()
        except NetworkError as error:
            log.info("%s", error)
            return False
        _server = server
    log.warning(
        "no name server answered: this process now serves names at %s:%d, until it ends",
        settings.name_server_host,
        settings.name_server_port,
    )
    return True


def stop_serving_names() -> None:
    """Stop the name server of this process, if there is one."""
    global _server
    with _server_lock:
        server, _server = _server, None
    if server is not None:
        server.stop()


def serves_names() -> bool:
    """Return whether the name server lives in this process."""
    return _server is not None


def is_temporary(client: NameClient, settings: NetworkSettings) -> bool:
    """Return whether the name server runs within another program and ends with it."""
    return bool(client.get_property(settings.namespace, TEMPORARY))


PERIOD = 1.0  # [s]
_OWNER_TIMEOUT = 1.0  # [s] for another owner of a name to accept a connection


@dataclass(frozen=True, slots=True)
class KeptRegistration:
    """The entry of a port that the name server shall have.

    Attributes:
        contact: Name, carrier, host and TCP port.
        network: The name server's address: the port is registered in no other network.
        properties: The values of each property.
    """

    contact: Contact
    network: tuple[str, int]
    properties: Mapping[str, Sequence[str]] = field(default_factory=dict)


class RegistrationKeeper:
    """Compares the entries of the name server with those of this process, every ``period`` [s]."""

    def __init__(self, period: float = PERIOD) -> None:
        self._period = period
        self._kept: dict[str, KeptRegistration] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._server_was_temporary = True  # until its property shows that it is not
        self._is_server_lost = False

    def keep(self, name: str, contact: Contact, properties: Mapping[str, Sequence[str]] | None = None) -> None:
        """Keep ``name`` registered at the address of ``contact`` from now on."""
        with self._lock:
            self._kept[name] = KeptRegistration(contact, _address(current_settings()), properties or {})
            self._start_thread()

    def forget(self, name: str, contact: Contact | None = None) -> bool:
        """Let go of a name; the thread ends with the last one.

        With ``contact`` only if that is the address that is kept. Returns whether the name was this one's to the end.
        """
        with self._lock:
            kept = self._kept.get(name)
            if kept is None or (contact is not None and kept.contact != contact):
                return False
            self._drop(name)
            return True

    def pause(self) -> None:
        """Stop looking until `resume`, or until another name is to be kept."""
        with self._lock:
            self._stop_thread()

    def resume(self) -> None:
        """Look again, if there are names."""
        with self._lock:
            if self._kept:
                self._start_thread()

    def kept_names(self) -> list[str]:
        """Return the names that are kept, sorted."""
        with self._lock:
            return sorted(self._kept)

    def kept_contact(self, name: str, settings: NetworkSettings) -> Contact | None:
        """Return where this process's port of a name listens in this network, None if there is none."""
        with self._lock:
            kept = self._kept.get(name)
        return kept.contact if kept is not None and kept.network == _address(settings) else None

    def check(self) -> None:
        """Compare once, now; never raises for faults of others."""
        settings = current_settings()
        with self._lock:
            kept = {name: ours for name, ours in self._kept.items() if ours.network == _address(settings)}
        if not kept:
            return
        try:
            self._compare(NameClient(settings), settings, kept)
        except NameServerUnreachable as error:
            self._report_lost_server(settings, error)
        except NetworkError as error:
            log.warning("registrations were not checked: %s", error)

    def _run(self) -> None:
        me = threading.current_thread()
        while self._thread is me:
            try:
                self.check()
            except Exception:
                log.exception("registrations were not checked")
            self._wake.wait(self._period)

    def _compare(self, client: NameClient, settings: NetworkSettings, kept: Mapping[str, KeptRegistration]) -> None:
        known = client.query_all(list(kept))
        self._server_was_temporary = is_temporary(client, settings)
        if self._is_server_lost:
            log.warning("the name server at %s:%d answers again", *_address(settings))
            self._is_server_lost = False
        for name, contact in zip(kept, known, strict=True):
            if not contact.isValid():
                self._register(client, kept[name])
            elif _differs(contact, kept[name].contact):
                self._resolve_conflict(client, contact, kept[name], settings)

    def _resolve_conflict(
        self, client: NameClient, other: Contact, ours: KeptRegistration, settings: NetworkSettings
    ) -> None:
        """Give up a name that is registered elsewhere if something listens there, else take it back."""
        name = ours.contact.getRegName()
        try:
            open_socket(other.getHost(), other.getPort(), settings, _OWNER_TIMEOUT).close()
        except PeerUnreachable:
            self._register(client, ours)
            return
        log.warning("%s now belongs to %s; this process's port is no longer found by it", name, other.toURI())
        with self._lock:
            if self._kept.get(name) is ours:
                self._drop(name)

    def _drop(self, name: str) -> None:
        """Let go of a name, under the lock."""
        self._kept.pop(name, None)
        if not self._kept:
            self._stop_thread()

    def _start_thread(self) -> None:
        if self._thread is None:
            self._wake.clear()
            self._thread = threading.Thread(target=self._run, name="yarp registrations", daemon=True)
            self._thread.start()

    def _stop_thread(self) -> None:
        self._thread = None
        self._wake.set()

    def _register(self, client: NameClient, ours: KeptRegistration) -> None:
        """Register again; a port that was closed or opened anew while the name server was asked is put right after."""
        contact = ours.contact
        name = contact.getRegName()
        if self._kept_entry(name) is not ours:
            return
        client.register(name, contact.getCarrier(), contact.getHost(), contact.getPort())
        if ours.properties:
            client.set_properties(name, ours.properties)
        present = self._kept_entry(name)
        if present is ours:
            log.warning("registered %s again at %s", name, contact.toURI())
        elif present is not None:
            self._register(client, present)
        elif not _differs(client.query(name), contact):
            client.unregister(name)

    def _kept_entry(self, name: str) -> KeptRegistration | None:
        with self._lock:
            return self._kept.get(name)

    def _report_lost_server(self, settings: NetworkSettings, error: Exception) -> None:
        with self._lock:
            was_lost, self._is_server_lost = self._is_server_lost, True
        if not was_lost:
            log.warning("%s; existing connections go on, and it is asked again every %g s", error, self._period)
        if self._server_was_temporary and settings.may_serve_names:
            serve_names(settings)


def _differs(registered: Contact, ours: Contact) -> bool:
    return (registered.getHost(), registered.getPort()) != (ours.getHost(), ours.getPort())


def _address(settings: NetworkSettings) -> tuple[str, int]:
    return settings.name_server_host, settings.name_server_port


registration_keeper = RegistrationKeeper()
"""Keeps the ports of this process registered."""

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
    """The entry of one port in the name server."""

    _keeper = registration_keeper

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
        """Set the properties of a port that listens by now, and keep its entry from now on."""
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
        self._keeper.keep(name, contact, properties)
        self._kept = contact

    def close(self) -> None:
        """Take the entry back unless another process has the name by now; a name server may have gone."""
        kept, self._kept = self._kept, None
        if kept is None or not self._keeper.forget(kept.getRegName(), kept):
            return
        try:
            self._names.unregister(kept.getRegName())
        except NetworkError as error:
            log.info("%s was not unregistered: %s", kept.getRegName(), error)

    def _open_at(self, name: str, port_number: int) -> tuple[socket.socket, Contact]:
        """Listen, then register: a name must not lead to a port that cannot be opened."""
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
        """Register the address at which the port really listens, if it is another one."""
        number = int(listener.getsockname()[1])
        if number == contact.getPort():
            return contact
        try:
            return self._names.register(contact.getRegName(), "tcp", contact.getHost(), number)
        except NetworkError:
            listener.close()
            raise

    def _refuse_living_namesake(self, name: str) -> None:
        other = self._keeper.kept_contact(name, self._settings) or self._names.query(name)
        if other.isValid() and self._is_alive(other):
            raise NameInUse(f"{name} is open already, at {other.toURI()}")

    def _is_alive(self, other: Contact) -> bool:
        """Return whether the port that was registered still listens there, or hangs; not where another one does."""
        ask_its_name: list[Element] = [encode_vocab("prop"), encode_vocab("get"), other.getRegName()]
        try:
            open_socket(other.getHost(), other.getPort(), self._settings, _ACCEPT_TIMEOUT).close()
            answer = administer(other, ask_its_name, _ANSWER_TIMEOUT, self._settings)
        except PeerUnreachable as error:
            return isinstance(error.__cause__, PeerStalled)
        except MalformedMessage:
            return False
        return any(isinstance(item, list) and item[:1] == ["process"] for item in answer)

    def _addresses(self, contact: Contact) -> list[str]:
        if self._settings.listen_host == EVERYWHERE:
            return sorted({contact.getHost(), *local_addresses()})
        return [contact.getHost()]
