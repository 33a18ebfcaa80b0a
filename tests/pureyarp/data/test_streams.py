"""Streams of connections, the objects read from and written to them, stamps."""

import logging
import struct
import time
from collections import defaultdict

import pytest

from pureyarp.data import Bottle, ConnectionReader, ConnectionWriter, Stamp, Vector, line_of, streams
from pureyarp.errors import MalformedMessage
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire import WireFamily
from tests.middleware.recorded_payloads import recorded_payloads


def test_numbers_are_appended_little_endian():
    writer = ConnectionWriter()
    writer.appendInt8(-1)
    writer.appendInt16(-2)
    writer.appendInt32(-3)
    writer.appendInt64(-4)
    writer.appendFloat32(0.5)
    writer.appendFloat64(0.25)
    assert writer.data == struct.pack("<bhiqfd", -1, -2, -3, -4, 0.5, 0.25)


def test_strings_texts_and_blocks_are_appended():
    writer = ConnectionWriter()
    writer.appendString("é")
    writer.appendText("line")
    writer.appendBlock(b"block", 3)
    writer.appendExternalBlock(b"!")
    assert writer.data == b"\2\0\0\0\xc3\xa9line\nblo!"


def test_nothing_appended_is_no_reply():
    assert not ConnectionWriter().data
    writer = ConnectionWriter(is_text=True)
    Bottle().write(writer)
    assert writer.data
    assert line_of(writer) == ""


@pytest.mark.parametrize("family", list(WireFamily))
def test_objects_are_written_with_the_tags_of_the_peer(family):
    writer = ConnectionWriter(family=family)
    assert Bottle("0.5 x").write(writer)
    assert writer.data == Bottle("0.5 x").to_wire(family)


def test_objects_are_written_as_a_line_of_text():
    writer = ConnectionWriter(is_text=True)
    assert writer.isTextMode()
    assert Bottle('1 "a b"').write(writer)
    assert line_of(writer) == '1 "a b"'


def test_binary_that_is_no_list_cannot_become_text():
    writer = ConnectionWriter(is_text=True)
    writer.convertTextMode()
    assert not writer.isTextMode()
    writer.appendInt32(5)
    with pytest.raises(MalformedMessage):
        line_of(writer)


def test_numbers_out_of_range_are_refused():
    writer = ConnectionWriter()
    with pytest.raises(OverflowError):
        writer.appendInt8(128)
    with pytest.raises(TypeError):
        writer.appendInt32(1.5)
    with pytest.raises(MalformedMessage):
        writer.appendFloat64("x")
    assert not writer.data


def test_a_writer_can_ask_for_the_end_of_the_connection():
    writer = ConnectionWriter()
    assert (writer.drop_requested, writer.isValid(), writer.isActive()) == (False, True, True)
    assert (writer.isError(), writer.isNull(), writer.isBareMode()) == (False, False, False)
    writer.requestDrop()
    assert writer.drop_requested


NUMBERS = struct.pack("<bhiqfd", -1, -2, -3, -4, 0.5, 0.25)


def test_numbers_are_read_one_after_the_other():
    reader = ConnectionReader(NUMBERS)
    assert (reader.isTextMode(), reader.getSize()) == (False, 27)
    assert (reader.expectInt8(), reader.expectInt16(), reader.expectInt32(), reader.expectInt64()) == (-1, -2, -3, -4)
    assert (reader.expectFloat32(), reader.expectFloat64()) == (0.5, 0.25)
    assert (reader.getSize(), reader.isError(), reader.isValid()) == (0, False, True)


def test_strings_blocks_and_text_are_read_one_after_the_other():
    reader = ConnectionReader(b"\3\0\0\0abc" + b"block" + b"one line\r\nrest")
    block = bytearray(5)
    assert reader.expectString() == "abc"
    assert reader.expectBlock(block, 5)
    assert block == b"block"
    assert (reader.expectText(), reader.expectText(";")) == ("one line", "rest")
    assert not reader.isError()


@pytest.mark.parametrize("data", [b"", b"\1\2\3"])
def test_behind_the_end_there_is_nothing_but_an_error(data):
    reader = ConnectionReader(data)
    assert reader.expectInt32() == 0
    assert reader.isError()
    assert not reader.isValid()
    assert reader.expectFloat64() == 0.0


@pytest.mark.parametrize("length", [-1, 4, 2**31 - 1])
def test_a_string_longer_than_the_message_is_an_error(length):
    reader = ConnectionReader(length.to_bytes(4, "little", signed=True) + b"abc")
    assert reader.expectString() == ""
    assert reader.isError()
    assert not reader.expectBlock(bytearray(100), 100)


