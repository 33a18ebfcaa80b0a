"""Figures of the page's cost, of ticks that are made up, and one turn of a walk."""

import pytest

from gradiva_experiments.shipped.page_cost import Tick, rows_of


def test_the_ratio_is_of_turns_that_follow_each_other():
    """Noise that lasts longer than two turns cancels."""
    turns = []
    for number in range(20):
        load = 1.0 + 0.5 * (number // 2 % 3)
        are_there = number % 4 in (1, 2)
        cost = 1.1 if are_there else 1.0
        turns.append((are_there, [Tick(100.0 * load, 100.0 * load * cost) for _ in range(10)]))
    rows = {row["what"]: row for row in rows_of(turns)}
    assert rows["wall, median"]["value"] == pytest.approx(1.0)
    assert rows["wall, median"]["outcome"] == "met"
    assert rows["cpu, 99th percentile"]["value"] == pytest.approx(1.1)
    assert (rows["cpu, median"]["low"], rows["cpu, median"]["high"]) == (pytest.approx(1.1), pytest.approx(1.1))
    assert rows["cpu, median"]["outcome"] == "failed"
