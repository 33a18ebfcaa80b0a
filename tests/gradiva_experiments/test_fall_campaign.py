import pytest

from gradiva.setup import Plant
from gradiva.simulated_walk import CauseKind
from gradiva_experiments import ExperimentOptions, TrialResult, find_experiment
from gradiva_experiments.shipped.fall_campaign import _COUNTS, SEED, draw
from tests.gradiva_experiments.fake_pool import ImmediatePool


class FallingPool(ImmediatePool):
    """Lets each robot fall at the second attempt, its cause named as given."""

    def __init__(self, named):
        super().__init__()
        self._named = named

    def run(self, trial):
        search, attempt = divmod(len(self.trials) - 1, 2)
        diagnosis = {
            "cause": self._named(list(_COUNTS)[search % len(_COUNTS)]),
            "measured_cause": "push",
            "text": str(trial.overrides),
            "first_sign": "DCM error",
        }
        return TrialResult({"outcome": "fell" if attempt else "walked", "reason": "", "diagnosis": diagnosis}, None)


def campaign(named, tmp_path, plants=(Plant.IDEAL,), **options):
    experiment = find_experiment("fall_causes")
    options = ExperimentOptions(quick=True, plants=plants, **options)
    run = experiment.start(options, tmp_path, FallingPool(named), lambda done, total, text: None)
    experiment.run(run)
    return run


def test_each_cause_falls_once_and_the_last_row_counts_what_was_named(tmp_path):
    run = campaign(str, tmp_path)
    assert [row["cause"] for row in run.rows] == [*map(str, _COUNTS), "all"]
    assert (run.rows[-1]["outcome"], run.rows[-1]["value"], run.is_fulfilled) == ("met", 1.0, True)


def test_each_plant_has_its_own_count(tmp_path):
    run = campaign(str, tmp_path, (Plant.IDEAL, Plant.ROBOT))
    counts = [(row["plant"], row["value"]) for row in run.rows if row["cause"] == "all"]
    assert (len(run.rows), counts) == (22, [("ideal", 1.0), ("robot", 1.0)])


def test_too_few_named_causes_are_a_failure(tmp_path):
    run = campaign(lambda kind: "push", tmp_path)
    assert (
        run.rows[-1]["reason"] == "1 of 10 causes named, 10 falls; 90% are asked; 1 of them by the measurements alone"
    )
    assert not run.is_fulfilled


@pytest.mark.parametrize("seed", [None, 0, 34])
def test_another_seed_draws_other_falls(tmp_path, seed):
    drawn = [row["disturbance"] for row in campaign(str, tmp_path, seed=seed).rows if row["cause"] != "all"]
    expected = [draw(cause, [SEED if seed is None else seed, 0, 1], Plant.IDEAL)[1].text for cause in _COUNTS]
    assert drawn == expected


@pytest.mark.parametrize("plant", [Plant.IDEAL, Plant.ROBOT])
@pytest.mark.parametrize("cause", list(_COUNTS))
def test_a_draw_is_the_same_for_the_same_seed_and_can_be_configured(cause, plant):
    draws = [draw(cause, [SEED, 0, attempt], plant) for attempt in (0, 0, 1)]
    (trial, done), (again, same), (other, _) = draws
    assert (trial.overrides, done, trial.seed) == (again.overrides, same, again.seed)
    assert trial.overrides != other.overrides
    setup = trial.setup()
    assert (setup.robot.name, trial.plant) == (trial.robot, plant)
    assert trial.command.forward <= setup.walking.planner.max_speed


@pytest.mark.parametrize(("number", "attempt"), [(3, 1), (4, 2), (5, 0)])
def test_a_high_swing_that_is_drawn_is_one_that_the_planner_of_its_robot_takes(number, attempt):
    trial, _ = draw(CauseKind.SETTING, [SEED, number, attempt], Plant.ROBOT)
    assert 0.24 < trial.overrides["planner.swing_height"] / trial.setup().robot.com_height < 0.48
