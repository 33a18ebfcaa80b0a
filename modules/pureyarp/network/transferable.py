"""Objects that travel between ports."""

from __future__ import annotations

from typing import Protocol

from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import Element, WireFamily
from pureyarp.wire.text import to_text


class Sendable(Protocol):
    """An object that can be written to a connection."""

    def to_wire(self, family: WireFamily, /) -> bytes:
        """Return the object as the payload of a binary message."""

    def to_wire_text(self) -> str:
        """Return the object as one line of a text connection."""


class Receivable(Protocol):
    """An object that can be filled from a connection; raises `MalformedMessage` if it is something else."""

    def from_wire(self, data: bytes, family: WireFamily, /) -> WireFamily:
        """Take over what the payload of a binary message says and return the family that it shows."""

    def from_wire_text(self, text: str, /) -> None:
        """Take over what a line says."""


Sent = Sendable | list[Element] | bytes
"""What can be sent: an object, the elements of a Bottle, or bytes that are sent as they are."""


def encoded(sent: Sent, family: WireFamily) -> bytes:
    """Return an object as it travels on a binary connection."""
    if isinstance(sent, bytes):
        return sent
    return encode_list(sent, family) if isinstance(sent, list) else sent.to_wire(family)


def encoded_text(sent: Sent) -> bytes:
    """Return an object as it travels on a text connection: a line."""
    if isinstance(sent, bytes):
        return sent
    text = to_text(sent) if isinstance(sent, list) else sent.to_wire_text()
    return text.encode("utf-8", "surrogateescape") + b"\r\n"
