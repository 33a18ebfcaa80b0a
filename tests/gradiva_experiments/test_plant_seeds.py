"""Walks with many seeds under a plant: which are walked, how they are counted, how an interrupted campaign goes on."""

import pytest

from gradiva.common import ConfigError, ControlMode
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant
from gradiva_experiments import ExperimentOptions, Trial, TrialResult, find_experiment
from gradiva_experiments.shipped.plant_seeds import cases
from tests.gradiva_experiments.fake_pool import ImmediatePool


class SeededPool(ImmediatePool):
    """Walks with all but some seeds, without a robot; keeps the trials."""

    def __init__(self, falling=()):
        super().__init__()
        self.falling = falling

    def run(self, trial):
        fell = trial.seed in self.falling
        figures = {
            "outcome": "fell" if fell else "walked",
            "reason": "base tilt at 7.00 s" if fell else "done",
            "diagnosis": {"cause": "friction", "first_sign": "slip"} if fell else None,
            "max_tilt_rad": 0.02,
            **{f"{name}_error_m": {"rms": 0.001, "max": 0.001 * (trial.seed + 1)} for name in ("com", "dcm", "foot")},
        }
        return TrialResult(figures, (1.0, 0.0, 0.1))


def run_seeds(tmp_path, pool, report=lambda done, total, text: None, **options):
    experiment = find_experiment("plant_seeds")
    run = experiment.start(ExperimentOptions(**options), tmp_path, pool, report)
    experiment.run(run)
    return run


ONE = {"robots": ("icub_v2_7",), "controls": (ControlMode.POSITION,), "speeds": (0.3,)}


def test_the_first_report_says_which_robots_walk_with_how_many_seeds(tmp_path):
    said = []
    run_seeds(tmp_path, SeededPool(), lambda *report: said.append(report), robots=("g1", "talos"), seeds=3)
    assert said[0] == (0, 18, "g1, talos: 3 seeds of each of 6 cases, 18 walks")


def test_walks_are_counted_and_falls_named_one_by_one(tmp_path):
    (row,) = run_seeds(tmp_path, pool := SeededPool(falling=(3, 5, 7)), **ONE).rows
    assert len(pool.trials) == 50
    assert {trial.plant for trial in pool.trials} == {Plant.ROBOT}
    assert (row["value"], row["seeds"], row["needed"], row["outcome"]) == (47, 50, 48, "missed")
    assert [fall["seed"] for fall in row["falls"]] == [3, 5, 7]
    assert row["falls"][0]["diagnosis"]["cause"] == "friction"
    assert row["reason"] == "3 × friction"
    assert row["com_mm"] == pytest.approx(27.0)  # the median of 1 to 50 mm without 4, 6 and 8


def test_the_first_seed_is_chosen(tmp_path):
    (row,) = run_seeds(tmp_path, pool := SeededPool(falling=(7102,)), seeds=3, seed=7101, **ONE).rows
    assert [trial.seed for trial in pool.trials] == [7101, 7102, 7103]
    assert [fall["seed"] for fall in row["falls"]] == [7102]


@pytest.mark.parametrize(("falls", "outcome"), [(2, "met"), (3, "missed")])
def test_two_falls_of_fifty_are_allowed(tmp_path, falls, outcome):
    assert run_seeds(tmp_path, SeededPool(falling=range(falls)), **ONE).rows[0]["outcome"] == outcome


def test_by_default_each_robot_walks_by_position_at_two_speeds_and_by_torque_at_one():
    found = cases(ExperimentOptions(plants=(Plant.ROBOT,)))
    speeds = {robot: [case.speed for case in found if case.robot == robot] for robot in ("g1", "icub_v3")}
    assert speeds == {"g1": [0.19, 0.30, 0.15], "icub_v3": [0.19, 0.25, 0.15]}
    assert len(found) == 12
    assert {case.speed: case.asked for case in found} == {0.19: 0.98, 0.30: 0.96, 0.25: 0.96, 0.15: 0.96}
    with pytest.raises(ConfigError, match="--control velocity: which --speed"):
        cases(ExperimentOptions(plants=(Plant.ROBOT,), controls=(ControlMode.VELOCITY,)))


def test_settings_reach_all_walks_and_a_speed_beyond_the_limit_lifts_it(tmp_path):
    options = {**ONE, "speeds": (0.9,), "settings": ("planner.swing_height=0.03",)}
    run_seeds(tmp_path, pool := SeededPool(), seeds=1, **options)
    planner = pool.trials[0].setup().walking.planner
    assert (planner.swing_height, planner.max_speed) == (0.03, 0.9)


def test_a_trial_with_another_configuration_is_another_one():
    command, setting = VelocityCommand(0.1, duration=2.0), {"planner.swing_height": 0.031}
    one = Trial("icub_v2_7", command)
    others = [
        Trial("icub_v2_7", command, setting),
        Trial("icub_v2_7", command, seed=1),
        Trial("icub_v2_7", command, plant=Plant.ROBOT),
        Trial("icub_v2_7", VelocityCommand(0.1, duration=3.0)),
        Trial("icub_v3", command),
    ]
    assert len({trial.key for trial in (one, *others)}) == 6
    assert one.key == Trial("icub_v2_7", command).key


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("directions", {"seeds": 3}, "--seeds is no choice of the experiment directions, its options: --robot, "),
        ("plant", {"plants": (Plant.ROBOT,)}, "--plant is no choice of the experiment plant"),
        ("directions", {"robots": ("icub_v3", "talos")}, "--robot is no choice of the experiment directions"),
        (
            "figure_11_6",
            {"robots": ("talos",)},
            "--robot is no choice of the experiment figure_11_6, which walks icub",
        ),
        (
            "figure_11_3",
            {"robots": ("talos",)},
            "--robot is no choice of the experiment figure_11_3, which has",
        ),
    ],
)
def test_an_option_that_an_experiment_does_not_have_is_refused(tmp_path, name, options, message):
    with pytest.raises(ConfigError, match=message):
        find_experiment(name).start(ExperimentOptions(**options), tmp_path, None, lambda done, total, text: None)
