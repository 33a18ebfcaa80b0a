import numpy as np
import pytest

from gradiva.common import so3
from gradiva.planner import SwingFoot, SwingProfile

START = np.array([0.1, 0.2, 0.0]), so3.exp(np.array([0.1, -0.2, 0.4]))
END = np.array([0.4, 0.15, 0.05]), so3.exp(np.array([-0.3, 0.5, 1.2]))


def swing_of(profile=SwingProfile.MINIMUM_JERK, apex=0.5, start=START, end=END):
    return SwingFoot(2.0, 2.6, start, end, height=0.03, apex_fraction=apex, profile=profile)


@pytest.mark.parametrize("profile", SwingProfile)
def test_it_starts_and_ends_at_the_footprints_at_rest(profile):
    swing = swing_of(profile)
    for time, (position, rotation) in ((2.0, START), (2.6, END)):
        foot = swing.at(time)
        np.testing.assert_allclose(foot.position, position, atol=1e-12)
        np.testing.assert_allclose(foot.rotation, rotation, atol=1e-12)
        np.testing.assert_allclose(foot.twist, 0.0, atol=1e-12)
        assert not foot.in_contact


@pytest.mark.parametrize("profile", SwingProfile)
@pytest.mark.parametrize("apex", [0.3, 0.5, 0.8])
def test_the_apex_is_the_highest_point_above_flat_ground(profile, apex):
    end = np.array([0.4, 0.15, 0.0]), END[1]
    swing = swing_of(profile, apex, end=end)
    heights = [swing.at(t).position[2] for t in np.linspace(2.0, 2.6, 601)]
    assert max(heights) == pytest.approx(0.03, abs=1e-6)
    assert swing.at(2.0 + 0.6 * apex).position[2] == pytest.approx(0.03, abs=1e-12)
    assert min(heights) >= -1e-12


@pytest.mark.parametrize("profile", SwingProfile)
@pytest.mark.parametrize("apex", [0.37, 0.5])
def test_twist_and_acceleration_are_the_derivatives_of_the_pose(profile, apex):
    swing, step = swing_of(profile, apex), 1e-6
    for time in np.linspace(2.03, 2.57, 19):
        before, foot, after = swing.at(time - step), swing.at(time), swing.at(time + step)
        velocity = (after.position - before.position) / (2 * step)
        angular = so3.log(after.rotation @ before.rotation.T) / (2 * step)
        np.testing.assert_allclose(foot.twist, np.concatenate((velocity, angular)), atol=1e-7)
        np.testing.assert_allclose(foot.acceleration, (after.twist - before.twist) / (2 * step), atol=1e-5)


@pytest.mark.parametrize("profile", SwingProfile)
@pytest.mark.parametrize("apex", [0.3, 0.5, 0.8])
def test_the_cubics_are_the_acceleration_of_either_piece(profile, apex):
    swing = swing_of(profile, apex)
    np.testing.assert_allclose(swing.pieces, [0.6 * apex, 0.6 * (1.0 - apex)])
    for begin, duration, cubic in zip((2.0, 2.0 + 0.6 * apex), swing.pieces, swing.accelerations(), strict=True):
        for tau in np.linspace(0.001, duration - 0.001, 7):
            np.testing.assert_allclose(swing.at(begin + tau).acceleration[:3], tau ** np.arange(4) @ cubic, atol=1e-9)


@pytest.mark.parametrize("apex", [0.4, 0.5])
def test_minimum_jerk_has_a_continuous_acceleration_and_jerk_at_the_apex(apex):
    swing, step = swing_of(apex=apex), 1e-5
    apex_time = 2.0 + apex * 0.6
    around = [swing.at(apex_time + k * step).acceleration for k in (-2, -1, 1, 2)]
    np.testing.assert_allclose(around[1], around[2], atol=1e-2)
    np.testing.assert_allclose((around[1] - around[0]) / step, (around[3] - around[2]) / step, rtol=0.02, atol=0.5)


@pytest.mark.parametrize("apex", [0.25, 0.5, 0.75])
def test_minimum_jerk_has_a_continuous_acceleration_that_vanishes_at_both_ends(apex):
    swing, apex_time = swing_of(apex=apex), 2.0 + apex * 0.6
    before, after = swing.at(apex_time - 1e-9), swing.at(apex_time + 1e-9)
    np.testing.assert_allclose(before.acceleration, after.acceleration, atol=1e-5)
    for time in (2.0, 2.6):
        np.testing.assert_allclose(swing.at(time).acceleration, 0.0, atol=1e-9)


def test_minimum_acceleration_has_a_continuous_acceleration_at_a_central_apex():
    swing = swing_of(SwingProfile.MINIMUM_ACCELERATION)
    np.testing.assert_allclose(swing.at(2.3 - 1e-7).acceleration, swing.at(2.3 + 1e-7).acceleration, atol=1e-4)


def test_the_rotation_has_a_constant_axis():
    swing = swing_of()
    axis = so3.log(END[1] @ START[1].T)
    for time in (2.1, 2.3, 2.5):
        np.testing.assert_allclose(so3.cross(swing.at(time).twist[3:], axis), 0.0, atol=1e-12)
    half = swing.at(2.3).rotation
    np.testing.assert_allclose(so3.log(half @ START[1].T), 0.5 * axis, atol=1e-12)


def test_it_rests_before_and_after_the_swing():
    np.testing.assert_array_equal(swing_of().at(0.0).position, START[0])
    np.testing.assert_allclose(swing_of().at(9.0).position, END[0], atol=1e-15)
    np.testing.assert_array_equal(swing_of().at(9.0).twist, 0.0)
