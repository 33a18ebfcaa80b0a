"""What a port tells of itself and its connections."""

from __future__ import annotations

import os
import platform
import sys
from typing import Protocol

from pureyarp.network.contact import Contact
from pureyarp.network.port_inputs import PortInputs
from pureyarp.network.port_outputs import PortOutputs
from pureyarp.wire.carriers import CARRIERS
from pureyarp.wire.elements import Dictionary, Element

_UNKNOWN = -1  # scheduling of threads is left to the system


class DescribedPort(Protocol):
    """What is told of a port."""

    name: str
    contact: Contact
    inputs: PortInputs
    outputs: PortOutputs
    allows_inputs: bool
    allows_outputs: bool
    is_rpc: bool


def lines_about(port: DescribedPort) -> list[str]:
    """Return what people read about a port."""
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


def output_names(port: DescribedPort) -> list[Element]:
    """Return the names of the ports that a port sends to."""
    return [output.target for output in port.outputs.all()]


def input_names(port: DescribedPort) -> list[Element]:
    """Return the names of all who send to a port."""
    return [connection.sender for connection in port.inputs.all()]


def output_details(port: DescribedPort, target: str) -> list[Element]:
    """Return the ends and the carrier of an outgoing connection, empty if there is none."""
    output = port.outputs.named(target)
    return [] if output is None else _connection_details(port.name, target, output.carrier.name)


def input_details(port: DescribedPort, sender: str) -> list[Element]:
    """Return the ends and the carrier of an incoming connection, empty if there is none."""
    connections = port.inputs.named(sender)
    return _connection_details(sender, port.name, connections[0].carrier_name) if connections else []


def port_properties(port: DescribedPort) -> list[Element]:
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