@pytest.mark.parametrize("family", list(WireFamily))
def test_the_parts_of_a_pair_are_read_one_after_the_other(family):
    head, body, trailer = Bottle("[dpos] 1.5"), Vector(3, 0.5), Stamp(1, 2.0)
    payload = struct.pack("<ii", 256, 2) + head.to_wire(family) + body.to_wire(family) + trailer.to_wire(family)
    reader = ConnectionReader(payload, family)
    read_head, read_body, read_trailer = Bottle(), Vector(), Stamp()
    assert (reader.expectInt32(), reader.expectInt32()) == (256, 2)
    assert read_head.read(reader)
    assert read_body.read(reader)
    assert read_trailer.read(reader)
    assert (read_head.toString(), read_body.isEqual(body), read_trailer.getTime()) == ("[dpos] 1.5", True, 2.0)
    assert reader.getSize() == 0


def test_an_object_of_another_kind_is_refused_with_a_line_in_the_log(caplog, monkeypatch):
    monkeypatch.setattr(streams, "_refusals", defaultdict(lambda: RateLimitedLog(logging.getLogger("pureyarp"))))
    with caplog.at_level(logging.WARNING, "pureyarp"):
        assert not Vector().read(ConnectionReader(Bottle("1 2").to_wire()))
        assert not Bottle().read(ConnectionReader(b"garbage!"))
        assert not Stamp().read(ConnectionReader("x"))
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "Vector cannot be read",
        "Bottle cannot be read",
        "Stamp cannot be read",
    ]


def test_objects_are_read_from_the_line_of_a_text_message():
    reader = ConnectionReader("1 2.5 [ok]\r\n")
    bottle = Bottle()
    assert reader.isTextMode()
    assert bottle.read(reader)
    assert bottle.toString() == "1 2.5 [ok]"
    assert not bottle.read(reader)


def test_a_text_message_can_be_read_as_if_it_were_binary_and_answered_so():
    writer = ConnectionWriter(is_text=True)
    reader = ConnectionReader("5 6", writer=writer)
    assert reader.convertTextMode()
    assert not reader.isTextMode()
    assert [reader.expectInt32() for _ in range(4)] == [257, 2, 5, 6]
    for number in (257, 1, 11):
        reader.getWriter().appendInt32(number)
    assert line_of(writer) == "11"


def test_a_reader_knows_where_its_message_comes_from():
    writer = ConnectionWriter()
    reader = ConnectionReader(b"", writer=writer, remote="remote", local="local", envelope="5 0.5", is_valid=False)
    assert (reader.getRemoteContact(), reader.getLocalContact(), reader.readEnvelope()) == ("remote", "local", "5 0.5")
    assert reader.getWriter() is writer
    assert (reader.isValid(), reader.isActive(), reader.isBareMode()) == (False, False, False)
    assert ConnectionReader(b"").getWriter() is None
    reader.requestDrop()
    assert reader.drop_requested


@pytest.fixture
def clock():
    times = iter([10.0, 10.5])
    streams.use_time_source(lambda: next(times))
    yield
    streams.use_time_source(time.time)


def state(stamp: Stamp) -> tuple[int, float]:
    return stamp.getCount(), stamp.getTime()


@pytest.mark.parametrize("family", list(WireFamily))
def test_a_stamp_is_written_and_read_as_recorded(family):
    recorded = {p.data for p in recorded_payloads() if p.decoded == "7 1700000001.5" and p.family is family}
    assert recorded == {Stamp(7, 1700000001.5).to_wire(family)}
    stamp = Stamp()
    assert stamp.from_wire(recorded.pop(), family) is family
    assert state(stamp) == (7, 1700000001.5)


@pytest.mark.parametrize(
    ("stamp", "envelope"),
    [
        (Stamp(5, 1700000000.123456789), "5 1700000000.12346"),
        (Stamp(6, 0.1), "6 0.1"),
        (Stamp(7, 1.5e9), "7 1500000000"),
    ],
)
def test_an_envelope_has_15_digits_as_recorded(stamp, envelope):
    assert stamp.to_wire_text() == envelope
    read = Stamp()
    read.from_wire_text(envelope)
    assert state(read) == (stamp.getCount(), float(envelope.split()[1]))


def test_an_envelope_may_be_any_text_of_a_list():
    stamp = Stamp()
    stamp.from_wire_text("(3 0.25) ")
    assert state(stamp) == (3, 0.25)


@pytest.mark.parametrize("text", ["", "5", "x 1.0", "1.5 2.0", "() 1"])
def test_another_envelope_is_refused(text):
    stamp = Stamp(1, 2.0)
    with pytest.raises(MalformedMessage, match="stamp"):
        stamp.from_wire_text(text)
    assert state(stamp) == (1, 2.0)


def test_a_stamp_is_valid_from_its_first_update_on(clock):
    stamp = Stamp()
    assert not stamp.isValid()
    stamp.update()
    assert stamp.isValid()
    assert state(stamp) == (0, 10.0)
    stamp.update()
    assert state(stamp) == (1, 10.5)
    stamp.update(99.0)
    assert state(stamp) == (2, 99.0)


def test_the_count_begins_again_behind_its_maximum():
    stamp = Stamp(2**31 - 1, 0.0)
    assert stamp.getMaxCount() == stamp.getCount()
    stamp.update(1.0)
    assert state(stamp) == (0, 1.0)
