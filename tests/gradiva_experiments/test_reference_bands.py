"""Bands of usual figures: which walks they are of, and what becomes of one that was no good walk."""

from gradiva.common import ControlMode
from gradiva.setup import Plant
from gradiva_experiments import ExperimentOptions, TrialResult, find_experiment
from gradiva_experiments.shipped.reference_bands import bands


class Pool:
    """Walks without a robot: the DCM error is a hundredth of the speed; the given seeds end badly."""

    def __init__(self, bad=()):
        self.bad, self.trials = bad, []

    def results(self, trials):
        self.trials = trials
        for index in reversed(range(len(trials))):
            outcome, error = (
                "walked badly" if trials[index].seed in self.bad else "walked",
                trials[index].command.forward,
            )
            figures = {"outcome": outcome, "reason": outcome, "dcm_error_m": {"rms": 0.01 * error, "max": None}}
            yield index, TrialResult(figures, (1.0, 0.0, 0.0))


def rows(tmp_path, pool):
    experiment = find_experiment("reference_bands")
    options = ExperimentOptions(robots=("g1",), plants=(Plant.ROBOT,), controls=(ControlMode.POSITION,))
    run = experiment.start(options, tmp_path, pool, lambda done, total, text: None)
    experiment.run(run)
    return run.rows


def test_a_band_is_of_walks_at_speeds_and_with_seeds_of_their_own(tmp_path):
    (row,) = rows(tmp_path, pool := Pool())
    assert [(trial.command.forward, trial.seed) for trial in pool.trials] == [
        (0.15, 900),
        (0.183, 901),
        (0.217, 902),
        (0.25, 903),
    ]
    assert [row[name] for name in ("robot", "plant", "control", "slowest", "fastest", "walks", "outcome")] == [
        *("g1", "robot", "position", 0.15, 0.25, 4, "met")
    ]
    assert row["figures"] == {"dcm_error_m.rms": (0.0015, 0.002, 0.0025)}  # a figure that a walk lacks has no band


def test_walks_that_ended_badly_are_left_out_and_two_good_ones_make_no_band(tmp_path):
    (row,) = rows(tmp_path, Pool(bad=(903,)))
    assert (row["walks"], row["value"], row["outcome"], row["reason"]) == (3, 3, "met", "walked badly")
    assert row["figures"]["dcm_error_m.rms"][2] == 0.00217
    assert rows(tmp_path, Pool(bad=(900, 903)))[0]["outcome"] == "missed"


def test_by_default_all_robots_walk_on_two_plants_by_position_and_torque():
    found = bands(ExperimentOptions(plants=find_experiment("reference_bands").plants))
    assert len({(band.robot, band.plant, band.control) for band in found}) == 16
