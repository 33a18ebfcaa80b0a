"""Friction of the drives is fed forward: its value, its velocity, its limits."""

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.setup import Plant, load_setup
from gradiva.whole_body import (
    DrivesConfig,
    FrictionFeedforward,
    RigidTorqueController,
    ServoFeedforward,
    ServoFeedforwardConfig,
)
from tests.conftest import model_of
from tests.whole_body.standing_robot import (
    PERIOD,
    RATE,
    ROBOT,
    accelerations,
    reference,
    start_posture,
    state,
    walking_config,
)

ANKLE = model_of(ROBOT).description.joints.index("l_ankle_roll")


def friction(fraction, time_constant=0.1):
    return FrictionFeedforward(model_of(ROBOT), DrivesConfig(1.0, fraction, 0.1, time_constant))


def rigid(feedforward=None):
    config = walking_config().rigid_torque_control
    return RigidTorqueController(model_of(ROBOT), config, RATE, start_posture(), friction=feedforward)


def test_friction_is_coulombs_with_a_smooth_sign_and_viscous():
    velocities = np.zeros(23)
    velocities[ANKLE] = 0.1
    torques = friction(0.5).torques(velocities)
    description = model_of(ROBOT).description
    coulomb, viscous = (description.per_joint(name)[ANKLE] for name in ("coulomb_friction", "viscous_friction"))
    assert torques[ANKLE] == pytest.approx(0.5 * (coulomb * np.tanh(1.0) + viscous * 0.1), rel=1e-12)
    np.testing.assert_array_equal(np.delete(torques, ANKLE), 0.0)
    np.testing.assert_array_equal(friction(0.5).torques(-velocities), -torques)


def test_the_desired_velocity_integrates_the_accelerations_and_returns_to_the_measured_one():
    feedforward, acceleration, velocity = friction(1.0, time_constant=0.2), np.full(23, 3.0), np.full(23, 0.1)
    for _ in range(100):
        torques = feedforward.added_to(np.zeros(23), velocity, acceleration, PERIOD)
    reached = (0.1 + 0.2 * 3.0) * (1.0 - np.exp(-0.1 / 0.2))
    np.testing.assert_allclose(torques, friction(1.0).torques(np.full(23, reached)), rtol=1e-12)
    feedforward.reset()
    nothing = np.zeros(23)
    np.testing.assert_array_equal(feedforward.added_to(nothing, nothing, nothing, PERIOD), nothing)


def test_the_sum_respects_the_torque_limits():
    limits = model_of(ROBOT).torque_limits()
    commanded = friction(1.0).added_to(limits - 0.01, np.ones(23), np.full(23, 100.0), PERIOD)
    np.testing.assert_array_equal(commanded, limits)


def test_torque_control_commands_its_torques_plus_those_against_friction():
    before = state(joint_velocities=0.3 * np.cos(np.arange(23)))
    without, with_friction = rigid(), rigid(friction(0.8))
    bare = without.command(before, reference(), PERIOD).values
    commanded = with_friction.command(before, reference(), PERIOD).values
    acceleration = accelerations(without, before)[6:]
    expected = friction(0.8).added_to(bare, before.joint_velocities, acceleration, PERIOD)
    np.testing.assert_allclose(commanded, expected, atol=1e-9)
    assert np.abs(commanded - bare).max() > 0.05


def test_a_fraction_of_zero_commands_the_same_torques_to_the_last_digit():
    before = state(joint_velocities=0.3 * np.cos(np.arange(23)))
    without, off = (one.command(before, reference(), PERIOD).values for one in (rigid(), rigid(friction(0.0))))
    np.testing.assert_array_equal(without, off)


def test_position_servos_are_to_exert_the_friction_as_well(icub):
    config = ServoFeedforwardConfig(1.0, 0.0, 1.0, 0.02, 0.02, 1.0)
    velocity = np.concatenate((np.zeros(6), np.linspace(-1.0, 1.0, 23)))
    rest, wrench = np.zeros(29), np.array([0.0, 0.0, 160.0, 0.0, 0.0, 0.0])
    torques = [
        ServoFeedforward(icub, config, friction=one).servo_torques(start_posture(), velocity, rest, wrench, wrench)
        for one in (friction(0.7), None)
    ]
    np.testing.assert_allclose(torques[0] - torques[1], friction(0.7).torques(velocity[6:]), atol=1e-12)


def test_friction_is_compensated_where_the_plant_has_it():
    fractions = [load_setup(ROBOT, plant=plant).walking.drives.friction_compensation for plant in Plant]
    coulomb = [load_setup(ROBOT, plant=plant).simulation.friction.coulomb for plant in Plant]
    assert fractions == [0.0, 0.0, 0.9]
    assert coulomb == [0.0, 0.0, 1.0]


def test_more_compensation_than_there_is_friction_is_refused():
    with pytest.raises(ConfigError, match=r"friction_compensation=1\.1.*\[0, 1\]"):
        DrivesConfig(1.0, 1.1, 0.1, 0.1)
    with pytest.raises(ConfigError, match=r"friction_velocity=0\.0, must be positive"):
        DrivesConfig(1.0, 0.5, 0.0, 0.1)
