"""Soles of a robot that may be pushed: kept level while one is caught; else they learn the slope of the ground."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import Side, SoleRectangle, altered, so3
from gradiva.push_recovery import MovedSoles, Push, SlopedSoles, SoleLevelling
from gradiva.push_recovery.tilt import (
    HEIGHT_GAIN,
    INTEGRAL_GAIN,
    LARGEST_HEIGHT_OFFSET,
    LARGEST_TILT_OFFSET,
    LEAK_TIME,
    ROCKING_TIME,
    SOLE_SPEED,
    STANDING_LEAK,
    STANDING_TIME,
    TILT_GAIN,
)
from gradiva.whole_body import SLIGHT_SLOPE, SlopedBegin
from tests.whole_body.tilted_soles import WEIGHT, begun_on_a_slope, on_a_slope, standing

PERIOD = 0.01
CALM = Push(False, False, True)
SOLE = SoleRectangle(x=(-0.06, 0.12), y=(-0.03, 0.04), z=0.0)


def test_a_sole_in_the_air_that_hangs_low_is_lifted_and_levelled_while_the_loaded_one_stays():
    levelling, low = SoleLevelling(WEIGHT, SOLE), 0.001
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


@pytest.mark.parametrize("tipped", list(Side))
@pytest.mark.parametrize("outward", [True, False])
def test_a_sole_that_should_stand_reaches_down_beside_one_that_stands_on_its_edge(tipped, outward):
    levelling, heights = SoleLevelling(WEIGHT, SOLE), {Side.LEFT: -0.03, Side.RIGHT: -0.03}  # by the odometry, both
    loads, tilt = {tipped: 1.0, tipped.other: 0.0}, so3.exp(np.array([0.1, 0.0, 0.0]))
    body, state = standing(heights, loads, in_contact=True)
    state = altered(state, **{f"{tipped}_foot_rotation": tilt if outward is (tipped is Side.RIGHT) else tilt.T})
    for _ in range(20):
        moved = levelling.levelled(body, state, True, False, 0.01)
    edge = (0.04 if outward else 0.03) * math.sin(0.1)  # over which the loaded sole has tipped
    hanging, loaded = (getattr(moved, f"{side}_foot").position for side in (tipped.other, tipped))
    assert hanging[2] == pytest.approx(-(HEIGHT_GAIN + 0.2 * INTEGRAL_GAIN) * edge, abs=1e-12)
    np.testing.assert_array_equal(loaded, getattr(body, f"{tipped}_foot").position)


@pytest.mark.parametrize(
    ("stands", "other_stands", "rise"),
    [
        (False, True, 0.0),  # in the air beside one on its edge: at its height over that frame
        (True, False, 0.001),  # beside one that struck early: by the odometry, where it was
    ],
)
def test_a_sole_counts_its_height_from_the_other_one_that_stands_and_from_its_frame_while_it_swings(
    stands, other_stands, rise
):
    levelling = SoleLevelling(WEIGHT, SOLE)
    body, state = standing(
        {Side.LEFT: 0.049, Side.RIGHT: -0.001}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, left_tilt=(0.1, 0.0, 0.0)
    )
    left = altered(body.left_foot, position=np.array([0.0, 0.08, 0.05]), in_contact=other_stands)
    body = altered(body, left_foot=left, right_foot=altered(body.right_foot, in_contact=stands))
    moved = levelling.levelled(body, state, True, False, 0.01)
    assert moved.right_foot.position[2] == pytest.approx((HEIGHT_GAIN + 0.01 * INTEGRAL_GAIN) * rise, abs=1e-12)


def test_soles_that_lie_on_a_plane_that_is_planned_stay():
    levelling, plane = SoleLevelling(WEIGHT, SOLE), so3.exp(np.array([0.05, -0.1, 0.0]))
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, in_contact=True)
    feet = {f"{side}_foot": altered(getattr(body, f"{side}_foot"), rotation=plane) for side in Side}
    state = altered(state, left_foot_rotation=plane, right_foot_rotation=plane)
    moved = levelling.levelled(altered(body, **feet), state, True, False, 0.01)
    assert moved.right_foot.position[2] == pytest.approx(0.0, abs=1e-12)


def test_the_height_of_a_sole_in_the_air_changes_no_faster_than_the_knee_bears():
    levelling = SoleLevelling(WEIGHT, SOLE)
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: -0.02}, {Side.LEFT: 1.0, Side.RIGHT: 0.0})
    for tick in range(1, 4):
        moved = levelling.levelled(body, state, True, False, 0.01)
        assert moved.right_foot.position[2] == pytest.approx(0.01 * tick * SOLE_SPEED, abs=1e-12)
        assert moved.right_foot.twist[2] == pytest.approx(SOLE_SPEED, abs=1e-9)


def test_a_sole_that_lands_gives_its_offset_back_and_the_references_are_the_plans_again():
    levelling = SoleLevelling(WEIGHT, SOLE)
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
    levelling, period = SoleLevelling(WEIGHT, SOLE), 0.01
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


LEVEL_SOLES, LOADED = {Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 1.0}


def laid_flat():
    """Return a levelling after a push of a robot that stands, with its references and its state on flat soles."""
    levelling = SoleLevelling(WEIGHT, SOLE)
    body, tipped = standing(LEVEL_SOLES, LOADED, tilt=0.05, in_contact=True)
    for _ in range(10):
        levelling.levelled(body, tipped, True, True, PERIOD)
    assert levelling.offsets[Side.LEFT][0] / LEAK_TIME < -STANDING_LEAK
    levelling.offsets[Side.LEFT] += [0.0, 0.0, 0.03]
    return levelling, body, standing(LEVEL_SOLES, LOADED, in_contact=True)[1]


def test_a_robot_that_stands_again_gives_its_tilt_back_slowly_and_its_height_as_ever():
    levelling, body, flat = laid_flat()
    tilt, height = levelling.offsets[Side.LEFT][[0, 2]]
    moved = levelling.levelled(body, flat, False, False, PERIOD)
    after = tilt + PERIOD * STANDING_LEAK, height * (1.0 - PERIOD / LEAK_TIME)
    np.testing.assert_allclose(levelling.offsets[Side.LEFT][[0, 2]], after, atol=1e-12)
    np.testing.assert_allclose(moved.left_foot.twist[2:4], [-height / LEAK_TIME, STANDING_LEAK], atol=1e-12)
    levelling.reset()
    levelling.offsets[Side.LEFT] = np.array([tilt, 0.0, 0.0])
    levelling.levelled(body, flat, False, False, PERIOD)
    assert levelling.offsets[Side.LEFT][0] == pytest.approx(tilt * (1.0 - PERIOD / LEAK_TIME), abs=1e-12)


@pytest.mark.parametrize(
    ("lifted", "is_active", "stands"),
    [("left_foot", False, False), ("right_foot", False, False), ("right_foot", True, True), (None, True, False)],
    ids=["left lifts off", "right lifts off", "capture step", "pushed while it walks"],
)
def test_tilts_are_not_given_back_slowly_by_a_robot_that_steps_or_is_pushed_again(lifted, is_active, stands):
    levelling, body, flat = laid_flat()
    if lifted:
        body = altered(body, **{lifted: altered(getattr(body, lifted), in_contact=False)})
    side = Side.RIGHT if lifted == "right_foot" else Side.LEFT
    before = levelling.offsets[side][0]
    levelling.levelled(body, flat, is_active, stands, PERIOD)
    assert levelling.offsets[side][0] == pytest.approx(before * (1.0 - PERIOD / LEAK_TIME), abs=1e-12)


@pytest.mark.parametrize("period", [0.002, 0.02])
def test_a_loaded_sole_of_a_robot_that_rocks_gives_its_height_back_in_the_same_time_at_any_tick(period):
    levelling, body, flat = laid_flat()
    height = levelling.offsets[Side.LEFT][2]
    for _ in range(round(0.1 / period)):
        levelling.levelled(body, flat, True, True, period)
    kept = (1.0 - period / ROCKING_TIME) ** round(0.1 / period)
    assert levelling.offsets[Side.LEFT][2] == pytest.approx(height * kept, abs=1e-12)


def test_the_height_of_a_sole_that_hangs_beside_a_standing_robot_follows_with_a_lag():
    body, _ = standing(LEVEL_SOLES, LOADED, in_contact=True)
    _, hanging = standing({Side.LEFT: 0.0, Side.RIGHT: 0.002}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, in_contact=True)
    wanted = 0.002 * (HEIGHT_GAIN + 0.01 * INTEGRAL_GAIN)
    for stands, speed in ((True, wanted / STANDING_TIME), (False, SOLE_SPEED)):
        moved = SoleLevelling(WEIGHT, SOLE).levelled(body, hanging, True, stands, 0.01)
        assert moved.right_foot.position[2] - body.right_foot.position[2] == pytest.approx(-0.01 * speed)
        assert moved.right_foot.twist[2] == pytest.approx(-speed)
    moved = SoleLevelling(WEIGHT, SOLE).levelled(body, hanging, True, True, 0.1)
    assert moved.right_foot.position[2] == pytest.approx(-0.002 * (HEIGHT_GAIN + 0.1 * INTEGRAL_GAIN))


def test_a_sole_is_moved_no_farther_than_its_limits():
    levelling = SoleLevelling(WEIGHT, SOLE)
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: -0.2}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, tilt=-0.5)
    for _ in range(100):
        moved = levelling.levelled(body, state, True, False, 0.01)
    assert moved.right_foot.position[2] == pytest.approx(LARGEST_HEIGHT_OFFSET, abs=1e-12)
    assert so3.log(moved.right_foot.rotation)[0] == pytest.approx(LARGEST_TILT_OFFSET, abs=1e-9)


@pytest.mark.parametrize("in_contact", [True, False])
def test_a_sole_without_load_beside_one_on_a_slope_is_neither_lifted_nor_levelled(in_contact):
    levelling, steepness = SoleLevelling(WEIGHT, SOLE), 0.05
    heights, loads = {Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}
    body, state = standing(heights, loads, tilt=steepness, in_contact=in_contact)
    slope = state.left_foot_rotation[:2, 2]
    np.testing.assert_allclose(slope, [0.0, -math.sin(steepness)])
    beside = altered(state, right_foot_position=np.array([0.0, -0.16, -0.16 * math.sin(steepness)]))
    moved = levelling.levelled(body, beside, True, False, 0.01, slope)
    np.testing.assert_allclose(moved.right_foot.position, body.right_foot.position, atol=1e-5)
    np.testing.assert_allclose(so3.log(moved.right_foot.rotation), np.zeros(3), atol=1e-5)


def test_the_slope_is_learned_from_the_sole_that_carries_and_kept_while_a_push_is_caught():
    admittance, given = SimpleNamespace(adapted=lambda body, *_: body, reset=lambda: None), []
    levelling = SimpleNamespace(offsets={}, reset=lambda: None, levelled=lambda *values: given.append(values[-1]))
    soles, calm, caught = MovedSoles(admittance, levelling), Push(False, False, True), Push(True, False, True)
    body, state = standing(
        {Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, left_tilt=(0.0, 0.1, 0.0)
    )
    for _ in range(300):
        assert soles.moved(body, state, calm, PERIOD) is body
    _, level = standing({Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 0.0})
    for _ in range(100):
        soles.moved(body, level, caught, PERIOD)
    np.testing.assert_allclose(given[-1], [(1.0 - 0.99**300) * math.sin(0.1), 0.0], atol=1e-12)
    soles.reset()
    soles.moved(body, level, caught, PERIOD)
    np.testing.assert_array_equal(given[-1], np.zeros(2))


@pytest.mark.parametrize("tilt", [(0.06, 0.0), (0.0, 0.06), (-0.04, 0.05)])
def test_by_torque_soles_and_com_follow_the_slope_of_the_ground_that_the_loaded_sole_shows(tilt):
    soles = SlopedSoles(0.3 * WEIGHT)
    body, state = on_a_slope(tilt)
    for _ in range(2000):
        moved = soles.moved(body, state, CALM, PERIOD)
    normal = state.left_foot_rotation[:, 2]
    for foot, planned in ((moved.left_foot, body.left_foot), (moved.right_foot, body.right_foot)):
        np.testing.assert_allclose(foot.rotation[:, 2], planned.rotation @ normal, atol=2e-4)
    height = state.left_foot_position[2] - body.left_foot.position[2]
    for now, before in ((moved.right_foot.position, body.right_foot.position), (moved.com_position, body.com_position)):
        rise = height - normal[:2] @ (before - body.left_foot.position)[:2]
        np.testing.assert_allclose(now - before, [0.0, 0.0, rise], atol=2e-4)
    climb = -normal[:2] @ [0.2, 0.1]
    assert moved.right_foot.twist[2] == pytest.approx(climb, abs=1e-6)
    assert moved.right_foot.acceleration[2] == pytest.approx(2.0 * climb, abs=1e-6)
    for now in (moved.com_velocity, moved.com_acceleration):
        np.testing.assert_allclose(now, [0.2, 0.1, climb], atol=1e-6)
    soles.reset()
    assert soles.moved(*on_a_slope((0.0, 0.0)), CALM, PERIOD).com_velocity[2] == 0.0


@pytest.mark.parametrize(("degrees", "fraction"), [(1.0, 0.0), (1.5, 0.5), (2.0, 1.0), (4.0, 1.0)])
def test_a_slope_counts_from_a_degree_on_and_whole_from_two(degrees, fraction):
    admittance, given = SimpleNamespace(adapted=lambda body, *_: body, reset=lambda: None), []
    levelling = SimpleNamespace(offsets={}, reset=lambda: None, levelled=lambda *values: given.append(values[-1]))
    soles, slope = MovedSoles(admittance, levelling), math.radians(degrees)
    body, state = on_a_slope((math.asin(slope), 0.0))
    for _ in range(3000):
        soles.moved(body, state, CALM, PERIOD)
    soles.moved(body, state, Push(True, False, True), PERIOD)
    np.testing.assert_allclose(given[-1], [0.0, -fraction * slope], atol=1e-9)


def test_by_torque_references_move_by_little_where_a_slope_of_a_degree_begins_to_count():
    body, state = on_a_slope((0.0, math.asin(SLIGHT_SLOPE + math.radians(0.02))))
    state = altered(state, left_foot_position=body.left_foot.position + np.array([0.0, 0.0, 0.005]))
    moved = SlopedSoles(0.3 * WEIGHT).moved(body, state, CALM, PERIOD)
    assert moved is not body
    np.testing.assert_allclose(moved.com_position, body.com_position, atol=3e-4)
    np.testing.assert_allclose(moved.right_foot.position, body.right_foot.position, atol=3e-4)


def test_by_torque_a_sole_that_tips_or_is_in_the_air_or_hardly_loaded_shows_no_slope():
    body, state = on_a_slope((0.14, 0.0))
    tipping = altered(state, left_foot_twist=np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0]))
    lifted = altered(body, left_foot=altered(body.left_foot, in_contact=False))
    for given, seen, least_load in ((body, tipping, 0.0), (lifted, state, 0.0), (body, state, 1.1 * WEIGHT)):
        soles = SlopedSoles(least_load)
        for _ in range(100):
            assert soles.moved(given, seen, CALM, PERIOD) is given


def test_by_torque_the_first_sole_shows_the_slope_whole_and_later_ones_by_and_by():
    soles, (body, state) = SlopedSoles(0.3 * WEIGHT), on_a_slope((0.06, 0.0))
    moved = soles.moved(body, state, CALM, PERIOD)
    assert moved.com_velocity[2] == pytest.approx(0.1 * math.sin(0.06), rel=1e-3)
    level = on_a_slope((0.0, 0.0))[1]
    moved = soles.moved(body, level, CALM, PERIOD)
    assert moved.com_velocity[2] == pytest.approx(0.1 * (1.0 - PERIOD) * math.sin(0.06), rel=1e-3)


def test_by_torque_nothing_is_changed_by_a_slope_below_a_degree_nor_learned_while_a_push_is_caught():
    soles, caught = SlopedSoles(0.3 * WEIGHT), Push(True, False, True)
    for steepness, push in ((0.017, CALM), (0.06, caught)):
        body, state = on_a_slope((steepness, 0.0))
        for _ in range(500):
            assert soles.moved(body, state, push, PERIOD) is body


@pytest.mark.parametrize("begin_slope", [0.0181, 0.0169])
def test_a_begin_on_a_slope_goes_on_evenly_where_the_learned_slope_comes_over_and_below_a_degree(begin_slope):
    soles, (body, seen) = SlopedSoles(0.0), begun_on_a_slope(2.0, lean=(0.0, 0.06, 0.0))
    soles.reset(SlopedBegin(2.0, 3.5))
    tilts = []
    for tick in range(1600):
        shown = begin_slope if tick < 100 else 0.035 - begin_slope
        sole = so3.exp(np.array([0.0, shown, 0.0]))
        seen = altered(seen, left_foot_rotation=sole @ body.left_foot.rotation)
        moved = soles.moved(altered(body, time=2.0 + 0.001 * tick), seen, CALM, 0.001)
        tilts.append(so3.log(moved.torso_rotation @ body.torso_rotation.T)[1])
    assert tilts[0] == pytest.approx(0.06, abs=1e-6)
    assert abs(tilts[-1]) < 1e-9
    assert np.abs(np.diff(tilts)).max() < math.radians(0.1)
