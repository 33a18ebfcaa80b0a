from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from gradiva.robot_model import FlatFunction


def squares() -> FlatFunction:
    row, table = cs.SX.sym("row", 2), cs.SX.sym("table", 2, 3)
    return FlatFunction("squares", {"row": row, "table": table}, {"sum": cs.sum1(row), "table": table**2})


def test_what_is_kept_has_the_shape_of_its_expression_and_outlives_the_next_call() -> None:
    function, table = squares(), np.arange(6.0).reshape(2, 3)
    function.set(row=[1.0, 2.0], table=table)
    function()
    kept = function.kept(("table", "sum"))
    function.set(row=[0.0, 0.0], table=0.0)
    function()
    np.testing.assert_array_equal(kept["table"], table**2)
    np.testing.assert_array_equal(kept["sum"], [3.0])


def test_what_is_kept_cannot_be_written() -> None:
    function = squares()
    function()
    with pytest.raises(ValueError, match="read-only"):
        function.kept(("table",))["table"][0, 0] = 1.0
