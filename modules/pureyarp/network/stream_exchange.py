"""Messages over a stream and what the peer owes for them. Knows no threads."""

from __future__ import annotations

import contextlib
import socket
import time

from pureyarp.errors import MalformedMessage
from pureyarp.network.byte_stream import ByteStream, PeerGone, PeerStalled, set_timeout
from pureyarp.network.send_bytes import send_some
from pureyarp.network.stream_replies import StreamReplies
from pureyarp.wire.binary import FAREWELL, encode_command, encode_message
from pureyarp.wire.carriers import Carrier
from pureyarp.wire.elements import WireFamily

_DRAIN_SIZE = 4096


class StreamExchange:
    """One message at a time. A call that gives up at its deadline leaves debts, which are settled before the next one.

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
        self._patience: float | None = None

    @property
    def has_unsent(self) -> bool:
        """Tell whether a part of a message waits for room in the socket's buffer."""
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
        """Take what has come from the peer, without waiting, and tell whether it owes nothing more."""
        if self._unsent or self._replies_due:
            return False
        try:
            self._take_acknowledgements(socket.MSG_DONTWAIT)
        except PeerStalled:
            return False
        return True

    def is_open(self) -> bool:
        """Tell, without waiting, whether the peer has left the connection open."""
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

    def say_farewell(self, family: WireFamily, patience: float) -> None:
        """Tell the peer that this is the end and wait until it knows."""
        deadline = time.monotonic() + patience
        command = b"q\r\n" if self._carrier.is_text else encode_message([encode_command(FAREWELL)])
        with contextlib.suppress(PeerGone, PeerStalled, OSError):
            self.settle(family, deadline)
            self.send(command, deadline)
            self.settle(family, deadline)
            if not self._carrier.has_ack:
                self._drain(patience)

    def _drain(self, patience: float) -> None:
        """Let the peer read all before the connection ends: unread bytes at this side would cut it short."""
        self._socket.shutdown(socket.SHUT_WR)
        set_timeout(self._socket, socket.SO_RCVTIMEO, patience)
        while self._socket.recv(_DRAIN_SIZE):
            pass

    def _send_rest(self, deadline: float | None) -> None:
        while self._unsent:
            self._be_patient(deadline)
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

    def _take_acknowledgements(self, flags: int = 0) -> None:
        while self._acknowledgements_due:
            try:
                self._replies.take_acknowledgement(flags)
            except MalformedMessage as error:
                raise PeerGone(f"what the peer answers is no acknowledgement: {error}") from error
            self._acknowledgements_due -= 1

    def _be_patient(self, deadline: float | None) -> None:
        """Let the next system call that sends end at the deadline."""
        patience = None if deadline is None else deadline - time.monotonic()
        if patience is not None and patience <= 0:
            raise PeerStalled("the peer does not answer in time")
        if patience != self._patience:
            set_timeout(self._socket, socket.SO_SNDTIMEO, patience)
            self._patience = patience
