import math
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import LateSource, RobotInterfaceError, Side, altered
from gradiva.planner import GoalCommand, WalkingPlanner
from gradiva.session import CoordinatorCommand, PlanningWorker, Reply, Word
from gradiva.setup import GccCompiler, cache_folder, load_setup
from gradiva.simulation import Fault, FaultKind, MujocoRobot, Push
from gradiva.walking import SynchronousPlanning, WalkingLayers, WalkingState
from tests.session import walking_double
from tests.session.walking_double import OK, WalkingDouble, shared_layers
from tests.waiting import wait_until

pytestmark = pytest.mark.walk


def test_a_walk_by_commands_alone():
    double = WalkingDouble()
    double.get_ready()
    assert double.ask("setGoal", 0.15, 0.05) == OK
    double.run(1.5)
    assert double.ask("pauseWalking") == OK
    double.run_to(WalkingState.PAUSED)
    assert double.ask("setGoal", 0.15, 0.05) == OK
    double.run_to(WalkingState.PAUSED)
    pose = double.session.status.pose
    assert math.hypot(pose.x - 0.15, pose.y - 0.05) < 0.03
    assert double.ask("goHome") == OK
    double.run_to(WalkingState.PAUSED)
    pose = double.session.status.pose
    assert math.hypot(pose.x, pose.y) < 0.03
    assert abs(pose.yaw) < 0.1
    assert double.ask("stopWalking") == OK
    double.run_to(WalkingState.STOPPED)
    assert double.ask("prepareRobot", "onTheFly") == OK
    double.run(0.5)
    assert double.controller.state is WalkingState.PREPARED
    assert double.robot.fall is None
    assert double.controller.safety_events == ()


def test_a_walk_with_hips_that_bend_reports_their_estimated_deflections(monkeypatch):
    setup = load_setup("talos", ["flexibility.stiffness=5e3", "walking.prepare_duration=0.3"])
    layers = WalkingLayers(setup.robot, setup.walking, GccCompiler(cache_folder()))
    monkeypatch.setattr(walking_double, "fresh_layers", lambda: layers)
    double, pairs = WalkingDouble(setup=setup), []

    def note():
        pairs.append((double.session.status.deflections, double.robot.truth().flexible_positions))
        return double.controller.state is WalkingState.PAUSED

    double.get_ready()
    assert double.ask("setGoal", 0.1, 0.0) == OK
    double.run(2.0)
    double.run(20.0, note)
    assert double.ask("stopWalking") == OK
    double.run_to(WalkingState.STOPPED)
    assert double.robot.fall is None
    estimated, true = np.array(pairs).swapaxes(0, 1)
    assert np.abs(true).max() > 0.015
    np.testing.assert_allclose(estimated, true, atol=3e-3)
    assert double.session.status.as_table()["deflections"] == pytest.approx(true[-1], abs=1e-4)


def stepping_double(planning=None):
    """A robot that walks at 0.1 m/s with its right foot 0.3 s in the air, step adaptation switched on by command."""
    double = WalkingDouble(planning)
    double.get_ready()
    assert double.ask("setGoal", "velocity", 0.1) == OK
    double.run(2.0)
    assert double.ask("setStepAdaptation", "place_and_time") == OK
    run_to_swing(double)
    return double


def run_to_swing(double):
    def is_swinging():
        steps = [step for step in double.controller.plan.steps if step.footstep.side is Side.RIGHT]
        return any(0.3 <= double.robot.time - step.lift_off < 0.32 for step in steps)

    double.run(3.0, is_swinging)


def push(double, x, y):
    """Push the chest for 0.1 s, x ahead, y to the left [N]."""
    double.robot.push(Push("chest", (x, y, 0.0), double.robot.time, 0.1))


class LostPlanning(SynchronousPlanning):
    """A planner that is gone, and may come back."""

    lead, timeout, is_gone = 0.3, 1.0, False

    def submit(self, request):
        if not self.is_gone:
            super().submit(request)

    def poll(self):
        return None if self.is_gone else super().poll()


