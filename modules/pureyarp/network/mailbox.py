"""Where messages wait, without their senders, until a buffered port's owner reads them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.rendezvous import PEER_CHECK_PERIOD

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Keeps the newest message or, if it is strict, all of them; who brings one to a full strict mailbox waits."""

    def __init__(self) -> None:
        self._kept: deque[T] = deque()
        self._changed = threading.Condition()
        self._is_stopped = False
        self.is_strict = False
        self.most = 1000  # kept while strict

    def __len__(self) -> int:
        """Return how many messages wait."""
        return len(self._kept)

    def put(self, item: T, is_alive: Callable[[], bool]) -> None:
        """Leave a message; raises `PeerGone` if the sender gives up while the mailbox is full."""
        with self._changed:
            while self.is_strict and len(self._kept) >= self.most and not self._is_stopped:
                if not self._changed.wait(PEER_CHECK_PERIOD) and not is_alive():
                    raise PeerGone("the peer has gone before its message was kept")
            if self._is_stopped:
                return
            if not self.is_strict:
                self._kept.clear()
            self._kept.append(item)
            self._changed.notify_all()

    def take(self, timeout: float | None = None) -> T | None:
        """Return the oldest message; None if none comes in time ([s]) or when reading was stopped."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._kept and not self._is_stopped:
                rest = None if deadline is None else deadline - time.monotonic()
                if rest is not None and rest <= 0:
                    return None
                self._changed.wait(rest)
            if self._is_stopped:
                return None
            item = self._kept.popleft()
            self._changed.notify_all()
            return item

    def take_while(self, is_wanted: Callable[[], bool]) -> T | None:
        """Return the oldest message, waiting for it through stops and restarts; None when it is no longer wanted.

        Whoever changes what ``is_wanted`` returns calls `wake` afterwards.
        """
        with self._changed:
            self._changed.wait_for(lambda: (self._kept and not self._is_stopped) or not is_wanted())
            if not is_wanted():
                return None
            item = self._kept.popleft()
            self._changed.notify_all()
            return item

    def wake(self) -> None:
        """Have who waits look again."""
        with self._changed:
            self._changed.notify_all()

    @property
    def is_stopped(self) -> bool:
        """Tell whether messages are neither kept nor given out."""
        return self._is_stopped

    def stop(self) -> None:
        """Wake who waits; until `restart`, messages are neither kept nor given out."""
        with self._changed:
            self._is_stopped = True
            self._kept.clear()
            self._changed.notify_all()

    def restart(self) -> None:
        """Keep messages again."""
        with self._changed:
            self._is_stopped = False
