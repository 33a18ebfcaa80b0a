"""Friction of the drives is fed forward: its value, its velocity, its limits."""

from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ConfigError, LowPass, Side, altered
from gradiva.whole_body import (
    CommandedMotion,
    DrivesConfig,
    FrictionCompensator,
    FrictionFeedforward,
    RigidTorqueController,
    ServoFeedforward,
    ServoFeedforwardConfig,
)
from gradiva.whole_body.torque_control import TouchDown
from tests.conftest import model_of
from tests.whole_body.standing_robot import (
    ACTUATION,
    PERIOD,
    ROBOT,
    accelerations,
    reference,
    start_posture,
    state,
    walking_config,
)

ANKLE = model_of(ROBOT).description.joints.index("l_ankle_roll")


def drives(fraction=0.0, learning=0.0, load=0.0):
    return DrivesConfig(1.0, fraction, load, learning)


def friction(fraction):
    return FrictionFeedforward(model_of(ROBOT), drives(fraction))


def compensator(fraction=0.0, **settings):
    return FrictionCompensator(model_of(ROBOT), drives(fraction, **settings))


def rigid(compensation=None):
    config = walking_config().rigid_torque_control
    return RigidTorqueController(model_of(ROBOT), config, replace(ACTUATION, friction=compensation), start_posture())


def test_friction_is_coulombs_with_a_smooth_sign_and_viscous():
    velocities = np.zeros(23)
    velocities[ANKLE] = 0.1
    torques = friction(0.5).torques(velocities)
    description = model_of(ROBOT).description
    coulomb, viscous = (description.per_joint(name)[ANKLE] for name in ("coulomb_friction", "viscous_friction"))
    assert torques[ANKLE] == pytest.approx(0.5 * (coulomb * np.tanh(2.0) + viscous * 0.1), rel=1e-12)
    np.testing.assert_array_equal(np.delete(torques, ANKLE), 0.0)
    np.testing.assert_array_equal(friction(0.5).torques(-velocities), -torques)


REST = np.zeros(23)
NO_FORCE = 0.0, 0.0  # [N] of the feet


def test_the_desired_velocity_integrates_the_accelerations_and_returns_to_the_measured_one():
    compensation, acceleration, velocity = compensator(1.0), np.full(23, 3.0), np.full(23, 0.1)
    for _ in range(100):
        torques = compensation.added_to(REST, velocity, acceleration, (velocity, REST), Side, NO_FORCE, PERIOD)
    reached = (0.1 + 0.1 * 3.0) * (1.0 - np.exp(-0.1 / 0.1))
    np.testing.assert_allclose(torques, friction(1.0).torques(np.full(23, reached)), rtol=1e-12)
    compensation.reset()
    np.testing.assert_array_equal(compensation.added_to(REST, REST, REST, (REST, REST), Side, NO_FORCE, PERIOD), REST)


def test_the_sum_respects_the_torque_limits():
    limits, ones = model_of(ROBOT).torque_limits(), np.ones(23)
    commanded = compensator(1.0).added_to(limits - 0.01, ones, np.full(23, 100.0), (ones, REST), Side, NO_FORCE, PERIOD)
    np.testing.assert_array_equal(commanded, limits)


def test_gears_lose_a_fraction_of_the_torque():
    compensation, velocity, load = compensator(1.0, load=0.5), np.full(23, 10.0), np.full(23, -5.0)
    for _ in range(2000):
        commanded = compensation.added_to(load, velocity, REST, (velocity, REST), Side, NO_FORCE, PERIOD)
    lost = 0.5 * 5.0 * model_of(ROBOT).description.per_joint("gear_loss")
    assert lost.min() > 0.0
    np.testing.assert_allclose(commanded - load, friction(1.0).torques(velocity) + lost, rtol=1e-6)


def test_velocity_that_was_lost_is_answered_in_proportion_to_the_inertia():
    compensation, lost = compensator(learning=5.0), np.linspace(-0.2, 0.2, 23)
    np.testing.assert_array_equal(compensation.added_to(REST, REST, REST, (REST, REST), Side, NO_FORCE, PERIOD), REST)
    torques = compensation.added_to(REST, REST, REST, (REST, lost), Side, NO_FORCE, PERIOD)
    np.testing.assert_allclose(torques, 12.0 * compensation.inertias * np.exp(-PERIOD / 0.1) * lost, atol=1e-12)


