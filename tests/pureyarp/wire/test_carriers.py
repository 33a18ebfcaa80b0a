"""Carriers, authentication and datagrams."""

import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.errors import MalformedMessage
from pureyarp.wire import DATA, decode_list, encode_command, encode_list, encode_message, yarp_number
from pureyarp.wire.carriers import (
    CARRIERS,
    FAST_TCP,
    LARGEST_DATAGRAM,
    MCAST,
    NONCE_SIZE,
    SHMEM,
    TCP,
    TEXT,
    TEXT_ACK,
    UDP,
    WAKE_UP,
    DatagramAssembler,
    carrier_of_header,
    datagrams_of,
    encode_datagram,
    pieces_of,
    signed_nonce,
    verified_nonce,
)
from pureyarp.wire.elements import WireFamily, kinds_by_tag
from tests.middleware.recorded_messages import recording


@pytest.mark.parametrize(
    ("carrier", "header"),
    [
        (UDP, "59 41 61 1E 00 00 52 50"),
        (MCAST, "59 41 62 1E 00 00 52 50"),
        (FAST_TCP, "59 41 64 1E 00 00 52 50"),
        (TCP, "59 41 E4 1E 00 00 52 50"),
        (SHMEM, "59 41 6F 1E 00 00 52 50"),
        (TEXT, "43 4F 4E 4E 45 43 54 20"),
        (TEXT_ACK, "43 4F 4E 4E 41 43 4B 20"),
    ],
)
def test_the_headers_are_those_that_were_recorded(carrier, header):
    assert carrier.header == bytes.fromhex(header)
    assert carrier_of_header(carrier.header) is carrier


@pytest.mark.parametrize(
    ("specifier", "carrier"), [(16, UDP), (0x83, TCP), (0x93, TCP), (0x13, FAST_TCP), (0x41, MCAST), (5, None)]
)
def test_the_low_bits_of_the_specifier_decide(specifier, carrier):
    assert carrier_of_header(yarp_number(7777 + specifier)) is carrier


@pytest.mark.parametrize("header", [b"GET / HT", b"NAME_SER", b"HUMANITY", b"\0" * 8, yarp_number(0), yarp_number(-5)])
def test_other_headers_introduce_no_carrier(header):
    assert carrier_of_header(header) is None


def test_carriers_acknowledge_and_reply_as_listed():
    assert {name for name, carrier in CARRIERS.items() if carrier.has_ack} == {"tcp", "text_ack"}
    assert {name for name, carrier in CARRIERS.items() if carrier.has_reply} == {"tcp", "fast_tcp", "text_ack"}


KEY = b"secret key 1"


@pytest.fixture
def recorded() -> list[bytes]:
    return [bytes.fromhex(frame["hex"]) for frame in recording("yarp_3_12", "auth")["frames"][:3]]


def test_each_recorded_message_is_the_signed_nonce_after_those_before(recorded):
    earlier = b""
    for message in recorded:
        nonce = message[:NONCE_SIZE]
        assert signed_nonce(KEY, earlier, nonce) == message
        assert verified_nonce(KEY, earlier, message) == nonce
        earlier += nonce


def test_another_key_is_refused(recorded):
    with pytest.raises(MalformedMessage, match="key is not ours"):
        verified_nonce(b"secret key 2", b"", recorded[0])


def test_a_message_of_another_exchange_is_refused(recorded):
    with pytest.raises(MalformedMessage, match="key is not ours"):
        verified_nonce(KEY, b"12345678", recorded[1])


@pytest.mark.parametrize("size", [0, 39, 41])
def test_a_message_of_another_size_is_refused(recorded, size):
    with pytest.raises(MalformedMessage, match=f"40 bytes, got {size}"):
        verified_nonce(KEY, b"", (recorded[0] + b"x")[:size])


LARGEST = 1 << 22
FAMILY = WireFamily.YARP_3


def message_of(items: list) -> tuple[bytes, int]:
    """Return a whole message and where its list begins."""
    body = encode_list(items, FAMILY)
    data = encode_message([encode_command(DATA), body])
    return data, len(data) - len(body)


def recorded_datagrams() -> list[bytes]:
    frames = recording("yarp_3_12", "bottles_udp")["frames"]
    return [bytes.fromhex(frame["hex"]) for frame in frames if frame["conn"] == "udp"]


def test_recorded_datagrams_are_made_again_byte_for_byte():
    for datagram in recorded_datagrams()[:-1]:
        assert encode_datagram(0, datagram[8:]) == datagram


