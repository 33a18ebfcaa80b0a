"""Commands to a port itself: its connections and properties. The port's owner does not see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pureyarp.errors import NetworkError
from pureyarp.network.port_description import (
    DescribedPort,
    connection_properties,
    input_details,
    input_names,
    output_details,
    output_names,
    port_properties,
)
from pureyarp.network.quality_of_service import type_of_service
from pureyarp.wire.elements import Element, Vocab32, decode_vocab, encode_vocab

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


class AdministeredPort(DescribedPort, Protocol):
    """What can be done to a port."""

    properties: dict[str, list[Element]]

    def connect(self, destination: str, carrier: str = "") -> str:
        """Add an output and return the line that says so."""

    def disconnect(self, peer: str) -> str:
        """Remove an output or an input and return the line that says so."""


class Administration:
    """Answers administrative Bottles."""

    def __init__(self, port: AdministeredPort) -> None:
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

    def _ends(self, peer: str) -> list[Connection]:
        output = self._port.outputs.named(peer)
        return [*([] if output is None else [output]), *self._port.inputs.named(peer)]

    def _no_parameters(self, arguments: list[Element]) -> list[Element]:
        return [-1, f"Could not find an incoming connection to {_word(arguments, 1)}\r\n"]


class Connection(Protocol):
    """One end of a connection."""

    def type_of_service(self) -> int:
        """Return the IP type of service."""

    def set_type_of_service(self, value: int) -> None:
        """Set the IP type of service."""


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
