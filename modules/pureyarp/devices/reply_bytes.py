"""A reply that is kept as it came."""

from __future__ import annotations

from pureyarp.data.streams import ConnectionReader


class ReplyBytes:
    """A reply that is no list.

    Attributes:
        data: What came.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.data = b""

    def read(self, reader: ConnectionReader) -> bool:
        """Take all that came."""
        data = bytearray(reader.getSize())
        is_read = reader.expectBlock(data, len(data))
        self.data = bytes(data)
        return is_read
