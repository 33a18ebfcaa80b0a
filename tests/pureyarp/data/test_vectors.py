"""Vectors of numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.data import BVector, DVector, IVector, Vector
from pureyarp.errors import MalformedMessage
from pureyarp.wire import Float32, PlainList, WireFamily, encode_list
from tests.middleware.recorded_payloads import recorded_payloads

EACH = pytest.mark.parametrize(("kind", "zero", "one"), [(DVector, 0.0, 1.5), (IVector, 0, 7), (BVector, False, True)])


@EACH
def test_a_vector_has_a_size_a_filling_or_the_numbers_of_a_sequence(kind, zero, one):
    assert list(kind()) == []
    assert list(kind(2)) == [zero, zero]
    assert list(kind(2, one)) == [one, one]
    assert list(kind([one, zero])) == [one, zero]
    assert list(kind(kind((zero, one)))) == [zero, one]
    assert type(kind(1)[0]) is type(zero)


@EACH
def test_a_vector_behaves_as_a_list(kind, zero, one):
    vector = kind(3)
    vector[1] = one
    assert (len(vector), vector.size(), vector[1], vector[-1]) == (3, 3, one, zero)
    assert list(vector[1:]) == [one, zero]
    assert type(vector[:2]) is kind
    vector[:2] = [one, one]
    del vector[2]
    assert list(vector) == [one, one]
    with pytest.raises(IndexError):
        vector[2]


@EACH
def test_a_vector_grows_and_shrinks_at_its_end(kind, zero, one):
    vector = kind()
    assert (vector.empty(), bool(vector)) == (True, False)
    vector.push_back(one)
    vector.append(zero)
    assert (vector.front(), vector.back(), vector.empty()) == (one, zero, False)
    assert vector.pop() == zero
    vector.resize(3, one)
    vector.resize(2)
    vector.resize(3)
    assert list(vector) == [one, one, zero]
    vector.pop_back()
    vector.assign(2, zero)
    assert list(vector) == [zero, zero]
    vector.clear()
    assert list(vector) == []


@EACH
def test_two_vectors_exchange_their_numbers(kind, zero, one):
    left, right = kind([one]), kind([zero, zero])
    left.swap(right)
    assert (list(left), list(right)) == ([zero, zero], [one])


def test_doubles_take_integers_and_numpy_float64():
    assert list(DVector([1, np.float64(0.5)])) == [1.0, 0.5]
    assert type(DVector([1])[0]) is float


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (IVector, 1.5),
        (IVector, "1"),
        (IVector, np.int64(1)),
        (DVector, "1"),
        (DVector, None),
        (BVector, 1),
        (BVector, "x"),
    ],
)
def test_numbers_of_another_type_are_refused_everywhere(kind, wrong):
    vector = kind(1)
    for attempt in (
        lambda: vector.append(wrong),
        lambda: vector.__setitem__(0, wrong),
        lambda: vector.__setitem__(slice(0, 1), [wrong]),
        lambda: kind([wrong]),
        lambda: kind(2, wrong) if wrong is not None else vector.append(wrong),
    ):
        with pytest.raises(TypeError):
            attempt()
    assert list(vector) == list(kind(1))


def test_integers_of_more_than_four_bytes_are_refused():
    with pytest.raises(OverflowError):
        IVector([2**31])
    with pytest.raises(OverflowError):
        DVector(-1)


FAMILIES = pytest.mark.parametrize("family", list(WireFamily))


def vector_of(*numbers: float) -> Vector:
    vector = Vector(len(numbers))
    for index, number in enumerate(numbers):
        vector.set(index, number)
    return vector


@FAMILIES
def test_vectors_are_written_as_recorded(family):
    recorded = {
        payload.decoded: payload.data
        for payload in recorded_payloads()
        if payload.recording.endswith("vector_tcp") and payload.family is family
    }
    assert vector_of(0.5, 1.5, 2.5).to_wire(family) == recorded["0.5 1.5 2.5"]
    assert Vector().to_wire(family) == recorded[""]


@FAMILIES
@given(numbers=st.lists(st.floats(), max_size=8))
def test_any_numbers_survive_the_wire_and_text_whichever_family_is_expected(family, numbers):
    written, read, typed = vector_of(*numbers), vector_of(7.0), vector_of(7.0)
    assert read.from_wire(written.to_wire(family), family.other) is family
    typed.from_wire_text(written.to_wire_text())
    assert repr(read.array.tolist()) == repr(typed.array.tolist()) == repr(numbers)


@FAMILIES
@pytest.mark.parametrize(
    "items", [[1, 2, 3], [1.0, 2], PlainList([1.0, 2.0]), ["x"], [Float32(0.5)], [Float32(0.5)] * 3, [[1.0]]]
)
def test_lists_of_anything_but_float64_are_refused(family, items):
    vector = vector_of(7.0)
    with pytest.raises(MalformedMessage, match="float64"):
        vector.from_wire(encode_list(items, family), family)
    assert vector.array.tolist() == [7.0]


@pytest.mark.parametrize(
    "data", [b"", b"\x0a\1\0\0", bytes.fromhex("0a010000 02000000") + bytes(8), b"garbage, surely"]
)
def test_broken_vectors_are_refused(data):
    with pytest.raises(MalformedMessage):
        Vector().from_wire(data)


@pytest.mark.parametrize("text", ["1 2 3", "1.0 x", "(1.0 2.0)"])
def test_text_of_anything_but_floats_is_refused(text):
    with pytest.raises(MalformedMessage, match="float64"):
        Vector().from_wire_text(text)


def test_an_empty_list_is_an_empty_vector():
    vector = vector_of(7.0)
    vector.from_wire(encode_list([]))
    assert vector.size() == 0
    vector.from_wire_text("")
    assert vector.size() == 0


def test_reading_takes_a_copy_of_the_bytes():
    data = bytearray(vector_of(1.0).to_wire())
    vector = Vector()
    vector.from_wire(data)
    data[8:] = bytes(8)
    vector.set(0, vector.get(0) + 1)
    assert vector.array.tolist() == [2.0]


def test_a_vector_has_a_size_and_a_filling():
    assert Vector().size() == 0
    assert Vector(3).array.tolist() == [0.0] * 3
    assert Vector(2, 0.5).array.tolist() == [0.5] * 2
    assert (Vector(3).length(), Vector(3).getListSize(), Vector(3).getElementSize()) == (3, 3, 8)
    with pytest.raises(TypeError):
        Vector(1.5)
    with pytest.raises(ValueError, match="-1"):
        Vector(-1)


def test_a_copy_of_a_vector_shares_nothing():
    vector = vector_of(1.0)
    copy = Vector(vector)
    vector.set(0, 2.0)
    assert copy.get(0) == copy.access(0) == 1.0


@pytest.mark.parametrize("index", [-1, 2])
def test_places_outside_are_refused(index):
    with pytest.raises(IndexError):
        Vector(2).get(index)
    with pytest.raises(IndexError):
        Vector(2).set(index, 1.0)


def test_a_vector_grows_and_shrinks():
    vector = vector_of(1.0, 2.0)
    vector.resize(3, 9.0)
    vector.push_back(4)
    assert vector.array.tolist() == [9.0, 9.0, 9.0, 4.0]
    vector.pop_back()
    vector.resize(2)
    assert vector.array.tolist() == [9.0, 9.0]
    vector.zero()
    assert vector.array.tolist() == [0.0, 0.0]
    vector.clear()
    assert vector.size() == 0


def test_parts_are_copied_out_and_in():
    vector = vector_of(0.0, 1.0, 2.0, 3.0)
    assert vector.subVector(1, 2).array.tolist() == [1.0, 2.0]
    assert vector.subVector(2, 1).size() == 0
    assert vector.subVector(2, 4).size() == 0
    assert vector.setSubvector(2, vector_of(8.0, 9.0))
    assert not vector.setSubvector(3, vector_of(8.0, 9.0))
    assert vector.array.tolist() == [0.0, 1.0, 8.0, 9.0]


def test_vectors_are_equal_if_their_numbers_are():
    assert vector_of(1.0).isEqual(vector_of(1.0))
    assert not vector_of(1.0).isEqual(vector_of(1.0, 2.0))


def test_numbers_are_printed_with_the_digits_that_are_asked_for():
    assert vector_of(1.0, -0.5).toString() == " 1.000000\t-0.500000"
    assert vector_of(1.0, math.pi).toString(2, 6) == "  1.00   3.14"


def test_the_array_is_float64():
    vector = Vector(2)
    vector.array[:] = [1, 2]
    assert vector.array.dtype == np.float64
    assert vector.to_wire_text() == "1.0 2.0"
