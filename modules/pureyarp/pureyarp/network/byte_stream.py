"""Send and receive on TCP: sockets of authenticated peers, buffered bytes and lines, messages and their replies."""

from __future__ import annotations

import contextlib
import secrets
import socket
import struct
import time
from collections.abc import Callable

from pureyarp.errors import FrameTooLarge, MalformedMessage, NetworkError, PeerUnreachable
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire import (
    ACKNOWLEDGEMENT,
    NONCE_SIZE,
    NUMBER_SIZE,
    QUIT,
    SIGNED_NONCE_SIZE,
    TEXT_ACKNOWLEDGEMENT,
    Carrier,
    WireFamily,
    encode_command,
    encode_message,
    encoded_size,
    expected_number,
    is_acknowledgement,
    signed_nonce,
    verified_nonce,
)

_USUAL_CAPACITY = 16 * 1024
_LARGE_CAPACITY = 1024 * 1024


class PeerGone(NetworkError):  # noqa: N818 (it reads as the sentence it is)
    """The peer has closed the connection, or this process has."""


class PeerStalled(NetworkError):  # noqa: N818
    """The peer is silent where it should go on."""


class ByteStream:
    """Receives into a buffer, which grows with what has arrived, never with what a peer announces.

    The socket blocks, at most for the timeout that the kernel keeps, so that a usual message costs one system call. A
    thread that sleeps in it is woken ahead of others that compute; one that looked again and again would use up its
    turn and then wait for theirs, milliseconds each.
    `PeerStalled` leaves what has arrived in place: reading can be tried again.

    Args:
        sock: Connected.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._buffer = bytearray(_USUAL_CAPACITY)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0
        self._deadline: float | None = None
        self._stall_timeout: float | None = None
        self._kernel_timeout: float | None = None

    def __len__(self) -> int:
        """Return how many received bytes wait to be taken."""
        return self._end - self._start

    def set_deadline(self, deadline: float | None) -> None:
        """Set when receiving is given up (monotonic clock, [s]); None leaves it to the stall timeout."""
        self._deadline = deadline

    def set_stall_timeout(self, timeout: float | None) -> None:
        """Set the longest wait for each byte while there is no deadline, [s]; None waits for ever."""
        self._stall_timeout = timeout

    def take(self, size: int) -> bytes:
        """Return the next ``size`` bytes, waiting for them."""
        taken = self.peek(size)
        self._start += size
        return taken

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes, waiting for them, and leave them to be taken."""
        while self._end - self._start < size:
            self.receive()
        return bytes(self._view[self._start : self._start + size])

    def skip(self, size: int) -> None:
        """Leave out received bytes."""
        self._start += size

    def view(self) -> memoryview:
        """Return all bytes that wait to be taken; not to be kept beyond the next `receive`."""
        return self._view[self._start : self._end]

    def take_line(self, longest: int) -> str:
        """Return the next line without its end; one of more than ``longest`` bytes raises `FrameTooLarge`."""
        searched = 0
        while (end := self._buffer.find(b"\n", self._start + searched, self._end)) < 0:
            searched = len(self)
            _refuse_longer(searched, longest)
            self.receive()
        _refuse_longer(end - self._start, longest)
        line = self.take(end + 1 - self._start)
        return line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")

    def find_line(self, line: bytes) -> int | None:
        """Return where, among the received bytes, a whole line (given with its end) begins; None if it has not come."""
        position = self._start
        while (position := self._buffer.find(line, position, self._end)) >= 0:
            if position == self._start or self._buffer[position - 1] == ord("\n"):
                return position - self._start
            position += 1
        return None

    def receive(self, wait: bool = True) -> None:
        """Wait for further bytes; without ``wait`` raise `PeerStalled` if there are none."""
        self._make_room()
        try:
            size = self._wait_and_receive() if wait else self._receive_now()
        except (BlockingIOError, TimeoutError) as error:
            raise PeerStalled("the peer does not go on") from error
        except OSError as error:
            raise PeerGone(f"the connection is broken: {error}") from error
        if size == 0:
            raise PeerGone("the peer has closed the connection")
        self._end += size

    def _receive_now(self) -> int:
        return self._socket.recv_into(self._view[self._end :], 0, socket.MSG_DONTWAIT)

    def _wait_and_receive(self) -> int:
        self._apply_timeout()
        return self._socket.recv_into(self._view[self._end :])

    def _apply_timeout(self) -> None:
        timeout = self._stall_timeout if self._deadline is None else self._deadline - time.monotonic()
        if timeout is not None and timeout <= 0:
            raise PeerStalled("the peer does not go on in time")
        if timeout != self._kernel_timeout:
            set_timeout(self._socket, socket.SO_RCVTIMEO, timeout)
            self._kernel_timeout = timeout

    def _make_room(self) -> None:
        if self._start == self._end:
            self._start = self._end = 0
            if len(self._buffer) > _LARGE_CAPACITY:
                self._resize(_USUAL_CAPACITY)
        elif self._end == len(self._buffer):
            is_half_taken = self._start > len(self._buffer) // 2
            self._resize(len(self._buffer) * (1 if is_half_taken else 2))

    def _resize(self, capacity: int) -> None:
        """Move the received bytes to the start of a new buffer."""
        rest = bytes(self.view())
        self._view.release()
        self._buffer = bytearray(capacity)
        self._view = memoryview(self._buffer)
        self._view[: len(rest)] = rest
        self._start, self._end = 0, len(rest)


