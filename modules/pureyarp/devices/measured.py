"""Values that a control board measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """Values of some joints, of one message of their board.

    Attributes:
        values: One for each joint, in the unit of their field.
        times: When each was measured, [s] on the board's clock.
    """

    values: list[float]
    times: list[float]
