"""A message on its way to the outputs of a port."""

from __future__ import annotations

from typing import NamedTuple

from pureyarp.data.vectors import Vector
from pureyarp.network.transferable import Sent, encoded, encoded_text
from pureyarp.wire.binary import PortCommand, data_command, encode_command, encode_message
from pureyarp.wire.carriers import Carrier
from pureyarp.wire.elements import WireFamily

_LIST_HEAD_SIZE = 8  # tag and count


class Frame(NamedTuple):
    """A message as one kind of connection carries it.

    Attributes:
        data: All bytes.
        object_start: Where in them the object begins.
        family: Of the object.
    """

    data: bytes
    object_start: int
    family: WireFamily


class OutgoingMessage:
    """An object with its port command, encoded once for each kind of connection that needs it.

    Connections that bring no reply are not asked for one.
    """

    def __init__(self, command: PortCommand, sent: Sent) -> None:
        self._command = command
        self._sent = sent
        self._bodies: dict[WireFamily, bytes] = {}
        self._text_body: bytes | None = None

    def frame(self, carrier: Carrier, family: WireFamily) -> Frame:
        """Return the bytes for a connection."""
        command = self._command
        if command.character == "d" and not carrier.has_reply:
            command = data_command(False, command.argument)
        return self._text_frame(command, family) if carrier.is_text else self._binary_frame(command, family)

    def _binary_frame(self, command: PortCommand, family: WireFamily) -> Frame:
        body = self._bodies.get(family)
        if body is None:
            body = self._bodies[family] = encoded(self._sent, family)
        data = encode_message(_blocks(command, body, isinstance(self._sent, Vector)))
        return Frame(data, len(data) - len(body), family)

    def _text_frame(self, command: PortCommand, family: WireFamily) -> Frame:
        if self._text_body is None:
            self._text_body = encoded_text(self._sent)
        line = command.text.encode("utf-8", "surrogateescape") + b"\r\n"
        return Frame(line + self._text_body, len(line), family)


def _blocks(command: PortCommand, body: bytes, is_vector: bool) -> list[bytes]:
    """Return the blocks of a message as YARP cuts it; receivers put them together again."""
    start = encode_command(command)
    if command.character == "a":
        return [start + body]
    if is_vector and len(body) > _LIST_HEAD_SIZE:
        return [start, body[:_LIST_HEAD_SIZE], body[_LIST_HEAD_SIZE:]]
    return [start, body]
