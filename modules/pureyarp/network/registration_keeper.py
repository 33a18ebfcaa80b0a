"""Keeps the ports of this process known to the name server, though it may be restarted without its memory.

One daemon thread a process, started with the first port. Every period it asks, over one connection, for all names of
this process; no port that opens or closes waits for its questions. A name that is missing is registered again with its
address and properties. A name that has another address, because the name server had forgotten ours, is left to its new
owner if that one is alive, else taken back. If the name server is gone, was a guest in another process and lived on
loopback, one of the survivors takes its place: all try, and the one that binds the address wins.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pureyarp.errors import NameServerUnreachable, NetworkError, PeerUnreachable
from pureyarp.network.contact import Contact
from pureyarp.network.current_settings import current_settings
from pureyarp.network.guest_name_server import is_guest, serve_names
from pureyarp.network.log import log
from pureyarp.network.name_client import NameClient
from pureyarp.network.open_socket import open_socket
from pureyarp.network.settings import NetworkSettings

PERIOD = 1.0  # [s]
_PATIENCE = 1.0  # [s] for another owner of a name to accept a connection


@dataclass(frozen=True, slots=True)
class KeptRegistration:
    """What the name server shall know of a port.

    Attributes:
        contact: Name, carrier, host and TCP port.
        network: The name server's address: other networks are not told of the port.
        properties: The values of each property.
    """

    contact: Contact
    network: tuple[str, int]
    properties: Mapping[str, Sequence[str]] = field(default_factory=dict)


class RegistrationKeeper:
    """Compares what the name server knows with what it should, every ``period`` [s]."""

    def __init__(self, period: float = PERIOD) -> None:
        self._period = period
        self._kept: dict[str, KeptRegistration] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._server_was_guest = True  # until it has said that it is not
        self._server_is_missed = False

    def keep(self, name: str, contact: Contact, properties: Mapping[str, Sequence[str]] | None = None) -> None:
        """Keep ``name`` registered at the address of ``contact`` from now on."""
        with self._lock:
            self._kept[name] = KeptRegistration(contact, _address(current_settings()), properties or {})
            self._work()

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

    def rest(self) -> None:
        """Stop looking until `resume`, or until another name is to be kept."""
        with self._lock:
            self._rest()

    def resume(self) -> None:
        """Look again, if there are names."""
        with self._lock:
            if self._kept:
                self._work()

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
        """Compare once, now; never raises for what others do."""
        settings = current_settings()
        with self._lock:
            kept = {name: ours for name, ours in self._kept.items() if ours.network == _address(settings)}
        if not kept:
            return
        try:
            self._compare(NameClient(settings), settings, kept)
        except NameServerUnreachable as error:
            self._miss_server(settings, error)
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
        self._server_was_guest = is_guest(client, settings)
        if self._server_is_missed:
            log.warning("the name server at %s:%d answers again", *_address(settings))
            self._server_is_missed = False
        for name, contact in zip(kept, known, strict=True):
            if not contact.isValid():
                self._register(client, kept[name])
            elif _differs(contact, kept[name].contact):
                self._settle(client, contact, kept[name], settings)

    def _settle(self, client: NameClient, other: Contact, ours: KeptRegistration, settings: NetworkSettings) -> None:
        """Somebody registered our name elsewhere: if something listens there, the name is theirs."""
        name = ours.contact.getRegName()
        try:
            open_socket(other.getHost(), other.getPort(), settings, _PATIENCE).close()
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
            self._rest()

    def _work(self) -> None:
        if self._thread is None:
            self._wake.clear()
            self._thread = threading.Thread(target=self._run, name="yarp registrations", daemon=True)
            self._thread.start()

    def _rest(self) -> None:
        self._thread = None
        self._wake.set()

    def _register(self, client: NameClient, ours: KeptRegistration) -> None:
        """Register again; a port that was closed or opened anew while the name server was asked is put right after."""
        contact = ours.contact
        name = contact.getRegName()
        if self._present(name) is not ours:
            return
        client.register(name, contact.getCarrier(), contact.getHost(), contact.getPort())
        if ours.properties:
            client.set_properties(name, ours.properties)
        present = self._present(name)
        if present is ours:
            log.warning("registered %s again at %s", name, contact.toURI())
        elif present is not None:
            self._register(client, present)
        elif not _differs(client.query(name), contact):
            client.unregister(name)

    def _present(self, name: str) -> KeptRegistration | None:
        with self._lock:
            return self._kept.get(name)

    def _miss_server(self, settings: NetworkSettings, error: Exception) -> None:
        if not self._server_is_missed:
            log.warning("%s; existing connections go on, and it is asked again every %g s", error, self._period)
            self._server_is_missed = True
        if self._server_was_guest and settings.may_serve_names:
            serve_names(settings)


def _differs(registered: Contact, ours: Contact) -> bool:
    return (registered.getHost(), registered.getPort()) != (ours.getHost(), ours.getPort())


def _address(settings: NetworkSettings) -> tuple[str, int]:
    return settings.name_server_host, settings.name_server_port


_keeper = RegistrationKeeper()  # of this process


def keep(name: str, contact: Contact, properties: Mapping[str, Sequence[str]] | None = None) -> None:
    """Keep a port of this process registered; ``properties`` are set again with it."""
    _keeper.keep(name, contact, properties)


def forget(name: str, contact: Contact | None = None) -> bool:
    """Let go of a port that is being closed; False if its name is another port's by now, and must stay registered."""
    return _keeper.forget(name, contact)


def kept_contact(name: str, settings: NetworkSettings) -> Contact | None:
    """Return where this process's port of a name listens in this network, None if there is none."""
    return _keeper.kept_contact(name, settings)


def rest() -> None:
    """Stop looking after this process's ports, because it leaves the network."""
    _keeper.rest()


def resume() -> None:
    """Look after this process's ports again."""
    _keeper.resume()
