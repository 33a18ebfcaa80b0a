"""Where the joints of a part that is put together from several boards really are."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

_log = logging.getLogger("pureyarp")


@dataclass(frozen=True, slots=True)
class Share:
    """What one board has of the joints that are meant.

    Attributes:
        board: Index of the board.
        joints: Indices on that board.
        positions: Where each of them stands among those that are meant.
        is_whole: Whether these are all joints of the board, in its order.
    """

    board: int
    joints: tuple[int, ...]
    positions: tuple[int, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class JointMap:
    """Where the joints of a part that is put together from several boards really are.

    Attributes:
        places: Board and joint on it, for each joint of the part.
        sizes: How many joints each board has.
    """

    places: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    _of_all: tuple[Share, ...] = field(init=False, repr=False, compare=False)  # asked for several times a tick

    def __post_init__(self) -> None:
        object.__setattr__(self, "_of_all", tuple(self._shares(range(len(self.places)))))

    def shares(self, of: int | Sequence[int] | None) -> list[Share]:
        """Return what each board has of one joint, all or a group; none, and a line, if there is no such joint."""
        if of is None:
            return list(self._of_all)
        meant = [of] if isinstance(of, int) else of
        unknown = [joint for joint in meant if not 0 <= joint < len(self.places)]
        if unknown:
            _log.error("the part has %d joints, there is no %s", len(self.places), unknown)
            return []
        return self._shares(meant)

    def _shares(self, meant: Sequence[int]) -> list[Share]:
        found: dict[int, list[tuple[int, int]]] = {}
        for position, joint in enumerate(meant):
            board, there = self.places[joint]
            found.setdefault(board, []).append((there, position))
        return [self._share(board, pairs) for board, pairs in found.items()]

    def _share(self, board: int, pairs: list[tuple[int, int]]) -> Share:
        joints = tuple(joint for joint, _ in pairs)
        is_whole = joints == tuple(range(self.sizes[board]))
        return Share(board, joints, tuple(position for _, position in pairs), is_whole)
