"""Every object in the recordings of real YARP programs whose meaning was recorded as well."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pureyarp.wire.elements import Dictionary, Element, Vocab32, WireFamily
from pureyarp.wire.text import dictionary_items, to_text

_FOLDER = Path(__file__).parent / "recordings"
_FILES = {"yarp_3_12.json": WireFamily.YARP_3, "yarp_4_0.json": WireFamily.YARP_4}
_DATAGRAM_HEAD = 8  # checksum and sequence number
_OBJECTS = ("message", "reply")


@dataclass(frozen=True)
class RecordedPayload:
    """A serialised object.

    Attributes:
        recording: Name of the recording.
        family: Which one spoke.
        data: The bytes of the object alone.
        decoded: What an independent decoder read: the text of a Bottle, with exact floats, ``[0]`` for the vocab 0 and
            ``dict(...)`` for a dictionary.
    """

    recording: str
    family: WireFamily
    data: bytes
    decoded: str


@cache
def recorded_payloads() -> list[RecordedPayload]:
    """Return the objects of both recordings, of messages, datagrams and replies."""
    return [
        RecordedPayload(entry["name"], family, payload_of(frame), frame["decoded"])
        for file, family in _FILES.items()
        for entry in json.loads((_FOLDER / file).read_text())
        for frame in entry["frames"]
        if "decoded" in frame and (frame.get("what") in _OBJECTS or "crc_ok" in frame)
    ]


@cache
def recorded_lines() -> list[str]:
    """Return the lines of text connections that carry an object, as the real programs printed them."""
    lines: list[str] = []
    for file in _FILES:
        for entry in json.loads((_FOLDER / file).read_text()):
            texts = {connection["conn"] for connection in entry["connections"] if connection["kind"] == "text"}
            frames = [frame for frame in entry["frames"] if frame["conn"] in texts]
            lines += [line for frame in frames for line in frame["text"].split("\r\n") if not _is_protocol(line)]
    return lines


def payload_of(frame: dict[str, Any]) -> bytes:
    """Return the object of a recorded message, without index, port command and the head of a datagram."""
    data = bytes.fromhex(frame["hex"])[_DATAGRAM_HEAD if "crc_ok" in frame else 0 :]
    if "blocks" not in frame:
        return data
    body = data[18 + 4 * (data[8] + data[9]) :]
    (command_size,) = struct.unpack_from("<i", body)
    return body[8 + command_size :]


def as_printed(items: Sequence[Element]) -> str:
    """Return the elements in the notation of ``decoded``."""
    return " ".join(_printed(item) for item in items)


def _printed(item: Element) -> str:
    if isinstance(item, Dictionary):
        return "dict(" + as_printed(dictionary_items(item)) + ")"
    if isinstance(item, list):
        return "(" + as_printed(item) + ")"
    if isinstance(item, float):
        return repr(float(item))
    if isinstance(item, Vocab32) and item == 0:
        return "[0]"
    if isinstance(item, str):
        bare = re.fullmatch(r"[A-Za-z_]+", item)
        return item if bare else '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return to_text([item])


def _is_protocol(line: str) -> bool:
    """Return whether a line belongs to the connection, not to an object."""
    starts = ("CONN", "Welcome", "<ACK>", "~/", "Removing", "This is", "There ")
    return line.startswith(starts) or re.fullmatch(r"[dD]( \d+ [\d.]+)?|[aq*]", line) is not None