def test_recorded_datagrams_are_understood_and_the_wake_up_is_nothing():
    assembler = DatagramAssembler(LARGEST)
    payloads = [assembler.add(datagram) for datagram in recorded_datagrams()]
    assert decode_list(payloads[1][8:]).items == [1, -1]
    assert payloads[-1] is None
    assert recorded_datagrams()[-1] == WAKE_UP
    assert assembler.dropped == 0


def test_a_long_message_is_put_together_again():
    rng = random.Random(3)
    items = [rng.random() for _ in range(20000)]
    data, start = message_of(items)
    datagrams = list(datagrams_of(pieces_of(data, start, FAMILY)))
    assert [len(datagram) <= LARGEST_DATAGRAM for datagram in datagrams] == [True] * 3
    assembler = DatagramAssembler(LARGEST)
    assert [assembler.add(datagram) for datagram in datagrams[:-1]] == [None, None]
    assert decode_list(assembler.add(datagrams[-1])[8:]).items == items


def test_a_lost_damaged_or_reordered_piece_drops_its_message_and_no_other():
    data, start = message_of(list(range(30000)))
    datagrams = list(datagrams_of(pieces_of(data, start, FAMILY)))
    damaged = bytes([*datagrams[1][:-1], datagrams[1][-1] ^ 1])
    assembler = DatagramAssembler(LARGEST)
    for attempt in ([datagrams[1]], [datagrams[0], damaged], [datagrams[0]], [datagrams[0], datagrams[0]]):
        assert [assembler.add(datagram) for datagram in attempt] == [None] * len(attempt)
    assert assembler.add(datagrams[0]) is None
    assert assembler.add(datagrams[1])[8:] == data[start:]
    assert assembler.dropped == 5


def test_a_message_that_is_too_large_is_not_collected():
    data, start = message_of([0.5] * 20000)
    assembler = DatagramAssembler(1000)
    assert [assembler.add(datagram) for datagram in datagrams_of(pieces_of(data, start, FAMILY))] == [None] * 3
    assert assembler.dropped == 1


@given(st.lists(st.binary(max_size=60), max_size=10))
def test_any_datagrams_are_survived(datagrams):
    assembler = DatagramAssembler(LARGEST)
    for datagram in datagrams:
        assert assembler.add(datagram) is None


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=5))
def test_any_pieces_with_a_checksum_are_survived(pieces):
    assembler = DatagramAssembler(LARGEST)
    for datagram in datagrams_of(pieces):
        assembler.add(datagram)


SCALARS = st.one_of(st.integers(-(2**31), 2**31 - 1), st.floats(), st.text(max_size=40), st.binary(max_size=40))
ELEMENTS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=8), max_leaves=15)


@given(st.lists(ELEMENTS, max_size=8), st.integers(64, 200))
def test_no_number_straddles_two_pieces(items, largest):
    data, start = message_of(items)
    pieces = pieces_of(data, start, FAMILY, largest)
    assert b"".join(pieces) == data
    assert all(0 < len(piece) <= largest for piece in pieces)
    cuts = {sum(map(len, pieces[:index])) for index in range(1, len(pieces))}
    assert cuts & insides_of_numbers(data, start) == set()


def insides_of_numbers(data: bytes, start: int) -> set[int]:
    """Return the offsets at which a message must not be cut, found by a reader of its own."""
    kinds = kinds_by_tag(FAMILY)
    insides: set[int] = set()
    offset = start

    def number(size: int) -> int:
        nonlocal offset
        insides.update(range(offset + 1, offset + size))
        offset += size
        return struct.unpack_from("<i", data, offset - size)[0] if size == 4 else 0

    def scalar(tag: int) -> None:
        nonlocal offset
        if tag in (4, 12):
            length = number(4)
            offset += length
        else:
            number(kinds[tag].size)

    def elements(common: int) -> None:
        for _ in range(number(4)):
            tag = common or number(4)
            if tag & 256:
                elements(tag - 256)
            else:
                scalar(tag)

    elements(number(4) - 256)
    assert offset == len(data)
    return insides


def test_a_users_own_object_is_cut_anywhere():
    rng = random.Random(3)
    for beginning in (b"", b"\0\1\0\0", b"\0\1\0\0\xff\xff\xff\x7f", b"\x0a\1\0\0\xff\xff\0\0"):
        message = beginning + rng.randbytes(300)
        pieces = pieces_of(message, 0, FAMILY, largest=100)
        assert [len(piece) for piece in pieces[:-1]] == [100] * (len(pieces) - 1)
        assert b"".join(pieces) == message