def _refuse_longer(size: int, longest: int) -> None:
    if size > longest:
        raise FrameTooLarge(f"a line of more than {longest} bytes is refused")


def set_timeout(sock: socket.socket, option: int, timeout: float | None) -> None:
    """Set how long a blocking socket waits to receive (SO_RCVTIMEO) or to send (SO_SNDTIMEO), [s]; None: for ever."""
    seconds = 0.0 if timeout is None else max(timeout, 1e-3)
    sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6)))


def send_all(sock: socket.socket, data: bytes | memoryview) -> None:
    """Send everything; raises `PeerStalled` after the socket's timeout and `PeerGone` when the peer is dead."""
    try:
        sock.sendall(data)
    except (BlockingIOError, TimeoutError) as error:
        raise PeerStalled("the peer does not take what it is sent") from error
    except OSError as error:
        raise PeerGone(f"the connection is broken: {error}") from error


def send_some(sock: socket.socket, data: bytes | memoryview, flags: int = 0) -> int:
    """Send as much as the peer takes within the socket's timeout and return the number of bytes sent."""
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


def open_socket(host: str, port: int, settings: NetworkSettings, timeout: float | None = None) -> socket.socket:
    """Connect to ``host:port`` (TCP_NODELAY) and, with a key, authenticate as the initiator.

    The returned socket keeps ``timeout`` ([s], the handshake's by default). Raises `PeerUnreachable`.
    """
    limit = settings.limits.handshake_timeout if timeout is None else timeout
    try:
        sock = socket.create_connection((host, port), timeout=limit)
    except (OSError, OverflowError) as error:  # OverflowError: a port number beyond 65535
        raise PeerUnreachable(f"{host}:{port} cannot be reached: {error}") from error
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _refuse_connection_to_itself(sock)
        _authenticate_as_initiator(sock, settings)
        sock.settimeout(limit)
    except OSError as error:  # it has closed already
        sock.close()
        raise PeerUnreachable(f"{host}:{port} closed the connection at once: {error}") from error
    except BaseException:
        sock.close()
        raise
    return sock


