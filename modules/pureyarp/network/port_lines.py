"""Commands to a port itself that are single lines."""

from __future__ import annotations

from typing import Protocol

from pureyarp.errors import NetworkError
from pureyarp.network.port_description import DescribedPort, lines_about
from pureyarp.network.port_wiring import WiredPort, connect_port, disconnect_port
from pureyarp.wire.binary import PortCommand

_HELP = (
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


class ManagedPort(DescribedPort, WiredPort, Protocol):
    """A port that is told of and changed."""


class PortLines:
    """Answers them by lines."""

    def __init__(self, port: ManagedPort) -> None:
        self._port = port

    def answer(self, command: PortCommand) -> list[str]:
        """Do what a command wants and return what is said about it."""
        if command.character == "*":
            return lines_about(self._port)
        if command.character == "?":
            return list(_HELP)
        if command.character == "q":
            return []
        try:
            return self._change(command)
        except NetworkError as error:
            return str(error).split("\r\n")

    def _change(self, command: PortCommand) -> list[str]:
        port = self._port
        if command.character in ("!", "~"):
            return [disconnect_port(port, command.argument)]
        if command.character == "/" or "://" in command.text:
            return [connect_port(port, command.text)]
        return [f"Port {port.name} does not know the command '{command.text}'; '?' lists the commands"]
