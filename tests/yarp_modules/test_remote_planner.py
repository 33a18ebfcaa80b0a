"""Layer 1 behind messages: the service, and what the tick sees of it."""

from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import Side
from gradiva.planner import CaptureStep, Foothold, GoalCommand, Retarget, StopCommand, VelocityCommand, WalkingPlanner
from gradiva.setup import load_setup
from gradiva.walking import PlanRequest
from gradiva.yarp_modules.remote_layers import planner_fingerprint
from gradiva.yarp_modules.remote_planner import PlanAnswer, PlannerService, PlanQuestion, RemotePlanner, plan_codec

CONFIG = load_setup("icub_v2_7").walking.planner
PLANNER = WalkingPlanner(CONFIG)
CODEC = plan_codec()


def service(config=CONFIG):
    return PlannerService(WalkingPlanner(config), planner_fingerprint(config))


class DirectLine:
    """Stands for both ports; carries messages over as bytes would, or loses them."""

    def __init__(self):
        self.service = service()
        self.has_readers = self.is_up = True
        self.on_message = None
        self.questions = []

    def write(self, question):
        self.questions.append(question)
        if self.is_up:
            arrived = CODEC.unpack(CODEC.pack(question), PlanQuestion)
            self.on_message(CODEC.unpack(CODEC.pack(self.service.answer(arrived)), PlanAnswer))

    def report(self):
        return []


@pytest.fixture
def line():
    return DirectLine()


@pytest.fixture
def remote(line):
    return RemotePlanner(planner_fingerprint(CONFIG), (line, line), lead=0.3, timeout=1.0)


def standing_plan():
    return PLANNER.standing(PLANNER.at_origin(0.0))


def plan_of(remote, number, command, plan, time, is_moving):
    remote.submit(PlanRequest(number, command, plan, time, is_moving))
    return remote.poll()


def assert_same_plan(one, other):
    assert one.end_time == other.end_time
    for time in np.arange(0.0, one.end_time + 1.0, 0.053):
        np.testing.assert_array_equal(one.at(time).dcm.position, other.at(time).dcm.position)
        np.testing.assert_array_equal(one.at(time).left_foot.position, other.at(time).left_foot.position)


def test_plans_are_those_of_the_planner_in_this_process_to_the_last_digit(remote, line):
    stand = standing_plan()
    first = plan_of(remote, 1, VelocityCommand(0.15, duration=4.0), stand, 1.0, is_moving=False)
    assert first.number == 1
    local = PLANNER.plan(VelocityCommand(0.15, duration=4.0), line.questions[0].start)
    assert_same_plan(first.plan, local)
    second = plan_of(remote, 2, GoalCommand(1.0, 0.2), first.plan, 3.0, is_moving=True)
    assert_same_plan(second.plan, PLANNER.replan(local, GoalCommand(1.0, 0.2), 3.0))
    assert line.questions[1].plan is None  # identified by its number alone
    assert line.questions[1].continued == 1


def test_a_planner_that_was_restarted_asks_for_the_plan_and_goes_on(remote, line):
    first = plan_of(remote, 1, VelocityCommand(0.15, duration=4.0), standing_plan(), 1.0, is_moving=False)
    line.service = service()
    second = plan_of(remote, 2, StopCommand(), first.plan, 3.0, is_moving=True)
    assert second.number == 2
    assert_same_plan(second.plan, PLANNER.replan(first.plan, StopCommand(), 3.0))
    assert remote.sent_plans == 1
    third = plan_of(remote, 3, VelocityCommand(0.1, duration=2.0), second.plan, 3.1, is_moving=True)
    assert third.plan is not None
    assert remote.sent_plans == 1  # it is known again


def test_a_whole_body_that_was_restarted_sends_its_plan(line):
    plan = PLANNER.plan(VelocityCommand(0.15, duration=4.0), PLANNER.at_origin(0.0))
    remote = RemotePlanner(planner_fingerprint(CONFIG), (line, line), 0.3, 1.0)
    reply = plan_of(remote, 1, StopCommand(), plan, 2.0, is_moving=True)
    assert_same_plan(reply.plan, PLANNER.replan(plan, StopCommand(), 2.0))


def test_a_goal_that_cannot_be_planned_comes_back_with_the_reason(remote):
    reply = plan_of(remote, 1, VelocityCommand(5.0), standing_plan(), 1.0, is_moving=False)
    assert reply.plan is None
    assert "max_speed" in reply.error or "speed" in reply.error


