import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.errors import MalformedMessage
from pureyarp.wire.port_command import (
    ADMINISTRATION,
    CALL,
    DATA,
    FAREWELL,
    PortCommand,
    decode_command,
    encode_command,
    parse_command,
)


@pytest.mark.parametrize(
    ("command", "encoded"),
    [
        (CALL, "00 00 00 00 7E 64 00 01"),
        (DATA, "00 00 00 00 7E 44 00 01"),
        (FAREWELL, "02 00 00 00 7E 00 00 01 71 00"),
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
