"""Dictionaries as lists of ``(key v1 v2 ...)``, the form in which they travel."""

from __future__ import annotations

from collections.abc import Iterable

from gradiva.middleware.embedded.wire.elements import Dictionary, Element
from gradiva.middleware.embedded.wire.text_words import key_text


def dictionary_items(dictionary: Dictionary) -> list[Element]:
    """Return ``(key v1 v2 ...)`` for every key, in the order of the keys' bytes, as YARP sends its Properties."""
    keys = sorted(dictionary, key=lambda key: key.encode("utf-8", "surrogateescape"))
    return [[key, *dictionary[key]] for key in keys]


def as_dictionary(items: Iterable[Element]) -> Dictionary:
    """Return the dictionary that a list of ``(key v1 v2 ...)`` writes; anything else in the list is left out."""
    return Dictionary({key_text(item[0]): item[1:] for item in items if isinstance(item, list) and item})
