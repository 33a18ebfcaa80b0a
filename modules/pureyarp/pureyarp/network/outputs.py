"""Send messages: outputs of a port on streams and on udp, and the handshake that opens them."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from pureyarp.data import Vector
from pureyarp.errors import MalformedMessage, PeerUnreachable
from pureyarp.network.byte_stream import ByteStream, PeerGone, PeerStalled, StreamExchange, open_socket
from pureyarp.network.settings import Contact, NetworkSettings, log
from pureyarp.wire import (
    LONGEST_NAME,
    NUMBER_SIZE,
    UDP,
    Carrier,
    PortCommand,
    Sent,
    WireFamily,
    data_command,
    datagrams_of,
    encode_command,
    encode_message,
    encode_name,
    encoded,
    encoded_text,
    expected_number,
    pieces_of,
)

_LIST_HEAD_SIZE = 8  # tag and count


class Frame(NamedTuple):
    """A message in the form of one kind of connection.

    Attributes:
        data: All bytes.
        object_start: Where in them the object begins.
        family: Of the object.
    """

    data: bytes
    object_start: int
    family: WireFamily


class OutgoingMessage:
    """An object with its port command, encoded once for each kind of connection that needs it.

    Connections that bring no reply are not asked for one.
    """

    def __init__(self, command: PortCommand, sent: Sent) -> None:
        self._command = command
        self._sent = sent
        self._bodies: dict[WireFamily, bytes] = {}
        self._text_body: bytes | None = None

    def frame(self, carrier: Carrier, family: WireFamily) -> Frame:
        """Return the bytes for a connection."""
        command = self._command
        if command.character == "d" and not carrier.has_reply:
            command = data_command(False, command.argument)
        return self._text_frame(command, family) if carrier.is_text else self._binary_frame(command, family)

    def _binary_frame(self, command: PortCommand, family: WireFamily) -> Frame:
        body = self._bodies.get(family)
        if body is None:
            body = self._bodies[family] = encoded(self._sent, family)
        data = encode_message(_blocks(command, body, isinstance(self._sent, Vector)))
        return Frame(data, len(data) - len(body), family)

    def _text_frame(self, command: PortCommand, family: WireFamily) -> Frame:
        if self._text_body is None:
            self._text_body = encoded_text(self._sent)
        line = command.text.encode("utf-8", "surrogateescape") + b"\r\n"
        return Frame(line + self._text_body, len(line), family)


def _blocks(command: PortCommand, body: bytes, is_vector: bool) -> list[bytes]:
    """Return the blocks of a message as YARP cuts it; receivers put them together again."""
    start = encode_command(command)
    if command.character == "a":
        return [start + body]
    if is_vector and len(body) > _LIST_HEAD_SIZE:
        return [start, body[:_LIST_HEAD_SIZE], body[_LIST_HEAD_SIZE:]]
    return [start, body]


_CLOSE_TIMEOUT = 0.5  # [s] for the peer to acknowledge the end


class StreamOutput:
    """One output. The thread that uses the socket holds ``_use``; `offer` never waits for it.

    A message that cannot leave at once waits in ``_pending``, where a newer one replaces it; the finisher thread,
    started when it is first needed, sends it.

    Attributes:
        target: Name of the port at the other end.
        carrier: How it is spoken to.
        family: The one that its replies have shown.
        dropped: Messages that were replaced by newer ones before they could leave.
    """

    def __init__(
        self, sock: socket.socket, stream: ByteStream, target: str, carrier: Carrier, settings: NetworkSettings
    ) -> None:
        self.target = target
        self.carrier = carrier
        self.family = settings.family
        self.dropped = 0
        self._socket = sock
        self._exchange = StreamExchange(sock, stream, carrier, settings.limits.largest_frame)
        self._use = threading.Lock()
        self._changed = threading.Condition()
        self._pending: bytes | None = None
        self._finisher: threading.Thread | None = None
        self._broken: PeerGone | None = None
        self._closed = False

    def offer(self, message: OutgoingMessage) -> None:
        """Send without ever waiting; while the peer is busy, the newest message waits and replaces an older one."""
        data = message.frame(self.carrier, self.family).data
        if self._use.acquire(blocking=False):
            try:
                if self._send_if_idle(data):
                    return
            finally:
                self._use.release()
        self._postpone(data)

    def begin(self, message: OutgoingMessage, deadline: float | None = None) -> None:
        """Send, after waiting for the peer to take what was sent before."""
        with self._using(deadline):
            self._send(message, deadline)

    def finish(self, deadline: float | None = None) -> None:
        """Wait until the peer has taken everything; raises `PeerStalled` at the deadline (monotonic clock, [s])."""
        with self._using(deadline):
            self._send_pending(deadline)

    def call(self, message: OutgoingMessage, deadline: float | None = None) -> bytes | str | None:
        """Send and return the peer's reply, None if it gives none; raises `PeerStalled` at the deadline."""
        with self._using(deadline):
            self._send(message, deadline)
            return self._exchange.reply(self.family, deadline)

    def is_busy(self) -> bool:
        """Return whether a message waits or has not been taken."""
        if self._pending is not None or not self._use.acquire(blocking=False):
            return self._broken is None
        try:
            return not self._exchange.is_settled()
        except PeerGone:
            return False
        finally:
            self._use.release()

    def is_alive(self) -> bool:
        """Return, without waiting, whether the peer is there; while another thread sends, that thread finds out."""
        if self._broken is not None or not self._use.acquire(blocking=False):
            return self._broken is None
        try:
            return self._exchange.is_open()
        finally:
            self._use.release()

    def set_type_of_service(self, value: int) -> None:
        """Set the IP type of service."""
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, value)

    def type_of_service(self) -> int:
        """Return the IP type of service."""
        return self._socket.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)

    def close(self) -> None:
        """Announce the end, briefly, and close the connection from any thread."""
        self._closed = True
        with self._changed:
            self._changed.notify_all()
        with contextlib.suppress(PeerGone, PeerStalled), self._using(time.monotonic() + _CLOSE_TIMEOUT):
            self._send_pending(time.monotonic() + _CLOSE_TIMEOUT)
            self._exchange.send_quit(self.family, _CLOSE_TIMEOUT)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with self._use:  # a thread that was blocked on the socket has been woken
            self._socket.close()

    def _using(self, deadline: float | None) -> _Use:
        timeout = -1.0 if deadline is None else max(deadline - time.monotonic(), 0.0)
        if not self._use.acquire(timeout=timeout):
            raise PeerStalled("the peer has not taken the former message")
        if self._broken is not None:
            self._use.release()
            raise self._broken
        return _Use(self._use)

    def _send(self, message: OutgoingMessage, deadline: float | None) -> None:
        self._send_pending(deadline)
        self._exchange.send(message.frame(self.carrier, self.family).data, deadline)

    def _send_pending(self, deadline: float | None) -> None:
        self._exchange.settle(self.family, deadline)
        if (pending := self._take_pending()) is not None:
            self._exchange.send(pending, deadline)
            self._exchange.settle(self.family, deadline)

    def _send_if_idle(self, data: bytes) -> bool:
        if self._broken is not None:
            raise self._broken
        if not self._exchange.is_settled():
            return False
        if self._take_pending() is not None:
            self.dropped += 1
        self._exchange.send_what_fits(data)
        if self._exchange.has_unsent:
            self._wake_finisher()
        return True

    def _postpone(self, data: bytes) -> None:
        with self._changed:
            if self._broken is not None:
                raise self._broken
            if self._pending is not None:
                self.dropped += 1
            self._pending = data
        self._wake_finisher()

    def _take_pending(self) -> bytes | None:
        if self._pending is None:
            return None
        with self._changed:
            pending, self._pending = self._pending, None
            return pending

    def _wake_finisher(self) -> None:
        with self._changed:
            if self._finisher is None and not self._closed:
                name = f"yarp output to {self.target}"
                self._finisher = threading.Thread(target=self._run_finisher, name=name, daemon=True)
                self._finisher.start()
            self._changed.notify_all()

    def _run_finisher(self) -> None:
        while self._wait_for_work():
            try:
                with self._using(None):
                    self._send_waiting()
            except (PeerGone, PeerStalled) as error:
                self._broken = PeerGone(str(error))
                return

    def _wait_for_work(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._pending is not None or self._exchange.has_unsent)
            return not self._closed

    def _send_waiting(self) -> None:
        """Send what waits; its acknowledgement is awaited only before the next message."""
        self._exchange.settle(self.family, None)
        if (pending := self._take_pending()) is not None:
            self._exchange.send(pending, None)


