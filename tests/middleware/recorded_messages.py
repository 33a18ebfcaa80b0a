"""The messages in the recordings of real YARP programs."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "recordings"
_INDEX = 8 + 10  # bytes before the block lengths: the number of the index, the counts of blocks and filling


@dataclass(frozen=True)
class RecordedMessage:
    """One message on a port.

    Attributes:
        call: The client's call that caused it, empty where not known.
        command: The port command, for instance ``d`` or ``D 5 1700000000.5``.
        payload: The serialised object.
        reply: The object that was answered, None if there was no answer.
    """

    call: str
    command: str
    payload: bytes
    reply: bytes | None


@cache
def recording(family: str, name: str) -> dict[str, Any]:
    """Return one entry of ``yarp_3_12`` or ``yarp_4_0``."""
    entries = json.loads((_FOLDER / f"{family}.json").read_text())
    return next(entry for entry in entries if entry["name"] == name)


def recorded_messages(family: str, name: str, connection: int = 0) -> list[RecordedMessage]:
    """Return the messages of a connection that carry an object, each with the reply that followed it."""
    messages: list[RecordedMessage] = []
    for frame in recording(family, name)["frames"]:
        if frame["conn"] != connection:
            continue
        data = bytes.fromhex(frame["hex"])
        if frame.get("what") == "message" or data.startswith(b"YA\x0a\0\0\0RP"):
            messages.append(_message(data, frame.get("call", "")))
        elif frame.get("what") == "reply" or (messages and data[:4] == b"\0\1\0\0"):
            messages[-1] = RecordedMessage(*_first_three(messages[-1]), reply=data.removesuffix(b"YA\0\0\0\0RP"))
    return [message for message in messages if message.payload]


def _first_three(message: RecordedMessage) -> tuple[str, str, bytes]:
    return message.call, message.command, message.payload


def _message(data: bytes, call: str) -> RecordedMessage:
    blocks, replies = data[8], data[9]
    body = data[_INDEX + 4 * (blocks + replies) :]
    (length,) = struct.unpack_from("<i", body)
    one_character = chr(body[5])
    command = one_character if body[5] else body[8 : 8 + length].rstrip(b"\0").decode()
    return RecordedMessage(call, command, body[8 + length :], reply=None)
