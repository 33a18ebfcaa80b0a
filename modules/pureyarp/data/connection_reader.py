"""One message while it is being read."""

from __future__ import annotations

import struct
from typing import Any

from pureyarp.data.connection_writer import ConnectionWriter
from pureyarp.wire.binary import encode_list, encoded_size
from pureyarp.wire.elements import WireFamily
from pureyarp.wire.text import from_text


class ConnectionReader:
    """What a user's ``PortReader.read`` reads from: the payload of a message, or the line of a text message.

    With it come the writer for the reply (None if the sender wants none), the contacts of the sender and of this port,
    and the text of the envelope. The last call, after a connection has ended, is not valid.

    Every ``expect`` method reads on where the last one ended. Behind the end of the message, they return 0 or nothing,
    and ``isError()`` tells so.

    Attributes:
        family: Of the peer; what it does not show, the settings say.
        drop_requested: Whether the connection is to be closed after this message.
    """

    def __init__(
        self,
        payload: bytes | bytearray | memoryview | str = b"",
        family: WireFamily = WireFamily.YARP_3,
        *,
        writer: ConnectionWriter | None = None,
        remote: Any = None,
        local: Any = None,
        envelope: str = "",
        is_valid: bool = True,
    ) -> None:
        self.family = family
        self._is_text = isinstance(payload, str)
        data = payload.encode("utf-8", "surrogateescape") if isinstance(payload, str) else payload
        self._data = memoryview(data).cast("B")
        self._offset = 0
        self._writer, self._remote, self._local, self._envelope = writer, remote, local, envelope
        self._is_valid = is_valid
        self._is_error = False
        self.drop_requested = False

    def expectInt8(self) -> int:
        """Read 1 byte."""
        return int(self._expect("<b", 1))

    def expectInt16(self) -> int:
        """Read 2 bytes."""
        return int(self._expect("<h", 2))

    def expectInt32(self) -> int:
        """Read 4 bytes."""
        return int(self._expect("<i", 4))

    def expectInt64(self) -> int:
        """Read 8 bytes."""
        return int(self._expect("<q", 8))

    def expectFloat32(self) -> float:
        """Read 4 bytes."""
        return float(self._expect("<f", 4))

    def expectFloat64(self) -> float:
        """Read 8 bytes."""
        return float(self._expect("<d", 8))

    def expectString(self) -> str:
        """Read the length [bytes] and the bytes of a string."""
        return str(self._take(self.expectInt32()), "utf-8", "surrogateescape")

    def expectText(self, terminatingChar: str = "\n") -> str:
        """Read up to ``terminatingChar``, or to the end; a carriage return before a line's end is left out."""
        rest = bytes(self._data[self._offset :])
        line, separator, _ = rest.partition(terminatingChar.encode())
        self._offset += len(line) + len(separator)
        self._is_error = self._is_error or not rest
        return line.decode("utf-8", "surrogateescape").removesuffix("\r" if terminatingChar == "\n" else "")

    def expectBlock(self, data: bytearray | memoryview, len: int) -> bool:
        """Read ``len`` bytes into ``data``."""
        block = self._take(len)
        if self._is_error:
            return False
        data[:len] = block
        return True

    def convertTextMode(self) -> bool:
        """Go on as if the list of a text message had come in binary; the reply is converted back."""
        if self._is_text:
            text = str(self._data[self._offset :], "utf-8", "surrogateescape")
            self._data, self._offset = memoryview(encode_list(from_text(text), self.family)), 0
            self._is_text = False
            if self._writer is not None:
                self._writer.convertTextMode()
        return True

    def isTextMode(self) -> bool:
        """Return whether text is to be read."""
        return self._is_text

    def isBareMode(self) -> bool:
        """Return whether a message should do without tags; none does here."""
        return False

    def isValid(self) -> bool:
        """Return whether there is something to read, and nothing went wrong."""
        return self._is_valid and not self._is_error

    def isActive(self) -> bool:
        """Return whether the connection is alive."""
        return self._is_valid

    def isError(self) -> bool:
        """Return whether more was expected than the message holds."""
        return self._is_error

    def getSize(self) -> int:
        """Return how many bytes have not been read."""
        return self._data.nbytes - self._offset

    def getWriter(self) -> ConnectionWriter | None:
        """Return where the reply is written; None if the sender wants none."""
        return self._writer

    def getRemoteContact(self) -> Any:
        """Return the contact of the sender."""
        return self._remote

    def getLocalContact(self) -> Any:
        """Return the contact of this port."""
        return self._local

    def readEnvelope(self) -> str:
        """Return the text that came with the message."""
        return self._envelope

    def requestDrop(self) -> None:
        """Ask for the connection to be closed after this message."""
        self.drop_requested = True

    def _expect(self, layout: str, size: int) -> float:
        block = self._take(size)
        value: float = struct.unpack(layout, block)[0] if block.nbytes == size else 0
        return value

    def _take(self, size: int) -> memoryview:
        """Return the next bytes; none if there are not as many."""
        if not 0 <= size <= self.getSize():
            self._is_error = True
            return memoryview(b"")
        self._offset += size
        return self._data[self._offset - size : self._offset]


def next_object(reader: ConnectionReader) -> memoryview:
    """Take the bytes of the next list, or all that is left where no list ends.

    Raises:
        MalformedMessage: What follows is no list.
    """
    rest = reader._data[reader._offset :]
    size = encoded_size(rest, reader.family)
    return reader._take(rest.nbytes if size is None else size)


def learn_family(reader: ConnectionReader, family: WireFamily) -> None:
    """Read on, and answer, in the family that the message has shown."""
    reader.family = family
    if reader._writer is not None:
        reader._writer.family = family
