import pytest

from gradiva.common import ConfigError
from gradiva.yarp_modules.joypad import JoypadConfig, KeyStick
from gradiva.yarp_modules.joypad.keys import KeyCommand

CONFIG = JoypadConfig(period=0.05, step=0.25, ramp=1.0, dead_zone=0.06, status_period=1.0)


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
