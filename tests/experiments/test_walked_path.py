import math

import numpy as np
import pytest

from gradiva.common import Side, so3
from gradiva.experiments.planned_walk import plan_from_start
from gradiva.experiments.walked_path import walked_path
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva.telemetry import SignalLog

PERIOD = 0.01  # [s]
WHOLE = slice(None)


@pytest.fixture(scope="module")
def setup():
    return load_setup("icub_v2_7")


def walked_as_planned(setup, end=math.inf, **velocity):
    """Return the log of a robot whose feet go where the plan has them, and the plan."""
    plan = plan_from_start(setup, VelocityCommand(**velocity))
    samples = [plan.at(time) for time in np.arange(plan.start_time, min(plan.end_time + 2.0, end), PERIOD)]
    signals = {"walking::is_double_support": np.array([float(sample.is_double_support) for sample in samples])}
    for side in Side:
        feet = [sample.foot(side) for sample in samples]
        signals[f"simulation::{side}_foot::position"] = np.array([foot.position for foot in feet])
        signals[f"simulation::{side}_foot::orientation"] = np.array(
            [so3.roll_pitch_yaw(foot.rotation) for foot in feet]
        )
    return SignalLog.from_arrays([sample.time for sample in samples], signals), plan


def middle_of_feet(plan, time):
    return 0.5 * sum(plan.at(time).foot(side).position for side in Side)[:2]


def test_a_straight_walk_is_as_long_as_from_its_start_to_its_end(setup):
    log, plan = walked_as_planned(setup, forward=0.19, duration=8.0)
    path = walked_path(log, WHOLE)
    assert path.length == pytest.approx(middle_of_feet(plan, plan.end_time)[0], abs=1e-9)
    assert path.length > 0.8
    assert path.peak_speed == pytest.approx(0.19, rel=0.01)
    assert path.stepping_time == pytest.approx(plan.steps[-1].touch_down - plan.steps[0].lift_off, abs=2 * PERIOD)


@pytest.mark.parametrize("forward", [0.02, -0.1])
def test_a_slow_walk_and_one_backward_are_no_longer(setup, forward):
    log, plan = walked_as_planned(setup, forward=forward, duration=6.0)
    assert walked_path(log, WHOLE).length == pytest.approx(abs(middle_of_feet(plan, plan.end_time)[0]), abs=1e-9)


def test_a_walk_to_the_side_is_as_long_as_to_its_end(setup):
    log, plan = walked_as_planned(setup, forward=0.0, lateral=0.05, duration=6.0)
    assert walked_path(log, WHOLE).length == pytest.approx(middle_of_feet(plan, plan.end_time)[1], abs=1e-9)


def test_a_curve_is_as_long_as_its_arc(setup):
    turn = math.radians(20.0)
    log, plan = walked_as_planned(setup, forward=0.2, angular=turn, duration=8.0)
    end = plan.at(plan.end_time).foot(Side.LEFT).rotation
    heading = so3.yaw(end) % (2.0 * math.pi)
    assert heading > 2.0
    assert walked_path(log, WHOLE).length == pytest.approx(0.2 / turn * heading, rel=0.01)


def test_turning_on_the_spot_leads_nowhere(setup):
    log, _ = walked_as_planned(setup, forward=0.0, angular=math.radians(20.0), duration=10.0)
    path = walked_path(log, WHOLE)
    assert path.length < 0.02
    assert path.peak_speed < 0.02


def test_stepping_on_the_spot_leads_nowhere(setup):
    log, _ = walked_as_planned(setup, forward=0.0, duration=4.0)
    assert walked_path(log, WHOLE).length == pytest.approx(0.0, abs=1e-12)


def test_a_step_that_was_not_ended_does_not_count(setup):
    _, plan = walked_as_planned(setup, forward=0.19, duration=6.0)
    in_the_air = plan.steps[2]
    end = 0.5 * (in_the_air.lift_off + in_the_air.touch_down)
    log, _ = walked_as_planned(setup, end=end, forward=0.19, duration=6.0)
    assert walked_path(log, WHOLE).length == pytest.approx(middle_of_feet(plan, in_the_air.lift_off)[0], abs=1e-9)


def test_a_robot_that_stood_has_no_path(setup):
    log, _ = walked_as_planned(setup, end=0.05, forward=0.19, duration=6.0)
    path = walked_path(log, WHOLE)
    assert (path.length, path.peak_speed) == (0.0, 0.0)
