"""A message on its way to the outputs of a port."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.middleware.embedded.network.transferable import Sent, encoded, encoded_text
from gradiva.middleware.embedded.wire.carriers import Carrier
from gradiva.middleware.embedded.wire.framing import encode_message
from gradiva.middleware.embedded.wire.port_command import PortCommand, encode_command
from gradiva.middleware.embedded.wire.wire_family import WireFamily


@dataclass(frozen=True, slots=True)
class Frame:
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
    """An object with its port command, encoded once for each kind of connection that needs it."""

    def __init__(self, command: PortCommand, sent: Sent) -> None:
        self._command = command
        self._sent = sent
        self._frames: dict[WireFamily, Frame] = {}
        self._text: Frame | None = None

    @property
    def wants_reply(self) -> bool:
        """Tell whether the receiver is to answer."""
        return self._command.character in ("d", "a")

    def frame(self, carrier: Carrier, family: WireFamily) -> Frame:
        """Return the bytes for a connection."""
        if carrier.is_text:
            return self._text_frame(family)
        frame = self._frames.get(family)
        if frame is None:
            frame = self._frames[family] = self._binary_frame(family)
        return frame

    def _binary_frame(self, family: WireFamily) -> Frame:
        body = encoded(self._sent, family)
        data = encode_message([encode_command(self._command), body])
        return Frame(data, len(data) - len(body), family)

    def _text_frame(self, family: WireFamily) -> Frame:
        if self._text is None:
            command = self._command.text.encode("utf-8", "surrogateescape") + b"\r\n"
            self._text = Frame(command + encoded_text(self._sent), len(command), family)
        return self._text
