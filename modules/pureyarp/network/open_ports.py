"""The open ports of this process, which are closed when it ends."""

from __future__ import annotations

import atexit
import threading
from typing import Protocol


class Closable(Protocol):
    """A port."""

    def close(self) -> None:
        """Close it."""


class OpenPorts:
    """Remembers ports until they are closed, so that none stays registered when its program forgets to close it."""

    def __init__(self) -> None:
        self._ports: list[Closable] = []
        self._lock = threading.Lock()

    def add(self, port: Closable) -> None:
        """Remember a port that has been opened."""
        with self._lock:
            self._ports.append(port)

    def discard(self, port: Closable) -> None:
        """Forget a port that is being closed."""
        with self._lock:
            self._ports = [other for other in self._ports if other is not port]

    def close_all(self) -> None:
        """Close the ports that are still open, the youngest first."""
        while self._ports:
            port = self._ports[-1]
            port.close()
            self.discard(port)  # one that was closed while it opened does not do so itself


open_ports = OpenPorts()
atexit.register(open_ports.close_all)