@pytest.mark.parametrize("true_fraction", [0.0, 0.6, 1.7])
def test_the_fraction_of_a_swinging_joint_is_learned(true_fraction):
    """One joint with its inertia, rotor included, is to swing by ± 0.5 rad at 0.7 Hz against its friction."""
    description, compensation = model_of(ROBOT).description, compensator(learning=5.0)
    coulomb, viscous = (description.per_joint(f"{name}_friction")[ANKLE] for name in ("coulomb", "viscous"))
    inertia = compensation.inertias[ANKLE]
    velocity, commanded, rate = 0.0, 0.0, 2.0 * np.pi * 0.7
    velocities, accelerations, integral = np.zeros((3, 23))
    for tick in range(10000):
        wanted = 0.5 * rate * np.cos(rate * tick * PERIOD)
        acceleration = -0.5 * rate**2 * np.sin(rate * tick * PERIOD) + 30.0 * (wanted - velocity)
        velocities[ANKLE], accelerations[ANKLE], integral[ANKLE] = velocity, acceleration, commanded
        bare = np.where(np.arange(23) == ANKLE, inertia * acceleration, 0.0)
        torque = compensation.added_to(bare, velocities, accelerations, (velocities, integral), Side, NO_FORCE, PERIOD)[
            ANKLE
        ]
        lost = true_fraction * (coulomb * np.tanh(velocity / 0.05) + viscous * velocity)
        velocity += PERIOD * (torque - lost) / inertia
        commanded += PERIOD * acceleration
    assert compensation.fractions[ANKLE] == pytest.approx(true_fraction, abs=0.1)
    assert np.delete(compensation.fractions, ANKLE) == pytest.approx(0.0)


def g1_compensator(fraction=0.0):
    return FrictionCompensator(model_of("g1"), DrivesConfig(1.0, fraction, 0.0, 5.0))


G1_NAMES = np.array(model_of("g1").description.joints)
PITCHES = np.array([any(part in name for part in ("hip_pitch", "knee")) for name in G1_NAMES])
IS_LEFT_LEG = np.isin(model_of("g1").description.joints, model_of("g1").description.joint_groups["left_leg"].joints)
G1_REST, G1_ONES = np.zeros(len(IS_LEFT_LEG)), np.ones(len(IS_LEFT_LEG))


def test_joints_with_backlash_are_compensated_while_their_leg_is_in_the_air():
    """G1's left leg, some time constants after its foot has lifted; hips and knees that pitch always, arms never."""
    compensation, velocity = g1_compensator(0.5), G1_ONES
    load, rest = 10.0 * G1_ONES, (velocity, G1_REST)
    for loaded, compensated in (([Side.RIGHT], IS_LEFT_LEG | PITCHES), (Side, PITCHES)):
        forces = [200.0 * (side in loaded) for side in Side]
        for _ in range(1000):
            torques = compensation.added_to(load, velocity, G1_REST, rest, loaded, forces, PERIOD)
        expected = FrictionFeedforward(model_of("g1"), drives(0.5)).torques(velocity) * compensated
        np.testing.assert_allclose(torques - load, expected, atol=1e-3)


def compensated(load, velocity, forces, loaded=Side):
    """Return what G1's torques get against friction at a steady velocity, half of the nominal one learned."""
    compensation, torques = g1_compensator(0.5), load * G1_ONES
    velocities = velocity * G1_ONES
    for _ in range(1000):
        commanded = compensation.added_to(torques, velocities, G1_REST, (velocities, G1_REST), loaded, forces, PERIOD)
    return dict(zip(model_of("g1").description.joints, commanded - torques, strict=True))


def test_ankles_are_compensated_in_what_the_load_of_their_sole_does_not_overcome():
    """Half of 1.2 N·m and 0.12 N·m·s/rad; edges of the sole are 30 mm beside, the nearest 50 mm behind the ankles."""
    for force, roll, pitch in (
        (-30.0, 0.66, 0.66),
        (0.0, 0.66, 0.66),
        (6.0, 0.462, 0.33),
        (15.0, 0.165, 0.0),
        (100.0, 0.0, 0.0),
    ):
        added = compensated(0.0, 1.0, (force, 0.0))
        assert added["left_ankle_roll_joint"] == pytest.approx(roll, abs=1e-5)
        assert added["left_ankle_pitch_joint"] == pytest.approx(pitch, abs=1e-5)
        assert added["right_ankle_roll_joint"] == pytest.approx(0.66, abs=1e-5)


