"""Sockets: buffered bytes, authentication, protocols of lines."""

import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from pureyarp.errors import FrameTooLarge, PeerUnreachable
from pureyarp.network.byte_stream import (
    ByteStream,
    LineConnection,
    PeerGone,
    PeerStalled,
    accept_authenticated,
    open_socket,
)
from pureyarp.network.settings import ConnectionLimits, NetworkSettings
from tests.pureyarp.network.local_ports import open_core, settings_with
from tests.pureyarp.network.raw_sockets import conversation
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import TIMEOUT, wait_until


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, ByteStream]]:
    """Return a sender and the stream of what it sends."""
    sender, receiver = socket.socketpair()
    with sender, receiver:
        yield sender, ByteStream(receiver)


def test_what_comes_in_quick_succession_and_then_late_is_received(ends):
    sender, stream = ends
    for _ in range(3):
        sender.sendall(b"ab")
        assert stream.take(2) == b"ab"
    threading.Timer(0.01, sender.sendall, [b"late"]).start()
    assert stream.take(4) == b"late"


def test_bytes_are_taken_in_any_portions(ends):
    sender, stream = ends
    sender.sendall(b"abcdef")
    assert stream.take(2) == b"ab"
    assert stream.peek(3) == b"cde"
    stream.skip(1)
    assert bytes(stream.view()) == b"def"
    assert stream.take(3) == b"def"
    assert len(stream) == 0


def test_a_long_stream_survives_the_growth_and_the_shrinking_of_the_buffer(ends):
    sender, stream = ends
    rng = random.Random(1)
    for size in (10, 100_000, 3_000_000, 5, 20_000):
        data = rng.randbytes(size)
        taken = bytearray()
        for start in range(0, size, 50_000):
            sender.sendall(data[start : start + 50_000])
            stream.peek(min(start + 50_000, size))
        taken += stream.take(size)
        assert taken == data


def test_lines_end_in_lf_with_or_without_cr(ends):
    sender, stream = ends
    sender.sendall(b"one\r\ntwo\n\r\n\xff\n")
    assert [stream.take_line(100) for _ in range(4)] == ["one", "two", "", "\udcff"]


@pytest.mark.parametrize("data", [b"x" * 101, b"x" * 101 + b"\n"])
def test_a_line_that_is_too_long_is_refused(ends, data):
    sender, stream = ends
    sender.sendall(data)
    with pytest.raises(FrameTooLarge, match="more than 100 bytes"):
        stream.take_line(100)


def test_whole_lines_are_found(ends):
    sender, stream = ends
    sender.sendall(b"say <ACK>\r\n")
    stream.peek(11)
    assert stream.find_line(b"<ACK>\r\n") is None
    sender.sendall(b"<ACK>\r\n")
    stream.peek(18)
    assert stream.find_line(b"<ACK>\r\n") == 11


def test_the_end_of_the_connection_is_raised(ends):
    sender, stream = ends
    sender.sendall(b"a")
    sender.shutdown(socket.SHUT_WR)
    assert stream.take(1) == b"a"
    with pytest.raises(PeerGone):
        stream.take(1)


def test_received_bytes_stay_after_a_timeout(ends):
    sender, stream = ends
    stream.set_stall_timeout(0.01)
    sender.sendall(b"ab")
    with pytest.raises(PeerStalled):
        stream.take(4)
    sender.sendall(b"cd")
    assert stream.take(4) == b"abcd"


def test_a_deadline_holds_for_all_bytes_together(ends):
    sender, stream = ends
    stream.set_deadline(time.monotonic() + 0.05)
    with pytest.raises(PeerStalled):
        take_for_ever(sender, stream)
    stream.set_deadline(None)
    stream.skip(len(stream))
    sender.sendall(b"y")
    assert stream.take(1) in (b"x", b"y")


class DrippingSocket:
    """Has always one more byte."""

    def recv_into(self, view: memoryview, size: int = 0, flags: int = 0) -> int:
        return 1


def test_a_deadline_that_is_over_ends_a_stream_of_bytes_without_a_pause():
    stream = ByteStream(DrippingSocket())
    stream.set_deadline(time.monotonic())
    with pytest.raises(PeerStalled):
        stream.receive()


def take_for_ever(sender: socket.socket, stream: ByteStream) -> None:
    while True:
        sender.sendall(b"x")
        stream.take(1)


def test_nothing_is_waited_for_where_that_is_forbidden(ends):
    _, stream = ends
    with pytest.raises(PeerStalled):
        stream.receive(wait=False)


SHORT = ConnectionLimits(handshake_timeout=0.3)


def settings(key: bytes | None = None) -> NetworkSettings:
    return NetworkSettings(authentication_key=key, limits=SHORT)


