"""Control time beside clocks that jump, stop, or give no number."""

import math

import pytest

from gradiva.common import ControlClock

PERIOD, MAX_STEP = 0.01, 0.05


def clock_at(time=10.0):
    clock = ControlClock(PERIOD)
    assert clock.update(time) == time
    assert clock.jump is None
    return clock


def test_time_that_goes_on_passes_unchanged_with_its_jitter():
    clock = clock_at()
    for time in (10.01, 10.0123, 10.06, 10.0601):
        assert clock.update(time) == time
        assert clock.jump is None


@pytest.mark.parametrize(
    ("source", "size", "direction"),
    [
        (10.51, 0.5, "forward"),
        (9.51, -0.5, "backward"),
        (10.0, -PERIOD, "backward"),
        (1e18, 1e18, "forward"),
        (-1e300, -1e300, "backward"),
        (math.nan, math.nan, "not finite"),
        (math.inf, math.inf, "not finite"),
        (None, math.nan, "not finite"),
        ("soon", math.nan, "not finite"),
        (10**400, math.nan, "not finite"),
    ],
)
def test_a_jump_is_named_with_its_size_and_control_time_goes_on_by_one_period(source, size, direction):
    clock = clock_at()
    assert clock.update(source) == pytest.approx(10.01)
    assert clock.jump.time == clock.time
    assert clock.jump.size == pytest.approx(size, nan_ok=True)
    assert clock.jump.direction == direction


def test_after_a_jump_control_time_goes_on_beside_the_source():
    clock = clock_at()
    clock.update(510.01)
    assert clock.update(510.03) == pytest.approx(10.03)
    assert clock.jump is None
    assert clock.update(2.0) == pytest.approx(10.04)
    assert clock.update(2.01) == pytest.approx(10.05)


def test_a_clock_without_numbers_that_comes_back_does_not_jump_control_time():
    clock = clock_at()
    times = [clock.update(math.nan) for _ in range(20)]
    assert times == pytest.approx([10.01 + PERIOD * tick for tick in range(20)])
    assert clock.update(10.21) == pytest.approx(10.21)
    assert clock.jump is None


def test_a_clock_that_begins_without_a_number_never_jumps_either():
    clock = ControlClock(PERIOD)
    assert clock.update(math.nan) == PERIOD
    assert clock.jump.direction == "not finite"
    assert clock.update(7.0) == 2 * PERIOD
    assert clock.jump.size == pytest.approx(7.0 - 2 * PERIOD)
    assert clock.update(7.01) == pytest.approx(3 * PERIOD)


def test_samples_from_before_a_jump_and_after_it_have_their_age():
    clock = clock_at()
    assert clock.stamp(9.997) == 9.997
    clock.update(10.51)
    assert clock.stamp(10.005) == pytest.approx(10.005)  # taken before the clock jumped
    assert clock.stamp(10.508) == pytest.approx(10.008)  # taken after it
    clock.update(10.52)
    assert clock.stamp(10.518) == pytest.approx(10.018)


def test_a_sensor_with_a_clock_of_its_own_does_not_jump_with_ours():
    clock = clock_at()
    for tick in range(1, 200):
        clock.update(9.5 + PERIOD * tick)
        assert clock.time - clock.stamp(10.0 + PERIOD * tick - 0.003) == pytest.approx(0.003)


def test_stamps_that_are_no_numbers_are_nan():
    assert math.isnan(clock_at().stamp(None))
    assert math.isnan(clock_at().stamp(math.nan))
