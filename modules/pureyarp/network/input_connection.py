"""A connection by which messages come to a port."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from pureyarp.errors import MalformedMessage, PeerUnreachable
from pureyarp.network.byte_stream import ByteStream, PeerGone, PeerStalled, set_timeout
from pureyarp.network.contact import Contact
from pureyarp.network.datagram_channel import DatagramChannel
from pureyarp.network.input_owner import InputOwner
from pureyarp.network.introduction import Introduction, answer_introduction, read_introduction
from pureyarp.network.line_connection import LineConnection
from pureyarp.network.log import log
from pureyarp.network.message_channel import (
    BinaryChannel,
    MessageChannel,
    TextChannel,
)
from pureyarp.network.open_socket import accept_authenticated
from pureyarp.network.shared_input import SharedInput
from pureyarp.network.shared_receiver import shared_receiver
from pureyarp.wire.binary import PortCommand
from pureyarp.wire.carriers import HEADER_SIZE


class InputConnection:
    """One connection. A daemon thread of its own shakes hands, and then waits for messages.

    Where messages are only stored, the shared receiver waits instead, until one comes that may take time; then a thread
    of the connection's own goes on.

    Attributes:
        sender: Name of who is at the other end, empty until it has introduced itself.
        carrier_name: How it speaks.
        remote: Who sends, by which carrier, and from where.
        family: The one that its messages have shown.
        is_introduced: Whether the handshake is over.
    """

    def __init__(self, owner: InputOwner, sock: socket.socket, peer_host: str, peer_port: int) -> None:
        self.sender = ""
        self.carrier_name = ""
        self.family = owner.settings.family
        self.is_introduced = False
        self._owner = owner
        self._socket = sock
        self._peer = (peer_host, peer_port)
        self.remote = Contact("", "", *self._peer)
        self._stream = ByteStream(sock)
        self._channel: MessageChannel | None = None
        self._shared: SharedInput | None = None  # what the shared receiver may be given
        self._datagrams: DatagramChannel | None = None
        self._closed = False
        self._is_last = False
        self._ended = threading.Event()
        self._thread = self._new_thread(self._begin)

    @property
    def is_rooted(self) -> bool:
        """Tell whether the sender is a port."""
        return self.sender.startswith("/")

    def start(self) -> None:
        """Begin to serve; raises RuntimeError if no further thread can be started."""
        self._thread.start()

    def close(self) -> None:
        """End the connection from any thread; the one that waits for messages closes the sockets."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        if self._datagrams is not None:
            self._datagrams.wake_up()

    def finish(self) -> None:
        """End the connection after the message that is being handled."""
        self._is_last = True

    def join(self, timeout: float) -> None:
        """Wait until the connection has ended, unless its thread is the caller's."""
        if self._thread is not threading.current_thread() and self._thread.ident is not None:
            self._ended.wait(timeout)

    def is_alive(self) -> bool:
        """Tell whether the connection is open at both ends, as far as can be seen without speaking."""
        if self._closed or self._datagrams is not None:
            return not self._closed
        try:
            return bool(self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def type_of_service(self) -> int:
        """Return the IP type of service of what goes back; 0 where nothing does."""
        if self._datagrams is not None:
            return 0
        return self._socket.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)

    def set_type_of_service(self, value: int) -> None:
        """Set the IP type of service of what goes back, if anything does."""
        if self._datagrams is None:
            self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, value)

    def goes_on(self, step: Callable[[], bool]) -> bool:
        """Do a step and return what it returns; False, and a line that says why, if it fails."""
        try:
            return step()
        except PeerGone:
            pass
        except (MalformedMessage, PeerStalled, PeerUnreachable, OSError) as error:
            if not self._closed:
                line = "%s: connection from %s closed: %s"
                self._owner.complaint.warning(line, self._owner.name, self._who(), error)
        except Exception:
            log.exception("%s: connection from %s failed", self._owner.name, self._who())
        return False

    def serve_alone(self, command: PortCommand, payload: bytes) -> None:
        """Serve in a thread of its own again, beginning with a message; raises RuntimeError if there is none."""
        self._thread = self._new_thread(lambda: self._serve(command, payload) and self._serve_messages())
        self._thread.start()

    def end(self) -> None:
        """Close the sockets; for whoever waits for messages."""
        self._owner.forget(self)
        self._closed = True
        if self._datagrams is not None:
            self._datagrams.close()
        with contextlib.suppress(OSError):
            self._socket.close()
        self._ended.set()

    def _new_thread(self, serve: Callable[[], bool]) -> threading.Thread:
        """Return a thread that serves and, unless the shared receiver goes on, ends the connection."""

        def run() -> None:
            if not self.goes_on(serve):
                self.end()

        return threading.Thread(target=run, name=f"yarp input of {self._owner.name}", daemon=True)

    def _begin(self) -> bool:
        accept_authenticated(self._socket, self._owner.settings)
        self._socket.settimeout(None)
        limits = self._owner.settings.limits
        set_timeout(self._socket, socket.SO_SNDTIMEO, limits.stall_timeout)
        self._stream.set_deadline(time.monotonic() + limits.handshake_timeout)
        serve_lines = self._owner.line_protocol(self._stream.peek(HEADER_SIZE))
        if serve_lines is not None:
            self.is_introduced = True
            serve_lines(LineConnection(self._socket, self._stream, self._peer[0], limits.stall_timeout))
            return False
        self._introduce()
        self._stream.set_deadline(None)
        self._stream.set_patience(limits.stall_timeout)
        if self._datagrams is not None:
            self._socket.close()
        return self._serve_messages()

    def _introduce(self) -> None:
        introduction = read_introduction(self._stream, self._socket)
        self.sender = introduction.sender
        self.carrier_name = introduction.carrier.name
        self.remote = Contact(self.sender, self.carrier_name, *self._peer)
        self._channel = self._channel_for(introduction)
        self.is_introduced = True  # before the peer can know
        self._owner.introduced(self)
        number = self._owner.port_number if self._datagrams is None else self._datagrams.port_number
        answer_introduction(self._socket, introduction, number)

    def _channel_for(self, introduction: Introduction) -> MessageChannel:
        settings = self._owner.settings
        carrier, largest = introduction.carrier, settings.limits.largest_frame
        if carrier.is_text:
            return TextChannel(self._socket, self._stream, carrier, min(largest, settings.limits.largest_text))
        if carrier.is_datagram:
            channel = self._datagrams = DatagramChannel(settings.listen_host, largest)
            self._shared = SharedInput(self, self._owner, channel)
            return channel
        binary = BinaryChannel(self._socket, self._stream, carrier, largest)
        self._shared = SharedInput(self, self._owner, binary)
        return binary

    def _serve_messages(self) -> bool:
        """Serve until the end, or until the shared receiver can do so; True then."""
        assert self._channel is not None, "hands have been shaken"
        while not self._closed:
            if self._shared is not None and self._shared.is_possible:
                shared_receiver.add(self._shared)
                return True
            if not self._serve(*self._channel.next()):
                break
        return False

    def _serve(self, command: PortCommand, payload: bytes | str) -> bool:
        """Handle one message, and return whether others may follow."""
        assert self._channel is not None, "hands have been shaken"
        self._channel.answer(self._owner.handle(command, payload, self), self.family)
        return command.character != "q" and not self._is_last

    def tell(self, lines: list[str]) -> None:
        """Say lines to the other end, if it speaks text."""
        if self._channel is not None:
            self._channel.tell(lines)

    def _who(self) -> str:
        return self.sender or "{}:{}".format(*self._peer)