def test_what_is_added_under_load_leaves_the_rotor_on_its_flank():
    """The hip has half of 1.6 N·m and 0.16 N·m·s/rad; more than its load would turn its torque over."""
    hip, friction = "left_hip_pitch_joint", 0.88
    for load, added in ((0.5, -0.5), (0.0, 0.0), (-0.5, -0.5), (5.0, -friction), (-5.0, -friction)):
        assert compensated(load, -1.0, NO_FORCE)[hip] == pytest.approx(added, abs=1e-5)
    assert compensated(0.5, -1.0, NO_FORCE, [Side.RIGHT])[hip] == pytest.approx(-friction, abs=1e-5)  # air


def test_ankles_learn_four_times_as_fast_as_hips_that_are_compensated_under_load():
    compensation, names = g1_compensator(), model_of("g1").description.joints
    for tick in range(1000):
        lost = 1e-5 * (tick + 1) * G1_ONES
        compensation.added_to(G1_REST, G1_ONES, G1_REST, (G1_ONES, G1_ONES + lost), [Side.RIGHT], NO_FORCE, PERIOD)
    friction = model_of("g1").description.per_joint("coulomb_friction") / compensation.inertias
    rates = dict(zip(names, compensation.fractions * friction, strict=True))
    assert rates["left_hip_pitch_joint"] > 0.0
    assert rates["left_hip_pitch_joint"] == pytest.approx(rates["right_knee_joint"], rel=1e-6)
    assert rates["left_ankle_roll_joint"] == pytest.approx(4.0 * rates["left_hip_pitch_joint"], rel=0.1)  # fades in


def test_hips_and_knees_that_are_compensated_under_load_answer_in_proportion():
    compensation, load = g1_compensator(), 20.0 * G1_ONES
    for lost in (G1_REST, 0.2 * G1_ONES):
        torque = compensation.added_to(load, G1_REST, G1_REST, (G1_REST, lost), Side, NO_FORCE, PERIOD) - load
    knee = model_of("g1").description.joints.index("left_knee_joint")
    others = [model_of("g1").description.joints.index(f"left_{name}_joint") for name in ("hip_roll", "ankle_roll")]
    assert torque[knee] == pytest.approx(12.0 * compensation.inertias[knee] * 0.2, rel=0.05)
    np.testing.assert_allclose(torque[others], 0.0, atol=1e-9)


def test_joints_with_backlash_learn_nothing_while_their_leg_carries_load():
    """A foot lifts, learns for 0.3 s and lands; friction that nothing compensates goes on taking off velocity."""
    compensation, lost, fractions, fading = g1_compensator(0.0), G1_REST, [], IS_LEFT_LEG & ~PITCHES
    for loaded in [[Side.RIGHT]] * 300 + [list(Side)] * 2000:
        lost = lost + 0.001 * G1_ONES  # [rad/s] of each tick: 1 rad/s² less than commanded
        compensation.added_to(G1_REST, G1_ONES, G1_REST, (G1_ONES, G1_ONES + lost), loaded, NO_FORCE, PERIOD)
        fractions.append(compensation.fractions)
    learned, landed, last = fractions[299][fading], fractions[600][fading], fractions[-1]
    assert (learned > 0.0).all()
    np.testing.assert_allclose(last[fading], landed, rtol=1e-4)
    assert (landed - learned < 0.2 * learned).all()  # what fades in and out
    np.testing.assert_array_equal(last[~(IS_LEFT_LEG | PITCHES)], 0.0)


def test_joints_with_backlash_that_roll_or_yaw_do_not_answer_in_proportion():
    compensation, lost = g1_compensator(0.0), 0.2 * G1_ONES
    for velocities in ((G1_REST, G1_REST), (G1_REST, lost)):
        torques = compensation.added_to(G1_REST, G1_REST, G1_REST, velocities, [Side.RIGHT], NO_FORCE, PERIOD)
    np.testing.assert_allclose(torques[~PITCHES], 0.0, atol=1e-9)


