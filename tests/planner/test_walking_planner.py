import dataclasses
import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from gradiva.common import ConfigError, PlanningError, Side, so3
from gradiva.planner import (
    FootPose,
    GoalCommand,
    PathCommand,
    PlanningState,
    VelocityCommand,
    WalkingPlanner,
    standing_time,
)

from .planning import (
    ROBOTS,
    config_of,
    corners,
    gap,
    middle_of_feet,
    sole_of,
    start_of,
    state_vector,
    times_of,
    yaw_of,
)

WALKS = [
    VelocityCommand(0.3, duration=5.0),
    VelocityCommand(-0.25, 0.0, 0.3, duration=5.0),
    VelocityCommand(0.0, 0.1, duration=5.0),
    VelocityCommand(0.0, -0.1, 0.5, duration=5.0),
    VelocityCommand(0.0, 0.0, -0.5, duration=5.0),
    VelocityCommand(0.25, 0.05, -0.3, duration=6.0),
    GoalCommand(0.6, -0.8, yaw=1.0),
    PathCommand(np.array([[0.5, 0.0], [0.5, 0.6]]), 0.2),
]


@pytest.fixture
def config():
    return config_of()


@pytest.fixture
def planner(config):
    return WalkingPlanner(config)


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_shipped_configurations_load(robot):
    assert config_of(robot).natural_frequency == pytest.approx(math.sqrt(9.81 / config_of(robot).com_height))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("swing_height", 0.0),
        ("swing_height", 0.5),
        ("adapted_swing_height", 0.5),
        ("landing_height", -0.2),
        ("landing_height", 0.1),
        ("apex_fraction", 0.95),
        ("min_step_duration", 1.0),
        ("pendulum.com_height_amplitude", 0.1),
        ("swing_profile", "minimum_snap"),
        ("footsteps.double_support_ratio", 2.5),
        ("max_step_turn", 1.6),
        ("footsteps.turning_lever", 0.0),
        ("footsteps.ramp_steps", -1.0),
        ("commands.cruise_speed", 0.9),
        ("step_width", 0.05),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(key, value):
    table, _, name = key.rpartition(".")
    with pytest.raises(ConfigError, match=name):
        config_of(**({table: {name: value}} if table else {name: value}))


def test_standing_stands_for_ever(config, planner):
    plan = planner.standing(start_of(config, 1.0, 2.0, 0.5, time=3.0))
    for time in (3.0, 3.5, 1e4):
        reference = plan.at(time)
        np.testing.assert_allclose(reference.com_velocity, 0.0, atol=1e-12)
        np.testing.assert_allclose(reference.dcm.zmp_position, reference.com_position[:2], atol=1e-12)
        assert reference.is_double_support
        assert not reference.is_walking
        assert reference.heading == 0.5
    assert plan.end_time == plan.start_time == 3.0


def test_standing_off_the_middle_goes_there(config, planner):
    start = start_of(config)
    off = dataclasses.replace(start, dcm_position=[0.04, 0.02], com_position=[0.04, 0.01, 0.53])
    plan = planner.standing(off)
    np.testing.assert_allclose(plan.at(0.0).dcm.position, [0.04, 0.02])
    np.testing.assert_allclose(plan.at(9.0).dcm.position, [config.zmp_offset[0], 0.0], atol=1e-12)


@pytest.mark.parametrize(("way", "duration"), [(0.01, 0.8), (0.04, None), (0.1, None)])
def test_standing_far_off_the_middle_goes_there_by_so_slow_a_way_that_the_zmp_hardly_goes_the_other_one(
    config, planner, way, duration
):
    middle = np.array([config.zmp_offset[0], 0.0])
    off = dataclasses.replace(start_of(config), dcm_position=middle - (0.0, way), com_position=[0.04, 0.01, 0.53])
    plan, end = planner.standing(off), standing_time(off, config)
    assert duration is None or end == duration
    samples = [plan.at(time).dcm for time in np.linspace(0.0, end, 200)]
    zmp = np.array([dcm.position - dcm.velocity / dcm.natural_frequency for dcm in samples]) - middle
    overshoot = -way - zmp[:, 1].min()
    assert overshoot < 1.1 * config.pendulum.zmp_tolerance / 3.0
    assert duration is not None or overshoot > 0.6 * config.pendulum.zmp_tolerance / 3.0
    np.testing.assert_allclose(plan.at(end).dcm.position, middle, atol=1e-12)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("command", WALKS)
