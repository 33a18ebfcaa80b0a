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
_GRACE = 1.0  # [s] beyond the timeout for a command that is being carried out: its own reply has the better reason


def ok(*values: Element) -> list[Element]:
    """Return the reply ``[ok] values…``: done, or the values that were asked for."""
    return [_vocab("ok"), *values]


def fail(reason: str) -> list[Element]:
    """Return the reply ``[fail] "reason"``: it was not done."""
    return [_vocab("fail"), reason]


def many(lines: Sequence[str]) -> list[Element]:
    """Return the reply ``[many] "line" …``, which text clients show line by line."""
    return [_vocab("many"), *lines]


def word(element: Element) -> str:
    """Return a string, or a vocab as a string; an empty string for anything else."""
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


class PendingRequest(Generic[Request]):
    """Holds one request until its reply.

    Attributes:
        request: Of the client.
        is_urgent: Whether it is carried out even when its client has given up.
    """

    def __init__(self, request: Request, is_urgent: bool = False) -> None:
        self.request = request
        self.is_urgent = is_urgent
        self._lock = threading.Lock()
        self._is_taken = self._is_given_up = False
        self._answered = threading.Event()
        self._reply: list[Element] = []

    def take(self) -> bool:
        """Begin to carry it out; False where its client has given up."""
        with self._lock:
            self._is_taken = self.is_urgent or not self._is_given_up
            return self._is_taken

    def give_up(self) -> bool:
        """Give up the request unless it has been taken; return whether it is given up."""
        with self._lock:
            self._is_given_up = not self._is_taken
            return self._is_given_up

    def answer(self, reply: list[Element]) -> None:
        """Hand the reply to the thread that waits."""
        self._reply = reply
        self._answered.set()

    def wait(self, timeout: float) -> list[Element] | None:
        """Return the reply, or None if it does not come within ``timeout`` [s]."""
        return self._reply if self._answered.wait(timeout) else None


class RequestQueue(Generic[Request]):
    """Hands requests from any thread to the one that ticks; urgent ones overtake the others."""

    def __init__(self, timeout: float) -> None:
        """Take the timeout of a request, [s]."""
        self._timeout = timeout
        self._waiting: deque[PendingRequest[Request]] = deque()
        self._lock = threading.Lock()

    def ask(self, request: Request, is_urgent: bool = False) -> list[Element]:
        """Return the reply to ``request``; waits for the next tick, or for several where the command takes several.

        Raises:
            StateError: Too many are waiting; or nothing ticks; or the tick has no reply yet.
        """
        asked = PendingRequest(request, is_urgent)
        with self._lock:
            if len(self._waiting) >= _MOST_WAITING and not is_urgent:
                raise StateError(f"too busy: {_MOST_WAITING} commands are waiting already")
            if is_urgent:
                self._waiting.appendleft(asked)
            else:
                self._waiting.append(asked)
        reply = asked.wait(self._timeout)
        if reply is None and asked.give_up():
            later = "; it is carried out as soon as it does" if is_urgent else ""
            raise StateError(f"no answer within {self._timeout:g} s: the control loop does not run{later}")
        if reply is None and (reply := asked.wait(_GRACE)) is None:
            raise StateError("it is still being carried out; getReason has the result")
        return reply

    def serve(self, handle: Callable[[PendingRequest[Request]], None]) -> None:
        """Let ``handle`` take up to four of the requests that wait; called by the thread that ticks."""
        for _ in range(_MOST_AT_ONCE):
            with self._lock:
                if not self._waiting:
                    return
                asked = self._waiting.popleft()
            if asked.take():
                handle(asked)
