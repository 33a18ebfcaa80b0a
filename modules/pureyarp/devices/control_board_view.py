"""What all interfaces of control boards have in common."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import islice
from typing import Any

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind
from pureyarp.devices.api_arguments import Joints, checked_vector, fill, joints_and_data
from pureyarp.devices.control_board import ControlBoard
from pureyarp.wire.elements import Element

_log = logging.getLogger("pureyarp")


class ControlBoardView:
    """One interface of a control board; angles are degrees, as everywhere in YARP."""

    def __init__(self, board: ControlBoard) -> None:
        """Look at a board through this interface."""
        self._board = board

    def _read(self, feature: Feature, *arguments: Any, controller: int | None = None) -> bool:
        """Ask for ``(data)``, ``(joint, data)`` or ``(number, joints, data)`` and fill ``data``."""
        of, destination = joints_and_data(arguments)
        answer = self._board.ask(feature, of, controller)
        return fill(destination, _numbers(feature, answer, 0))

    def _read_pair(self, feature: Feature, of: Joints, first: Any, second: Any) -> bool:
        """Ask for two numbers, or two lists of them, and fill both vectors."""
        answer = self._board.ask(feature, of)
        return fill(first, _numbers(feature, answer, 0)) and fill(second, _numbers(feature, answer, 1))

    def _read_measured(self, field: str, *arguments: Any) -> bool:
        """Fill the vector of ``(data)`` or ``(joint, data)`` with what was measured last."""
        of, destination = joints_and_data(arguments)
        measured = self._board.measured(field, of)
        return measured is not None and fill(destination, measured.values)

    def _order(self, feature: Feature, *arguments: Any, controller: int | None = None) -> bool:
        """Order the numbers of ``(data)``, ``(joint, number)`` or ``(number, joints, data)``."""
        of, data = joints_and_data(arguments)
        values = self._values(of, data)
        return values is not None and self._board.tell(feature, of, values, controller)

    def _stream(self, kind: CommandKind, *arguments: Any) -> bool:
        """Stream the numbers of ``(data)``, ``(joint, number)`` or ``(number, joints, data)``."""
        of, data = joints_and_data(arguments)
        values = self._values(of, data)
        return values is not None and self._board.stream(kind, of, values)

    def _count(self, feature: Feature) -> int:
        """Ask how many there are; 0 without an answer."""
        answer = self._board.ask(feature)
        return answer[0] if answer and isinstance(answer[0], int) else 0

    def _values(self, of: Joints, data: Any) -> list[float] | None:
        """Return as many numbers as joints are meant; None, and a line, when there are fewer."""
        if isinstance(of, int):
            return [float(data)]
        wanted = self._board.axes if of is None else len(of or ())
        if len(checked_vector(data)) < wanted:
            _log.error("%d joints were given %d values", wanted, len(data))
            return None
        return [float(number) for number in islice(data, wanted)]


def _numbers(feature: Feature, answer: Sequence[Element] | None, place: int) -> list[Any] | None:
    """Return the numbers at a place of an answer: one for a joint, the whole list for several."""
    if answer is None:
        return None
    values = answer[place] if place < len(answer) else None
    numbers = values if isinstance(values, list) else [values]
    if not all(isinstance(number, int | float) for number in numbers):
        _log.error("the board answers %s with %r, which are no numbers", feature.name.lower(), values)
        return None
    return list(numbers)
