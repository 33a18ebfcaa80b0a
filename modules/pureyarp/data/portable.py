"""What ports carry."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections import defaultdict

from pureyarp.data.connection_reader import ConnectionReader, learn_family, next_object
from pureyarp.data.connection_writer import ConnectionWriter
from pureyarp.errors import MalformedMessage
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.elements import WireFamily

_LOGGER = logging.getLogger("pureyarp")
_complaints: defaultdict[type, RateLimitedLog] = defaultdict(
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
            _complaints[type(self)].warning("%s cannot be read: %s", type(self).__name__, error)
            return False
        return not reader.isError()
