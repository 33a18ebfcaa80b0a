"""A walk tells the command that repeats it."""

import inspect

import pytest

from gradiva.cli.walk import walk

OF_THE_RESULT = {"view", "record", "film_size", "camera", "out", "json_to"}  # what is done with it
ELSEWHERE = ["--robot", "talos", "--goal", "1,0.5", "--duration", "30"]

WORDS = {
    "robot": ["--robot", "talos"],
    "speed": ["--speed", "-0.12"],
    "lateral": ["--lateral", "0.05"],
    "turn": ["--turn", "-12.5"],
    "goal": ["--goal", "1,-0.5,90"],
    "path": ["--path", "path.csv", "--speed", "0.15"],
    "duration": ["--duration", "4.25"],
    "control": ["--control", "velocity"],
    "model": ["--model", "dcm_mpc"],
    "from_files": ["--from", "a.toml", "--from", "b.toml"],
    "settings": ["--set", "walking.period=0.005", "--set", 'walking.model="dcm_mpc"'],
    "ground": ["--ground", "penalty"],
    "stiffness": ["--control", "torque", "--ground", "soft", "--stiffness", "1.25e6"],
    "damping": ["--control", "torque", "--ground", "soft", "--damping", "1234.5"],
    "slope": ["--slope", "2.5,-90"],
    "push": ["--push", "chest,0,30,0,4,0.1", "--push", "chest,0,-30,0,6,0.1"],
    "noise": ["--noise"],
    "seed": ["--seed", "7"],
}


@pytest.fixture
def options_of(gradiva, monkeypatch, tmp_path):
    """Return a function from the words of a command to the options that it takes them for."""
    (tmp_path / "path.csv").write_text("0.5,0\n1.0,0.5\n")
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text("[dcm_controller]\nproportional_gain = 1.5\n")
    taken = []
    monkeypatch.setattr("gradiva.cli.walk_session.walk_session", lambda options, *result: taken.append(options) or 0)

    def parse(words):
        status, _, err = gradiva("walk", *words)
        assert status == 0, err
        return taken.pop()

    return parse


def test_every_option_is_looked_at():
    assert inspect.signature(walk).parameters.keys() == WORDS.keys() | OF_THE_RESULT


@pytest.mark.parametrize("option", WORDS)
def test_the_command_of_a_walk_repeats_it(options_of, option):
    first = options_of(WORDS[option]).request()
    again = options_of(first.arguments).request()
    assert again.arguments == first.arguments
    assert again.setup.tables == first.setup.tables
    assert str(again.command) == str(first.command)
    assert (again.seed, again.setup.simulation.pushes) == (first.seed, first.setup.simulation.pushes)


@pytest.mark.parametrize("option", WORDS)
def test_what_was_typed_is_told(options_of, option):
    arguments = options_of(WORDS[option]).request().arguments
    assert set(WORDS[option]) <= {word.replace("1250000", "1.25e6") for word in arguments}


def test_control_and_model_are_written_out_wherever_they_were_chosen(options_of):
    words = options_of(["--set", 'walking.control="torque"']).request().arguments
    assert words[words.index("--control") + 1] == "torque"
    assert words[words.index("--model") + 1] == "dcm"


def test_what_happens_to_the_result_is_not_told(options_of):
    assert "--out" not in options_of([*ELSEWHERE, "--out", "elsewhere", "--json", "-"]).request().arguments
