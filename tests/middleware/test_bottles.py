"""Bottles as Python values, readers of requests and commands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradiva.middleware import bottles, yarp
from gradiva.middleware.bottles import CommandReader, RequestReader, as_bottle, as_items, fill_bottle
from pureyarp.data.streams import ConnectionReader, ConnectionWriter, line_of
from pureyarp.data.values import Bottle
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import Dictionary, Float32, Int8, Int16, Int64, PlainList, Vocab32, encode_vocab

ITEMS = [
    1,
    2.5,
    "text with blanks",
    encode_vocab("set"),
    Vocab32(0),
    Int8(-3),
    Int16(300),
    Int64(2**40),
    Float32(0.5),
    b"\x00\x01\xff",
    [1, [2.0, "deep"], []],
    Dictionary({"key": [5], "several": [1, "two"]}),
]


class NobodysBottle:
    """With this as the Bottle of pureyarp every other one is treated as one of the real bindings."""


@pytest.fixture
def through_the_interface(monkeypatch):
    monkeypatch.setattr(bottles, "PureBottle", NobodysBottle)


def with_types(items):
    return [(type(item), with_types(item) if type(item) is list else item) for item in items]


def test_a_bottle_of_pureyarp_shares_its_values():
    bottle = as_bottle(ITEMS)
    assert as_items(bottle) is bottle.items
    assert with_types(bottle.items) == with_types(ITEMS)


def test_every_type_survives_the_interface_alone(through_the_interface):
    bottle = as_bottle(ITEMS)
    assert with_types(as_items(bottle)) == with_types(ITEMS)
    assert bottle.toBinary() == as_bottle(as_items(bottle)).toBinary()


def test_the_interface_gives_the_bottle_that_the_short_way_gives(monkeypatch):
    short = as_bottle(ITEMS)
    monkeypatch.setattr(bottles, "PureBottle", NobodysBottle)
    assert as_bottle(ITEMS).toBinary() == short.toBinary()


def test_a_long_number_becomes_an_integer_of_8_bytes(through_the_interface):
    assert with_types(as_items(as_bottle([2**31 - 1, 2**31]))) == [(int, 2**31 - 1), (Int64, 2**31)]


elements = st.recursive(
    st.integers(-(2**31), 2**31 - 1) | st.floats(allow_nan=False) | st.text() | st.binary() | st.just(Vocab32(49)),
    lambda nested: st.lists(nested, max_size=5),
    max_leaves=20,
)


@settings(deadline=None)
@given(st.lists(elements, max_size=8))
def test_anything_comes_back(items):
    pure = bottles.PureBottle
    bottles.PureBottle = NobodysBottle  # type: ignore[misc]
    try:
        assert with_types(as_items(as_bottle(items))) == with_types(items)
    finally:
        bottles.PureBottle = pure  # type: ignore[misc]


def test_what_holds_nothing_is_an_empty_string(through_the_interface):
    class OneNull(Bottle):
        def size(self) -> int:
            return 1

    assert as_items(OneNull()) == [""]


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
