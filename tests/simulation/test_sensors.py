"""Sensors of the simulated robot."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from gradiva.common import ConfigError, ControlMode, ImuMeasurement, JointCommand, Measurement, NDArray, Side, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation import MujocoRobot, Push
from gradiva.simulation.sensors import GaussMarkov, Sensors, gain_matrices

from .conftest import MakeRobot
from .standing import configured, positions, standing_posture


def sensors(seed: int = 0, **tables: dict[str, Any]) -> Sensors:
    return Sensors(configured(sensors=tables).sensors, joints=400, wrenches=2, seed=seed)


def truth(time: float = 0.0, positions: float = 0.3) -> Measurement:
    return Measurement(
        time=time,
        joint_positions=np.full(400, positions),
        joint_velocities=np.full(400, 0.1),
        joint_torques=np.full(400, 7.0),
        contact_wrenches=np.zeros((2, 6)),
        imu=ImuMeasurement(so3.exp(np.array([0.1, 0.2, 0.3])), np.array([1.0, 2.0, 3.0])),
    )


def test_perfect_sensors_tell_the_truth() -> None:
    measured = sensors().measure(truth())
    np.testing.assert_array_equal(measured.joint_positions, truth().joint_positions)
    np.testing.assert_array_equal(measured.contact_wrenches, np.zeros((2, 6)))
    assert measured.imu is not None
    np.testing.assert_allclose(measured.imu.rotation, so3.exp(np.array([0.1, 0.2, 0.3])), atol=1e-15)


def test_noise_has_its_standard_deviation_and_changes_at_each_reading() -> None:
    bank = sensors(encoders={"encoder_noise": 0.01, "velocity_noise": 0.2})
    one, two = bank.measure(truth()), bank.measure(truth())
    assert (one.joint_positions - 0.3).std() == pytest.approx(0.01, rel=0.15)
    assert (one.joint_velocities - 0.1).std() == pytest.approx(0.2, rel=0.15)
    assert np.abs(one.joint_positions - two.joint_positions).min() > 0.0


def test_offsets_and_biases_are_constant_and_within_their_bounds() -> None:
    bank = sensors(encoders={"encoder_offset": 0.02}, force_torque={"force_bias": 5.0, "torque_bias": 0.5})
    one, two = bank.measure(truth()), bank.measure(truth())
    offsets = one.joint_positions - 0.3
    assert 0.019 < np.abs(offsets).max() <= 0.02
    assert 0.0 < np.abs(one.contact_wrenches[:, :3]).max() <= 5.0
    assert 0.0 < np.abs(one.contact_wrenches[:, 3:]).max() <= 0.5
    np.testing.assert_array_equal(one.joint_positions, two.joint_positions)
    np.testing.assert_array_equal(one.contact_wrenches, two.contact_wrenches)


def test_encoders_round_to_their_resolution() -> None:
    measured = sensors(encoders={"encoder_resolution": 0.07, "encoder_noise": 0.1}).measure(truth())
    steps = measured.joint_positions / 0.07
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)


def test_differences_are_of_the_readings_over_their_time() -> None:
    bank = sensors(encoders={"velocity_source": "difference"})
    first = bank.measure(truth(0.0, 0.3))
    np.testing.assert_array_equal(first.joint_velocities, np.full(400, 0.1))  # nothing to compare with yet
    second = bank.measure(truth(0.01, 0.35))
    np.testing.assert_allclose(second.joint_velocities, 5.0, atol=1e-12)
    again = bank.measure(truth(0.01, 0.35))
    np.testing.assert_array_equal(again.joint_velocities, second.joint_velocities)


def test_tilt_noise_leaves_the_heading_alone() -> None:
    bank = sensors(inertial={"tilt_noise": 0.01, "gyro_noise": 0.1})
    rotations, rates = [], []
    exact = truth().imu
    assert exact is not None
    for _ in range(300):
        imu = bank.measure(truth()).imu
        assert imu is not None
        rotations.append(so3.log(imu.rotation @ exact.rotation.T))
        rates.append(imu.angular_velocity - exact.angular_velocity)
    np.testing.assert_allclose(np.std(rotations, axis=0), [0.01, 0.01, 0.0], atol=2e-3)
    np.testing.assert_allclose(np.std(rates, axis=0), 0.1, rtol=0.2)


def test_the_error_of_the_tilt_fades_with_its_correlation_time() -> None:
    bank = sensors(inertial={"tilt_noise": 0.01, "tilt_correlation_time": 0.16})
    exact = truth().imu
    assert exact is not None
    errors = []
    for tick in range(20000):
        imu = bank.measure(truth(0.01 * tick)).imu
        assert imu is not None
        errors.append(so3.log(imu.rotation @ exact.rotation.T)[:2])
    of_time = np.array(errors)
    assert of_time.std() == pytest.approx(0.01, rel=0.1)
    assert np.mean(of_time[16:] * of_time[:-16]) / of_time.var() == pytest.approx(np.exp(-1.0), abs=0.06)
    assert np.diff(of_time, axis=0).std() == pytest.approx(0.01 * np.sqrt(2.0 * (1.0 - np.exp(-0.0625))), rel=0.05)


def test_the_heading_of_the_imu_drifts_steadily_and_within_its_bound() -> None:
    bank = sensors(inertial={"heading_drift": 0.01})
    headings = []
    for time in (0.0, 10.0, 20.0):
        imu = bank.measure(truth(time)).imu
        assert imu is not None
        headings.append(so3.yaw(imu.rotation))
    assert headings[0] == pytest.approx(so3.yaw(so3.exp(np.array([0.1, 0.2, 0.3]))))
    assert 0.0 < abs(headings[1] - headings[0]) <= 0.1
    assert headings[2] - headings[1] == pytest.approx(headings[1] - headings[0])


def test_one_seed_gives_one_sequence_of_errors() -> None:
    one = sensors(seed=5, encoders={"encoder_noise": 0.1}).measure(truth()).joint_positions
    np.testing.assert_array_equal(
        one, sensors(seed=5, encoders={"encoder_noise": 0.1}).measure(truth()).joint_positions
    )
    assert np.abs(one - sensors(seed=6, encoders={"encoder_noise": 0.1}).measure(truth()).joint_positions).max() > 0.0


def test_the_error_of_a_quantised_angle_is_uniform_within_half_a_step() -> None:
    angles = np.linspace(0.0, 1.0, 400)
    truth_there = dataclasses.replace(truth(), joint_positions=angles)
    error = sensors(encoders={"encoder_resolution": 0.00153398}).measure(truth_there).joint_positions - angles
    assert np.abs(error).max() <= 0.5 * 0.00153398 + 1e-12
    assert error.mean() == pytest.approx(0.0, abs=1e-4)
    assert error.std() == pytest.approx(0.00153398 / np.sqrt(12.0), rel=0.05)


def test_velocities_are_steps_of_the_motors_encoders() -> None:
    rates = np.linspace(-1.0, 1.0, 400)
    read = sensors(encoders={"velocity_resolution": 0.0044}).measure(
        dataclasses.replace(truth(), joint_velocities=rates)
    )
    np.testing.assert_allclose(read.joint_velocities / 0.0044, np.round(rates / 0.0044), atol=1e-9)


def test_noise_of_first_order_has_its_deviation_and_its_correlation() -> None:
    noise = GaussMarkov(0.3, 0.5, 200, np.random.default_rng(0))
    values = np.array([noise.at(0.1 * k) for k in range(400)])
    assert values.std() == pytest.approx(0.3, rel=0.02)
    for lag in (1, 5, 10):
        correlation = np.mean(values[lag:] * values[:-lag]) / values.var()
        assert correlation == pytest.approx(np.exp(-0.2 * lag), abs=0.02)


def test_a_zeroed_sensor_drifts_as_the_square_root_of_time_first() -> None:
    drifts = []
    for seed in range(300):
        noise = GaussMarkov(5.0, 300.0, 6, np.random.default_rng(seed))
        noise.zero(0.0)
        drifts.append([noise.at(time) for time in (10.0, 100.0, 3000.0)])
    deviations = np.array(drifts).std(axis=(0, 2))
    expected = [5.0 * np.sqrt(1.0 - np.exp(-2.0 * time / 300.0)) for time in (10.0, 100.0, 3000.0)]
    np.testing.assert_allclose(deviations, expected, rtol=0.06)


def test_the_force_sensors_are_zeroed_at_the_start() -> None:
    bank = sensors(force_torque={"force_drift": 5.0})
    at_first, later = (bank.measure(truth(time)).contact_wrenches for time in (0.0, 3000.0))
    np.testing.assert_allclose(at_first, truth().contact_wrenches, atol=1e-12)
    assert 1.0 < np.abs(later - at_first)[:, :3].max() < 25.0


def test_the_deviation_of_a_gyroscope_follows_from_its_density_and_the_sampling() -> None:
    mti = {"gyro_noise_density": np.radians(0.01), "gyro_bandwidth": 415.0}
    assert configured(sensors={"inertial": mti}).sensors.gyro_deviation == pytest.approx(
        4.46e-3, rel=0.01
    )  # 0.01 √(π/2 · 415) °/s
    at_100_hz = configured(sensors={"inertial": mti, "imu": {"period": 0.01}}).sensors
    assert at_100_hz.gyro_deviation == pytest.approx(1.234e-3, rel=0.01)  # 0.01 √50 °/s
    bank, exact = sensors(inertial=mti), truth().imu
    assert exact is not None
    errors = []
    for tick in range(3000):
        imu = bank.measure(truth(0.01 * tick)).imu
        assert imu is not None
        errors.append(imu.angular_velocity - exact.angular_velocity)
    np.testing.assert_allclose(np.std(errors, axis=0), 4.46e-3, rtol=0.05)
    np.testing.assert_allclose(np.mean(errors, axis=0), 0.0, atol=3e-4)


def test_a_gyroscopes_bias_is_constant_and_drifts_slowly() -> None:
    bank, exact = sensors(inertial={"gyro_bias": 0.01, "gyro_drift": 0.001}), truth().imu
    assert exact is not None
    errors = []
    for time in (0.0, 3.0, 3000.0):
        imu = bank.measure(truth(time)).imu
        assert imu is not None
        errors.append(imu.angular_velocity - exact.angular_velocity)
    assert 0.0 < np.abs(errors).max() <= 0.014
    assert np.abs(errors[1] - errors[0]).max() < 6e-4 < np.abs(errors[2] - errors[0]).max() < 6e-3


def test_the_tilt_has_a_constant_error() -> None:
    errors = [
        so3.log(_rotation(sensors(seed=seed, inertial={"tilt_bias": 0.01})) @ _rotation(sensors()).T)
        for seed in range(40)
    ]
    np.testing.assert_allclose(np.array(errors)[:, 2], 0.0, atol=1e-4)
    assert 0.009 < np.abs(errors).max() <= 0.0101


def _rotation(bank: Sensors) -> NDArray:
    imu = bank.measure(truth()).imu
    assert imu is not None
    return imu.rotation


def test_a_touch_down_shakes_the_gyroscope_for_a_while() -> None:
    bank, exact = sensors(inertial={"landing_gyro_noise": 0.05}), truth().imu
    assert exact is not None
    errors = []
    for tick in range(60):
        force = np.zeros((2, 6))
        force[0, 2] = 300.0 if tick < 10 or tick >= 20 else 0.0
        imu = bank.measure(dataclasses.replace(truth(0.01 * tick), contact_wrenches=force)).imu
        assert imu is not None
        errors.append(np.abs(imu.angular_velocity - exact.angular_velocity).max())
    assert np.flatnonzero(errors).tolist() == [20, 21, 22, 23]  # for 0.035 s


def test_gains_and_cross_talk_of_a_force_sensor_lie_within_their_bounds() -> None:
    config = configured(sensors={"force_torque": {"wrench_gain_error": 0.05, "wrench_cross_talk": 0.03}}).sensors
    matrices = gain_matrices(config.force_torque, 400, seed=0)
    ranges = np.array([2000.0] * 3 + [35.0] * 3)
    errors = (matrices - np.eye(6)) / np.outer(ranges, 1.0 / ranges)
    diagonal = errors[:, range(6), range(6)]
    others = errors[:, ~np.eye(6, dtype=bool)]
    assert 0.049 < np.abs(diagonal).max() <= 0.05
    assert 0.0299 < np.abs(others).max() <= 0.03
    assert diagonal.std() == pytest.approx(0.05 / np.sqrt(3.0), rel=0.05)


def test_a_force_sensor_reads_its_gains_times_the_wrench() -> None:
    wrench = np.array([[10.0, -5.0, 300.0, 1.0, 2.0, 0.5], [0.0] * 6])
    errors = {"wrench_gain_error": 0.05, "wrench_cross_talk": 0.03}
    bank = sensors(force_torque=errors)
    read = bank.measure(dataclasses.replace(truth(), contact_wrenches=wrench)).contact_wrenches
    gains = gain_matrices(configured(sensors={"force_torque": errors}).sensors.force_torque, 2, 0)
    np.testing.assert_allclose(read[0], gains[0] @ wrench[0], atol=1e-12)
    np.testing.assert_array_equal(read[1], np.zeros(6))
    assert abs(read[0, 2] - 300.0) > 0.1


def test_filtered_wrenches_answer_a_step_of_load_with_two_hertz(make_icub: MakeRobot) -> None:
    sources = {
        name: make_icub(sensors={"force_torque": {"wrench_source": name}, "wrenches": {"period": 0.01}})
        for name in ("raw", "filtered")
    }
    raw, filtered = [], []
    for robot in sources.values():
        robot.push(Push("chest", (0.0, 0.0, -100.0), 0.0, 10.0))
    for _ in range(20):
        for robot in sources.values():
            robot.advance(TICK)
        raw.append(sources["raw"].read().contact_wrenches)
        filtered.append(sources["filtered"].read().contact_wrenches)
    gain, value = 1.0 - np.exp(-2.0 * np.pi * 2.0 * 0.01), filtered[0]
    for sample, answer in zip(raw[1:], filtered[1:], strict=True):
        value = value + gain * (sample - value)
        np.testing.assert_allclose(answer, value, atol=1e-9)


def test_switching_one_effect_does_not_draw_another_one_anew() -> None:
    alone = sensors(encoders={"encoder_noise": 0.01}).measure(truth()).joint_positions
    together = sensors(
        encoders={"encoder_noise": 0.01, "velocity_noise": 0.1},
        inertial={"gyro_noise": 0.1},
        force_torque={"force_noise": 2.0},
    ).measure(truth())
    np.testing.assert_array_equal(alone, together.joint_positions)


def test_a_sample_is_read_again_as_it_was(make_icub: MakeRobot) -> None:
    robot = make_icub(sensors={"encoders": {"encoder_noise": 0.01}, "joints": {"period": 0.01}})
    robot.advance(0.02)
    one = robot.read()
    robot.advance(0.001)
    two = robot.read()
    if one.time == two.time:
        np.testing.assert_array_equal(one.joint_positions, two.joint_positions)
    robot.advance(0.01)
    assert np.abs(robot.read().joint_positions - one.joint_positions).max() > 1e-4


def test_negative_noise_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"gyro_noise=-1\.0, must not be negative"):
        sensors(inertial={"gyro_noise": -1.0})


TICK = 0.01  # [s]
GRAVITY = 9.81


def test_the_zmp_of_the_readings_is_the_ground_projection_of_the_com(description: RobotDescription) -> None:
    robot = MujocoRobot(description, configured(), standing_posture(description))
    robot.advance(4.0)
    truth = robot.truth()
    total = np.zeros(6)
    for side in Side:
        wrench, origin = truth.foot_wrench(side), truth.foot_position(side)
        total[:3] += wrench[:3]
        total[3:] += wrench[3:] + so3.cross(origin, wrench[:3])
    zmp = np.array([-total[4], total[3]]) / total[2]
    np.testing.assert_allclose(zmp, truth.com_position[:2], atol=1e-4)


def test_the_base_is_measured_where_it_is(description: RobotDescription) -> None:
    posture = standing_posture(description)
    robot = MujocoRobot(description, configured(), posture)
    robot.push(Push(link=description.base_link, force=(30.0, 20.0, 0.0), start=0.0, duration=0.1))
    robot.advance(0.1)
    base, truth = robot.read().base, robot.truth()
    assert base is not None
    np.testing.assert_allclose(base.position, truth.base_position, atol=1e-15)
    np.testing.assert_allclose(base.rotation, truth.base_rotation, atol=1e-12)
    np.testing.assert_allclose(base.twist, truth.base_twist, atol=1e-12)
    assert np.abs(base.twist[:3]).max() > 1e-3


def test_the_soles_start_loaded_and_still(description: RobotDescription) -> None:
    robot = MujocoRobot(description, configured(), standing_posture(description))
    assert robot.time == 0.0
    np.testing.assert_array_equal(robot.truth().base_twist, np.zeros(6))
    load = robot.read().contact_wrenches[:, 2].sum()
    assert load == pytest.approx(description.mass * GRAVITY, rel=0.15)
    robot.advance(TICK)
    assert np.abs(robot.truth().base_twist[:3]).max() < 0.01


def test_without_noise_the_measurement_is_the_truth(make_icub: MakeRobot) -> None:
    robot = make_icub()
    robot.advance(0.5)
    measurement, truth = robot.read(), robot.truth()
    np.testing.assert_array_equal(measurement.joint_positions, truth.joint_positions)
    np.testing.assert_array_equal(measurement.joint_velocities, truth.joint_velocities)
    np.testing.assert_array_equal(measurement.joint_torques, truth.joint_torques)
    assert measurement.time == truth.time == 0.5


def test_wrenches_are_means_over_the_time_since_the_last_reading(make_icub: MakeRobot) -> None:
    often, rarely = make_icub(), make_icub()
    often.read()
    rarely.read()
    samples = []
    for _ in range(20):
        often.advance(0.001)
        samples.append(often.read().contact_wrenches)
    rarely.advance(0.02)
    np.testing.assert_allclose(rarely.read().contact_wrenches, np.mean(samples, axis=0), atol=1e-9)
    np.testing.assert_array_equal(often.read().contact_wrenches, samples[-1])


def test_reading_the_truth_does_not_change_the_run(make_icub: MakeRobot) -> None:
    watched, alone = make_icub(), make_icub()
    for _ in range(20):
        watched.advance(TICK)
        watched.read()
        watched.truth()
    alone.advance(0.2)
    np.testing.assert_array_equal(watched.truth().joint_positions, alone.truth().joint_positions)


def test_sensors_are_late_by_their_delay(make_icub: MakeRobot) -> None:
    streams = {name: {"delay": 0.003} for name in ("joints", "wrenches", "imu")}
    late, prompt = make_icub(sensors=streams), make_icub()
    for robot in (late, prompt):
        robot.read()
        robot.write(positions(0.95 * robot.truth().joint_positions))
    prompt.advance(0.006)
    prompt.read()  # the wrenches of a delayed stream without a period are those of one physics step
    prompt.advance(0.001)
    late.advance(0.01)
    delayed, direct = late.read(), prompt.read()
    assert delayed.time == pytest.approx(0.007, abs=1e-12)
    np.testing.assert_array_equal(delayed.joint_positions, direct.joint_positions)
    np.testing.assert_allclose(delayed.contact_wrenches, direct.contact_wrenches, atol=1e-9)
    assert delayed.imu is not None
    assert direct.imu is not None
    np.testing.assert_array_equal(delayed.imu.rotation, direct.imu.rotation)


def test_the_gyro_measures_the_turn_of_the_imu_in_its_own_axes(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), heading=0.4)
    robot.write(JointCommand(ControlMode.TORQUE, np.linspace(-5.0, 5.0, 23)))
    robot.advance(0.1)
    before = robot.read().imu
    robot.advance(0.001)
    after = robot.read().imu
    assert before is not None
    assert after is not None
    turned = so3.log(before.rotation.T @ after.rotation) / 0.001  # the engine moves with the new velocity
    np.testing.assert_allclose(turned, after.angular_velocity, atol=5e-3)
    assert np.abs(turned).max() > 0.2


def test_base_and_com_velocities_are_derivatives_of_the_positions(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), heading=1.0)
    robot.write(JointCommand(ControlMode.TORQUE, np.linspace(-5.0, 5.0, 23)))
    robot.advance(0.1)
    one = robot.truth()
    robot.advance(0.001)
    two = robot.truth()
    moved = np.concatenate([two.base_position - one.base_position, so3.log(two.base_rotation @ one.base_rotation.T)])
    np.testing.assert_allclose(moved / 0.001, two.base_twist, atol=1e-9)  # the engine moves with the new one
    velocity = (two.com_position - one.com_position) / 0.001
    np.testing.assert_allclose(velocity, two.com_velocity, atol=5e-3)


def test_encoder_noise_does_not_reach_the_truth(make_icub: MakeRobot) -> None:
    robot = make_icub(sensors={"encoders": {"encoder_noise": 0.01}})
    error = robot.read().joint_positions - robot.truth().joint_positions
    assert 0.004 < error.std() < 0.02


def test_the_positive_work_of_the_servos_is_counted(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), ground={"gravity": 0.0})
    assert robot.positive_work_j == 0.0
    torques = np.zeros(23)
    torques[0] = 2.0
    start = robot.truth().joint_positions[0]
    robot.write(JointCommand(ControlMode.TORQUE, torques))
    robot.advance(0.1)
    work = 2.0 * (robot.truth().joint_positions[0] - start)
    assert work > 0.01
    assert robot.positive_work_j == pytest.approx(work, rel=0.05)
