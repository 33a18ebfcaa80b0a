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
STAND, START = ("prepareRobot", "onTheFly"), ("startWalking",)
WAYS = {  # from a fault
    S.PREPARING: (STAND,),
    S.PREPARED: (STAND,),
    S.WALKING: (STAND, START),
    S.PAUSED: (STAND, START, ("pauseWalking",)),
    S.STOPPED: (STAND, START, ("stopWalking",)),
    S.FAULT: (),
}
CASES = [(state, command, end) for state, ends in TABLE.items() for command, end in zip(COMMANDS, ends, strict=True)]


@pytest.fixture(scope="module")
def shared():
    return WalkingDouble()


def brought_to(double, state):
    """Bring a standing robot to a state by commands; one that is configured alone is made anew."""
    if state is S.CONFIGURED:
        double = WalkingDouble(double.planning)
    else:
        assert double.ask("emergencyStop") == OK
        double.run(0.01)
        for command in WAYS[state]:
            assert double.ask(*command) == OK
            if command == STAND and state is not S.PREPARING:
                double.run(0.02)
    double.coordinator.joint_positions = double.layers.start_posture.joint_positions
    assert double.controller.state is state
    return double


@pytest.mark.parametrize(("state", "command", "end"), CASES, ids=lambda value: str(value))
def test_every_command_in_every_state_is_done_or_refused_with_what_to_do_first(shared, state, command, end):
    double = brought_to(shared, state)
    reply = double.ask(*GOAL if command == "setGoal" else [command])
    assert reply.endswith(end)
    if end != OK:
        assert reply.startswith("cannot ")
        assert double.controller.state is state


@pytest.mark.parametrize("state", S)
def test_step_adaptation_is_switched_in_any_state(shared, state):
    double = brought_to(shared, state)
    for mode in ("place_and_time", "off"):
        assert double.ask("setStepAdaptation", mode) == OK
        assert double.controller.step_adaptation == mode


def test_before_the_first_sample_nothing_can_be_prepared(shared):
    double = brought_to(shared, S.CONFIGURED)
    double.coordinator.joint_positions = None
    assert "no sample of the robot" in double.ask("prepareRobot")
    assert "no sample of the robot" in double.ask("goHome")
    assert double.ask("emergencyStop") == OK


def test_a_robot_that_lies_cannot_be_prepared_on_the_fly(shared):
    double = brought_to(shared, S.CONFIGURED)
    bent = double.layers.start_posture.joint_positions.copy()
    bent[double.setup.robot.joints.index("l_knee")] -= 0.5
    double.coordinator.joint_positions = bent
    assert "l_knee is -0.50 rad from the start posture" in double.ask("prepareRobot", "onTheFly")
    assert double.controller.state is S.CONFIGURED


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
    timeout = 0.05

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
    double.run(0.02)
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
    double.run(0.25)
    assert len(planning.requests) == 3
    assert double.answers[0].refusal == "the planner has not answered for 0.2 s"
