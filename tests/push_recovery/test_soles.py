"""Soles that stand yield to loads and moments that were not expected; those in the air are kept level in a push."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gradiva.common import ConfigError, FootReference, Side, altered, so3
from gradiva.planner import VelocityCommand, WalkingPlanner
from gradiva.push_recovery import FootAdmittance, FootAdmittanceConfig, SoleLevelling, landed_last
from gradiva.push_recovery.tilt import (
    HEIGHT_GAIN,
    INTEGRAL_GAIN,
    LARGEST_HEIGHT_OFFSET,
    LARGEST_TILT_OFFSET,
    LEAK_TIME,
    SOLE_SPEED,
    TILT_GAIN,
)
from gradiva.setup import load_setup
from tests.whole_body.standing_robot import PERIOD, reference, state

GAINS = {
    "height_gain": 2e-5,
    "tilt_gain": 0.005,
    "spread_gain": 1e-4,
    "leak_time_constant": 5.0,
    "expected_time_constant": 0.0,
    "surplus_time_constant": 0.0,
    "highest": 0.01,
    "widest": 0.01,
    "steepest": 0.05,
}
LOAD = 160.0  # [N] of each foot
EXPECTED = np.array([0.0, 0.0, LOAD, 0.0, -0.02 * LOAD, 0.0])  # 20 mm ahead of the sole's origin


def admittance(**values):
    return FootAdmittance(FootAdmittanceConfig(**(GAINS | values)))


def expecting(left=EXPECTED, right=EXPECTED):
    return altered(reference(), left_foot_wrench=left, right_foot_wrench=right)


def measuring(left=EXPECTED, right=EXPECTED):
    return altered(state(), left_foot_wrench=left, right_foot_wrench=right)


def load(force):
    return EXPECTED * force / LOAD


def moment(x, y):
    return EXPECTED + np.array([0.0, 0.0, 0.0, x, y, 0.0])


def lifted(foot):
    return FootReference(foot.position, foot.rotation, foot.twist, foot.acceleration, in_contact=False)


def test_expected_wrenches_change_no_foot():
    body = admittance().adapted(expecting(), measuring(), PERIOD)
    for side in ("left_foot", "right_foot"):
        foot, planned = getattr(body, side), getattr(expecting(), side)
        np.testing.assert_allclose(foot.position, planned.position, atol=1e-15)
        np.testing.assert_allclose(foot.rotation, planned.rotation, atol=1e-15)
        np.testing.assert_allclose(foot.twist, planned.twist, atol=1e-15)


def test_a_foot_that_carries_too_much_rises_against_the_other_one():
    body = admittance().adapted(expecting(), measuring(load(LOAD + 50.0), load(LOAD - 50.0)), PERIOD)
    rise = PERIOD * 2e-5 * 50.0
    assert body.left_foot.position[2] - expecting().left_foot.position[2] == pytest.approx(rise, rel=1e-12)
    assert body.right_foot.position[2] - expecting().right_foot.position[2] == pytest.approx(-rise, rel=1e-12)
    assert body.left_foot.twist[2] == pytest.approx(rise / PERIOD, rel=1e-12)


def test_feet_that_pull_together_go_apart_along_the_line_between_them_and_no_farther_than_configured():
    line = expecting().left_foot.position - expecting().right_foot.position
    across = np.array([*line[:2], 0.0]) / np.hypot(*line[:2])
    pull = np.array([*(60.0 * across), 0.0, 0.0, 0.0])
    law = admittance(leak_time_constant=1e6)
    for ticks, spread in ((1, PERIOD * 1e-4 * 60.0), (2000, 0.01)):
        for _ in range(ticks):
            body = law.adapted(expecting(), measuring(EXPECTED + pull, EXPECTED - pull), PERIOD)
        np.testing.assert_allclose(
            body.left_foot.position - expecting().left_foot.position, spread * across, atol=1e-12
        )
        np.testing.assert_allclose(
            body.right_foot.position - expecting().right_foot.position, -spread * across, atol=1e-12
        )
        law.reset()


def test_loads_that_are_shared_as_expected_move_no_foot():
    shared = load(LOAD + 40.0), load(LOAD - 40.0)
    law = admittance()
    law.adapted(expecting(*shared), measuring(*shared), PERIOD)
    assert law.height == pytest.approx(0.0, abs=1e-15)


def test_what_has_been_yielded_is_taken_back_slowly():
    law = admittance(leak_time_constant=0.5)
    law.adapted(expecting(), measuring(load(LOAD + 50.0), moment(4.0, 0.0)), PERIOD)
    height, tilt = law.height, law.tilts[1, 0]
    for _ in range(round(0.5 / PERIOD)):
        law.adapted(expecting(), measuring(), PERIOD)
    assert law.height == pytest.approx(height / np.e, rel=0.01)
    assert law.tilts[1, 0] == pytest.approx(tilt / np.e, rel=0.01)


def test_loads_that_change_from_tick_to_tick_are_not_answered():
    law, heights = admittance(leak_time_constant=1e6, surplus_time_constant=0.06), []
    for tick in range(100):
        force = LOAD + (50.0 if tick % 2 else -50.0)
        law.adapted(expecting(), measuring(load(force), load(2.0 * LOAD - force)), PERIOD)
        heights.append(law.height)
    unfiltered = 2.0 * PERIOD * 2e-5 * 50.0
    assert np.ptp(np.diff(heights[-10:])) < 0.1 * unfiltered


def test_what_one_foot_bore_alone_is_not_yielded_to_when_the_other_one_lands():
    law = admittance(surplus_time_constant=0.06)
    swinging = altered(expecting(load(2 * LOAD), load(0.0)), right_foot=lifted(expecting().right_foot))
    for _ in range(10):
        law.adapted(swinging, measuring(load(2 * LOAD) + moment(8.0, 0.0) - EXPECTED, load(0.0)), PERIOD)
    law.adapted(expecting(), measuring(), PERIOD)
    assert not law.tilts.any()


def test_a_moment_is_taken_in_the_axes_of_the_sole():
    planned = expecting().left_foot
    quarter = so3.exp(np.array([0.0, 0.0, 0.5 * np.pi]))
    turned = FootReference(planned.position, quarter, planned.twist, planned.acceleration, in_contact=True)
    law = admittance()
    law.adapted(altered(expecting(), left_foot=turned), measuring(left=moment(4.0, 0.0)), PERIOD)
    np.testing.assert_allclose(law.tilts[0], [0.0, -PERIOD * 0.005 * 4.0], atol=1e-12)


def test_a_load_that_both_feet_have_too_much_of_moves_neither():
    body = admittance().adapted(expecting(), measuring(load(200.0), load(200.0)), PERIOD)
    np.testing.assert_allclose(body.left_foot.position, expecting().left_foot.position, atol=1e-15)
    np.testing.assert_allclose(body.left_foot.rotation, expecting().left_foot.rotation, atol=1e-15)


@pytest.mark.parametrize(("axis", "excess"), [(0, (4.0, 0.0)), (1, (0.0, 4.0))])
def test_a_sole_turns_with_the_moment_about_its_expected_centre_of_pressure(axis, excess):
    body = admittance().adapted(expecting(), measuring(left=moment(*excess)), PERIOD)
    turn = so3.log(expecting().left_foot.rotation.T @ body.left_foot.rotation)
    assert turn[axis] == pytest.approx(PERIOD * 0.005 * 4.0, rel=1e-9)
    np.testing.assert_allclose(np.delete(turn, axis), 0.0, atol=1e-12)
    np.testing.assert_allclose(body.right_foot.rotation, expecting().right_foot.rotation, atol=1e-15)


def test_what_has_been_yielded_is_kept_in_the_air_and_while_sensors_are_not_trusted():
    law = admittance()
    law.adapted(expecting(), measuring(load(LOAD + 50.0), moment(4.0, 0.0)), PERIOD)
    height, tilts = law.height, law.tilts.copy()
    swinging = altered(expecting(), left_foot=lifted(expecting().left_foot))
    body = law.adapted(swinging, measuring(load(0.0), load(2 * LOAD)), PERIOD)
    law.adapted(expecting(), measuring(load(0.0), load(2 * LOAD)), PERIOD, is_trusted=False)
    assert (law.height, law.tilts.tolist()) == (height, tilts.tolist())
    assert body.left_foot.position[2] == pytest.approx(height, rel=1e-12)
    assert body.left_foot.twist[2] == 0.0
    law.reset()
    assert law.height == 0.0
    assert not law.tilts.any()


def test_stiff_legs_of_unequal_length_end_with_equal_loads():
    stiffness, error = 1e5, 0.002  # [N/m] of half the difference of the loads; left leg 2 mm too long against the right
    law, force = admittance(leak_time_constant=1e6), 0.0
    for _ in range(round(5.0 / (2e-5 * stiffness) / PERIOD)):
        force = stiffness * (0.5 * error - law.height)
        law.adapted(expecting(), measuring(load(LOAD + force), load(LOAD - force)), PERIOD)
    assert law.height == pytest.approx(0.5 * error, rel=0.01)
    assert abs(force) < 1.0


def test_soles_yield_no_farther_than_configured():
    law = admittance()
    for _ in range(2000):
        law.adapted(expecting(), measuring(load(400.0), moment(-20.0, 20.0)), 0.01)
    assert law.height == 0.01
    np.testing.assert_allclose(law.tilts[1], [-0.05, 0.05])


def test_without_gains_the_reference_passes_as_it_is():
    body = expecting()
    assert (
        admittance(height_gain=0.0, tilt_gain=0.0, spread_gain=0.0).adapted(body, measuring(load(300.0)), PERIOD)
        is body
    )


@pytest.mark.parametrize(
    "name", ["height_gain", "tilt_gain", "spread_gain", "highest", "widest", "steepest", "leak_time_constant"]
)
def test_values_that_are_not_possible_are_refused(name):
    with pytest.raises(ConfigError, match=name):
        FootAdmittanceConfig(**(GAINS | {name: -1.0}))


# -- soles in the air --------------------------------------------------------------------------------------------------

SETUP = load_setup("icub_v2_7")
CONFIG, SOLE, WEIGHT = SETUP.walking.step_adaptation, SETUP.robot.sole, 320.0


def standing(side_heights, loads, tilt=0.0, in_contact=False, left_tilt=None):
    """References at height 0 and a state with the soles at their heights, tilted about x, under their loads."""
    flat, rolled = np.eye(3), so3.exp(np.array([tilt, 0.0, 0.0]))
    rotations = {Side.LEFT: rolled if left_tilt is None else so3.exp(np.array(left_tilt)), Side.RIGHT: rolled}
    feet = [FootReference(np.array([0.0, y, 0.0]), flat, np.zeros(6), np.zeros(6), in_contact) for y in (0.08, -0.08)]
    body = Feet(*feet)
    fields = {}
    for side in Side:
        fields[f"{side}_foot_position"] = np.array([0.0, 0.0, side_heights[side]])
        fields[f"{side}_foot_rotation"] = rotations[side]
        fields[f"{side}_foot_wrench"] = np.array([0.0, 0.0, loads[side] * WEIGHT, 0.0, 0.0, 0.0])
    return body, altered(state(), **fields)


@dataclass(frozen=True, slots=True)
class Feet:
    left_foot: FootReference
    right_foot: FootReference


def test_a_sole_in_the_air_that_hangs_low_is_lifted_and_levelled_while_the_loaded_one_stays():
    levelling, low = SoleLevelling(CONFIG, WEIGHT, SOLE), 0.001
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
    levelling = SoleLevelling(CONFIG, WEIGHT, SOLE)
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: -0.02}, {Side.LEFT: 1.0, Side.RIGHT: 0.0})
    for tick in range(1, 4):
        moved = levelling.levelled(body, state, True, False, 0.01)
        assert moved.right_foot.position[2] == pytest.approx(0.01 * tick * SOLE_SPEED, abs=1e-12)
        assert moved.right_foot.twist[2] == pytest.approx(SOLE_SPEED, abs=1e-9)


def test_a_sole_that_lands_gives_its_offset_back_and_the_references_are_the_plans_again():
    levelling = SoleLevelling(CONFIG, WEIGHT, SOLE)
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
    levelling, period = SoleLevelling(CONFIG, WEIGHT, SOLE), 0.01
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
    levelling = SoleLevelling(CONFIG, WEIGHT, SOLE)
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: -0.2}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, tilt=-0.5)
    for _ in range(100):
        moved = levelling.levelled(body, state, True, False, 0.01)
    assert moved.right_foot.position[2] == pytest.approx(LARGEST_HEIGHT_OFFSET, abs=1e-12)
    assert so3.log(moved.right_foot.rotation)[0] == pytest.approx(LARGEST_TILT_OFFSET, abs=1e-9)


@pytest.mark.parametrize(("landed", "gain"), [(None, 0.3), (Side.LEFT, 0.3), (Side.RIGHT, 0.6)])
def test_the_ground_is_lower_than_measured_by_the_rise_of_a_stance_sole_that_tips_on_its_heel(landed, gain):
    config = replace(CONFIG, rise_gain=0.3, landed_rise_gain=0.6)
    levelling, pitch = SoleLevelling(config, WEIGHT, SOLE), -0.02
    heights, loads = {Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}
    body, state = standing(heights, loads, left_tilt=(0.0, pitch, 0.0))
    rise = SOLE.x[0] * math.sin(pitch)
    assert rise > 0.0
    moved = levelling.levelled(body, state, True, False, 0.01, landed)
    lift = -(HEIGHT_GAIN + 0.01 * INTEGRAL_GAIN) * gain * rise
    assert moved.right_foot.position[2] == pytest.approx(lift, abs=1e-12)


def test_the_foot_that_landed_last_carries_the_robot_or_takes_its_load():
    planner = WalkingPlanner(SETUP.walking.planner)
    plan = planner.plan(VelocityCommand(0.1, duration=5.0), planner.at_origin(0.0))
    for step, following in itertools.pairwise(plan.steps):
        for time in (step.touch_down + 0.01, following.lift_off - 0.01, following.lift_off + 0.01):
            assert landed_last(plan.at(time)) is step.footstep.side
