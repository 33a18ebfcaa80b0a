"""Commands over RPC: words and vocabs of requests, and replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from gradiva.middleware import Element, Vocab32, yarp

if TYPE_CHECKING:  # the tools of networks and applications start without the whole walking controller
    from gradiva.session import Reply

FAREWELLS = ("quit", "exit", "bye")
_BOOLEANS = (Vocab32(0), Vocab32(ord("1")))  # YARP's false and true


def ok(*values: Element) -> list[Element]:
    """Return the reply ``[ok] values…``: done, or the values that were asked for."""
    return [_vocab("ok"), *values]


def fail(reason: str) -> list[Element]:
    """Return the reply ``[fail] "reason"``: it was not done."""
    return [_vocab("fail"), reason]


def many(lines: Sequence[str]) -> list[Element]:
    """Return the reply ``[many] "line" …``, which text clients show line by line."""
    return [_vocab("many"), *lines]


def word(element: Element) -> str:
    """Return a string, or a vocab as a string; an empty string for anything else."""
    if isinstance(element, Vocab32):
        return str(yarp.decode(int(element)))
    return element if isinstance(element, str) else ""


def is_ok(reply: Sequence[Element]) -> bool:
    """Return whether a reply begins with ``[ok]``."""
    return bool(reply) and word(reply[0]) == "ok"


def is_called(element: Element, command: str) -> bool:
    """Return whether ``element`` names ``command``: as text, or as a vocab of its first four letters."""
    if isinstance(element, Vocab32):
        return word(element) == command[:4]
    return element == command


def _vocab(letters: str) -> Vocab32:
    return Vocab32(yarp.encode(letters))


def replied(reply: Reply) -> list[Element]:
    """Return the reply of a session as it goes over RPC."""
    sent = ok() if reply.refusal is None else fail(reply.refusal)
    return [*sent, reply.remark] if reply.remark else sent


def pairs(table: Mapping[str, object]) -> list[Element]:
    """Return a table as pairs (name value); a tuple is a list."""
    return [[name, _element(value)] for name, value in table.items()]


def as_text(items: Sequence[Element]) -> str:
    """Return items as one writes them: words, numbers, lists in parentheses."""
    return " ".join(f"({as_text(item)})" if isinstance(item, list) else f"{item!s}" for item in items)


def pairs_in(items: Sequence[Element]) -> dict[str, Element]:
    """Return the pairs (name value) among ``items`` by name."""
    return {word(item[0]): item[1] for item in items if isinstance(item, list) and len(item) == 2}


def _element(value: object) -> Element:
    if isinstance(value, Mapping):
        return pairs(value)
    return [_element(each) for each in value] if isinstance(value, (tuple, list)) else cast("Element", value)


def spelled_out(items: Sequence[Element], words: Sequence[str]) -> list[object]:
    """Return items of a command with each vocab as the word that it abbreviates, else as its letters."""
    return [_spelled_out(item, words) for item in items]


def _spelled_out(item: Element, words: Sequence[str]) -> object:
    if isinstance(item, list):
        return spelled_out(item, words)
    if not isinstance(item, Vocab32):
        return item
    if item in _BOOLEANS:
        return bool(item)
    return next((candidate for candidate in words if is_called(item, candidate)), word(item))
