"""Messages that are ready to be sent, with the real bindings as well as with the embedded ones."""

from __future__ import annotations

from typing import Protocol

from gradiva.middleware import yarp
from gradiva.middleware.bottles import fill_bottle
from pureyarp.network.buffered_ports import BufferedPortBottle as EmbeddedPort
from pureyarp.network.buffered_ports import write_object
from pureyarp.wire.binary import Sendable
from pureyarp.wire.elements import Element


class ReadyMessage(Sendable, Protocol):
    """A message that knows its elements and how it travels."""

    def to_items(self) -> list[Element]:
        """Return the elements."""


def send_ready(port: yarp.BufferedPortBottle, message: ReadyMessage, is_strict: bool = False) -> None:
    """Send a message, which costs next to nothing where nobody is connected.

    The embedded port takes it as it is, without a Bottle in between, and encodes it for whoever is there.
    """
    if isinstance(port, EmbeddedPort):
        write_object(port, message, is_strict)
    elif port.getOutputCount() > 0:
        fill_bottle(port.prepare(), message.to_items())
        port.write(is_strict)
