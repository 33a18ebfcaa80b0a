"""From elements to the text that YARP prints and people type."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from gradiva.middleware.embedded.wire.elements import Dictionary, Element, Vocab32, Vocab64
from gradiva.middleware.embedded.wire.list_encoder import dictionary_items
from gradiva.middleware.embedded.wire.vocab import FALSE, TRUE, decode_vocab

_BARE_STRING = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\0": "\\0"})


def print_elements(items: Iterable[Element]) -> str:
    """Return the elements separated by blanks."""
    return " ".join([print_element(item) for item in items])


def print_element(item: Element) -> str:
    """Return one element as it stands in the text of a list."""
    if isinstance(item, str):
        return print_string(item)
    if isinstance(item, float):
        return print_float(item)
    if isinstance(item, Vocab32 | Vocab64):
        return print_vocab(item)
    if isinstance(item, int):
        return str(int(item))
    if isinstance(item, bytes):
        return "{" + " ".join(map(str, item)) + "}"
    return "(" + print_elements(dictionary_items(item) if isinstance(item, Dictionary) else item) + ")"


def print_float(value: float) -> str:
    """Return a number that reads back exactly, and as a float."""
    text = f"{value:.21g}"
    return text if "." in text or "e" in text or not math.isfinite(value) else text + ".0"


def print_vocab(vocab: int) -> str:
    """Return ``[abcd]``; the two vocabs that stand for truth are printed as words."""
    if vocab in (TRUE, FALSE):
        return "true" if vocab == TRUE else "false"
    return f"[{decode_vocab(vocab)}]"


def print_string(text: str) -> str:
    """Return a string, in quotes wherever it could be taken for something else."""
    if _BARE_STRING.fullmatch(text) and text not in ("true", "false"):
        return text
    return '"' + text.translate(_ESCAPES) + '"'
