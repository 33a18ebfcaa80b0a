"""Replies and acknowledgements that come back on the socket of an output."""

from __future__ import annotations

from pureyarp.errors import FrameTooLarge, MalformedMessage
from pureyarp.network.byte_stream import ByteStream
from pureyarp.wire.binary import (
    ACKNOWLEDGEMENT,
    NUMBER_SIZE,
    TEXT_ACKNOWLEDGEMENT,
    encoded_size,
    expected_number,
    is_acknowledgement,
)
from pureyarp.wire.carriers import Carrier
from pureyarp.wire.elements import WireFamily

_NO_REPLY = 0
_LARGEST_UNTAGGED = 64  # [bytes] with acknowledgement


class StreamReplies:
    """Takes complete replies and acknowledgements; an incomplete one stays where it is, to be tried again."""

    def __init__(self, stream: ByteStream, carrier: Carrier, largest: int) -> None:
        self._stream = stream
        self._carrier = carrier
        self._largest = largest
        self._to_skip = 0  # bytes that an acknowledgement has announced

    def take_acknowledgement(self, flags: int = 0) -> None:
        """Take an acknowledgement, waiting for it unless ``flags`` forbid that."""
        if self._carrier.is_text:
            while self._stream.find_line(TEXT_ACKNOWLEDGEMENT) is None:
                self._receive(flags)
            self._stream.skip((self._stream.find_line(TEXT_ACKNOWLEDGEMENT) or 0) + len(TEXT_ACKNOWLEDGEMENT))
            return
        if not self._to_skip:
            self._wait_for(NUMBER_SIZE, flags)
            if self._stream.view()[:NUMBER_SIZE] == ACKNOWLEDGEMENT:
                self._stream.skip(NUMBER_SIZE)
                return
            self._to_skip = NUMBER_SIZE + self._announced()
        self._wait_for(self._to_skip, flags)
        self._stream.skip(self._to_skip)
        self._to_skip = 0

    def take_reply(self, family: WireFamily) -> bytes | str | None:
        """Take a reply, None if the acknowledgement comes without one."""
        while (size := self._reply_size(family)) is None:
            self._receive(0)
        if size == _NO_REPLY:
            return None
        reply = self._stream.take(size)
        return reply.decode("utf-8", "surrogateescape") if self._carrier.is_text else reply

    def _reply_size(self, family: WireFamily) -> int | None:
        if self._carrier.is_text:
            return self._stream.find_line(TEXT_ACKNOWLEDGEMENT)
        received = self._stream.view()
        is_acknowledged = is_acknowledgement(received) if self._carrier.has_ack else False
        if is_acknowledged is None:
            return None
        return _NO_REPLY if is_acknowledged else self._object_size(received, family)

    def _object_size(self, received: memoryview, family: WireFamily) -> int | None:
        try:
            return encoded_size(received, family)
        except MalformedMessage:
            if not self._carrier.has_ack or len(received) > _LARGEST_UNTAGGED:
                raise
            return _size_of_untagged(received)

    def _announced(self) -> int:
        announced = expected_number(self._stream.peek(NUMBER_SIZE), "an acknowledgement")
        if not 0 <= announced <= self._largest:
            raise MalformedMessage(f"an acknowledgement announces {announced} bytes")
        return announced

    def _wait_for(self, size: int, flags: int) -> None:
        while len(self._stream) < size:
            self._stream.receive(flags)

    def _receive(self, flags: int) -> None:
        if len(self._stream) > self._largest:
            raise FrameTooLarge(f"a reply of more than {self._largest} bytes is refused")
        self._stream.receive(flags)


def _size_of_untagged(received: bytearray | memoryview | bytes) -> int | None:
    """Return the size of a reply that generated code wrote without tags: it ends where the acknowledgement begins."""
    is_complete = len(received) > NUMBER_SIZE and is_acknowledgement(received[-NUMBER_SIZE:])
    return len(received) - NUMBER_SIZE if is_complete else None
