from contextlib import suppress

import numpy as np
import pytest

from gradiva.common import PlanarPose, PlanningError, Side
from gradiva.planner import (
    Foothold,
    GoalCommand,
    PathCommand,
    Retarget,
    StopCommand,
    VelocityCommand,
    WalkingPlanner,
    foot_pose,
)
from gradiva.walking.plan_follower import PlanFollower
from gradiva.walking.planning_service import SynchronousPlanning, answered
from tests.walking.conftest import setup_of
from tests.walking.walked import figure_of_eight


@pytest.fixture
def follower():
    follower = PlanFollower(WalkingPlanner(setup_of("icub_v2_7").walking.planner))
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


def test_goals_are_given_in_the_odometry(follower):
    origin = PlanarPose(0.1, -0.05, 0.2)
    follower.follow(GoalCommand(0.6, 0.3), 1.0, origin)
    end = origin @ PlanarPose(*end_of(follower))
    np.testing.assert_allclose([end.x, end.y], [0.6, 0.3], atol=0.05)


def test_paths_are_given_in_the_odometry_too(follower):
    origin = PlanarPose(0.05, 0.0, 0.0)
    follower.follow(PathCommand(np.array([[0.5, 0.0], [1.0, 0.0]]), 0.15), 1.0, origin)
    np.testing.assert_allclose(end_of(follower), [0.95, 0.0], atol=0.05)


def test_a_command_without_an_end_is_planned_on(follower):
    follower.follow(VelocityCommand(0.1), 0.0, PlanarPose())
    first = follower.plan
    assert not follower.update(first.end_time - 4.4, PlanarPose())
    assert follower.plan.end_time > first.end_time + 1.0
    for time in np.arange(first.end_time - 4.3, first.end_time + 30.0, 0.1):
        follower.update(time, PlanarPose())
        assert follower.plan.end_time > time + 3.5, "it never slows down"


def test_a_stream_of_velocities_makes_one_plan_a_step_with_the_newest(follower):
    follower.follow(VelocityCommand(0.1), 0.0, PlanarPose())
    plans, command = [follower.plan], VelocityCommand(0.1)
    for tick in range(1, 500):
        time = 0.01 * tick
        before, command = follower.plan, VelocityCommand(0.1 + 0.0003 * tick, 0.0, 0.1 * np.sin(time))
        follower.follow(command, time, PlanarPose())
        follower.update(time, PlanarPose())
        if follower.plan is before:
            continue
        plans.append(follower.plan)
        touch_down = next(step.touch_down for step in before.steps if step.touch_down > time)
        assert touch_down - time < 0.03, "as late as can be"
        for moment in (time, touch_down):
            old, new = before.at(moment), follower.plan.at(moment)
            np.testing.assert_allclose(new.left_foot.position, old.left_foot.position, atol=1e-9)
            np.testing.assert_allclose(new.right_foot.position, old.right_foot.position, atol=1e-9)
            np.testing.assert_allclose(new.dcm.position, old.dcm.position, atol=1e-6)
    steps = sum(step.touch_down < 5.0 for step in follower.plan.steps)
    assert len(plans) - 1 == steps
    assert max(len(plan.steps) for plan in plans) < 25, "a few steps are planned, not two minutes"


def test_a_velocity_of_a_stream_is_refused_at_once_beyond_its_limits_and_a_stop_ends_the_stream(follower):
    follower.follow(VelocityCommand(0.1), 0.0, PlanarPose())
    with pytest.raises(PlanningError, match="forward speed 9"):
        follower.follow(VelocityCommand(9.0), 1.0, PlanarPose())
    follower.follow(VelocityCommand(0.2), 1.0, PlanarPose())
    follower.follow(StopCommand(), 1.1, PlanarPose())
    plan = follower.plan
    for time in np.arange(1.1, plan.end_time, 0.02):
        follower.update(time, PlanarPose())
    assert follower.plan is plan


def test_closing_the_feet_ends_soon(follower):
    follower.follow(VelocityCommand(0.2), 0.0, PlanarPose())
    follower.close_feet(3.0)
    assert follower.plan.end_time < 3.0 + 3.5


