"""A reply that is kept as it came."""

from __future__ import annotations

from gradiva.middleware.embedded.wire.wire_family import WireFamily


class ReplyBytes:
    """A reply that is no list; its reader takes the bytes as they came.

    Attributes:
        data: What came.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.data = b""

    def from_wire(self, data: bytes, family: WireFamily) -> WireFamily:
        """Keep the bytes of a binary connection."""
        self.data = bytes(data)
        return family

    def from_wire_text(self, text: str) -> None:
        """Keep the line of a text connection."""
        self.data = text.encode("utf-8", "surrogateescape")
