from __future__ import annotations

import numpy as np

from gradiva.experiments.penalty.vertex_record import VertexRecord


def recorded(corner: list[float], standing: list[int]) -> VertexRecord:
    """A walk in which one corner of the left sole moves, and its foot stands or not."""
    heights = np.full((len(corner), 2, 4), -1e-4)
    heights[:, 0, 2] = corner
    both = np.column_stack([standing, np.ones(len(corner))])
    return VertexRecord(np.arange(len(corner), dtype=float), heights, np.zeros_like(heights), both)


def test_each_landing_tells_how_high_the_corner_had_been() -> None:
    record = recorded([-0.1, 0.02, 0.05, 0.01, -0.1, 1e-5, -0.1, 2e-5], [1] * 8)
    np.testing.assert_array_equal(record.landings(), [0.05, 1e-5])


def test_a_foot_that_starts_in_the_air_lands_too_and_one_that_stays_there_does_not() -> None:
    np.testing.assert_array_equal(recorded([0.03, -0.1, 0.5], [1] * 3).landings(), [0.03])


def test_a_step_begins_when_the_plan_lifts_a_foot() -> None:
    assert recorded([0.0] * 6, [1, 0, 0, 1, 0, 1]).steps == 2
