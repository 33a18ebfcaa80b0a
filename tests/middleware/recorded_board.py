"""The recorded control board, played to a client: its ports, the replies it gave and the states it sent."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pureyarp.network.peers import NameClient
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.text import from_text, to_text
from tests.middleware.recorded_client import ACK, received
from tests.waiting import TIMEOUT

BOARD = "/fakebot/arm"
_PORTS = ("/command:i", "/stateExt:o")


class RecordedBoard:
    """Plays the server's side of a recorded session.

    What a client says on binary connections is kept, without the lengths of blocks, and answered by the recorded
    bytes; administration is answered as such. The state goes where the client has it sent.

    Attributes:
        said: By port: what the client introduced itself with, then port command and object of each message.
        administration: The administrative requests, in their order.
    """

    def __init__(
        self, names: NameClient, session: dict[str, Any], name: str = BOARD, ports: Sequence[str] = _PORTS
    ) -> None:
        self._names, self._session, self._name = names, session, name
        self.said: dict[str, list[bytes]] = {}
        self.administration: list[str] = []
        self._state_target = ""
        self._listeners: dict[str, socket.socket] = {}
        for server in self._servers() | {name + port for port in ports}:
            self._listen(server)

    def __enter__(self) -> RecordedBoard:
        return self

    def __exit__(self, *_: object) -> None:
        for server, listener in self._listeners.items():
            self._names.unregister(server)
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def recorded(self, server: str) -> list[bytes]:
        """Return what the real client said to a port, in the form of `said`."""
        said = [frame for frame in self._frames(server) if frame["dir"] == "c>s"]
        return [_without_blocks(bytes.fromhex(frame["hex"])) for frame in _joined(said)]

    def _servers(self) -> set[str]:
        return {one["server"] for one in self._session["connections"] if one["server"].startswith(self._name)}

    def _connection(self, server: str) -> int | None:
        binary = ("tcp", "fast_tcp", "udp")
        found = (c for c in self._session["connections"] if c["server"] == server and c["kind"] in binary)
        return next((one["conn"] for one in found), None)

    def _frames(self, server: str) -> list[dict[str, Any]]:
        connection = self._connection(server)
        return [frame for frame in self._session["frames"] if frame["conn"] == connection]

    def _listen(self, server: str) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self._listeners[server] = listener
        self._names.register(server, "tcp", *listener.getsockname())
        threading.Thread(target=self._accept, args=(server, listener), daemon=True).start()

    def _accept(self, server: str, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=self._serve, args=(server, connection), daemon=True).start()

    def _serve(self, server: str, connection: socket.socket) -> None:
        connection.settimeout(TIMEOUT)
        with suppress(OSError, AssertionError), connection:
            header = received(connection, 8)
            if header.startswith(b"CONN"):
                self._administrate(connection)
            else:
                self._answer(server, connection, header)

    def _answer(self, server: str, connection: socket.socket, header: bytes) -> None:
        (length,) = struct.unpack("<i", received(connection, 4))
        name = received(connection, length)
        if not name.startswith(b"/"):
            self._administrate_by_tcp(connection)
            return
        said = self.said.setdefault(server, [])
        said.append(header + struct.pack("<i", length) + name)
        replies = _replies(self._frames(server))
        connection.sendall(replies.pop(0) if replies else b"YA\1\0\0\0RP")
        while True:
            said.append(_body_on(connection))
            if replies:
                connection.sendall(replies.pop(0))
            elif header[2] == 0xE4:
                connection.sendall(ACK)

    def _administrate(self, connection: socket.socket) -> None:
        lines = connection.makefile("rb")
        sender = lines.readline().decode().strip()
        connection.sendall(f"Welcome {sender}\r\n".encode())
        while (line := lines.readline()) and line.strip() != b"q":
            request = lines.readline().decode().strip()
            self.administration.append(request)
            connection.sendall(f"{self._administered(request)}\r\n<ACK>\r\n".encode())

    def _administrate_by_tcp(self, connection: socket.socket) -> None:
        connection.sendall(b"YA\1\0\0\0RP")
        while b"a" in ((body := _body_on(connection))[5:6], body[8:9]):  # both forms of the command occur
            (length,) = struct.unpack_from("<i", body)
            request = to_text(decode_list(body[8 + length :]).items)
            self.administration.append(request)
            connection.sendall(encode_list(from_text(self._administered(request))) + ACK)

    def _administered(self, request: str) -> str:
        verb, target = request.split()[0], request.split('"')[1] if '"' in request else ""
        if verb == "[ver]":
            return "[ver] 1 2 3"
        if verb == "[list]":
            carrier = self._state_target.split(":")[0]
            return f'(from "{self._name}") (to "{target}") (carrier {carrier})' if carrier else ""
        if verb == "[add]":
            self._state_target = target
            self._send_states(target)
        return f'0 "{verb} {target}\\r\\n"'

    def _send_states(self, target: str) -> None:
        client = "/" + target.partition("://")[2]
        contact = self._names.query(client)
        connection = socket.create_connection((contact.getHost(), contact.getPort()), TIMEOUT)
        frames = [bytes.fromhex(frame["hex"]) for frame in self._frames(client) if frame["dir"] == "c>s"]
        connection.sendall(frames[0] + frames[1])
        (number,) = struct.unpack("<2xi2x", received(connection, 8))
        if target.startswith("udp"):
            connection.close()
            self._send_datagrams(number)
        else:
            threading.Thread(target=self._stream, args=(connection, frames[2:]), daemon=True).start()

    def _stream(self, connection: socket.socket, messages: list[bytes]) -> None:
        with suppress(OSError, AssertionError):
            for message in messages:
                connection.sendall(message)
                assert received(connection, 8) == ACK
            connection.recv(1)  # the connection stays until the client ends it

    def _send_datagrams(self, number: int) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for frame in self._session["frames"]:
                if frame["conn"] == "udp":
                    sender.sendto(bytes.fromhex(frame["hex"]), ("127.0.0.1", number))


def _joined(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the frames with header and name, which are two in some recordings, as one."""
    if frames and len(bytes.fromhex(frames[0]["hex"])) == 8:
        return [{"hex": frames[0]["hex"] + frames[1]["hex"]}, *frames[2:]]
    return frames


def _replies(frames: list[dict[str, Any]]) -> list[bytes]:
    """Return what the server said between the client's frames."""
    replies: list[bytes] = []
    was_client = True
    for frame in frames:
        is_client = frame["dir"] == "c>s"
        if not is_client and was_client:
            replies.append(b"")
        if not is_client:
            replies[-1] += bytes.fromhex(frame["hex"])
        was_client = is_client
    return replies


def _body_on(connection: socket.socket) -> bytes:
    start = received(connection, 18)
    lengths = received(connection, 4 * (start[8] + start[9]))
    return received(connection, sum(struct.unpack(f"<{len(lengths) // 4}i", lengths)))


def _without_blocks(data: bytes) -> bytes:
    is_message = data.startswith(b"YA\x0a\0\0\0RP")
    return data[18 + 4 * (data[8] + data[9]) :] if is_message else data
