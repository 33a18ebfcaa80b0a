import math

import pytest

from gradiva.planner import GoalCommand, PathCommand, StopCommand, VelocityCommand


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (VelocityCommand(0.2, angular=math.radians(-10.0)), "forward at 0.2 m/s and turning right at 10°/s"),
        (VelocityCommand(0.0), "on the spot"),
        (GoalCommand(1.0, 0.5, math.pi / 2), "to (1, 0.5) m, heading 90°"),
        (PathCommand([[1.0, 0.0], [1.0, 1.0]], 0.2), "along a path of 2 points at 0.2 m/s"),
        (StopCommand(), "to a stand"),
    ],
)
def test_commands_are_printed_in_words(command, words):
    assert str(command) == words