def test_pushes_while_the_planner_is_gone_are_caught_twice_and_counted_and_the_walk_ends_once_it_is_back():
    planning = LostPlanning(shared_layers().planner)
    double = stepping_double(planning)
    planning.is_gone = True
    push(double, 0.0, -90.0)
    double.run(2.5)
    run_to_swing(double)
    push(double, 80.0, 0.0)
    double.run(0.8)  # a velocity without an end is planned for 5 s
    assert (double.controller.state, double.robot.fall) == (WalkingState.WALKING, None)
    status = double.session.status
    assert status.step_adaptation == "place_and_time"
    assert status.adaptations > 0
    assert status.as_table()["adaptations"] == status.adaptations
    planning.is_gone = False
    assert double.ask("pauseWalking") == OK
    double.run_to(WalkingState.PAUSED)
    double.run(1.0)
    assert double.robot.fall is None
    assert double.controller.safety_events == ()


def test_a_push_while_all_sensors_are_silent_ends_standing():
    double = stepping_double()
    double.robot.inject(Fault(FaultKind.SILENCE, double.robot.time, 0.1))
    push(double, 0.0, -90.0)
    double.run_to(WalkingState.STOPPED)
    double.run(1.0)
    assert double.robot.fall is None
    assert [event.kind for event in double.controller.safety_events] == ["stale_measurement"]


def test_a_joypad_drives_and_the_walk_stops_when_it_is_silent():
    double = WalkingDouble()
    double.get_ready()
    for _ in range(20):
        double.coordinator.take_goal([0.4, 0.0, 0.0], double.robot.time)
        double.run(0.1)
    assert double.controller.state is WalkingState.WALKING
    double.run_to(WalkingState.PAUSED, 6.0)
    assert double.session.status.notice.startswith("goal:i has been silent for 0.5")
    assert double.robot.fall is None
    double.coordinator.take_goal([0.4, 0.0, 0.0], double.robot.time)
    double.run(0.05)
    assert double.controller.state is WalkingState.WALKING
    assert double.session.status.notice == ""
    double.coordinator.take_goal([0.0, 0.0, 0.0], double.robot.time)
    double.run_to(WalkingState.PAUSED, 6.0)
    assert double.ask("pauseWalking").startswith("cannot pause")


def test_a_source_of_time_that_jumps_is_an_event_and_neither_the_plan_nor_the_joypad_notices():
    double = WalkingDouble()
    double.get_ready()
    ahead, times = 0.0, []
    for number in range(200):
        ahead = {70: 0.7, 120: -0.7, 160: 30.0}.get(number, ahead)  # [s] of the source
        double.coordinator.take_goal([0.4, 0.0, 0.0], double.session.time)
        double.session.tick(double.robot.time + ahead)
        double.robot.advance(0.01)
        times.append(double.session.status.time)
    np.testing.assert_allclose(np.diff(times), 0.01, atol=1e-9)
    assert {(event.kind, event.subject) for event in double.controller.safety_events} == {
        ("clock_jump", "forward"),
        ("clock_jump", "backward"),
    }
    assert double.controller.state is WalkingState.WALKING
    assert double.session.status.notice == ""
    assert double.robot.fall is None


def test_wrenches_and_imu_follow_control_time_as_joints_do():
    double = WalkingDouble()
    double.get_ready()
    ages = []
    for ahead in (0.0, 0.7, 0.7, 0.7):  # [s] of the source
        measurement = double.robot.read().shifted(ahead)
        double.robot.read = lambda measurement=measurement: measurement
        double.session.tick(measurement.time)
        seen = double.session.measurement
        ages.append((seen.time - seen.wrenches_time, seen.time - seen.imu_time, double.session.time - seen.time))
        del double.robot.read
        double.robot.advance(0.01)
    assert measurement.contact_wrenches_time is not None
    np.testing.assert_allclose(ages, np.zeros((4, 3)), atol=1e-9)