def accept_authenticated(sock: socket.socket, settings: NetworkSettings) -> None:
    """Let the initiator of an accepted connection prove its key; without a configured key there is nothing to do.

    Sets TCP_NODELAY and leaves the handshake's timeout on the socket. Raises `PeerUnreachable`; closing is the
    caller's.
    """
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.settimeout(settings.limits.handshake_timeout)
    key = settings.authentication_key
    if key is None:
        return
    deadline = time.monotonic() + settings.limits.handshake_timeout
    with _AuthenticationFailures(sock):
        first = secrets.token_bytes(NONCE_SIZE)
        sock.sendall(signed_nonce(key, b"", first))
        second = verified_nonce(key, first, _receive_signed_nonce(sock, deadline))
        sock.sendall(signed_nonce(key, first + second, secrets.token_bytes(NONCE_SIZE)))
    sock.settimeout(settings.limits.handshake_timeout)


def _authenticate_as_initiator(sock: socket.socket, settings: NetworkSettings) -> None:
    key = settings.authentication_key
    if key is None:
        return
    deadline = time.monotonic() + settings.limits.handshake_timeout
    with _AuthenticationFailures(sock):
        first = verified_nonce(key, b"", _receive_signed_nonce(sock, deadline))
        second = secrets.token_bytes(NONCE_SIZE)
        sock.sendall(signed_nonce(key, first, second))
        verified_nonce(key, first + second, _receive_signed_nonce(sock, deadline))


