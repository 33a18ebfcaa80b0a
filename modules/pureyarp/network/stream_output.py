"""An output on tcp, fast_tcp, text or text_ack."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

from pureyarp.network.byte_stream import ByteStream, PeerGone, PeerStalled
from pureyarp.network.outgoing_message import OutgoingMessage
from pureyarp.network.settings import NetworkSettings
from pureyarp.network.stream_exchange import StreamExchange
from pureyarp.wire.carriers import Carrier

FAREWELL_PATIENCE = 0.5  # [s] for the peer to acknowledge the farewell


class StreamOutput:
    """One output. Whoever speaks on the socket holds ``_use``; nobody who must not wait ever waits for it.

    A message that cannot leave at once waits in ``_pending``, where a newer one replaces it; the finisher thread,
    started when it is first needed, sees it off.
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
        self._news = threading.Condition()
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
        """Wait until the peer has taken everything; raises `PeerStalled` at the deadline."""
        with self._using(deadline):
            self._send_pending(deadline)

    def call(self, message: OutgoingMessage, deadline: float | None = None) -> bytes | str | None:
        """Send and return the peer's reply, None if it gives none; raises `PeerStalled` at the deadline."""
        with self._using(deadline):
            self._send(message, deadline)
            return self._exchange.reply(self.family, deadline)

    def is_busy(self) -> bool:
        """Tell whether a message waits or has not been taken."""
        if self._pending is not None or not self._use.acquire(blocking=False):
            return self._broken is None
        try:
            return not self._exchange.is_settled()
        except PeerGone:
            return False
        finally:
            self._use.release()

    def is_alive(self) -> bool:
        """Tell whether the peer is still there; while somebody speaks to it, that is for him to find out."""
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
        """Say farewell, briefly, and end the connection from any thread."""
        self._closed = True
        with self._news:
            self._news.notify_all()
        with contextlib.suppress(PeerGone, PeerStalled), self._using(time.monotonic() + FAREWELL_PATIENCE):
            self._send_pending(time.monotonic() + FAREWELL_PATIENCE)
            self._exchange.say_farewell(self.family, FAREWELL_PATIENCE)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with self._use:  # whoever was blocked on the socket has been woken
            self._socket.close()

    def _using(self, deadline: float | None) -> _Use:
        patience = -1.0 if deadline is None else max(deadline - time.monotonic(), 0.0)
        if not self._use.acquire(timeout=patience):
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
        with self._news:
            if self._broken is not None:
                raise self._broken
            if self._pending is not None:
                self.dropped += 1
            self._pending = data
        self._wake_finisher()

    def _take_pending(self) -> bytes | None:
        if self._pending is None:
            return None
        with self._news:
            pending, self._pending = self._pending, None
            return pending

    def _wake_finisher(self) -> None:
        with self._news:
            if self._finisher is None and not self._closed:
                name = f"yarp output to {self.target}"
                self._finisher = threading.Thread(target=self._run_finisher, name=name, daemon=True)
                self._finisher.start()
            self._news.notify_all()

    def _run_finisher(self) -> None:
        while self._wait_for_work():
            try:
                with self._using(None):
                    self._see_off()
            except (PeerGone, PeerStalled) as error:
                self._broken = PeerGone(str(error))
                return

    def _wait_for_work(self) -> bool:
        with self._news:
            self._news.wait_for(lambda: self._closed or self._pending is not None or self._exchange.has_unsent)
            return not self._closed

    def _see_off(self) -> None:
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
