"""The connections by which messages come to a port."""

from __future__ import annotations

import threading
import time

from pureyarp.network.input_connection import InputConnection
from pureyarp.network.log import log


class PortInputs:
    """A bounded number of connections; a new one may take the place of the oldest that has not introduced itself."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._connections: list[InputConnection] = []

    def admit(self, connection: InputConnection) -> bool:
        """Take a new connection in, or return False if there is no room."""
        with self._lock:
            if len(self._connections) >= self._most and not self._evict():
                return False
            self._connections.append(connection)
            return True

    def introduced(self, newcomer: InputConnection) -> None:
        """Close the older connection of a port that has connected again."""
        if not newcomer.is_rooted:
            return
        for older in self.named(newcomer.sender):
            if older is not newcomer:
                log.info("%s has connected again; its older connection is closed", newcomer.sender)
                older.close()
                self.forget(older)

    def forget(self, connection: InputConnection) -> None:
        """Let go of a connection."""
        with self._lock:
            if connection in self._connections:
                self._connections.remove(connection)

    def all(self) -> list[InputConnection]:
        """Return the connections that have introduced themselves, oldest first."""
        with self._lock:
            return [connection for connection in self._connections if connection.sender]

    def named(self, sender: str) -> list[InputConnection]:
        """Return the connections of one sender."""
        return [connection for connection in self.all() if connection.sender == sender]

    def close(self, patience: float) -> None:
        """End all connections and wait for their threads, [s] for all together."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.close()
        deadline = time.monotonic() + patience
        for connection in connections:
            connection.join(max(deadline - time.monotonic(), 0.0))

    def _evict(self) -> bool:
        silent = next((connection for connection in self._connections if not connection.is_introduced), None)
        if silent is None:
            return False
        self._connections.remove(silent)
        silent.close()
        return True
