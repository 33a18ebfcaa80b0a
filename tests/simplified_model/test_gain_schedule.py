import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.simplified_model import GainSchedule, GainScheduleConfig, ZmpComGains

WALKING, STANDING = ZmpComGains(4.0, 4.0), ZmpComGains(0.9, 6.0)


def schedule(blend_time: float = 0.1) -> GainSchedule:
    return GainSchedule(GainScheduleConfig(blend_time), WALKING, STANDING)


def test_it_begins_with_the_standing_gains():
    assert schedule().update(False, 0.01) == STANDING


def test_half_way_it_is_in_the_middle_and_at_the_end_it_has_arrived():
    gains = schedule()
    assert gains.update(True, 0.05).zmp == pytest.approx(0.5 * (4.0 + 0.9))
    assert gains.update(True, 0.05) == WALKING
    assert gains.update(True, 0.05) == WALKING


def test_without_blend_time_it_switches_at_once():
    assert schedule(0.0).update(True, 0.01) == WALKING


@pytest.mark.parametrize("turn_back_after", [3, 50, 90, 150])
def test_it_is_continuous_wherever_it_turns_back(turn_back_after):
    gains, dt = schedule(), 0.001
    walks = [False] * 5 + [True] * turn_back_after + [False] * 150
    trace = np.array([gains.update(is_walking, dt).zmp for is_walking in walks])
    fastest = 1.875 * (4.0 - 0.9) * dt / 0.1  # of the minimum-jerk profile
    assert np.abs(np.diff(trace)).max() <= fastest * 1.001
    assert trace.max() <= 4.0
    assert trace[-1] == 0.9


def test_both_gains_are_blended_by_the_same_ratio():
    gains = schedule().update(True, 0.03)
    assert (gains.zmp - 0.9) / (4.0 - 0.9) == pytest.approx((gains.com - 6.0) / (4.0 - 6.0))


def test_reset_takes_one_set_at_once():
    gains = schedule()
    gains.reset(is_walking=True)
    assert gains.update(True, 0.01) == WALKING
    gains.reset()
    assert gains.update(False, 0.01) == STANDING


@pytest.mark.parametrize("blend_time", [-0.1, float("inf"), float("nan")])
def test_a_blend_time_that_never_ends_is_refused(blend_time):
    with pytest.raises(ConfigError, match="blend_time"):
        GainScheduleConfig(blend_time)
