import pytest

from gradiva.middleware import MalformedMessage
from gradiva.planner import StopCommand, VelocityCommand
from gradiva.setup import load_setup
from gradiva.yarp_modules.coordinator_commands import CoordinatorConfig, GoalChange, GoalStream

SETUP = load_setup("icub_v2_7")
CONFIG = SETUP.part(CoordinatorConfig, "coordinator")
LIMITS = SETUP.walking.planner


@pytest.fixture
def stream():
    return GoalStream(CONFIG, LIMITS)


def test_full_deflection_is_the_configured_share_of_the_highest_speeds(stream):
    stream.take([1.0, -1.0, 1.0], 0.0)
    change = stream.change(0.0)
    forward, turn = CONFIG.forward_fraction * LIMITS.max_speed, CONFIG.turn_fraction * LIMITS.max_angular_speed
    assert change == GoalChange(VelocityCommand(forward, CONFIG.lateral_fraction * LIMITS.max_lateral_speed, -turn))


def test_the_lateral_deflection_may_be_left_out_and_backward_has_its_own_limit(stream):
    stream.take([-1.0, 0.0], 0.0)
    command = stream.change(0.0).command
    assert command.lateral == 0.0
    assert command.forward == -min(LIMITS.max_backward_speed, CONFIG.forward_fraction * LIMITS.max_speed)


def test_what_has_hardly_changed_or_just_changed_is_not_planned_anew(stream):
    stream.take([0.5, 0.0, 0.0], 0.0)
    assert stream.change(0.0) is not None
    stream.take([0.51, 0.0, 0.0], 1.0)
    assert stream.change(1.0) is None
    stream.take([0.6, 0.0, 0.0], 1.1)
    assert stream.change(1.1) is not None
    stream.take([0.9, 0.0, 0.0], 1.2)
    assert stream.change(1.2) is None, "too soon"
    stream.take([0.9, 0.0, 0.0], 1.1 + CONFIG.goal_period)
    assert stream.change(1.1 + CONFIG.goal_period) is not None


def test_to_stand_is_never_too_soon(stream):
    stream.take([0.5, 0.0, 0.0], 0.0)
    stream.change(0.0)
    stream.take([0.0, 0.0, 0.0], 0.01)
    assert stream.change(0.01) == GoalChange(StopCommand())
    assert not stream.is_driving
    assert stream.change(10.0) is None


def test_silence_while_it_drives_is_told_once(stream):
    stream.take([0.5, 0.0, 0.0], 0.0)
    stream.change(0.0)
    assert stream.change(CONFIG.goal_timeout) is None
    change = stream.change(CONFIG.goal_timeout + 0.1)
    assert change.command == StopCommand()
    assert change.because == "goal:i has been silent for 0.60 s"
    assert stream.change(CONFIG.goal_timeout + 5.0) is None


def test_a_silent_stream_that_does_not_drive_is_not_missed(stream):
    assert stream.change(100.0) is None
    stream.take([0.0, 0.0, 0.0], 0.0)
    assert stream.change(100.0) is None


@pytest.mark.parametrize("values", [[], [1.0], [0.0] * 4, [float("nan"), 0.0, 0.0], [1.1, 0.0, 0.0]])
def test_what_is_no_deflection_is_refused_and_changes_nothing(stream, values):
    with pytest.raises(MalformedMessage, match="goal:i"):
        stream.take(values, 0.0)
    assert stream.change(0.0) is None