def test_an_error_of_the_planner_is_the_reply_and_the_plan_stays(follower, monkeypatch):
    follower.follow(VelocityCommand(0.1), 0.0, PlanarPose())
    plan = follower.plan
    monkeypatch.setattr(WalkingPlanner, "replan", lambda *_: {}["x"])
    with pytest.raises(PlanningError, match="the planner failed: KeyError 'x' in walking"):
        follower.follow(GoalCommand(1.0, 0.0), 1.0, PlanarPose())
    with pytest.raises(PlanningError, match="the planner failed"):
        follower.update(plan.end_time - 1.0, PlanarPose())
    follower.defect = ""
    follower.close_feet(plan.end_time - 1.0)
    assert follower.plan is plan
    assert follower.defect.startswith("the planner failed: KeyError 'x' in walking")


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


def test_the_way_along_a_path_is_corrected_by_odometry_up_to_its_end(follower):
    """A figure of eight crosses itself; the robot turns by 8° more than planned and slips by 8 cm on the way."""
    follower.follow(PathCommand(figure_of_eight(radius=0.5), 0.25), 0.0, PlanarPose())
    first, time, last = follower.plan, 0.0, follower.plan
    plans = 0
    while not follower.update(time, origin := PlanarPose(0.0018 * time, -0.0006 * time, 0.003 * time)):
        plans, last = plans + (follower.plan is not last), follower.plan
        time += 0.05
    assert 5 < plans < 30
    assert follower.plan.end_time == pytest.approx(first.end_time, abs=3.0), "no circle is walked twice or left out"
    reference = follower.plan.at(follower.plan.end_time + 1.0)
    yaw = foot_pose(reference, Side.LEFT).yaw
    end = origin @ PlanarPose(*end_of(follower), yaw)
    assert np.hypot(end.x, end.y) < 0.015
    assert abs(np.degrees(np.arctan2(np.sin(end.yaw), np.cos(end.yaw)))) < 1.0


def test_the_last_steps_to_a_goal_are_not_corrected(follower):
    follower.follow(GoalCommand(0.5, 0.0), 0.0, PlanarPose())
    plan = follower.plan
    follower.update(plan.end_time - 1.0, PlanarPose(0.05, 0.0, 0.0))
    assert follower.plan is plan


class SlowPlanning:
    """A planner that answers when the test says so."""

    lead = 0.3
    timeout = 1.0

    def __init__(self, planner):
        self.planner, self.requests, self.replies = planner, [], []

    def submit(self, request):
        self.requests.append(request)

    def poll(self):
        return self.replies.pop(0) if self.replies else None

    def answer(self, index=-1):
        self.replies.append(answered(self.planner, self.requests[index]))


@pytest.fixture
def slow():
    planner = WalkingPlanner(setup_of("icub_v2_7").walking.planner)
    service = SlowPlanning(planner)
    follower = PlanFollower(planner, service)
    follower.stand(0.0)
    return follower, service


def walking_since(slow, time, command):
    follower, service = slow
    follower.follow(command, time, PlanarPose())
    service.answer()
    follower.update(time + 0.1, PlanarPose())
    follower.update(time + service.lead, PlanarPose())
    assert follower.is_moving(time + service.lead)


def test_until_a_plan_has_come_the_present_one_goes_on(slow):
    follower, service = slow
    standing = follower.plan
    follower.follow(GoalCommand(0.5, 0.0), 1.0, PlanarPose())
    assert follower.is_planning_command
    assert not follower.update(1.1, PlanarPose())
    assert follower.plan is standing
    service.answer()
    follower.update(1.2, PlanarPose())
    assert not follower.is_planning_command
    assert follower.plan is standing, "it begins later"
    follower.update(1.3, PlanarPose())
    assert follower.plan.start_time == 1.3


def test_a_plan_for_a_walking_robot_continues_the_one_that_is_walked(slow):
    follower, service = slow
    walking_since(slow, 1.0, VelocityCommand(0.15, duration=5.0))
    before = follower.plan
    follower.follow(VelocityCommand(0.05, duration=4.0), 4.0, PlanarPose())
    service.answer()
    follower.update(4.2, PlanarPose())
    assert follower.plan is not before
    merge = service.requests[-1].merge_time
    assert merge > 4.3
    for time in (4.2, 4.25, merge):
        np.testing.assert_allclose(follower.plan.at(time).dcm.position, before.at(time).dcm.position, atol=1e-9)


def test_a_plan_that_comes_too_late_is_refused_and_asked_for_again(slow):
    follower, service = slow
    walking_since(slow, 1.0, VelocityCommand(0.15, duration=5.0))
    follower.follow(StopCommand(), 4.0, PlanarPose())
    late = service.requests[-1].merge_time + 0.01
    service.timeout = 100.0
    service.answer()
    follower.update(late, PlanarPose())
    assert follower.late_plans == 1
    assert service.requests[-1].time == late + 2.0 * service.lead, "a slow planner is given more time"
    service.answer()
    follower.update(late + 0.1, PlanarPose())
    assert follower.plan.end_time < late + 4.0


