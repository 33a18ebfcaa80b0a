"""One message while it is being written."""

from __future__ import annotations

import struct

from pureyarp.data.argument_checks import checked_integer
from pureyarp.data.conversions import rounded_to_float32
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list
from pureyarp.wire.elements import WireFamily
from pureyarp.wire.text import to_text


class ConnectionWriter:
    """Collects what a user's code answers, or what a Portable writes.

    Attributes:
        family: Of the peer.
        data: What has been appended; nothing means no reply.
        converts: Whether ``data`` is a list in binary that a text connection gets as text.
        drop_requested: Whether the connection is to be closed after this message.
    """

    def __init__(self, is_text: bool = False, family: WireFamily = WireFamily.YARP_3) -> None:
        self.family = family
        self._is_text = is_text
        self.converts = False
        self.data = bytearray()
        self.drop_requested = False

    def appendInt8(self, data: int) -> None:
        """Append 1 byte."""
        self._append("<b", checked_integer(data, 8))

    def appendInt16(self, data: int) -> None:
        """Append 2 bytes."""
        self._append("<h", checked_integer(data, 16))

    def appendInt32(self, data: int) -> None:
        """Append 4 bytes."""
        self._append("<i", checked_integer(data, 32))

    def appendInt64(self, data: int) -> None:
        """Append 8 bytes."""
        self._append("<q", checked_integer(data, 64))

    def appendFloat32(self, data: float) -> None:
        """Append 4 bytes."""
        self._append("<f", rounded_to_float32(data))

    def appendFloat64(self, data: float) -> None:
        """Append 8 bytes."""
        self._append("<d", data)

    def appendString(self, str: str) -> None:
        """Append the length [bytes] and the bytes of a string."""
        content = str.encode("utf-8", "surrogateescape")
        self._append("<i", len(content))
        self.data += content

    def appendText(self, str: str, terminate: str = "\n") -> None:
        """Append a text and its end."""
        self.data += (str + terminate).encode("utf-8", "surrogateescape")

    def appendBlock(self, data: bytes, len: int | None = None) -> None:
        """Append bytes."""
        self.data += data if len is None else data[:len]

    def appendExternalBlock(self, data: bytes, len: int | None = None) -> None:
        """Append bytes."""
        self.appendBlock(data, len)

    def convertTextMode(self) -> bool:
        """From now on binary is appended; a text connection gets it as text in the end."""
        self.converts = self.converts or self._is_text
        return True

    def isTextMode(self) -> bool:
        """Return whether text is to be appended."""
        return self._is_text and not self.converts

    def isBareMode(self) -> bool:
        """Return whether a message should do without tags; none does here."""
        return False

    def isValid(self) -> bool:
        """Return whether something can be appended."""
        return True

    def isActive(self) -> bool:
        """Return whether something can be appended."""
        return True

    def isNull(self) -> bool:
        """Return whether what is appended is lost; it never is."""
        return False

    def isError(self) -> bool:
        """Return whether something could not be appended."""
        return False

    def requestDrop(self) -> None:
        """Ask for the connection to be closed after this message."""
        self.drop_requested = True

    def _append(self, layout: str, value: float) -> None:
        try:
            self.data += struct.pack(layout, value)
        except struct.error as error:
            raise MalformedMessage(f"{value!r} cannot be appended: {error}") from None


def line_of(writer: ConnectionWriter) -> str:
    """Return what has been appended to a text message, without its line end.

    Raises:
        MalformedMessage: Binary was appended that is no list.
    """
    if writer.converts:
        return to_text(decode_list(writer.data, writer.family).items)
    return writer.data.decode("utf-8", "surrogateescape").rstrip("\r\n")
