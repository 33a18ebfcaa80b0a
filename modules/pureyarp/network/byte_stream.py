"""What arrives at a TCP socket, in the portions that a reader needs."""

from __future__ import annotations

import os
import socket
import struct
import time

from pureyarp.errors import FrameTooLarge, NetworkError

_USUAL_CAPACITY = 16 * 1024
_LARGE_CAPACITY = 1024 * 1024
_EAGERNESS = 200e-6  # [s] of looking again and again before sleeping: waking up takes longer than a peer's usual answer
_SOON = 500e-6  # [s] between messages of a conversation that is worth it


class PeerGone(NetworkError):  # noqa: N818 (it reads as the sentence it is)
    """The peer has closed the connection, or this process has."""


class PeerStalled(NetworkError):  # noqa: N818
    """The peer is silent where it should go on."""


class ByteStream:
    """Buffered receiving. The buffer grows with what has arrived, never with what a peer announces.

    The socket blocks; how long at most is the kernel's business, so that a usual message costs one system call.
    `PeerStalled` leaves what has arrived in place: reading can be tried again.

    Args:
        sock: Connected.
        expects_answers: Whether what is received are answers, which come soon. The stream then looks for them a moment
            before it sleeps; any other stream that is waited at does so while its peer sends one thing upon the other.
    """

    def __init__(self, sock: socket.socket, expects_answers: bool = False) -> None:
        self._socket = sock
        self._expects_answers = expects_answers
        self._is_eager = expects_answers
        self._buffer = bytearray(_USUAL_CAPACITY)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0
        self._deadline: float | None = None
        self._patience: float | None = None
        self._kernel_patience: float | None = None

    def __len__(self) -> int:
        """Return how many received bytes wait to be taken."""
        return self._end - self._start

    def set_deadline(self, deadline: float | None) -> None:
        """Set when receiving is given up (monotonic clock, [s]); None leaves it to the patience."""
        self._deadline = deadline

    def set_patience(self, patience: float | None) -> None:
        """Set how long to wait for each byte while there is no deadline, [s]; None waits for ever."""
        self._patience = patience

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

    def receive(self, flags: int = 0) -> None:
        """Wait for further bytes; with ``MSG_DONTWAIT`` raise `PeerStalled` if there are none."""
        self._make_room()
        try:
            size = self._receive_now() if flags & socket.MSG_DONTWAIT else self._wait_and_receive()
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
        size = self._receive_soon() if self._is_eager else None
        if size is None:
            self._be_patient()
            begin = time.monotonic()
            size = self._socket.recv_into(self._view[self._end :])
            self._is_eager = self._expects_answers or time.monotonic() - begin < _SOON
        return size

    def _receive_soon(self) -> int | None:
        """Receive what comes within a moment; None if nothing does."""
        end = time.monotonic() + _EAGERNESS
        while time.monotonic() < end:
            try:
                return self._receive_now()
            except BlockingIOError:
                os.sched_yield()
        self._is_eager = self._expects_answers
        return None

    def _be_patient(self) -> None:
        patience = self._patience if self._deadline is None else self._deadline - time.monotonic()
        if patience is not None and patience <= 0:
            raise PeerStalled("the peer does not go on in time")
        if patience != self._kernel_patience:
            set_timeout(self._socket, socket.SO_RCVTIMEO, patience)
            self._kernel_patience = patience

    def _make_room(self) -> None:
        if self._start == self._end:
            self._start = self._end = 0
            if len(self._buffer) > _LARGE_CAPACITY:
                self._resize(_USUAL_CAPACITY)
        elif self._end == len(self._buffer):
            is_half_taken = self._start > len(self._buffer) // 2
            self._resize(len(self._buffer) * (1 if is_half_taken else 2))

    def _resize(self, capacity: int) -> None:
        """Move what waits to the start of a new buffer."""
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
