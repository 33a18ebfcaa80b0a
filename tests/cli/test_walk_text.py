import pytest

from gradiva.cli.walk_options import WalkOptions
from gradiva.cli.walk_text import describe_command, outcome_line
from gradiva.experiments import plan_from_start


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "iCub v2.7 walks forward at 0.19 m/s: 13 steps"),
        ({"speed": -0.1, "turn": -10.0}, "walks backward at 0.1 m/s and turning right at 10°/s:"),
        ({"lateral": 0.05}, "walks to the left at 0.05 m/s:"),
        ({"goal": "1,0.5,90"}, "walks to (1, 0.5) m, heading 90°:"),
        ({"model": "dcm_mpc", "control": "velocity"}, "dcm_mpc with velocity control"),
        ({"control": "torque", "ground": "soft"}, "dcm with torque control on soft ground"),
    ],
)
def test_the_command_is_told_in_words(options, words):
    request = WalkOptions(robot="icub_v2_7", **options).request()
    assert words in describe_command(request, plan_from_start(request.setup, request.command))


def test_a_reason_is_not_taken_for_markup():
    assert outcome_line({"outcome": "fell", "reason": "the [base]"}) == r"[bold red]fell[/]: the \[base]"
