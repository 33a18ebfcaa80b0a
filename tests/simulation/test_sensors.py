from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradiva.common import ConfigError, ImuMeasurement, Measurement, so3
from gradiva.simulation.sensors import Sensors

from .standing import configured


def sensors(seed: int = 0, **values: Any) -> Sensors:
    return Sensors(configured(sensors=values).sensors, joints=400, wrenches=2, seed=seed)


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
    bank = sensors(encoder_noise=0.01, velocity_noise=0.2)
    one, two = bank.measure(truth()), bank.measure(truth())
    assert (one.joint_positions - 0.3).std() == pytest.approx(0.01, rel=0.15)
    assert (one.joint_velocities - 0.1).std() == pytest.approx(0.2, rel=0.15)
    assert np.abs(one.joint_positions - two.joint_positions).min() > 0.0


def test_offsets_and_biases_are_constant_and_within_their_bounds() -> None:
    bank = sensors(encoder_offset=0.02, force_bias=5.0, torque_bias=0.5)
    one, two = bank.measure(truth()), bank.measure(truth())
    offsets = one.joint_positions - 0.3
    assert 0.019 < np.abs(offsets).max() <= 0.02
    assert 0.0 < np.abs(one.contact_wrenches[:, :3]).max() <= 5.0
    assert 0.0 < np.abs(one.contact_wrenches[:, 3:]).max() <= 0.5
    np.testing.assert_array_equal(one.joint_positions, two.joint_positions)
    np.testing.assert_array_equal(one.contact_wrenches, two.contact_wrenches)


def test_encoders_round_to_their_resolution() -> None:
    measured = sensors(encoder_resolution=0.07, encoder_noise=0.1).measure(truth())
    steps = measured.joint_positions / 0.07
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)


def test_differences_are_of_the_readings_over_their_time() -> None:
    bank = sensors(velocity_source="difference")
    first = bank.measure(truth(0.0, 0.3))
    np.testing.assert_array_equal(first.joint_velocities, np.full(400, 0.1))  # nothing to compare with yet
    second = bank.measure(truth(0.01, 0.35))
    np.testing.assert_allclose(second.joint_velocities, 5.0, atol=1e-12)
    again = bank.measure(truth(0.01, 0.35))
    np.testing.assert_array_equal(again.joint_velocities, second.joint_velocities)


def test_tilt_noise_leaves_the_heading_alone() -> None:
    bank = sensors(tilt_noise=0.01, gyro_noise=0.1)
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
    bank = sensors(tilt_noise=0.01, tilt_correlation_time=0.16)
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
    bank = sensors(heading_drift=0.01)
    headings = []
    for time in (0.0, 10.0, 20.0):
        imu = bank.measure(truth(time)).imu
        assert imu is not None
        headings.append(so3.yaw(imu.rotation))
    assert headings[0] == pytest.approx(so3.yaw(so3.exp(np.array([0.1, 0.2, 0.3]))))
    assert 0.0 < abs(headings[1] - headings[0]) <= 0.1
    assert headings[2] - headings[1] == pytest.approx(headings[1] - headings[0])


def test_one_seed_gives_one_sequence_of_errors() -> None:
    one = sensors(seed=5, encoder_noise=0.1).measure(truth()).joint_positions
    np.testing.assert_array_equal(one, sensors(seed=5, encoder_noise=0.1).measure(truth()).joint_positions)
    assert np.abs(one - sensors(seed=6, encoder_noise=0.1).measure(truth()).joint_positions).max() > 0.0


def test_negative_noise_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"gyro_noise=-1\.0: must not be negative"):
        sensors(gyro_noise=-1.0)
