import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError
from gradiva.simplified_model import LinearInvertedPendulum

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
