"""""" ""

import casadi as cs
import numpy as np
import pytest

from gradiva.common import FootContact, Side, SoleRectangle, so3
from gradiva.contacts import SoleMotion, ViscoElasticContact, rectangle_moments, static_sinkage
from gradiva.contacts.viscoelastic_contact import ViscoElasticEquations
from tests.contacts.sole_on_soft_ground import REST_ROTATION, SOLE, contact, displaced, moved, summed_wrench


def test_a_sole_sinks_until_the_ground_carries_its_load():
    sole = SoleRectangle(x=(-0.05, 0.15), y=(-0.04, 0.06), z=0.0)
    assert static_sinkage(320.0, sole, 8e5) == pytest.approx(0.02)


AREA = 0.16 * 0.072
STICKING = ViscoElasticContact(SOLE, Side.LEFT, is_unilateral=False)
PUSHING = ViscoElasticContact(SOLE, Side.LEFT)
ACCELERATION = np.array([3.0, -2.0, 1.0, 4.0, -3.0, 2.0])

FULL = displaced((0.002, -0.001, -0.02), (0.02, -0.03, 0.01), (0.02, -0.03, -0.05, 0.2, -0.1, 0.3))
LARGE_ANGLE = displaced((0.01, 0.02, -0.03), (0.5, -0.4, 0.9), (0.1, 0.2, -0.3, 1.0, -2.0, 1.5))
HALF = displaced((0.002, -0.001, -0.001), (0.05, -0.08, 0.02), (0.02, -0.03, -0.01, 0.02, -0.1, 0.3))
CORNER = displaced((0.001, 0.002, 0.006), (0.1, 0.08, 0.0), (0.01, 0.02, -0.05, 0.1, 0.1, 0.0))
HEEL = displaced((0.0, 0.0, -0.001), (0.0, -0.05, 0.0))


