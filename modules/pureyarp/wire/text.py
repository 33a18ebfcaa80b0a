"""Lists of elements as text: text connections, administration, configuration, people."""

from __future__ import annotations

from collections.abc import Iterable

from pureyarp.wire.elements import Element
from pureyarp.wire.text_parser import parse_elements
from pureyarp.wire.text_printer import print_elements
from pureyarp.wire.text_scan import scan


def to_text(items: Iterable[Element]) -> str:
    """Return the text of a list's elements, without parentheses around it.

    The sizes of integers, float32, dictionaries and the strings ``null``, ``inf`` and ``nan`` do not survive the text.
    """
    return print_elements(items)


def from_text(text: str) -> list[Element]:
    """Return the elements that a text means; an element that is still open at its end is lost.

    Raises:
        MalformedMessage: Lists are nested too deeply.
    """
    return parse_elements(text)


def is_complete(text: str) -> bool:
    """Return whether no quote, parenthesis, brace or backslash at the end waits for more text."""
    return scan(text).is_complete
