"""Left and right."""

from __future__ import annotations

from enum import StrEnum


class Side(StrEnum):
    """One of the two feet."""

    LEFT = "left"
    RIGHT = "right"

    @property
    def other(self) -> Side:
        """The opposite side."""
        return Side.RIGHT if self is Side.LEFT else Side.LEFT

    @property
    def sign(self) -> float:
        """+1 on the left, −1 on the right: the sign of y."""
        return 1.0 if self is Side.LEFT else -1.0
