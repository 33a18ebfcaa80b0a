"""From a text to elements, as YARP reads it."""

from __future__ import annotations

import math
import re

from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, Int64
from pureyarp.wire.tags import DEEPEST_NESTING
from pureyarp.wire.text_scan import scan
from pureyarp.wire.vocab import FALSE, TRUE, encode_vocab

_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{0,8}", re.ASCII)
_NUMBER_LIKE = re.compile(r"(?![+-]{2}|\.(?![0-9]))[0-9+\-.][0-9+\-eE]*\.?[0-9+\-eE]*", re.ASCII)
_FLOAT = re.compile(r"[+-]?[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]*)?", re.ASCII)
_INTEGER = re.compile(r"([+-]?)(0[0-7]*|[1-9][0-9]*)?", re.ASCII)
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "0": "\0"}
_WORDS: dict[str, Element] = {
    "true": TRUE,
    "false": FALSE,
    "null": encode_vocab("null"),
    "inf": math.inf,
    "-inf": -math.inf,
    "nan": math.nan,
}
_MOST_DIGITS = 400  # of an integer that is worth computing; more are the largest integer anyway


def parse_elements(text: str, depth: int = 0) -> list[Element]:
    """Return the elements of a list's text."""
    if depth > DEEPEST_NESTING:
        raise MalformedMessage(f"lists are nested deeper than {DEEPEST_NESTING}")
    return [parse_element(token, depth) for token in scan(text).tokens]


def parse_element(token: str, depth: int = 0) -> Element:
    """Return the element that one token means; its first character decides."""
    if token in _WORDS:
        return _WORDS[token]
    if token[0] == "(":
        return parse_elements(token[1:-1], depth + 1)
    if token[0] == "[":
        return encode_vocab(token[1:-1])
    if token[0] == "{":
        return bytes(_as_byte(item) for item in parse_elements(token[1:-1], depth + 1))
    if _HEXADECIMAL.fullmatch(token):
        return _as_integer(int(token[2:] or "0", 16))
    return parse_number(token) if _NUMBER_LIKE.fullmatch(token) else parse_string(token)


def parse_number(token: str) -> int | float:
    """Return the number at the beginning of a token that looks like one, 0 where there is none."""
    if any(mark in token for mark in ".eE"):
        return parse_float(token)
    match = _INTEGER.match(token)
    sign, digits = match.groups() if match else ("", None)
    if digits is None:
        return 0
    magnitude = int(digits[:_MOST_DIGITS], 8 if digits[0] == "0" else 10)
    return _as_integer(-magnitude if sign == "-" else magnitude)


def parse_float(token: str) -> float:
    """Return the longest beginning that can be a number; 0 if it breaks off, as ``1e`` does."""
    match = _FLOAT.match(token)
    try:
        return float(match.group() if match else "")
    except ValueError:
        return 0.0


def parse_string(token: str) -> str:
    """Return a string without its outer quotes, if it starts with one, and without its escapes."""
    inner = token[1:-1] if token[0] == '"' else token
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match.group(1), match.group(1)), inner)


def _as_integer(value: int) -> int:
    """Return an int32 if it fits, else an int64, at most the largest one."""
    if -(2**31) <= value < 2**31:
        return value
    return Int64(max(-(2**63), min(value, 2**63 - 1)))


def _as_byte(item: Element) -> int:
    """Return the lowest byte of a number; anything else counts as 0."""
    if isinstance(item, float):
        item = int(item) if math.isfinite(item) else 0
    return item & 0xFF if isinstance(item, int) else 0