@pytest.mark.parametrize("motion", [FULL, LARGE_ANGLE, HALF])
@pytest.mark.parametrize("side", list(Side))
def test_the_closed_form_is_the_sum_over_the_whole_sole(motion, side):
    wrench = ViscoElasticContact(SOLE, side, is_unilateral=False).wrench(motion, contact())
    summed = summed_wrench(motion, contact(), side, unilateral=False)
    np.testing.assert_allclose(wrench, summed, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("motion", [FULL, LARGE_ANGLE, HALF, CORNER, HEEL])
@pytest.mark.parametrize("side", list(Side))
def test_the_unilateral_wrench_is_the_sum_over_the_loaded_part(motion, side):
    wrench = ViscoElasticContact(SOLE, side).wrench(motion, contact())
    summed = summed_wrench(motion, contact(), side)
    np.testing.assert_allclose(wrench, summed, rtol=1e-10, atol=1e-10)


def test_the_partly_loaded_soles_of_these_tests_are_partly_loaded():
    motions = (FULL, LARGE_ANGLE, HALF, HEEL, CORNER)
    shares = [PUSHING.loaded_moments(motion, contact()).area / AREA for motion in motions]
    np.testing.assert_allclose(shares, [1.0, 0.66, 0.40, 0.47, 0.08], atol=0.01)


def test_the_thesis_closed_form_about_the_centre_is_the_same_wrench():
    length, width, (k, b) = 0.16, 0.072, (1e6, 1e4)
    centre_in_sole = np.array([0.0265, 0.005, SOLE.z])
    lever = LARGE_ANGLE.rotation @ centre_in_sole
    velocity, omega = LARGE_ANGLE.twist[:3] + np.cross(LARGE_ANGLE.twist[3:], lever), LARGE_ANGLE.twist[3:]
    rest = contact().rest_position + REST_ROTATION @ centre_in_sole
    projection = abs(LARGE_ANGLE.rotation[2, 2])
    force = AREA * projection * (k * (rest - LARGE_ANGLE.position - lever) - b * velocity)
    moment = np.zeros(3)
    for size, axis in ((length, 0), (width, 1)):
        arm = LARGE_ANGLE.rotation[:, axis]
        moment += size**2 * np.cross(arm, b * np.cross(arm, omega) + k * REST_ROTATION[:, axis])
    moment *= AREA / 12 * projection
    expected = np.concatenate((force, moment + np.cross(lever, force)))
    np.testing.assert_allclose(STICKING.wrench(LARGE_ANGLE, contact()), expected, rtol=1e-12)


def test_a_flat_sunk_sole_carries_its_area_times_depth_times_stiffness():
    wrench = PUSHING.wrench(displaced((0.0, 0.0, -0.01)), contact())
    load = AREA * 1e6 * 0.01
    centre = REST_ROTATION @ [0.0265, 0.005, 0.0]
    np.testing.assert_allclose(wrench, [0, 0, load, centre[1] * load, -centre[0] * load, 0], atol=1e-10)


def test_damping_opposes_each_velocity():
    for axis in range(6):
        twist = np.zeros(6)
        twist[axis] = 0.1
        rest, moving = displaced((0, 0, -0.02)), displaced((0, 0, -0.02), twist=twist)
        change = PUSHING.wrench(moving, contact()) - PUSHING.wrench(rest, contact())
        assert change[axis] < -1e-3


@pytest.mark.parametrize("lift", [1e-6, 0.1])
def test_ground_below_a_sole_in_the_air_does_nothing(lift):
    motion = displaced((0.0, 0.0, lift))
    np.testing.assert_array_equal(PUSHING.wrench(motion, contact()), np.zeros(6))
    rate = PUSHING.rate(motion, contact())
    np.testing.assert_array_equal(rate.drift, np.zeros(6))
    np.testing.assert_array_equal(rate.gain, np.zeros((6, 6)))


def test_ground_does_not_pull_back_a_sole_that_leaves_it_fast():
    leaving = displaced((0.0, 0.0, -0.001), twist=(0, 0, 0.2, 0, 0, 0))
    assert PUSHING.wrench(leaving, contact())[2] == 0.0
    assert STICKING.wrench(leaving, contact())[2] == pytest.approx(-AREA * 1e3)


@pytest.mark.parametrize("motion", [FULL, LARGE_ANGLE, HALF, CORNER])
@pytest.mark.parametrize("model", [STICKING, PUSHING])
def test_regressor_times_parameters_is_the_wrench(model, motion):
    for parameters in ((1e6, 1e4), (8e5, 300.0)):
        ground = contact(*parameters)
        np.testing.assert_allclose(
            model.regressor(motion, ground) @ parameters, model.wrench(motion, ground), rtol=1e-10, atol=1e-10
        )


def finite_difference(model, motion, ground, acceleration, step=2e-4):
    """Five points: the error falls with the fourth power of the step."""

    def wrench(time):
        return model.wrench(moved(motion, acceleration, time), ground)

    return (8 * (wrench(step) - wrench(-step)) - (wrench(2 * step) - wrench(-2 * step))) / (12 * step)


@pytest.mark.parametrize(
    ("model", "motion"),
    [(STICKING, FULL), (STICKING, HALF), *((PUSHING, motion) for motion in (FULL, LARGE_ANGLE, HALF, CORNER, HEEL))],
)
@pytest.mark.parametrize("acceleration", [np.zeros(6), ACCELERATION])
def test_the_rate_is_the_derivative_of_the_wrench(model, motion, acceleration):
    rate = model.rate(motion, contact())
    expected = finite_difference(model, motion, contact(), acceleration)
    error = np.abs(rate.drift + rate.gain @ acceleration - expected)
    assert error.max() <= 1e-8 * np.abs(expected).max()


@pytest.mark.parametrize("side", list(Side))
def test_the_moving_edge_of_a_sheared_sole_is_a_large_part_of_the_rate(side):
    """Half a sole, pulled aside by 2 mm: without what its edge sweeps, the rate is off by as much as it is large."""
    motion, ground = (
        displaced((0.002, 0.002, 3e-4), (0.01, 0.02, 0.0), (0.0, 0.0, -0.02, 0.0, 0.3, 0.0)),
        contact(damping=1e3),
    )
    model = ViscoElasticContact(SOLE, side)
    expected = finite_difference(model, motion, ground, ACCELERATION, step=1e-5)
    rate, equations = model.rate(motion, ground), model.equations(motion, ground)
    np.testing.assert_allclose(rate.drift + rate.gain @ ACCELERATION, expected, atol=1e-6 * np.abs(expected).max())
    equations._edge = []
    held = np.array(equations.drift(*parameters(ground))) + equations.gain(*parameters(ground)) @ ACCELERATION
    assert np.abs(held - expected)[:2].max() > 0.5 * np.abs(expected[:2]).max()
    assert held[2] == pytest.approx(expected[2], rel=1e-6), "the normal force has no such term"


def parameters(ground):
    return ground.stiffness, ground.damping


def test_an_acceleration_that_is_held_changes_the_wrench_as_the_discrete_rate_says():
    ground, period = contact(2e6, 1e3), 1e-3
    still = displaced((0.001, 0.0, -0.01), (0.01, 0.02, 0.0))
    rate = PUSHING.rate(still, ground, period)
    change = PUSHING.wrench(moved(still, ACCELERATION, period), ground) - PUSHING.wrench(still, ground)
    expected = period * (rate.drift + rate.gain @ ACCELERATION)
    np.testing.assert_allclose(change, expected, atol=2e-3 * np.abs(change).max())
    plain = period * PUSHING.rate(still, ground).gain @ ACCELERATION
    assert np.abs(change - plain).max() > 0.4 * np.abs(change).max()


@pytest.mark.parametrize("motion", [FULL, LARGE_ANGLE, CORNER])
def test_turning_the_world_turns_wrench_and_rate(motion):
    turn, shift = so3.rotation_z(1.1), np.array([3.0, -2.0, 0.5])
    both = np.kron(np.eye(2), turn)
    ground = contact()
    elsewhere = FootContact(
        True, turn @ ground.rest_position + shift, turn @ ground.rest_rotation, ground.stiffness, ground.damping
    )
    turned = SoleMotion(turn @ motion.position + shift, turn @ motion.rotation, both @ motion.twist)
    wrench = PUSHING.wrench(motion, ground)
    np.testing.assert_allclose(PUSHING.wrench(turned, elsewhere), both @ wrench, rtol=1e-9, atol=1e-9)
    rate, rate_there = PUSHING.rate(motion, ground), PUSHING.rate(turned, elsewhere)
    size = np.abs(rate.drift).max()
    np.testing.assert_allclose(rate_there.drift, both @ rate.drift, atol=1e-9 * size)
    np.testing.assert_allclose(rate_there.gain, both @ rate.gain @ both.T, atol=1e-9)


def test_the_right_sole_mirrors_the_left_one():
    mirror = np.diag([1.0, -1.0, 1.0])
    both = np.diag([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    ground, motion = contact(), HALF
    mirrored = SoleMotion(mirror @ motion.position, mirror @ motion.rotation @ mirror, both @ motion.twist)
    there = FootContact(
        True, mirror @ ground.rest_position, mirror @ ground.rest_rotation @ mirror, ground.stiffness, ground.damping
    )
    right = ViscoElasticContact(SOLE, Side.RIGHT)
    np.testing.assert_allclose(right.wrench(mirrored, there), both @ PUSHING.wrench(motion, ground), atol=1e-9)


def test_the_same_equations_take_symbols():
    k, b = cs.SX.sym("k"), cs.SX.sym("b")
    twist = cs.SX.sym("twist", 6)
    ground = contact()
    arguments = (FULL.position.tolist(), FULL.rotation.tolist(), cs.vertsplit(twist))
    rest = ground.rest_position.tolist(), ground.rest_rotation.tolist()
    equations = ViscoElasticEquations(rectangle_moments(SOLE, Side.LEFT), *arguments, *rest)
    rows = [cs.horzcat(*row) for row in equations.gain(k, b, 1e-3)]
    results = [cs.vertcat(*equations.wrench(k, b)), cs.vertcat(*equations.drift(k, b)), cs.vertcat(*rows)]
    wrench, drift, gain = cs.Function("contact", [twist, k, b], results)(FULL.twist, 1e6, 1e4)
    rate = STICKING.rate(FULL, ground, 1e-3)
    np.testing.assert_allclose(np.array(wrench)[:, 0], STICKING.wrench(FULL, ground), rtol=1e-12)
    np.testing.assert_allclose(np.array(drift)[:, 0], rate.drift, rtol=1e-12, atol=1e-7)
    np.testing.assert_allclose(np.array(gain), rate.gain, rtol=1e-12, atol=1e-12)
