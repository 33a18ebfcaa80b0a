"""A connection on which another protocol of lines is spoken: the name server's, or a browser's."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from pureyarp.network.byte_stream import ByteStream, PeerGone, PeerStalled
from pureyarp.network.send_bytes import send_all

LONGEST_LINE = 64 * 1024


class LineConnection:
    """Lines in, bytes out; the connection is closed when its handler returns.

    The first line has what is left of the handshake's time, each further one has ``patience`` as a whole: a line that
    drips in byte by byte would keep others out.

    Attributes:
        peer_host: Address that the connection comes from.
    """

    def __init__(self, sock: socket.socket, stream: ByteStream, peer_host: str, patience: float) -> None:
        """Take a connection whose handshake is not over.

        Args:
            sock: To answer by.
            stream: To read from; its deadline is the handshake's.
            peer_host: Address that the connection comes from.
            patience: For each line but the first, [s].
        """
        self._socket = sock
        self._stream = stream
        self._patience = patience
        self._has_begun = False
        self.peer_host = peer_host

    def read_line(self) -> str | None:
        """Return the next line without its end, None when the peer has closed or takes too long.

        Such peers ask and go: whoever stays without a word would keep others out.
        """
        if self._has_begun:
            self._stream.set_deadline(time.monotonic() + self._patience)
        self._has_begun = True
        try:
            return self._stream.take_line(LONGEST_LINE)
        except (PeerGone, PeerStalled):
            return None

    def send(self, data: bytes) -> None:
        """Send bytes; raises `PeerGone` or `PeerStalled`, which the connection's thread understands."""
        send_all(self._socket, data)


LineProtocol = Callable[[LineConnection], None]
"""Serves a connection whose first bytes announced this protocol; they are still to be read."""
