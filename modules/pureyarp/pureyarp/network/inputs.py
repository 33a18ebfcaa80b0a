"""Accept connections and receive their messages: in a thread of each, or in the one shared receiver."""

from __future__ import annotations

import contextlib
import errno
import selectors
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pureyarp.errors import MalformedMessage, PeerUnreachable
from pureyarp.network.byte_stream import (
    ByteStream,
    LineConnection,
    PeerGone,
    PeerStalled,
    accept_authenticated,
    send_all,
    set_timeout,
)
from pureyarp.network.channels import BinaryChannel, DatagramChannel, MessageChannel, SharedChannel, TextChannel
from pureyarp.network.settings import EVERYWHERE, Contact, is_loopback, log
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire import (
    HEADER_SIZE,
    LONGEST_NAME,
    MCAST,
    SHMEM,
    Carrier,
    PortCommand,
    carrier_of_header,
    decode_name,
    from_text,
    name_size,
    yarp_number,
)

if TYPE_CHECKING:
    from pureyarp.network.port_core import PortCore

_BACKLOG = 1024  # connections that wait to be accepted; beyond, their peers try again only after a second
_PAUSE = 0.1  # [s] after a failure to accept, such as too many open files

OnConnection = Callable[[socket.socket, str, int], None]
"""Takes an accepted socket, its peer's host and its peer's port; must not block."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address (port 0: any free one), or raise OSError."""
    if not 0 <= port < 65536:
        raise OSError(errno.EADDRNOTAVAIL, f"{port} is no TCP port")
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(_BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


def is_listened(host: str, port: int) -> bool:
    """Return whether no port can listen at a TCP port of ``host``, if that is this machine: another one does.

    Binding asks the kernel alone: some 20 µs, and no program sees a connection. False for hosts that are other
    machines, and for hosts that are no IPv4 addresses, which a resolver would take long to find.
    """
    own = "127.0.0.1" if is_loopback(host) else host
    try:
        socket.inet_pton(socket.AF_INET, own)
        for address in (own, EVERYWHERE):
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what has just closed is free
                probe.bind((address, port))
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


class Acceptor:
    """Hands every connection on, until it is closed.

    Attributes:
        port_number: Where it listens.
    """

    def __init__(self, listener: socket.socket, name: str, on_connection: OnConnection) -> None:
        self.port_number = int(listener.getsockname()[1])
        self._listener = listener
        self._name = name
        self._on_connection = on_connection
        self._failures = RateLimitedLog(log)
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=f"yarp listener of {name}", daemon=True)

    def start(self) -> None:
        """Begin to accept."""
        self._thread.start()

    def close(self) -> None:
        """Stop listening and wait for the thread."""
        self._closed = True
        try:
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        except OSError:  # systems on which listening sockets cannot be shut down
            self._wake()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(1.0)
        self._listener.close()

    def _run(self) -> None:
        while not self._closed:
            try:
                sock, (host, port) = self._listener.accept()
            except OSError as error:
                if not self._closed:
                    self._failures.warning("%s: cannot accept a connection: %s", self._name, error)
                    time.sleep(_PAUSE)
                continue
            if self._closed:
                sock.close()
            else:
                self._on_connection(sock, host, port)

    def _wake(self) -> None:
        address = self._listener.getsockname()
        with contextlib.suppress(OSError):
            socket.create_connection(address, timeout=_PAUSE).close()


_UNKNOWN_PROTOCOL = (
    "* Error. Protocol not found.\r\n"
    "* Hello. You appear to be trying to communicate with a YARP port.\r\n"
    "* The first 8 bytes sent to it say which carrier is spoken.\r\n"
    "* To speak to it by hand, type:\r\n"
    "*   CONNECT my_name\r\n"
    "* then, for example, a line 'd' and a line with a message, or the single line '*'.\r\n"
)


@dataclass(frozen=True, slots=True)
class Introduction:
    """The introduction of an initiator: its carrier and its name.

    Attributes:
        carrier: How it will speak.
        sender: Its name; one that begins with ``/`` belongs to a port.
    """

    carrier: Carrier
    sender: str


