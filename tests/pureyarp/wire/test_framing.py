"""Port commands and frames of binary connections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.errors import FrameTooLarge, MalformedMessage
from pureyarp.wire import decode_name, encode_name, name_size
from pureyarp.wire.binary import (
    ADMINISTRATION,
    CALL,
    DATA,
    QUIT,
    PortCommand,
    decode_command,
    encode_command,
    encode_message,
    expected_number,
    is_acknowledgement,
    message_extent,
    number_in,
    parse_command,
    yarp_number,
)
from tests.middleware.recorded_messages import recording


@pytest.mark.parametrize(
    ("command", "encoded"),
    [
        (CALL, "00 00 00 00 7E 64 00 01"),
        (DATA, "00 00 00 00 7E 44 00 01"),
        (QUIT, "02 00 00 00 7E 00 00 01 71 00"),
        (ADMINISTRATION, "02 00 00 00 7E 00 00 01 61 00"),
        (PortCommand("D", "5 1700000000.5"), "11 00 00 00 7E 00 00 01" + b"D 5 1700000000.5\0".hex()),
        (PortCommand("/", "port"), "06 00 00 00 7E 00 00 01" + b"/port\0".hex()),
    ],
)
def test_commands_have_the_recorded_bytes(command, encoded):
    assert encode_command(command) == bytes.fromhex(encoded)
    assert decode_command(bytes.fromhex(encoded) + b"object") == (command, len(bytes.fromhex(encoded)))


def test_administration_also_comes_as_one_character():
    assert decode_command(bytes.fromhex("00 00 00 00 7E 61 00 01")) == (ADMINISTRATION, 8)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("d", CALL),
        ("D 5 1.5", PortCommand("D", "5 1.5")),
        ("d 5 1.5\x01hidden", PortCommand("d", "5 1.5")),
        ("~/other", PortCommand("~", "/other")),
        ("*", PortCommand("*")),
        ("", PortCommand("")),
    ],
)
def test_lines_are_commands(line, command):
    assert parse_command(line) == command


@pytest.mark.parametrize(
    "payload", [b"", b"1234567", bytes.fromhex("ff ff ff ff 7E 00 00 01"), bytes.fromhex("09 00 00 00 7E 00 00 01 44")]
)
def test_what_is_no_command_is_refused(payload):
    with pytest.raises(MalformedMessage):
        decode_command(payload)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_command_or_malformed(payload):
    try:
        _, size = decode_command(payload)
    except MalformedMessage:
        return
    assert 8 <= size <= len(payload)


@given(st.sampled_from("dD"), st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), max_size=30))
def test_envelopes_survive(character, envelope):
    command = PortCommand(character, envelope)
    assert decode_command(encode_command(command))[0] == command


def test_a_number_stands_between_letters():
    assert yarp_number(10) == bytes.fromhex("5941 0a000000 5250")
    assert yarp_number(-1) == bytes.fromhex("5941 ffffffff 5250")


@pytest.mark.parametrize("value", [0, 1, -1, 7777 + 131, 2**31 - 1, -(2**31)])
def test_a_number_is_read_back(value):
    assert number_in(yarp_number(value)) == value


def test_other_letters_carry_no_number():
    assert number_in(b"YA\0\0\0\0RQ") is None
    with pytest.raises(MalformedMessage, match="an acknowledgement should be a YARP number, got 4e 4f"):
        expected_number(b"NO NUMBE", "an acknowledgement")


LARGEST = 1 << 20


def recorded_messages() -> list[dict]:
    frames = recording("yarp_3_12", "bottles_tcp")["frames"] + recording("yarp_3_12", "vector_tcp")["frames"]
    return [frame for frame in frames if frame.get("what") == "message"]


def test_recorded_messages_are_framed_again_byte_for_byte():
    for frame in recorded_messages():
        data = bytes.fromhex(frame["hex"])
        header_size, size = message_extent(memoryview(data), LARGEST)
        assert header_size + size == len(data)
        payload, blocks = data[header_size:], []
        for length in frame["blocks"]:
            blocks.append(payload[:length])
            payload = payload[length:]
        assert encode_message(blocks) == data


def test_more_blocks_than_can_be_counted_are_joined():
    data = encode_message([b"x"] * 300)
    assert data[8:10] == b"\x01\x01"
    assert data.endswith(b"x" * 300)


@given(st.lists(st.binary(min_size=1, max_size=50), min_size=1, max_size=255), st.integers(0, 2000))
def test_an_extent_is_known_once_the_header_is_there(blocks, received):
    data = encode_message(blocks)
    extent = message_extent(memoryview(data)[:received], LARGEST)
    header_size = len(data) - sum(map(len, blocks))
    assert extent == (None if received < header_size else (header_size, sum(map(len, blocks))))


def test_reply_blocks_count_as_well():
    data = encode_message([b"abc"])
    with_reply = data[:22] + (5).to_bytes(4, "little")
    assert message_extent(memoryview(with_reply), LARGEST) == (26, 8)


def test_a_message_that_is_too_large_is_refused_before_it_arrives():
    header = encode_message([b"abc"])[:18] + (LARGEST + 1).to_bytes(4, "little") + bytes(4)
    with pytest.raises(FrameTooLarge, match="1048577 bytes"):
        message_extent(memoryview(header), LARGEST)


@pytest.mark.parametrize(
    "start", ["59 41 0B 00 00 00 52 50", "00" * 8, "59 41 0A 00 00 00 52 51", "47 45 54 20 2F 20 48 54"]
)
def test_what_is_no_index_is_malformed(start):
    with pytest.raises(MalformedMessage):
        message_extent(memoryview(bytes.fromhex(start) + bytes(10)), LARGEST)


def test_negative_lengths_are_malformed():
    header = encode_message([b"abc"])[:18] + b"\xff" * 4 + bytes(4)
    with pytest.raises(MalformedMessage, match="-1 bytes"):
        message_extent(memoryview(header), LARGEST)


def test_names_end_in_a_zero_that_is_counted():
    assert encode_name("/gold/out") == bytes.fromhex("0a000000") + b"/gold/out\0"
    assert decode_name(b"/gold/out\0") == ("/gold/out", "")


def test_modifiers_of_the_carrier_are_left_out_of_a_name():
    assert decode_name(b"/out (recv portmonitor) (file x)\0") == ("/out", "(recv portmonitor) (file x)")


@pytest.mark.parametrize(("announced", "size"), [(-5, 1), (0, 1), (10, 10), (1000, 1000), (2**31 - 1, 1000)])
def test_the_length_of_a_name_is_clamped(announced, size):
    assert name_size(announced.to_bytes(4, "little", signed=True)) == size


def test_a_name_that_is_too_long_is_cut():
    assert len(encode_name("/" + "x" * 2000)) == 1004


@pytest.mark.parametrize(
    ("start", "is_one"),
    [
        ("59 41 00 00 00 00 52 50", True),
        ("59 41 03 00 00 00 52 50 61 62 63", True),
        ("00 01 00 00 00 00 00 00", False),
        ("0A", False),
        ("59 41 00 00 00 00 52 51", False),
        ("59 41 00 00", None),
        ("", None),
    ],
)
def test_an_acknowledgement_is_distinguished_from_a_list(start, is_one):
    assert is_acknowledgement(bytes.fromhex(start)) is is_one
