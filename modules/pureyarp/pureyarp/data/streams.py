"""Write and read messages: the streams of a connection, the objects that ports carry, their stamps."""

from __future__ import annotations

import logging
import re
import struct
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

from pureyarp.data.conversions import checked_integer, rounded_to_float32
from pureyarp.errors import MalformedMessage
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire import Element, PlainList, WireFamily, decode_list, encode_list, encoded_size, from_text, to_text

_Number = TypeVar("_Number", int, float)


def _appends_integer(layout: str) -> Callable[[ConnectionWriter, int], None]:
    """Return a method that appends an integer in a layout of ``struct``."""
    bits = 8 * struct.calcsize(layout)
    return lambda writer, data: writer._append(layout, checked_integer(data, bits))


class ConnectionWriter:
    """Collects the bytes of a reply, or of a Portable that is written.

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

    appendInt8, appendInt16 = _appends_integer("<b"), _appends_integer("<h")
    appendInt32, appendInt64 = _appends_integer("<i"), _appends_integer("<q")

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


def _expects(layout: str, kind: Callable[[float], _Number]) -> Callable[[ConnectionReader], _Number]:
    """Return a method that reads a number in a layout of ``struct``; 0 behind the end of the message."""
    size = struct.calcsize(layout)

    def expect(reader: ConnectionReader) -> _Number:
        block = reader._take(size)
        return kind(struct.unpack(layout, block)[0] if block.nbytes == size else 0)

    return expect


class ConnectionReader:
    """Reads the payload of a message, or the line of a text message: the argument of ``PortReader.read``.

    With it come the writer for the reply (None if the sender wants none), the contacts of the sender and of this port,
    and the text of the envelope. The last call, after a connection has ended, is not valid.

    Every ``expect`` method reads on where the last one ended. Behind the end of the message, they return 0 or nothing,
    and ``isError()`` is true then.

    Attributes:
        family: Of the peer, or of the settings until a message has shown it.
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

    expectInt8, expectInt16 = _expects("<b", int), _expects("<h", int)
    expectInt32, expectInt64 = _expects("<i", int), _expects("<q", int)
    expectFloat32, expectFloat64 = _expects("<f", float), _expects("<d", float)

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


_LOGGER = logging.getLogger("pureyarp")
_refusals: defaultdict[type, RateLimitedLog] = defaultdict(
    lambda: RateLimitedLog(_LOGGER)
)  # peers may send garbage without end


class Portable(ABC):
    """An object that is written to connections and read from them."""

    @abstractmethod
    def to_wire(self, family: WireFamily = WireFamily.YARP_3) -> bytes:
        """Return the object as the payload of a binary message."""

    @abstractmethod
    def to_wire_text(self) -> str:
        """Return the object as one line of a text connection."""

    @abstractmethod
    def from_wire(self, data: bytes | bytearray | memoryview, family: WireFamily = WireFamily.YARP_3) -> WireFamily:
        """Take over what the payload of a binary message says, and return the family that it shows.

        Raises:
            MalformedMessage: It is no such object; this one is unchanged.
        """

    @abstractmethod
    def from_wire_text(self, text: str) -> None:
        """Take over what a line says.

        Raises:
            MalformedMessage: It is no such object; this one is unchanged.
        """

    @staticmethod
    def copyPortable(writer: Portable, reader: Portable) -> bool:
        """Let one object take over what another one says; False if it is none of its kind."""
        try:
            reader.from_wire(writer.to_wire())
        except MalformedMessage:
            return False
        return True

    def write(self, writer: ConnectionWriter) -> bool:
        """Append the object to what is being written."""
        if writer.isTextMode():
            writer.appendText(self.to_wire_text())
        else:
            writer.appendBlock(self.to_wire(writer.family))
        return not writer.isError()

    def read(self, reader: ConnectionReader) -> bool:
        """Take over the next object of what is being read; False, with a line in the log, if it is none."""
        try:
            if reader.isTextMode():
                self.from_wire_text(reader.expectText())
            else:
                learn_family(reader, self.from_wire(next_object(reader), reader.family))
        except MalformedMessage as error:
            _refusals[type(self)].warning("%s cannot be read: %s", type(self).__name__, error)
            return False
        return not reader.isError()


_source: Callable[[], float] = time.time


def now() -> float:
    """Return the time of this process, [s]: since the epoch, or of the network clock."""
    return _source()


def use_time_source(source: Callable[[], float]) -> None:
    """Take the time from ``source`` from now on; ``time.time`` is the machine's clock."""
    global _source
    _source = source


_LARGEST_COUNT = 2**31 - 1
_USUAL = re.compile(r"([0-9]{1,9}) ([0-9]+\.[0-9]+)").fullmatch  # nearly all envelopes, one a message


class Stamp(Portable):
    """A count that wraps to 0 behind 2^31 - 1, and a time since the epoch [s]; not valid before the first update."""

    def __init__(self, count: int = -1, time: float = 0.0) -> None:
        self._count = count
        self._time = float(time)

    def __repr__(self) -> str:
        return f"Stamp({self._count}, {self._time!r})"

    def getCount(self) -> int:
        """Return the number."""
        return self._count

    def getTime(self) -> float:
        """Return the time [s]."""
        return self._time

    def getMaxCount(self) -> int:
        """Return the largest number."""
        return _LARGEST_COUNT

    def isValid(self) -> bool:
        """Return whether this has been set."""
        return self._count >= 0

    def update(self, time: float | None = None) -> None:
        """Count on, and take the time: ``time`` [s], or the present one."""
        self._count = (self._count + 1) & _LARGEST_COUNT
        self._time = now() if time is None else float(time)

    def to_wire(self, family: WireFamily = WireFamily.YARP_3) -> bytes:
        """Return a list of number and time."""
        return encode_list(PlainList([self._count, self._time]), family)

    def to_wire_text(self) -> str:
        """Return number and time as they stand in an envelope."""
        return f"{self._count} {self._time:.15g}"

    def from_wire(self, data: bytes | bytearray | memoryview, family: WireFamily = WireFamily.YARP_3) -> WireFamily:
        """Take over a list of number and time, and return the family that it shows."""
        decoded = decode_list(data, family)
        self._take(decoded.items)
        return decoded.family

    def from_wire_text(self, text: str) -> None:
        """Take over an envelope, or any text of a list of number and time."""
        if usual := _USUAL(text):
            self._count, self._time = int(usual[1]), float(usual[2])
            return
        items = from_text(text)
        self._take(items[0] if len(items) == 1 and isinstance(items[0], list) else items)

    def _take(self, items: list[Element]) -> None:
        match items:
            case [int(count), int() | float() as time, *_]:
                self._count, self._time = int(count), float(time)
            case _:
                raise MalformedMessage(f"a stamp is a number and a time, not {items[:3]}")
