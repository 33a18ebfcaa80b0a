"""Messages as the objects that users read and write."""

from __future__ import annotations

from typing import Protocol

from pureyarp.data.streams import ConnectionReader, ConnectionWriter, Portable, line_of
from pureyarp.network.contact import Contact
from pureyarp.network.incoming_message import IncomingMessage
from pureyarp.network.output_connection import OutputConnection
from pureyarp.network.transferable import Sent, encoded, encoded_text
from pureyarp.wire.elements import WireFamily
from pureyarp.wire.text import items_of_reply, to_text


class Reads(Protocol):
    """A Bottle, a Vector, ..., or a PortReader of the user's."""

    def read(self, reader: ConnectionReader, /) -> bool:
        """Read one message."""


class Writes(Protocol):
    """A Bottle, a Vector, ..., or an object of the user's that writes itself."""

    def write(self, writer: ConnectionWriter, /) -> bool:
        """Write one message."""


def read_object(reader: Reads, message: IncomingMessage) -> bool:
    """Fill an object from a message; raises `MalformedMessage` if it is none of its kind."""
    if isinstance(reader, Portable):
        message.read_into(reader)
        return True
    return reader.read(ConnectionReader(message.payload, message.source.family, envelope=message.envelope))


def read_reply(reader: Reads, output: OutputConnection, payload: bytes | str) -> bool:
    """Fill an object from a reply; raises `MalformedMessage` if it is none of its kind."""
    if not isinstance(reader, Portable):
        return reader.read(ConnectionReader(payload, output.family))
    if isinstance(payload, str):
        reader.from_wire_text(to_text(items_of_reply(payload)))
    else:
        output.family = reader.from_wire(payload, output.family)
    return True


def read_and_answer(reader: Reads, message: IncomingMessage, local: Contact) -> bytes | None:
    """Have a user's object read a message and return, as it travels, what it appended to the writer."""
    is_text = isinstance(message.payload, str)
    writer = ConnectionWriter(is_text, message.source.family) if message.wants_reply else None
    connection = ConnectionReader(
        message.payload,
        message.source.family,
        writer=writer,
        remote=message.source.remote,
        local=local,
        envelope=message.envelope,
    )
    reader.read(connection)
    message.source.family = connection.family
    if connection.drop_requested or (writer is not None and writer.drop_requested):
        message.source.finish()
    return None if writer is None or not writer.data else written_bytes(writer, is_text)


def written_bytes(writer: ConnectionWriter, is_text: bool) -> bytes:
    """Return what was appended to a writer as it travels."""
    if not is_text:
        return bytes(writer.data)
    return line_of(writer).replace("\n", "\r\n").encode("utf-8", "surrogateescape") + b"\r\n"


def encoded_reply(sent: Sent, message: IncomingMessage) -> bytes:
    """Return a reply as it travels back to who sent a message."""
    return encoded_text(sent) if isinstance(message.payload, str) else encoded(sent, message.source.family)


def sendable(written: Writes) -> Sent:
    """Return what can be sent for an object of the user's; TypeError for one that does not write itself."""
    if not hasattr(written, "write"):
        raise TypeError(f"an object that can be written is expected, not {written!r}")
    return written if isinstance(written, Portable) else _WrittenByUser(written)


class _WrittenByUser:
    """Has a user's object write itself for each kind of connection."""

    def __init__(self, written: Writes) -> None:
        self._written = written

    def to_wire(self, family: WireFamily) -> bytes:
        writer = ConnectionWriter(False, family)
        self._written.write(writer)
        return bytes(writer.data)

    def to_wire_text(self) -> str:
        writer = ConnectionWriter(True)
        self._written.write(writer)
        return line_of(writer)
