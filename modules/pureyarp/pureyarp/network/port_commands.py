"""Answer commands to a port itself: lines of a terminal (`answer_line`), administrative Bottles (`Administration`)."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from pureyarp.errors import NetworkError
from pureyarp.network.inputs import InputConnection
from pureyarp.network.outputs import OutputConnection
from pureyarp.wire import CARRIERS, Dictionary, Element, PortCommand, Vocab32, decode_vocab, encode_vocab

if TYPE_CHECKING:
    from pureyarp.network.port_core import PortCore

_LINE_HELP = (
    "This is a YARP port. Here are the commands it responds to:",
    "*       Gives a description of this port",
    "d       Signals the beginning of input for the port's owner",
    "D       Like d, but no reply is wanted",
    "a       Signals the beginning of an administrative message",
    "q       Disconnects",
    "?       Gives this help",
    "/port   Requests to send output to /port",
    "!/port  Requests to stop sending output to /port",
    "~/port  Requests to stop receiving input from /port",
)


def answer_line(port: PortCore, command: PortCommand) -> list[str]:
    """Carry out a command to a port that is a single line, and return the lines of the answer."""
    if command.character == "*":
        return lines_about(port)
    if command.character == "?":
        return list(_LINE_HELP)
    if command.character == "q":
        return []
    try:
        return [_change(port, command)]
    except NetworkError as error:
        return str(error).split("\r\n")


def _change(port: PortCore, command: PortCommand) -> str:
    if command.character in ("!", "~"):
        return port.disconnect(command.argument)
    if command.character == "/" or "://" in command.text:
        return port.connect(command.text)
    return f"Port {port.name} does not know the command '{command.text}'; '?' lists the commands"


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


class Administration:
    """Answers administrative Bottles."""

    def __init__(self, port: PortCore) -> None:
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

    def _ends(self, peer: str) -> list[OutputConnection | InputConnection]:
        output = self._port.outputs.named(peer)
        return [*([] if output is None else [output]), *self._port.inputs.named(peer)]

    def _no_parameters(self, arguments: list[Element]) -> list[Element]:
        return [-1, f"Could not find an incoming connection to {_word(arguments, 1)}\r\n"]


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


_CODE_POINTS = {"LOW": 10, "NORM": 0, "HIGH": 36, "CRIT": 44}  # differentiated services, by YARP's priorities
_LARGEST = 255


def type_of_service(request: Element) -> int | None:
    """Return the IP type of service that ``((priority HIGH))``, ``((dscp n))`` or ``((tos n))`` asks for, else None."""
    if not isinstance(request, list):
        return None
    for setting in request:
        if isinstance(setting, list) and len(setting) == 2:
            key, value = setting
            found = _value(str(key), value)
            if found is not None and 0 <= found <= _LARGEST:
                return found
    return None


def _value(key: str, value: Element) -> int | None:
    if key == "priority" and isinstance(value, str) and value in _CODE_POINTS:
        return _CODE_POINTS[value] * 4
    if isinstance(value, int) and key in ("tos", "dscp"):
        return int(value) if key == "tos" else int(value) * 4
    return None


_UNKNOWN = -1  # scheduling of threads is left to the system


def lines_about(port: PortCore) -> list[str]:
    """Return the description of a port as lines for a terminal."""
    address = f"tcp://{port.contact.getHost()}:{port.contact.getPort()}/"
    outgoing = [
        f"There is an output connection from {port.name} to {output.target} using {output.carrier.name}"
        for output in port.outputs.all()
    ]
    incoming = [
        f"There is an input connection from {connection.sender} to {port.name} using {connection.carrier_name}"
        for connection in port.inputs.all()
    ]
    return [
        f"This is {port.name} at {address}",
        *(outgoing or ["There are no outgoing connections"]),
        *(incoming or ["There are no incoming connections"]),
    ]


def output_names(port: PortCore) -> list[Element]:
    """Return the names of the ports that a port sends to."""
    return [output.target for output in port.outputs.all()]


def input_names(port: PortCore) -> list[Element]:
    """Return the names of all senders to a port."""
    return [connection.sender for connection in port.inputs.all()]


def output_details(port: PortCore, target: str) -> list[Element]:
    """Return the ends and the carrier of an outgoing connection, empty if there is none."""
    output = port.outputs.named(target)
    return [] if output is None else _connection_details(port.name, target, output.carrier.name)


def input_details(port: PortCore, sender: str) -> list[Element]:
    """Return the ends and the carrier of an incoming connection, empty if there is none."""
    connections = port.inputs.named(sender)
    return _connection_details(sender, port.name, connections[0].carrier_name) if connections else []


def port_properties(port: PortCore) -> list[Element]:
    """Return the process and the platform of a port, and what it is for."""
    process: dict[str, Element] = {"arguments": " ".join(sys.argv[1:]), "name": sys.argv[0], "pid": os.getpid()}
    uses = {"is_input": port.allows_inputs, "is_output": port.allows_outputs, "is_rpc": port.is_rpc}
    return [
        ["sched", _dictionary({"policy": _UNKNOWN, "priority": _UNKNOWN, "tid": _UNKNOWN})],
        ["process", _dictionary({**process, "policy": _UNKNOWN, "priority": _UNKNOWN})],
        ["platform", _dictionary({"hostname": platform.node(), "os": platform.system()})],
        ["port", _dictionary({**{key: int(value) for key, value in uses.items()}, "type": "yarp/bottle"})],
    ]


def connection_properties(type_of_service: int) -> list[Element]:
    """Return the scheduling and the quality of service of a connection."""
    return [
        ["sched", _dictionary({"policy": _UNKNOWN, "priority": _UNKNOWN, "tid": _UNKNOWN})],
        ["qos", _dictionary({"tos": type_of_service})],
    ]


def _connection_details(source: str, target: str, carrier: str) -> list[Element]:
    details: list[Element] = [["from", source], ["to", target], ["carrier", carrier]]
    spoken = CARRIERS.get(carrier)
    return [*details, ["connectionless", 1]] if spoken is not None and spoken.is_datagram else details


def _dictionary(values: dict[str, Element]) -> Dictionary:
    return Dictionary({key: [values[key]] for key in sorted(values)})