def test_the_feet_are_closed_although_the_planner_is_silent(slow):
    follower, service = slow
    walking_since(slow, 1.0, VelocityCommand(0.15))
    longest = follower.plan.end_time
    follower.close_feet(4.0)
    follower.update(4.9, PlanarPose())
    assert follower.plan.end_time == longest, "it may still answer"
    follower.update(5.1, PlanarPose())
    follower.update(5.1 + service.lead, PlanarPose())
    assert follower.plan.end_time < 9.0 < longest
    assert follower.update(follower.plan.end_time, PlanarPose())


def test_an_unanswered_command_is_asked_three_times_then_refused(slow):
    follower, service = slow
    follower.follow(GoalCommand(0.5, 0.0), 1.0, PlanarPose())
    for time in (2.1, 3.2, 4.3):
        follower.update(time, PlanarPose())
    assert len(service.requests) == 3
    assert follower.new_refusal == follower.refusal == "the planner has not answered for 3.3 s"


@pytest.mark.parametrize("yaw", [0.0, 0.1])
def test_a_dead_planner_means_that_the_walk_ends_by_name_also_where_the_heading_would_be_corrected(slow, yaw):
    follower, _ = slow
    walking_since(slow, 0.0, VelocityCommand(0.15))
    end, origin = follower.plan.end_time, PlanarPose(0.0, 0.0, yaw)
    for time in np.arange(end - 5.0, end, 0.1):
        assert not follower.update(float(time), origin)
    with pytest.raises(PlanningError, match="the present plan was walked to its end"):
        follower.update(end, origin)
    assert not follower.update(end + 0.1, origin)
    assert not follower.is_moving(end + 0.1)


def test_a_command_without_an_end_survives_a_command_that_is_refused_while_it_is_extended(slow):
    follower, service = slow
    walking_since(slow, 0.0, VelocityCommand(0.15))
    end = follower.plan.end_time
    follower.update(end - 2.9, PlanarPose())
    follower.follow(VelocityCommand(9.0, duration=5.0), end - 2.8, PlanarPose())
    service.answer()
    follower.update(end - 2.7, PlanarPose())
    assert "outside its limits" in follower.new_refusal
    follower.update(end - 2.6, PlanarPose())
    assert service.requests[-1].command == VelocityCommand(0.15, duration=5.0)


def test_a_goal_that_was_overshot_by_centimetres_is_not_walked_to_by_a_turn(follower):
    follower.follow(GoalCommand(0.5, 0.1, 0.35), 0.0, PlanarPose())
    first = follower.plan
    for time in np.arange(0.0, first.end_time - 3.0, 0.1):
        follower.update(float(time), PlanarPose(0.03, 0.0, -0.05))
        assert follower.plan.end_time < first.end_time + 3.1


def test_the_feet_are_closed_although_the_planner_is_silent_and_each_step_is_moved(slow):
    follower, _ = slow
    walking_since(slow, 1.0, VelocityCommand(0.15))
    follower.close_feet(4.0)
    for time in np.arange(4.0, 9.0, 0.1).tolist():
        follower.update(time, PlanarPose())
        landings = follower.plan.landings
        if (first := landings.after(time)) < len(landings) and not follower.plan.at(time).is_double_support:
            with suppress(PlanningError):
                follower.retarget(Retarget((Foothold(None, landings.times[first] + 0.01),)), time)
    assert follower.plan.end_time < 9.0
    assert not follower.walks


def heading_of(follower, origin):
    return (origin @ PlanarPose(0.0, 0.0, follower.plan.at(follower.plan.end_time).heading)).yaw


def walked_with(follower, drift, commands=()):
    """Walk to the end of the plan in odometry that turns by ``drift`` [rad/s]; return the plans on the way."""
    plans, time, commands = [follower.plan], 0.0, list(commands)
    while time < follower.plan.end_time:
        time += 0.05
        origin = PlanarPose(0.0, 0.0, drift * min(time, follower.plan.end_time - 4.0))
        if commands and time > commands[0][0]:
            follower.follow(commands.pop(0)[1], time, origin)
        follower.update(time, origin)
        if follower.plan is not plans[-1]:
            plans.append(follower.plan)
    return plans, origin