def test_a_simulator_that_waits_only_once_it_is_commanded_makes_no_jump(monkeypatch):
    double, read = WalkingDouble(), MujocoRobot.read
    moment = 0.0
    monkeypatch.setattr(MujocoRobot, "read", lambda robot: read(robot).shifted(moment - robot.time))
    for moment in (0.01, 5.0, 7.5):
        double.session.tick(moment)
    assert double.session.time == 7.5
    asking = threading.Thread(target=double.answer, args=("prepareRobot",))
    asking.start()
    wait_until(lambda: double.session._requests._waiting, "it is asked for")
    for moment in (9.0, 9.4, 9.41):  # it went on by 0.4 s while its motors were taken
        double.session.tick(moment)
    assert double.controller.state is WalkingState.PREPARING
    assert double.session.time == pytest.approx(9.02)
    assert double.controller.safety_events == ()
    double.session.tick(9.8)
    assert [event.kind for event in double.controller.safety_events] == ["clock_jump"]


def test_a_robot_with_a_silent_source_is_not_prepared_and_its_preparation_ends(monkeypatch):
    double, read, late = WalkingDouble(), MujocoRobot.read, [LateSource("encoders of /robot/left_leg", 3.7)]
    monkeypatch.setattr(MujocoRobot, "read", lambda robot: altered(read(robot), late=tuple(late)))
    double.run(0.02)
    assert double.ask("prepareRobot") == "cannot prepare: no new readings of encoders of /robot/left_leg (3.70 s)"
    silence = late.pop()
    double.run(0.02)
    assert double.ask("prepareRobot") == OK
    late.append(replace(silence, age=0.1))  # as in a stall
    double.run(0.05)
    assert double.controller.state is WalkingState.PREPARING
    late[0] = silence
    double.run(0.02)
    assert double.controller.state is WalkingState.FAULT
    assert "no new readings of encoders of /robot/left_leg (3.70 s)" in double.session.status.reason


def test_every_answer_says_that_the_control_loop_does_not_turn():
    double = WalkingDouble()
    double.get_ready()
    double.session._why_stalled = lambda: "nothing new from encoders of /robot/left_leg"
    double.session._ticked -= 12.0
    stall = "the control loop has not turned for 12 s: nothing new from encoders of /robot/left_leg"
    assert double.session.status.reason.startswith(f"{stall}; before: ")
    threading.Timer(0.05, double.session.serve).start()  # as in lockstep, while no sample comes
    assert double.session.answer(CoordinatorCommand(Word.STOP)) == Reply(remark=stall)
    double.session.tick(double.robot.time)
    assert "has not turned" not in double.session.status.reason


def test_after_a_pause_the_joypad_drives_only_when_the_walk_is_started_again():
    double = WalkingDouble()
    double.get_ready()
    assert double.ask("pauseWalking") == OK
    double.coordinator.take_goal([0.4, 0.0, 0.0], double.robot.time)
    double.run(0.2)
    assert double.controller.state is WalkingState.PAUSED
    assert double.ask("startWalking") == OK
    double.coordinator.take_goal([0.4, 0.0, 0.0], double.robot.time)
    double.run(0.05)
    assert double.controller.plan.at(double.robot.time).is_walking


def test_planning_beside_the_tick_walks_to_the_same_place():
    worker = PlanningWorker(WalkingPlanner(load_setup("icub_v2_7").walking.planner), 0.3, 1.0)
    goal = CoordinatorCommand(Word.SET_GOAL, GoalCommand(0.2, 0.0))
    double = WalkingDouble(worker)
    double.get_ready()
    double.coordinator.carry_out(goal, double.robot.time, double.replies.append)
    deadline = time.monotonic() + 5.0
    while not double.replies and time.monotonic() < deadline:
        double.run(0.01)
        time.sleep(0.01)
    assert double.replies == [Reply()]
    double.run_to(WalkingState.PAUSED)
    pose = double.session.status.pose
    assert math.hypot(pose.x - 0.2, pose.y) < 0.05
    assert double.robot.fall is None
    worker.close()


