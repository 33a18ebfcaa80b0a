"""Replies on text connections."""

from __future__ import annotations

from pureyarp.wire.elements import Element
from pureyarp.wire.text import from_text, is_complete
from pureyarp.wire.vocab import encode_vocab


def items_of_reply(text: str) -> list[Element]:
    """Return the elements of a reply; one of several lines is what ``[many]`` becomes on a text connection."""
    lines = text.removesuffix("\n").removesuffix("\r").split("\r\n" if "\r\n" in text.rstrip("\r\n") else "\n")
    if len(lines) > 1 and all(is_complete(line) for line in lines):
        return [encode_vocab("many"), *lines]
    return from_text(text)
