"""One question to a control board, or one order, before it is put into a dialect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from gradiva.middleware.control_board.feature import Feature
from pureyarp.data.conversions import checked_integer
from pureyarp.wire.elements import Element

# Whom a request concerns: one joint (or one named variable), all joints, or a group of joints.
Scope = int | str | None | tuple[int, ...]


class Verb(Enum):
    """Whether something is asked or ordered."""

    GET = "get"
    SET = "set"


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a control board, or one order.

    Attributes:
        verb: Asked or ordered.
        feature: What it is about.
        of: Joint index, name of a variable, group of joint indices; None for all joints.
        values: Of an order: for one joint what is set, else one element for each joint. Degrees, as YARP speaks.
        controller: Vocabulary of the control loop that a PID request means (``pos``, ``vel``, ``trq``, ``cur``).
    """

    verb: Verb
    feature: Feature
    of: Scope = None
    values: Sequence[Element] = ()
    controller: int | None = None

    def __post_init__(self) -> None:
        """Refuse, with TypeError, a control loop that is no number."""
        if self.controller is not None:
            checked_integer(self.controller, 32)
