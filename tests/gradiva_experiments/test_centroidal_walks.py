"""Figure 11.6: iCub v3 walks by the centroidal MPC and is pushed on the arm."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import GRAVITY, Side
from gradiva.simulation import Push
from gradiva.walking import WalkingState
from gradiva_experiments import ExperimentOptions, find_experiment
from gradiva_experiments.shipped import centroidal_walks
from gradiva_experiments.shipped.centroidal_walks import ArmPushes, pushed_walk
from tests.conftest import long
from tests.gradiva_experiments.fake_pool import ImmediatePool


def pushed_errors(law):
    """Walk through 40 N ahead for 1 s at 2 s; return the walk, errors of the DCM, and when they are steady."""
    outcome, pushes = pushed_walk(law, (1.0, 0.0), ExperimentOptions(quick=True))
    log, (begin,) = outcome.log, pushes.times
    assert outcome.walked
    error = log["dcm::position::measured"] - log["dcm::position::desired"]
    assert np.abs(error[log.times > begin + 2.5]).max() < 0.025
    return outcome, error, (log.times > begin + 0.5) & (log.times < begin + 1.0)


@pytest.mark.long
def test_the_mpc_takes_a_push_ahead_that_the_momentum_shows_and_the_dcm_stays():
    outcome, error, during = pushed_errors("centroidal_mpc")
    log = outcome.log
    assert np.abs(error).max() < 0.02
    np.testing.assert_allclose(log["external_wrench::force"][during].mean(axis=0), [40.0, 0.0, 0.0], atol=4.0)
    after = log.times > log.times[during][-1] + 1.5
    assert np.abs(log["external_wrench::force"][after].mean(axis=0)).max() < 5.0


def test_by_a_dcm_law_the_robot_leans_against_a_push_ahead():
    """The forearm is 16 cm above the CoM: the DCM goes back by F (h + 0.16 m) / (m g)."""
    outcome, error, during = pushed_errors("dcm, wrench, adapted steps")
    setup = outcome.walk.setup
    offset = 40.0 * (setup.walking.planner.com_height + 0.16) / (setup.robot.mass * GRAVITY)
    leaning = offset - setup.walking.external_wrench.dead_band
    np.testing.assert_allclose(error[during].mean(axis=0), [-leaning, 0.0], atol=0.012)


@pytest.mark.parametrize(("side", "start", "moves_steps"), [(1.0, 3.0, True), long(-1.0, 2.4, False)])
def test_the_mpc_beside_adapted_steps_survives_a_push_to_either_side(side, start, moves_steps, monkeypatch):
    """Towards the swinging foot by a step; in double support its forces do, without them the robot falls in 2 s."""
    monkeypatch.setattr(centroidal_walks, "_QUICK_STARTS", (start,))
    outcome, _ = pushed_walk("centroidal_mpc, adapted steps", (0.0, side), ExperimentOptions(quick=True))
    assert outcome.walked
    assert 0.02 < outcome.result["dcm_error_m"]["max"] < 0.1
    assert (outcome.result["adapted_steps"] >= 1) == moves_steps


def test_the_arm_is_pushed_for_a_second_each_time_counted_from_the_first_tick_of_the_walk():
    assert find_experiment("figure_11_6").value_title == "mean adjustment of the footholds [m]"
    pushes, done = ArmPushes((0.0, 40.0, 0.0), (8.0, 11.0)), []
    states = [WalkingState.PREPARED, WalkingState.WALKING, WalkingState.WALKING]
    for tick, state in enumerate(states):
        walk = SimpleNamespace(
            time=2.0 + tick, controller=SimpleNamespace(state=state, plan=None), robot=SimpleNamespace(push=done.append)
        )
        pushes(walk)
    assert pushes.times == [11.0, 14.0]
    assert done == [Push("r_elbow_1", (0.0, 40.0, 0.0), start, 1.0) for start in (11.0, 14.0)]


@pytest.mark.parametrize(
    ("left", "moments"),
    [
        (
            -40.0,
            [
                "left foot swings since 0.02 s: outward of the other one, a pendulum falls",
                "right foot lifts off in 0.15 s",
            ],
        ),
        (40.0, ["left foot swings since 0.02 s", "right foot lifts off in 0.15 s"]),
        (-30.0, ["left foot swings since 0.02 s", "right foot lifts off in 0.15 s"]),
    ],
)
def test_it_says_in_which_step_a_push_begins_and_whether_a_pendulum_falls(left, moments):
    steps = [(Side.LEFT, 10.98, 11.7), (Side.RIGHT, 14.15, 14.9)]
    plan = [SimpleNamespace(footstep=SimpleNamespace(side=side), lift_off=a, touch_down=b) for side, a, b in steps]
    controller = SimpleNamespace(state=WalkingState.WALKING, plan=SimpleNamespace(steps=plan))
    pushes = ArmPushes((0.0, left, 0.0), (8.0, 11.0))
    pushes(SimpleNamespace(time=3.0, controller=controller, robot=SimpleNamespace(push=lambda push: None)))
    assert pushes.moments == moments


class MappedPool(ImmediatePool):
    """A robot that survives 40 N·s in the middle of a step, and at other moments pushes ahead alone."""

    def value(self, job):
        def push(pushing):
            (ahead, left, _), duration, _ = pushing
            impulse = math.hypot(ahead, left) * duration
            return {"survived": impulse < 40.1 if job.moment == "middle" else ahead > 1.0, "reason": "fell"}

        return {"outcome": job.ways.take(push), "time": 5.0, "failure": ""}


class DownPool(ImmediatePool):
    """A robot that goes down before the middle of the step, and survives all at other moments."""

    def value(self, job):
        if job.moment == "middle":
            return {"outcome": {}, "time": None, "failure": "goes down before: base tilt"}
        return {"outcome": job.ways.take(lambda pushing: {"survived": True, "reason": ""}), "time": 5.0, "failure": ""}


def test_a_robot_that_goes_down_before_it_is_pushed_is_no_measured_push_of_zero():
    rows = []
    run = SimpleNamespace(name="map", options=ExperimentOptions(), report=lambda *_: None, add_row=rows.append)
    run.add_figure, run.pool = lambda figure, name: figure.canvas.draw(), DownPool()
    centroidal_walks.map_pushes(run, 1, ["dcm"])
    ((outcome, reason, largest, at),) = [
        [row[name] for name in ("outcome", "reason", "largest_ns", "at")] for row in rows
    ]
    assert (outcome, reason, largest) == ("failed", "goes down before: base tilt", None)
    assert at == ["early", "late", "touch_down"]


def test_a_map_has_a_row_a_direction_with_the_moments_it_survives_and_the_largest_push():
    rows, figures = [], []
    run = SimpleNamespace(name="map", options=ExperimentOptions(), report=lambda *_: None, add_row=rows.append)
    run.add_figure, run.pool = lambda figure, name: figures.append(name), MappedPool()
    centroidal_walks.map_pushes(run, 2, ["dcm"])
    found = [(row["direction"], row["at"], row["largest_ns"], row["reason"]) for row in rows]
    every = ["early", "middle", "late", "touch_down"]
    assert found == [("0°", every, 40.0, "lost at 44 N·s: fell"), ("180°", ["middle"], 40.0, "lost at 44 N·s: fell")]
    assert figures == ["map_largest"]