def read_introduction(stream: ByteStream, sock: socket.socket) -> Introduction:
    """Read carrier and sender; a carrier that is not spoken is answered as far as it can be and refused."""
    header = stream.peek(HEADER_SIZE)
    carrier = carrier_of_header(header)
    if carrier is None:
        send_all(sock, _UNKNOWN_PROTOCOL.encode())
        raise MalformedMessage(f"{header!r} introduces no carrier")
    if carrier in (MCAST, SHMEM):
        raise MalformedMessage(f"the carrier {carrier.name} is not spoken here; tcp, fast_tcp and udp are")
    stream.skip(HEADER_SIZE)
    return Introduction(carrier, _sender(stream, carrier))


def answer_introduction(sock: socket.socket, introduction: Introduction, port_number: int) -> None:
    """Answer an introduction; ``port_number`` is this port's, or that of its new UDP socket."""
    if introduction.carrier.is_text:
        send_all(sock, f"Welcome {introduction.sender}\r\n".encode("utf-8", "surrogateescape"))
    else:
        send_all(sock, yarp_number(port_number))


def _sender(stream: ByteStream, carrier: Carrier) -> str:
    """Return the name of the sender; raise MalformedMessage where its carrier wants a port monitor to be run here."""
    if carrier.is_text:
        name, modifiers = decode_name(stream.take_line(LONGEST_NAME).strip().encode("utf-8", "surrogateescape"))
    else:
        name, modifiers = decode_name(stream.take(name_size(stream.take(4))))
    if any(isinstance(item, list) and item[:1] == ["recv"] for item in from_text(modifiers)):
        raise MalformedMessage(
            f"{name} wants {modifiers} to be run here, but there are no port monitors: leave out +recv"
        )
    return name


_LOOK = 0.25  # [s] between two looks for peers that have stopped in the middle of a message
_LONGEST = 64 * 1024  # bytes of a message that the receiver takes the time to store


