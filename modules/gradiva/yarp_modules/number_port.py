"""A port at which numbers arrive, the newest message first."""

from __future__ import annotations

from collections.abc import Sequence

from gradiva.middleware import MalformedMessage, NetworkError, yarp
from gradiva.middleware.bottles import as_items
from pureyarp.wire.elements import Element, Vocab32


class NumberPort:
    """Takes Vectors, or Bottles of numbers, also of one list of numbers; what nobody read in time is forgotten."""

    def __init__(self, what: str) -> None:
        """Take what the numbers are, for messages."""
        self._what = what
        self._port = yarp.BufferedPortBottle()

    def open(self, name: str) -> None:
        """Open the port.

        Raises:
            NetworkError: It could not be opened.
        """
        if not self._port.open(name):
            raise NetworkError(f"port {name} could not be opened: is this module running already?")

    def take(self) -> list[float] | None:
        """Return the newest message since the last call, or None; does not wait.

        Raises:
            MalformedMessage: It is none of numbers.
        """
        message = self._port.read(False)
        return None if message is None else numbers_in(as_items(message), self._what)

    def close(self) -> None:
        """Close the port."""
        self._port.interrupt()
        self._port.close()


def numbers_in(items: Sequence[Element], what: str) -> list[float]:
    """Return the numbers of a message.

    Raises:
        MalformedMessage: There is something else in it.
    """
    if len(items) == 1 and isinstance(items[0], list):
        items = items[0]
    numbers = [float(item) for item in items if isinstance(item, (int, float)) and not isinstance(item, Vocab32)]
    if len(numbers) != len(items) or not items:
        raise MalformedMessage(f"{what}: expected numbers, got {len(items)} values")
    return numbers
