import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, Side, altered
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva.simplified_model import LinearInvertedPendulum, PushCompensation, SidewaysCompensation
from gradiva.simulated_walk import plan_from_start
from tests.yarp_modules.made_up_state import state_near

PENDULUM = LinearInvertedPendulum(com_height=0.53)
POSITION, VELOCITY, ZMP = np.array([0.02, -0.01]), np.array([0.3, 0.1]), np.array([0.05, 0.04])


def test_natural_frequency_of_one_metre_is_the_root_of_gravity():
    assert LinearInvertedPendulum(1.0).natural_frequency == pytest.approx(3.132, abs=1e-3)


def test_dcm_is_the_com_at_rest_and_leads_it_in_motion():
    np.testing.assert_array_equal(PENDULUM.dcm(POSITION, np.zeros(2)), POSITION)
    lead = PENDULUM.dcm(POSITION, VELOCITY) - POSITION
    np.testing.assert_allclose(lead * PENDULUM.natural_frequency, VELOCITY)


def test_a_com_ahead_of_the_zmp_falls_forward():
    assert PENDULUM.com_acceleration(np.array([0.1, 0.0]), np.zeros(2))[0] > 0.0


def test_propagation_agrees_with_small_euler_steps():
    position, velocity, steps = POSITION.copy(), VELOCITY.copy(), 20000
    for _ in range(steps):
        velocity = velocity + PENDULUM.com_acceleration(position, ZMP) * (0.5 / steps)
        position = position + velocity * (0.5 / steps)
    exact_position, exact_velocity = PENDULUM.propagate(POSITION, VELOCITY, ZMP, 0.5)
    np.testing.assert_allclose(exact_position, position, atol=1e-4)
    np.testing.assert_allclose(exact_velocity, velocity, atol=1e-4)


def test_dcm_of_the_propagated_com_is_the_propagated_dcm():
    expected = PENDULUM.propagate_dcm(PENDULUM.dcm(POSITION, VELOCITY), ZMP, 0.4)
    actual = PENDULUM.dcm(*PENDULUM.propagate(POSITION, VELOCITY, ZMP, 0.4))
    np.testing.assert_allclose(actual, expected, atol=1e-12)


def test_two_halves_make_a_whole():
    half = PENDULUM.propagate(POSITION, VELOCITY, ZMP, 0.2)
    np.testing.assert_allclose(
        PENDULUM.propagate(*half, ZMP, 0.2), PENDULUM.propagate(POSITION, VELOCITY, ZMP, 0.4), atol=1e-12
    )


@pytest.mark.parametrize("arguments", [(0.0,), (-0.5,), (0.5, 0.0), (float("nan"),)])
def test_a_pendulum_without_height_or_gravity_is_refused(arguments):
    with pytest.raises(ConfigError, match="must be positive"):
        LinearInvertedPendulum(*arguments)


def test_a_pushed_pendulum_moves_as_one_that_nothing_pushes_does_from_an_offset():
    """40 N at 0.2 m above the CoM of 52 kg: Euler steps of the momentum's balance about the CoM against the offset."""
    mass, force, lever = 52.0, np.array([24.0, -32.0]), 0.2
    wrench = np.array([*force, 0.0, -lever * force[1], lever * force[0], 0.0])
    offset = PENDULUM.wrench_offset(wrench, mass)
    np.testing.assert_allclose(offset, force * (0.53 + lever) / (mass * GRAVITY), rtol=1e-12)
    position, velocity, steps = POSITION.copy(), VELOCITY.copy(), 20000
    for _ in range(steps):
        ground = (mass * GRAVITY * (position - ZMP) + lever * force) / 0.53  # so that the angular momentum stays
        velocity = velocity + (ground + force) / mass * (0.5 / steps)
        position = position + velocity * (0.5 / steps)
    shifted, shifted_velocity = PENDULUM.propagate(POSITION + offset, VELOCITY, ZMP, 0.5)
    np.testing.assert_allclose(shifted - offset, position, atol=1e-4)
    np.testing.assert_allclose(shifted_velocity, velocity, atol=1e-4)


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
    compensation.reset()
    assert shift(flight, 0.0, 40.0) == 0.0
