import pytest

from gradiva.common import ConfigError
from gradiva.experiments import SpeedSearch, highest_speed

SEARCH = SpeedSearch(slowest=0.10, fastest=1.0, resolution=0.01, stride=8)


class Walker:
    """Walks below a speed, and remembers what was tried."""

    def __init__(self, limit):
        self.limit = limit
        self.tried = []

    def __call__(self, speed):
        self.tried.append(speed)
        return None if speed <= self.limit + 1e-9 else f"too fast: {speed:.2f}"


@pytest.mark.parametrize("limit", [0.10, 0.17, 0.18, 0.19, 0.34, 0.57, 0.98, 0.99])
def test_the_limit_is_found_to_the_resolution(limit):
    found = highest_speed(Walker(limit), SEARCH)
    assert found.speed == pytest.approx(limit)
    assert found.next_speed == pytest.approx(limit + 0.01)
    assert found.reason == f"too fast: {limit + 0.01:.2f}"


def test_no_speed_is_tried_twice():
    walker = Walker(0.34)
    highest_speed(walker, SEARCH)
    assert len(walker.tried) == len(set(walker.tried))


def test_few_speeds_are_tried():
    walker = Walker(0.34)
    highest_speed(walker, SEARCH)
    assert walker.tried == [0.10, 0.18, 0.26, 0.34, 0.42, 0.38, 0.36, 0.35]


def test_a_good_guess_spares_the_slow_walks():
    walker = Walker(0.34)
    assert highest_speed(walker, SEARCH, guess=0.28).speed == 0.34
    assert walker.tried == [0.28, 0.36, 0.32, 0.34, 0.35]


@pytest.mark.parametrize(("guess", "limit"), [(0.50, 0.34), (0.50, 0.10), (0.12, 0.11), (2.0, 0.98), (0.01, 0.13)])
def test_a_bad_guess_finds_the_same_limit(guess, limit):
    found = highest_speed(Walker(limit), SEARCH, guess)
    assert (found.speed, found.next_speed) == (limit, pytest.approx(limit + 0.01))


def test_a_guess_above_what_does_not_walk_at_all_ends_at_the_slowest():
    walker = Walker(0.05)
    found = highest_speed(walker, SEARCH, guess=0.3)
    assert (found.speed, found.next_speed, found.reason) == (None, 0.10, "too fast: 0.10")
    assert walker.tried == [0.30, 0.22, 0.14, 0.10]


def test_a_robot_that_does_not_walk_at_all_has_no_highest_speed():
    found = highest_speed(Walker(0.05), SEARCH)
    assert (found.speed, found.next_speed, found.reason) == (None, 0.10, "too fast: 0.10")


def test_the_search_ends_at_its_fastest_speed():
    walker = Walker(5.0)
    found = highest_speed(walker, SEARCH)
    assert (found.speed, found.next_speed) == (1.0, None)
    assert max(walker.tried) == 1.0


def test_a_stride_of_one_climbs():
    found = highest_speed(Walker(0.3), SpeedSearch(0.1, 1.0, 0.1, 1))
    assert found.speed == pytest.approx(0.3)


@pytest.mark.parametrize("numbers", [(0.1, 1.0, 0.0, 1), (0.1, 0.05, 0.01, 1), (0.1, 1.0, 0.2, 1), (0.1, 1.0, 0.1, 0)])
def test_a_search_that_makes_no_sense_is_refused(numbers):
    with pytest.raises(ConfigError, match="resolution"):
        SpeedSearch(*numbers)
