"""A connection on which another protocol of lines is spoken: the name server's, or a browser's."""

from __future__ import annotations

import socket
from collections.abc import Callable

from gradiva.middleware.embedded.network.byte_stream import ByteStream, PeerGone, PeerStalled
from gradiva.middleware.embedded.network.send_bytes import send_all

LONGEST_LINE = 64 * 1024


class LineConnection:
    """Lines in, bytes out; the connection is closed when its handler returns.

    Attributes:
        peer_host: Address that the connection comes from.
    """

    def __init__(self, sock: socket.socket, stream: ByteStream, peer_host: str) -> None:
        self._socket = sock
        self._stream = stream
        self.peer_host = peer_host

    def read_line(self) -> str | None:
        """Return the next line without its end, None when the peer has closed or is silent.

        Such peers ask and go: whoever stays without a word would keep others out.
        """
        try:
            return self._stream.take_line(LONGEST_LINE)
        except (PeerGone, PeerStalled):
            return None

    def send(self, data: bytes) -> None:
        """Send bytes; raises `PeerGone` or `PeerStalled`, which the connection's thread understands."""
        send_all(self._socket, data)


LineProtocol = Callable[[LineConnection], None]
"""Serves a connection whose first bytes announced this protocol; they are still to be read."""