@pytest.mark.parametrize("duration", [12.0, 20.3])
def test_a_velocity_keeps_the_heading_of_its_start_by_odometry_and_its_length(follower, duration):
    follower.follow(VelocityCommand(0.2, duration=duration), 0.0, PlanarPose())
    way, end = end_of(follower)[0], follower.plan.end_time
    plans, origin = walked_with(follower, 0.02)
    assert len(plans) > 5
    assert heading_of(follower, origin) == pytest.approx(0.0, abs=0.012)
    assert abs(origin.yaw) > 0.15
    length = np.linalg.norm(np.diff([landing_middle(step) for step in follower.plan.landings], axis=0), axis=1).sum()
    assert length == pytest.approx(way, rel=0.03)
    assert follower.plan.end_time == pytest.approx(end, abs=0.3)


def landing_middle(step):
    return step.footstep.unicycle.x, step.footstep.unicycle.y


class RecordedPlanning(SynchronousPlanning):
    """Plans at once and keeps the requests."""

    def __init__(self, planner):
        super().__init__(planner)
        self.requests = []

    def submit(self, request):
        self.requests.append(request)
        super().submit(request)


@pytest.mark.parametrize("shift", [0.0, -0.1, 0.1], ids=["as planned", "early", "late"])
def test_a_heading_is_corrected_once_whenever_the_step_lands_that_was_planned_with_it(shift):
    planner = WalkingPlanner(setup_of("icub_v2_7").walking.planner)
    service = RecordedPlanning(planner)
    follower = PlanFollower(planner, service)
    follower.stand(0.0)
    follower.follow(VelocityCommand(0.2, duration=12.0), 0.0, PlanarPose())
    first, lands, yaw = len(service.requests), None, 0.0
    for time in np.arange(0.01, 7.0, 0.01).tolist():
        yaw = 0.0 if time < 3.0 else 0.03 if lands is None or time < lands else 0.05
        follower.update(time, PlanarPose(0.0, 0.0, yaw))
        if lands is None and len(service.requests) > first:  # what it asks for holds from this touch-down on
            lands = service.requests[-1].merge_time + shift
            if shift > 0.0:
                follower.retarget(Retarget((Foothold(None, lands),)), time)
        if lands is not None and shift < 0.0 and lands <= time < lands + 0.0099:
            assert not follower.plan.at(time).is_double_support
            follower.retarget(Retarget((Foothold(None, time),)), time)
            assert follower.plan.at(time + 1e-6).is_double_support
    errors = [request.command.heading_error for request in service.requests[first:]]
    assert errors == pytest.approx([0.03, 0.02])
    merges = [request.merge_time for request in service.requests[first:]]
    assert merges[1] > lands + 0.5
    assert heading_of(follower, PlanarPose(0.0, 0.0, yaw)) == pytest.approx(0.0, abs=0.012)


@pytest.mark.parametrize(("landing", "expected"), [(-0.1, [0.03, 0.05]), (0.1, [0.03, 0.05])], ids=["early", "late"])
def test_a_velocity_that_comes_before_the_step_has_landed_corrects_what_was_to_hold_from_there_on(landing, expected):
    planner = WalkingPlanner(setup_of("icub_v2_7").walking.planner)
    service = RecordedPlanning(planner)
    follower = PlanFollower(planner, service)
    follower.stand(0.0)
    follower.follow(VelocityCommand(0.2, duration=12.0), 0.0, PlanarPose())
    step = next(step for step in follower.plan.steps if step.lift_off > 3.0)
    begin = step.lift_off + 0.02
    follower.follow(VelocityCommand(0.2, duration=8.0), begin, PlanarPose(0.0, 0.0, 0.03))
    follower.retarget(Retarget((Foothold(None, step.touch_down + landing),)), begin + 0.01)
    follower.follow(VelocityCommand(0.2, duration=8.0), begin + 0.02, PlanarPose(0.0, 0.0, 0.05))
    last, again = service.requests[-2:]
    assert [last.merge_time, again.merge_time] == pytest.approx([step.touch_down, step.touch_down + landing])
    assert [each.command.heading_error for each in (last, again)] == pytest.approx(expected)
    assert heading_of(follower, PlanarPose(0.0, 0.0, 0.05)) == pytest.approx(0.0, abs=0.012)


