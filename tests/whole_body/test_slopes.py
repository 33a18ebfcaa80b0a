"""Slopes of the ground, and the begin of torque control on one."""

import math

import numpy as np
import pytest

from gradiva.common import altered, so3
from gradiva.whole_body import SlopedBegin, lean_of_soles
from tests.whole_body.tilted_soles import begun_on_a_slope, on_a_slope


def test_torque_control_begins_on_a_slope_as_the_robot_leans_and_ends_as_planned():
    begin = SlopedBegin(2.0, 3.5)
    body, seen = begun_on_a_slope(2.0)
    first = begin.applied(body, seen)
    np.testing.assert_allclose(first.pelvis_rotation, seen.base_rotation, atol=1e-12)
    turn = first.torso_rotation @ body.torso_rotation.T
    np.testing.assert_allclose(so3.log(turn), [0.03, -0.05, 0.0], atol=1e-12)
    half = begin.applied(altered(body, time=2.75), seen)
    np.testing.assert_allclose(so3.log(half.pelvis_rotation @ body.pelvis_rotation.T), [0.015, -0.025, 0.0], atol=1e-12)
    assert begin.applied(altered(body, time=3.5), seen).pelvis_rotation is body.pelvis_rotation


def test_loads_that_the_feet_share_otherwise_than_planned_change_neither_force_nor_moment_of_both():
    body, seen = begun_on_a_slope(2.0)
    first = SlopedBegin(2.0, 3.5).applied(body, seen)
    assert first.left_foot_wrench[2] - first.right_foot_wrench[2] == pytest.approx(80.0)
    for total in (lambda *wrenches: sum(wrench[:3] for wrench in wrenches), moment_of_both):
        expected = total(body.left_foot_wrench, body.right_foot_wrench)
        np.testing.assert_allclose(total(first.left_foot_wrench, first.right_foot_wrench), expected, atol=1e-9)
    swinging = altered(body, time=2.5, right_foot=altered(body.right_foot, in_contact=False))
    begin = SlopedBegin(2.0, 3.5)
    begin.applied(body, seen)
    np.testing.assert_array_equal(begin.applied(swinging, seen).right_foot_wrench, body.right_foot_wrench)


def moment_of_both(left, right):
    """Return the moment of two wrenches about the middle of feet that are 0.16 m apart."""
    arm = np.array([0.0, 0.08, 0.0])
    return left[3:] + right[3:] + np.cross(arm, left[:3] - right[:3])


def test_soles_lean_together_on_a_slope_and_not_where_each_leans_its_own_way():
    _, level = on_a_slope((0.0, 0.0))
    tilted = so3.exp(np.array([0.05, 0.0, 0.0]))
    both = altered(level, left_foot_rotation=tilted, right_foot_rotation=tilted)
    assert lean_of_soles(both) == pytest.approx(math.sin(0.05))
    assert lean_of_soles(altered(level, left_foot_rotation=tilted, right_foot_rotation=tilted.T)) < 1e-12
