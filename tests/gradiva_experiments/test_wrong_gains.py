"""Searches from wrong gains: the starts, the rows, and when a search has found back."""

from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.setup import Plant
from gradiva_experiments import ExperimentOptions, Pool, find_experiment
from gradiva_experiments.campaign.campaign import FALL
from gradiva_experiments.campaign.search import SearchSpace, read_space
from gradiva_experiments.shipped import wrong_gains
from gradiva_experiments.shipped.wrong_gains import (
    EIGHTEEN,
    Score,
    anywhere,
    as_good,
    as_successful,
    halved_or_doubled,
    wrong_start,
)
from tests.gradiva_experiments.fake_engine import FakeEngine

WALK = {"robot": "icub_v2_7", "plant": "robot", "duration": 10.0}


class FakePool(Pool):
    def engine(self, function):
        return FakeEngine()


def row_of(name, tmp_path, **options):
    experiment = find_experiment(name)
    chosen = ExperimentOptions(seeds=1, speeds=(0.2,), plants=(Plant.ROBOT,), **options)
    run = experiment.start(chosen, tmp_path, FakePool(), lambda done, total, text: None)
    experiment.run(run)
    (row,) = run.rows
    return row


@pytest.fixture(scope="module")
def space():
    return read_space(WALK)


def test_gains_are_halved_or_doubled_and_of_the_dcm_gain_the_part_above_one(space):
    keys = {name: space.keys[name] for name in list(space.keys)[:2]}
    shipped = SearchSpace(keys, dict(zip(keys, (1.1, 2.0), strict=True)))
    found = {tuple(halved_or_doubled(shipped, np.random.default_rng(seed)).values()) for seed in range(20)}
    assert found == {(1.05, 1.0), (1.05, 4.0), (1.2, 1.0), (1.2, 4.0)}


def test_gains_that_are_refused_are_drawn_again(space, monkeypatch):
    starts = [wrong_start(WALK, space, halved_or_doubled, seed).before for seed in range(8)]
    assert len({tuple(start.values()) for start in starts}) > 2
    assert all(s["zmp_com_controller.walking.com"] <= 3.0 * s["zmp_com_controller.walking.zmp"] for s in starts)
    monkeypatch.setattr(wrong_gains, "_DRAWS", 3)
    with pytest.raises(ConfigError, match="are refused 3 times"):
        wrong_start({**WALK, "inverse_kinematics.no_such_gain": 1.0}, space, anywhere, 0)


def test_a_start_is_as_it_was_drawn_not_at_the_end_of_a_range(space, monkeypatch):
    name = "zmp_com_controller.walking.zmp"
    edge = space.keys[name].between[1]
    shipped = replace(space, before={**space.before, name: 0.75 * edge})  # doubled it is beyond
    for seed in range(4):
        start = wrong_start(WALK, shipped, halved_or_doubled, seed).before
        assert start[name] == pytest.approx(0.375 * edge)
    monkeypatch.setattr(wrong_gains, "_DRAWS", 3)
    with pytest.raises(ConfigError, match=rf"are refused 3 times, the last ones: {name} outside of what is searched"):
        wrong_start(WALK, shipped, lambda *_: {**space.before, name: 2.0 * edge}, 0)


def test_gains_from_anywhere_fill_their_ranges(space):
    name = "zmp_com_controller.walking.zmp"
    found = [anywhere(space, np.random.default_rng(seed))[name] for seed in range(40)]
    least, largest = space.keys[name].between
    assert least < min(found) < 2.0 * least
    assert 0.5 * largest < max(found) < largest


def test_the_eighteen_gains_are_keys_of_every_robot_and_their_ranges_hold_half_and_double():
    space = read_space({**WALK, "from": list(EIGHTEEN.files)})
    assert len(space.keys) == 18
    for name, value in space.before.items():
        least, largest = space.keys[name].between
        assert least <= 0.5 * value + 0.5 * (name == "dcm_controller.proportional_gain")
        assert 2.0 * value - (name == "dcm_controller.proportional_gain") <= largest


def test_a_search_has_found_back_by_its_score_or_by_its_lost_walks():
    shipped = Score(walks=10, lost=1, cost=0.13, scatter=0.002, tracking=0.03)
    assert as_good(shipped) == pytest.approx(0.13 + 0.05 * 0.03)  # a lost walk gives no room to err more
    assert as_successful(shipped) == pytest.approx(2 * FALL / 10)


def test_a_row_has_what_the_search_cost_and_its_figures_on_fresh_seeds(tmp_path):
    row = row_of("wrong_gains", tmp_path, seed=3)
    assert row["outcome"] == "met"
    assert row["before_mm"] > 1.05 * row["shipped_mm"] >= row["found_mm"]
    assert 0 < row["value"] == row["walks"] <= 300
    assert row["found_lost"] == row["fresh_found_lost"] == 0
    assert row["fresh_found_mm"] < row["fresh_shipped_mm"] * 1.1
    assert "zmp " in row["reason"]


def test_eighteen_gains_are_judged_by_their_simulated_time(tmp_path):
    row = row_of("eighteen_gains", tmp_path)
    assert (row["gains"], row["paper"]) == (18, 200_000.0)
    assert row["value"] == row["simulated_s"] > 0.0
    assert row["found_lost"] <= row["shipped_lost"]
