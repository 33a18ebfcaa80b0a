from pathlib import Path

import pytest

from gradiva.common import ConfigError
from gradiva.robot_model import Environment
from gradiva.yarp_modules.module_options import ModuleOption, ModuleOptions, parse_options

OWN = (
    ModuleOption("speed", "times real time", "FACTOR"),
    ModuleOption("paused", "begin paused"),
    ModuleOption("remote", "beginning of the ports of others", "/NAME"),
)


def parse(*arguments, needs_robot=True):
    return parse_options(arguments, "gradiva-test", "A test.", OWN, needs_robot)


def test_options_have_the_form_of_yarp():
    options = parse("--name", "/x", "--robot", "talos", "--from", "a.toml", "--from", "b.toml", "--set", "a.b=1")
    assert (options.name, options.robot) == ("/x", "talos")
    assert options.files == (Path("a.toml"), Path("b.toml"))
    assert options.overrides == ("a.b=1",)
    assert options.environment is Environment.SIMULATION
    assert not options.extras


def test_a_modules_own_options_are_extras():
    options = parse("--robot", "talos", "--speed", "2.5", "--paused", "--environment", "hardware")
    assert options.extras == {"speed": "2.5", "paused": "true"}
    assert options.number("speed", 1.0) == 2.5
    assert options.number("other", 3.0) == 3.0
    assert options.environment is Environment.HARDWARE


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--speed", "1"), "which robot"),
        (("--robot", "talos", "--sped", "1"), "--sped"),
        (("--robot", "talos", "--environment", "moon"), "moon"),
        (("--robot", "talos", "--name", "x"), "--name x: expected the name of a port"),
        (("--robot", "talos", "--clock", "/a b"), "--clock"),
        (("--robot", "talos", "--remote", "walking"), "--remote walking: expected the name of a port"),
        (("--robot",), "--robot"),
    ],
)
def test_wrong_options_are_named(arguments, complaint):
    with pytest.raises(ConfigError, match=complaint):
        parse(*arguments)


def test_an_extra_that_is_no_number_is_named():
    with pytest.raises(ConfigError, match="--speed fast: expected a number"):
        ModuleOptions(extras={"speed": "fast"}).number("speed", 1.0)


def test_a_logger_needs_no_robot():
    assert parse(needs_robot=False).robot == ""