@contextmanager
def acceptor(key: bytes | None) -> Iterator[tuple[int, list[object]]]:
    """Accept one connection and greet it; yields the port and what became of it."""
    outcome: list[object] = []

    def serve(listener: socket.socket) -> None:
        sock, _ = listener.accept()
        with sock:
            try:
                accept_authenticated(sock, settings(key))
                sock.sendall(b"hello")
                outcome.append("served")
            except PeerUnreachable as error:
                outcome.append(error)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        try:
            yield listener.getsockname()[1], outcome
        finally:
            thread.join(5.0)


@pytest.mark.parametrize("key", [None, b"secret key 1"])
def test_peers_with_the_same_key_or_none_talk(key):
    with acceptor(key) as (port, outcome), open_socket("127.0.0.1", port, settings(key)) as sock:
        assert sock.recv(5) == b"hello"
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert outcome == ["served"]


def test_another_key_is_refused_by_both():
    with acceptor(b"secret key 1") as (port, outcome), pytest.raises(PeerUnreachable, match="key is not ours"):
        open_socket("127.0.0.1", port, settings(b"secret key 2"))
    assert isinstance(outcome[0], PeerUnreachable)


def test_an_initiator_without_the_key_is_not_served():
    with acceptor(b"secret key 1") as (port, outcome), open_socket("127.0.0.1", port, settings(None)) as sock:
        sock.settimeout(10.0)
        assert len(sock.recv(100)) == 40
        assert sock.recv(100) == b""
    assert "does not take part" in str(outcome[0])


def test_an_acceptor_without_the_key_is_left():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(PeerUnreachable, match="does not take part"):
            open_socket("127.0.0.1", port, settings(b"secret key 1"))


def test_without_a_listener_the_address_is_named():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(PeerUnreachable, match=f"127.0.0.1:{port} cannot be reached"):
        open_socket("127.0.0.1", port, settings())
    with pytest.raises(PeerUnreachable, match="cannot be reached"):
        open_socket("127.0.0.1", 70000, settings())


def test_a_peer_that_closes_while_it_is_connected_to_cannot_be_reached(monkeypatch):
    connect = socket.create_connection

    def connect_to_one_that_resets(*arguments, **options) -> socket.socket:
        sock = connect(*arguments, **options)
        accepted, _ = listener.accept()
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        accepted.close()
        with pytest.raises(OSError, match="reset"):
            sock.recv(1)
        return sock

    monkeypatch.setattr(socket, "create_connection", connect_to_one_that_resets)
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(PeerUnreachable, match="closed"):
        open_socket("127.0.0.1", listener.getsockname()[1], settings())


def test_connections_that_announce_another_protocol_are_handed_on():
    hosts: list[str] = []

    def serve(connection: LineConnection) -> None:
        hosts.append(connection.peer_host)
        while (line := connection.read_line()) is not None:
            connection.send(f"heard {line}\n".encode())

    with ExitStack() as stack:
        port = open_core(stack, "/port", line_protocols={b"GET /": serve})
        assert conversation(port.port_number, b"GET /index HTTP/1.1\r\nsecond\n", b"second\n") == (
            b"heard GET /index HTTP/1.1\nheard second\n"
        )
        assert hosts == ["127.0.0.1"]


def test_a_peer_that_stops_in_the_middle_of_a_line_is_disconnected():
    with ExitStack() as stack:
        settings = settings_with(handshake_timeout=0.2, stall_timeout=0.2)
        port = open_core(stack, "/port", None, settings, line_protocols={b"NAME_SER": echo_lines})
        assert conversation(port.port_number, b"NAME_SERVER half a li", b"never") == b""
        assert conversation(port.port_number, b"NAME_SERVER\nhalf a li", b"never") == b"NAME_SERVER\n"
        wait_until(lambda: not threads_named("yarp input of /port"))


@pytest.mark.parametrize(("whole_lines", "limit"), [(b"", "handshake_timeout"), (b"NAME_SERVER\n", "stall_timeout")])
def test_a_line_that_drips_has_no_more_time_than_one_that_stops(whole_lines, limit):
    patient = {"handshake_timeout": TIMEOUT, "stall_timeout": TIMEOUT}
    with ExitStack() as stack:
        settings = settings_with(**{**patient, limit: 0.3})
        port = open_core(stack, "/port", None, settings, line_protocols={b"NAME_SER": echo_lines})
        sock = stack.enter_context(socket.create_connection(("127.0.0.1", port.port_number), timeout=TIMEOUT))
        sock.sendall(whole_lines + b"NAME_SERVER ")
        drip_until_closed(sock)
        wait_until(lambda: not threads_named("yarp input of /port"))


def echo_lines(connection: LineConnection) -> None:
    while (line := connection.read_line()) is not None:
        connection.send(f"{line}\n".encode())


def drip_until_closed(sock: socket.socket) -> None:
    """Send a byte now and then, in less than any timeout of the other end, until it has closed."""
    deadline = time.monotonic() + TIMEOUT
    sock.settimeout(0.05)
    while time.monotonic() < deadline:
        try:
            sock.sendall(b"x")
            if sock.recv(100) == b"":
                return
        except TimeoutError:
            continue
        except ConnectionError:
            return
    raise AssertionError("the other end is still patient")
