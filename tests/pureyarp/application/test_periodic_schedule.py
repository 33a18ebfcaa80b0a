import pytest

from pureyarp.application.rf_module import PeriodicSchedule

PERIOD = 0.01


def beginnings(durations, start=100.0) -> list[float]:
    """Return when cycles begin that take so long, relative to the first one."""
    schedule = PeriodicSchedule(start)
    now, begun = start, []
    for duration in durations:
        begun.append(now - start)
        now += duration
        now += schedule.time_left(PERIOD, now)
    return begun


def test_cycles_begin_on_the_grid_of_the_period():
    assert beginnings([0.002, 0.009, 0.0, 0.01]) == pytest.approx([0.0, 0.01, 0.02, 0.03])


def test_a_small_lateness_is_made_up_for_so_that_nothing_drifts():
    assert beginnings([0.014, 0.001, 0.001]) == pytest.approx([0.0, 0.014, 0.02])


def test_missed_cycles_are_not_caught_up_with():
    assert beginnings([0.055, 0.001, 0.001, 0.001]) == pytest.approx([0.0, 0.055, 0.065, 0.075])


def test_constant_overruns_do_not_accumulate():
    begun = beginnings([0.013] * 20 + [0.001] * 5)
    assert begun[-1] - begun[-2] == pytest.approx(PERIOD)


def test_a_clock_that_jumps_back_starts_a_new_grid():
    schedule = PeriodicSchedule(100.0)
    assert schedule.time_left(PERIOD, 2.0) == 0.0
    assert schedule.time_left(PERIOD, 2.004) == pytest.approx(0.006)


def test_without_a_period_there_is_nothing_to_wait_for():
    schedule = PeriodicSchedule(0.0)
    assert [schedule.time_left(0.0, now) for now in (0.0, 0.5, 1.0)] == [0.0, 0.0, 0.0]
