import math

import pytest

from gradiva.common import PlanningError
from gradiva.planner import GoalCommand, VelocityCommand
from gradiva.setup import load_setup
from gradiva.simulated_walk import final_pose, plan_from_start


@pytest.fixture(scope="module")
def setup():
    return load_setup("icub_v2_7")


def test_a_plan_to_a_goal_ends_there(setup):
    x, y, yaw = final_pose(plan_from_start(setup, GoalCommand(1.0, 0.5, yaw=1.0)))
    assert math.hypot(x - 1.0, y - 0.5) < 0.01
    assert yaw == pytest.approx(1.0, abs=1e-6)


def test_left_and_right_are_mirrored(setup):
    left = final_pose(plan_from_start(setup, VelocityCommand(0.1, lateral=0.05, angular=0.2, duration=5.0)))
    right = final_pose(plan_from_start(setup, VelocityCommand(0.1, lateral=-0.05, angular=-0.2, duration=5.0)))
    assert left == pytest.approx((right[0], -right[1], -right[2]), abs=1e-9)


def test_a_plan_that_turns_far_ends_with_the_turned_heading(setup):
    yaw = final_pose(plan_from_start(setup, VelocityCommand(0.0, angular=0.5, duration=8.0)))[2]
    assert abs(yaw) <= math.pi


def test_what_cannot_be_planned_is_refused(setup):
    with pytest.raises(PlanningError, match="forward speed"):
        plan_from_start(setup, VelocityCommand(5.0, duration=5.0))
