"""The recorded remote_controlboard, played against a running control board."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from typing import Any

from pureyarp.network.peers import NameClient
from pureyarp.wire.binary import decode_list
from pureyarp.wire.elements import Element, encode_vocab
from tests.middleware.recorded_messages import recording
from tests.waiting import TIMEOUT

ACK = b"YA\0\0\0\0RP"
TIME_STAMP = encode_vocab("tsta")


class RecordedConnection:
    """Plays the client's side of one recorded connection and checks what the server says.

    Port numbers, counters and times may differ; nothing else.
    """

    def __init__(self, names: NameClient, session: dict[str, Any], connection: int) -> None:
        self._frames = [frame for frame in session["frames"] if frame["conn"] == connection]
        server = next(one["server"] for one in session["connections"] if one["conn"] == connection)
        contact = names.query(server)
        self.socket = socket.create_connection((contact.getHost(), contact.getPort()), TIMEOUT)

    def play(self) -> int:
        """Play all frames to their end; return how many answers were compared."""
        compared = 0
        with self.socket:
            for frame in self._frames:
                recorded = bytes.fromhex(frame["hex"])
                if frame["dir"] == "c>s":
                    self.socket.sendall(recorded)
                else:
                    given = received(self.socket, len(recorded))
                    assert without_incidentals(given, frame) == without_incidentals(recorded, frame)
                    compared += 1
        return compared


def without_incidentals(data: bytes, frame: dict[str, Any]) -> Any:
    """Return what must be equal in two answers."""
    if data[:2] == b"YA" and len(data) == 8 and data != ACK:
        return data[:2], data[6:]
    if frame.get("what") != "reply":
        return data
    items: list[Element] = decode_list(data).items
    if TIME_STAMP in items:
        stamp = items.index(TIME_STAMP)
        items[stamp + 1 : stamp + 3] = []
    return items


class RecordedReceiver:
    """The client's state port: takes the connection that the server makes, and keeps the payloads of its messages."""

    def __init__(self, names: NameClient, name: str) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(("127.0.0.1", 0))
        self._datagrams.settimeout(TIMEOUT)
        self._names, self._name = names, name
        names.register(name, "tcp", *self._listener.getsockname())
        self.handshake = b""
        self.farewell = b""
        self.payloads: list[tuple[str, bytes]] = []
        self.received = threading.Condition()
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> RecordedReceiver:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._datagrams.close()
        self._names.unregister(self._name)

    def wait_for(self, count: int) -> list[tuple[str, bytes]]:
        """Return the envelopes and payloads of the messages, once there are so many."""
        with self.received:
            assert self.received.wait_for(lambda: len(self.payloads) >= count, TIMEOUT)
            return list(self.payloads)

    def wait_for_farewell(self, size: int) -> bytes:
        """Return what a text connection said."""
        with self.received:
            assert self.received.wait_for(lambda: len(self.farewell) >= size, TIMEOUT)
            return self.farewell

    def _serve(self) -> None:
        with suppress(OSError, AssertionError):
            while True:
                connection, _ = self._listener.accept()
                connection.settimeout(TIMEOUT)
                thread = threading.Thread(target=self._take, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _take(self, connection: socket.socket) -> None:
        with suppress(OSError, AssertionError), connection:
            header = received(connection, 8)
            if header.startswith(b"CONNECT "):
                return self._take_farewell(connection, header)
            (length,) = struct.unpack("<i", received(connection, 4))
            self.handshake = header + struct.pack("<i", length) + received(connection, length)
            is_udp = header[2:6] == struct.pack("<i", 7777)
            number = (self._datagrams if is_udp else self._listener).getsockname()[1]
            connection.sendall(b"YA" + struct.pack("<i", number) + b"RP")
            while not is_udp:
                self._keep(message_on(connection))
                connection.sendall(ACK)
            while True:
                datagram = self._datagrams.recv(65536)
                if datagram[4:8] == b"\0\0\0\0":
                    self._keep(message_in(datagram[8:]))
        return None

    def _take_farewell(self, connection: socket.socket, header: bytes) -> None:
        said = header
        while chunk := connection.recv(4096):
            said += chunk
            with self.received:
                self.farewell = said
                self.received.notify_all()
            if said.endswith(b"q\r\n"):
                break

    def _keep(self, message: tuple[str, bytes]) -> None:
        with self.received:
            self.payloads.append(message)
            self.received.notify_all()


def received(connection: socket.socket, size: int) -> bytes:
    """Return exactly so many bytes."""
    data = b""
    while len(data) < size:
        chunk = connection.recv(size - len(data))
        assert chunk, f"the connection ended after {data!r}"
        data += chunk
    return data


def message_on(connection: socket.socket) -> tuple[str, bytes]:
    """Read one message; return its envelope and its payload."""
    start = received(connection, 18)
    lengths = received(connection, 4 * (start[8] + start[9]))
    return message_in(start + lengths + received(connection, sum(struct.unpack(f"<{len(lengths) // 4}i", lengths))))


def message_in(data: bytes) -> tuple[str, bytes]:
    """Return the envelope and the payload of a message."""
    body = data[18 + 4 * (data[8] + data[9]) :]
    (length,) = struct.unpack_from("<i", body)
    return body[8 : 8 + length].rstrip(b"\0").decode()[2:], body[8 + length :]


def session(name: str) -> dict[str, Any]:
    """Return one recorded session of a YARP 3.12.3 client."""
    return recording("yarp_3_12", name)
