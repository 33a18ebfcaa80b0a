"""How a port connects itself to another one."""

from __future__ import annotations

from typing import Protocol

from pureyarp.errors import NetworkError, PeerUnreachable
from pureyarp.network.contact import Contact
from pureyarp.network.log import log
from pureyarp.network.name_client import NameClient
from pureyarp.network.open_output import open_output
from pureyarp.network.port_inputs import PortInputs
from pureyarp.network.port_outputs import PortOutputs
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire.carriers import CARRIERS


class WiredPort(Protocol):
    """A port that has connections."""

    settings: NetworkSettings
    name: str
    inputs: PortInputs
    outputs: PortOutputs
    allows_outputs: bool
    is_rpc: bool


def connect_port(port: WiredPort, destination: str, carrier: str = "") -> str:
    """Add an output to ``/name`` or ``carrier://name``, in the place of an older one, and say so.

    Raises `NetworkError` with the line that says why not.
    """
    wanted = Contact.fromString(destination)
    carrier = carrier or wanted.getCarrier()
    shown = f"{carrier}:/{wanted.getName()}" if carrier else wanted.getName()
    port.outputs.drop_dead()
    _refuse_outputs(port)
    receiver = _found(port, wanted, shown)
    if (older := port.outputs.named(receiver.getName())) is not None:
        port.outputs.remove(older)
    spoken = CARRIERS.get(carrier or receiver.getCarrier(), None if carrier else CARRIERS["tcp"])
    if spoken is None:
        log.warning("%s: the carrier %s is not spoken; %s are", port.name, carrier, ", ".join(CARRIERS))
        raise NetworkError(f"Cannot connect to {shown}")
    try:
        port.outputs.add(open_output(port.name, receiver, spoken, port.settings))
    except PeerUnreachable as error:
        log.warning("%s: %s", port.name, error)
        raise NetworkError(f"Cannot connect to {shown}") from error
    return f"Added connection from {port.name} to {shown}"


def disconnect_port(port: WiredPort, peer: str) -> str:
    """Remove the output to a peer, or else the inputs from it, and say so."""
    name = Contact.fromString(peer).getName()
    output = port.outputs.named(name)
    if output is not None:
        port.outputs.remove(output)
        return f"Removed connection from {port.name} to {name}"
    if not remove_inputs(port, name):
        raise NetworkError(
            f"Could not find an outgoing connection to {name}\r\nCould not find an incoming connection from {name}"
        )
    return f"Removing connection from {name} to {port.name}"


def remove_inputs(port: WiredPort, sender: str) -> bool:
    """End the connections that come from a sender; False if there are none."""
    connections = port.inputs.named(sender)
    for connection in connections:
        connection.close()
        port.inputs.forget(connection)
    return bool(connections)


def _refuse_outputs(port: WiredPort) -> None:
    if not port.allows_outputs:
        raise NetworkError("Outputs not allowed")
    if port.is_rpc and len(port.outputs):
        raise NetworkError("RPC output already connected")


def _found(port: WiredPort, wanted: Contact, shown: str) -> Contact:
    if wanted.isValid():
        return wanted
    try:
        found = NameClient(port.settings).query(wanted.getName())
    except NetworkError as error:
        log.warning("%s: %s", port.name, error)
        found = Contact()
    if not found.isValid():
        raise NetworkError(f"Do not know how to connect to {shown}")
    return found
