"""The tick asks about a push: for the pendulum that layer 2 sees, the change of the plan, the answered reference."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import altered
from gradiva.planner import VelocityCommand, WalkingPlanner
from gradiva.push_recovery import (
    Push,
    PushCompensation,
    PushRecovery,
    SlopedSoles,
    StepAdaptation,
    StepChange,
    SteppingMode,
    Trunk,
)
from gradiva.push_recovery.push_recovery import SETTLING
from gradiva.setup import load_setup
from gradiva.simplified_model import LinearInvertedPendulum
from tests.whole_body.standing_robot import reference, state

PLANNER = WalkingPlanner(load_setup("icub_v2_7").walking.planner)
PLAN = PLANNER.standing(PLANNER.at_origin(0.0))
PERIOD, TIME_CONSTANT = 0.01, 0.02


class Falling(StepAdaptation):
    """Reports in each tick that a push is being caught, though no foothold moves."""

    def __init__(self):
        self.resets = 0

    def reset(self):
        self.resets += 1

    def update(self, pendulum, reference, plan):
        return StepChange(falls_away=True)

    def is_recovering(self, time):
        return time < 2.0


def recovery(steps):
    compensation = PushCompensation(LinearInvertedPendulum(0.53), 30.0, 0.0)
    pushes = PushRecovery(steps, Trunk(), SlopedSoles(0.0), compensation, PERIOD)
    assert pushes.update(state(), replace(PLAN.at(0.0), time=-SETTLING), PLAN)[1] is None
    return pushes


def test_what_servos_do_that_settle_is_no_push_and_another_mode_of_stepping_changes_nothing_of_that():
    pushes, robot = recovery(Falling()), state()
    for time, is_seen in ((-0.01, False), (0.0, True), (0.5, True)):
        pushes.set_mode(SteppingMode.PLACE)
        change = pushes.update(robot, replace(PLAN.at(0.0), time=time), PLAN)[1]
        assert (change is not None) is is_seen
    pushes.reset()
    assert pushes.update(robot, replace(PLAN.at(0.0), time=0.51), PLAN)[1] is None
    assert pushes.update(robot, replace(PLAN.at(0.0), time=0.51 + SETTLING), PLAN)[1] is not None


def test_a_robot_that_nothing_pushes_is_its_own_pendulum_and_keeps_its_reference():
    pushes, body, robot = recovery(Falling()), reference(), state()
    assert pushes.update(robot, PLAN.at(0.0), PLAN)[0] is robot
    calm = Push(is_caught=False, stands=False, is_trusted=True)
    now = SimpleNamespace(reference=PLAN.at(0.0), polygon=None)
    assert pushes.answered(body, robot, robot, now, PLAN.at(PERIOD), calm) is body
    np.testing.assert_array_equal(pushes.trunk.zmp_shift, [0.0, 0.0])


def test_steps_wait_for_no_foot_that_reads_nothing_while_the_other_one_is_in_the_air():
    plan = PLANNER.plan(VelocityCommand(0.1, duration=3.0))
    swing = plan.steps[1]
    both, alone = PLAN.at(0.0), plan.at(0.5 * (swing.lift_off + swing.touch_down))
    stance = alone.stance_foot
    robot = altered(state(), **{f"{stance.other}_foot_wrench": np.array([0.0, 0.0, 200.0, 0.0, 0.0, 0.0])})
    pushes = recovery(Falling())
    seen = []
    pushes.steps.update = lambda pendulum, *_: seen.append(pendulum)
    for planned in (alone, both):
        pushes.update(robot, planned, plan, suspected=stance)
    assert seen[0].foot_wrench(stance)[2] == 200.0
    assert seen[1] is robot


def test_what_yields_while_a_push_is_caught_stands_in_the_reference():
    pushes, body, robot = recovery(Falling()), reference(), state()
    now = SimpleNamespace(reference=PLAN.at(0.0), polygon=None)
    for is_caught, catches in ((True, False), (True, True), (False, True)):
        pushes.steps.catches = catches
        push = Push(is_caught, stands=False, is_trusted=True)
        answered = pushes.answered(body, robot, robot, now, PLAN.at(PERIOD), push)
        assert (answered.height_yields, answered.step_catches) == (is_caught, catches)
        assert answered.com_position is body.com_position
    assert not body.height_yields
    assert not body.step_catches


class Leaning(Trunk):
    """A trunk that notes the rates of the DCM and stays tilted for one more tick."""

    def __init__(self):
        self.rates = []

    def update(self, pendulum, dcm_rate, plan, is_caught, period):
        self.rates.append(dcm_rate)
        self.is_upright = not is_caught


def test_the_trunk_is_asked_from_the_push_to_when_it_is_upright_with_the_rate_of_all_ticks():
    pushes, robot, body = recovery(Falling()), state(), reference()
    pushes.trunk = Leaning()
    now, speed = SimpleNamespace(reference=PLAN.at(0.0), polygon=None), np.array([0.2, -0.1])
    asked = []
    for tick in range(100):
        moving = altered(robot, dcm_position=robot.dcm_position + tick * PERIOD * speed)
        push = Push(is_caught=tick in (60, 61), stands=False, is_trusted=True)
        pushes.answered(body, moving, moving, now, PLAN.at(PERIOD), push)
        asked.append(len(pushes.trunk.rates))
    assert (asked[59], asked[60], asked[61], asked[62], asked[99]) == (0, 1, 2, 3, 3)
    np.testing.assert_allclose(pushes.trunk.rates, [speed] * 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("time", "is_catching", "walks", "expected"),
    [(1.0, False, False, (True, True)), (1.0, False, True, (False, False)), (3.0, True, False, (True, False))],
    ids=["recovers standing", "walks", "a step catches it"],
)
def test_a_push_is_caught_by_a_step_or_by_a_robot_that_recovers_standing(time, is_catching, walks, expected):
    push = recovery(Falling()).push(time, is_catching, walks, is_trusted=False)
    assert (push.is_caught, push.stands) == expected
    assert not push.is_trusted


def test_step_adaptation_is_asked_unless_it_is_off_and_begins_anew_with_each_mode():
    pushes, robot = recovery(Falling()), state()
    assert pushes.update(robot, PLAN.at(1.0), PLAN)[1].falls_away
    pushes.set_mode(SteppingMode.OFF)
    assert pushes.update(robot, PLAN.at(1.0), PLAN) == (robot, None)
    pushes.set_mode(SteppingMode.PLACE)
    assert pushes.steps.mode is SteppingMode.PLACE
    assert pushes.steps.resets == 2
    assert pushes.update(robot, PLAN.at(1.0), PLAN)[1].falls_away


def test_an_estimated_wrench_moves_the_pendulum_that_layer_2_and_the_steps_see():
    pushed = replace(state(), external_wrench=np.array([0.0, 12.0, 0.0, 0.0, 0.0, 0.0]))
    seen, _ = recovery(Falling()).update(pushed, PLAN.at(0.0), PLAN)
    offset = 0.53 * 12.0 / (30.0 * 9.81)
    np.testing.assert_allclose(seen.dcm_position - pushed.dcm_position, [0.0, offset], rtol=1e-3)
    assert seen.external_wrench is None
