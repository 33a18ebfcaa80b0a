import struct

import pytest

from pureyarp.data.bottle import Bottle
from pureyarp.data.connection_writer import ConnectionWriter, line_of
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import WireFamily


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
