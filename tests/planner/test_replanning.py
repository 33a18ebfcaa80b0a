import math

import numpy as np
import pytest

from gradiva.common import PlanningError, Side
from gradiva.planner import GoalCommand, PathCommand, StopCommand, VelocityCommand, WalkingPlanner

from .planning import ROBOTS, config_of, corners, gap, middle_of_feet, sole_of, start_of, state_vector, times_of

WALK = VelocityCommand(0.2, duration=6.0)


@pytest.fixture
def config():
    return config_of(max_speed=0.55)


@pytest.fixture
def planner(config):
    return WalkingPlanner(config)


def merge_of(plan, time):
    return next((step.touch_down for step in plan.steps if step.touch_down > time), max(time, plan.end_time))


def random_command(rng):
    return [
        lambda: VelocityCommand(rng.uniform(-0.3, 0.4), rng.uniform(-0.1, 0.1), rng.uniform(-0.4, 0.4), 4.0),
        lambda: VelocityCommand(rng.uniform(0.1, 0.5), duration=3.0),
        lambda: GoalCommand(*rng.uniform(-1.5, 1.5, 2), yaw=rng.uniform(-3.0, 3.0)),
        lambda: PathCommand(rng.uniform(-1.0, 1.0, (2, 2)), 0.15),
        StopCommand,
    ][rng.integers(5)]()


@pytest.mark.parametrize("amplitude", [0.0, 0.01])
@pytest.mark.parametrize("seed", range(6))
def test_random_replans_change_nothing_before_the_merge_and_are_continuous_there(seed, amplitude):
    rng = np.random.default_rng(seed)
    config = config_of(max_speed=0.55, pendulum={"com_height_amplitude": amplitude})
    planner = WalkingPlanner(config)
    plan, time = planner.plan(WALK, start_of(config, yaw=rng.uniform(-3.0, 3.0))), 0.0
    refused = 0
    for _ in range(6):
        time += rng.uniform(0.05, 2.5)
        try:
            new = planner.replan(plan, random_command(rng), time)
        except PlanningError:
            refused += 1
            continue
        merge = merge_of(plan, time)
        for before in rng.uniform(0.0, merge, 20):
            np.testing.assert_allclose(state_vector(new.at(before)), state_vector(plan.at(before)), atol=1e-9)
        left, right = (state_vector(new.at(merge + k * 1e-8)) for k in (-1, 1))
        np.testing.assert_allclose(left, right, atol=2e-6)
        plan = new
    assert refused <= 1
    end = plan.at(plan.end_time + 1.0)
    assert end.is_double_support
    apart = np.linalg.norm(end.left_foot.position - end.right_foot.position)
    assert apart == pytest.approx(config.step_width, abs=1e-6)


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_zmp_stays_inside_and_the_feet_apart_through_replans(robot):
    config, sole, rng = config_of(robot), sole_of(robot), np.random.default_rng(11)
    planner = WalkingPlanner(config)
    plan = planner.plan(WALK, start_of(config))
    for time in (1.0, 2.3, 4.0, 6.1):
        plan = planner.replan(plan, random_command(rng), time)
    for time in times_of(plan, 0.05):
        reference = plan.at(time)
        soles = {side: corners(sole, side, reference.foot(side)) for side in Side}
        assert gap(soles[Side.LEFT], soles[Side.RIGHT]) > 0.01
        zmp = reference.dcm.zmp_position
        near = min(
            np.linalg.norm(np.maximum(0.0, np.abs(zmp - soles[side].mean(axis=0)) - np.ptp(soles[side], axis=0) / 2))
            for side in Side
            if reference.foot(side).in_contact
        )
        assert near < (0.1 if reference.is_double_support else 1e-9)


@pytest.mark.parametrize("time", [0.3, 1.2, 1.75, 3.0])
def test_a_stop_lands_the_swinging_foot_and_closes_with_the_next_step(config, planner, time):
    plan = planner.plan(VelocityCommand(0.34, duration=8.0), start_of(config))
    stopped = planner.replan(plan, StopCommand(), time)
    merge = merge_of(plan, time)
    assert [step.touch_down > merge + 1e-9 for step in stopped.steps].count(True) == 1
    end = stopped.at(stopped.end_time)
    np.testing.assert_allclose(
        end.left_foot.position - end.right_foot.position, [0.0, config.step_width, 0.0], atol=1e-9
    )
    assert not stopped.at(stopped.end_time + 1e-6).is_walking


