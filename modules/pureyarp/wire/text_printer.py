"""From elements to the text that YARP prints and people type."""

from __future__ import annotations

from collections.abc import Iterable

from pureyarp.wire.dictionaries import dictionary_items
from pureyarp.wire.elements import Dictionary, Element, Vocab32, Vocab64
from pureyarp.wire.text_words import print_float, print_string, print_vocab


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
