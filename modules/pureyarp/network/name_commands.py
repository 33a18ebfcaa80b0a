"""The commands of a name server."""

from __future__ import annotations

import re
from collections.abc import Callable

from pureyarp.network.contact import Contact
from pureyarp.network.name_lines import CHOOSE, line_of_contact
from pureyarp.network.name_registry import NameRegistry, RefusedRegistration, text_of
from pureyarp.network.name_reply import (
    BottleReply,
    LinesReply,
    NameReply,
    error_items,
    port_items,
)
from pureyarp.network.name_request import NameRequest
from pureyarp.wire.elements import Element, encode_vocab

_REFUSED = -1
_UNKNOWN = -2
_NUMBER = re.compile(r"-?[0-9]{1,5}")
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
    "+ runners",
    "+ gc",
    "+ help",
    "'bot' before register, query, list, set or get asks for a Bottle",
)


class NameCommands:
    """Answers requests from what a registry remembers."""

    def __init__(self, registry: NameRegistry) -> None:
        self._registry = registry
        self._commands: dict[str, Callable[[NameRequest], NameReply]] = {
            "register": self._register,
            "unregister": self._unregister,
            "query": self._query,
            "list": self._list,
            "set": self._set,
            "get": self._get,
            "check": self._check,
            "route": self._route,
            "announce": lambda request: BottleReply([encode_vocab("ok")]),
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
        return BottleReply([encode_vocab("ok")]) if request.wants_bottle else LinesReply()

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
            return BottleReply([encode_vocab("ok" if is_there else "fail")])
        said = f"port {request.name()} property {request.argument(1)} value {value} present"
        return LinesReply([f"{said} {'true' if is_there else 'false'}"])

    def _route(self, request: NameRequest) -> NameReply:
        destination = self._registry.query(request.argument(1))
        if destination is None:
            return _not_known(request)
        name = destination.getRegName()
        return LinesReply([f"port {request.name()} route {name} = {destination.getCarrier()}:/{name}"])


def _port_number(text: str) -> int | None:
    """Return a number; None if it is to be chosen."""
    if text == CHOOSE:
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