def test_a_stop_while_closing_or_standing_changes_nothing(config, planner):
    plan = planner.plan(WALK, start_of(config))
    assert planner.replan(plan, StopCommand(), plan.steps[-1].lift_off) is plan
    assert planner.replan(plan, StopCommand(), plan.end_time + 3.0) is plan
    standing = planner.plan(StopCommand(), start_of(config))
    assert planner.replan(standing, StopCommand(), 1.0) is standing


def test_walking_on_while_the_feet_close_continues_with_the_other_foot(config, planner):
    plan = planner.replan(planner.plan(WALK, start_of(config)), StopCommand(), 2.0)
    closing = plan.steps[-1]
    again = planner.replan(plan, WALK, closing.lift_off + 0.1)
    following = again.steps[len(plan.steps)]
    assert following.footstep.side is closing.footstep.side.other
    assert config.pendulum.first_double_support >= following.lift_off - closing.touch_down > 0.1
    for time in np.linspace(closing.touch_down, following.lift_off, 20):
        assert abs(again.at(time).dcm.zmp_position[1]) < 0.5 * config.step_width + config.pendulum.zmp_tolerance


def test_after_the_last_touch_down_a_new_walk_starts_when_the_plan_stands(config, planner):
    plan = planner.plan(WALK, start_of(config))
    again = planner.replan(plan, WALK, plan.steps[-1].touch_down + 0.1)
    assert again.steps[len(plan.steps)].lift_off == pytest.approx(plan.end_time + config.pendulum.first_double_support)
    later = planner.replan(plan, WALK, plan.end_time + 5.0)
    assert later.steps[len(plan.steps)].lift_off == pytest.approx(
        plan.end_time + 5.0 + config.pendulum.first_double_support
    )
    assert not later.at(plan.end_time + 2.0).is_walking


def test_the_same_command_again_keeps_the_pace(config, planner):
    command = VelocityCommand(0.3, duration=20.0)
    plan = planner.plan(command, start_of(config))
    again = planner.replan(plan, command, 8.0)
    merge = merge_of(plan, 8.0)
    following = [step for step in again.steps if step.lift_off > merge][:4]
    old = [step for step in plan.steps if step.lift_off > merge][:4]
    for a, b in zip(following, old, strict=True):
        assert a.touch_down == pytest.approx(b.touch_down, abs=1e-9)
        assert a.footstep.pose.x == pytest.approx(b.footstep.pose.x, abs=1e-9)


def test_a_goal_given_on_the_way_is_reached(config, planner):
    plan = planner.plan(WALK, start_of(config))
    plan = planner.replan(plan, GoalCommand(0.5, 1.0, yaw=1.5), 2.5)
    end = plan.at(plan.end_time)
    assert math.dist(middle_of_feet(end), (0.5, 1.0)) < 0.03
    assert end.heading == pytest.approx(1.5, abs=1e-9)


def test_a_refused_command_leaves_the_plan_as_it_was(config, planner):
    plan = planner.plan(WALK, start_of(config))
    before = state_vector(plan.at(3.0))
    with pytest.raises(PlanningError, match="forward speed"):
        planner.replan(plan, VelocityCommand(5.0), 1.0)
    np.testing.assert_array_equal(state_vector(plan.at(3.0)), before)


def test_replanning_for_minutes_does_not_grow_the_plan(config, planner):
    plan, sizes = planner.plan(VelocityCommand(0.2, duration=5.0), start_of(config)), []
    for time in np.arange(1.0, 120.0, 1.7):
        plan = planner.replan(plan, VelocityCommand(0.2, duration=5.0), time)
        sizes.append(len(plan.phases))
    assert max(sizes[-20:]) <= max(sizes[20:40]) + 1
    assert 119.0 - 35.0 < plan.start_time < 119.0 - 29.0
    assert plan.at(119.0).is_walking
