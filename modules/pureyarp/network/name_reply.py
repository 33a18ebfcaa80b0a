"""What a name server answers: lines in its old style, or a Bottle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pureyarp.network.contact import Contact
from pureyarp.network.name_lines import END_OF_REPLY
from pureyarp.wire.elements import Element
from pureyarp.wire.text import to_text

_LINE_END = "\r\n"


@dataclass(frozen=True, slots=True)
class LinesReply:
    """Lines of text that are followed by the end line."""

    lines: Sequence[str] = ()

    def as_text(self) -> str:
        """Return the reply as it is written to a connection of lines."""
        return "".join(f"{line}{_LINE_END}" for line in (*self.lines, END_OF_REPLY))

    def as_message(self) -> bytes:
        """Return the reply as it is sent to connections of ports: the same lines, even on binary ones."""
        return self.as_text().encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class BottleReply:
    """A Bottle; as text it is one line, with no end line."""

    items: list[Element]

    def as_text(self) -> str:
        """Return the reply as it is written to a connection of lines."""
        return to_text(self.items) + _LINE_END

    def as_message(self) -> list[Element]:
        """Return the reply as it is sent to connections of ports."""
        return self.items


NameReply = LinesReply | BottleReply


def port_items(contact: Contact) -> list[Element]:
    """Return a port as ``port (name "/foo") (ip "127.0.0.1") (port_number 10002) (carrier tcp)``."""
    return [
        "port",
        ["name", contact.getRegName()],
        ["ip", contact.getHost()],
        ["port_number", contact.getPort()],
        ["carrier", contact.getCarrier()],
    ]


def error_items(code: int, reason: str) -> list[Element]:
    """Return ``port (error -2 "port not known")``."""
    return ["port", ["error", code, reason]]
