"""``gradiva tune``: the search finds a known optimum, gives bad candidates up, and is judged on fresh seeds."""

import json
import os
import tomllib
from dataclasses import replace

import pytest

from gradiva.common import ConfigError
from gradiva.setup import load_setup
from gradiva_experiments.campaign import trial_rows
from gradiva_experiments.campaign.campaign import FALL, walk_cost
from gradiva_experiments.campaign.driver import carry_out
from gradiva_experiments.campaign.search import (
    FrontSearch,
    Search,
    read_space,
    run_search,
    sensitivities,
    walk_all,
)
from gradiva_experiments.campaign.trial_rows import TrialRows
from gradiva_experiments.campaign.tune import TuneOptions, judge, publish_tuned, write_tuned
from tests.gradiva_experiments.fake_engine import BOWL, FakeEngine
from tests.installed import EXAMPLES, install

SEEDS, WALKS = 6, 300


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
    early = [each for each in search.finished if len(each.costs) < 3 and not each.is_refused]
    assert early
    assert all(sum(each.costs.values()) > SEEDS * search.best.cost for each in early)


def test_the_figures_before_and_after_are_of_seeds_that_the_search_has_not_seen(tuned):
    _, _, found, engine, *_ = tuned
    assert engine.seeds == {*range(SEEDS), *range(100, 120)}
    assert found.lines[0].startswith("before: 20 of 20")
    assert "Wilcoxon" in found.lines[2]


def test_a_candidate_that_falls_once_walks_no_more_where_the_best_one_loses_no_walk(tuned):
    _, search, *_ = tuned
    short = Search(search.walk, replace(search.space, before=BOWL), search.seeds, WALKS)

    def walk(candidate):
        list(carry_out([short.walks_of(candidate)], FakeEngine(), lambda row: None))
        short.end([candidate])

    (before,) = short.begin()
    walk(before)
    falling = short.begin()[0]
    falling.values = {**BOWL, "zmp_com_controller.walking.zmp": 5.5}
    walk(falling)
    assert len(before.rows) == SEEDS
    assert [row["outcome"] for row in falling.rows.values()] == ["fell"]
    assert falling.is_given_up
    assert short.simulated == 10.0 * SEEDS + 4.0
    assert short.estimate(falling) > FALL


def test_generations_are_larger_the_more_keys_there_are(tuned):
    _, search, *_ = tuned
    assert search.generation == 6
    many = replace(search.space, keys=dict.fromkeys(map(str, range(18))))
    assert replace(search, space=many).generation == 12


def test_a_search_ends_when_its_best_candidate_is_good_enough(tuned, tmp_path):
    _, search, *_ = tuned
    short = Search(search.walk, search.space, search.seeds, WALKS, 1, enough=0.9 * search.finished[0].cost)
    with TrialRows(tmp_path) as rows:
        run_search(short, FakeEngine(), rows, lambda done, text: None)
    assert search.best.cost < short.best.cost <= short.enough
    assert short.given < search.given


def test_values_that_are_refused_cost_one_call_and_no_walk(tuned):
    _, search, _, _, searched, _ = tuned
    refused = [candidate for candidate in search.finished if candidate.is_refused]
    assert refused
    assert all(len(candidate.rows) == 1 and candidate.cost >= FALL for candidate in refused)
    assert search.given + len(refused) >= searched


def test_the_sensitivities_name_the_gain_that_matters_more(tuned):
    _, search, found, *_ = tuned
    matters = sensitivities(search)
    assert matters == found.matters
    assert matters.keys() == BOWL.keys()
    assert sum(matters.values()) > 0.4
    assert sensitivities(replace(search, finished=search.finished[:10])) == {}


@pytest.fixture(scope="module")
def front(tuned, tmp_path_factory):
    _, search, found, *_ = tuned
    second = FrontSearch(
        search.walk, search.space, range(3), 180, 1, objectives=("error", "energy"), seeded=[found.values]
    )
    with TrialRows(tmp_path_factory.mktemp("front")) as rows:
        run_search(second, FakeEngine(), rows, lambda done, text: None)
    return second


def test_the_front_holds_compromises_of_which_none_is_worse_in_all_objectives(front, tuned):
    *_, found = tuned[:3]
    points = [front.values_of(each) for each in front.front]
    assert len(points) >= 3
    errors, energies = zip(*points, strict=True)
    assert list(errors) == sorted(errors)
    assert list(energies) == sorted(energies, reverse=True)
    assert min(energies) < 0.9 * found.values["zmp_com_controller.walking.zmp"]
    assert found.values in [each.values for each in front.finished]


