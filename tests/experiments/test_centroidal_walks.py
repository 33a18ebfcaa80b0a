"""Figure 11.6: iCub v3 walks by the centroidal MPC and is pushed on the arm."""

import numpy as np

from gradiva.experiments import ExperimentOptions, find_experiment
from gradiva.experiments.campaigns.centroidal_walks import ArmPushes, pushed_walk
from gradiva.telemetry import adapted_steps


def test_the_walk_goes_on_after_a_push_ahead_that_the_momentum_shows(tmp_path):
    """40 N for 1 s at 2 s: the DCM moves by centimetres, and the estimate has the push and its moment."""
    outcome, pushes = pushed_walk("centroidal_mpc", (1.0, 0.0), ExperimentOptions(quick=True))
    log, (begin,) = outcome.log, pushes.times
    assert outcome.walked
    assert 0.01 < outcome.result["dcm_error_m"]["max"] < 0.05
    during = (log.times > begin + 0.5) & (log.times < begin + 1.0)
    np.testing.assert_allclose(log["external_wrench::force"][during].mean(axis=0), [40.0, 0.0, 0.0], atol=4.0)
    after = log.times > begin + 2.5
    assert np.abs(log["external_wrench::force"][after].mean(axis=0)).max() < 5.0


def test_a_push_to_the_side_is_survived_where_steps_wait_for_it():
    """40 N for 1 s to the left hold the robot on its left foot: steps in time fall, later ones walk on."""
    outcome, pushes = pushed_walk("centroidal_mpc, adapted steps", (0.0, 1.0), ExperimentOptions(quick=True))
    assert outcome.walked
    begin = pushes.times[0]
    waited = [step.delay for step in adapted_steps(outcome.log) if begin < step.nominal.time < begin + 2.0]
    assert max(waited) > 0.1


def test_the_experiment_is_there_with_its_pushes():
    assert find_experiment("figure_11_6").value_title == "mean adjustment of the footholds [m]"
    assert ArmPushes((0.0, 40.0, 0.0), (8.0, 11.0)).times == []