def test_an_exception_of_the_planner_is_answered_as_a_defect_with_its_place(remote, line, monkeypatch, caplog):
    def stumble(*_):
        raise KeyError("left_foot")

    monkeypatch.setattr(line.service._planner, "plan", stumble)
    reply = plan_of(remote, 1, GoalCommand(1.0, 0.0), standing_plan(), 1.0, is_moving=False)
    assert (reply.plan, reply.is_defect) == (None, True)
    assert reply.error.startswith("the planner failed: KeyError 'left_foot'")
    assert "Traceback" in caplog.text
    assert line.service.refused == 1


def test_a_planner_that_is_configured_otherwise_is_refused(remote, line):
    line.service = service(load_setup("icub_v2_7", {"planner.swing_height": 0.031}).walking.planner)
    reply = plan_of(remote, 1, VelocityCommand(0.1), standing_plan(), 1.0, is_moving=False)
    assert "configured otherwise" in reply.error


def test_without_an_answer_there_is_no_reply_and_a_late_one_is_left(remote, line):
    line.is_up = False
    assert plan_of(remote, 1, VelocityCommand(0.1), standing_plan(), 1.0, is_moving=False) is None
    late = line.service.answer(line.questions[0])
    line.is_up = True
    assert plan_of(remote, 2, StopCommand(), standing_plan(), 1.5, is_moving=False).number == 2
    line.on_message(late)
    assert remote.poll() is None
    assert remote.late == 1


def test_an_answer_of_another_version_is_a_refusal_with_that_reason(remote, line):
    line.is_up = False
    assert plan_of(remote, 1, VelocityCommand(0.1), standing_plan(), 1.0, is_moving=False) is None
    line.on_malformed(line.questions[0].header, "PlanAnswer has 4 fields, got 3")
    reply = remote.poll()
    assert reply.number == 1
    assert reply.error == "the planner's answer is refused: PlanAnswer has 4 fields, got 3"


def test_nothing_is_sent_to_a_port_without_listeners(remote, line):
    line.has_readers = False
    assert plan_of(remote, 1, VelocityCommand(0.1), standing_plan(), 1.0, is_moving=False) is None
    assert line.questions == []


def test_a_retargeted_plan_is_sent_itself_and_continued_to_the_last_digit(remote, line):
    plan = plan_of(remote, 1, VelocityCommand(0.15, duration=4.0), standing_plan(), 1.0, is_moving=False).plan
    step = plan.steps[1]
    x, y = step.footstep.pose.point(0.02, 0.01 * step.footstep.side.sign)
    foothold = Foothold(replace(step.footstep.pose, x=x, y=y), step.touch_down + 0.05)
    time = step.lift_off + 0.15
    moved = PLANNER.retarget(plan, Retarget((foothold,)), time)
    reply = plan_of(remote, 2, VelocityCommand(0.1, duration=4.0), moved, time, is_moving=True)
    assert line.questions[-1].plan is moved
    assert_same_plan(reply.plan, PLANNER.replan(moved, VelocityCommand(0.1, duration=4.0), time))
    foot = reply.plan.at(foothold.touch_down).foot(step.footstep.side)
    np.testing.assert_allclose(foot.position[:2], (x, y), atol=1e-12)


def test_a_capture_step_and_a_catch_of_a_long_walk_are_sent_as_they_are_walked(remote, line):
    standing = standing_plan()
    foot = standing.phase_at(1.0).left.pose
    capture = CaptureStep(Side.LEFT, replace(foot, x=foot.x + 0.1), 1.1, 1.5, shift_zmp=np.array([0.05, 0.06]))
    caught = PLANNER.capture_step(standing, capture, 1.0)
    plan = plan_of(remote, 1, VelocityCommand(0.15, duration=20.0), caught, 1.2, is_moving=True).plan
    assert line.questions[-1].plan is caught
    assert_same_plan(plan, PLANNER.replan(caught, VelocityCommand(0.15, duration=20.0), 1.2))
    step = plan.steps[3]
    x, y = step.footstep.pose.point(0.05, 0.03 * step.footstep.side.sign)
    time = step.lift_off + 0.1
    change = Retarget((Foothold(replace(step.footstep.pose, x=x, y=y), step.touch_down),), following=2)
    moved = PLANNER.retarget(plan, change, time)
    reply = plan_of(remote, 2, StopCommand(), moved, time, is_moving=True)
    assert_same_plan(reply.plan, PLANNER.replan(moved, StopCommand(), time))