def test_no_candidate_of_the_front_is_pruned_and_none_that_loses_a_walk_is_on_it(front):
    assert all(len(each.rows) == 3 for each in front.finished if not each.is_refused)
    lost = [each for each in front.finished if any(row["outcome"] != "walked" for row in each.rows.values())]
    assert lost
    assert not {id(each) for each in lost} & {id(each) for each in front.front}


def test_each_point_of_the_front_is_an_overlay_and_a_line_of_the_page(front, tuned, tmp_path):
    (tmp_path / "front_99.toml").write_text("# of an earlier run\n")
    *overlays, report = write_tuned(tuned[2], tmp_path, front)
    assert {*tmp_path.glob("*.toml")} == {*overlays}
    assert [path.name for path in overlays[:3]] == ["tuned.toml", "front_1.toml", "front_2.toml"]
    assert len(overlays) == 1 + len(front.front)
    assert "work [J/kg/m]" in overlays[1].read_text()
    assert f"{len(front.front)} of {len(front.finished)} candidates" in report.read_text()
    assert "front_2" in report.read_text()


def test_the_example_of_a_law_of_ones_own_is_searched_by_its_own_table(tmp_path, monkeypatch):
    install(EXAMPLES / "own_dcm_law", tmp_path, monkeypatch)
    walk = {"robot": "icub_v2_7", "from": [str(EXAMPLES / "own_dcm_law" / "heading_gains.toml")]}
    space = read_space(walk)
    assert space.before == {"balance_laws.heading_gains.forward": 1.1, "balance_laws.heading_gains.sideways": 1.6}
    engine, search = FakeEngine(), Search(walk, space, range(2), walks=1)
    with TrialRows(tmp_path / "rows") as rows:
        run_search(search, engine, rows, lambda done, text: None)
    assert search.best.values.keys() == space.before.keys()


def test_what_is_found_is_an_overlay_that_the_robot_loads(tuned):
    folder, _, found, *_ = tuned
    overlay, report = write_tuned(found, folder)
    table = load_setup("icub_v2_7", files=[overlay]).tables["zmp_com_controller"]["walking"]
    assert table == {name.rpartition(".")[2]: value for name, value in found.values.items()}
    assert tomllib.loads(overlay.read_text())["zmp_com_controller"]["walking"].keys() == {"zmp", "com"}
    assert "McNemar" in report.read_text()


def test_what_is_found_and_its_cost_are_published(tuned, tmp_path):
    _, _, found, *_ = tuned
    options = TuneOptions(robot="icub_v2_7", walks=WALKS, speed=0.24, settings=["planner.com_arc=0.5"], workers=1)
    path = publish_tuned(found, options, tmp_path)
    published = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == "tune-icub_v2_7-robot-position-0.24.json"
    assert published["command"] == "gradiva tune icub_v2_7 --speed 0.24 --set planner.com_arc=0.5"
    (row,) = published["rows"]
    assert (row["walks"], row["fresh seeds"], row["simulated_s"]) == (found.walks, 20, round(found.simulated))
    assert row["gains"].startswith("zmp_com_controller.walking.zmp 1 → ")
    assert row["success: before, after, p"] == "20, 20, 1"


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


def test_by_torque_gains_are_searched_that_torque_control_has():
    space = read_space({"robot": "icub_v2_7", "control": "torque"})
    config = load_setup("icub_v2_7", ['walking.control="torque"']).walking
    assert not any(name.startswith("zmp_com_controller") for name in space.before)
    assert space.before["torque_control.com.stiffness"] == config.torque_control.com.stiffness
    assert space.before["state_estimator.velocity_time_constant"] == config.state_estimator.velocity_time_constant


def test_a_law_of_ones_own_states_its_search_space_in_its_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("[tune]\ndcm_controller.proportional_gain = { between = [1.05, 1.9] }\n")
    space = read_space({"robot": "icub_v2_7", "from": [str(file)]})
    shipped = load_setup("icub_v2_7").walking.dcm_controller.proportional_gain
    assert space.before == {"dcm_controller.proportional_gain": shipped}
    file.write_text("[tune]\ndcm_controller.gain = { between = [1.05, 1.9] }\n")
    with pytest.raises(ConfigError, match=r"dcm_controller\.gain: the configuration of .* has no such number"):
        read_space({"robot": "icub_v2_7", "from": [str(file)]})
