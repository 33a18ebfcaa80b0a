"""Requests from the threads of connections, answered by the one that ticks."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from gradiva.common import StateError
from gradiva.middleware.embedded.wire.elements import Element

Request = TypeVar("Request")

_MOST_WAITING = 16  # requests; a flood of them is refused at the door
_MOST_AT_ONCE = 4  # answered in one tick


class Asked(Generic[Request]):
    """One request that waits for its reply.

    Attributes:
        request: What was asked.
        is_abandoned: Whether nobody waits for the reply any more.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.is_abandoned = False
        self._answered = threading.Event()
        self._reply: list[Element] = []

    def answer(self, reply: list[Element]) -> None:
        """Hand the reply to who waits."""
        self._reply = reply
        self._answered.set()

    def wait(self, patience: float) -> list[Element] | None:
        """Return the reply, or None if it does not come within ``patience`` [s]."""
        if self._answered.wait(patience):
            return self._reply
        self.is_abandoned = True
        return None


class RequestQueue(Generic[Request]):
    """Hands requests from any thread to the one that ticks; what is urgent overtakes the others."""

    def __init__(self, patience: float) -> None:
        """Take how long a request waits for its reply, [s]."""
        self._patience = patience
        self._waiting: deque[Asked[Request]] = deque()
        self._lock = threading.Lock()

    def ask(self, request: Request, is_urgent: bool = False) -> list[Element]:
        """Return the reply to ``request``; waits for the next tick.

        Raises:
            StateError: Too many are waiting, or none of them is answered: nothing ticks.
        """
        asked = Asked(request)
        with self._lock:
            if len(self._waiting) >= _MOST_WAITING and not is_urgent:
                raise StateError(f"too busy: {_MOST_WAITING} commands are waiting already")
            if is_urgent:
                self._waiting.appendleft(asked)
            else:
                self._waiting.append(asked)
        reply = asked.wait(self._patience)
        if reply is None:
            raise StateError(f"no answer within {self._patience:g} s: the control loop does not run")
        return reply

    def serve(self, handle: Callable[[Asked[Request]], None]) -> None:
        """Let ``handle`` take up to four of the requests that wait; called by the thread that ticks."""
        for _ in range(_MOST_AT_ONCE):
            with self._lock:
                if not self._waiting:
                    return
                asked = self._waiting.popleft()
            if not asked.is_abandoned:
                handle(asked)
