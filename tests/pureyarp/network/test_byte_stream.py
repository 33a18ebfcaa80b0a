import random
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from pureyarp.errors import FrameTooLarge
from pureyarp.network.byte_stream import ByteStream, PeerGone, PeerStalled


@pytest.fixture(params=[False, True], ids=["messages", "answers"])
def ends(request) -> Iterator[tuple[socket.socket, ByteStream]]:
    """Return a sender and the stream of what it sends."""
    sender, receiver = socket.socketpair()
    with sender, receiver:
        yield sender, ByteStream(receiver, expects_answers=request.param)


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


def test_the_end_of_the_connection_is_told(ends):
    sender, stream = ends
    sender.sendall(b"a")
    sender.shutdown(socket.SHUT_WR)
    assert stream.take(1) == b"a"
    with pytest.raises(PeerGone):
        stream.take(1)


def test_what_has_arrived_stays_when_patience_ends(ends):
    sender, stream = ends
    stream.set_patience(0.01)
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


def take_for_ever(sender: socket.socket, stream: ByteStream) -> None:
    while True:
        sender.sendall(b"x")
        stream.take(1)


def test_nothing_is_waited_for_where_that_is_forbidden(ends):
    _, stream = ends
    with pytest.raises(PeerStalled):
        stream.receive(socket.MSG_DONTWAIT)
