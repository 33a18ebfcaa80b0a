import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradiva.middleware import bottles
from gradiva.middleware.bottles import as_bottle, as_items
from pureyarp.data.values import Bottle
from pureyarp.wire.elements import Dictionary, Float32, Int8, Int16, Int64, Vocab32, encode_vocab

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
