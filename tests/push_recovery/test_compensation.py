"""Compensation: layer 2 and the steps see a push that lasts, and a foot whose sensor is not trusted, as a pendulum."""

import numpy as np
import pytest

from gradiva.common import GRAVITY, Side, altered
from gradiva.planner import VelocityCommand
from gradiva.push_recovery import PushCompensation, SidewaysCompensation
from gradiva.setup import load_setup
from gradiva.simplified_model import LinearInvertedPendulum
from gradiva.simulated_walk import plan_from_start
from tests.yarp_modules.made_up_state import state_near

PENDULUM = LinearInvertedPendulum(com_height=0.53)
PLAN = plan_from_start(load_setup("icub_v2_7"), VelocityCommand(0.1, duration=4.0))


def pushed_at(time, wrench):
    """Return reference and state at a time of a walk, with an external wrench."""
    reference = PLAN.at(time)
    return reference, altered(state_near(reference, 1, 0), external_wrench=np.array(wrench))


@pytest.mark.parametrize("dead_band", [0.0, 0.01])
def test_compensation_shifts_com_and_dcm_by_the_offset_less_the_dead_band(dead_band):
    reference, state = pushed_at(0.0, [0.0, 40.0, 5.0, 0.0, 0.0, 1.0])
    compensation = PushCompensation(PENDULUM, 52.0, dead_band)
    shifted, offset = compensation.compensated(state, reference), 40.0 * 0.53 / (52.0 * GRAVITY) - dead_band
    np.testing.assert_allclose(shifted.dcm_position - state.dcm_position, [0.0, offset], atol=1e-12)
    np.testing.assert_allclose(shifted.com_position - state.com_position, [0.0, offset, 0.0], atol=1e-12)
    assert shifted.external_wrench is None
    assert compensation.compensated(shifted, reference) is shifted
    weak = altered(state, external_wrench=1e-3 * state.external_wrench)
    moved = compensation.compensated(weak, reference).dcm_position - state.dcm_position
    assert np.linalg.norm(moved) == pytest.approx(0.0 if dead_band else 1e-3 * offset)


def test_the_part_of_a_sideways_push_that_is_compensated_and_the_rest_of_its_wrench_add_up_to_it():
    swing = next(step for step in PLAN.steps[2:] if step.footstep.side is Side.RIGHT)  # towards it
    time = 0.5 * (swing.lift_off + swing.touch_down)
    reference, state = pushed_at(time, [10.0, -40.0, 5.0, 6.4, 1.6, 1.0])  # 16 cm above the CoM
    shifted = SidewaysCompensation(PENDULUM, 52.0, 0.005, 0.015).compensated(state, reference)
    offset = -40.0 * (0.53 + 0.16) / (52.0 * GRAVITY) + 0.005
    np.testing.assert_allclose(shifted.dcm_position - state.dcm_position, [0.0, offset], atol=1e-12)
    np.testing.assert_allclose(shifted.com_position - state.com_position, [0.0, offset, 0.0], atol=1e-12)
    rest = PENDULUM.wrench_offset(shifted.external_wrench, 52.0)
    whole = PENDULUM.wrench_offset(state.external_wrench, 52.0)
    np.testing.assert_allclose(rest + np.array([0.0, offset]), whole, atol=1e-12)
    np.testing.assert_array_equal(shifted.external_wrench[[0, 2, 4, 5]], state.external_wrench[[0, 2, 4, 5]])


def test_a_push_ahead_and_one_away_from_the_swinging_foot_are_the_law_s_until_they_end():
    swing = next(step for step in PLAN.steps[2:] if step.footstep.side is Side.RIGHT)
    flight, landed = 0.5 * (swing.lift_off + swing.touch_down), swing.touch_down + 0.01
    compensation = SidewaysCompensation(PENDULUM, 52.0, 0.005, 0.015)

    def shift(time, *force):
        reference, state = pushed_at(time, [*force, 0.0, 0.0, 0.0, 0.0])
        return compensation.compensated(state, reference).dcm_position[1] - state.dcm_position[1]

    for force in ((40.0, -10.0), (0.0, 40.0)):
        assert shift(flight, *force) == 0.0
        assert shift(landed, 0.0, 40.0) == 0.0  # it lasts
        assert shift(landed, 0.0, 5.0) == 0.0  # it has ended
    assert shift(landed, 0.0, 40.0) > 0.03
    assert shift(flight, 0.0, 40.0) > 0.03  # it lasts
    assert shift(landed, 0.0, 10.0) > 0.005  # as long as half of what began it is left
    assert shift(landed, 0.0, 5.0) == shift(landed, 0.0, 10.0) == 0.0
    compensation.reset()
    assert shift(flight, 0.0, 40.0) == 0.0
