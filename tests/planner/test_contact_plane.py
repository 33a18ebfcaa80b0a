"""A plan on a raised, tilted contact plane."""

from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import so3
from gradiva.contacts import ContactPlane, support_polygon
from gradiva.planner import FootPose, VelocityCommand, WalkingPlanner
from tests.walking.pendulum_in_numbers import wrenches_in_numbers

from .planning import config_of, sole_of, start_of, state_vector, times_of

PLANE = ContactPlane(0.3, (0.12, -0.2))
WALK = VelocityCommand(0.2, 0.02, 0.1, duration=4.0)


@pytest.fixture(scope="module")
def plans():
    """The same walk on level ground and on the plane."""
    config = config_of(pendulum={"com_arc": 0.0})
    planner, level = WalkingPlanner(config), start_of(config)
    tilted = replace(level, left_foot=level.left_foot.on(PLANE), right_foot=level.right_foot.on(PLANE), plane=None)
    return planner.plan(WALK, level), planner.plan(WALK, tilted)


def test_a_sole_on_a_plane_lies_in_it_with_its_heading():
    position, rotation = FootPose(0.4, -0.1, 0.7).on(PLANE).placement()
    np.testing.assert_allclose(position, [0.4, -0.1, 0.3 + 0.12 * 0.4 + 0.2 * 0.1], atol=1e-15)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(rotation[:, 2], PLANE.normal, atol=1e-15)
    assert so3.yaw(rotation) == pytest.approx(0.7, abs=1e-15)
    np.testing.assert_array_equal(FootPose(0.4, -0.1, 0.7).placement()[1], so3.rotation_z(0.7))


def test_the_feet_stand_on_the_plane_and_the_com_keeps_its_height_above_it(plans):
    _, tilted = plans
    height = config_of().com_height
    for time in times_of(tilted, 0.05):
        reference = tilted.at(time)
        x, y, z = reference.com_position
        assert z - PLANE.height_at(x, y) == pytest.approx(height, abs=1e-12)
        assert reference.com_velocity[2] == pytest.approx(np.dot(PLANE.slope, reference.com_velocity[:2]), abs=1e-12)
        foot = reference.foot(reference.stance_foot)
        x, y, z = foot.position
        assert z == pytest.approx(PLANE.height_at(x, y), abs=1e-12)
        np.testing.assert_allclose(foot.rotation[:, 2], PLANE.normal, atol=1e-12)


def test_the_zmp_is_on_the_support_polygon_turned_into_the_plane(plans):
    sole = sole_of("icub_v2_7")
    foot = plans[1].at(1.3).foot(plans[1].at(1.3).stance_foot)
    side = plans[1].at(1.3).stance_foot
    polygon = support_polygon([(*foot.position[:2], so3.yaw(foot.rotation), *PLANE.slope)], [side], sole)
    lifted = np.array([(x, y, PLANE.height_at(x, y)) for x, y in polygon.vertices])
    in_sole = (lifted - foot.position) @ foot.rotation
    np.testing.assert_allclose(in_sole[:, 2], 0.0, atol=1e-12)
    corners = {tuple(np.round(corner, 9)) for corner in sole.corners(side)}
    assert {tuple(np.round(point, 9)) for point in in_sole[:, :2]} == corners
    zmp = plans[1].at(1.3).dcm.zmp_position
    at_foot = (np.array([*zmp, PLANE.height_at(*zmp)]) - foot.position) @ foot.rotation
    offset = np.array(config_of().zmp_offset) * [1.0, side.sign]
    np.testing.assert_allclose(at_foot, [*offset, 0.0], atol=1e-9)


def test_the_horizontal_plan_is_that_of_level_ground_up_to_the_shorter_sole(plans):
    level, tilted = plans
    assert [step.touch_down for step in tilted.steps] == [step.touch_down for step in level.steps]
    for a, b in zip(level.steps, tilted.steps, strict=True):
        assert (a.footstep.pose.x, a.footstep.pose.y) == (b.footstep.pose.x, b.footstep.pose.y)
    np.testing.assert_allclose(tilted.at(2.0).dcm.position, level.at(2.0).dcm.position, atol=2e-3)


def test_the_swing_goes_from_plane_to_plane_and_a_replan_stays_on_it(plans):
    config = config_of()
    _, tilted = plans
    again = WalkingPlanner(config).replan(tilted, WALK, 2.0)
    for plan in (tilted, again):
        for step in plan.steps:
            foot = plan.at(step.touch_down).foot(step.footstep.side)
            assert foot.position[2] == pytest.approx(PLANE.height_at(*foot.position[:2]), abs=1e-12)
            np.testing.assert_allclose(foot.rotation[:, 2], PLANE.normal, atol=1e-12)
    merge = next(step.touch_down for step in tilted.steps if step.touch_down > 2.0)
    before, after = (state_vector(again.at(merge + k * 1e-8)) for k in (-1, 1))
    np.testing.assert_allclose(before, after, atol=2e-6)


@pytest.mark.parametrize("in_contact", [(True, True), (True, False)])
def test_foot_wrenches_act_through_the_zmp_on_the_plane(plans, in_contact):
    reference = plans[1].at(0.1)
    feet = tuple(
        replace(foot, in_contact=touches)
        for foot, touches in zip((reference.left_foot, reference.right_foot), in_contact, strict=True)
    )
    points = np.array([foot.position[:2] for foot in feet])
    zmp = points[0] if not in_contact[1] else 0.4 * points[0] + 0.6 * points[1] + [0.01, 0.02]
    force = np.array([20.0, -30.0, 300.0])
    wrenches = wrenches_in_numbers(force, zmp, feet, points, PLANE)
    moment = sum(np.cross(foot.position, wrench[:3]) + wrench[3:] for foot, wrench in zip(feet, wrenches, strict=True))
    through = np.array([*zmp, PLANE.height_at(*zmp)])
    np.testing.assert_allclose(sum(wrench[:3] for wrench in wrenches), force, atol=1e-12)
    np.testing.assert_allclose(moment, np.cross(through, force), atol=1e-9)


def test_the_preview_gives_the_predictive_law_the_soles_on_the_plane(plans):
    _, tilted = plans
    preview = tilted.preview(1.0, 0.05, 20)
    np.testing.assert_allclose(preview.left_foot_poses[:, 3:], np.tile(PLANE.slope, (20, 1)), atol=1e-12)
    level = plans[0].preview(1.0, 0.05, 20)
    np.testing.assert_array_equal(level.left_foot_poses[:, 3:], 0.0)


def test_a_vertical_plane_is_refused():
    with pytest.raises(ValueError, match="points upward"):
        ContactPlane.through(0.0, 0.0, 0.0, (1.0, 0.0, 0.0))


def test_both_feet_on_one_plane_span_it():
    state = start_of(config_of())
    state = replace(state, left_foot=state.left_foot.on(PLANE), right_foot=state.right_foot.on(PLANE))
    for x, y in ((0.0, 0.0), (1.0, -2.0)):
        assert state.contact_plane.height_at(x, y) == pytest.approx(PLANE.height_at(x, y), abs=1e-12)
