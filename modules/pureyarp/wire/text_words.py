"""Single elements as text: numbers, vocabs, strings."""

from __future__ import annotations

import math
import re

from pureyarp.wire.elements import Element, Vocab32, Vocab64
from pureyarp.wire.vocab import FALSE, TRUE, decode_vocab

_BARE_STRING = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\0": "\\0"})


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


def key_text(item: Element) -> str:
    """Return what names an entry ``(key v1 v2 ...)``: a string without quotes, a vocab without brackets."""
    if isinstance(item, str):
        return item
    if isinstance(item, Vocab32 | Vocab64):
        return decode_vocab(item) if item not in (TRUE, FALSE) else print_vocab(item)
    if isinstance(item, float):
        return print_float(item)
    return str(int(item)) if isinstance(item, int) else ""
