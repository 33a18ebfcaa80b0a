"""Samples of joints and inertial unit of different ages, brought to the present, and ZMP of filtered wrenches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ImuMeasurement, LowPass, Measurement, low_pass_gain, so3
from gradiva.estimation import DOUBLE_SUPPORT_LAG, StateEstimator
from gradiva.estimation.state_estimator import SamplePredictor
from gradiva.setup import GccCompiler, cache_folder, load_setup

from .test_state_estimator import Scene

START, RATES, ACCELERATIONS = np.array([0.2, -0.4]), np.array([1.0, -2.0]), np.array([3.0, 8.0])
TURN, SPIN = np.array([0.4, -0.2, 0.3]), np.array([5.0, 1.0, -2.0])  # [rad/s], [rad/s²]


def sampled(joints_at: float, imu_at: float) -> Measurement:
    """Joints of constant acceleration; an IMU that turns about its own axes ever faster."""
    rate = TURN + SPIN * imu_at
    imu = ImuMeasurement(so3.exp(0.1 * TURN), rate, imu_at)
    positions = START + RATES * joints_at + 0.5 * ACCELERATIONS * joints_at**2
    return Measurement(joints_at, positions, RATES + ACCELERATIONS * joints_at, np.zeros(2), np.zeros((2, 6)), imu)


def test_samples_of_the_present_are_handed_on_as_they_are() -> None:
    measurement = sampled(0.5, 0.5)
    predicted, lag, change = SamplePredictor().at(measurement, 0.5, use_imu=True)
    assert predicted is measurement
    assert lag == 0.0
    assert change == 0.0


def test_positions_go_on_with_their_velocities_to_the_present() -> None:
    predicted, lag, _ = SamplePredictor().at(sampled(0.49, 0.49), 0.5, use_imu=True)
    truth = sampled(0.5, 0.5)
    assert (predicted.time, lag) == (0.5, pytest.approx(0.01))
    np.testing.assert_allclose(predicted.joint_positions, truth.joint_positions, atol=0.5 * 8.0 * 0.01**2 + 1e-12)
    before = sampled(0.49, 0.49)
    np.testing.assert_array_equal(predicted.joint_velocities, before.joint_velocities)


def test_the_attitude_turns_on_with_the_gyroscope() -> None:
    before = sampled(0.49, 0.48)
    predicted, _, _ = SamplePredictor().at(before, 0.5, use_imu=True)
    assert predicted.imu is not None
    assert before.imu is not None
    turned = so3.log(before.imu.rotation.T @ predicted.imu.rotation)
    np.testing.assert_allclose(turned, 0.02 * before.imu.angular_velocity, atol=1e-12)


@pytest.mark.parametrize("follows_joints", [False, True])
@pytest.mark.parametrize(("joints_age", "imu_age"), [(0.003, 0.011), (0.014, 0.005), (0.004, 0.004)])
def test_joint_velocities_are_of_the_older_samples_instant_or_their_change_since_is_known(
    joints_age: float, imu_age: float, follows_joints: bool
) -> None:
    predictor = SamplePredictor(follows_joints)
    for tick in range(6):
        now = 0.01 * tick
        predicted, lag, change = predictor.at(sampled(now - joints_age, now - imu_age), now, use_imu=True)
    assert predicted.imu is not None
    oldest = max(joints_age, imu_age)
    age = joints_age if follows_joints else oldest
    assert lag == pytest.approx(age)
    np.testing.assert_allclose(predicted.joint_velocities, RATES + ACCELERATIONS * (0.05 - age), atol=1e-9)
    np.testing.assert_allclose(change, ACCELERATIONS * (oldest - age), atol=1e-9)
    np.testing.assert_allclose(predicted.imu.angular_velocity, TURN + SPIN * (0.05 - oldest), atol=1e-9)


def test_no_prediction_reaches_farther_than_velocities_are_good_for() -> None:
    before = sampled(0.1, 0.1)
    predicted, lag, _ = SamplePredictor().at(before, 0.5, use_imu=True)
    assert lag == 0.05
    np.testing.assert_allclose(predicted.joint_positions, before.joint_positions + 0.05 * before.joint_velocities)


def test_without_the_imu_its_age_does_not_count() -> None:
    predictor = SamplePredictor()
    for tick in range(6):
        predicted, lag, _ = predictor.at(sampled(0.01 * tick - 0.002, 0.01 * tick - 0.02), 0.01 * tick, use_imu=False)
    assert lag == pytest.approx(0.002)
    np.testing.assert_allclose(predicted.joint_velocities, RATES + ACCELERATIONS * 0.048, atol=1e-9)


def test_a_sample_that_comes_twice_is_predicted_the_farther() -> None:
    predictor = SamplePredictor()
    first, _, _ = predictor.at(sampled(0.1, 0.1), 0.105, use_imu=True)
    again, lag, _ = predictor.at(sampled(0.1, 0.1), 0.115, use_imu=True)
    assert lag == pytest.approx(0.015)
    velocities = RATES + 0.1 * ACCELERATIONS
    np.testing.assert_allclose(again.joint_positions - first.joint_positions, 0.01 * velocities, atol=1e-12)


def test_a_stamp_ahead_of_the_clock_is_taken_for_the_present() -> None:
    predicted, lag, _ = SamplePredictor().at(sampled(0.52, 0.52), 0.5, use_imu=True)
    assert (predicted.time, lag) == (0.5, 0.0)
    np.testing.assert_array_equal(predicted.joint_positions, sampled(0.52, 0.52).joint_positions)


def estimator_with(icub, follows_joints=False, **values):
    shipped = load_setup("icub_v2_7").walking.state_estimator
    unfiltered = {"zmp_time_constant": 0.0, "com_velocity_time_constant": 0.0}
    return StateEstimator(
        icub, replace(shipped, **(unfiltered | values)), GccCompiler(cache_folder()), follows_joints=follows_joints
    )


def test_the_pendulum_brings_the_com_velocity_to_the_present(icub):
    scene, zmp = Scene(icub), np.array([0.3, 0.15])
    imu = scene.imu()
    old = replace(scene.measurement(0.49, imu=ImuMeasurement(imu.rotation, imu.angular_velocity, 0.49)))
    predicted, _, _ = SamplePredictor().at(old, 0.5, use_imu=True)
    here = replace(predicted, time=0.5, imu=replace(predicted.imu, time=0.5))
    present = estimator_with(icub).update(here, scene.reference(), 0.5, zmp)
    state = estimator_with(icub).update(old, scene.reference(), 0.5, zmp)
    np.testing.assert_allclose(state.com_position, present.com_position, atol=1e-12)
    np.testing.assert_allclose(state.left_foot_position, present.left_foot_position, atol=1e-12)
    pull = 0.01 * 4.3**2 * (present.com_position[:2] - zmp)
    np.testing.assert_allclose(state.com_velocity[:2] - present.com_velocity[:2], pull, atol=1e-12)
    np.testing.assert_allclose(state.dcm_position - present.dcm_position, pull / 4.3, atol=1e-12)
    assert state.com_velocity[2] == present.com_velocity[2]


def test_between_two_samples_of_the_gyroscope_the_base_turns_with_the_joints_of_the_stance_leg(icub):
    before, after = Scene(icub), Scene(icub)
    after.rates = before.rates + 0.3 * np.arange(len(before.rates))
    after._place()
    turn = ImuMeasurement(before.imu().rotation, before.imu().angular_velocity, 0.49)
    estimator = estimator_with(icub, follows_joints=True)
    estimator.update(before.measurement(0.49, imu=turn), before.reference(), 0.492)
    state = estimator.update(after.measurement(0.5, imu=turn), after.reference(), 0.5)
    assert state.velocity_lag == 0.0
    truth = after.base_rotation.T @ after.base_twist[3:]
    np.testing.assert_allclose(state.base_rotation.T @ state.base_twist[3:], truth, atol=1e-9)
    assert np.linalg.norm(truth - before.base_rotation.T @ before.base_twist[3:]) > 0.1
    np.testing.assert_allclose(state.left_foot_twist, np.zeros(6), atol=1e-9)


def test_behind_its_low_pass_the_com_velocity_does_not_lag_where_the_pendulum_holds_and_noise_is_less(icub):
    """The CoM keeps its place above a ZMP beside it: the velocity that a step of the measured one leaves falls by g."""
    scene, zmp = Scene(icub), np.array([0.3, 0.15])
    smooth, raw = (estimator_with(icub, com_velocity_time_constant=time) for time in (0.04, 0.0))
    states = [
        [each.update(scene.measurement(0.01 * k), scene.reference(), None, zmp) for k in range(60)]
        for each in (smooth, raw)
    ]
    np.testing.assert_array_equal(states[0][0].com_velocity, states[1][0].com_velocity)  # the first one passes
    gain = low_pass_gain(0.04, 0.01)
    pull = 0.01 * (1.0 - gain) * 4.3**2 * (states[1][0].com_position[:2] - zmp)
    for k in (1, 2, 59):
        moved = states[0][k].com_velocity[:2] - states[1][k].com_velocity[:2]
        np.testing.assert_allclose(moved, pull * (1.0 - (1.0 - gain) ** k) / gain, rtol=1e-9)
    assert states[0][59].com_velocity[2] == pytest.approx(states[1][59].com_velocity[2])


def test_samples_of_the_present_give_the_state_to_the_last_digit_whatever_is_commanded(icub):
    scene = Scene(icub)
    measurement = scene.measurement(0.5, wrenches=np.full((2, 6), 50.0), imu=scene.imu())
    plain = estimator_with(icub, predicts=False).update(measurement, scene.reference())
    state = estimator_with(icub).update(measurement, scene.reference(), 0.5, np.array([7.0, -3.0]))
    for name in ("base_position", "base_twist", "joint_positions", "com_velocity", "dcm_position", "zmp_position"):
        np.testing.assert_array_equal(getattr(state, name), getattr(plain, name))


def test_the_commanded_zmp_completes_the_one_of_filtered_wrenches(icub):
    """The ZMP steps and then wanders as commanded; the robot's low pass hides it, the estimate does not."""
    scene, raw = Scene(icub), estimator_with(icub, use_imu=False)
    planned = on_one_foot(scene)
    completed = estimator_with(icub, use_imu=False, wrench_filter_time_constant=0.08)
    low_pass, errors, hidden = LowPass(0.08), [], []
    for tick in range(60):
        time, wrenches = 0.01 * tick, pressing((0.03 if tick > 10 else 0.0) + 0.01 * np.sin(0.3 * tick))
        filtered = low_pass.update(wrenches, 0.01)
        truth = raw.update(scene.measurement(time, wrenches), planned).zmp_position
        seen = raw.update(scene.measurement(time, filtered), planned).zmp_position
        state = completed.update(scene.measurement(time, filtered), planned, time, truth)
        errors.append(np.linalg.norm(state.zmp_position - truth))
        hidden.append(np.linalg.norm(seen - truth))
    assert max(errors) < 1e-9
    assert max(hidden) > 0.02


