"""``gradiva tune``: the search finds a known optimum, gives bad candidates up, and is judged on fresh seeds."""

import json
import os
import tomllib
from dataclasses import replace

import pytest

from gradiva.common import ConfigError
from gradiva.setup import load_setup
from gradiva_experiments.campaign import trial_rows
from gradiva_experiments.campaign.engine import Answer
from gradiva_experiments.campaign.trial_rows import TrialRows
from gradiva_experiments.campaign.tune import (
    FALL,
    Search,
    judge,
    read_space,
    run_search,
    walk_all,
    walk_cost,
    write_tuned,
)

BOWL = {"zmp_com_controller.walking.zmp": 2.0, "zmp_com_controller.walking.com": 4.0}
SEEDS, WALKS = 6, 300


class FakeEngine:
    """Answers at once: the cost has its least value at `BOWL`, and differs from seed to seed; zmp above 5 falls."""

    wants_more = True
    note = print

    def __init__(self):
        self.waiting, self.walks, self.seeds = [], 0, set()

    def put(self, key, options):
        self.waiting.append((key, options))

    def next(self, timeout):
        key, options = self.waiting.pop(0)
        self.walks += 1
        self.seeds.add(options["seed"])
        gains = {name: float(text) for name, _, text in (each.partition("=") for each in options["settings"])}
        distance = sum((gains[name] / best - 1.0) ** 2 for name, best in BOWL.items())
        fell = gains["zmp_com_controller.walking.zmp"] > 5.0
        error = 0.01 * (1.0 + distance * (1.0 + 0.03 * options["seed"]))
        figures = {"outcome": "fell" if fell else "walked", "reason": "", "duration_s": 4.0 if fell else 10.0}
        return key, Answer(figures | {"dcm_error_m.rms": error, "zmp_error_m.rms": 0.0})


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder, engine = tmp_path_factory.mktemp("tune"), FakeEngine()
    walk = {"robot": "icub_v2_7", "plant": "robot", "duration": 10.0}
    gains = read_space(walk)
    space = replace(gains, keys={name: gains.keys[name] for name in BOWL}, before=dict.fromkeys(BOWL, 1.0))
    search = Search(walk, space, range(SEEDS), walks=WALKS, seed=1)
    with TrialRows(folder / "rows") as rows:
        run_search(search, engine, rows, lambda done, text: None)
        searched = engine.walks
        found = judge(search, range(100, 120), engine, rows)
        again = FakeEngine()
        repeated = Search(walk, space, range(SEEDS), walks=WALKS, seed=1)
        run_search(repeated, again, rows, lambda done, text: None)
    return folder, search, found, engine, searched, again


def test_the_search_comes_within_five_percent_of_the_optimum_from_gains_that_are_wrong(tuned):
    _, search, found, *_ = tuned
    first, last = (
        sum((gains[name] / best - 1.0) ** 2 for name, best in BOWL.items())
        for gains in (search.space.before, found.values)
    )
    assert first > 0.8
    assert last < 0.05


def test_bad_candidates_are_given_up_before_they_have_walked_all_seeds(tuned):
    _, search, found, _, searched, _ = tuned
    tried, whole = found.candidates
    assert searched <= WALKS + 12 * SEEDS
    assert tried > 1.2 * searched / SEEDS
    assert whole < tried
    assert all(len(candidate.costs) >= 3 for candidate in search.finished)


def test_the_figures_before_and_after_are_of_seeds_that_the_search_has_not_seen(tuned):
    _, _, found, engine, *_ = tuned
    assert engine.seeds == {*range(SEEDS), *range(100, 120)}
    assert found.lines[0].startswith("before: 20 of 20")
    assert "Wilcoxon" in found.lines[2]


def test_what_is_found_is_an_overlay_that_the_robot_loads(tuned):
    folder, _, found, *_ = tuned
    overlay, report = write_tuned(found, folder)
    table = load_setup("icub_v2_7", files=[overlay]).tables["zmp_com_controller"]["walking"]
    assert table == {name.rpartition(".")[2]: value for name, value in found.values.items()}
    assert tomllib.loads(overlay.read_text())["zmp_com_controller"]["walking"].keys() == {"zmp", "com"}
    assert "McNemar" in report.read_text()


def test_the_same_search_needs_no_walk_twice(tuned):
    *_, searched, again = tuned
    assert again.walks == 0
    assert searched > 0


def test_a_full_disk_pauses_a_search_too(tuned, tmp_path, monkeypatch):
    monkeypatch.setattr(trial_rows, "_RETRY", 0.01)
    (_, search, *_), refused, add, lines, engine = tuned, iter(range(4)), TrialRows.add, [], FakeEngine()
    engine.note = lines.append

    def full(rows, row):
        if next(refused, 1) % 2 == 0:
            raise OSError(28, os.strerror(28))
        add(rows, row)

    monkeypatch.setattr(TrialRows, "add", full)
    short = Search(search.walk, search.space, range(2), walks=1)
    with TrialRows(tmp_path) as rows:
        run_search(short, engine, rows, lambda done, text: None)
        walk_all([short.trial(search.space.before, 50)], engine, rows)
        assert len(rows.keys) == engine.walks
    assert [line.partition(":")[0] for line in lines] == ["paused", "the disk can be written again"] * 2


def test_a_walk_that_is_lost_costs_more_than_any_other_and_the_more_the_earlier():
    def cost(outcome, duration, error=0.01):
        figures = {"dcm_error_m.rms": error, "zmp_error_m.rms": error, "duration_s": duration}
        return walk_cost({"outcome": outcome, "options": json.dumps({"duration": 10.0}), **figures})

    assert cost("walked", 16.0) == pytest.approx(0.02)
    assert cost("fell", 2.0) > cost("fell", 8.0) > FALL > cost("walked", 16.0, 0.1)


def test_a_law_of_ones_own_states_its_search_space_in_its_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("[tune]\ndcm_controller.proportional_gain = { between = [1.05, 1.9] }\n")
    space = read_space({"robot": "icub_v2_7", "from": [str(file)]})
    assert space.before == {"dcm_controller.proportional_gain": 1.1}
    file.write_text("[tune]\ndcm_controller.gain = { between = [1.05, 1.9] }\n")
    with pytest.raises(ConfigError, match=r"dcm_controller\.gain: the configuration of .* has no such number"):
        read_space({"robot": "icub_v2_7", "from": [str(file)]})
