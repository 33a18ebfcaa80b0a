import pytest

from gradiva.cli.yarp.calling import message_of, reply_lines
from gradiva.common import ConfigError
from gradiva.middleware import yarp


def test_words_become_one_message():
    message = message_of(["setGoal", "(1.0 -0.5)", "-3"])
    assert message.size() == 3
    assert message.get(0).asString() == "setGoal"
    assert message.get(1).asList().get(1).asFloat64() == -0.5
    assert message.get(2).asInt32() == -3


@pytest.mark.parametrize("text", ["(1 2", 'say "hello', "{1 2", "((1)"])
def test_what_is_not_closed_is_refused(text):
    with pytest.raises(ConfigError, match="not closed"):
        message_of([text])


@pytest.mark.parametrize(
    ("reply", "lines"),
    [
        ("[ok]", ["[ok]"]),
        ('"two words" 3', ['"two words" 3']),
        ("", [""]),
        ('[many] "first line" second', ["first line", "second"]),
        ('[many] ("*** Available commands:" get help)', ["*** Available commands:", "get", "help"]),
        ("[many] (1 2) 3", ["1", "2", "3"]),
        ("[many]", ["[many]"]),
        ("many words", ["many words"]),
    ],
)
def test_a_reply_of_many_has_a_line_for_each(reply, lines):
    assert reply_lines(yarp.Bottle(reply)) == lines
