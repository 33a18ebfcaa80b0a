"""""" ""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, RobotPosture, so3
from gradiva.planner import VelocityCommand, WalkingPlanner
from gradiva.setup import load_setup
from gradiva.simplified_model import BalanceReference
from gradiva.walking import WalkingLayers
from gradiva.walking.body_references import BodyReferences
from tests.conftest import ROBOTS

SOFT = {"walking.control": "torque", "simulation.ground.kind": "viscoelastic"}


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_shipped_legs_are_those_of_the_robot(robot):
    setup = load_setup(robot, SOFT)
    assert setup.walking.planner.leg_momentum.is_planned
    WalkingLayers(setup.robot, setup.walking)


def test_legs_of_another_robot_are_refused_with_the_right_ones():
    setup = load_setup("icub_v2_7", {**SOFT, "planner.leg_momentum.forward": 0.0072})
    with pytest.raises(
        ConfigError, match=r"does not fit the legs of this robot: .* forward = 0\.0051, lateral = 0\.0047"
    ):
        WalkingLayers(setup.robot, setup.walking)


MASS = 30.0
STEP = 1e-5  # [s]


@pytest.fixture(scope="module")
def plan():
    planner = WalkingPlanner(load_setup("icub_v2_7").walking.planner)
    return planner.walk(VelocityCommand(0.2, angular=0.2, duration=4.0), planner.at_origin(0.0))


@pytest.fixture(scope="module")
def references():
    return references_of(inverse_frequency_offset=0.0)


def references_of(inverse_frequency_offset):
    posture = RobotPosture(np.zeros(3), so3.rotation_z(np.pi), np.zeros(23))
    legs = SimpleNamespace(zmp_shift=no_shift, momentum=momentum)
    return BodyReferences(MASS, posture, np.eye(3), (0.03, -0.005), legs, inverse_frequency_offset)


def no_shift(plan):
    return np.zeros(2)


def momentum(left, right, com, heading):
    """Of two legs of different weight."""
    return 2.0 * left[:3] + 3.0 * right[:3] - 5.0 * com


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
    here = planner.walk(VelocityCommand(0.1, duration=3.0), planner.at_origin(0.0)).at(2.0)
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
        here = plan.at(time - 0.05)
        before, after = (plan.at(time - 0.05 + k * STEP).heading for k in (-1, 1))
        body = references.reference(here, desired(here))
        np.testing.assert_allclose(body.trunk_angular_velocity, [0.0, 0.0, (after - before) / (2 * STEP)], atol=1e-6)
        mean = 0.5 * (here.left_foot.acceleration + here.right_foot.acceleration)
        np.testing.assert_array_equal(body.trunk_angular_acceleration, [0.0, 0.0, mean[5]])
        turned += abs(mean[5]) > 1e-3
    assert turned > 3
