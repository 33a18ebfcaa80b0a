import pytest

from gradiva.setup import Plant
from gradiva.simulated_walk import CauseKind
from gradiva_experiments import ExperimentOptions, TrialResult, find_experiment
from gradiva_experiments.shipped.fall_campaign import _COUNTS, SEED, draw
from tests.gradiva_experiments.fake_pool import ImmediatePool


class FallingPool(ImmediatePool):
    """Lets each robot walk, then fall with its cause, named as given, and then without it.

    Outcomes are those of the walks of one search, in this order.
    """

    OUTCOMES = ("walked", "fell", "walked")

    def __init__(self, named, outcomes=OUTCOMES):
        super().__init__()
        self._named, self._outcomes = named, outcomes

    def run(self, trial):
        search, attempt = divmod(len(self.trials) - 1, len(self._outcomes))
        diagnosis = {
            "cause": self._named(list(_COUNTS)[search % len(_COUNTS)]),
            "measured_cause": "push",
            "text": str(trial.overrides),
            "first_sign": "DCM error",
        }
        return TrialResult({"outcome": self._outcomes[attempt], "reason": "", "diagnosis": diagnosis}, None)


def campaign(named, tmp_path, plants=(Plant.IDEAL,), outcomes=FallingPool.OUTCOMES, **options):
    experiment = find_experiment("fall_causes")
    options = ExperimentOptions(quick=True, plants=plants, **options)
    run = experiment.start(options, tmp_path, FallingPool(named, outcomes), lambda done, total, text: None)
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


def test_a_robot_that_falls_without_the_cause_as_well_is_drawn_anew(tmp_path):
    run = campaign(str, tmp_path, outcomes=("fell", "fell", "fell", "walked badly"))
    drawn = [(row["disturbance"], row["draws"]) for row in run.rows if row["cause"] != "all"]
    assert drawn == [(draw(cause, [SEED, 0, 1], Plant.IDEAL).disturbance.text, 2) for cause in _COUNTS]


@pytest.mark.parametrize("seed", [None, 0, 34])
def test_another_seed_draws_other_falls(tmp_path, seed):
    drawn = [row["disturbance"] for row in campaign(str, tmp_path, seed=seed).rows if row["cause"] != "all"]
    expected = [draw(cause, [SEED if seed is None else seed, 0, 1], Plant.IDEAL).disturbance.text for cause in _COUNTS]
    assert drawn == expected


@pytest.mark.parametrize("plant", [Plant.IDEAL, Plant.ROBOT])
@pytest.mark.parametrize("cause", list(_COUNTS))
def test_a_draw_is_the_same_for_the_same_seed_and_can_be_configured(cause, plant):
    first, repeated, second = (draw(cause, [SEED, 0, attempt], plant) for attempt in (0, 0, 1))
    trial, again, other = first.trial, repeated.trial, second.trial
    assert (trial.overrides, trial.seed) == (again.overrides, again.seed)
    assert first.disturbance == repeated.disturbance
    assert trial.overrides != other.overrides
    setup = trial.setup()
    assert (setup.robot.name, trial.plant) == (trial.robot, plant)
    assert trial.command.forward <= setup.walking.planner.max_speed


@pytest.mark.parametrize("cause", list(_COUNTS))
def test_the_control_walk_is_without_the_cause_and_no_faster_than_known(cause):
    drawn = draw(cause, [SEED, 2, 0], Plant.ROBOT)
    trial, control = drawn.trial, drawn.control
    assert (control.robot, control.seed, control.plant) == (trial.robot, trial.seed, trial.plant)
    assert control.overrides["walking.control"] == trial.overrides["walking.control"]
    for key, value in drawn.disturbance.overrides.items():
        assert control.overrides.get(key) != value
    assert control.command.forward <= min(trial.command.forward, control.setup().walking.planner.max_speed)


@pytest.mark.parametrize(("number", "attempt"), [(3, 1), (4, 2), (5, 0)])
def test_a_high_swing_that_is_drawn_is_one_that_the_planner_of_its_robot_takes(number, attempt):
    trial = draw(CauseKind.SETTING, [SEED, number, attempt], Plant.ROBOT).trial
    assert 0.24 < trial.overrides["planner.swing_height"] / trial.setup().robot.com_height < 0.48