class SharedReceiver:
    """Waits at all sockets at once, so that many streams wake one thread instead of one each.

    A turn takes from each peer what one system call yields: a flood of one does not delay the others. The thread runs
    while there are connections.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held to change what is waited for, not while waiting
        self._selector: selectors.BaseSelector | None = None

    def add(self, connection: SharedInput) -> None:
        """Receive for a connection from now on; raises RuntimeError if no thread can be started."""
        with self._lock:
            selector = self._selector
            if selector is None:
                selector = selectors.DefaultSelector()
                threading.Thread(target=self._run, args=(selector,), name="yarp receiver", daemon=True).start()
                self._selector = selector
            selector.register(connection.fileno(), selectors.EVENT_READ, connection)

    def _run(self, selector: selectors.BaseSelector) -> None:
        next_look = time.monotonic() + _LOOK
        while not self._is_over(selector):
            for key, _ in selector.select(_LOOK):
                if not key.data.take_arrived():
                    self._let_go(selector, key)
            if time.monotonic() >= next_look:
                self._drop_stalled(selector)
                next_look = time.monotonic() + _LOOK

    def _is_over(self, selector: selectors.BaseSelector) -> bool:
        with self._lock:
            if selector.get_map():
                return False
            self._selector = None
            selector.close()
            return True

    def _drop_stalled(self, selector: selectors.BaseSelector) -> None:
        with self._lock:
            keys = list(selector.get_map().values())
        for key in keys:
            if not key.data.check_stall():
                self._let_go(selector, key)

    def _let_go(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        with self._lock:
            selector.unregister(key.fd)  # before the socket is closed and its number is another's
        key.data.let_go()


shared_receiver = SharedReceiver()


class SharedInput:
    """A connection of the shared receiver: stores messages without ever waiting or raising.

    What may take time is left to a thread of the connection's own: a command to the port, a very large message, any
    message when the port has become one that does more than store.
    """

    def __init__(self, connection: InputConnection, owner: PortCore, channel: SharedChannel) -> None:
        self._connection = connection
        self._owner = owner
        self._channel = channel
        self._postponed: tuple[PortCommand, bytes] | None = None
        self._arrived_at = 0.0  # monotonic

    @property
    def is_possible(self) -> bool:
        """Return whether the receiver can take over: between two messages that are only stored."""
        return self._owner.only_stores and not self._channel.is_within_message

    def fileno(self) -> int:
        """Return the file descriptor of the socket that messages arrive at."""
        return self._channel.fileno()

    def take_arrived(self) -> bool:
        """Take what has arrived and store what is whole; False if the receiver is to let go of the connection."""
        return self._connection.goes_on(self._store_arrived)

    def check_stall(self) -> bool:
        """Return False if the peer has stopped in the middle of a message for too long."""
        return self._connection.goes_on(self._is_moving)

    def let_go(self) -> None:
        """End, or go on in a thread: the receiver has let go of the connection."""
        postponed, self._postponed = self._postponed, None
        try:
            if postponed is not None:
                self._connection.serve_alone(*postponed)
                return
        except RuntimeError as error:  # no further thread
            log.error("%s: connection from %s closed: %s", self._owner.name, self._connection.sender, error)
        self._connection.end()

    def _store_arrived(self) -> bool:
        self._channel.receive_at_once()
        self._arrived_at = time.monotonic()
        while (message := self._channel.arrived()) is not None:
            command, payload = message
            if not (command.is_data and self._owner.only_stores and len(payload) <= _LONGEST):
                self._postponed = message
                return False
            reply = self._owner.handle(command, payload, self._connection)
            self._channel.answer_at_once(reply, self._connection.family)
        return True

    def _is_moving(self) -> bool:
        timeout = self._owner.settings.limits.stall_timeout
        if self._channel.is_within_message and time.monotonic() - self._arrived_at > timeout:
            raise PeerStalled("the peer does not go on")
        return True


class InputConnection:
    """One connection. A daemon thread of its own shakes hands, and then waits for messages.

    Where messages are only stored, the shared receiver waits instead, until one comes that may take time; then a thread
    of the connection's own goes on.

    Attributes:
        sender: Name of the peer, empty until it has introduced itself.
        carrier_name: How it speaks.
        remote: Name, carrier and address of the sender.
        family: The one that its messages have shown.
        is_introduced: Whether the handshake is over.
    """

    def __init__(self, owner: PortCore, sock: socket.socket, peer_host: str, peer_port: int) -> None:
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
        """Return whether the sender is a port."""
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
        """Return whether the connection is open at both ends, as far as can be seen without speaking."""
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
                self._owner.peer_faults.warning(line, self._owner.name, self._who(), error)
        except Exception:
            log.exception("%s: connection from %s failed", self._owner.name, self._who())
        return False

    def serve_alone(self, command: PortCommand, payload: bytes) -> None:
        """Serve in a thread of its own again, beginning with a message; raises RuntimeError if there is none."""
        self._thread = self._new_thread(lambda: self._serve(command, payload) and self._serve_messages())
        self._thread.start()

    def end(self) -> None:
        """Close the sockets; for the thread that waits for messages."""
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
        self._stream.set_stall_timeout(limits.stall_timeout)
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

    def send_lines(self, lines: list[str]) -> None:
        """Send lines to the peer, if it speaks text."""
        if self._channel is not None:
            self._channel.send_lines(lines)

    def _who(self) -> str:
        return self.sender or "{}:{}".format(*self._peer)


class PortInputs:
    """A bounded number of connections; a new one may take the place of the oldest that has not introduced itself."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._connections: list[InputConnection] = []

    def admit(self, connection: InputConnection) -> bool:
        """Take a new connection in, or return False if there is no room."""
        with self._lock:
            if len(self._connections) >= self._most and not self._evict():
                return False
            self._connections.append(connection)
            return True

    def introduced(self, newcomer: InputConnection) -> None:
        """Close the older connection of a port that has connected again."""
        if not newcomer.is_rooted:
            return
        for older in self.named(newcomer.sender):
            if older is not newcomer:
                log.info("%s has connected again; its older connection is closed", newcomer.sender)
                older.close()
                self.forget(older)

    def forget(self, connection: InputConnection) -> None:
        """Let go of a connection."""
        with self._lock:
            if connection in self._connections:
                self._connections.remove(connection)

    def all(self) -> list[InputConnection]:
        """Return the connections that have introduced themselves, oldest first."""
        with self._lock:
            return [connection for connection in self._connections if connection.sender]

    def named(self, sender: str) -> list[InputConnection]:
        """Return the connections of one sender."""
        return [connection for connection in self.all() if connection.sender == sender]

    def close(self, timeout: float) -> None:
        """End all connections and wait for their threads, [s] for all together."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.close()
        deadline = time.monotonic() + timeout
        for connection in connections:
            connection.join(max(deadline - time.monotonic(), 0.0))

    def _evict(self) -> bool:
        silent = next((connection for connection in self._connections if not connection.is_introduced), None)
        if silent is None:
            return False
        self._connections.remove(silent)
        silent.close()
        return True
