"""The stream of velocities: its range, and the step that a new plan changes first."""

import numpy as np
import pytest

from gradiva.planner import VelocityCommand, WalkingPlanner
from gradiva_experiments.shipped.streamed_velocity import PERIOD, RANGE, changed_step, random_walk
from tests.walking.conftest import setup_of


def test_a_random_walk_wanders_over_the_whole_range_and_never_beyond():
    stream = random_walk(60.0, 3)
    assert stream.shape == (round(60.0 / PERIOD), 3)
    assert np.all(np.abs(stream) <= RANGE + 1e-12)
    assert np.all(np.abs(stream).max(axis=0) > 0.9 * RANGE)
    assert np.all(np.abs(np.diff(stream, axis=0)) < 0.4 * RANGE)
    assert not np.array_equal(stream, random_walk(60.0, 4))


def test_the_first_step_after_the_touch_down_at_which_two_plans_meet_is_the_changed_one():
    planner = WalkingPlanner(setup_of("icub_v2_7").walking.planner)
    plan = planner.plan(VelocityCommand(0.2, duration=6.0))
    meets = plan.landings[2].touch_down
    faster = planner.replan(plan, VelocityCommand(0.25, duration=6.0), meets - 0.02)
    changed = changed_step(plan, faster, meets - 0.02)
    assert changed == pytest.approx(faster.landings[3].lift_off)
    assert changed > meets
    assert changed_step(plan, plan, meets) is None
