import numpy as np
import pytest

from gradiva.walking.preparation import Preparation


def test_the_move_starts_and_ends_where_it_should_and_keeps_the_speed():
    start, goal = np.zeros(2), np.array([0.3, -1.0])
    move = Preparation(5.0, start, goal, shortest=2.0, highest_speed=0.5)
    assert move.duration == pytest.approx(1.875 / 0.5)
    np.testing.assert_array_equal(move.at(5.0), start)
    np.testing.assert_allclose(move.at(5.0 + move.duration), goal)
    samples = np.array([move.at(t) for t in np.linspace(5.0, 9.0, 401)])
    assert np.abs(np.diff(samples, axis=0)).max() / 0.01 <= 0.5 + 1e-6
    assert not move.is_over(8.0)
    assert move.is_over(5.0 + move.duration)


def test_a_short_move_takes_its_least_duration():
    assert Preparation(0.0, np.zeros(1), np.array([0.01]), shortest=2.0, highest_speed=0.5).duration == 2.0
