"""Waiting for what other threads do."""

import random
import socket
import sys
import threading
import time
from collections.abc import Callable

PATIENCE = 10.0  # [s]


def wait_until(condition: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Poll until something is so; fail when it does not become so."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def conversation(port: int, said: bytes, until: bytes) -> bytes:
    """Say bytes to a TCP port and return what comes back, up to and with ``until``."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as sock:
        sock.sendall(said)
        return receive_until(sock, until)


def receive_until(sock: socket.socket, end: bytes) -> bytes:
    """Return what comes up to and with ``end``; all of it where the peer ends before."""
    received = b""
    while end not in received and (piece := sock.recv(65536)):
        received += piece
    return received


def receive(sock: socket.socket, size: int) -> bytes:
    """Return the next bytes; fewer where the peer ends (MSG_WAITALL returns early where a socket has a timeout)."""
    received = b""
    while len(received) < size and (piece := sock.recv(size - len(received))):
        received += piece
    return received


def threads_named(start: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(start)]


def is_waiting(thread: threading.Thread) -> bool:
    """Tell whether a thread sleeps at a condition at this moment."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None and frame.f_code is not threading.Condition.wait.__code__:
        frame = frame.f_back
    return frame is not None


def free_port() -> int:
    """Return a TCP port that nobody has, and that no outgoing connection will get."""
    while True:
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", random.randrange(12_000, 30_000)))
                return int(sock.getsockname()[1])
            except OSError:
                continue
