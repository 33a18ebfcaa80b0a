"""The one thread of this process that takes messages which are only stored."""

from __future__ import annotations

import selectors
import threading
import time
from typing import Protocol

_LOOK = 0.25  # [s] between two looks for peers that have stopped in the middle of a message


class SharedConnection(Protocol):
    """A connection as the shared receiver sees it. Nothing that it is asked may wait or raise."""

    def fileno(self) -> int:
        """Return the file descriptor of the socket that messages arrive at."""

    def take_arrived(self) -> bool:
        """Take what has arrived and store what is whole; False if the receiver is to let go of the connection."""

    def check_patience(self) -> bool:
        """Return False if the peer has stopped in the middle of a message for too long."""

    def let_go(self) -> None:
        """End, or go on in a thread of its own: the receiver has let go of the connection."""


class SharedReceiver:
    """Waits at all sockets at once, so that many streams wake one thread instead of one each.

    A turn takes from each peer what one system call yields: who floods holds up nobody. The thread runs while there are
    connections.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held to change what is waited for, not while waiting
        self._selector: selectors.BaseSelector | None = None

    def add(self, connection: SharedConnection) -> None:
        """Receive for a connection from now on; raises RuntimeError if no thread can be started."""
        with self._lock:
            selector = self._selector
            if selector is None:
                selector = selectors.DefaultSelector()
                threading.Thread(target=self._run, args=(selector,), name="yarp receiver", daemon=True).start()
                self._selector = selector
            selector.register(connection.fileno(), selectors.EVENT_READ, connection)

    def _run(self, selector: selectors.BaseSelector) -> None:
        next_look = time.monotonic() + _LOOK
        while not self._is_over(selector):
            for key, _ in selector.select(_LOOK):
                if not key.data.take_arrived():
                    self._let_go(selector, key)
            if time.monotonic() >= next_look:
                self._leave_the_stalled(selector)
                next_look = time.monotonic() + _LOOK

    def _is_over(self, selector: selectors.BaseSelector) -> bool:
        with self._lock:
            if selector.get_map():
                return False
            self._selector = None
            selector.close()
            return True

    def _leave_the_stalled(self, selector: selectors.BaseSelector) -> None:
        with self._lock:
            keys = list(selector.get_map().values())
        for key in keys:
            if not key.data.check_patience():
                self._let_go(selector, key)

    def _let_go(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        with self._lock:
            selector.unregister(key.fd)  # before the socket is closed and its number is another's
        key.data.let_go()


shared_receiver = SharedReceiver()