def test_a_velocity_that_comes_after_the_step_has_landed_early_corrects_what_has_come_since_alone():
    planner = WalkingPlanner(setup_of("icub_v2_7").walking.planner)
    service = RecordedPlanning(planner)
    follower = PlanFollower(planner, service)
    follower.stand(0.0)
    follower.follow(VelocityCommand(0.2, duration=12.0), 0.0, PlanarPose())
    step = next(step for step in follower.plan.steps if step.lift_off > 3.0)
    follower.follow(VelocityCommand(0.2, duration=8.0), step.lift_off + 0.02, PlanarPose(0.0, 0.0, 0.03))
    landed = step.touch_down - 0.1
    follower.retarget(Retarget((Foothold(None, landed),)), landed)
    following = next(each.touch_down for each in follower.plan.steps if each.touch_down > landed + 0.1)
    follower.follow(VelocityCommand(0.2, duration=8.0), landed + 0.02, PlanarPose(0.0, 0.0, 0.05))
    again = service.requests[-1]
    assert (again.command.heading_error, again.merge_time) == pytest.approx((0.02, following))
    assert heading_of(follower, PlanarPose(0.0, 0.0, 0.05)) == pytest.approx(0.0, abs=0.012)


def test_a_velocity_whose_heading_is_kept_is_not_planned_again(follower):
    follower.follow(VelocityCommand(0.2, duration=10.0), 0.0, PlanarPose())
    plans, _ = walked_with(follower, 0.0009)
    assert len(plans) == 1


def test_a_velocity_that_changes_all_the_time_turns_as_commanded(follower):
    follower.follow(VelocityCommand(0.2, duration=15.0), 0.0, PlanarPose())
    changes = [(time, VelocityCommand(0.15 + 0.001 * i, duration=12.0)) for i, time in enumerate(np.arange(2, 6, 0.3))]
    _, origin = walked_with(follower, 0.02, changes)
    assert heading_of(follower, origin) == pytest.approx(0.0, abs=0.012)


def test_the_heading_is_that_of_the_start_again_after_a_goal_or_a_stand(follower):
    follower.follow(GoalCommand(1.0, 0.0), 0.0, PlanarPose())
    follower.follow(VelocityCommand(0.2, duration=6.0), 2.0, PlanarPose(0.0, 0.0, 0.1))
    assert heading_of(follower, PlanarPose()) == pytest.approx(0.0, abs=0.01)
    end = follower.plan.end_time
    assert follower.update(end, PlanarPose(0.0, 0.0, 0.3))
    follower.follow(VelocityCommand(0.2, duration=6.0), end + 1.0, PlanarPose(0.0, 0.0, 0.3))
    assert heading_of(follower, PlanarPose()) == pytest.approx(0.0, abs=0.01)


def test_a_velocity_without_an_end_keeps_its_heading_too(follower):
    follower.follow(VelocityCommand(0.2), 0.0, PlanarPose())
    for time in np.arange(0.05, 20.0, 0.05):
        origin = PlanarPose(0.0, 0.0, 0.005 * time)
        follower.update(time, origin)
    assert heading_of(follower, origin) == pytest.approx(0.0, abs=0.02)


def test_the_heading_is_that_of_the_first_velocity_after_a_stop(follower):
    follower.follow(VelocityCommand(0.2, duration=20.0), 0.0, PlanarPose())
    origin = PlanarPose(0.0, 0.0, 0.3)
    follower.close_feet(5.0)
    follower.follow(VelocityCommand(0.2, duration=6.0), 5.1, origin)
    first = heading_of(follower, origin)
    follower.follow(VelocityCommand(0.21, duration=6.0), 5.2, origin)
    assert heading_of(follower, origin) == pytest.approx(first, abs=0.01)


def test_a_velocity_that_comes_again_while_another_is_about_to_begin_is_the_newest(slow):
    follower, service = slow
    walking_since(slow, 0.0, VelocityCommand(0.1))
    end = follower.plan.end_time
    follower.update(end - 1.0, PlanarPose())
    with pytest.raises(PlanningError, match="walked to its end"):
        follower.update(end, PlanarPose())
    follower.follow(VelocityCommand(0.2), end + 1.0, PlanarPose())
    service.answer()
    follower.update(end + 1.1, PlanarPose())  # it begins later
    follower.follow(VelocityCommand(0.1), end + 1.2, PlanarPose())
    count = len(service.requests)
    for time in np.arange(end + 1.3, end + 4.0, 0.01):
        follower.update(float(time), PlanarPose())
        if len(service.requests) > count:
            break
    assert [request.command.forward for request in service.requests[count - 1 :]] == [0.2, 0.1]
