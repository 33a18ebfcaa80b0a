"""Keys: the stick, a terminal, recordings."""

import os
import pty

import pytest

from gradiva.common import ConfigError
from gradiva.yarp_modules.joypad import JoypadConfig, KeyStick, RecordedKeys
from gradiva.yarp_modules.joypad.keys import KeyCommand, TerminalKeys, keys_in

CONFIG = JoypadConfig(period=0.05, step=0.25, ramp=1.0, dead_zone=0.06, status_period=1.0)
TEXT = "# prepare\n0.5 p\n\n2 g  # start\n2 up\n3.5 q\n"


def stick_after(*keys):
    stick = KeyStick(CONFIG)
    for key in keys:
        stick.press(key)
    return stick


@pytest.mark.parametrize(
    ("keys", "target"),
    [
        (["up"], [0.25, 0.0, 0.0]),
        (["w", "w", "s"], [0.25, 0.0, 0.0]),
        (["up"] * 9, [1.0, 0.0, 0.0]),
        (["down"] * 9, [-1.0, 0.0, 0.0]),
        (["left", "a"], [0.0, 0.5, 0.0]),
        (["right", "d", "d"], [0.0, -0.75, 0.0]),
        (["j"], [0.0, 0.0, 0.25]),
        (["l"], [0.0, 0.0, -0.25]),
        (["up"] * 3 + ["down"] * 3, [0.0, 0.0, 0.0]),
        (["up", "left", "0"], [0.0, 0.0, 0.0]),
        (["y", "escape"], [0.0, 0.0, 0.0]),
    ],
)
def test_each_press_moves_the_stick_by_a_step(keys, target):
    assert stick_after(*keys).target.tolist() == pytest.approx(target)


def test_the_goal_follows_by_a_ramp():
    stick = stick_after("up", "up")
    goals = [stick.goal(0.1)[0] for _ in range(7)]
    assert goals == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5])


def test_near_the_middle_the_goal_is_zero():
    stick = stick_after("up")
    assert [stick.goal(0.05)[0] for _ in range(3)] == pytest.approx([0.0, 0.1, 0.15])


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("p", KeyCommand.PREPARE),
        ("g", KeyCommand.START),
        ("space", KeyCommand.PAUSE),
        ("x", KeyCommand.STOP),
        ("h", KeyCommand.HOME),
        ("e", KeyCommand.EMERGENCY_STOP),
        ("q", KeyCommand.QUIT),
    ],
)
def test_a_command_lets_go_of_the_stick_at_once(key, command):
    stick = stick_after("up", "up")
    stick.goal(1.0)
    assert stick.press(key) is command
    assert stick.goal(0.01) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("change", [{"step": 0.0}, {"step": 1.5}, {"dead_zone": 0.3}, {"ramp": -1.0}])
def test_a_configuration_that_cannot_work_is_refused(change):
    values = {name: getattr(CONFIG, name) for name in CONFIG.__slots__} | change
    with pytest.raises(ConfigError, match=next(iter(change))):
        JoypadConfig(**values)


def test_each_key_is_due_once_at_its_time():
    keys = RecordedKeys(TEXT)
    assert [keys.due(time) for time in (0.0, 0.5, 1.0, 2.0, 9.0, 10.0)] == [[], ["p"], [], ["g", "up"], ["q"], []]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("0.5", "keys, line 1: expected 'time key', got '0.5'"),
        ("p 0.5", "line 1: expected 'time key'"),
        ("1 fly", r"line 1: 'fly' is no key \(valid: up"),
        ("1 up up", "'up up' is no key"),
        ("2 up\n1 p", "line 2: 1.0 s comes after 2.0 s"),
        ("nan up", "line 1: nan is no time"),
    ],
)
def test_a_wrong_line_is_named(text, complaint):
    with pytest.raises(ConfigError, match=complaint):
        RecordedKeys(text)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"--input .*keys\.txt"):
        RecordedKeys.read(tmp_path / "keys.txt")


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("wA ", ["w", "a", "space"]),
        ("\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
        ("\x1bOA", ["up"]),
        ("\x1b[1;5Ap", ["up", "p"]),
        ("\x1b[3~e", ["e"]),
        ("\x1b", []),
        ("\x1b[", []),
        ("\x1b[e", []),
        ("\x1bq", ["q"]),
    ],
)
def test_bytes_of_a_terminal_become_names_of_keys(typed, keys):
    assert list(keys_in(typed)) == keys


@pytest.fixture
def terminal():
    controller, follower = pty.openpty()
    yield controller, follower
    os.close(controller)
    os.close(follower)


def test_keys_come_without_the_end_of_a_line_and_the_terminal_is_given_back(terminal):
    import termios

    controller, follower = terminal
    former = termios.tcgetattr(follower)
    keys = TerminalKeys(follower)
    keys.open()
    assert keys.pending() == []
    os.write(controller, b"p\x1b[A ")
    assert keys.pending() == ["p", "up", "space"]
    keys.close()
    assert termios.tcgetattr(follower) == former
    assert keys.pending() == []


def test_a_file_that_is_no_terminal_has_no_keys(tmp_path):
    with (tmp_path / "keys").open("w+") as file:
        keys = TerminalKeys(file.fileno())
        keys.open()
        assert not keys.is_there
        assert keys.pending() == []
        keys.close()
