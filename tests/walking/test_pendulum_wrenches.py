import numpy as np
import pytest

from gradiva.common import FootReference
from tests.walking.pendulum_in_numbers import wrenches_in_numbers as pendulum_wrenches

POINTS = np.array([[0.03, 0.08], [0.03, -0.08]])


def foot(y, in_contact=True):
    return FootReference(np.array([0.0, y, 0.0]), np.eye(3), np.zeros(6), np.zeros(6), in_contact)


def zmp_of(wrenches, feet):
    load = sum(wrench[2] for wrench in wrenches)
    moments = [w[2] * f.position[:2] + [-w[4], w[3]] for w, f in zip(wrenches, feet, strict=True)]
    return sum(moments) / load


@pytest.mark.parametrize("zmp", [[0.03, 0.0], [0.05, 0.04], [0.0, -0.08], [0.03, 0.2]])
def test_the_wrenches_have_the_force_and_the_zmp(zmp):
    feet, force = (foot(0.1), foot(-0.1)), np.array([10.0, -20.0, 300.0])
    wrenches = pendulum_wrenches(force, np.array(zmp), feet, POINTS)
    np.testing.assert_allclose(wrenches[0][:3] + wrenches[1][:3], force)
    np.testing.assert_allclose(zmp_of(wrenches, feet), zmp, atol=1e-12)


def test_the_load_moves_smoothly_to_the_foot_that_stays():
    feet, force = (foot(0.1), foot(-0.1)), np.array([0.0, 0.0, 300.0])
    both = pendulum_wrenches(force, POINTS[0], feet, POINTS)
    one = pendulum_wrenches(force, POINTS[0], (foot(0.1), foot(-0.1, in_contact=False)), POINTS)
    np.testing.assert_allclose(both, one, atol=1e-12)
    np.testing.assert_array_equal(one[1], np.zeros(6))


def test_a_zmp_in_the_middle_loads_both_feet_alike():
    left, right = pendulum_wrenches(np.array([0.0, 0.0, 300.0]), np.array([0.03, 0.0]), (foot(0.1), foot(-0.1)), POINTS)
    assert left[2] == pytest.approx(150.0)
    assert right[2] == pytest.approx(150.0)
