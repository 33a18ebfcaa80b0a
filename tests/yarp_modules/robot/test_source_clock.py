"""Stamps of another clock become times of this one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradiva.yarp_modules.robot.sensors import SourceClock


def test_before_the_first_sample_a_source_has_not_spoken_and_is_late():
    clock = SourceClock(0.05, is_shared=False)
    assert not clock.has_spoken
    assert clock.time == -math.inf
    assert clock.is_late(0.0)


def test_the_fastest_message_fixes_the_difference_of_the_clocks():
    clock = SourceClock(0.05, is_shared=False)
    for stamp, arrival in ((5.00, 1005.020), (5.01, 1005.012), (5.02, 1005.035)):
        clock.update(stamp, arrival)
    assert clock.time == pytest.approx(1005.022, abs=3e-5)  # 2 ms is the shortest way; the rest is drift in 23 ms


def test_stamps_of_a_shared_clock_are_taken_as_they_are():
    clock = SourceClock(0.05, is_shared=True)
    clock.update(7.25, 7.31)
    assert clock.time == 7.25


def test_a_source_is_late_when_its_newest_sample_is_older_than_allowed():
    clock = SourceClock(0.05, is_shared=False)
    clock.update(1.0, 10.0)
    assert not clock.is_late(10.049)
    assert clock.is_late(10.051)


def test_a_stamp_that_stands_still_is_late_though_messages_come():
    clock = SourceClock(0.05, is_shared=False)
    for arrival in (10.0, 10.03, 10.06):
        clock.update(1.0, arrival)
    assert clock.is_late(10.06)


def test_samples_that_queue_up_on_the_way_grow_old():
    clock = SourceClock(0.05, is_shared=False)
    for count in range(100):
        clock.update(0.01 * count, 100.0 + 0.02 * count)
    assert clock.is_late(101.98)


def test_time_never_runs_backward():
    clock = SourceClock(0.05, is_shared=False)
    clock.update(1.00, 10.030)
    before = clock.time
    clock.update(1.01, 10.011)  # this one was faster: the first was taken earlier than believed
    assert clock.time == before


def test_a_source_that_began_anew_is_timed_anew():
    clock = SourceClock(0.05, is_shared=False)
    clock.update(500.0, 10.0)
    clock.update(0.01, 11.0)
    assert clock.time == 11.0


def test_clocks_that_drift_apart_are_followed():
    clock = SourceClock(0.05, is_shared=False)
    for count in range(100_000):
        stamp = 0.01 * count
        clock.update(stamp, stamp * (1.0 + 5e-5))
    assert clock.time == pytest.approx(0.01 * 99_999 * (1.0 + 5e-5), abs=1e-3)


def ticks(clock, begin, end, stamp_ahead, offset=1000.0):
    """Let a source send every 10 ms; return when it was late."""
    late = []
    for now in np.arange(begin, end, 0.01):
        clock.update(now - offset + stamp_ahead, now)
        late.extend([now] if clock.is_late(now + 0.009) else [])
    return late


@pytest.mark.parametrize("step", [-0.5, 0.5, -0.05, 3600.0, -3600.0])
def test_a_source_whose_clock_is_set_is_not_late_for_a_single_tick(step):
    clock = SourceClock(0.05, is_shared=False)
    assert ticks(clock, 1000.0, 1001.0, 0.0) == []
    assert ticks(clock, 1001.0, 1003.0, step) == []
    assert clock.time == pytest.approx(1002.99, abs=1e-3)


def test_a_source_whose_clock_was_set_back_while_it_was_silent_is_timed_anew():
    clock = SourceClock(0.05, is_shared=False)
    ticks(clock, 1000.0, 1001.0, 0.0)
    assert clock.is_late(1002.9)
    assert ticks(clock, 1003.0, 1004.0, -0.5) == []
