"""A message that has arrived for a port's owner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pureyarp.network.contact import Contact
from pureyarp.network.transferable import Receivable, Sent
from pureyarp.wire.binary import decode_list
from pureyarp.wire.elements import Element, WireFamily
from pureyarp.wire.text import from_text


class MessageSource(Protocol):
    """The connection that a message came by."""

    sender: str
    family: WireFamily
    remote: Contact

    def is_alive(self) -> bool:
        """Tell whether the connection is open at both ends."""

    def finish(self) -> None:
        """End the connection after this message."""


@dataclass(slots=True)
class IncomingMessage:
    """A message and what its sender expects.

    Attributes:
        payload: The object: bytes from binary connections, a line from text connections.
        envelope: Text beside the object; empty without.
        wants_reply: The sender waits for an answer.
        source: The connection.
    """

    payload: bytes | str
    envelope: str
    wants_reply: bool
    source: MessageSource

    def items(self) -> list[Element]:
        """Return the elements of a Bottle."""
        if isinstance(self.payload, str):
            return from_text(self.payload)
        decoded = decode_list(self.payload, self.source.family)
        self.source.family = decoded.family
        return decoded.items

    def read_into(self, target: Receivable) -> None:
        """Fill an object, or raise `MalformedMessage` if the message is none of its kind."""
        if isinstance(self.payload, str):
            target.from_wire_text(self.payload)
        else:
            self.source.family = target.from_wire(self.payload, self.source.family)


MessageHandler = Callable[[IncomingMessage], Sent | None]
"""Takes a message on the thread of its connection and returns the reply; the sender is acknowledged afterwards."""
