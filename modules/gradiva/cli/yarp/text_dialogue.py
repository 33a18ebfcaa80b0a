"""Lines to a port and back, as a person would type them."""

from __future__ import annotations

import socket

_ACKNOWLEDGEMENT = "<ACK>"
_LONGEST = 1 << 20  # [bytes] of an answer


class TextDialogue:
    """A connection by text_ack on which every line is answered by lines and an acknowledgement."""

    def __init__(self, sock: socket.socket, name: str) -> None:
        """Say who we are; raises OSError as all sockets do."""
        self._sock = sock
        self._received = b""
        sock.sendall(f"CONNACK {name}\r\n".encode())
        self._line()  # Welcome

    def ask(self, command: str) -> list[str]:
        """Return the lines of the answer; raises OSError if none comes or it has no end."""
        self._sock.sendall(f"{command}\r\n".encode())
        lines: list[str] = []
        while sum(map(len, lines)) < _LONGEST:
            line = self._line()
            if line == _ACKNOWLEDGEMENT:
                return lines
            lines.append(line)
        raise OSError("the answer does not end")

    def _line(self) -> str:
        while b"\n" not in self._received:
            if len(self._received) > _LONGEST:
                raise OSError("the answer does not end")
            piece = self._sock.recv(65536)
            if not piece:
                raise ConnectionResetError("it closed the connection")
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")