def test_torque_control_commands_its_torques_plus_those_against_friction():
    before = state(joint_velocities=0.3 * np.cos(np.arange(23)))
    without, with_friction = rigid(), rigid(compensator(0.8))
    bare = without.command(before, reference(), PERIOD).values
    commanded = with_friction.command(before, reference(), PERIOD).values
    acceleration = accelerations(without, before)[6:]
    measured = before.joint_velocities, REST
    expected = compensator(0.8).added_to(bare, before.joint_velocities, acceleration, measured, Side, NO_FORCE, PERIOD)
    np.testing.assert_allclose(commanded, expected, atol=1e-9)
    assert np.abs(commanded - bare).max() > 0.05


def test_a_fraction_of_zero_that_stays_commands_the_same_torques_to_the_last_digit():
    before = state(joint_velocities=0.3 * np.cos(np.arange(23)))
    without, off = (one.command(before, reference(), PERIOD).values for one in (rigid(), rigid(compensator(0.0))))
    np.testing.assert_array_equal(without, off)


@pytest.mark.parametrize("latency", [0.01, 0.002])
@pytest.mark.parametrize(("lag", "time_constant"), [(0.005, 0.0), (0.0, 0.01), (0.005, 0.01), (0.0025, 0.03)])
def test_commanded_accelerations_complete_old_and_low_passed_velocities(lag, time_constant, latency):
    """Of a motion v(t) that follows its commands after the latency, which need not be whole ticks."""
    motion, accelerations = CommandedMotion(1, latency, time_constant), np.cos(np.arange(100.0))
    ticks, commanded = PERIOD * np.arange(101.0), np.append(0.0, PERIOD * np.cumsum(accelerations))
    low_pass = LowPass(time_constant, np.zeros(1))
    for tick, acceleration in enumerate(accelerations):
        now, then = np.interp(ticks[tick] - latency - np.array([0.0, lag]), ticks, commanded)
        measured = low_pass.update(np.array([then]), PERIOD)
        np.testing.assert_allclose(motion.completed(measured, lag, PERIOD), [now], atol=1e-15)
        motion.add(np.array([PERIOD * acceleration]))
    motion.reset()
    np.testing.assert_array_equal(motion.completed(measured, lag, PERIOD), measured)


def test_velocities_of_the_present_pass_as_they_are():
    motion, measured = CommandedMotion(1, 0.01), np.ones(1)
    motion.add(np.ones(1))
    assert motion.completed(measured, 0.0, PERIOD) is measured


def test_position_servos_are_to_exert_the_friction_as_well(icub):
    config = ServoFeedforwardConfig(0.0, 1.0, 0.02, 1.0)
    velocity = np.concatenate((np.zeros(6), np.linspace(-1.0, 1.0, 23)))
    rest, wrench = np.zeros(29), np.array([0.0, 0.0, 160.0, 0.0, 0.0, 0.0])
    torques = [
        ServoFeedforward(icub, config, friction=one).servo_torques(start_posture(), velocity, rest, wrench, wrench)
        for one in (friction(0.7), None)
    ]
    np.testing.assert_allclose(torques[0] - torques[1], friction(0.7).torques(velocity[6:]), atol=1e-12)


def test_more_compensation_than_there_is_friction_is_refused():
    with pytest.raises(ConfigError, match=r"friction_compensation=1\.1.*\[0, 1\]"):
        drives(1.1)
    with pytest.raises(ConfigError, match=r"friction_learning=-1\.0, must not be negative"):
        drives(learning=-1.0)


def test_a_foot_that_lands_carries_load_from_its_touch_until_it_is_lifted():
    start = reference().left_foot
    stands, falls = start, altered(start, in_contact=False, twist=np.array([0.0, 0.0, -0.1, 0.0, 0.0, 0.0]))
    rises = altered(falls, twist=-falls.twist)
    touch = TouchDown(10.0, 0.1)
    assert touch.update(stands, 0.0, PERIOD)  # it stands at the beginning
    assert not touch.update(rises, 50.0, PERIOD)
    assert not touch.update(falls, 5.0, PERIOD)
    assert touch.update(falls, 11.0, PERIOD)  # early
    assert not touch.update(stands, 5.0, PERIOD)  # late
    assert touch.update(stands, 11.0, PERIOD)
    assert touch.update(stands, 0.0, PERIOD)  # a sensor that fails lifts no foot
    touch.update(falls, 0.0, PERIOD)
    waits = [touch.update(stands, 0.0, PERIOD) for _ in range(102)]
    assert waits.index(True) in (99, 100, 101)
