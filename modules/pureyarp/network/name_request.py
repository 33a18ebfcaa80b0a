"""One request to a name server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pureyarp.network.name_lines import CHOOSE
from pureyarp.network.name_registry import text_of
from pureyarp.wire.elements import Element
from pureyarp.wire.text import from_text

_ADDRESSEE = "NAME_SERVER"
_BOTTLE_STYLE = "bot"


@dataclass(frozen=True, slots=True)
class NameRequest:
    """A command with its arguments.

    Attributes:
        command: Such as ``register``.
        arguments: Words, as they were sent.
        values: The same arguments as elements of a Bottle.
        wants_bottle: Whether the answer is to be a Bottle.
        requester: Host that the request came from.
    """

    command: str
    arguments: Sequence[str]
    values: Sequence[Element]
    wants_bottle: bool
    requester: str

    def argument(self, index: int) -> str:
        """Return an argument, ``...`` (choose for me) if it was left out."""
        return self.arguments[index] if index < len(self.arguments) else CHOOSE

    def name(self) -> str:
        """Return the first argument, empty if there is none."""
        return self.arguments[0] if self.arguments else ""


def request_of_line(line: str, requester: str) -> NameRequest:
    """Return what a line asks, such as ``NAME_SERVER register /foo``."""
    return _request([word.strip('"') for word in line.split()], from_text(line), requester)


def request_of_items(items: Sequence[Element], requester: str) -> NameRequest:
    """Return what a Bottle asks."""
    return _request([text_of(item) for item in items], items, requester)


def _request(words: Sequence[str], values: Sequence[Element], requester: str) -> NameRequest:
    start = 1 if words and words[0] == _ADDRESSEE else 0
    wants_bottle = len(words) > start and words[start] == _BOTTLE_STYLE
    start += wants_bottle
    command = words[start] if len(words) > start else ""
    return NameRequest(command, words[start + 1 :], values[start + 1 :], wants_bottle, requester)
