"""Viable steps in closed loop: chosen by name, silent without a push, and what they catch."""

import numpy as np
import pytest

from gradiva.planner import VelocityCommand
from gradiva.push_recovery import AdaptedSteps
from gradiva.push_recovery.landing_law import ViableSteps
from gradiva.simulation import Push
from gradiva.walking import WalkingState
from gradiva_experiments.forked_walks import phase_times
from tests.push_recovery.test_reactive_stepping import pushed


@pytest.mark.walk
def test_a_push_that_fells_the_planned_walk_is_caught_by_viable_steps(ready):
    walk, logs = pushed(ready, "icub_v2_7", "place_and_time", (0.0, -110.0), "middle", "step_adaptation.law=viable")
    assert isinstance(walk.layers.push_recovery.steps, ViableSteps)
    assert not walk.is_down
    assert logs[-1].stepping.changes > 0


def test_the_planner_takes_the_shortest_support_that_the_law_chooses(ready):
    walk = ready("icub_v2_7", "step_adaptation.law=viable")
    walk.controller.walk(VelocityCommand(0.3, duration=6.0))
    time, limits = phase_times(walk.controller.plan)["early"], walk.setup.walking.planner
    walk.robot.push(Push(walk.setup.robot.torso_frame, (-100.0, -40.0, 0.0), time, 0.1))
    walk.run(time + 0.3 - walk.time)
    step = next(step for step in walk.controller.plan.steps if step.touch_down > walk.time)
    shortest = limits.single_support(limits.min_step_duration)
    assert step.touch_down - step.lift_off == pytest.approx(shortest, abs=1e-9)
    assert walk.log.stepping.delay < -0.01, "it is planned longer"


@pytest.mark.walk
def test_an_undisturbed_walk_keeps_its_footholds(ready):
    walk = ready("icub_v2_7", "step_adaptation.law=viable", plant="noisy")
    walk.controller.walk(VelocityCommand(0.3, duration=3.0))
    assert walk.run_until(lambda: walk.controller.state is not WalkingState.WALKING, 8.0)
    assert walk.log.stepping.changes == 0


def test_the_push_is_estimated_from_the_way_of_the_dcm(ready):
    walk = ready("icub_v2_7", "step_adaptation.law=viable")
    steps = walk.layers.push_recovery.steps
    assert isinstance(steps, AdaptedSteps)
    walk.run(0.1)
    assert np.abs(steps.walking.push).max() < 0.02
    force, setup = 40.0, walk.setup
    walk.robot.push(Push(setup.robot.torso_frame, (0.0, force, 0.0), walk.time, 0.1))
    walk.run(0.1)
    expected = force / (setup.robot.mass * setup.walking.planner.natural_frequency)
    assert steps.walking.push[1] == pytest.approx(expected, rel=0.4)
