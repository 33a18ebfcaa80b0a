"""Where messages wait, with their senders, until a port's owner reads them."""

from __future__ import annotations

import threading
from collections import deque

from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.incoming_message import IncomingMessage

PEER_CHECK_PERIOD = 0.5  # [s] after which a waiting connection looks whether its peer is still there


class Handover:
    """A message on its way from the thread of its connection to that of the port's owner and back."""

    def __init__(self, message: IncomingMessage) -> None:
        self.message = message
        self._reply: bytes | None = None
        self._done = threading.Event()

    def finish(self, reply: bytes | None = None) -> None:
        """Have the sender answered and acknowledged."""
        if not self._done.is_set():
            self._reply = reply
            self._done.set()

    def wait(self) -> bytes | None:
        """Wait until the owner has finished with the message and return its reply."""
        while not self._done.wait(PEER_CHECK_PERIOD):
            if not self.message.source.is_alive():
                raise PeerGone("the peer has gone before its message was read")
        return self._reply


class Rendezvous:
    """Hands messages over, one at a time, in the order of their arrival."""

    def __init__(self) -> None:
        self._waiting: deque[Handover] = deque()
        self._changed = threading.Condition()
        self._is_stopped = False

    def hand_over(self, message: IncomingMessage) -> bytes | None:
        """Wait for the owner to read a message and return the reply; while nobody may read, return at once."""
        handover = Handover(message)
        with self._changed:
            if self._is_stopped:
                return None
            self._waiting.append(handover)
            self._changed.notify()
        try:
            return handover.wait()
        finally:
            with self._changed:
                if handover in self._waiting:
                    self._waiting.remove(handover)

    def take(self) -> Handover | None:
        """Return the next message, waiting for it; None when reading was stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_stopped)
            return None if self._is_stopped else self._waiting.popleft()

    def stop(self) -> None:
        """Wake who waits; until `restart`, nothing is handed over."""
        with self._changed:
            self._is_stopped = True
            for handover in self._waiting:
                handover.finish()
            self._waiting.clear()
            self._changed.notify_all()

    def restart(self) -> None:
        """Hand messages over again."""
        with self._changed:
            self._is_stopped = False
