"""What ports call for each message."""

from __future__ import annotations

from gradiva.middleware import yarp
from gradiva.middleware.bottles import CommandReader, RequestReader, fill_bottle
from pureyarp.data.streams import ConnectionReader, ConnectionWriter, line_of
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import PlainList, encode_vocab


def test_a_request_is_answered_by_the_function():
    writer = ConnectionWriter()
    reader = RequestReader(lambda items: [*items, 5])
    assert reader.read(ConnectionReader(encode_list(["get", 1.5]), writer=writer))
    assert bytes(writer.data) == encode_list(["get", 1.5, 5])


def test_a_typed_request_is_answered_as_text():
    writer = ConnectionWriter(is_text=True)
    assert RequestReader(lambda items: [*items, 5]).read(ConnectionReader("get 1.5", writer=writer))
    assert line_of(writer) == "get 1.5 5"


def test_an_order_whose_sender_wants_no_answer_is_carried_out():
    orders = []
    reader = RequestReader(lambda items: orders.append(items) or [])
    assert reader.read(ConnectionReader(encode_list(["stop"])))
    assert orders == [["stop"]]


def refuse(items):
    raise RuntimeError("out of order")


def test_what_a_function_raises_is_answered_and_goes_no_further(caplog):
    writer = ConnectionWriter()
    assert RequestReader(refuse).read(ConnectionReader(encode_list(["get"]), writer=writer))
    assert bytes(writer.data) == encode_list([encode_vocab("fail"), "out of order"])
    assert not CommandReader(refuse).read(ConnectionReader(encode_list([1.5])))
    assert caplog.text.count("RuntimeError: out of order") == 2


def test_an_answer_that_cannot_be_sent_raises_nothing(caplog):
    writer = ConnectionWriter()
    assert not RequestReader(lambda items: [object()]).read(ConnectionReader(encode_list(["get"]), writer=writer))
    assert "the answer to 'get' was not sent" in caplog.text


def test_numbers_without_tags_are_answered_where_no_bottle_can_hold_them():
    writer = ConnectionWriter()
    reader = RequestReader(lambda items: items, {"version": (0, 4, 0, -1)})
    assert reader.read(ConnectionReader(encode_list(["version"]), writer=writer))
    assert bytes(writer.data) == bytes.fromhex("0001000001000000000004000000ffff")


def test_what_is_no_bottle_is_neither_answered_nor_taken():
    taken = []
    writer = ConnectionWriter()
    assert not RequestReader(lambda items: items).read(ConnectionReader(b"\1\2\3", writer=writer))
    assert not CommandReader(taken.append).read(ConnectionReader(b"\1\2\3"))
    assert not writer.data
    assert taken == []


def test_a_filled_bottle_keeps_how_its_list_is_written():
    bottle = yarp.Bottle("old words")
    fill_bottle(bottle, PlainList([1, 2]))
    assert bottle.to_wire() == encode_list(PlainList([1, 2])) != encode_list([1, 2])
