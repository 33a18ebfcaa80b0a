"""Inputs of the coordinator: commands, goals that stream in, the free space."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import PlanningError
from gradiva.planner import GoalCommand, PathCommand, StopCommand, VelocityCommand
from gradiva.push_recovery import SteppingMode
from gradiva.session.coordinator_commands import (
    CoordinatorCommand,
    CoordinatorConfig,
    FreeSpace,
    GoalChange,
    GoalStream,
    MalformedCommand,
    Word,
    parse_command,
)
from gradiva.setup import load_setup

SETUP = load_setup("icub_v2_7")
CONFIG = SETUP.part(CoordinatorConfig, "coordinator")
LIMITS = SETUP.walking.planner


def parse(*items):
    return parse_command(items)


@pytest.mark.parametrize("word", [word for word in Word if word not in (Word.SET_GOAL, Word.STEP_ADAPTATION)])
def test_every_command_is_known(word):
    assert parse(str(word)) == CoordinatorCommand(word)


def test_vocabs_of_four_letters_distinguish_the_commands():
    others = ("getHealth", "help", "quit")
    assert len({word[:4] for word in (*Word, *others)}) == len(Word) + len(others)


def test_a_place_may_stand_in_parentheses_or_not_and_have_a_direction():
    assert parse("setGoal", [1.0, 0.5]).goal == GoalCommand(1.0, 0.5)
    assert parse("setGoal", 1, 0.5).goal == GoalCommand(1.0, 0.5)
    assert parse("setGoal", [1.0, 0.5, 90]).goal == GoalCommand(1.0, 0.5, math.pi / 2)


def test_velocities_are_in_metres_and_degrees_a_second():
    assert parse("setGoal", ["velocity", 0.1]).goal == VelocityCommand(0.1)
    assert parse("setGoal", "velocity", 0.1, -0.02, 18).goal == VelocityCommand(0.1, -0.02, math.pi / 10)


def test_a_path_has_a_speed_and_points():
    goal = parse("setGoal", ["path", 0.1, [0.5, 0.0], [1.0, 0.2]]).goal
    assert isinstance(goal, PathCommand)
    assert goal.speed == 0.1
    np.testing.assert_allclose(goal.points, [[0.5, 0.0], [1.0, 0.2]])


def test_preparing_may_be_on_the_fly():
    assert parse("prepareRobot", "onTheFly").on_the_fly
    assert parse("prepareRobot", "onTheFly", "anyway").anyway
    assert parse("prepareRobot", 1).on_the_fly
    assert parse("prepareRobot", True).on_the_fly
    assert not parse("prepareRobot", 0).on_the_fly


@pytest.mark.parametrize("mode", SteppingMode)
def test_step_adaptation_has_a_mode(mode):
    assert parse("setStepAdaptation", str(mode)) == CoordinatorCommand(Word.STEP_ADAPTATION, stepping=mode)


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        (["setStepAdaptation"], "setStepAdaptation: expected one of off, place, place_and_time, got 0 values"),
        (["setStepAdaptation", "plac"], "did you mean 'place'"),
        (["setStepAdaptation", "place", 1], "expected one of off, place, place_and_time, got 2 values"),
        (["setGoal"], "expected x y"),
        (["setGoal", 1], "expected x y"),
        (["setGoal", 1, 2, 3, 4], "expected x y"),
        (["setGoal", [1, "far"]], "numbers, but far is no number"),
        (["setGoal", float("nan"), 0.0], "a number is not finite"),
        (["setGoal", ["velocty", 1]], "did you mean 'velocity'"),
        (["setGoal", ["velocity"]], "velocity forward"),
        (["setGoal", ["path", 0.1]], "path speed"),
        (["setGoal", ["path", 0.1, [1, 2, 3]]], "points"),
        (["startWalking", "now"], "startWalking: nothing may follow"),
        (["prepareRobot", "gently"], "nothing but onTheFly"),
    ],
)
def test_a_malformed_field_is_named(items, complaint):
    with pytest.raises(MalformedCommand, match=complaint):
        parse_command(items)


def test_an_unknown_word_is_no_command():
    assert parse("dance") is None
    assert parse() is None
    assert parse(1, 2, 3) is None


@pytest.fixture
def stream():
    return GoalStream(CONFIG, LIMITS)


def test_full_deflection_is_the_configured_share_of_the_highest_speeds(stream):
    stream.take([1.0, -1.0, 1.0], 0.0)
    change = stream.change(0.0)
    forward, turn = (
        CONFIG.full_deflection * LIMITS.max_speed,
        CONFIG.full_deflection * LIMITS.commands.max_angular_speed,
    )
    assert change == GoalChange(
        VelocityCommand(forward, CONFIG.full_deflection * LIMITS.commands.max_lateral_speed, -turn)
    )


def test_full_deflection_may_be_slower():
    slow = GoalStream(replace(CONFIG, full_deflection=0.2), LIMITS)
    slow.take([1.0, 0.0, 0.0], 0.0)
    assert slow.change(0.0).command.forward == 0.2 * LIMITS.max_speed


def test_the_lateral_deflection_may_be_left_out_and_backward_has_its_own_limit(stream):
    stream.take([-1.0, 0.0], 0.0)
    command = stream.change(0.0).command
    assert command.lateral == 0.0
    assert command.forward == -min(LIMITS.commands.max_backward_speed, CONFIG.full_deflection * LIMITS.max_speed)


def test_each_change_of_a_stick_that_drives_is_a_command_and_a_repetition_is_none(stream):
    stream.take([0.5, 0.0, 0.0], 0.0)
    assert stream.change(0.0) is not None
    stream.take([0.5, 0.0, 0.0], 0.02)
    assert stream.change(0.02) is None
    stream.take([0.51, 0.0, 0.0], 0.04)
    assert stream.change(0.04).command.forward == pytest.approx(0.51 * CONFIG.full_deflection * LIMITS.max_speed)


def test_a_stick_that_trembles_about_its_middle_starts_once_in_half_a_second(stream):
    stream.take([0.5, 0.0, 0.0], 0.0)
    stream.change(0.0)
    stream.take([0.01, 0.0, 0.0], 0.02)
    assert stream.change(0.02) == GoalChange(StopCommand())
    stream.take([0.03, 0.0, 0.0], 0.04)
    assert stream.change(0.04) is None, "too soon"
    assert stream.change(0.53) is not None


def test_to_stand_is_never_too_soon(stream):
    stream.take([0.5, 0.0, 0.0], 0.0)
    stream.change(0.0)
    stream.take([0.0, 0.0, 0.0], 0.01)
    assert stream.change(0.01) == GoalChange(StopCommand())
    assert not stream.is_driving
    assert stream.change(10.0) is None


def test_silence_while_it_drives_is_reported_once(stream):
    stream.take([0.5, 0.0, 0.0], 0.0)
    stream.change(0.0)
    assert stream.change(CONFIG.goal_timeout) is None
    change = stream.change(CONFIG.goal_timeout + 0.1)
    assert change.command == StopCommand()
    assert change.because == "goal:i has been silent for 0.60 s"
    assert stream.change(CONFIG.goal_timeout + 5.0) is None


def test_the_silence_of_a_stream_that_does_not_drive_changes_nothing(stream):
    assert stream.change(100.0) is None
    stream.take([0.0, 0.0, 0.0], 0.0)
    assert stream.change(100.0) is None


@pytest.mark.parametrize("values", [[], [1.0], [0.0] * 4, [float("nan"), 0.0, 0.0], [1.1, 0.0, 0.0]])
def test_a_malformed_deflection_is_refused_and_changes_nothing(stream, values):
    with pytest.raises(MalformedCommand, match="goal:i"):
        stream.take(values, 0.0)
    assert stream.change(0.0) is None


def test_the_edge_of_the_ellipse_is_free_and_points_beyond_are_not():
    space = FreeSpace.from_numbers([2.0, 0.0, 0.0, 1.0, 0.5, 0.0])
    space.require(2.5, 0.0)
    space.require(0.5, -1.0)
    with pytest.raises(PlanningError, match=r"the goal \(2.6, 0\) lies outside the free space, at 1.05 of its radius"):
        space.require(2.6, 0.0)


@pytest.mark.parametrize("numbers", [[1.0] * 5, [1.0, 1.0, 1.0, 1.0, 0.0, 0.0], [float("inf"), 0, 0, 1, 0, 0]])
def test_a_malformed_ellipse_is_refused(numbers):
    with pytest.raises(MalformedCommand, match="freeSpaceEllipse"):
        FreeSpace.from_numbers(numbers)
