"""Serve names: a port that knows where all ports are, its requests and replies, its page for browsers."""

from __future__ import annotations

import html
import json
import os
import random
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from pureyarp.errors import NameServerUnreachable, NetworkError
from pureyarp.network.byte_stream import LineConnection
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.inputs import is_listened
from pureyarp.network.name_registry import NameRegistry, RefusedRegistration, RegistryLimits, text_of
from pureyarp.network.peers import CHOOSE, END_OF_REPLY, NameClient, connect_ports, line_of_contact
from pureyarp.network.port_core import PortCore
from pureyarp.network.registrations import TEMPORARY
from pureyarp.network.settings import (
    EVERYWHERE,
    Contact,
    NameServerAddress,
    NetworkSettings,
    is_loopback,
    local_addresses,
    write_name_server_file,
)
from pureyarp.network.subscriptions import Subscriptions
from pureyarp.wire import Element, encode_vocab, from_text, to_text

_ADDRESSEE = "NAME_SERVER"
_BOTTLE_STYLE = "bot"


@dataclass(frozen=True, slots=True)
class NameRequest:
    """A command with its arguments.

    Attributes:
        command: Such as ``register``.
        arguments: Words, as they were sent.
        values: The same arguments as elements of a Bottle.
        wants_bottle: Whether the answer is to be a Bottle.
        requester: Host that the request came from.
    """

    command: str
    arguments: Sequence[str]
    values: Sequence[Element]
    wants_bottle: bool
    requester: str

    def argument(self, index: int) -> str:
        """Return an argument, ``...`` (choose for me) if it was left out."""
        return self.arguments[index] if index < len(self.arguments) else CHOOSE

    def name(self) -> str:
        """Return the first argument, empty if there is none."""
        return self.arguments[0] if self.arguments else ""


def request_of_line(line: str, requester: str) -> NameRequest:
    """Return what a line asks, such as ``NAME_SERVER register /foo``."""
    return _request([word.strip('"') for word in line.split()], from_text(line), requester)


def request_of_items(items: Sequence[Element], requester: str) -> NameRequest:
    """Return what a Bottle asks."""
    return _request([text_of(item) for item in items], items, requester)


def _request(words: Sequence[str], values: Sequence[Element], requester: str) -> NameRequest:
    start = 1 if words and words[0] == _ADDRESSEE else 0
    wants_bottle = len(words) > start and words[start] == _BOTTLE_STYLE
    start += wants_bottle
    command = words[start] if len(words) > start else ""
    return NameRequest(command, words[start + 1 :], values[start + 1 :], wants_bottle, requester)


_LINE_END = "\r\n"


@dataclass(frozen=True, slots=True)
class LinesReply:
    """Lines of text that are followed by the end line."""

    lines: Sequence[str] = ()

    def as_text(self) -> str:
        """Return the reply as it is written to a connection of lines."""
        return "".join(f"{line}{_LINE_END}" for line in (*self.lines, END_OF_REPLY))

    def as_message(self) -> bytes:
        """Return the reply as it is sent to connections of ports: the same lines, even on binary ones."""
        return self.as_text().encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class BottleReply:
    """A Bottle; as text it is one line, with no end line."""

    items: list[Element]

    def as_text(self) -> str:
        """Return the reply as it is written to a connection of lines."""
        return to_text(self.items) + _LINE_END

    def as_message(self) -> list[Element]:
        """Return the reply as it is sent to connections of ports."""
        return self.items


NameReply = LinesReply | BottleReply


def port_items(contact: Contact) -> list[Element]:
    """Return a port as ``port (name "/foo") (ip "127.0.0.1") (port_number 10002) (carrier tcp)``."""
    return [
        "port",
        ["name", contact.getRegName()],
        ["ip", contact.getHost()],
        ["port_number", contact.getPort()],
        ["carrier", contact.getCarrier()],
    ]


def error_items(code: int, reason: str) -> list[Element]:
    """Return ``port (error -2 "port not known")``."""
    return ["port", ["error", code, reason]]


_REFUSED = -1
_UNKNOWN = -2
_NUMBER = re.compile(r"-?[0-9]{1,5}")
_SILENT = "0"  # announces that a port does not answer
_MOST_SHOWN = 40  # characters of what is refused
_RUNNER = "yarprun"  # property of ports that start programs
_HELP = (
    "+ register NAME [CARRIER HOST PORT]   (... chooses)",
    "+ unregister NAME",
    "+ query NAME",
    "+ list [PREFIX]",
    "+ set NAME KEY VALUE...",
    "+ get NAME KEY",
    "+ check NAME KEY VALUE",
    "+ route SOURCE DESTINATION",
    "+ announce NAME",
    "+ subscribe [SOURCE [DESTINATION [from|to]]]   (connects them whenever both are there; without: lists)",
    "+ unsubscribe SOURCE DESTINATION",
    "+ topic [NAME]",
    "+ untopic NAME",
    "+ runners",
    "+ gc",
    "+ help",
    "'bot' before register, query, list, set or get asks for a Bottle",
)


