"""Print lists of elements as text and parse them: text connections, administration, configuration, terminals."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import (
    DEEPEST_NESTING,
    FALSE,
    TRUE,
    Dictionary,
    Element,
    ElementKey,
    Int64,
    Vocab32,
    Vocab64,
    decode_vocab,
    encode_vocab,
)

_MARKS = re.compile(r'\\.?|["(){} \t\r\n,]', re.DOTALL)
_SEPARATORS = frozenset(" \t\r\n,")


@dataclass(frozen=True, slots=True)
class TextScan:
    """The tokens of a text.

    Attributes:
        tokens: One text for each element; what is still open at the end is left out.
        is_complete: No quote, parenthesis, brace or backslash waits for more.
    """

    tokens: list[str]
    is_complete: bool


class _OpenMarks:
    """Counts quotes, parentheses and braces that have been opened and not yet closed."""

    def __init__(self) -> None:
        self._is_quoted = False
        self._parentheses = 0
        self._braces = 0

    def take(self, mark: str) -> None:
        """Follow a quote, a parenthesis or a brace."""
        if mark == '"':
            self._is_quoted = not self._is_quoted
        elif not self._is_quoted:
            self._parentheses += (mark == "(") - (mark == ")")
            self._braces += (mark == "{") - (mark == "}")

    @property
    def are_closed(self) -> bool:
        """Return whether a separator separates here; one closed too often never does."""
        return not self._is_quoted and self._parentheses == 0 and self._braces == 0

    @property
    def wait_for_more(self) -> bool:
        """Return whether further text could close them."""
        return self._is_quoted or self._parentheses > 0 or self._braces > 0


def scan(text: str) -> TextScan:
    """Cut at blanks, line ends and commas outside quotes, parentheses and braces."""
    tokens: list[str] = []
    start, marks, ends_in_backslash = 0, _OpenMarks(), False
    for match in _MARKS.finditer(text):
        mark = match.group()
        ends_in_backslash = mark == "\\"
        if mark not in _SEPARATORS:
            marks.take(mark)
        elif marks.are_closed:
            tokens.append(text[start : match.start()])
            start = match.end()
    if marks.are_closed and not ends_in_backslash:
        tokens.append(text[start:])
    return TextScan([token for token in tokens if token], not marks.wait_for_more and not ends_in_backslash)


class TextProgress:
    """Follows a text that arrives line by line and looks at every character once.

    Attributes:
        ends_in_backslash: The last line asks for another one; that backslash is no part of the text.
    """

    def __init__(self) -> None:
        self._marks = _OpenMarks()
        self.ends_in_backslash = False

    def add(self, line: str) -> bool:
        """Take a line without its end and return whether nothing waits for more."""
        self.ends_in_backslash = False
        for match in _MARKS.finditer(line):
            mark = match.group()
            self.ends_in_backslash = mark == "\\"
            if mark not in _SEPARATORS:
                self._marks.take(mark)
        return not self._marks.wait_for_more and not self.ends_in_backslash


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
    """Return the text of the key of an entry ``(key v1 v2 ...)``: a string without quotes, a vocab without brackets."""
    if isinstance(item, str):
        return item
    if isinstance(item, Vocab32 | Vocab64):
        return decode_vocab(item) if item not in (TRUE, FALSE) else print_vocab(item)
    if isinstance(item, float):
        return print_float(item)
    return str(int(item)) if isinstance(item, int) else ""


def dictionary_items(dictionary: Dictionary) -> list[Element]:
    """Return ``(key v1 v2 ...)`` for every key, in the order of the keys' bytes, as YARP sends its Properties."""
    keys = sorted(dictionary, key=lambda key: key.encode("utf-8", "surrogateescape"))
    return [[*(key.head if isinstance(key, ElementKey) else [key]), *dictionary[key]] for key in keys]


def as_dictionary(items: Iterable[Element]) -> Dictionary:
    """Return the dictionary that a list of ``(key v1 v2 ...)`` writes; anything else in the list is left out."""
    dictionary = Dictionary()
    for item in items:
        if isinstance(item, list):
            key = _key_of(item[:1])
            dictionary.pop(key, None)  # else the former key stays, with its element
            dictionary[key] = item[1:]
    return dictionary


def _key_of(head: list[Element]) -> str:
    if head and isinstance(head[0], str):
        return head[0]
    key = ElementKey(" ".join(_text_of(element) for element in head))
    key.head = head
    return key


def _text_of(element: Element) -> str:
    """Return the text of a key: of a list, its elements' without the outer parentheses."""
    if isinstance(element, list):
        return " ".join(f"({_text_of(item)})" if isinstance(item, list) else _text_of(item) for item in element)
    return key_text(element)


def to_text(items: Iterable[Element]) -> str:
    """Return the text of a list's elements, without parentheses around it.

    The sizes of integers, float32, dictionaries and the strings ``null``, ``inf`` and ``nan`` do not survive the text.
    """
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
    return "(" + to_text(dictionary_items(item) if isinstance(item, Dictionary) else item) + ")"


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


def from_text(text: str, depth: int = 0) -> list[Element]:
    """Return the elements that a text means; an element that is still open at its end is lost.

    Args:
        text: Of a list, without parentheses around it.
        depth: Of the list below the outermost one.

    Raises:
        MalformedMessage: Lists are nested too deeply.
    """
    if depth > DEEPEST_NESTING:
        raise MalformedMessage(f"lists are nested deeper than {DEEPEST_NESTING}")
    return [parse_element(token, depth) for token in scan(text).tokens]


def parse_element(token: str, depth: int = 0) -> Element:
    """Return the element that one token means; its first character decides."""
    if token in _WORDS:
        return _WORDS[token]
    if token[0] == "(":
        return from_text(token[1:-1], depth + 1)
    if token[0] == "[":
        return encode_vocab(token[1:-1])
    if token[0] == "{":
        return bytes(_as_byte(item) for item in from_text(token[1:-1], depth + 1))
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


def is_complete(text: str) -> bool:
    """Return whether no quote, parenthesis, brace or backslash at the end waits for more text."""
    return scan(text).is_complete


def items_of_reply(text: str) -> list[Element]:
    """Return the elements of a reply; one of several lines is what ``[many]`` becomes on a text connection."""
    lines = text.removesuffix("\n").removesuffix("\r").split("\r\n" if "\r\n" in text.rstrip("\r\n") else "\n")
    if len(lines) > 1 and all(is_complete(line) for line in lines):
        return [encode_vocab("many"), *lines]
    return from_text(text)