class _Use:
    """Gives the use of a socket back at the end of a block."""

    __slots__ = ("_lock",)

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._lock.release()
        if isinstance(error, OSError):  # the socket was closed
            raise PeerGone(f"the connection is closed: {error}") from error


_SEND_BUFFER = 1 << 20  # bytes
_MOST_QUIT_BYTES = 4096


class DatagramOutput:
    """Sends datagrams, which nothing acknowledges; the end is announced to the receiver over a text connection.

    The receiver's machine reports only that no socket receives them any more.
    """

    def __init__(
        self, sender: str, receiver: Contact, udp_port: int, local: tuple[str, int], settings: NetworkSettings
    ):
        self.target = receiver.getName()
        self.carrier = UDP
        self.family = settings.family
        self.dropped = 0
        self._sender = sender
        self._receiver = receiver
        self._settings = settings
        self._is_refused = False
        self._socket = _connected_socket(local, (receiver.getHost(), udp_port))

    def offer(self, message: OutgoingMessage) -> None:
        """Send without waiting; a message for which the socket's buffer has no room is dropped."""
        self._send(message, socket.MSG_DONTWAIT)

    def begin(self, message: OutgoingMessage, deadline: float | None = None) -> None:
        """Send, waiting for room in the socket's buffer."""
        self._send(message, 0)

    def finish(self, deadline: float | None = None) -> None:
        """Do nothing: the receiver does not acknowledge."""

    def call(self, message: OutgoingMessage, deadline: float | None = None) -> bytes | str | None:
        """Send; there is never a reply."""
        self._send(message, 0)
        return None

    def is_busy(self) -> bool:
        """Return False: no datagram is waited for."""
        return False

    def is_alive(self) -> bool:
        """Return whether the receiver's machine has refused no datagram."""
        try:
            self._is_refused |= self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED
        except OSError:  # closed
            return False
        return not self._is_refused

    def set_type_of_service(self, value: int) -> None:
        """Set the IP type of service."""
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, value)

    def type_of_service(self) -> int:
        """Return the IP type of service."""
        return self._socket.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)

    def close(self) -> None:
        """Announce the end to the receiver and close the socket."""
        self._socket.close()
        if self._is_refused:
            return
        host, port = self._receiver.getHost(), self._receiver.getPort()
        with (
            contextlib.suppress(OSError, PeerUnreachable),
            open_socket(host, port, self._settings, _CLOSE_TIMEOUT) as sock,
        ):
            sock.sendall(b"CONNECT admin\r\n" + f"~{self._sender}\r\nq\r\n".encode("utf-8", "surrogateescape"))
            sock.settimeout(_CLOSE_TIMEOUT)
            _read_to_end(sock)

    def _send(self, message: OutgoingMessage, flags: int) -> None:
        frame = message.frame(self.carrier, self.family)
        for datagram in datagrams_of(pieces_of(frame.data, frame.object_start, frame.family)):
            if not self._send_datagram(datagram, flags):
                self.dropped += 1
                return

    def _send_datagram(self, datagram: bytes, flags: int) -> bool:
        try:
            self._socket.send(datagram, flags)
        except BlockingIOError:
            return False
        except ConnectionRefusedError as error:  # of a former datagram
            self._is_refused = True
            raise PeerGone("no reader receives its datagrams") from error
        except OSError as error:
            if self._socket.fileno() < 0:
                raise PeerGone("the connection is closed") from error
            log.warning("%s: a datagram to %s was not sent: %s", self._sender, self.target, error)
            return False
        return True


