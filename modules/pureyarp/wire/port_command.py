"""What a message wants from a port: the first bytes of every message."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pureyarp.errors import MalformedMessage

COMMAND_SIZE = 8

_LAYOUT = struct.Struct("<i2s2s")  # length of the text, ~ and character, two fixed bytes
_FIXED = b"\x00\x01"
_PLAIN_CALL = _LAYOUT.pack(0, b"~d", _FIXED)
_PLAIN_DATA = _LAYOUT.pack(0, b"~D", _FIXED)


@dataclass(frozen=True, slots=True)
class PortCommand:
    """What a message wants.

    Attributes:
        character: ``d`` data whose sender waits for a reply, ``D`` data, ``a`` administration, ``q`` farewell,
            ``/`` ``!`` ``~`` connections, ``*`` description, ``?`` help, ``r`` reversal.
        argument: What follows the character: the envelope of data, the rest of a port name.
    """

    character: str
    argument: str = ""

    @property
    def is_data(self) -> bool:
        """Tell whether an object for the port's owner follows."""
        return self.character in ("d", "D")

    @property
    def text(self) -> str:
        """Return the command as a line of text."""
        gap = " " if self.is_data and self.argument else ""
        return f"{self.character}{gap}{self.argument}"


DATA = PortCommand("D")
CALL = PortCommand("d")
ADMINISTRATION = PortCommand("a")
FAREWELL = PortCommand("q")

_PLAIN = {_PLAIN_CALL: CALL, _PLAIN_DATA: DATA}  # nearly all messages


def data_command(wants_reply: bool, envelope: str) -> PortCommand:
    """Return the command of data with an envelope, which may be empty."""
    if envelope:
        return PortCommand("d" if wants_reply else "D", envelope)
    return CALL if wants_reply else DATA


def encode_command(command: PortCommand) -> bytes:
    """Return the bytes of a command: one character for plain data, else text with a final NUL, as YARP sends them."""
    if not command.argument and command.character in ("d", "D"):
        return _PLAIN_CALL if command.character == "d" else _PLAIN_DATA
    text = command.text.encode("utf-8", "surrogateescape") + b"\0"
    return _LAYOUT.pack(len(text), b"~\0", _FIXED) + text


def decode_command(payload: bytes) -> tuple[PortCommand, int]:
    """Return the command at the start of a payload and how many bytes it takes."""
    if len(payload) < COMMAND_SIZE:
        raise MalformedMessage(f"a message of {len(payload)} bytes has no room for a port command")
    plain = _PLAIN.get(payload[:COMMAND_SIZE])
    if plain is not None:
        return plain, COMMAND_SIZE
    length, mark, _ = _LAYOUT.unpack_from(payload)
    if mark[:1] != b"~" or not 0 <= length <= len(payload) - COMMAND_SIZE:
        raise MalformedMessage(f"{payload[:COMMAND_SIZE].hex(' ')} is no port command")
    end = COMMAND_SIZE + length
    if mark[1]:
        return PortCommand(chr(mark[1])), end
    return parse_command(payload[COMMAND_SIZE:end].split(b"\0", 1)[0].decode("utf-8", "surrogateescape")), end


def parse_command(line: str) -> PortCommand:
    """Return the command that a line of text is; an envelope is cut at the first character that is not printable."""
    character, argument = line[:1], line[1:]
    if character in ("d", "D"):
        argument = _printable_start(argument.removeprefix(" "))
    return PortCommand(character, argument)


def _printable_start(text: str) -> str:
    if text.isprintable():  # as nearly all envelopes are
        return text
    return next((text[:index] for index, character in enumerate(text) if character < " "), text)
