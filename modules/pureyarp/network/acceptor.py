"""A listening socket and the thread that takes its connections."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
import time
from collections.abc import Callable

from pureyarp.network.log import log
from pureyarp.rate_limited_log import RateLimitedLog

_BACKLOG = 1024  # connections that wait to be accepted; beyond, their peers try again only after a second
_PAUSE = 0.1  # [s] after a failure to accept, such as too many open files

OnConnection = Callable[[socket.socket, str, int], None]
"""Takes an accepted socket, its peer's host and its peer's port; must not block."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address (port 0: any free one), or raise OSError."""
    if not 0 <= port < 65536:
        raise OSError(errno.EADDRNOTAVAIL, f"{port} is no TCP port")
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(_BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


class Acceptor:
    """Hands every connection on, until it is closed.

    Attributes:
        port_number: Where it listens.
    """

    def __init__(self, listener: socket.socket, name: str, on_connection: OnConnection) -> None:
        self.port_number = int(listener.getsockname()[1])
        self._listener = listener
        self._name = name
        self._on_connection = on_connection
        self._complaint = RateLimitedLog(log)
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=f"yarp listener of {name}", daemon=True)

    def start(self) -> None:
        """Begin to accept."""
        self._thread.start()

    def close(self) -> None:
        """Stop listening and wait for the thread."""
        self._closed = True
        try:
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        except OSError:  # systems on which listening sockets cannot be shut down
            self._wake()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(1.0)
        self._listener.close()

    def _run(self) -> None:
        while not self._closed:
            try:
                sock, (host, port) = self._listener.accept()
            except OSError as error:
                if not self._closed:
                    self._complaint.warning("%s: cannot accept a connection: %s", self._name, error)
                    time.sleep(_PAUSE)
                continue
            if self._closed:
                sock.close()
            else:
                self._on_connection(sock, host, port)

    def _wake(self) -> None:
        address = self._listener.getsockname()
        with contextlib.suppress(OSError):
            socket.create_connection(address, timeout=_PAUSE).close()
