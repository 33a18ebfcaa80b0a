"""Dictionaries as lists of ``(key v1 v2 ...)``, the form in which they travel."""

from __future__ import annotations

from collections.abc import Iterable

from pureyarp.wire.elements import Dictionary, Element, ElementKey
from pureyarp.wire.text_words import key_text


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
