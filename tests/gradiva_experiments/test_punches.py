"""Punches that grow: how strong they are, and how the time that a robot lasts is counted."""

from types import SimpleNamespace

import pytest

from gradiva.planner import StopCommand, VelocityCommand
from gradiva.setup import load_setup
from gradiva.walking import WalkingState
from gradiva_experiments import ExperimentOptions, find_experiment
from gradiva_experiments.shipped import punches
from gradiva_experiments.shipped.punches import (
    PunchedWalk,
    drawn_punches,
    in_short,
    pendulum_lasts,
    pendulum_of,
    punch_force,
)
from tests.gradiva_experiments.fake_pool import ImmediatePool


def test_punches_grow_for_a_minute_and_are_as_the_mass():
    forces = [punch_force(time, 33.34) for time in (0.0, 30.0, 60.0, 85.0)]
    assert forces == pytest.approx([170.0, 335.0, 500.0, 500.0])
    assert punch_force(60.0, 66.68) == pytest.approx(1000.0)


class Standing:
    """A robot that falls after a time, without physics; keeps what acts on it."""

    def __init__(self, falls_at):
        self.time, self.pushes, self._falls_at = 3.0, [], falls_at
        self.setup = SimpleNamespace(robot=load_setup("g1").robot)
        self.robot = SimpleNamespace(push=self.pushes.append)
        self.controller = SimpleNamespace(state=WalkingState.WALKING)

    @property
    def is_down(self):
        return self.time >= self._falls_at

    def tick(self):
        self.time += 0.02


def test_a_robot_is_punched_every_five_seconds_until_it_falls(monkeypatch):
    monkeypatch.setattr(PunchedWalk, "_reason", lambda walk: "base tilt above the limit of 45° at 16.00 s")
    punched = PunchedWalk.__new__(PunchedWalk)
    punched._longest, punched.walk = 90.0, Standing(falls_at=16.0)
    outcome = punched.continued((1, 2))
    assert outcome["lasted"] == pytest.approx(13.0, abs=0.03)
    assert [push.start for push in punched.walk.pushes[:3]] == [8.0, 13.0, 18.0]
    assert len(punched.walk.pushes) == 17
    assert outcome["link"] == punched.walk.pushes[1].link


@pytest.mark.parametrize(
    ("reason", "short"),
    [
        ("the DCM is 41 cm off its reference, the limit is 40 cm at 10.00 s", "the DCM is … off its reference"),
        (
            "both feet carry 352 N together, the limit is 443 N: most lacks on the right foot",
            "both feet carry … together",
        ),
        ("the base is tilted by 35°, the limit is 34° at 7.97 s", "the base is tilted by …"),
        ("joint arm_right_5_joint moves at 12.3 rad/s", "joint arm_right_5_joint moves at …"),
        (
            "the right foot reads nothing where it stands, and both carry 323 N",
            "the right foot reads nothing where it stands",
        ),
        ("4 ticks failed in a row, the last one: NoSolutionFound", "… ticks failed in a row"),
        ("joint r_knee differs from its command by -0.36 rad, the limit", "joint r_knee differs from its command by …"),
    ],
)
def test_ends_that_differ_in_numbers_alone_are_counted_as_one(reason, short):
    assert in_short(reason) == short


def test_a_pendulum_meets_the_same_punches_and_lasts_while_they_are_weak(monkeypatch):
    def lasts(doing):
        punched = drawn_punches(load_setup("g1").robot, 12.0, (2030, 1))
        return pendulum_lasts(pendulum_of("g1", doing, {}), 12.0, punched)

    assert 5.0 < lasts("walking") <= 12.0
    monkeypatch.setattr(punches, "WEAKEST", 0.0)
    monkeypatch.setattr(punches, "STRONGEST", 60.0)
    assert lasts("walking") == 12.0
    monkeypatch.setattr(punches, "WEAKEST", 1000.0)
    assert 5.0 < lasts("standing") < 7.0  # the first punch is at 5 s


def test_the_pendulum_has_the_settings_of_the_walks(monkeypatch):
    monkeypatch.setattr(punches, "AttainableImpulses", lambda setup, speed: (setup.walking.planner.step_width, speed))
    assert punches.pendulum_of("g1", "walking", {"planner.step_width": 0.25}) == (0.25, 0.2)


class PunchedPool(ImmediatePool):
    """The first draw lasts for 15 s, others for 9 s."""

    def value(self, job):
        place = job.ways.way[1]
        reason = "base tilt above the limit of 45° at 9.00 s" if place else ""
        outcome = {"lasted": 15.0 - 6.0 * place, "reason": reason, "link": "head"}
        return {"outcome": outcome, "time": 3.0, "failure": ""}


def test_means_and_causes_are_counted_standing_and_walking(tmp_path):
    experiment = find_experiment("punches")
    run = experiment.start(ExperimentOptions(robots=("g1",), quick=True), tmp_path, PunchedPool(), lambda *report: None)
    experiment.run(run)
    assert [(row["doing"], row["value"], row["outcome"]) for row in run.rows] == [
        ("standing", 12.0, "missed"),
        ("walking", 12.0, "missed"),
    ]
    assert all(5.0 < row["paper"] <= 15.0 for row in run.rows)
    assert (run.rows[0]["reason"], run.rows[0]["links"]) == ("1 × base tilt above the limit of … at …", "1 × head")
    assert isinstance(punches._COMMANDS["standing"], StopCommand)
    assert isinstance(punches._COMMANDS["walking"], VelocityCommand)
