"""The name server: a port that tells where all ports are."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pureyarp.errors import NameServerUnreachable, NetworkError
from pureyarp.network.contact import Contact
from pureyarp.network.guest_name_server import GUEST
from pureyarp.network.incoming_message import IncomingMessage
from pureyarp.network.line_connection import LineConnection
from pureyarp.network.listening_host import EVERYWHERE, is_loopback
from pureyarp.network.local_addresses import local_addresses
from pureyarp.network.name_client import NameClient
from pureyarp.network.name_commands import NameCommands
from pureyarp.network.name_registry import NameRegistry, RegistryLimits
from pureyarp.network.name_request import request_of_items, request_of_line
from pureyarp.network.name_server_file import NameServerAddress, write_name_server_file
from pureyarp.network.name_server_page import http_reply
from pureyarp.network.port_core import PortCore
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire.elements import Element, encode_vocab

OnChange = Callable[[bool, str], None]
"""Called with True and a name after its registration, with False after its end."""

_QUESTION_TIMEOUT = 1.0  # [s] for another name server to answer
_QUIET_NUMBERS = range(12_000, 30_000)
_TRIES = 20
_FEWEST_CONNECTIONS = 512  # [connections] that a name server takes at a time


class NameServerRunning(NetworkError):  # noqa: N818
    """The address is taken, by another name server or by something else."""


class NameServer:
    """Serves names at the address that the settings name (port 0: any free one).

    It listens at that address alone, or everywhere if the settings' ``listen_host`` says so. It understands lines
    ``NAME_SERVER ...``, Bottles on any carrier, administrative messages, and a browser's ``GET /``. What is connected
    to its output gets ``[add] "/name"`` and ``[del] "/name"``.

    Args:
        settings: Of this process.
        is_guest: Whether it lives in a program that does not exist for its sake; clients can ask.
        on_change: Told of registrations.
        limits: How much is remembered.
    """

    def __init__(
        self,
        settings: NetworkSettings,
        is_guest: bool = False,
        on_change: OnChange | None = None,
        limits: RegistryLimits | None = None,
    ) -> None:
        self._settings = settings
        self._is_guest = is_guest
        self._on_change = on_change
        self._limits = limits
        self._registry: NameRegistry | None = None
        self._core: PortCore | None = None
        self._lock = threading.Lock()

    @property
    def settings(self) -> NetworkSettings:
        """Return the settings by which clients find this server."""
        return self._settings

    @property
    def contact(self) -> Contact:
        """Return the name and address of the server."""
        settings = self._settings
        return Contact(settings.namespace, "tcp", settings.name_server_host, settings.name_server_port)

    def start(self) -> None:
        """Begin to serve; raise `NameServerRunning` if the address is taken, `NetworkError` if it is not ours."""
        with self._lock:
            self._refuse_taken_address()
            self._core = self._open_port()
            self._settings = replace(self._settings, name_server_port=self._core.port_number)
            self._registry = NameRegistry(self.contact, self._limits, self._tell)
            self._describe(self._registry)

    def stop(self) -> None:
        """Stop serving and forget everything."""
        with self._lock:
            core, self._core = self._core, None
        if core is not None:
            core.close()

    def write_file(self, path: Path) -> None:
        """Write the file by which all YARP programs of a user find this server."""
        write_name_server_file(path, NameServerAddress(self.contact.getHost(), self.contact.getPort()))

    def _known(self) -> NameRegistry:
        """Return the registry, once the server has started."""
        with self._lock:
            assert self._registry is not None
            return self._registry

    def _describe(self, registry: NameRegistry) -> None:
        registry.set_property(self._settings.namespace, "process", [os.getpid()])
        if self._is_guest:
            registry.set_property(self._settings.namespace, GUEST, [os.getpid()])

    def _refuse_taken_address(self) -> None:
        settings = self._settings
        host, addresses = settings.name_server_host, local_addresses()
        if not is_loopback(host) and host not in addresses:
            raise NetworkError(
                f"{host} ({settings.found_in or 'default'}) is no address of this machine, so names cannot be served "
                f"there (valid: {', '.join(addresses)})"
            )
        if settings.name_server_port != 0 and self._somebody_serves():
            raise NameServerRunning(f"another name server already answers at {host}:{settings.name_server_port}")

    def _somebody_serves(self) -> bool:
        try:
            NameClient(self._settings, _QUESTION_TIMEOUT).list_names(self._settings.namespace)
        except NameServerUnreachable:
            return False
        return True

    def _open_port(self) -> PortCore:
        settings = self._settings
        most = max(settings.limits.most_connections, _FEWEST_CONNECTIONS)
        core = PortCore(
            replace(settings, limits=replace(settings.limits, most_connections=most)),
            handler=self._answer_message,
            line_protocols={b"NAME_SER": self._serve_lines, b"GET /": self._serve_browser},
        )
        host = EVERYWHERE if settings.listen_host == EVERYWHERE else settings.name_server_host
        _open_at(core, Contact(settings.namespace, "tcp", host, settings.name_server_port))
        core.settings = replace(core.settings, name_server_port=core.port_number)  # it may have been any free one
        return core

    def _answer_message(self, message: IncomingMessage) -> bytes | list[Element]:
        request = request_of_items(message.items(), message.source.remote.getHost())
        return NameCommands(self._known()).answer(request).as_message()

    def _serve_lines(self, connection: LineConnection) -> None:
        commands = NameCommands(self._known())
        while (line := connection.read_line()) is not None:
            reply = commands.answer(request_of_line(line, connection.peer_host))
            connection.send(reply.as_text().encode("utf-8", "surrogateescape"))

    def _serve_browser(self, connection: LineConnection) -> None:
        request_line = connection.read_line() or ""
        connection.send(http_reply(request_line, self._settings.namespace, self._known().contacts()))

    def _tell(self, is_there: bool, name: str) -> None:
        if self._on_change is not None:
            self._on_change(is_there, name)
        core = self._core
        if core is not None and core.has_outputs:
            core.offer([encode_vocab("add" if is_there else "del"), name])


def _open_at(core: PortCore, contact: Contact) -> None:
    """Open at an address; port 0 tries some that the system does not lend to outgoing connections."""
    wanted = contact.getPort()
    numbers = [wanted] if wanted else [*random.sample(_QUIET_NUMBERS, _TRIES), 0]
    for number in numbers:
        contact.setPort(number)
        try:
            core.open_at(contact)
        except OSError as error:
            if number == numbers[-1]:
                where = f"{contact.getHost()}:{wanted}"
                raise NameServerRunning(f"names cannot be served at {where}: {error.strerror}") from error
        else:
            return