def test_the_soles_never_touch_and_the_zmp_stays_in_the_support_polygon(robot, command):
    config, sole = config_of(robot), sole_of(robot)
    plan = WalkingPlanner(config).plan(command, start_of(config))
    for time in times_of(plan, 0.06, after=0.0):
        reference = plan.at(time)
        soles = {side: corners(sole, side, reference.foot(side)) for side in Side}
        assert gap(soles[Side.LEFT], soles[Side.RIGHT]) > 0.005
        loaded = np.vstack([soles[side] for side in Side if reference.foot(side).in_contact])
        inside = ConvexHull(loaded).equations @ np.append(reference.dcm.zmp_position, 1.0)
        assert inside.max() < -0.02


@pytest.mark.parametrize("command", WALKS)
def test_a_walk_is_continuous_and_ends_side_by_side(config, planner, command):
    plan = planner.plan(command, start_of(config))
    for phase in plan.phases[1:]:
        before, after = (state_vector(plan.at(phase.start_time + k * 1e-7)) for k in (-1, 1))
        np.testing.assert_allclose(before, after, atol=1e-5)
    end = plan.at(plan.end_time)
    apart = end.left_foot.position - end.right_foot.position
    np.testing.assert_allclose(end.right_foot.rotation.T @ apart, [0.0, config.step_width, 0.0], atol=1e-9)
    assert yaw_of(end.left_foot) == pytest.approx(yaw_of(end.right_foot), abs=1e-9)


def test_the_robot_arrives_at_its_goal_with_its_heading(config, planner):
    plan = planner.plan(GoalCommand(-0.7, 0.9, yaw=2.0), start_of(config))
    end = plan.at(plan.end_time)
    assert math.dist(middle_of_feet(end), (-0.7, 0.9)) < 0.03
    assert yaw_of(end.left_foot) == pytest.approx(2.0, abs=1e-9)


def test_a_goal_underfoot_needs_no_step(config, planner):
    plan = planner.plan(GoalCommand(0.0, 0.0), start_of(config))
    assert plan.footsteps == ()
    assert not plan.at(5.0).is_walking


def test_walking_begins_with_the_weight_shift_and_ends_with_the_last_one(config, planner):
    plan = planner.plan(VelocityCommand(0.2, duration=3.0), start_of(config, time=1.0))
    assert plan.at(1.0).is_walking
    assert plan.at(1.0).is_double_support
    assert plan.steps[0].lift_off == pytest.approx(1.0 + config.pendulum.first_double_support)
    assert plan.at(plan.end_time - 1e-6).is_walking
    assert not plan.at(plan.end_time + 1e-6).is_walking
    assert plan.end_time == pytest.approx(plan.steps[-1].touch_down + config.pendulum.last_double_support)


def test_the_stance_foot_changes_when_the_other_one_lifts(config, planner):
    plan = planner.plan(VelocityCommand(0.2, duration=4.0), start_of(config))
    assert plan.at(0.0).stance_foot is Side.RIGHT
    for one, following in zip(plan.steps[:-1], plan.steps[1:], strict=True):
        stance = one.footstep.side.other
        assert plan.at(one.lift_off + 1e-6).stance_foot is stance
        assert plan.at(following.lift_off - 1e-6).stance_foot is stance
        assert plan.at(following.lift_off + 1e-6).stance_foot is stance.other


def test_the_heading_is_the_mean_yaw_of_the_feet_over_several_turns(config, planner):
    plan = planner.plan(VelocityCommand(0.0, 0.0, 0.5, duration=20.0), start_of(config, yaw=3.0))
    last = 3.0
    for time in times_of(plan, 0.05):
        reference = plan.at(time)
        mean = so3.yaw(reference.left_foot.rotation + reference.right_foot.rotation)
        assert so3.wrap_angle(reference.heading - mean) == pytest.approx(0.0, abs=1e-9)
        assert abs(reference.heading - last) < 0.1
        last = reference.heading
    assert last > 3.0 + 2.0 * math.pi


@pytest.mark.parametrize("amplitude", [0.0, 0.01])
def test_moving_and_turning_the_world_moves_and_turns_the_plan(amplitude):
    planner = WalkingPlanner(config_of(pendulum={"com_height_amplitude": amplitude}))
    command = VelocityCommand(0.2, 0.05, 0.2, duration=4.0)
    plain = planner.plan(command, start_of(planner.config))
    moved = planner.plan(command, start_of(planner.config, 4.0, -2.5, 2.2, time=10.0))
    R, shift = so3.rotation_z(2.2), np.array([4.0, -2.5, 0.0])
    for time in times_of(plain, 0.13):
        a, b = plain.at(time), moved.at(time + 10.0)
        np.testing.assert_allclose(b.com_position, R @ a.com_position + shift, atol=1e-9)
        np.testing.assert_allclose(b.dcm.zmp_position, R[:2, :2] @ a.dcm.zmp_position + shift[:2], atol=1e-9)
        np.testing.assert_allclose(b.left_foot.position, R @ a.left_foot.position + shift, atol=1e-9)
        assert b.heading == pytest.approx(a.heading + 2.2, abs=1e-9)


