"""Copies of elements that share nothing with the original."""

from __future__ import annotations

from typing import TypeVar

from pureyarp.wire.elements import Dictionary, TypedList

_Copied = TypeVar("_Copied")


def deep_copy(element: _Copied) -> _Copied:
    """Return the element with copies of all lists and dictionaries in it; they keep their types."""
    if isinstance(element, TypedList):
        return TypedList(element.element_type, element)  # type: ignore[return-value]
    if isinstance(element, list):
        return type(element)([deep_copy(item) for item in element])
    if isinstance(element, Dictionary):
        return Dictionary({key: deep_copy(values) for key, values in element.items()})  # type: ignore[return-value]
    return element
