"""Worlds drawn at random: which there are, what they set, and how walks in them are counted."""

import itertools

import numpy as np
import pytest

from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva_experiments import ExperimentOptions, TrialResult, find_experiment
from gradiva_experiments.shipped.domain_randomization import AXES, DRAWS, course, hand, world


@pytest.fixture(scope="module")
def g1():
    return load_setup("g1").robot


class FallingPool:
    """Walks but where a floor is soft, without a robot; keeps the trials."""

    def __init__(self):
        self.trials = []

    def results(self, trials):
        self.trials += trials
        for index, trial in enumerate(trials):
            fell = trial.overrides.get("simulation.ground.contact_time", 0.0) > 30.0
            sign = {"first_sign": "DCM error 61 mm at 7 s"} if fell else None
            figures = {"outcome": "fell" if fell else "walked badly", "reason": "why", "diagnosis": sign}
            yield index, TrialResult({**figures, "duration_s": 9.0}, None)


def test_ends_come_first_then_pairs_of_axes_and_the_seed_draws_them(g1):
    worlds = [world(draw, g1, seed=1) for draw in range(DRAWS)]
    assert [len(place.axes) for place in worlds] == [1] * 11 + [2] * 9
    assert {axis for place in worlds for axis in place.axes} == set(AXES)
    assert worlds[0].overrides == {"simulation.ground.contact_time": pytest.approx(40.0)}
    assert worlds[1].overrides == {"walking.period": pytest.approx(0.02)}
    again = [world(draw, g1, seed=1) for draw in range(DRAWS)]
    others = [world(draw, g1, seed=2) for draw in range(DRAWS)]
    assert [place.text for place in again] == [place.text for place in worlds]
    assert [place.text for place in others[11:]] != [place.text for place in worlds[11:]]


def test_every_pair_of_axes_is_a_configuration(g1):
    random = np.random.default_rng(0)
    for first, second in itertools.combinations(AXES.values(), 2):
        both = first(0.7, g1, random) + second(0.3, g1, random)
        load_setup("g1", dict(both.overrides))


def test_a_load_and_pushes_at_once_are_all_pushes_and_links_are_of_the_robot(g1):
    random = np.random.default_rng(0)
    both = AXES["payload"](1.0, g1, random) + AXES["pushes"](1.0, g1, random)
    load, *pushes = both.overrides["simulation.pushes"]
    assert load["link"] in (hand(g1, "left"), hand(g1, "right"))
    assert load["force"][2] == pytest.approx(-2.0 * 9.81, rel=1e-3)
    impulse = [np.linalg.norm(push["force"]) * push["duration"] for push in pushes]
    np.testing.assert_allclose(impulse, 0.1 * g1.mass)


def test_a_course_changes_the_velocity_every_four_seconds_until_the_walk_ends():
    commands = course(3, 20.0, seed=1)
    assert [time for time, _ in commands] == [4.0, 8.0, 12.0, 16.0]
    assert all(time + command.duration == pytest.approx(20.0) for time, command in commands)
    assert all(isinstance(command, VelocityCommand) and 0.05 <= command.forward <= 0.2 for _, command in commands)


def test_walks_are_counted_by_robot_and_by_axis_and_causes_by_frequency(tmp_path):
    pool = FallingPool()
    experiment = find_experiment("domain_randomization")
    options = ExperimentOptions(robots=("g1", "talos"), quick=True)
    run = experiment.start(options, tmp_path, pool, lambda done, total, text: None)
    experiment.run(run)
    assert len(pool.trials) == 6
    assert len({trial.key for trial in pool.trials}) == 6
    counts = {(row["robot"], row["axis"]): (row["value"], row["draws"], row["outcome"]) for row in run.rows}
    falls = sum(trial.overrides.get("simulation.ground.contact_time", 0.0) > 30.0 for trial in pool.trials)
    assert counts["g1", "all"] == (3 - falls // 2, 3, "missed")
    assert counts["all", "contact time"][2] == "missed"
    assert run.rows[0]["reason"] == f"{falls // 2} × DCM error"
    assert run.rows[0]["falls"][0]["world"] == "contact of 40 ms"
