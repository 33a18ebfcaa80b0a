"""References of layer 3: forces, momentum and rotations that follow from the plan and from layer 2."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, RobotPosture, Side, so3
from gradiva.contacts import ContactPlane
from gradiva.planner import VelocityCommand, WalkingPlanner
from gradiva.setup import load_setup
from gradiva.simplified_model import BalanceReference
from gradiva.walking import WalkingLayers
from gradiva.walking.body_references import BodyReferences
from tests.conftest import ROBOTS
from tests.walking.momentum_of_legs import momentum_of_legs
from tests.walking.pendulum_in_numbers import expected_wrenches

SOFT = {"walking.control": "torque", "simulation.ground.kind": "viscoelastic"}


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_shipped_legs_are_those_of_the_robot(robot):
    setup = load_setup(robot, SOFT)
    assert setup.walking.planner.leg_momentum.is_planned
    WalkingLayers(setup.robot, setup.walking)


def test_legs_of_another_robot_are_refused_with_the_right_ones():
    setup = load_setup("icub_v2_7", {**SOFT, "planner.leg_momentum.forward": 0.0072})
    with pytest.raises(
        ConfigError, match=r"does not fit the legs of this robot: .* forward = 0\.0051, lateral = 0\.0048"
    ):
        WalkingLayers(setup.robot, setup.walking)


MASS = 30.0
STEP = 1e-5  # [s]


@pytest.fixture(scope="module")
def plan():
    planner = WalkingPlanner(load_setup("icub_v2_7", {"planner.pendulum.com_arc": 0.0}).walking.planner)
    return planner.plan(VelocityCommand(0.2, angular=0.2, duration=4.0), planner.at_origin(0.0))


@pytest.fixture(scope="module")
def references():
    return references_of(inverse_frequency_offset=0.0)


class Legs:
    """Two legs of different weight, which do not move the ZMP."""

    shift_gain = 0.0

    def gains(self, side):
        return (2.0 if side is Side.LEFT else 3.0) * np.eye(3)


def references_of(inverse_frequency_offset):
    posture = RobotPosture(np.zeros(3), so3.rotation_z(np.pi), np.zeros(23))
    return BodyReferences(MASS, posture, np.eye(3), (0.03, -0.005), Legs(), inverse_frequency_offset)


def desired(reference, zmp_error=(0.0, 0.0)):
    zmp = reference.dcm.zmp_position + np.array(zmp_error)
    return BalanceReference(reference.com_position, reference.com_velocity, np.zeros(3), zmp)


def times_within_phases(plan):
    starts = [phase.start_time for phase in plan.phases]
    return [0.5 * (start + end) for start, end in pairwise(starts)]


def test_on_the_plan_the_com_reference_has_the_derivatives_of_its_path(plan, references):
    for time in times_within_phases(plan):
        before, here, after = (plan.at(time + k * STEP) for k in (-1, 0, 1))
        body = references.reference(here, desired(here))
        np.testing.assert_allclose(
            body.com_acceleration, (after.com_velocity - before.com_velocity) / (2 * STEP), atol=1e-6
        )
        accelerations = [references.reference(one, desired(one)).com_acceleration for one in (before, after)]
        np.testing.assert_allclose(body.com_jerk, (accelerations[1] - accelerations[0]) / (2 * STEP), atol=1e-4)


def test_a_slower_pendulum_weighs_what_the_robot_weighs():
    soft = ["walking.control=torque", "simulation.ground.kind=viscoelastic"]
    config = load_setup("icub_v2_7", soft).walking.planner
    planner = WalkingPlanner(config)
    here = planner.plan(VelocityCommand(0.1, duration=3.0), planner.at_origin(0.0)).at(2.0)
    body = references_of(config.inverse_frequency_offset).reference(here, desired(here))
    assert config.inverse_frequency_offset > 0.01
    assert body.left_foot_wrench[2] + body.right_foot_wrench[2] == pytest.approx(MASS * GRAVITY, rel=1e-9)


def test_the_legs_rate_of_angular_momentum_is_its_derivative(plan, references):
    for time in times_within_phases(plan):
        here = plan.at(time)
        before, after = (
            references.reference(plan.at(time + k * STEP), desired(plan.at(time + k * STEP))) for k in (-1, 1)
        )
        change = (after.angular_momentum - before.angular_momentum) / (2 * STEP)
        np.testing.assert_allclose(references.reference(here, desired(here)).angular_momentum_rate, change, atol=1e-3)


def test_the_desired_zmp_pushes_the_com_away(plan, references):
    here = plan.at(times_within_phases(plan)[3])
    push = references.reference(here, desired(here, (0.01, -0.02))).com_acceleration
    push = push - references.reference(here, desired(here)).com_acceleration
    square = here.dcm.natural_frequency * here.dcm.divergence_rate
    np.testing.assert_allclose(push, [-0.01 * square, 0.02 * square, 0.0], atol=1e-12)


def test_the_wrenches_of_the_feet_make_the_acceleration_and_act_at_the_zmp(plan, references):
    for time in times_within_phases(plan):
        here = plan.at(time)
        body = references.reference(here, desired(here, (0.01, -0.02)))
        total = np.zeros(6)
        for foot, wrench in ((body.left_foot, body.left_foot_wrench), (body.right_foot, body.right_foot_wrench)):
            total[:3] += wrench[:3]
            total[3:] += wrench[3:] + so3.cross(foot.position * [1.0, 1.0, 0.0], wrench[:3])
        np.testing.assert_allclose(total[:3], MASS * (body.com_acceleration + np.array([0.0, 0.0, GRAVITY])), atol=1e-9)
        np.testing.assert_allclose([-total[4] / total[2], total[3] / total[2]], body.zmp, atol=1e-9)


def test_the_trunk_turns_with_the_mean_of_the_feet(plan, references):
    turned = 0
    for time in times_within_phases(plan):
        here = plan.at(time - 0.03)
        before, after = (plan.at(time - 0.03 + k * STEP).heading for k in (-1, 1))
        body = references.reference(here, desired(here))
        np.testing.assert_allclose(body.trunk_angular_velocity, [0.0, 0.0, (after - before) / (2 * STEP)], atol=1e-6)
        mean = 0.5 * (here.left_foot.acceleration + here.right_foot.acceleration)
        np.testing.assert_array_equal(body.trunk_angular_acceleration, [0.0, 0.0, mean[5]])
        turned += abs(mean[5]) > 1e-3
    assert turned > 3


@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_the_wrenches_are_fractions_of_the_force_through_shifted_points(plan, references, slope):
    lean = so3.exp(np.array([0.0, -slope, 0.0]))
    for time in times_within_phases(plan):
        here = plan.at(time)
        feet = [replace(foot, rotation=lean @ foot.rotation) for foot in (here.left_foot, here.right_foot)]
        here = replace(here, left_foot=feet[0], right_foot=feet[1])
        body = references.reference(here, desired(here, (0.01, -0.02)))
        zmp = here.dcm.zmp_position + np.array([0.01, -0.02])
        points = [
            (foot.position + foot.rotation @ [0.03, side.sign * -0.005, 0.0])[:2]
            for foot, side in zip(feet, Side, strict=True)
        ]
        force = MASS * (body.com_acceleration + np.array([0.0, 0.0, GRAVITY]))
        plane = ContactPlane.of_sole(here.foot(here.stance_foot))
        expected = expected_wrenches(force, zmp, feet, np.array(points), plane)
        np.testing.assert_allclose(body.left_foot_wrench, expected[0], atol=1e-9)
        np.testing.assert_allclose(body.right_foot_wrench, expected[1], atol=1e-9)


def test_the_legs_momentum_and_the_shift_of_the_zmp_are_those_of_whole_body(plan):
    setup = load_setup("icub_v2_7")
    layers = WalkingLayers(setup.robot, setup.walking)
    for time in times_within_phases(plan):
        here = plan.at(time)
        asked, legs = desired(here), layers.swing_momentum
        body = layers.body_references.reference(here, asked)
        feet = here.left_foot, here.right_foot
        momentum = momentum_of_legs(legs, *(foot.twist for foot in feet), asked.com_velocity, here.heading)
        rate = momentum_of_legs(legs, *(foot.acceleration for foot in feet), body.com_acceleration, here.heading)
        np.testing.assert_allclose(body.angular_momentum, momentum, atol=1e-13)
        np.testing.assert_allclose(body.angular_momentum_rate, rate, atol=1e-12)
        np.testing.assert_allclose(body.zmp - asked.zmp_position, legs.zmp_shift(here), atol=1e-15)


def test_wrenches_and_acceleration_of_layer_2_pass_to_the_body(plan, references):
    here, wrenches = plan.at(1.0), (np.full(6, 1.0), np.full(6, 2.0))
    asked = replace(desired(here), com_acceleration=np.array([0.1, 0.2, 0.3]), foot_wrenches=wrenches)
    body = references.reference(here, asked)
    np.testing.assert_array_equal(body.com_acceleration, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(body.left_foot_wrench, wrenches[0])
    np.testing.assert_array_equal(body.right_foot_wrench, wrenches[1])


def test_wrenches_of_another_shape_are_refused(plan):
    with pytest.raises(ValueError, match=r"expected an array of shape \(6,\), got \(3,\)"):
        replace(desired(plan.at(1.0)), foot_wrenches=(np.zeros(6), np.zeros(3)))