def _connected_socket(local: tuple[str, int], receiver: tuple[str, int]) -> socket.socket:
    """Return a UDP socket at the address that the handshake came from, as receivers may expect it."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        sock.bind(local)
    try:
        sock.connect(receiver)
    except OSError:
        sock.close()
        raise
    return sock


def _read_to_end(sock: socket.socket) -> None:
    received = 0
    while received < _MOST_QUIT_BYTES:
        piece = sock.recv(_MOST_QUIT_BYTES)
        if not piece:
            return
        received += len(piece)


OutputConnection = StreamOutput | DatagramOutput
"""A connection by which messages leave a port. All methods raise `PeerGone` when the peer is dead."""


def open_output(
    sender: str, receiver: Contact, carrier: Carrier, settings: NetworkSettings, timeout: float | None = None
) -> OutputConnection:
    """Connect to a port and introduce ``sender``; raises `PeerUnreachable`.

    ``timeout`` [s] holds for the whole, the limit of the settings by default.
    """
    limit = settings.limits.handshake_timeout if timeout is None else timeout
    deadline = time.monotonic() + limit
    sock = open_socket(receiver.getHost(), receiver.getPort(), settings, limit)
    try:
        stream = ByteStream(sock)
        stream.set_deadline(deadline)
        number = _introduce(sock, stream, sender, carrier)
        if carrier.is_datagram:
            local = sock.getsockname()[:2]
            sock.close()
            return DatagramOutput(sender, receiver, number, local, settings)
        return StreamOutput(sock, stream, receiver.getName(), carrier, settings)
    except (OSError, PeerGone, PeerStalled, MalformedMessage) as error:
        sock.close()
        raise PeerUnreachable(f"{receiver.getName()} does not shake hands: {error}") from error


def _introduce(sock: socket.socket, stream: ByteStream, sender: str, carrier: Carrier) -> int:
    if carrier.is_text:
        sock.sendall(carrier.header + f"{sender}\r\n".encode("utf-8", "surrogateescape"))
        sock.settimeout(None)
        stream.take_line(LONGEST_NAME + len("Welcome "))
        return 0
    sock.sendall(carrier.header + encode_name(sender))
    sock.settimeout(None)
    return expected_number(stream.take(NUMBER_SIZE), "the answer to a handshake")


Reply = tuple[OutputConnection, bytes | str]
"""A reply and the output by which it came."""


class PortOutputs:
    """Any number of connections. One whose peer is dead is dropped by the write that finds out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: tuple[OutputConnection, ...] = ()
        self._is_closed = False

    def __len__(self) -> int:
        """Return the number of connections."""
        return len(self._connections)

    def all(self) -> tuple[OutputConnection, ...]:
        """Return the connections, oldest first."""
        return self._connections

    def named(self, target: str) -> OutputConnection | None:
        """Return the connection to a port, None if there is none."""
        return next((output for output in self._connections if output.target == target), None)

    def add(self, output: OutputConnection) -> None:
        """Take in a new connection; raises `PeerGone`, and closes it, if the port was closed in the meantime."""
        with self._lock:
            if not self._is_closed:
                self._connections = (*self._connections, output)
                return
        output.close()
        raise PeerGone(f"the port was closed while it was connected to {output.target}")

    def remove(self, output: OutputConnection) -> None:
        """Close a connection and let go of it."""
        with self._lock:
            self._connections = tuple(other for other in self._connections if other is not output)
        output.close()

    def drop_dead(self) -> None:
        """Remove connections whose peers have closed them; else the next message would."""
        for output in self._connections:
            if not output.is_alive():
                log.warning("the connection to %s is dropped: its peer is gone", output.target)
                self.remove(output)

    def offer(self, message: OutgoingMessage) -> bool:
        """Send without waiting; False if a peer turned out to be dead."""
        return self._each(lambda output: output.offer(message))

    def send(self, message: OutgoingMessage, deadline: float | None) -> bool:
        """Send to all and wait until all have taken it; False if a peer turned out to be dead or too slow."""
        is_sent = self._each(lambda output: output.begin(message, deadline))
        return self._each(lambda output: output.finish(deadline)) and is_sent

    def call(self, message: OutgoingMessage, deadline: float | None) -> tuple[bool, list[Reply]]:
        """Send to all, one after the other; return whether all went well, and the replies."""
        replies: list[Reply] = []

        def call_one(output: OutputConnection) -> None:
            reply = output.call(message, deadline)
            if reply is not None:
                replies.append((output, reply))

        return self._each(call_one), replies

    def wait(self) -> None:
        """Wait until all peers have taken what was sent."""
        self._each(lambda output: output.finish())

    def is_busy(self) -> bool:
        """Return whether a peer has not taken what was sent."""
        return any(output.is_busy() for output in self._connections)

    def close(self) -> None:
        """End all connections; there will be no others."""
        with self._lock:
            self._is_closed = True
        for output in self._connections:
            self.remove(output)

    def _each(self, act: Callable[[OutputConnection], None]) -> bool:
        all_well = True
        for output in self._connections:
            try:
                act(output)
            except PeerGone as error:
                log.warning("the connection to %s is dropped: %s", output.target, error)
                self.remove(output)
                all_well = False
            except PeerStalled as error:
                log.warning("%s: %s", output.target, error)
                all_well = False
        return all_well
