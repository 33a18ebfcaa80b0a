import pytest

from gradiva.session import FreeSpace, Reply, parse_command
from gradiva.walking import PlanReply, WalkingState
from tests.session.walking_double import OK, WalkingDouble

S = WalkingState
COMMANDS = (
    "prepareRobot",
    "startWalking",
    "setGoal",
    "pauseWalking",
    "stopWalking",
    "goHome",
    "emergencyStop",
)
GOAL = ("setGoal", 0.4, 0.0)
PREPARE_FIRST, WAIT, AGAIN = "prepare the robot first", "wait until the robot is prepared", "prepare the robot again"
WALKS, START_FIRST = "the robot is already walking: pause or stop it first", "start the walk first"
TABLE = {  # the reason of a refusal ends so
    S.CONFIGURED: (OK, PREPARE_FIRST, PREPARE_FIRST, PREPARE_FIRST, PREPARE_FIRST, OK, OK),
    S.PREPARING: (WAIT, WAIT, WAIT, WAIT, WAIT, WAIT, OK),
    S.PREPARED: (OK, OK, START_FIRST, START_FIRST, OK, OK, OK),
    S.WALKING: (WALKS, WALKS, OK, OK, OK, OK, OK),
    S.PAUSED: ("start again or set a goal", OK, OK, "start again or set a goal", OK, OK, OK),
    S.STOPPED: (OK, AGAIN, AGAIN, AGAIN, AGAIN, OK, OK),
    S.FAULT: (OK, AGAIN, AGAIN, AGAIN, AGAIN, OK, OK),
}
CASES = [(state, command, end) for state, ends in TABLE.items() for command, end in zip(COMMANDS, ends, strict=True)]


@pytest.fixture(scope="module")
def shared():
    return WalkingDouble()


def brought_to(double, state):
    """Stand, in any state: what the state machine allows does not depend on how it got there."""
    double.controller._follower.stand(0.0)
    double.controller._when_done = S.PAUSED
    double.controller._machine.to(state, "a test")
    double.coordinator.joint_positions = double.layers.start_posture.joint_positions
    return double


@pytest.mark.parametrize(("state", "command", "end"), CASES, ids=lambda value: str(value))
def test_every_command_in_every_state_is_done_or_refused_with_what_to_do_first(shared, state, command, end):
    reply = brought_to(shared, state).ask(*GOAL if command == "setGoal" else [command])
    assert reply.endswith(end)
    if end != OK:
        assert reply.startswith("cannot ")
        assert shared.controller.state is state


@pytest.mark.parametrize("state", S)
def test_step_adaptation_is_switched_in_any_state(shared, state):
    brought_to(shared, state)
    for mode in ("place_and_time", "off"):
        assert shared.ask("setStepAdaptation", mode) == OK
        assert shared.controller.step_adaptation == mode


def test_before_the_first_sample_nothing_can_be_prepared(shared):
    brought_to(shared, S.CONFIGURED)
    shared.coordinator.joint_positions = None
    assert "no sample of the robot" in shared.ask("prepareRobot")
    assert "no sample of the robot" in shared.ask("goHome")
    assert shared.ask("emergencyStop") == OK


def test_a_robot_that_lies_cannot_be_prepared_on_the_fly(shared):
    brought_to(shared, S.CONFIGURED)
    bent = shared.layers.start_posture.joint_positions.copy()
    bent[shared.setup.robot.joints.index("l_knee")] -= 0.5
    shared.coordinator.joint_positions = bent
    assert "l_knee is -0.50 rad from the start posture" in shared.ask("prepareRobot", "onTheFly")
    assert shared.controller.state is S.CONFIGURED


def test_a_goal_that_cannot_be_planned_is_refused_with_the_planners_reason(shared):
    brought_to(shared, S.WALKING)
    assert "outside its limits" in shared.ask("setGoal", "velocity", 9)
    assert "take longer than" in shared.ask("setGoal", 4000, 0)


def test_a_goal_outside_the_free_space_is_refused(shared):
    brought_to(shared, S.WALKING)
    shared.coordinator.free_space = FreeSpace.from_numbers([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    try:
        assert "outside the free space" in shared.ask("setGoal", 1.5, 0)
        assert shared.ask("setGoal", 0.5, 0) == OK
    finally:
        shared.coordinator.free_space = None


class SlowPlanning:
    """Answers when the test wants."""

    lead = 0.3
    timeout = 1.0

    def __init__(self):
        self.requests, self.reply = [], None

    def submit(self, request):
        self.requests.append(request)

    def poll(self):
        reply, self.reply = self.reply, None
        return reply


@pytest.fixture
def slow(shared):
    planning = SlowPlanning()
    double = brought_to(WalkingDouble(planning), S.WALKING)
    double.answers = []
    double.slow_ask = lambda *items: double.coordinator.carry_out(parse_command(items), 0.0, double.answers.append)
    return double, planning


def test_a_goal_is_answered_when_its_plan_is_refused(slow):
    double, planning = slow
    double.slow_ask(*GOAL)
    double.coordinator.update(0.1)
    assert double.answers == []
    planning.reply = PlanReply(planning.requests[-1].number, None, "too far")
    double.controller._update_plan(0.1)
    double.coordinator.update(0.1)
    assert double.answers == [Reply("too far")]
    assert (double.controller.state, double.controller.reason) == (S.PAUSED, "too far")


def test_a_goal_that_is_overtaken_is_answered(slow):
    double, _ = slow
    double.slow_ask(*GOAL)
    double.slow_ask("pauseWalking")
    assert double.answers == [Reply("given up: pauseWalking came before the plan was there"), Reply()]


def test_a_planner_that_does_not_answer_is_reported_after_the_timeout(slow):
    double, planning = slow
    double.slow_ask(*GOAL)
    for time in (0.5, 1.1, 2.2, 3.3):
        double.controller._update_plan(time)
        double.coordinator.update(min(time, 2.9))
    assert len(planning.requests) == 3
    double.coordinator.update(3.3)
    assert double.answers[0].refusal == "the planner has not answered for 3.3 s"