def test_the_com_follows_the_arc_of_a_leg_that_keeps_its_length(config):
    """A leg of length h with half a step s ahead and behind it is lower by s²/(8 h); a foot swings over 2 s."""
    arc, flat = (
        WalkingPlanner(made).plan(VelocityCommand(0.3, duration=5.0), start_of(made))
        for made in (config_of(pendulum={"com_arc": 1.0}), config_of(pendulum={"com_arc": 0.0}))
    )
    swings = [phase.swing for phase in arc.phases if phase.swing is not None]
    for swing in swings:
        way = float(np.linalg.norm(swing.end[0] - swing.start[0]))
        for ratio, rise in ((0.0, 0.0), (0.5, 1.0), (1.0 - 1e-9, 0.0)):
            time = swing.start_time + ratio * (swing.end_time - swing.start_time)
            with_arc, without = arc.at(time), flat.at(time)
            x, y, height = without.com_position
            expected = height + rise * (0.5 * way) ** 2 / (8.0 * config.com_height)
            np.testing.assert_allclose(with_arc.com_position, [x, y, expected], atol=1e-9)
            np.testing.assert_allclose(with_arc.com_velocity, without.com_velocity, atol=1e-6)
            np.testing.assert_array_equal(with_arc.dcm.position, without.dcm.position)
    middle, step = 0.6 * swings[3].start_time + 0.4 * swings[3].end_time, 1e-5
    rate = (arc.at(middle + step).com_position - arc.at(middle - step).com_position) / (2.0 * step)
    np.testing.assert_allclose(arc.at(middle).com_velocity, rate, atol=1e-6)
    assert max(arc.at(time).com_position[2] for time in times_of(arc)) == pytest.approx(
        config.com_height + 0.0059, abs=2e-4
    )


def test_the_preview_obeys_the_dcm_dynamics_and_agrees_with_the_plan(config, planner):
    plan = planner.plan(VelocityCommand(0.3, 0.0, 0.2, duration=5.0), start_of(config))
    preview = plan.preview(2.03, 0.02, 100)
    growth = np.exp(0.02 * preview.divergence_rates)[:, None]
    following = growth * preview.dcm_positions[:-1] + (1.0 - growth) * preview.zmp_positions
    np.testing.assert_allclose(following, preview.dcm_positions[1:], atol=1e-12)
    for k in range(0, 100, 7):
        reference = plan.at(2.03 + 0.02 * k)
        np.testing.assert_allclose(preview.dcm_positions[k], reference.dcm.position, atol=1e-12)
        middle = plan.at(2.04 + 0.02 * k).dcm.zmp_position  # of the sample, over which the preview holds its ZMP
        np.testing.assert_allclose(preview.zmp_positions[k], middle, atol=0.005)
        assert preview.left_in_contact[k] == reference.left_foot.in_contact
        assert preview.right_in_contact[k] == reference.right_foot.in_contact
        if reference.left_foot.in_contact:
            np.testing.assert_allclose(preview.left_foot_poses[k, :2], reference.left_foot.position[:2])
            assert preview.left_foot_poses[k, 2] == pytest.approx(yaw_of(reference.left_foot))


def test_before_its_start_a_plan_holds_its_start(config, planner):
    plan = planner.plan(VelocityCommand(0.2, duration=3.0), start_of(config, time=5.0))
    np.testing.assert_array_equal(plan.at(0.0).com_position, plan.at(5.0).com_position)


def test_a_landing_height_is_kept_until_the_next_lift_off():
    config = config_of(landing_height=0.004)
    plan = WalkingPlanner(config).plan(VelocityCommand(0.2, duration=4.0), start_of(config))
    for step, following in zip(plan.steps[:-2], plan.steps[2:], strict=True):
        side = step.footstep.side
        for time in (step.touch_down, following.lift_off - 1e-9, following.lift_off + 1e-9):
            assert plan.at(time).foot(side).position[2] == pytest.approx(0.004, abs=1e-9)


def test_a_start_that_is_not_finite_is_refused(config):
    start = start_of(config)
    with pytest.raises(PlanningError, match="not finite"):
        dataclasses.replace(start, dcm_position=[math.nan, 0.0])
    with pytest.raises(PlanningError, match="not finite"):
        PlanningState.at_rest(0.0, FootPose(math.inf, 0.0, 0.0), start.right_foot, start.com_position)


def test_the_yaw_of_the_right_foot_is_counted_near_the_left_one(config):
    start = start_of(config)
    turned = dataclasses.replace(start, left_foot=FootPose(0, 0.08, 3.1), right_foot=FootPose(0, -0.08, -3.1))
    assert turned.right_foot.yaw == pytest.approx(2.0 * math.pi - 3.1)
