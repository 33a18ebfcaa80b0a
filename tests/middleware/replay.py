"""Recorded connections, one end of which is played to what runs here."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pureyarp.wire.carriers import TCP, TEXT_ACK, carrier_of_header
from tests.middleware.recorded_client import ACK, received
from tests.middleware.recorded_messages import recording
from tests.waiting import TIMEOUT

INDEX = b"YA\x0a\0\0\0RP"
_TIME_STAMP = re.compile(rb"(\x09\0\0\0tsta\x01\0\0\0).{4}(\x0a\0\0\0).{8}", re.DOTALL)  # count and time
_NUMBER = b"YA....RP"
_ACKNOWLEDGED = {TCP.header: ACK, TEXT_ACK.header: b"<ACK>\r\n"}
_FRAME_START = 18  # bytes of a message before its lengths

Frame = tuple[bool, bytes]
"""Whether the client said it, and what."""


def family_of(name: str) -> str:
    """Return the file that a recording is in."""
    return "yarp_4_0" if name.startswith("v4_") else "yarp_3_12"


def entry(name: str) -> dict[str, Any]:
    """Return a recording of either file."""
    return recording(family_of(name), name)


def frames_of(name: str, connection: int | str = 0) -> list[Frame]:
    """Return what was said on one connection."""
    frames = [frame for frame in entry(name)["frames"] if frame["conn"] == connection]
    return [(frame["dir"] == "c>s", bytes.fromhex(frame["hex"])) for frame in frames]


def said(name: str, connection: int = 0, by_client: bool = True) -> bytes:
    """Return all that one end of a connection said."""
    return b"".join(data for is_client, data in frames_of(name, connection) if is_client is by_client)


@dataclass(frozen=True)
class Incidentals:
    """Normalise what may differ from a recording: where a port listens, who it is, when it was.

    Attributes:
        texts: What stands in the place of a recorded piece of text, such as a port number.
    """

    texts: Mapping[str, str] = field(default_factory=dict)

    def ours(self, recorded: bytes) -> bytes:
        """Return a recorded text with our numbers."""
        if not self.texts:
            return recorded
        pattern = re.compile("|".join(re.escape(text) for text in self.texts).encode())
        return pattern.sub(lambda match: self.texts[match.group().decode()].encode(), recorded)

    def comparable(self, answer: bytes) -> bytes:
        """Return a server's words without the port number of a handshake, and without counts and times of replies."""
        if len(answer) == len(ACK) and answer[:2] + answer[6:] == b"YARP" and answer != ACK:
            return _NUMBER
        return _TIME_STAMP.sub(rb"\1....\2........", answer)


def play_client(port: int, name: str, connection: int = 0, incidentals: Incidentals | None = None) -> int:
    """Say to a TCP port of ours what a client said, compare byte for byte what comes back; return how many answers.

    Afterwards the server says nothing more than the acknowledgement before which a recording was cut.
    """
    known, compared = incidentals or Incidentals(), 0
    with socket.create_connection(("127.0.0.1", port), TIMEOUT) as sock:
        for is_client, recorded in frames_of(name, connection):
            expected = known.ours(recorded)
            if is_client:
                sock.sendall(expected)
                continue
            given = received(sock, len(expected))
            assert known.comparable(given) == known.comparable(expected), f"{name}, connection {connection}"
            compared += 1
        assert rest_of(sock) in (b"", ACK)
    return compared


def rest_of(sock: socket.socket) -> bytes:
    """End our side of a conversation and return what the other one still says."""
    rest = b""
    with suppress(OSError):  # it has ended already
        sock.shutdown(socket.SHUT_WR)
    with suppress(ConnectionError):
        while piece := sock.recv(65536):
            rest += piece
    return rest


class ScriptedServer:
    """Listens, plays the server's side of recorded connections one after the other, and keeps what clients say.

    A client may leave earlier than the recorded one; what it says beyond the recording is kept as well.
    """

    def __init__(self, name: str, *connections: int, incidentals: Incidentals | None = None) -> None:
        self._name = name
        self._connections = connections
        self._incidentals = incidentals or Incidentals()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._heard: list[bytes] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(TIMEOUT)

    def heard(self) -> list[bytes]:
        """Return what was said on each connection, once all of them are over."""
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive(), "a recorded connection is not over"
        return self._heard

    def _run(self) -> None:
        with suppress(OSError):
            for connection in self._connections:
                sock, _ = self._listener.accept()
                with sock:
                    sock.settimeout(TIMEOUT)
                    self._heard.append(self._play(sock, frames_of(self._name, connection)))

    def _play(self, sock: socket.socket, frames: list[Frame]) -> bytes:
        heard = b""
        with suppress(ConnectionError, AssertionError):
            for index, (is_client, recorded) in enumerate(frames):
                data = self._incidentals.ours(recorded)
                if not is_client:
                    sock.sendall(data)
                elif index > 0 and recorded.startswith(INDEX):
                    heard += whole_message(sock)
                else:
                    heard += received(sock, len(data))
            while piece := sock.recv(65536):
                heard += piece
                sock.sendall(_ACKNOWLEDGED.get(heard[:8], b""))
        return heard


class ScriptedNameServer:
    """Answers lines as they were recorded, in whatever order they come, and keeps them; unknown ones find nothing."""

    def __init__(self, questions: Mapping[bytes, bytes]) -> None:
        registered = {line.split()[2]: answer for line, answer in questions.items() if b" register " in line}
        self._questions = {b"NAME_SERVER query %s\n" % name: answer for name, answer in registered.items()}
        self._questions |= questions
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.heard: list[bytes] = []
        threading.Thread(target=self._run, daemon=True).start()

    def __enter__(self) -> ScriptedNameServer:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with suppress(OSError), sock, sock.makefile("rb") as lines:
            sock.settimeout(TIMEOUT)
            for line in lines:
                self.heard.append(line)
                sock.sendall(self._questions.get(line, b"*** end of message\r\n"))


def whole_message(sock: socket.socket) -> bytes:
    """Return one message of a binary connection, however it is cut into blocks."""
    start = received(sock, _FRAME_START)
    lengths = received(sock, 4 * (start[8] + start[9]))
    return start + lengths + received(sock, sum(struct.unpack(f"<{len(lengths) // 4}i", lengths)))


def without_blocks(stream: bytes) -> list[bytes]:
    """Return what a client said on a binary connection: its introduction, then each message without its index."""
    carrier = carrier_of_header(stream[:8])
    assert carrier is not None
    assert not carrier.is_text
    (length,) = struct.unpack_from("<i", stream, 8)
    start = 12 + length
    pieces = [stream[:start]]
    while start < len(stream):
        assert stream[start : start + 8] == INDEX
        count = stream[start + 8] + stream[start + 9]
        end = start + _FRAME_START + 4 * count
        size = sum(struct.unpack_from(f"<{count}i", stream, start + _FRAME_START))
        pieces.append(stream[end : end + size])
        start = end + size
    return pieces
