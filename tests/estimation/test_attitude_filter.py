from __future__ import annotations

import numpy as np
import pytest

from gradiva.common import ImuMeasurement, NDArray, so3
from gradiva.estimation.attitude_filter import AttitudeFilter, attitude_inputs, filtered_attitude
from gradiva.robot_model.flat_function import FlatFunction

SYMBOLS = attitude_inputs()
FUNCTION = FlatFunction("attitude", SYMBOLS, {"attitude": filtered_attitude(SYMBOLS)})
RATE = np.array([0.3, -0.5, 0.2])  # [rad/s] in the axes of the IMU


def step(attitude: AttitudeFilter, rotation: NDArray, rate: NDArray, time: float) -> NDArray:
    FUNCTION.set(**attitude.inputs(ImuMeasurement(rotation, rate), time))
    result = FUNCTION()["attitude"].copy()
    attitude.learn(result)
    return result


def error(estimate: NDArray, truth: NDArray) -> NDArray:
    return so3.log(estimate @ truth.T)


@pytest.mark.parametrize("time_constant", [0.0, 0.1, 10.0])
def test_a_steady_turn_is_followed_without_delay(time_constant: float) -> None:
    attitude = AttitudeFilter(time_constant)
    for tick in range(200):
        truth = so3.exp(0.01 * tick * RATE)
        np.testing.assert_allclose(step(attitude, truth, RATE, 0.01 * tick), truth, atol=1e-13)


def test_without_time_constant_the_measured_attitude_is_believed_to_the_last_digit() -> None:
    attitude, random = AttitudeFilter(0.0), np.random.default_rng(0)
    for tick in range(5):
        rotation = so3.exp(random.normal(size=3))
        np.testing.assert_array_equal(step(attitude, rotation, RATE, 0.01 * tick), rotation)


def test_white_noise_is_averaged_over_the_time_constant() -> None:
    attitude, random = AttitudeFilter(0.1), np.random.default_rng(0)
    noise = [0.0035 * random.normal(size=3) for _ in range(3000)]
    left = [step(attitude, so3.exp(n), np.zeros(3), 0.001 * tick) for tick, n in enumerate(noise)]
    errors = np.array([so3.log(rotation) for rotation in left[500:]])
    share = 1.0 - np.exp(-0.01)
    assert errors.std() == pytest.approx(0.0035 * np.sqrt(share / (2.0 - share)), rel=0.3)
    steps = np.diff(errors, axis=0)
    assert steps.std() == pytest.approx(0.0035 * share, rel=0.05)


def test_a_gyroscope_with_a_bias_is_off_by_the_time_constant_times_the_bias() -> None:
    attitude, bias = AttitudeFilter(0.1), np.array([0.01, 0.0, 0.0])
    for tick in range(1000):
        estimate = step(attitude, np.eye(3), bias, 0.001 * tick)
    np.testing.assert_allclose(so3.log(estimate), 0.1 * bias, rtol=0.01, atol=1e-12)


def test_an_attitude_that_is_turned_over_is_believed_and_none_is_forgotten_at_reset() -> None:
    attitude, over = AttitudeFilter(0.1), so3.exp(np.array([np.pi, 0.0, 0.0]))
    step(attitude, np.eye(3), np.zeros(3), 0.0)
    np.testing.assert_allclose(step(attitude, over, np.zeros(3), 0.001), over, atol=1e-12)
    attitude.reset()
    np.testing.assert_array_equal(step(attitude, np.eye(3), np.zeros(3), 0.002), np.eye(3))


def test_the_filter_turns_with_the_world() -> None:
    world = so3.exp(np.array([0.4, -0.2, 1.0]))
    here, there = AttitudeFilter(0.05), AttitudeFilter(0.05)
    for tick, rotation in enumerate((np.eye(3), so3.exp(np.array([0.1, 0.0, -0.05])))):
        estimate = step(here, rotation, RATE, 0.01 * tick)
        moved = step(there, world @ rotation, RATE, 0.01 * tick)
    np.testing.assert_allclose(error(moved, world @ estimate), 0.0, atol=1e-13)
