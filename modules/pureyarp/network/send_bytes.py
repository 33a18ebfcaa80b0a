"""Sending on a blocking socket whose peer may stall or go."""

from __future__ import annotations

import socket

from pureyarp.network.byte_stream import PeerGone, PeerStalled


def send_all(sock: socket.socket, data: bytes | memoryview) -> None:
    """Send everything; raises `PeerStalled` after the socket's patience and `PeerGone` when the peer is dead."""
    try:
        sock.sendall(data)
    except (BlockingIOError, TimeoutError) as error:
        raise PeerStalled("the peer does not take what it is sent") from error
    except OSError as error:
        raise PeerGone(f"the connection is broken: {error}") from error


def send_some(sock: socket.socket, data: bytes | memoryview, flags: int = 0) -> int:
    """Send as much as the peer takes within the socket's patience and return how many bytes that were."""
    try:
        return sock.send(data, flags)
    except (BlockingIOError, TimeoutError):
        return 0
    except OSError as error:
        raise PeerGone(f"the connection is broken: {error}") from error


def send_at_once(sock: socket.socket, data: bytes) -> None:
    """Send everything without waiting; raises `PeerStalled` if the peer has no room for it."""
    if send_some(sock, data, socket.MSG_DONTWAIT) < len(data):
        raise PeerStalled("the peer does not take what it is sent")
