"""Figures of the engine's cost, of turns that are made up; walks on it are those of the campaigns' tests."""

import pytest

from gradiva_experiments.experiment import is_fulfilled
from gradiva_experiments.shipped.campaign_cost import Turn, rows_of


def test_the_figures_are_those_of_the_turns():
    """One worker walks 20 of 20.5 s, two walk as often in 11 s each; without the engine in 10 s."""
    engine = [Turn(1, 10, 20.5, 20.0, 19.0, 0.4), Turn(2, 20, 22.0, 42.0, 41.0, 0.8)]
    machine = [Turn(1, 10, 20.0, 20.0, 0.0, 0.0), Turn(2, 20, 20.0, 40.0, 0.0, 0.0)]
    rows = rows_of(engine, machine)
    assert [row["value"] for row in rows] == pytest.approx([0.02, 0.025, 41.0 / 22.0, 2.0, 20.0 / 22.0])
    assert [row["outcome"] for row in rows] == ["met", "met", "met", "measured", "failed"]
    assert [is_fulfilled(row) for row in rows] == [True] * 4 + [False]
    assert rows[-1]["reason"] == "0.909, at least 0.95 is asked"
    assert rows[2]["walks"] == 30
