"""Sensors of a foot that die at moments of a stride: which walks that are, and how robots that stand are counted."""

import numpy as np
import pytest

from gradiva.common import ControlMode, Side
from gradiva.experiments import ExperimentOptions, TrialResult, find_experiment, plan_from_start
from gradiva.experiments.campaigns.dead_sensor import dying_sensors
from gradiva.setup import Plant


class FallingPool:
    """Lets robots fall whose sensors die at one of the first moments; keeps the trials."""

    def __init__(self, falling):
        self._falling, self.trials = falling, []

    def results(self, trials):
        self.trials += trials
        for index in reversed(range(len(trials))):
            outcome = "fell" if index % 20 < self._falling else "stopped"
            yield index, TrialResult({"outcome": outcome, "reason": "base tilt", "duration_s": 7.0}, None)


def test_sensors_of_either_foot_in_turn_die_evenly_over_a_stride_of_the_walk():
    cases = dying_sensors("icub_v3", Plant.IDEAL, ControlMode.POSITION, 20)
    times = [case.start for case in cases]
    assert {case.side for case in cases[::2]} == {Side.LEFT}
    assert {case.side for case in cases[1::2]} == {Side.RIGHT}
    np.testing.assert_allclose(np.diff(times), times[1] - times[0], atol=2e-3)
    trial = cases[0].trial(ExperimentOptions())
    setup = trial.setup()
    assert [fault.name for fault in setup.simulation.faults] == ["l_foot_rear_ft", "l_foot_front_ft"]
    assert {fault.start for fault in setup.simulation.faults} == {times[0]}
    begin, end = (step.lift_off for step in plan_from_start(setup, trial.command).steps[1:4:2])
    assert 20.0 * (times[1] - times[0]) == pytest.approx(end - begin, abs=0.02)


@pytest.mark.parametrize(("falls", "outcome"), [(1, "met"), (2, "missed")])
def test_one_fall_of_twenty_is_allowed(tmp_path, falls, outcome):
    experiment, pool = find_experiment("dead_sensor"), FallingPool(falls)
    options = ExperimentOptions(robots=("g1", "talos"), plants=(Plant.ROBOT,))
    run = experiment.start(options, tmp_path, pool, lambda done, total, text: None)
    experiment.run(run)
    assert [(row["robot"], row["value"], row["needed"], row["outcome"]) for row in run.rows] == [
        ("g1", 20 - falls, 19, outcome),
        ("talos", 20 - falls, 19, outcome),
    ]
    assert {(trial.robot, trial.plant) for trial in pool.trials} == {("g1", Plant.ROBOT), ("talos", Plant.ROBOT)}
    assert run.rows[0]["falls"][0]["foot"] == "left"
    assert run.rows[0]["reason"].startswith("left at ")
