"""``gradiva doctor --exercise``: what it says, asks and keeps; the exercise itself is the session's."""

import io

import pytest

from gradiva.cli import checks, doctor
from gradiva.cli.commands import carry_out
from gradiva.common import ConfigError, StateError
from gradiva.session import Figure, HealthRecord

FOLLOWS = Figure("l_knee", "follows", 1.0, "", 0.8, 1.2, 0.1)
LOAD = Figure("left foot", "slope of its force", 1.5, "", 0.8, 1.2, 0.05)


class Exercise:
    """Stands in for the session's: moves nothing."""

    figures = (FOLLOWS,)
    stands, duration = True, 52.0

    def __init__(self, *_):
        self.motions = []

    def run(self, report):
        report("base ahead")
        return list(self.figures)


@pytest.fixture
def record(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(checks, "Exercise", Exercise)
    return HealthRecord("icub_v2_7", "process")


def exercise(*more):
    return carry_out(["doctor", "--robot", "icub_v2_7", "--environment", "process", "--exercise", *more])


def test_a_robot_moves_only_when_that_is_confirmed(record, monkeypatch, capsys):
    monkeypatch.setattr(checks.typer, "confirm", lambda question: False)
    assert exercise() == 1
    assert record.entries() == []
    assert "iCub v2.7 stands: its base moves by 12 mm and 2°" in capsys.readouterr().out
    assert exercise("--yes") == 0
    assert [entry["figures"] for entry in record.entries()] == [{"l_knee follows": 1.0}]
    assert f"kept in {record.path}" in capsys.readouterr().out


def test_a_question_that_gets_no_answer_names_the_option_that_needs_none(record, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert exercise() == 2
    assert "--yes moves it without" in capsys.readouterr().err
    assert record.entries() == []


def test_a_figure_out_of_its_range_fails_and_a_drift_is_seen(record, monkeypatch, capsys):
    assert exercise("--yes") == 0
    drifted = Figure("l_knee", "follows", 1.15, "", 0.8, 1.2, 0.1)
    monkeypatch.setattr(Exercise, "figures", (drifted, LOAD))
    assert exercise("--yes") == 1
    out = capsys.readouterr().out
    assert "warn  l_knee follows 1.15, healthy 0.8 to 1.2; before 1" in out
    assert "fail  left foot slope of its force 1.5, healthy 0.8 to 1.2" in out
    assert "left foot slope" in record.refusal()


def test_an_exercise_that_was_ended_is_kept_as_a_failure(record, monkeypatch, capsys):
    def end(self, report):
        raise StateError("ended at 'base roll': l_knee is 9.0° off its set-point")

    assert exercise("--yes") == 0
    monkeypatch.setattr(Exercise, "run", end)
    assert exercise("--yes") != 0
    assert "l_knee is 9.0° off its set-point" in record.refusal()
    assert record.former("stands") == {"l_knee follows": 1.0}
    assert "l_knee is 9.0° off" in capsys.readouterr().err


def test_what_is_of_a_robot_needs_one(capsys):
    assert carry_out(["doctor", "--exercise"]) == 2
    assert "--exercise are of a robot" in capsys.readouterr().err


def test_a_plant_is_of_a_robot_of_this_process_alone(capsys):
    assert carry_out(["doctor", "--robot", "icub_v2_7", "--plant", "robot"]) == 2
    assert "--plant is of --environment process" in capsys.readouterr().err


def test_a_robot_of_this_process_does_not_move_without_exercise(record, capsys):
    assert carry_out(["doctor", "--robot", "icub_v2_7", "--environment", "process", "--yes"]) == 2
    assert "it is there for --exercise" in capsys.readouterr().err
    assert record.entries() == []


@pytest.mark.parametrize("environment", ["process", "simulation"])
@pytest.mark.parametrize("more", [[], ["--first-run"]])
def test_the_low_speeds_of_first_walks_are_those_of_the_exercise_too(monkeypatch, environment, more):
    loaded = []

    def load(*_, first_run):
        loaded.append(first_run)
        raise ConfigError("far enough")

    monkeypatch.setattr(checks, "load_setup", load)
    monkeypatch.setattr(doctor, "_check_robot", lambda *_: 0)
    arguments = ["doctor", "--robot", "icub_v2_7", "--environment", environment, "--exercise", "--yes", *more]
    assert carry_out(arguments) == 2
    assert loaded == [bool(more)]
