import numpy as np
import pytest

from pureyarp.data.standard_vectors import BVector, DVector, IVector

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