class NameCommands:
    """Answers requests from a registry and from the subscriptions of its ports."""

    def __init__(self, registry: NameRegistry, subscriptions: Subscriptions) -> None:
        self._registry = registry
        self._subscriptions = subscriptions
        self._commands: dict[str, Callable[[NameRequest], NameReply]] = {
            "register": self._register,
            "unregister": self._unregister,
            "query": self._query,
            "list": self._list,
            "set": self._set,
            "get": self._get,
            "check": self._check,
            "route": self._route,
            "announce": self._announce,
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "topic": self._topic,
            "untopic": self._untopic,
            "runners": self._runners,
            "gc": lambda request: LinesReply(["garbage collection done."]),
            "help": lambda request: LinesReply(_HELP),
        }

    def answer(self, request: NameRequest) -> NameReply:
        """Carry out a request; one that is not known has an empty answer."""
        command = self._commands.get(request.command)
        if command is None:
            return _failure(request, "command not known") if request.wants_bottle else LinesReply()
        try:
            return command(request)
        except RefusedRegistration as error:
            return _failure(request, str(error), _REFUSED)

    def _register(self, request: NameRequest) -> NameReply:
        contact = self._registry.register(
            name=request.argument(0),
            carrier=request.argument(1),
            host=request.argument(2),
            port=_port_number(request.argument(3)),
            requester=request.requester,
        )
        return _one(request, contact)

    def _unregister(self, request: NameRequest) -> NameReply:
        self._registry.unregister(request.name())
        return _done() if request.wants_bottle else LinesReply()

    def _query(self, request: NameRequest) -> NameReply:
        contact = self._registry.query(request.name())
        return _not_known(request) if contact is None else _one(request, contact)

    def _list(self, request: NameRequest) -> NameReply:
        return _many(request, self._registry.contacts(request.name()))

    def _runners(self, request: NameRequest) -> NameReply:
        contacts = self._registry.contacts()
        return _many(request, [contact for contact in contacts if self._is_runner(contact.getRegName())])

    def _is_runner(self, name: str) -> bool:
        return [text_of(value) for value in self._registry.property(name, _RUNNER) or []] == ["true"]

    def _set(self, request: NameRequest) -> NameReply:
        values = self._registry.set_property(request.name(), request.argument(1), request.values[2:])
        return _property(request, values)

    def _get(self, request: NameRequest) -> NameReply:
        return _property(request, self._registry.property(request.name(), request.argument(1)))

    def _check(self, request: NameRequest) -> NameReply:
        values = self._registry.property(request.name(), request.argument(1))
        if values is None:
            return _not_known(request)
        value = request.argument(2)
        is_there = value in [text_of(known) for known in values]
        if request.wants_bottle:
            return _done(is_there)
        said = f"port {request.name()} property {request.argument(1)} value {value} present"
        return LinesReply([f"{said} {'true' if is_there else 'false'}"])

    def _route(self, request: NameRequest) -> NameReply:
        destination = self._registry.query(request.argument(1))
        if destination is None:
            return _not_known(request)
        name = destination.getRegName()
        return LinesReply([f"port {request.name()} route {name} = {destination.getCarrier()}:/{name}"])

    def _announce(self, request: NameRequest) -> NameReply:
        if request.argument(1) != _SILENT:
            self._subscriptions.hook_up(request.name())
        return _done()

    def _subscribe(self, request: NameRequest) -> NameReply:
        match request.arguments:
            case [source, destination, *mode]:
                return _done(self._subscriptions.add(source, destination, *mode[:1]))
        return BottleReply(["subscriptions", *self._subscriptions.items(request.name())])

    def _unsubscribe(self, request: NameRequest) -> NameReply:
        self._subscriptions.remove(request.name(), request.argument(1))
        return _done()

    def _topic(self, request: NameRequest) -> NameReply:
        if not request.arguments:
            return BottleReply([*self._subscriptions.topics()])
        return _done(self._subscriptions.set_topic(request.name()))

    def _untopic(self, request: NameRequest) -> NameReply:
        self._subscriptions.remove_topic(request.name())
        return _done()


def _done(is_done: bool = True) -> BottleReply:
    return BottleReply([encode_vocab("ok" if is_done else "fail")])


def _port_number(text: str) -> int | None:
    """Return a number; None if it is to be chosen: with ``YARP_IP`` set, the real programs write -1."""
    if text in (CHOOSE, "-1", "0"):
        return None
    if not _NUMBER.fullmatch(text):
        raise RefusedRegistration(f"'{text[:_MOST_SHOWN]}' is no TCP port")
    return int(text)


def _one(request: NameRequest, contact: Contact) -> NameReply:
    return BottleReply(port_items(contact)) if request.wants_bottle else LinesReply([line_of_contact(contact)])