def test_the_commanded_zmp_completes_that_of_old_wrenches_the_more_the_older(icub):
    """In single support, where the low pass of the ZMP is not longer."""
    jumps = [jump_of_the_zmp(icub, is_double_support=False, age=age) for age in (0.0, 0.01, 0.03)]
    taken_off = [0.0, *(0.02 * np.exp(-0.01 / (3.0 * age)) for age in (0.01, 0.03))]
    np.testing.assert_allclose(jumps, taken_off, atol=1e-12)


@pytest.mark.parametrize("age", [0.0, 0.01, 0.03])
def test_on_both_feet_the_zmp_follows_the_commanded_one_and_its_error_lags_more_with_older_wrenches(icub, age):
    error = 1.0 if age == 0.0 else low_pass_gain(3.0 * age, 0.01)  # of the commanded one that old wrenches do not have
    slower = low_pass_gain(DOUBLE_SUPPORT_LAG * age, 0.01)
    jump = jump_of_the_zmp(icub, is_double_support=True, age=age)
    np.testing.assert_allclose(jump, 0.02 * (1.0 - slower * error), atol=1e-12)


def jump_of_the_zmp(icub, is_double_support, age):
    """Return the first change of the estimated ZMP where the commanded one jumps by 20 mm, the measured one not."""
    scene = Scene(icub)
    planned = scene.reference() if is_double_support else on_one_foot(scene)
    estimator, estimates = estimator_with(icub, use_imu=False, wrench_age_factor=3.0), []
    for tick in range(2):
        old = replace(scene.measurement(0.01 * tick, pressing(0.0)), contact_wrenches_time=0.01 * tick - age)
        estimates.append(estimator.update(old, planned, 0.01 * tick, np.array([0.02 * tick, 0.0])))
    assert estimates[1].zmp_lag == (DOUBLE_SUPPORT_LAG * age if is_double_support else 0.0)
    return float((estimates[1].zmp_position - estimates[0].zmp_position)[0])


def test_between_two_steps_the_zmp_is_as_young_as_on_one_foot(icub):
    scene, (estimator, lags) = Scene(icub), (estimator_with(icub, use_imu=False, wrench_age_factor=3.0), [])
    for tick in range(40):
        planned = on_one_foot(scene) if tick < 5 else scene.reference()
        old = replace(scene.measurement(0.01 * tick, pressing(0.0)), contact_wrenches_time=0.01 * tick - 0.01)
        lags.append(estimator.update(old, planned, 0.01 * tick).zmp_lag)
    assert lags == [0.0] * 30 + [pytest.approx(DOUBLE_SUPPORT_LAG * 0.01)] * 10


def on_one_foot(scene):
    """Return the reference without the right foot."""
    planned = scene.reference()
    return replace(planned, right_foot=replace(planned.right_foot, in_contact=False))


def pressing(ahead):
    """All weight on the left foot, ``ahead`` [m] of its sensor."""
    return np.array([[0.0, 0.0, 320.0, 0.0, -320.0 * ahead, 0.0], [0.0] * 6])
