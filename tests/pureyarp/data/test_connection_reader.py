import logging
import struct
from collections import defaultdict

import pytest

from pureyarp.data import portable
from pureyarp.data.bottle import Bottle
from pureyarp.data.connection_reader import ConnectionReader
from pureyarp.data.connection_writer import ConnectionWriter, line_of
from pureyarp.data.stamp import Stamp
from pureyarp.data.vector import Vector
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.elements import WireFamily

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
    monkeypatch.setattr(portable, "_complaints", defaultdict(lambda: RateLimitedLog(logging.getLogger("pureyarp"))))
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