def _many(request: NameRequest, contacts: list[Contact]) -> NameReply:
    if request.wants_bottle:
        return BottleReply(["ports", *(port_items(contact) for contact in contacts)])
    return LinesReply([line_of_contact(contact) for contact in contacts])


def _property(request: NameRequest, values: list[Element] | None) -> NameReply:
    if values is None:
        return _not_known(request)
    if request.wants_bottle:
        return BottleReply(values)
    words = "".join(f" {text_of(value)}" for value in values)
    return LinesReply([f"port {request.name()} property {request.argument(1)} ={words}"])


def _not_known(request: NameRequest) -> NameReply:
    return _failure(request, "port not known") if request.wants_bottle else LinesReply()


def _failure(request: NameRequest, reason: str, code: int = _UNKNOWN) -> NameReply:
    if request.wants_bottle:
        return BottleReply(error_items(code, reason))
    return LinesReply([f"refused: {reason}"])


_NOT_FOUND = "there are two pages here: / and /?req=list"


def http_reply(request_line: str, namespace: str, contacts: Sequence[Contact]) -> bytes:
    """Return the answer to ``GET / HTTP/1.1`` (a page) or ``GET /?req=list HTTP/1.1`` (JSON)."""
    words = request_line.split()
    target = urlsplit(words[1] if len(words) > 1 else "/")
    if target.path != "/":
        return _response("404 Not Found", "text/plain", _NOT_FOUND)
    if parse_qs(target.query).get("req") == ["list"]:
        return _response("200 OK", "application/json", json.dumps([_as_table(contact) for contact in contacts]))
    return _response("200 OK", "text/html", _page(namespace, contacts))


def _as_table(contact: Contact) -> dict[str, str | int]:
    return {
        "name": contact.getRegName(),
        "ip": contact.getHost(),
        "port_number": contact.getPort(),
        "carrier": contact.getCarrier(),
    }


def _page(namespace: str, contacts: Sequence[Contact]) -> str:
    title = html.escape(f"Name server {namespace}")
    rows = "".join(
        f"<tr><td>{html.escape(contact.getRegName())}</td><td>{html.escape(contact.toURI())}</td></tr>\n"
        for contact in contacts
    )
    return f"<!DOCTYPE html>\n<title>{title}</title>\n<h1>{title}</h1>\n<table>\n{rows}</table>\n"


def _response(status: str, kind: str, text: str) -> bytes:
    body = text.encode("utf-8", "replace")
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


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
        is_temporary: Whether it runs within another program and ends with it; clients can ask.
        on_change: Called at each change of the registrations.
        limits: How much is remembered.
    """

    def __init__(
        self,
        settings: NetworkSettings,
        is_temporary: bool = False,
        on_change: OnChange | None = None,
        limits: RegistryLimits | None = None,
    ) -> None:
        self._settings = settings
        self._is_temporary = is_temporary
        self._on_change = on_change
        self._limits = limits
        self._registry: NameRegistry | None = None
        self._subscriptions: Subscriptions | None = None
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
            self._registry = NameRegistry(self.contact, self._limits, self._tell, is_listened)
            self._subscriptions = Subscriptions(self._registry.query, partial(connect_ports, settings=self._settings))
            self._describe(self._registry)

    def stop(self) -> None:
        """Stop serving and forget everything."""
        with self._lock:
            core, self._core = self._core, None
        if core is not None:
            core.close()
        if self._subscriptions is not None:
            self._subscriptions.close()

    def write_file(self, path: Path) -> None:
        """Write the file by which all YARP programs of a user find this server."""
        write_name_server_file(path, NameServerAddress(self.contact.getHost(), self.contact.getPort()))

    def _known(self) -> NameRegistry:
        """Return the registry, once the server has started."""
        with self._lock:
            assert self._registry is not None
            return self._registry

    def _commands(self) -> NameCommands:
        registry = self._known()
        assert self._subscriptions is not None
        return NameCommands(registry, self._subscriptions)

    def _describe(self, registry: NameRegistry) -> None:
        registry.set_property(self._settings.namespace, "process", [os.getpid()])
        if self._is_temporary:
            registry.set_property(self._settings.namespace, TEMPORARY, [os.getpid()])

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
        return self._commands().answer(request).as_message()

    def _serve_lines(self, connection: LineConnection) -> None:
        commands = self._commands()
        while (line := connection.read_line()) is not None:
            reply = commands.answer(request_of_line(line, connection.peer_host))
            connection.send(reply.as_text().encode("utf-8", "surrogateescape"))

    def _serve_browser(self, connection: LineConnection) -> None:
        request_line = connection.read_line() or ""
        connection.send(http_reply(request_line, self._settings.namespace, self._known().contacts()))

    def _tell(self, is_there: bool, name: str) -> None:
        if not is_there and self._subscriptions is not None:
            self._subscriptions.end_with(name)
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
