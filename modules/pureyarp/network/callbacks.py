"""What a user gives a buffered port to be called with its messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pureyarp.data.values import Bottle, Property
from pureyarp.data.vectors import Vector

T = TypeVar("T")


class TypedReaderCallback(Generic[T]):
    """To be subclassed: `onRead` is called for every message, one after the other, on a thread of the port's.

    An override takes ``(datum)`` or ``(datum, reader)``, the reader being the port. An exception is logged.
    """

    def onRead(self, datum: T, *reader: Any) -> None:
        """Take a message."""


class BottleCallback(TypedReaderCallback[Bottle]):
    """Is called with Bottles."""


class VectorCallback(TypedReaderCallback[Vector]):
    """Is called with Vectors."""


class PropertyCallback(TypedReaderCallback[Property]):
    """Is called with Properties."""


def caller_of(on_read: Callable[..., Any], port: object) -> Callable[[Any], Any]:
    """Return how an override of ``onRead`` is called with a message alone."""
    try:
        inspect.signature(on_read).bind(None, port)
    except TypeError:
        return on_read
    return lambda datum: on_read(datum, port)
