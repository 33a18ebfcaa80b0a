"""The connections by which messages leave a port."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pureyarp.network.byte_stream import PeerGone, PeerStalled
from pureyarp.network.log import log
from pureyarp.network.outgoing_message import OutgoingMessage
from pureyarp.network.output_connection import OutputConnection

Reply = tuple[OutputConnection, bytes | str]
"""What came back, and from whom."""


class PortOutputs:
    """Any number of connections. One whose peer is dead is dropped by the write that finds out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: tuple[OutputConnection, ...] = ()
        self._is_closed = False

    def __len__(self) -> int:
        """Return the number of connections."""
        return len(self._connections)

    def all(self) -> tuple[OutputConnection, ...]:
        """Return the connections, oldest first."""
        return self._connections

    def named(self, target: str) -> OutputConnection | None:
        """Return the connection to a port, None if there is none."""
        return next((output for output in self._connections if output.target == target), None)

    def add(self, output: OutputConnection) -> None:
        """Take in a new connection; raises `PeerGone`, and closes it, if the port was closed in the meantime."""
        with self._lock:
            if not self._is_closed:
                self._connections = (*self._connections, output)
                return
        output.close()
        raise PeerGone(f"the port was closed while it was connected to {output.target}")

    def remove(self, output: OutputConnection) -> None:
        """Close a connection and let go of it."""
        with self._lock:
            self._connections = tuple(other for other in self._connections if other is not output)
        output.close()

    def drop_dead(self) -> None:
        """Let go of connections whose peers have left them; nobody else would before the next message."""
        for output in self._connections:
            if not output.is_alive():
                log.warning("the connection to %s is dropped: its peer is gone", output.target)
                self.remove(output)

    def offer(self, message: OutgoingMessage) -> bool:
        """Send without waiting; False if a peer turned out to be dead."""
        return self._each(lambda output: output.offer(message))

    def send(self, message: OutgoingMessage, deadline: float | None) -> bool:
        """Send to all and wait until all have taken it; False if a peer turned out to be dead or too slow."""
        is_sent = self._each(lambda output: output.begin(message, deadline))
        return self._each(lambda output: output.finish(deadline)) and is_sent

    def call(self, message: OutgoingMessage, deadline: float | None) -> tuple[bool, list[Reply]]:
        """Send to all, one after the other; return whether all went well, and the replies."""
        replies: list[Reply] = []

        def call_one(output: OutputConnection) -> None:
            reply = output.call(message, deadline)
            if reply is not None:
                replies.append((output, reply))

        return self._each(call_one), replies

    def wait(self) -> None:
        """Wait until all peers have taken what was sent."""
        self._each(lambda output: output.finish())

    def is_busy(self) -> bool:
        """Tell whether a peer has not taken what was sent."""
        return any(output.is_busy() for output in self._connections)

    def close(self) -> None:
        """End all connections; there will be no others."""
        with self._lock:
            self._is_closed = True
        for output in self._connections:
            self.remove(output)

    def _each(self, act: Callable[[OutputConnection], None]) -> bool:
        all_well = True
        for output in self._connections:
            try:
                act(output)
            except PeerGone as error:
                log.warning("the connection to %s is dropped: %s", output.target, error)
                self.remove(output)
                all_well = False
            except PeerStalled as error:
                log.warning("%s: %s", output.target, error)
                all_well = False
        return all_well
