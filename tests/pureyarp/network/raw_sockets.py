"""Sockets without a port around them: what peers say and hear, byte by byte."""

import random
import socket

from tests.waiting import TIMEOUT


def conversation(port: int, said: bytes, until: bytes) -> bytes:
    """Say bytes to a TCP port and return what comes back, up to and with ``until``."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as sock:
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


def free_port() -> int:
    """Return a TCP port that is free, and that no outgoing connection will get."""
    while True:
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", random.randrange(12_000, 30_000)))
                return int(sock.getsockname()[1])
            except OSError:
                continue
