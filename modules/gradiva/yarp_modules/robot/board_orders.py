"""Gives control boards orders that wait for an answer, side by side and beside the tick."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence

_LOGGER = logging.getLogger("gradiva.robot")
_JOIN_TIMEOUT = 1.0  # [s] for an RPC to end when the robot is left

JointOrder = Callable[[int], bool]
"""Orders something of one joint by its index in the part, over RPC; False where its board does not agree."""


class BoardOrders:
    """Gives orders to all boards at once, each board in a thread of its own.

    An order is an RPC, which takes as long as its board likes: one that hangs must hold up neither the tick nor the
    other boards. The newest order alone counts: a board that hung and answers again skips the rest of the former ones.
    Joints are ordered one by one, for a remapper keeps its buffers locked while it sends to a group of joints,
    the boards of the others among them.
    """

    def __init__(self, boards: Mapping[str, Sequence[int]]) -> None:
        """Take the joints of each board, as indices in the part."""
        self._boards = {name: tuple(joints) for name, joints in boards.items()}
        self._changed = threading.Condition()
        self._order: JointOrder | None = None
        self._number = 0
        self._answered = dict.fromkeys(boards, 0)  # number of the newest order that each board has answered
        self._refusing: set[str] = set()
        self._is_open = False
        self._threads: list[threading.Thread] = []

    def open(self) -> None:
        """Begin to carry out orders."""
        self._is_open, self._answered = True, dict.fromkeys(self._boards, self._number)
        self._threads = [
            threading.Thread(target=self._run, args=(name,), name=f"orders to {name}", daemon=True)
            for name in self._boards
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> bool:
        """Take no more orders; False where a board still has one of them in hand."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
        deadline = time.monotonic() + _JOIN_TIMEOUT
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def give(self, order: JointOrder) -> None:
        """Let all boards carry out ``order`` for each of their joints, in place of what was ordered before; no wait."""
        with self._changed:
            self._order, self._refusing = order, set()
            self._number += 1
            self._changed.notify_all()

    def wait(self, timeout: float) -> bool:
        """Wait until all boards have answered; whether all have agreed within ``timeout`` [s]."""
        with self._changed:
            self._changed.wait_for(lambda: not self._pending(), timeout)
            return not self._pending() and not self._refusing

    def pending(self) -> list[str]:
        """Return the boards that have not answered the newest order yet."""
        with self._changed:
            return self._pending()

    def joints_of(self, board: str) -> tuple[int, ...]:
        """Return the joints of a board, as indices in the part."""
        return self._boards[board]

    def _pending(self) -> list[str]:
        return [name for name, number in self._answered.items() if number != self._number]

    def _run(self, board: str) -> None:
        """Carry out the newest order again and again."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._answered[board] != self._number or not self._is_open)
                if not self._is_open:
                    return
                order, number = self._order, self._number
            assert order is not None, "there is a number of it"
            is_agreed = self._carry_out(order, number, board)
            with self._changed:
                if number == self._number and not is_agreed:
                    self._refusing.add(board)
                self._answered[board] = number
                self._changed.notify_all()

    def _carry_out(self, order: JointOrder, number: int, board: str) -> bool:
        """Order each joint unless there is a newer order; a joint that refuses does not keep the others from it."""
        is_agreed = True
        for joint in self._boards[board]:
            if number != self._number or not self._is_open:
                return False
            try:
                is_agreed &= bool(order(joint))
            except Exception:
                _LOGGER.exception("an order to %s failed", board)
                is_agreed = False
        if not is_agreed:
            _LOGGER.warning("not all joints of %s agreed to what was ordered", board)
        return is_agreed
