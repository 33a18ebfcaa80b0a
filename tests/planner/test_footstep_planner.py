import math
import re
from itertools import pairwise

import numpy as np
import pytest

from gradiva.common import PlanningError, Side
from gradiva.planner import FootPose, VelocityCommand
from gradiva.planner.footstep_planner import FootstepPlanner
from gradiva.planner.unicycle import UnicycleState
from gradiva.planner.unicycle_planner import UnicyclePlanner

from .planning import ROBOTS, config_of


def steps_of(config, forward=0.0, lateral=0.0, angular=0.0, duration=10.0):
    path = UnicyclePlanner(config).path(
        VelocityCommand(forward, lateral, angular, duration), UnicycleState(0.0, 0.0, 0.0)
    )
    planner = FootstepPlanner(config)
    feet = [FootPose(0.0, 0.0, 0.0).beside(side, 0.5 * config.step_width) for side in Side]
    return planner.plan(path, *feet, planner.first_side(path))


def in_stance(step, stance):
    dx, dy = step.pose.x - stance.x, step.pose.y - stance.y
    c, s = math.cos(stance.yaw), math.sin(stance.yaw)
    return c * dx + s * dy, c * dy - s * dx


@pytest.mark.parametrize(("speed", "duration"), [(0.05, 0.9), (0.19, 0.66), (0.34, 0.50), (0.55, 0.50)])
def test_the_step_duration_balances_time_and_length(speed, duration):
    steps = steps_of(config_of(max_speed=0.55), forward=speed)
    assert steps[len(steps) // 2].duration == pytest.approx(duration, abs=0.011)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("speed", [-0.3, 0.1, 0.19, 0.28, "top"])
def test_the_steady_mean_speed_is_the_commanded_one(robot, speed):
    config = config_of(robot)
    speed = config.max_speed if speed == "top" else speed
    steps = steps_of(config, forward=speed, duration=20.0)
    first, last = len(steps) // 3, len(steps) // 3 + 2 * (len(steps) // 6)
    way = steps[last].pose.x - steps[first].pose.x
    assert way / sum(step.duration for step in steps[first + 1 : last + 1]) == pytest.approx(speed, rel=0.002)


@pytest.mark.parametrize(
    "velocity",
    [(0.3, 0.0, 0.0), (-0.2, 0.0, 0.2), (0.0, 0.1, 0.0), (0.0, -0.1, 0.0), (0.0, 0.0, 0.5), (0.2, 0.05, -0.3)],
)
@pytest.mark.parametrize("robot", ROBOTS)
def test_every_step_keeps_the_constraints(robot, velocity):
    config = config_of(robot)
    middle = FootPose(0.0, 0.0, 0.0)
    feet = {side: middle.beside(side, 0.5 * config.step_width) for side in Side}
    for step in steps_of(config, *velocity):
        stance = feet[step.side.other]
        assert config.min_step_duration - 1e-9 <= step.duration <= config.max_step_duration + 1e-9
        assert config.min_feet_distance - 1e-9 <= stance.distance(step.pose) <= config.max_feet_distance + 1e-9
        assert abs(step.pose.yaw - stance.yaw) <= config.max_step_turn + 1e-9
        mean = FootPose(stance.x, stance.y, 0.5 * (stance.yaw + step.pose.yaw))
        assert step.side.sign * in_stance(step, mean)[1] >= config.min_step_width - 1e-9
        feet[step.side] = step.pose


@pytest.mark.parametrize("velocity", [(0.3, 0.0, 0.0), (0.0, 0.12, 0.0), (0.1, 0.0, -0.4)])
def test_the_feet_alternate_and_end_side_by_side(velocity):
    config = config_of()
    steps = steps_of(config, *velocity)
    assert all(a.side is b.side.other for a, b in pairwise(steps))
    before, last = steps[-2:]
    assert last.pose.yaw == pytest.approx(before.pose.yaw)
    assert in_stance(last, before.pose) == pytest.approx((0.0, last.side.sign * config.step_width), abs=1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sideways_the_leading_foot_takes_both_ways_and_the_trailing_one_none(sign):
    config = config_of()
    steps = steps_of(config, lateral=sign * 0.1)
    leading = Side.LEFT if sign > 0 else Side.RIGHT
    assert steps[0].side is leading
    for before, step in pairwise(steps[3:8]):
        width = step.side.sign * in_stance(step, before.pose)[1]
        extra = 2.0 * 0.1 * step.duration if step.side is leading else 0.0
        assert width == pytest.approx(config.step_width + extra, abs=0.005)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_on_the_spot_the_leading_foot_turns_and_the_trailing_one_follows(sign):
    steps = steps_of(config_of(), angular=sign * 0.5)
    leading = Side.LEFT if sign > 0 else Side.RIGHT
    assert steps[0].side is leading
    for before, step in pairwise(steps[2:7]):
        turn = sign * (step.pose.yaw - before.pose.yaw)
        assert turn == pytest.approx(0.5 if step.side is leading else 0.0, abs=0.05)


def test_left_and_right_are_mirror_images():
    config = config_of()
    one, other = steps_of(config, 0.2, 0.05, 0.2), steps_of(config, 0.2, -0.05, -0.2)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a.side is b.side.other
        assert (a.pose.x, a.pose.y, a.pose.yaw) == pytest.approx((b.pose.x, -b.pose.y, -b.pose.yaw), abs=1e-9)


def test_zero_velocity_steps_in_place():
    steps = steps_of(config_of(), duration=4.0)
    assert len(steps) == 5
    assert all(step.pose.x == 0.0 and abs(step.pose.y) == pytest.approx(0.08) for step in steps)


@pytest.mark.parametrize(
    ("change", "velocity", "message"),
    [
        (
            {"max_feet_distance": 0.2},
            (0.3, 0.0, 0.0),
            r"step \d+ .* too long a step, the feet 0\.\d+ m apart, planner.max_feet_distance=0.200 m",
        ),
        ({"max_step_turn": 0.05}, (0.0, 0.0, 0.5), r"step \d+ .*max_step_turn=0.050 rad, the best gives 0\.\d+ rad"),
    ],
)
def test_the_constraint_that_cannot_be_kept_is_named(change, velocity, message):
    with pytest.raises(PlanningError, match=message):
        steps_of(config_of(**change), *velocity)


def test_the_highest_speed_that_is_named_can_be_planned_and_the_next_cannot():
    config = config_of(max_speed=2.0)
    with pytest.raises(PlanningError, match="too long a step") as caught:
        steps_of(config, 1.5)
    speed = float(re.search(r"ahead (\d\.\d\d) m/s", str(caught.value))[1])
    steps_of(config, speed)
    with pytest.raises(PlanningError, match="too long a step"):
        steps_of(config, speed + 0.01)


def test_the_config_refuses_time_limits_without_a_sample_between_them():
    with pytest.raises(PlanningError, match=r"no multiple of 0\.02 s"):
        FootstepPlanner(config_of(min_step_duration=0.61, max_step_duration=0.615))


def test_a_narrow_stance_is_widened_by_the_first_step():
    config = config_of()
    path = UnicyclePlanner(config).path(VelocityCommand(0.1, duration=3.0), UnicycleState(0.0, 0.0, 0.0))
    steps = FootstepPlanner(config).plan(path, FootPose(0, 0.05, 0), FootPose(0, -0.05, 0), Side.LEFT)
    assert steps[0].pose.y == pytest.approx(0.08)
    np.testing.assert_allclose([abs(step.pose.y) for step in steps], 0.08, atol=1e-9)


@pytest.mark.parametrize("rest", [0.5, 0.7, 0.9])  # [s]: the shortest and the longest step, and one between them
def test_a_path_that_ends_within_a_step_is_ended_by_it(rest):
    config = config_of()
    assert (config.min_step_duration, config.max_step_duration) == (0.5, 0.9)
    durations = [step.duration for step in steps_of(config, forward=0.1, duration=1.8 + rest)]
    assert durations == pytest.approx([0.9, 0.9, rest, 0.9])