def _receive_signed_nonce(sock: socket.socket, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < SIGNED_NONCE_SIZE:
        sock.settimeout(max(deadline - time.monotonic(), 1e-3))
        piece = sock.recv(SIGNED_NONCE_SIZE - len(received))
        if not piece:
            raise MalformedMessage("the peer closed during the authentication; is its key ours?")
        received += piece
    return bytes(received)


def _refuse_connection_to_itself(sock: socket.socket) -> None:
    """Refuse a TCP connection of an ephemeral port to itself, which is made where no program listens."""
    if sock.getsockname() == sock.getpeername():
        raise PeerUnreachable(f"no program listens at {sock.getpeername()}")


class _AuthenticationFailures:
    """Turns failures of the exchange into `PeerUnreachable` that names the peer."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, TimeoutError):
            reason = "it does not take part (has it a key in auth.conf?)"
        elif isinstance(error, OSError | MalformedMessage):
            reason = str(error)
        else:
            return
        raise PeerUnreachable(f"authentication with {_peer_of(self._sock)} failed: {reason}") from error


def _peer_of(sock: socket.socket) -> str:
    try:
        return "{}:{}".format(*sock.getpeername()[:2])
    except OSError:
        return "a peer that has gone"


LONGEST_LINE = 64 * 1024


class LineConnection:
    """Reads lines and sends bytes; the connection is closed when its handler returns.

    The first line has what is left of the handshake's time, each further one has ``line_timeout`` as a whole: a line
    that drips in byte by byte would keep others out.

    Attributes:
        peer_host: Address that the connection comes from.
    """

    def __init__(self, sock: socket.socket, stream: ByteStream, peer_host: str, line_timeout: float) -> None:
        """Take a connection whose handshake is not over.

        Args:
            sock: To answer by.
            stream: To read from; its deadline is the handshake's.
            peer_host: Address that the connection comes from.
            line_timeout: For each line but the first, [s].
        """
        self._socket = sock
        self._stream = stream
        self._line_timeout = line_timeout
        self._has_begun = False
        self.peer_host = peer_host

    def read_line(self) -> str | None:
        """Return the next line without its end, None when the peer has closed or takes too long.

        Peers of these protocols ask and leave; a silent one would keep others out.
        """
        if self._has_begun:
            self._stream.set_deadline(time.monotonic() + self._line_timeout)
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


_NO_REPLY = 0
_LARGEST_UNTAGGED = 64  # [bytes] with acknowledgement


class StreamReplies:
    """Takes complete replies and acknowledgements; an incomplete one stays where it is, to be tried again."""

    def __init__(self, stream: ByteStream, carrier: Carrier, largest: int) -> None:
        self._stream = stream
        self._carrier = carrier
        self._largest = largest
        self._to_skip = 0  # bytes that an acknowledgement has announced

    def take_acknowledgement(self, wait: bool = True) -> None:
        """Take an acknowledgement; without ``wait`` raise `PeerStalled` if it has not arrived."""
        if self._carrier.is_text:
            while self._stream.find_line(TEXT_ACKNOWLEDGEMENT) is None:
                self._receive(wait)
            self._stream.skip((self._stream.find_line(TEXT_ACKNOWLEDGEMENT) or 0) + len(TEXT_ACKNOWLEDGEMENT))
            return
        if not self._to_skip:
            self._wait_for(NUMBER_SIZE, wait)
            if self._stream.view()[:NUMBER_SIZE] == ACKNOWLEDGEMENT:
                self._stream.skip(NUMBER_SIZE)
                return
            self._to_skip = NUMBER_SIZE + self._announced()
        self._wait_for(self._to_skip, wait)
        self._stream.skip(self._to_skip)
        self._to_skip = 0

    def take_reply(self, family: WireFamily) -> bytes | str | None:
        """Take a reply, None if the acknowledgement comes without one."""
        while (size := self._reply_size(family)) is None:
            self._receive()
        if size == _NO_REPLY:
            return None
        reply = self._stream.take(size)
        return reply.decode("utf-8", "surrogateescape") if self._carrier.is_text else reply

    def _reply_size(self, family: WireFamily) -> int | None:
        if self._carrier.is_text:
            return self._stream.find_line(TEXT_ACKNOWLEDGEMENT)
        received = self._stream.view()
        is_acknowledged = is_acknowledgement(received) if self._carrier.has_ack else False
        if is_acknowledged is None:
            return None
        return _NO_REPLY if is_acknowledged else self._object_size(received, family)

    def _object_size(self, received: memoryview, family: WireFamily) -> int | None:
        try:
            return encoded_size(received, family)
        except MalformedMessage:
            if not self._carrier.has_ack or len(received) > _LARGEST_UNTAGGED:
                raise
            return _size_of_untagged(received)

    def _announced(self) -> int:
        announced = expected_number(self._stream.peek(NUMBER_SIZE), "an acknowledgement")
        if not 0 <= announced <= self._largest:
            raise MalformedMessage(f"an acknowledgement announces {announced} bytes")
        return announced

    def _wait_for(self, size: int, wait: bool) -> None:
        while len(self._stream) < size:
            self._stream.receive(wait)

    def _receive(self, wait: bool = True) -> None:
        if len(self._stream) > self._largest:
            raise FrameTooLarge(f"a reply of more than {self._largest} bytes is refused")
        self._stream.receive(wait)


def _size_of_untagged(received: bytearray | memoryview | bytes) -> int | None:
    """Return the size of a reply that generated code wrote without tags: it ends where the acknowledgement begins."""
    is_complete = len(received) > NUMBER_SIZE and is_acknowledgement(received[-NUMBER_SIZE:])
    return len(received) - NUMBER_SIZE if is_complete else None


_DRAIN_SIZE = 4096


class StreamExchange:
    """Sends one message at a time and settles the replies and acknowledgements that are due for it; knows no threads.

    A call that gives up at its deadline leaves some due, which are settled before the next message.

    Deadlines are times of the monotonic clock, [s]; None waits for ever.
    """

    def __init__(self, sock: socket.socket, stream: ByteStream, carrier: Carrier, largest: int) -> None:
        self._socket = sock
        self._stream = stream
        self._carrier = carrier
        self._replies = StreamReplies(stream, carrier, largest)
        self._unsent = memoryview(b"")
        self._replies_due = 0
        self._acknowledgements_due = 0
        self._send_timeout: float | None = None

    @property
    def has_unsent(self) -> bool:
        """Return whether a part of a message waits for room in the socket's buffer."""
        return bool(self._unsent)

    def send(self, data: bytes, deadline: float | None) -> None:
        """Send a message; the former one must be settled."""
        self._acknowledgements_due += self._carrier.has_ack
        self._unsent = memoryview(data)
        self._send_rest(deadline)

    def send_what_fits(self, data: bytes) -> None:
        """Send as much of a message as can leave at once; `settle` sends the rest."""
        self._acknowledgements_due += self._carrier.has_ack
        sent = send_some(self._socket, data, socket.MSG_DONTWAIT)
        self._unsent = memoryview(data)[sent:]

    def reply(self, family: WireFamily, deadline: float | None) -> bytes | str | None:
        """Return the reply to the message that was sent, None if the peer gives none."""
        if not self._carrier.has_reply:
            return None
        self._replies_due += 1
        reply = self._take_reply(family, deadline)
        self.settle(family, deadline)
        return reply

    def is_settled(self) -> bool:
        """Take what has come from the peer, without waiting, and return whether it owes nothing more."""
        if self._unsent or self._replies_due:
            return False
        try:
            self._take_acknowledgements(wait=False)
        except PeerStalled:
            return False
        return True

    def is_open(self) -> bool:
        """Return, without waiting, whether the peer has left the connection open."""
        try:
            self.is_settled()  # what it has sent would hide the end of the connection
            return bool(len(self._stream) or self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except (OSError, PeerGone):
            return False

    def settle(self, family: WireFamily, deadline: float | None) -> None:
        """Wait until the peer has taken what was sent and owes nothing more."""
        if self._unsent:
            self._send_rest(deadline)
        while self._replies_due:
            self._take_reply(family, deadline)  # of a call that gave up
        if self._acknowledgements_due:
            self._stream.set_deadline(deadline)
            self._take_acknowledgements()

    def send_quit(self, family: WireFamily, timeout: float) -> None:
        """Announce the end of the connection and wait until the peer has read it."""
        deadline = time.monotonic() + timeout
        command = b"q\r\n" if self._carrier.is_text else encode_message([encode_command(QUIT)])
        with contextlib.suppress(PeerGone, PeerStalled, OSError):
            self.settle(family, deadline)
            self.send(command, deadline)
            self.settle(family, deadline)
            if not self._carrier.has_ack:
                self._drain(timeout)

    def _drain(self, timeout: float) -> None:
        """Let the peer read all before the connection ends: unread bytes at this side would cut it short."""
        self._socket.shutdown(socket.SHUT_WR)
        set_timeout(self._socket, socket.SO_RCVTIMEO, timeout)
        while self._socket.recv(_DRAIN_SIZE):
            pass

    def _send_rest(self, deadline: float | None) -> None:
        while self._unsent:
            self._apply_send_timeout(deadline)
            sent = send_some(self._socket, self._unsent)
            if sent == 0:
                raise PeerStalled("the peer does not take what it is sent")
            self._unsent = self._unsent[sent:]

    def _take_reply(self, family: WireFamily, deadline: float | None) -> bytes | str | None:
        self._stream.set_deadline(deadline)
        try:
            reply = self._replies.take_reply(family)
        except MalformedMessage as error:
            raise PeerGone(f"what the peer answers is no reply: {error}") from error
        self._replies_due -= 1
        return reply

    def _take_acknowledgements(self, wait: bool = True) -> None:
        while self._acknowledgements_due:
            try:
                self._replies.take_acknowledgement(wait)
            except MalformedMessage as error:
                raise PeerGone(f"what the peer answers is no acknowledgement: {error}") from error
            self._acknowledgements_due -= 1

    def _apply_send_timeout(self, deadline: float | None) -> None:
        """Let the next system call that sends end at the deadline."""
        timeout = None if deadline is None else deadline - time.monotonic()
        if timeout is not None and timeout <= 0:
            raise PeerStalled("the peer does not answer in time")
        if timeout != self._send_timeout:
            set_timeout(self._socket, socket.SO_SNDTIMEO, timeout)
            self._send_timeout = timeout
