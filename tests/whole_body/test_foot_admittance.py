"""Soles that stand yield to loads and moments that were not expected."""

import numpy as np
import pytest

from gradiva.common import ConfigError, FootReference, altered, so3
from gradiva.whole_body import FootAdmittance, FootAdmittanceConfig
from tests.whole_body.standing_robot import PERIOD as TICK
from tests.whole_body.standing_robot import reference, state

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
    body = admittance().adapted(expecting(), measuring(), TICK)
    for side in ("left_foot", "right_foot"):
        foot, planned = getattr(body, side), getattr(expecting(), side)
        np.testing.assert_allclose(foot.position, planned.position, atol=1e-15)
        np.testing.assert_allclose(foot.rotation, planned.rotation, atol=1e-15)
        np.testing.assert_allclose(foot.twist, planned.twist, atol=1e-15)


def test_a_foot_that_carries_too_much_rises_against_the_other_one():
    body = admittance().adapted(expecting(), measuring(load(LOAD + 50.0), load(LOAD - 50.0)), TICK)
    rise = TICK * 2e-5 * 50.0
    assert body.left_foot.position[2] - expecting().left_foot.position[2] == pytest.approx(rise, rel=1e-12)
    assert body.right_foot.position[2] - expecting().right_foot.position[2] == pytest.approx(-rise, rel=1e-12)
    assert body.left_foot.twist[2] == pytest.approx(rise / TICK, rel=1e-12)


