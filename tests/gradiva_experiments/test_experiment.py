"""Experiments: rows, figures, what is asked of them, speed searches and tables of the thesis."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from gradiva.common import ConfigError
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, load_setup
from gradiva_experiments import ExperimentOptions, SpeedSearch, TrialResult, as_text, find_experiment, highest_speed
from gradiva_experiments.experiment import (
    COM_LIMIT,
    Asked,
    current_commit,
    is_fulfilled,
    judged,
    markdown_table,
    publish,
)
from gradiva_experiments.speed_search import bars_figure, walking_time
from tests.gradiva_experiments.fake_pool import ImmediatePool

NOISY = {"plants": (Plant.NOISY,)}

ROW = {"speed": 0.2, "paper": None, "value": 0.123456, "outcome": "walked", "reason": "a|b"}


class FakePool(ImmediatePool):
    """Walks below a speed, without a robot."""

    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def run(self, trial):
        return self.result(trial.command)

    def result(self, command):
        speed = abs(command.forward) if isinstance(command, VelocityCommand) else 0.0
        walked = speed <= self.limit + 1e-9
        figures = {
            "outcome": "walked" if walked else "fell",
            "reason": "done" if walked else f"fell at {speed}",
            "peak_speed_mps": speed,
            "final_pose": [0.0, 0.0, 0.0],
            "goal_error_m": 0.01,
            "dcm_error_m": {"rms": 0.01, "max": 0.02},
            "com_error_m": {"rms": 0.001, "max": 0.002},
            "mean_speed_mps": speed,
            "distance_m": 2.0,
            "specific_energetic_cost": 2.0,
        }
        return TrialResult(figures, (0.0, 0.3, 0.0))


def start(name, tmp_path, pool, **options):
    return find_experiment(name).start(ExperimentOptions(**options), tmp_path, pool, lambda done, total, text: None)


def test_an_unknown_experiment_is_refused_with_the_nearest_name():
    with pytest.raises(ConfigError, match="did you mean 'robustness'"):
        find_experiment("robustnes")


def test_rows_are_on_the_disk_as_soon_as_they_are_added(tmp_path):
    run = start("robustness", tmp_path, None)
    run.add_row(ROW)
    saved = json.loads(run.folder.result_path.read_text())
    assert saved.keys() == {"name", "source", "rows", "figures", "wall_s"}
    assert saved["rows"] == [ROW]
    assert "0.1235" in run.table_path.read_text()
    assert "| largest DCM error [m] |" in run.table_path.read_text()


def test_a_published_run_has_its_rows_with_command_date_commit_and_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gradiva_experiments.experiment.current_commit", lambda: "abc1234-dirty")
    options = {"quick": True, "seeds": 3, "speeds": (0.1, 0.2), "plants": (Plant.NOISY,), "robots": ("icub_v3",)}
    run = start("plant_seeds", tmp_path, None, **options)
    run.add_row(ROW)
    run.add_figure(Figure(), "speeds")
    monkeypatch.setattr("gradiva_experiments.experiment.current_commit", lambda: "of the end")
    path = publish(find_experiment("plant_seeds"), run, Path("results"))
    assert path.parent == tmp_path / "results"
    published = json.loads(path.read_text())
    command = "gradiva experiment plant_seeds --quick --robot icub_v3 --plant noisy --speed 0.1 --speed 0.2 --seeds 3"
    assert published["command"] == command
    assert path.name == "plant_seeds-quick-robot-icub_v3-plant-noisy-speed-0.1-speed-0.2-seeds-3.json"
    assert published["rows"] == [ROW]
    assert published["value_title"] == "walked"
    assert published["figures"] == [f"{path.stem}-speeds.png"]
    assert (path.parent / published["figures"][0]).stat().st_size > 1000
    assert re.fullmatch(
        r"(2\d{3}-\d\d-\d\d) abc1234-dirty .*\d cores",
        " ".join(published[name] for name in ("date", "commit", "machine")),
    )


def test_a_row_that_is_as_found_fails_nothing(tmp_path):
    run = start("robustness", tmp_path, None)
    assert not run.is_fulfilled  # nothing was found yet
    run.add_row(ROW | {"outcome": "fell", "asked": "as found"})
    run.add_row(ROW | {"outcome": "walked"})
    assert run.is_fulfilled
    run.add_row(ROW | {"outcome": "fell"})
    assert not run.is_fulfilled


def test_numbers_have_four_digits_and_short_exponents():
    values = (8e5, 1e4, 10.0, 1.2345678e-7, 0.123456, 3, None, (1.0, 2e6))
    texts = ["8e5", "1e4", "10", "1.235e-7", "0.1235", "3", "–", "1, 2e6"]
    assert [as_text(value) for value in values] == texts


def test_rows_are_kept_by_place(tmp_path):
    run = start("robustness", tmp_path, None)
    for place in (2, 0, 1):
        run.add_row({**ROW, "speed": place}, place)
    assert [row["speed"] for row in run.rows] == [0, 1, 2]


def test_a_table_escapes_what_would_break_it():
    assert markdown_table([ROW]).splitlines()[2] == "| 0.2 | – | 0.1235 | walked | a/b |"


def test_no_rows_make_no_table():
    assert markdown_table([]) == ""


def test_table_10_1_finds_the_limit_of_each_architecture(tmp_path):
    pool = FakePool(limit=0.43)
    run = start("table_10_1", tmp_path, pool)
    find_experiment("table_10_1").run(run)
    assert [row["plant"] for row in run.rows[::4]] == ["ideal", "noisy", "robot"]
    assert [row["seeds"] for row in run.rows[::4]] == [1, 3, 3]
    assert [row["value"] for row in run.rows] == [0.43] * 12
    assert [row["paper"] for row in run.rows] == [0.1563, 0.1645, 0.1809, 0.3372] * 3
    assert [row["peak_speed_mps"] for row in run.rows] == [0.43] * 12
    assert run.rows[0]["reason"] == "at 0.44 m/s: seed 0: fell at 0.44"
    assert len(run.figures) == 2


def test_table_10_1_walks_five_metres_with_noise_and_three_seeds(tmp_path):
    pool = FakePool(limit=0.1)
    find_experiment("table_10_1").run(start("table_10_1", tmp_path, pool, **NOISY))
    walked = [trial for trial in pool.trials if trial.command.forward == 0.1]
    assert len(walked) == 4 * 3
    assert {trial.seed for trial in walked} == {0, 1, 2}
    assert all(trial.plant is Plant.NOISY for trial in walked)
    planner = load_setup("icub_v2_7").walking.planner
    ramps = planner.footsteps.ramp_steps * planner.preferred_duration(0.1)
    assert walking_time(planner, 0.1, 5.0) == pytest.approx(50.0 + ramps)
    assert {trial.command.duration for trial in walked} == {walking_time(planner, 0.1, 5.0)}


def test_table_10_1_has_no_paper_values_for_other_robots(tmp_path):
    run = start("table_10_1", tmp_path, FakePool(limit=0.05), robot="talos", quick=True)
    find_experiment("table_10_1").run(run)
    assert {row["paper"] for row in run.rows} == {None}
    assert {(row["value"], row["outcome"]) for row in run.rows} == {(None, "fell")}


def test_table_7_1_searches_with_both_laws_in_torque_control(tmp_path):
    pool = FakePool(limit=0.25)
    run = start("table_7_1", tmp_path, pool, quick=True, **NOISY)
    find_experiment("table_7_1").run(run)
    assert [(row["model"], row["control"]) for row in run.rows] == [("dcm", "torque"), ("dcm_mpc", "torque")]
    assert [(row["paper"], row["value"]) for row in run.rows] == [(0.2120, 0.25), (0.1448, 0.25)]
    assert {trial.setup().walking.walking.period for trial in pool.trials} == {0.001}


def test_table_7_2_walks_alike_in_position_and_in_torque_control(tmp_path):
    pool = FakePool(limit=1.0)
    run = start("table_7_2", tmp_path, pool)
    find_experiment("table_7_2").run(run)
    assert [(row["plant"], row["control"], row["paper"], row["value"]) for row in run.rows[:3]] == [
        ("ideal", "position", 4.82, 2.0),
        ("ideal", "torque", 2.55, 2.0),
        ("noisy", "position", None, 2.0),
    ]
    assert sorted(trial.plant for trial in pool.trials) == sorted(plant for plant in Plant for _ in range(2))
    assert [Path(figure).name for figure in run.figures] == ["table_7_2.png", "table_7_2.svg"]
    assert {trial.command for trial in pool.trials} == {VelocityCommand(0.2120, duration=20.0)}


def test_robustness_walks_ten_seeds_of_a_plant_that_draws_at_both_speeds(tmp_path):
    run = start("robustness", tmp_path, FakePool(limit=0.2))
    find_experiment("robustness").run(run)
    for plant, seeds in (("ideal", 1), ("noisy", 10), ("robot", 10)):
        rows = [row for row in run.rows if (row["plant"], row["disturbance"]) == (plant, "nothing else")]
        assert [(row["speed_mps"], row["seed"]) for row in rows] == [(v, s) for v in (0.19, 0.34) for s in range(seeds)]
        assert {row["outcome"] for row in rows if row["speed_mps"] == 0.34} == {"fell"}
    to_walk = {
        (row["disturbance"], row["speed_mps"]) for row in run.rows if row["plant"] == "robot" and "asked" not in row
    }
    assert to_walk == {("nothing else", 0.19)}


def test_quick_robustness_has_two_seeds_and_lifts_the_planners_limit_where_it_walks_faster(tmp_path):
    run = start("robustness", tmp_path, pool := FakePool(limit=1.0), quick=True)
    find_experiment("robustness").run(run)
    assert max(row["seed"] for row in run.rows) == 1
    limits = {trial.command.forward: trial.setup().walking.planner.max_speed for trial in pool.trials}
    assert limits == {0.19: load_setup("icub_v2_7").robot.max_speed, 0.34: 0.34}


def test_directions_miss_when_the_robot_ends_elsewhere(tmp_path):
    pool = FakePool(limit=1.0)
    original = pool.result
    pool.result = lambda command: _without_goal(original(command))
    run = start("directions", tmp_path, pool)
    find_experiment("directions").run(run)
    assert [row["plant"] for row in run.rows[::6]] == ["ideal", "noisy", "robot"]
    assert {row["outcome"] for row in run.rows} == {"missed"}
    assert all(row["value"] == pytest.approx(0.3) for row in run.rows)
    assert "30 cm from where it should be" in run.rows[0]["reason"]


def _without_goal(result):
    return TrialResult({**result.figures, "goal_error_m": None}, result.planned_pose)


def test_a_figure_does_not_take_the_place_of_another(tmp_path):
    run = start("table_7_1", tmp_path, FakePool(1.0))
    run.add_figure(Figure(), "one")
    with pytest.raises(ValueError, match="figure 'one' is there already"):
        run.add_figure(Figure(), "one")


def walked(error):
    return {"outcome": "walked", "reason": "done", "com_error_m": {"max": error}}


def test_a_walk_with_the_centre_of_mass_at_its_limit_is_one_and_beyond_it_is_inaccurate():
    assert judged(walked(COM_LIMIT)) == ("walked", "done")
    assert judged(walked(0.0124)) == ("inaccurate", "walked, but CoM 12.4 mm, 10 mm is the limit")


def test_what_did_not_walk_keeps_its_reason():
    assert judged(walked(0.5) | {"outcome": "fell", "reason": "tilted"}) == ("fell", "tilted")
    assert judged({"outcome": "stopped", "reason": "no plan"}) == ("stopped", "no plan")


@pytest.mark.parametrize(
    ("asked", "fulfilling"),
    [
        (None, {"walked", "met"}),
        (Asked.TO_TRACK, {"walked", "met"}),
        (Asked.TO_WALK, {"walked", "met", "inaccurate"}),
        (Asked.AS_FOUND, {"walked", "met", "inaccurate", "fell", "stopped", "missed"}),
    ],
)
def test_a_row_is_fulfilled_by_what_is_asked_of_it(asked, fulfilling):
    outcomes = ("walked", "met", "inaccurate", "fell", "stopped", "missed")
    rows = [{"outcome": outcome} | ({} if asked is None else {"asked": str(asked)}) for outcome in outcomes]
    assert {row["outcome"] for row in rows if is_fulfilled(row)} == fulfilling


SEARCH = SpeedSearch(slowest=0.10, fastest=1.0, resolution=0.01, stride=8)


class Walker:
    """Walks below a speed, and remembers what was tried."""

    def __init__(self, limit):
        self.limit = limit
        self.tried = []

    def __call__(self, speed):
        self.tried.append(speed)
        return None if speed <= self.limit + 1e-9 else f"too fast: {speed:.2f}"
        yield


def found_by(*arguments, **options):
    """Return the result of a search that yields no trial."""
    ((_, found),) = ImmediatePool().searches([highest_speed(*arguments, **options)])
    return found


@pytest.mark.parametrize("limit", [0.10, 0.17, 0.18, 0.19, 0.34, 0.57, 0.98, 0.99])
def test_the_limit_is_found_to_the_resolution(limit):
    found = found_by(Walker(limit), SEARCH)
    assert found.speed == pytest.approx(limit)
    assert found.next_speed == pytest.approx(limit + 0.01)
    assert found.reason == f"too fast: {limit + 0.01:.2f}"


def test_no_speed_is_tried_twice():
    walker = Walker(0.34)
    found_by(walker, SEARCH)
    assert len(walker.tried) == len(set(walker.tried))


def test_few_speeds_are_tried():
    walker = Walker(0.34)
    found_by(walker, SEARCH)
    assert walker.tried == [0.10, 0.18, 0.26, 0.34, 0.42, 0.38, 0.36, 0.35]


def test_a_good_guess_spares_the_slow_walks():
    walker = Walker(0.34)
    assert found_by(walker, SEARCH, guess=0.28).speed == 0.34
    assert walker.tried == [0.28, 0.36, 0.32, 0.34, 0.35]


@pytest.mark.parametrize(("guess", "limit"), [(0.50, 0.34), (0.50, 0.10), (0.12, 0.11), (2.0, 0.98), (0.01, 0.13)])
def test_a_bad_guess_finds_the_same_limit(guess, limit):
    found = found_by(Walker(limit), SEARCH, guess)
    assert (found.speed, found.next_speed) == (limit, pytest.approx(limit + 0.01))


def test_a_guess_above_what_does_not_walk_at_all_ends_at_the_slowest():
    walker = Walker(0.05)
    found = found_by(walker, SEARCH, guess=0.3)
    assert (found.speed, found.next_speed, found.reason) == (None, 0.10, "too fast: 0.10")
    assert walker.tried == [0.30, 0.22, 0.14, 0.10]


def test_a_robot_that_does_not_walk_at_all_has_no_highest_speed():
    found = found_by(Walker(0.05), SEARCH)
    assert (found.speed, found.next_speed, found.reason) == (None, 0.10, "too fast: 0.10")


def test_the_search_ends_at_its_fastest_speed():
    walker = Walker(5.0)
    found = found_by(walker, SEARCH)
    assert (found.speed, found.next_speed) == (1.0, None)
    assert max(walker.tried) == 1.0


def test_a_stride_of_one_climbs():
    found = found_by(Walker(0.3), SpeedSearch(0.1, 1.0, 0.1, 1))
    assert found.speed == pytest.approx(0.3)


@pytest.mark.parametrize("numbers", [(0.1, 1.0, 0.0, 1), (0.1, 0.05, 0.01, 1), (0.1, 1.0, 0.2, 1), (0.1, 1.0, 0.1, 0)])
def test_a_search_that_makes_no_sense_is_refused(numbers):
    with pytest.raises(ConfigError, match="resolution"):
        SpeedSearch(*numbers)


ROWS = [
    {"model": "dcm", "control": "torque", "paper": 0.212, "value": 0.45},
    {"model": "dcm_mpc", "control": "torque", "paper": None, "value": None},
]


def test_bars_of_paper_and_ours_stand_side_by_side_and_what_is_missing_is_a_dash():
    figure = bars_figure(ROWS, ("model", "control"), "highest speed [m/s]", "thesis, simulation")
    (axis,) = figure.axes
    assert [bar.get_width() for bar in axis.patches] == [0.212, 0.0, 0.45, 0.0]
    assert [text.get_text() for text in axis.texts] == ["0.21", "–", "0.45", "–"]
    assert [text.get_text() for text in axis.get_yticklabels()] == ["dcm, torque", "dcm_mpc, torque"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["thesis, simulation", "Gradiva, simulation"]
    assert axis.xaxis.get_label().get_text() == "highest speed [m/s]"


def test_the_commit_of_a_changed_tree_is_dirty(tmp_path, monkeypatch):
    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True)

    code = tmp_path / "modules" / "experiment.py"
    for path in (code, tmp_path / "results" / "a.json"):
        path.parent.mkdir()
        path.write_text("1\n")
    monkeypatch.setattr("gradiva_experiments.experiment.__file__", str(code))
    assert current_commit() == ""
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    (tmp_path / "results" / "a.json").write_text("2\n")  # what is published does not change what was run
    commit = current_commit()
    assert re.fullmatch("[0-9a-f]{7,}", commit)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "campaign.toml").write_text("seeds = 1\n")
    assert current_commit() == f"{commit}-dirty"
