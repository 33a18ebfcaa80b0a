"""Figure 11.6: iCub v3 walks by the centroidal MPC and is pushed on the arm."""

from types import SimpleNamespace

import numpy as np

from gradiva.experiments import ExperimentOptions, find_experiment
from gradiva.experiments.campaigns.centroidal_walks import ArmPushes, pushed_walk
from gradiva.simulation import Push
from gradiva.telemetry import adapted_steps
from gradiva.walking import WalkingState


def test_the_walk_goes_on_after_a_push_ahead_that_the_momentum_shows():
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


def test_the_arm_is_pushed_for_a_second_each_time_counted_from_the_first_tick_of_the_walk():
    assert find_experiment("figure_11_6").value_title == "mean adjustment of the footholds [m]"
    pushes, done = ArmPushes((0.0, 40.0, 0.0), (8.0, 11.0)), []
    states = [WalkingState.PREPARED, WalkingState.WALKING, WalkingState.WALKING]
    for tick, state in enumerate(states):
        walk = SimpleNamespace(
            time=2.0 + tick, controller=SimpleNamespace(state=state), robot=SimpleNamespace(push=done.append)
        )
        pushes(walk)
    assert pushes.times == [11.0, 14.0]
    assert done == [Push("r_elbow_1", (0.0, 40.0, 0.0), start, 1.0) for start in (11.0, 14.0)]