@pytest.mark.parametrize("axis", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
def test_feet_that_pull_at_each_other_give_way_along_both_axes_and_no_farther_than_configured(axis):
    """Ahead as well as to the side: knees and hip pitch joints of iCub v2.7 reach their peaks by 75 N ahead."""
    sole = np.array(axis)
    planned = expecting()
    way = planned.left_foot.rotation @ sole
    pull = np.array([*(60.0 * way), 0.0, 0.0, 0.0])
    law = admittance(leak_time_constant=1e6)
    for ticks, shift in ((1, TICK * 1e-4 * 60.0), (2000, 0.01)):
        for _ in range(ticks):
            body = law.adapted(planned, measuring(EXPECTED + pull, EXPECTED - pull), TICK)
        np.testing.assert_allclose(body.left_foot.position - planned.left_foot.position, shift * way, atol=1e-12)
        np.testing.assert_allclose(body.right_foot.position - planned.right_foot.position, -shift * way, atol=1e-12)
        law.reset()


def test_feet_of_a_walking_robot_give_way_to_the_side_alone():
    moving = altered(expecting(), com_velocity=np.array([0.1, 0.0, 0.0]))
    pull = np.array([60.0, 60.0, 0.0, 0.0, 0.0, 0.0])
    body = admittance().adapted(moving, measuring(EXPECTED + pull, EXPECTED - pull), TICK)
    x, y = (body.left_foot.position - moving.left_foot.position)[:2]
    assert x == pytest.approx(0.0, abs=1e-15)
    assert y == pytest.approx(TICK * 1e-4 * 60.0, rel=1e-12)


def test_loads_that_are_shared_as_expected_move_no_foot():
    shared = load(LOAD + 40.0), load(LOAD - 40.0)
    law = admittance()
    law.adapted(expecting(*shared), measuring(*shared), TICK)
    assert law.height == pytest.approx(0.0, abs=1e-15)


def test_what_has_been_yielded_is_taken_back_slowly():
    law = admittance(leak_time_constant=0.5)
    law.adapted(expecting(), measuring(load(LOAD + 50.0), moment(4.0, 0.0)), TICK)
    height, tilt = law.height, law.tilts[1, 0]
    for _ in range(round(0.5 / TICK)):
        law.adapted(expecting(), measuring(), TICK)
    assert law.height == pytest.approx(height / np.e, rel=0.01)
    assert law.tilts[1, 0] == pytest.approx(tilt / np.e, rel=0.01)


def test_loads_that_change_from_tick_to_tick_are_not_answered():
    law, heights = admittance(leak_time_constant=1e6, surplus_time_constant=0.06), []
    for tick in range(100):
        force = LOAD + (50.0 if tick % 2 else -50.0)
        law.adapted(expecting(), measuring(load(force), load(2.0 * LOAD - force)), TICK)
        heights.append(law.height)
    unfiltered = 2.0 * TICK * 2e-5 * 50.0
    assert np.ptp(np.diff(heights[-10:])) < 0.1 * unfiltered


def test_what_one_foot_bore_alone_is_not_yielded_to_when_the_other_one_lands():
    law = admittance(surplus_time_constant=0.06)
    swinging = altered(expecting(load(2 * LOAD), load(0.0)), right_foot=lifted(expecting().right_foot))
    for _ in range(10):
        law.adapted(swinging, measuring(load(2 * LOAD) + moment(8.0, 0.0) - EXPECTED, load(0.0)), TICK)
    law.adapted(expecting(), measuring(), TICK)
    assert not law.tilts.any()


def test_a_moment_is_taken_in_the_axes_of_the_sole():
    planned = expecting().left_foot
    quarter = so3.exp(np.array([0.0, 0.0, 0.5 * np.pi]))
    turned = FootReference(planned.position, quarter, planned.twist, planned.acceleration, in_contact=True)
    law = admittance()
    law.adapted(altered(expecting(), left_foot=turned), measuring(left=moment(4.0, 0.0)), TICK)
    np.testing.assert_allclose(law.tilts[0], [0.0, -TICK * 0.005 * 4.0], atol=1e-12)


def test_a_load_that_both_feet_have_too_much_of_moves_neither():
    body = admittance().adapted(expecting(), measuring(load(200.0), load(200.0)), TICK)
    np.testing.assert_allclose(body.left_foot.position, expecting().left_foot.position, atol=1e-15)
    np.testing.assert_allclose(body.left_foot.rotation, expecting().left_foot.rotation, atol=1e-15)


@pytest.mark.parametrize(("axis", "excess"), [(0, (4.0, 0.0)), (1, (0.0, 4.0))])
def test_a_sole_turns_with_the_moment_about_its_expected_centre_of_pressure(axis, excess):
    body = admittance().adapted(expecting(), measuring(left=moment(*excess)), TICK)
    turn = so3.log(expecting().left_foot.rotation.T @ body.left_foot.rotation)
    assert turn[axis] == pytest.approx(TICK * 0.005 * 4.0, rel=1e-9)
    np.testing.assert_allclose(np.delete(turn, axis), 0.0, atol=1e-12)
    np.testing.assert_allclose(body.right_foot.rotation, expecting().right_foot.rotation, atol=1e-15)


def test_what_has_been_yielded_is_kept_in_the_air_and_while_sensors_are_not_trusted():
    law = admittance()
    law.adapted(expecting(), measuring(load(LOAD + 50.0), moment(4.0, 0.0)), TICK)
    height, tilts = law.height, law.tilts.copy()
    swinging = altered(expecting(), left_foot=lifted(expecting().left_foot))
    body = law.adapted(swinging, measuring(load(0.0), load(2 * LOAD)), TICK)
    law.adapted(expecting(), measuring(load(0.0), load(2 * LOAD)), TICK, is_trusted=False)
    assert (law.height, law.tilts.tolist()) == (height, tilts.tolist())
    assert body.left_foot.position[2] == pytest.approx(height, rel=1e-12)
    assert body.left_foot.twist[2] == 0.0
    law.reset()
    assert law.height == 0.0
    assert not law.tilts.any()


def test_stiff_legs_of_unequal_length_end_with_equal_loads():
    stiffness, error = 1e5, 0.002  # [N/m] of half the difference of the loads; left leg 2 mm too long against the right
    law, force = admittance(leak_time_constant=1e6), 0.0
    for _ in range(round(5.0 / (2e-5 * stiffness) / TICK)):
        force = stiffness * (0.5 * error - law.height)
        law.adapted(expecting(), measuring(load(LOAD + force), load(LOAD - force)), TICK)
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
        admittance(height_gain=0.0, tilt_gain=0.0, spread_gain=0.0).adapted(body, measuring(load(300.0)), TICK) is body
    )


@pytest.mark.parametrize(
    "name", ["height_gain", "tilt_gain", "spread_gain", "highest", "widest", "steepest", "leak_time_constant"]
)
def test_values_that_are_not_possible_are_refused(name):
    with pytest.raises(ConfigError, match=name):
        FootAdmittanceConfig(**(GAINS | {name: -1.0}))
