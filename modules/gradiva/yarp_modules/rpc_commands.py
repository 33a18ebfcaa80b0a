"""Commands over RPC: replies, and a queue from the threads of connections to the tick."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from gradiva.common import StateError
from gradiva.middleware import Element, Vocab32, yarp

FAREWELLS = ("quit", "exit", "bye")
Request = TypeVar("Request")
_MOST_WAITING = 16  # requests; a flood of them is refused at the door
_MOST_AT_ONCE = 4  # answered in one tick
_GRACE = 1.0  # [s] beyond the patience for what is being carried out: who does so knows the better reason


def ok(*values: Element) -> list[Element]:
    """Return the reply ``[ok] values…``: it was done, or this is what was asked for."""
    return [_vocab("ok"), *values]


def fail(reason: str) -> list[Element]:
    """Return the reply ``[fail] "reason"``: it was not done."""
    return [_vocab("fail"), reason]


def many(lines: Sequence[str]) -> list[Element]:
    """Return the reply ``[many] "line" …``, which text clients show line by line."""
    return [_vocab("many"), *lines]


def word(element: Element) -> str:
    """Return what a string or vocab says; an empty string for anything else."""
    if isinstance(element, Vocab32):
        return str(yarp.decode(int(element)))
    return element if isinstance(element, str) else ""


def is_ok(reply: Sequence[Element]) -> bool:
    """Return whether a reply begins with ``[ok]``."""
    return bool(reply) and word(reply[0]) == "ok"


def is_called(element: Element, command: str) -> bool:
    """Return whether ``element`` names ``command``: as text, or as a vocab of its first four letters."""
    if isinstance(element, Vocab32):
        return word(element) == command[:4]
    return element == command


def _vocab(letters: str) -> Vocab32:
    return Vocab32(yarp.encode(letters))


class Asked(Generic[Request]):
    """One request that waits for its reply.

    Attributes:
        request: What was asked.
        is_urgent: Whether it is carried out even where nobody waits for the reply any more.
    """

    def __init__(self, request: Request, is_urgent: bool = False) -> None:
        self.request = request
        self.is_urgent = is_urgent
        self._lock = threading.Lock()
        self._is_taken = self._is_given_up = False
        self._answered = threading.Event()
        self._reply: list[Element] = []

    def take(self) -> bool:
        """Begin to carry it out; False where nobody waits for it any more."""
        with self._lock:
            self._is_taken = self.is_urgent or not self._is_given_up
            return self._is_taken

    def give_up(self) -> bool:
        """Wait for it no more, unless it has been taken; return whether that is so."""
        with self._lock:
            self._is_given_up = not self._is_taken
            return self._is_given_up

    def answer(self, reply: list[Element]) -> None:
        """Hand the reply to who waits."""
        self._reply = reply
        self._answered.set()

    def wait(self, patience: float) -> list[Element] | None:
        """Return the reply, or None if it does not come within ``patience`` [s]."""
        return self._reply if self._answered.wait(patience) else None


class RequestQueue(Generic[Request]):
    """Hands requests from any thread to the one that ticks; what is urgent overtakes the others."""

    def __init__(self, patience: float) -> None:
        """Take how long a request waits for its reply, [s]."""
        self._patience = patience
        self._waiting: deque[Asked[Request]] = deque()
        self._lock = threading.Lock()

    def ask(self, request: Request, is_urgent: bool = False) -> list[Element]:
        """Return the reply to ``request``; waits for the next tick, and for what may take some of them.

        Raises:
            StateError: Too many are waiting; or nothing ticks; or the tick has no reply yet.
        """
        asked = Asked(request, is_urgent)
        with self._lock:
            if len(self._waiting) >= _MOST_WAITING and not is_urgent:
                raise StateError(f"too busy: {_MOST_WAITING} commands are waiting already")
            if is_urgent:
                self._waiting.appendleft(asked)
            else:
                self._waiting.append(asked)
        reply = asked.wait(self._patience)
        if reply is None and asked.give_up():
            later = "; it is carried out as soon as it does" if is_urgent else ""
            raise StateError(f"no answer within {self._patience:g} s: the control loop does not run{later}")
        if reply is None and (reply := asked.wait(_GRACE)) is None:
            raise StateError("it is still being carried out; getReason has the result")
        return reply

    def serve(self, handle: Callable[[Asked[Request]], None]) -> None:
        """Let ``handle`` take up to four of the requests that wait; called by the thread that ticks."""
        for _ in range(_MOST_AT_ONCE):
            with self._lock:
                if not self._waiting:
                    return
                asked = self._waiting.popleft()
            if asked.take():
                handle(asked)
