import numpy as np
import pytest

from gradiva.common import PlanarPose, PlanningError, Side
from gradiva.planner import GoalCommand, PathCommand, StopCommand, VelocityCommand, WalkingPlanner
from gradiva.walking.plan_follower import PlanFollower, foot_pose
from tests.walking.conftest import setup_of


@pytest.fixture
def follower():
    follower = PlanFollower(WalkingPlanner(setup_of("icub_v2_7").walking.planner), replan_margin=3.0)
    follower.stand(0.0)
    return follower


def end_of(follower):
    reference = follower.plan.at(follower.plan.end_time + 1.0)
    left, right = foot_pose(reference, Side.LEFT), foot_pose(reference, Side.RIGHT)
    return np.array([0.5 * (left.x + right.x), 0.5 * (left.y + right.y)])


def test_a_standing_robot_is_not_moving_and_has_nothing_to_complete(follower):
    assert not follower.is_moving(1.0)
    assert not follower.update(1.0, PlanarPose())
    plan = follower.plan
    follower.close_feet(1.0)
    assert follower.plan is plan


def test_a_plan_is_completed_once(follower):
    follower.follow(VelocityCommand(0.1, duration=2.0), 1.0, PlanarPose())
    assert follower.is_moving(1.5)
    assert not follower.update(2.0, PlanarPose())
    end = follower.plan.end_time
    assert follower.update(end + 0.01, PlanarPose())
    assert not follower.update(end + 0.02, PlanarPose())
    assert not follower.is_moving(end + 0.02)


def test_goals_are_told_by_odometry(follower):
    origin = PlanarPose(0.1, -0.05, 0.2)
    follower.follow(GoalCommand(0.6, 0.3), 1.0, origin)
    end = origin @ PlanarPose(*end_of(follower))
    np.testing.assert_allclose([end.x, end.y], [0.6, 0.3], atol=0.05)


def test_paths_are_told_by_odometry_too(follower):
    origin = PlanarPose(0.05, 0.0, 0.0)
    follower.follow(PathCommand(np.array([[0.5, 0.0], [1.0, 0.0]]), 0.15), 1.0, origin)
    np.testing.assert_allclose(end_of(follower), [0.95, 0.0], atol=0.05)


def test_a_command_without_an_end_is_planned_on(follower):
    follower.follow(VelocityCommand(0.1), 0.0, PlanarPose())
    first = follower.plan.end_time
    assert not follower.update(first - 2.0, PlanarPose())
    assert follower.plan.end_time > first + 10.0


def test_closing_the_feet_ends_soon(follower):
    follower.follow(VelocityCommand(0.2), 0.0, PlanarPose())
    follower.close_feet(3.0)
    assert follower.plan.end_time < 3.0 + 3.5


def test_what_cannot_be_planned_leaves_the_plan(follower):
    plan = follower.plan
    with pytest.raises(PlanningError):
        follower.follow(VelocityCommand(9.0), 1.0, PlanarPose())
    assert follower.plan is plan
    follower.follow(StopCommand(), 1.0, PlanarPose())


def test_the_way_to_a_goal_is_corrected_by_odometry(follower):
    follower.follow(GoalCommand(1.5, 0.0), 0.0, PlanarPose())
    first = follower.plan
    drifted = PlanarPose(0.04, 0.02, 0.01)
    follower.update(1.0, drifted)
    assert follower.plan is first, "once in a stride is enough"
    follower.update(4.0, drifted)
    assert follower.plan is not first
    end = drifted @ PlanarPose(*end_of(follower))
    np.testing.assert_allclose([end.x, end.y], [1.5, 0.0], atol=0.01)


def test_the_last_steps_to_a_goal_are_not_corrected(follower):
    follower.follow(GoalCommand(0.5, 0.0), 0.0, PlanarPose())
    plan = follower.plan
    follower.update(plan.end_time - 1.0, PlanarPose(0.05, 0.0, 0.0))
    assert follower.plan is plan
