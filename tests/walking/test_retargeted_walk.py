"""Walks in which footholds are moved in place and time: by a command, and by step adaptation from tick to tick."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import PlanarPose, PlanningError, Side, StateError, so3
from gradiva.contacts import ContactPlane
from gradiva.planner import (
    CaptureStep,
    Foothold,
    GoalCommand,
    PathCommand,
    Retarget,
    StopCommand,
    VelocityCommand,
    WalkingPlanner,
)
from gradiva.push_recovery import StepAdaptation, StepChange
from gradiva.setup import load_setup
from gradiva.walking import PlanReply, WalkingState
from gradiva.walking.plan_follower import PlanFollower
from gradiva.walking.planning_service import SynchronousPlanning
from tests.walking.walked import figures_of


def elsewhere(step, forward=0.03, outward=0.02, delay=0.1):
    pose = step.footstep.pose
    x, y = pose.point(forward, step.footstep.side.sign * outward)
    return Foothold(replace(pose, x=x, y=y), step.touch_down + delay)


def running_step(plan, time):
    return next(step for step in plan.steps if step.touch_down > time)


def relative(stance_position, stance_rotation, position):
    return (stance_rotation.T @ (position - stance_position))[:2]


class MovesOneStep(StepAdaptation):
    """Step adaptation that moves one step twice, early in its swing."""

    def __init__(self):
        self.moved = []

    def update(self, pendulum, reference, plan):
        step = running_step(plan, reference.time) if reference.time < plan.end_time - 3.0 else None
        if step is None or reference.is_double_support or len(self.moved) == 2:
            return None
        if reference.time < step.lift_off + (0.1 if not self.moved else 0.2):
            return None
        self.moved.append((reference.time, elsewhere(step, 0.015, 0.01, 0.05)))
        return StepChange(Retarget((self.moved[-1][1],)))


def walk_until_landed(walk, foothold, side):
    """Walk until shortly after the landing; return the foot relative to the other one, as planned and as it is."""
    assert walk.run_until(lambda: walk.time > foothold.touch_down + 0.1, 2.0)
    reference = walk.log.reference
    stance, foot = reference.foot(side.other), reference.foot(side)
    assert foot.in_contact
    np.testing.assert_allclose(foot.position[:2], (foothold.pose.x, foothold.pose.y), atol=1e-9)
    truth = walk.robot.truth()
    other = getattr(truth, f"{side.other}_foot_position"), getattr(truth, f"{side.other}_foot_rotation")
    return relative(stance.position, stance.rotation, foot.position), relative(
        *other, getattr(truth, f"{side}_foot_position")
    )


@pytest.mark.walk
def test_a_moved_and_delayed_foothold_is_reached_within_millimetres(ready):
    walk = ready("icub_v2_7")
    walk.controller.walk(VelocityCommand(0.15, duration=5.0))
    assert walk.run_until(lambda: walk.log is not None and _swings(walk, 2), 5.0)
    step = running_step(walk.controller.plan, walk.time)
    foothold = elsewhere(step)
    walk.controller.retarget(Retarget((foothold,)))
    assert walk.controller.plan.steps[-1].touch_down > step.touch_down + 0.1
    planned, true = walk_until_landed(walk, foothold, step.footstep.side)
    assert np.linalg.norm(planned - true) < 0.004

    adaptation = MovesOneStep()
    shipped = walk.layers.push_recovery.steps
    walk.controller.adapt_steps(adaptation)
    for steps in (shipped, adaptation):
        assert all(0.003 < gain < 0.008 for gain in steps.leg_momentum)  # [s²] of iCub v2.7
    assert walk.run_until(lambda: len(adaptation.moved) == 2, 3.0)
    step = running_step(walk.controller.plan, walk.time)
    planned, true = walk_until_landed(walk, adaptation.moved[-1][1], step.footstep.side)
    assert np.linalg.norm(planned - true) < 0.004

    assert walk.run_until(lambda: walk.controller.state is WalkingState.PAUSED, 10.0)
    figures = figures_of(walk)
    assert figures["dcm_error_m"]["max"] < 0.03
    assert figures["max_tilt_rad"] < np.radians(5.0)
    assert walk.controller.safety_events == ()
    with pytest.raises(StateError, match="cannot retarget a step while paused"):
        walk.controller.retarget(Retarget((Foothold(),)))


def _swings(walk, count):
    """Whether the robot is a fifth into the single support of step ``count``."""
    step = walk.controller.plan.steps[count]
    return walk.time > step.lift_off + 0.2 * (step.touch_down - step.lift_off)


@pytest.fixture
def planner():
    return WalkingPlanner(load_setup("icub_v2_7").walking.planner)


class SlowPlanning(SynchronousPlanning):
    """Answers only when ``answer`` is called."""

    lead, timeout = 0.1, 5.0

    def submit(self, request):
        self.requests = [*getattr(self, "requests", []), request]

    def answer(self, planner):
        request = self.requests[-1]
        self._reply = PlanReply(request.number, planner.replan(request.plan, request.command, request.time))


def walking(planner, service=None, command=None):

    follower = PlanFollower(planner)
    follower.stand(0.0)
    follower.follow(command or VelocityCommand(0.15, duration=6.0), 0.0, PlanarPose())
    if service is not None:
        follower._service = service
    return follower, PlanarPose()


def test_a_plan_that_was_asked_for_before_a_retarget_is_asked_for_again(planner):
    service = SlowPlanning(planner)
    follower, origin = walking(planner, service)
    step = follower.plan.steps[1]
    time = step.lift_off + 0.1
    follower.follow(VelocityCommand(0.1, duration=4.0), time, origin)
    follower.retarget(Retarget((elsewhere(step),)), time + 0.05)
    first, second = service.requests
    assert second.number > first.number
    assert second.plan is follower.plan
    assert second.command == first.command
    service.answer(planner)
    follower.update(time + 0.06, origin)
    assert [s.touch_down for s in follower.plan.steps][1] == pytest.approx(step.touch_down + 0.1)
    follower.close_feet(time + 0.07)
    assert isinstance(service.requests[-1].command, StopCommand)


def test_the_way_to_a_goal_is_corrected_after_a_retarget(planner):
    follower, origin = walking(planner, command=GoalCommand(1.5, 0.0))
    step = follower.plan.steps[2]
    time = step.lift_off + 0.1
    follower.update(time, origin)
    follower.retarget(Retarget((elsewhere(step, 0.0, 0.04, 0.0),)), time)
    moved = follower.plan.steps[-1].footstep.pose
    np.testing.assert_allclose(follower.displacement, [0.0, 0.04], atol=1e-6)
    for tick in np.arange(time, time + 3.0, 0.01):
        follower.update(tick, origin)
    last = [step.footstep.pose for step in follower.plan.steps[-2:]]
    assert np.mean([pose.y for pose in last]) == pytest.approx(0.0, abs=0.005)
    assert abs(moved.y - last[-1].y) > 0.02


def test_an_impossible_retarget_leaves_the_plan_alone_and_adaptation_goes_on(planner):
    follower, _ = walking(planner)
    step = follower.plan.steps[1]
    time = step.lift_off + 0.1
    plan, reference = follower.plan, follower.plan.at(time)
    with pytest.raises(PlanningError, match="max_feet_distance"):
        follower.retarget(Retarget((elsewhere(step, 1.0),)), time)
    assert follower.plan is plan

    _, now = follower.adapted(StepChange(Retarget((elsewhere(step, 1.0),))), time)
    np.testing.assert_array_equal(now.dcm.position, reference.dcm.position)
    assert follower.refused_changes == 1
    assert follower.plan is plan


def test_a_contact_target_is_met_on_the_plane_of_its_foothold_and_asks_for_no_second_change(planner):
    follower, _ = walking(planner)
    step = follower.plan.steps[1]
    time, side = step.lift_off + 0.1, step.footstep.side
    sloped = replace(step.footstep.pose, z=0.004, normal=ContactPlane(0.0, (0.05, 0.0)).normal)
    follower.retarget(Retarget((Foothold(sloped),)), time)
    target = PlanarPose(sloped.x + 0.02, sloped.y, sloped.yaw)
    targets = [target if side is other else None for other in Side]
    anywhere = SimpleNamespace(dcm_position=None, com_position=None)  # the references go on
    follower.aim(targets, anywhere, follower.plan.at(time), time)
    landing = running_step(follower.plan, time).footstep.pose
    assert (landing.x, landing.normal) == (target.x, sloped.normal)
    assert landing.z == pytest.approx(0.004 + 0.02 * 0.05, abs=1e-12)
    plan = follower.plan
    follower.aim(targets, anywhere, plan.at(time + 0.01), time + 0.01)
    last = step.touch_down - 0.01  # too late for another landing, but this one is the planned one
    follower.aim(targets, anywhere, plan.at(last), last)
    assert follower.plan is plan
    assert (follower.refused_changes, follower.aimed.changes) == (0, 1)
    assert follower.aimed.nominal.x == pytest.approx(sloped.x)
    assert follower.aimed.adapted == target
    for refused, target in enumerate((PlanarPose(np.nan, 0.0, 0.0), PlanarPose(0.0, 0.0, np.nan)), start=1):
        follower.aim([target] * 2, anywhere, plan.at(time + 0.02), time + 0.02)
        assert follower.plan is plan
        assert follower.refused_changes == refused


def test_changes_in_each_tick_ask_for_a_plan_at_most_every_tenth_of_a_second_and_refuse_what_is_stale(planner):
    service = SlowPlanning(planner)
    follower, origin = walking(planner, service)
    step = follower.plan.steps[1]
    time = step.lift_off + 0.1
    follower.follow(VelocityCommand(0.1, duration=4.0), time, origin)
    for tick in np.arange(time, time + 0.15, 0.01):
        follower.retarget(Retarget((elsewhere(step, 0.0, 0.0, 0.5 * (tick - time)),)), tick)
    assert len(service.requests) == 3  # the command, the first change, and one a tenth of a second later
    service.answer(planner)
    walked = follower.plan
    follower.update(time + 0.16, origin)
    assert follower.plan is walked  # the answer continues a plan before the last changes
    follower.update(time + 0.21, origin)
    assert len(service.requests) == 4
    assert service.requests[-1].plan is walked
    service.answer(planner)
    follower.update(time + 0.22, origin)
    assert follower.plan is not walked
    assert follower.plan.steps[1].touch_down == walked.steps[1].touch_down


ARC = np.array([(np.sin(angle), 1.0 - np.cos(angle)) for angle in np.linspace(0.0, 1.2, 25)])  # of 1 m radius


@pytest.mark.parametrize("index", [1, 3, -2, -1])
@pytest.mark.parametrize(
    ("command", "end"),
    [
        (GoalCommand(0.8, 0.0), (0.8, 0.0, None)),
        (GoalCommand(0.8, 0.3, yaw=0.5), (0.8, 0.3, 0.5)),
        (PathCommand(ARC, 0.15), (*ARC[-1], 1.2)),
    ],
)
def test_goals_and_paths_are_reached_after_a_catch_by_any_step_which_is_then_not_the_last(planner, command, end, index):
    follower, origin = walking(planner, command=command)
    step = follower.plan.steps[index]
    time = step.lift_off + 0.1
    for tick in np.arange(0.0, time, 0.05):
        follower.update(tick, origin)
    step = running_step(follower.plan, time)
    follower.adapted(StepChange(Retarget((elsewhere(step, 0.1, 0.08, 0.0),))), time)
    assert follower.refused_changes == 0
    assert len([s for s in follower.plan.steps if s.lift_off > time]) >= 2
    tick = time
    while follower.is_moving(tick):
        tick += 0.01
        follower.update(tick, origin)
    feet = [follower.plan.at(tick).foot(side) for side in Side]
    np.testing.assert_allclose(sum(foot.position[:2] for foot in feet) / 2.0, end[:2], atol=0.01)
    if end[2] is not None:
        assert so3.yaw(feet[0].rotation) == pytest.approx(end[2], abs=0.02)


def test_a_push_that_begins_away_from_a_sole_that_comes_down_is_being_caught_though_no_foothold_moves(planner):
    follower, _ = walking(planner)
    step, following = follower.plan.steps[2:4]
    time = step.touch_down - 0.1
    plan, reference = follower.plan, follower.plan.at(time)
    assert not follower.is_catching(time)
    assert follower.adapted(StepChange(falls_away=True), time) == (plan, reference)
    assert follower.is_catching(following.touch_down - 0.01)
    assert not follower.is_catching(following.touch_down)


def step_ahead(plan, time):
    """The change by which a robot that stands steps ahead with the left foot."""
    foot = plan.phase_at(time).foot(Side.LEFT).pose
    return StepChange(capture=CaptureStep(Side.LEFT, replace(foot, x=foot.x + 0.1), time + 0.1, time + 0.5))


def test_a_robot_that_stands_steps_and_then_stands_again_and_may_be_commanded_meanwhile(planner):
    follower = PlanFollower(planner)
    follower.stand(0.0)
    origin = PlanarPose()
    follower.adapted(step_ahead(follower.plan, 1.0), 1.0)
    assert follower.captures == 1
    np.testing.assert_allclose(follower.displacement, [0.1, 0.0], atol=1e-6)
    assert follower.is_moving(1.0)
    assert len(follower.plan.steps) == 3
    end = follower.plan.end_time
    assert follower.update(end - 0.1, origin) is False
    assert follower.update(end + 0.1, origin) is True
    assert not follower.is_moving(end + 0.1)
    follower.adapted(step_ahead(follower.plan, end + 0.5), end + 0.5)
    assert not follower.walks
    follower.follow(VelocityCommand(0.15, duration=3.0), end + 0.6, origin)
    assert follower.walks
    assert len(follower.plan.steps) > 8
    assert follower.plan.at(follower.plan.end_time).left_foot.position[0] > 0.4
