import math

import numpy as np
import pytest
from hypothesis import given

from gradiva.middleware import MalformedMessage, as_items, yarp
from gradiva.planner import GoalCommand, PathCommand, VelocityCommand
from gradiva.yarp_modules.coordinator_commands import CoordinatorCommand, Word, parse_command
from tests.pureyarp.wire.element_strategies import any_items


def parse(text):
    return parse_command(as_items(yarp.Bottle(text)))


@pytest.mark.parametrize("word", [word for word in Word if word is not Word.SET_GOAL])
def test_every_command_is_known_as_text_and_as_a_vocab(word):
    assert parse(word) == CoordinatorCommand(word)
    assert parse(f"[{word[:4]}]") == CoordinatorCommand(word)


def test_vocabs_of_four_letters_tell_the_commands_apart():
    others = ("getHealth", "help", "quit")
    assert len({word[:4] for word in (*Word, *others)}) == len(Word) + len(others)


def test_a_place_may_stand_in_parentheses_or_not_and_have_a_direction():
    assert parse("setGoal (1.0 0.5)").goal == GoalCommand(1.0, 0.5)
    assert parse("setGoal 1 0.5").goal == GoalCommand(1.0, 0.5)
    assert parse("setGoal (1.0 0.5 90)").goal == GoalCommand(1.0, 0.5, math.pi / 2)


def test_velocities_are_in_metres_and_degrees_a_second():
    assert parse("setGoal (velocity 0.1)").goal == VelocityCommand(0.1)
    assert parse("setGoal velocity 0.1 -0.02 18").goal == VelocityCommand(0.1, -0.02, math.pi / 10)


def test_a_path_has_a_speed_and_points():
    goal = parse("setGoal (path 0.1 (0.5 0.0) (1.0 0.2))").goal
    assert isinstance(goal, PathCommand)
    assert goal.speed == 0.1
    np.testing.assert_allclose(goal.points, [[0.5, 0.0], [1.0, 0.2]])


def test_preparing_may_be_on_the_fly():
    assert parse("prepareRobot onTheFly").on_the_fly
    assert parse("prepareRobot 1").on_the_fly
    assert not parse("prepareRobot 0").on_the_fly


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("setGoal", "expected x y"),
        ("setGoal 1", "expected x y"),
        ("setGoal 1 2 3 4", "expected x y"),
        ("setGoal (1 far)", "expected x y"),
        ("setGoal nan 0.0", "no goal is called 'nan'|not finite"),
        ("setGoal (velocty 1)", "did you mean 'velocity'"),
        ("setGoal (velocity)", "velocity forward"),
        ("setGoal (path 0.1)", "path speed"),
        ("setGoal (path 0.1 (1 2 3))", "points"),
        ("startWalking now", "startWalking: nothing may follow"),
        ("prepareRobot gently", "nothing but onTheFly"),
    ],
)
def test_what_is_malformed_is_named(text, complaint):
    with pytest.raises(MalformedMessage, match=complaint):
        parse(text)


def test_what_is_no_command_is_left_to_others():
    assert parse("dance") is None
    assert parse("") is None
    assert parse("1 2 3") is None


@given(any_items)
def test_garbage_is_no_command_or_refused_by_name(garbage):
    for items in (garbage, ["setGoal", *garbage], ["setGoal", "velocity", *garbage], ["prepareRobot", *garbage]):
        try:
            command = parse_command(items)
        except MalformedMessage:
            continue
        assert command is None or isinstance(command, CoordinatorCommand)
