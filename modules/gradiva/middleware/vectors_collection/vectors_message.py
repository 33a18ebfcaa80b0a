"""Named vectors as loggers of this field exchange them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NoReturn

from gradiva.middleware.recurring_messages import RecurringMessages
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, PlainList, TypedList


def values_to_items(vectors: Mapping[str, Sequence[float]], version: int) -> list[Element]:
    """Return the elements of a message of values: a list of (name (numbers)), sorted by name, and the version."""
    return _to_items({name: TypedList(float, map(float, values)) for name, values in vectors.items()}, version)


def values_messages(sizes: Sequence[tuple[str, int]], version: int) -> RecurringMessages:
    """Return the messages of vectors of these names and sizes, sorted by name: all their numbers in a row."""
    ends = list(accumulate(size for _, size in sizes))
    parts = {name: slice(end - size, end) for (name, size), end in zip(sizes, ends, strict=True)}
    total = ends[-1] if ends else 0
    return RecurringMessages(
        lambda numbers: values_to_items({name: numbers[part] for name, part in parts.items()}, version), total
    )


def names_to_items(vectors: Mapping[str, Sequence[str]], version: int) -> list[Element]:
    """Return the elements of a message of names: a list of (name (names)), sorted by name, and the version."""
    return _to_items({name: TypedList(str, names) for name, names in vectors.items()}, version)


def values_from_items(items: Sequence[Element]) -> tuple[dict[str, list[float]], int]:
    """Return values by name, and the version.

    Raises:
        MalformedMessage: The message is none.
    """
    entries, version = _entries(items)
    return {name: _numbers(name, listed) for name, listed in entries}, version


def names_from_items(items: Sequence[Element]) -> tuple[dict[str, list[str]], int]:
    """Return the names of elements by the name of their vector, and the version.

    Raises:
        MalformedMessage: The message is none.
    """
    entries, version = _entries(items)
    return {name: _words(name, listed) for name, listed in entries}, version


def _to_items(vectors: Mapping[str, TypedList], version: int) -> list[Element]:
    return PlainList([PlainList([PlainList([name, vectors[name]]) for name in sorted(vectors)]), version])


def _entries(items: Sequence[Element]) -> tuple[list[tuple[str, list[Element]]], int]:
    match items:
        case [list() as entries, int() as version]:
            return [_entry(entry) for entry in entries], version
    raise MalformedMessage(f"a collection of vectors is ((name (values))...) version, not {items!r:.60}")


def _entry(element: Element) -> tuple[str, list[Element]]:
    match element:
        case [str() as name, list() as values]:
            return name, values
    raise MalformedMessage(f"a named vector is (name (values)), not {element!r:.60}")


def _numbers(name: str, values: list[Element]) -> list[float]:
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    return numbers if len(numbers) == len(values) else _refuse(name, values)


def _words(name: str, values: list[Element]) -> list[str]:
    words = [value for value in values if isinstance(value, str)]
    return words if len(words) == len(values) else _refuse(name, values)


def _refuse(name: str, values: list[Element]) -> NoReturn:
    raise MalformedMessage(f"the vector {name} holds {values!r:.60}")
