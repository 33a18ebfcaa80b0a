from __future__ import annotations

from dataclasses import dataclass

import casadi as cs
import numpy as np
import pytest

from gradiva.robot_model import FlatFunction


def squares() -> FlatFunction:
    row, table = cs.SX.sym("row", 2), cs.SX.sym("table", 2, 3)
    return FlatFunction("squares", {"row": row, "table": table}, {"sum": cs.sum1(row), "table": table**2})


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """What is made of the function's results."""

    table: np.ndarray
    sum: np.ndarray
    name: str


def test_a_value_made_of_results_has_their_shapes_and_outlives_the_next_call() -> None:
    function, table = squares(), np.arange(6.0).reshape(2, 3)
    make = function.maker(Squares, ("table", "sum"))
    function.set(row=[1.0, 2.0], table=table)
    function()
    made = make(name="first")
    function.set(row=[0.0, 0.0], table=0.0)
    function()
    np.testing.assert_array_equal(made.table, table**2)
    np.testing.assert_array_equal(made.sum, [3.0])
    assert made.name == "first"


def test_a_value_made_of_results_cannot_be_written() -> None:
    function = squares()
    function()
    with pytest.raises(ValueError, match="read-only"):
        function.maker(Squares, ("table", "sum"))(name="").table[0, 0] = 1.0


def test_a_field_that_is_no_result_and_has_no_value_has_its_default() -> None:
    @dataclass(frozen=True, slots=True, eq=False)
    class Marked(Squares):
        mark: float | None = None

    function = squares()
    function()
    assert function.maker(Marked, ("table", "sum"))(name="").mark is None
    assert function.maker(Marked, ("table", "sum"))(name="", mark=2.0).mark == 2.0
    with pytest.raises(TypeError, match="Marked without name, which has no default"):
        function.maker(Marked, ("table", "sum"))()


def test_numbers_are_written_to_numbers_and_fill_vectors():
    x, y = cs.SX.sym("x"), cs.SX.sym("y", 2)
    function = FlatFunction("written", {"x": x, "y": y}, {"x": x, "y": y})
    for number in (0.5, 1.0, True, np.float64(2.0), np.array([3.0])):
        function.set(x=number, y=number)
        outputs = function()
        np.testing.assert_array_equal([*outputs["x"], *outputs["y"]], np.ravel(number)[[0, 0, 0]])
    function.write({"x": None})
    assert np.isnan(function()["x"][0])