def test_a_robot_that_cannot_be_read_is_a_named_event_and_the_robot_stands(monkeypatch):
    double = WalkingDouble()
    double.get_ready()
    assert double.ask("setGoal", "velocity", 0.15) == OK
    double.run(1.6)

    def silent():
        raise RobotInterfaceError("no sample of left_leg")

    monkeypatch.setattr(double.robot, "read", silent)
    double.run(0.3)
    assert double.session.status.notice == "cannot read the robot: no sample of left_leg"
    assert double.warnings[0] == ("cannot read the robot: no sample of left_leg", False)
    assert double.session.status.last_event == "stale_measurement"
    monkeypatch.undo()
    double.run_to(WalkingState.STOPPED, 6.0)
    assert double.robot.fall is None


def test_motors_are_left_alone_until_the_robot_is_prepared(monkeypatch):
    double = WalkingDouble()
    written = []
    monkeypatch.setattr(double.robot, "write", written.append)
    double.run(0.1)
    assert written == []
    assert double.ask("prepareRobot") == OK
    double.session.tick(double.robot.time)
    np.testing.assert_allclose(written[0].values, double.session.measurement.joint_positions, atol=1e-3)


def test_commands_of_other_threads_are_answered_by_the_tick_and_status_without_it():
    double = WalkingDouble()
    double.run(0.02)
    replies = []
    assert (double.session.status.state, double.session.status.full_reason) == ("configured", "configured")
    thread = threading.Thread(target=lambda: replies.append(double.answer("startWalking")))
    thread.start()
    deadline = time.monotonic() + 5.0
    while not replies and time.monotonic() < deadline:
        double.run(0.01)
    thread.join(1.0)
    assert replies == ["cannot start while configured: prepare the robot first"]


@pytest.fixture(scope="module")
def double() -> WalkingDouble:
    return WalkingDouble()


@pytest.fixture
def standing(double) -> WalkingDouble:
    """Hand out a robot that is being prepared, after any test."""
    double.run(0.02)
    assert double.ask("prepareRobot") == OK
    return double


@pytest.mark.parametrize("end", ["read", "write"])
@pytest.mark.parametrize("error", [RobotInterfaceError("no sample"), KeyError("l_knee"), ZeroDivisionError()])
def test_an_emergency_stop_is_carried_out_in_the_same_tick_when_the_robot_raises(standing, monkeypatch, end, error):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(standing.robot, end, fail)
    replies, state = [], standing.controller.state
    asking = threading.Thread(target=lambda: replies.append(standing.answer("emergencyStop")))
    asking.start()
    wait_until(lambda: standing.session._requests._waiting, "the stop is asked for")
    standing.session.tick(standing.robot.time)
    asking.join(5.0)
    assert state is WalkingState.PREPARING
    assert replies == [OK]
    assert standing.controller.state is WalkingState.FAULT
    standing.session.tick(standing.robot.time)  # a command that is carried out ends the former notice
    assert standing.session.status.notice.startswith(f"cannot {end if end == 'read' else 'command'} the robot: ")


def test_a_command_that_fails_unexpectedly_is_answered_and_those_behind_it_are_carried_out(standing, monkeypatch):
    carry_out = standing.coordinator.carry_out

    def stumble(command, *arguments):
        if command.word is Word.START:
            raise KeyError("plan")
        carry_out(command, *arguments)

    monkeypatch.setattr(standing.coordinator, "carry_out", stumble)
    replies = {}
    for word in ("startWalking", "emergencyStop"):
        threading.Thread(target=lambda word=word: replies.update({word: standing.answer(word)})).start()
    wait_until(lambda: len(standing.session._requests._waiting) == 2, "both are asked for")
    standing.session.tick(standing.robot.time)
    wait_until(lambda: len(replies) == 2, "both answers")
    assert replies == {"startWalking": "KeyError: 'plan'", "emergencyStop": OK}
    assert standing.controller.state is WalkingState.FAULT
