"""Soles that are kept level where the robot tilts, slopes, and the begin of torque control on one."""

import math

import numpy as np
import pytest

from gradiva.common import Side, altered, so3
from gradiva.whole_body import SLIGHT_SLOPE, SlopedBegin, SoleLevelling, lean_of_soles, on_slope
from gradiva.whole_body.soles import (
    HEIGHT_GAIN,
    INTEGRAL_GAIN,
    LARGEST_HEIGHT_OFFSET,
    LARGEST_TILT_OFFSET,
    LEAK_TIME,
    SOLE_SPEED,
    TILT_GAIN,
)
from tests.whole_body.tilted_soles import WEIGHT, begun_on_a_slope, on_a_slope, standing


def test_a_sole_in_the_air_that_hangs_low_is_lifted_and_levelled_while_the_loaded_one_stays():
    levelling, low = SoleLevelling(WEIGHT), 0.001
    heights, loads = {Side.LEFT: 0.0, Side.RIGHT: -low}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}
    body, state = standing(heights, loads, tilt=0.02, left_tilt=(0.0, 0.0, 0.0))
    moved = levelling.levelled(body, state, True, False, 0.01)
    lift = (HEIGHT_GAIN + 0.01 * INTEGRAL_GAIN) * low
    assert lift < 0.01 * SOLE_SPEED
    assert moved.right_foot.position[2] == pytest.approx(lift, abs=1e-12)
    assert moved.right_foot.twist[2] == pytest.approx(lift / 0.01, abs=1e-9)
    tilt = so3.log(moved.right_foot.rotation)
    np.testing.assert_allclose(tilt, [-0.01 * INTEGRAL_GAIN * 0.02, 0.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(moved.left_foot.position, body.left_foot.position)


def test_the_height_of_a_sole_in_the_air_changes_no_faster_than_the_knee_bears():
    levelling = SoleLevelling(WEIGHT)
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: -0.02}, {Side.LEFT: 1.0, Side.RIGHT: 0.0})
    for tick in range(1, 4):
        moved = levelling.levelled(body, state, True, False, 0.01)
        assert moved.right_foot.position[2] == pytest.approx(0.01 * tick * SOLE_SPEED, abs=1e-12)
        assert moved.right_foot.twist[2] == pytest.approx(SOLE_SPEED, abs=1e-9)


def test_a_sole_that_lands_gives_its_offset_back_and_the_references_are_the_plans_again():
    levelling = SoleLevelling(WEIGHT)
    low = {Side.LEFT: 0.0, Side.RIGHT: -0.005}
    body, state = standing(low, {Side.LEFT: 1.0, Side.RIGHT: 0.0})
    lifted = levelling.levelled(body, state, True, False, 0.01).right_foot.position[2]
    body, state = standing(low, {Side.LEFT: 0.5, Side.RIGHT: 0.5})
    after = levelling.levelled(body, state, True, False, 0.01).right_foot.position[2]
    assert after == pytest.approx(lifted * (1.0 - 0.01 / LEAK_TIME), abs=1e-12)
    for _ in range(1000):
        levelling.levelled(body, state, False, False, 0.01)
    assert not levelling.offsets


def test_a_loaded_sole_that_tipped_is_laid_flat_where_it_stands_and_gets_its_tilt_back_afterwards():
    levelling, period = SoleLevelling(WEIGHT), 0.01
    loads = {Side.LEFT: 1.0, Side.RIGHT: 1.0}
    body, tipped = standing({Side.LEFT: 0.0, Side.RIGHT: 0.0}, loads, tilt=0.05, in_contact=True)
    _, flat = standing({Side.LEFT: 0.0, Side.RIGHT: 0.0}, loads, in_contact=True)
    moved = levelling.levelled(body, tipped, True, True, period)
    turn = period * TILT_GAIN * 0.05
    np.testing.assert_allclose(so3.log(moved.left_foot.rotation), [-turn, 0.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(moved.left_foot.position, body.left_foot.position)
    after = levelling.levelled(body, flat, True, True, period)
    kept = turn * (1.0 - period / LEAK_TIME)
    np.testing.assert_allclose(so3.log(after.left_foot.rotation), [-kept, 0.0, 0.0], atol=1e-12)


def test_a_sole_is_moved_no_farther_than_its_limits():
    levelling = SoleLevelling(WEIGHT)
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: -0.2}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, tilt=-0.5)
    for _ in range(100):
        moved = levelling.levelled(body, state, True, False, 0.01)
    assert moved.right_foot.position[2] == pytest.approx(LARGEST_HEIGHT_OFFSET, abs=1e-12)
    assert so3.log(moved.right_foot.rotation)[0] == pytest.approx(LARGEST_TILT_OFFSET, abs=1e-9)


def test_a_sole_in_the_air_beside_one_on_a_slope_is_neither_lifted_nor_levelled():
    levelling, steepness = SoleLevelling(WEIGHT), 0.05
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, tilt=steepness)
    slope = state.left_foot_rotation[:2, 2]
    np.testing.assert_allclose(slope, [0.0, -math.sin(steepness)])
    beside = altered(state, right_foot_position=np.array([0.0, -0.16, -0.16 * math.sin(steepness)]))
    moved = levelling.levelled(body, beside, True, False, 0.01, slope)
    np.testing.assert_allclose(moved.right_foot.position, body.right_foot.position, atol=1e-12)
    np.testing.assert_allclose(so3.log(moved.right_foot.rotation), np.zeros(3), atol=1e-5)
    level, slight = (
        SoleLevelling(WEIGHT).levelled(body, beside, True, False, 0.01, part * slope) for part in (0.0, 0.3)
    )
    np.testing.assert_array_equal(slight.right_foot.rotation, level.right_foot.rotation)


def test_by_torque_references_move_by_little_where_a_slope_of_a_degree_begins_to_count():
    body, state = on_a_slope((0.0, 0.0))
    state = altered(state, left_foot_position=body.left_foot.position + np.array([0.0, 0.0, 0.005]))
    moved = on_slope(body, state, np.array([SLIGHT_SLOPE + math.radians(0.02), 0.0]))
    np.testing.assert_allclose(moved.com_position, body.com_position, atol=3e-4)
    np.testing.assert_allclose(moved.right_foot.position, body.right_foot.position, atol=3e-4)


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
