"""Requests over RPC in words and vocabs, and replies."""

import pytest
from hypothesis import given

from gradiva.middleware import as_items, yarp
from gradiva.push_recovery import SteppingMode
from gradiva.session import CoordinatorCommand, MalformedCommand, Reply, Word, parse_command
from gradiva.yarp_modules.rpc_commands import fail, ok, pairs, replied, spelled_out
from gradiva.yarp_modules.walking_module import WORDS
from tests.pureyarp.wire.element_strategies import any_items


def parse(text):
    return parse_command(spelled_out(as_items(yarp.Bottle(text)), WORDS))


@pytest.mark.parametrize("word", [word for word in Word if word not in (Word.SET_GOAL, Word.STEP_ADAPTATION)])
def test_every_command_is_known_as_text_and_as_a_vocab(word):
    assert parse(word) == parse(f"[{word[:4]}]") == CoordinatorCommand(word)


@pytest.mark.parametrize(
    ("text", "in_vocabs"),
    [
        ("setGoal (1.0 0.5 90)", "[setG] 1.0 0.5 90"),
        ("setGoal (velocity 0.1 -0.02 18)", "[setG] ([velo] 0.1 -0.02 18)"),
        ("setStepAdaptation off", "[setS] [off]"),
        ("prepareRobot onTheFly", "[prep] [onTh]"),
        ("prepareRobot 1", "[prep] [1]"),
        ("prepareRobot 0", "[prep] []"),
    ],
)
def test_arguments_may_be_vocabs(text, in_vocabs):
    assert parse(text) == parse(in_vocabs)


def test_a_mode_that_a_vocab_does_not_hold_is_refused():
    assert parse("[setS] place").stepping is SteppingMode.PLACE
    with pytest.raises(MalformedCommand, match="no mode is called 'plac'; did you mean 'place'"):
        parse("[setS] [plac]")


@pytest.mark.parametrize("text", ["setGoal (1 [far])", "setGoal true 0.0", "setGoal 1 (2 3)", "setGoal 1 [1]"])
def test_a_vocab_is_no_number(text):
    with pytest.raises(MalformedCommand, match=r"is no number|no goal is called"):
        parse(text)


@given(any_items)
def test_garbage_is_no_command_or_refused_by_name(garbage):
    for items in (garbage, ["setGoal", *garbage], ["setGoal", "velocity", *garbage], ["prepareRobot", *garbage]):
        try:
            command = parse_command(spelled_out(items, WORDS))
        except MalformedCommand:
            continue
        assert command is None or isinstance(command, CoordinatorCommand)


def test_replies_are_ok_or_fail_with_the_reason_and_a_remark():
    assert replied(Reply()) == ok()
    assert replied(Reply("too far")) == fail("too far")
    assert replied(Reply(remark="the clock stands still")) == ok("the clock stands still")


def test_a_table_is_pairs_of_names_and_values_in_lists():
    table = {"pose": (0.1, 0.2), "bridged": (("imu", 3),), "mpc": {"late": 1}}
    assert pairs(table) == [["pose", [0.1, 0.2]], ["bridged", [["imu", 3]]], ["mpc", [["late", 1]]]]
