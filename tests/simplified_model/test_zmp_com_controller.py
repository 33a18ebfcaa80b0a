"""The pendulum, its gains and their schedule, the ZMP-CoM law, and configurations that are refused."""

import math

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.simplified_model import (
    GainSchedule,
    ZmpComControllerConfig,
    ZmpComGains,
    zmp_com_velocity,
)

GAINS = ZmpComGains(zmp=4.0, com=3.0)
ZERO = np.zeros(2)
FORWARD, LEFT = np.array([0.01, 0.0]), np.array([0.0, 0.01])


def velocity(reference_velocity=ZERO, reference_com=ZERO, com=ZERO, desired_zmp=ZERO, zmp=ZERO):
    return zmp_com_velocity(reference_velocity, reference_com, com, desired_zmp, zmp, (GAINS.zmp, GAINS.com))


def test_without_error_the_velocity_is_the_reference():
    here = np.array([0.3, -0.2])
    np.testing.assert_array_equal(velocity(here, here, here, here, here), here)


@pytest.mark.parametrize("direction", [FORWARD, LEFT, -FORWARD, -LEFT])
def test_a_com_that_lags_is_hurried_and_a_zmp_that_lags_is_pushed_by_slowing_down(direction):
    np.testing.assert_allclose(velocity(reference_com=direction), 3.0 * direction)
    np.testing.assert_allclose(velocity(com=direction), -3.0 * direction)
    np.testing.assert_allclose(velocity(desired_zmp=direction), -4.0 * direction)
    np.testing.assert_allclose(velocity(zmp=direction), 4.0 * direction)


def test_moving_and_turning_the_world_only_turns_the_velocity():
    rng, shift, angle = np.random.default_rng(4), np.array([40.0, -25.0]), 1.1
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    speed, *points = rng.normal(size=(5, 2))
    moved = [turn @ point + shift for point in points]
    np.testing.assert_allclose(velocity(turn @ speed, *moved), turn @ velocity(speed, *points), atol=1e-12)


@pytest.mark.parametrize(("zmp", "com"), [(3.5, 10.6), (0.0, 0.0), (1.0, 4.0)])
def test_walking_gains_that_fall_with_motion_servos_are_refused(zmp, com):
    config = ZmpComControllerConfig(walking=ZmpComGains(zmp, com), standing=GAINS)
    with pytest.raises(ConfigError, match="falls"):
        config.check_for_motion_servos()


def test_the_same_ratio_may_stand():
    standing = ZmpComGains(0.9, 6.0)
    ZmpComControllerConfig(walking=GAINS, standing=standing).check_for_motion_servos()


@pytest.mark.parametrize(("zmp", "com"), [(-1.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.inf)])
def test_negative_and_infinite_gains_are_refused(zmp, com):
    with pytest.raises(ConfigError, match=r"must (not be negative|be finite)"):
        ZmpComGains(zmp, com)


WALKING, STANDING = ZmpComGains(4.0, 4.0), ZmpComGains(0.9, 6.0)


def schedule(blend_time: float = 0.1) -> GainSchedule:
    return GainSchedule(WALKING, STANDING, blend_time)


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


@pytest.mark.parametrize("blend_time", [0.1, 0.2, 0.3, 0.5])
def test_rounding_at_the_end_of_the_blend_makes_no_gain_negative(blend_time):
    gains = GainSchedule(WALKING, ZmpComGains(0.0, 0.0), blend_time)
    trace = [gains.update(is_walking, 0.01) for is_walking in [True] * 70 + [False] * 70]
    assert all(0.0 <= each.zmp <= WALKING.zmp for each in trace)


def test_gains_are_off_where_both_situations_have_none():
    off = ZmpComGains(0.0, 0.0)
    assert GainSchedule(off, off).are_off
    assert not GainSchedule(ZmpComGains(0.0, 3.0), off).are_off
    assert not GainSchedule(off, ZmpComGains(3.0, 0.0)).are_off
