"""``gradiva yarp connect``, ``disconnect``, ``exists``."""

from __future__ import annotations

from gradiva.cli.yarp.failures import ToolFailure, say
from gradiva.cli.yarp.port_search import check_port_name, living_contact
from gradiva.cli.yarp.session import network_session
from gradiva.middleware import carrier_between, is_there, yarp


def connect(source: str, destination: str, carrier: str) -> int:
    """Let a port send to another one; return the exit status."""
    check_port_name(source)
    check_port_name(destination)
    with network_session():
        connect_or_fail(source, destination, carrier)
    say(f"connected {source} to {destination}")
    return 0


def connect_or_fail(source: str, destination: str, carrier: str) -> None:
    """Let a port send to another one.

    Raises:
        ConfigError: One is no name of a port.
        ToolFailure: It cannot be done; says why.
        NameServerUnreachable: The name server does not answer.
    """
    living_contact(source)
    living_contact(destination)
    if not yarp.Network.connect(source, destination, carrier, True):
        refusal = _refusal(source, destination, carrier)
        if refusal:
            by = f" by {carrier}" if carrier else ""
            raise ToolFailure(f"{source} refuses to connect to {destination}{by}: {refusal}")


def disconnect(source: str, destination: str) -> int:
    """Let a port no longer send to another one; return the exit status."""
    check_port_name(source)
    check_port_name(destination)
    with network_session():
        living_contact(source)
        if carrier_between(source, destination) == "":
            raise ToolFailure(f"{source} is not connected to {destination}")
        if not yarp.Network.disconnect(source, destination, "", True):
            raise ToolFailure(f"{source} does not let go of {destination}")
    say(f"disconnected {source} from {destination}")
    return 0


def exists(port: str) -> int:
    """Tell whether a port answers: exit status 0 or 1."""
    check_port_name(port)
    with network_session():
        contact = living_contact(port)
        if not is_there(port):
            raise ToolFailure(f"{contact.getHost()}:{contact.getPort()} answers, but not as a port called {port}")
    say(f"{port} is at {contact.toURI()}")
    return 0


def _refusal(source: str, destination: str, carrier: str) -> str:
    """Ask the source once more, for its own words; empty if this time it connects."""
    command, reply, style = yarp.Bottle(), yarp.Bottle(), yarp.ContactStyle()
    command.addVocab32("add")
    command.addString(f"{carrier}:/{destination}" if carrier else destination)
    style.admin, style.quiet, style.timeout = True, True, 5.0
    if not yarp.Network.write(yarp.Network.queryName(source), command, reply, style):
        return "it does not answer"
    is_connected = reply.get(0).isInt32() and reply.get(0).asInt32() == 0
    return "" if is_connected else reply.get(1).asString().strip() or reply.toString()
