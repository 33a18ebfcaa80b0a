"""What modules are asked over RPC, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence

from gradiva.middleware import yarp
from pureyarp.wire.elements import Element, Vocab32

FAREWELLS = ("quit", "exit", "bye")


def ok(*values: Element) -> list[Element]:
    """Return the reply ``[ok] values…``: it was done, or this is what was asked for."""
    return [_vocab("ok"), *values]


def fail(reason: str) -> list[Element]:
    """Return the reply ``[fail] "reason"``: it was not done."""
    return [_vocab("fail"), reason]


def many(lines: Sequence[str]) -> list[Element]:
    """Return the reply ``[many] "line" …``, which text clients show line by line."""
    return [_vocab("many"), *lines]


def word(element: Element) -> str:
    """Return what a string or vocab says; an empty string for anything else."""
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
