"""Base by odometry: the attitude filter and the anchor of the stance sole."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import DcmReference, FootReference, ImuMeasurement, NDArray, PlanarPose, Side, WalkingReference, so3
from gradiva.estimation.floating_base_kinematics import attitude_inputs, filtered_attitude
from gradiva.estimation.state_estimator import AttitudeFilter, StanceAnchor
from gradiva.robot_model.flat_function import FlatFunction
from gradiva.setup import load_setup
from gradiva.simulation.sensors import InertialSensor

SYMBOLS = attitude_inputs()
FUNCTION = FlatFunction("attitude", SYMBOLS, {"attitude": filtered_attitude(SYMBOLS)})
RATE = np.array([0.3, -0.5, 0.2])  # [rad/s] in the axes of the IMU


def step(attitude: AttitudeFilter, rotation: NDArray, rate: NDArray, time: float) -> NDArray:
    imu = ImuMeasurement(rotation, rate)
    FUNCTION.set(**attitude.inputs(imu, time))
    result = FUNCTION()["attitude"].copy()
    attitude.learn(result, imu, time)
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


def test_torque_control_leaves_half_of_a_slow_error_of_the_tilt_and_of_the_gyroscope() -> None:
    setup = load_setup("icub_v3", {"walking.control": "torque"}, plant="robot")
    unit, truth = InertialSensor(setup.simulation.sensors, 5), ImuMeasurement(np.eye(3), np.zeros(3))
    attitude, errors, measured = AttitudeFilter(setup.walking.state_estimator.attitude_time_constant), [], []
    for tick in range(6000):
        reading = unit.measure(truth, 0.01 * tick, -np.inf)
        measured.append(so3.log(reading.rotation)[:2] - unit.tilt_bias)
        errors.append(so3.log(step(attitude, reading.rotation, reading.angular_velocity, 0.01 * tick))[:2])
    left, found = (np.sqrt(np.mean(np.square(each))) for each in (np.array(errors) - unit.tilt_bias, measured))
    assert left < 0.65 * found, "with 0.1 s as long as the noise is correlated for half a second, 0.9 of it"


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


LEFT_POSE = np.array([0.0, 0.08, 0.0]), np.eye(3)
RIGHT_POSE = np.array([0.2, -0.08, 0.0]), so3.rotation_z(0.1)


def reference(stance):
    def foot(pose):
        return FootReference(*pose, np.zeros(6), np.zeros(6), True)

    dcm = DcmReference(np.zeros(2), np.zeros(2), 4.3, 4.3, np.zeros(2))
    feet = foot(LEFT_POSE), foot(RIGHT_POSE)
    return WalkingReference(0.0, dcm, np.zeros(3), np.zeros(3), *feet, stance, 0.0, True)


def landed(dx, dy, turn, load=150.0):
    position, rotation = RIGHT_POSE
    right = position + np.array([dx, dy, 0.0]), so3.rotation_z(turn) @ rotation
    poses = {Side.LEFT: LEFT_POSE, Side.RIGHT: right}
    return SimpleNamespace(
        foot_position=lambda side: poses[side][0],
        foot_rotation=lambda side: poses[side][1],
        left_foot_wrench=np.full(6, 150.0),
        right_foot_wrench=np.full(6, load),
    )


def test_the_first_stance_sole_stands_as_planned_and_the_plan_lies_at_the_origin():
    anchor = StanceAnchor(0.2)
    side, position, rotation = anchor.update(0.0, reference(Side.LEFT), None)
    assert side is Side.LEFT
    np.testing.assert_array_equal(position, LEFT_POSE[0])
    np.testing.assert_array_equal(rotation, np.eye(3))
    assert anchor.plan_origin == PlanarPose()


def test_what_a_landing_missed_moves_the_plan_by_odometry_once_it_has_faded():
    anchor = StanceAnchor(0.2)
    anchor.update(0.0, reference(Side.LEFT), None)
    feet = landed(0.01, -0.02, 0.0)
    _, position, _ = anchor.update(1.0, reference(Side.RIGHT), feet)
    np.testing.assert_allclose(position, feet.foot_position(Side.RIGHT))
    assert anchor.plan_origin.x == pytest.approx(0.0)
    _, position, _ = anchor.update(1.3, reference(Side.RIGHT), feet)
    np.testing.assert_allclose(position, RIGHT_POSE[0])
    assert (anchor.plan_origin.x, anchor.plan_origin.y) == pytest.approx((0.01, -0.02))


def test_the_stance_sole_never_moves_by_odometry():
    anchor = StanceAnchor(0.2)
    anchor.update(0.0, reference(Side.LEFT), None)
    feet = landed(0.01, -0.02, 0.05)
    soles = []
    for time in np.linspace(1.0, 1.3, 31):
        _, position, rotation = anchor.update(time, reference(Side.RIGHT), feet)
        sole = anchor.plan_origin @ PlanarPose.of(position, rotation)
        soles.append([sole.x, sole.y, sole.yaw])
    np.testing.assert_allclose(soles, np.tile(soles[0], (31, 1)), atol=1e-12)


@pytest.mark.parametrize(("load", "stance"), [(2900.0, Side.LEFT), (3100.0, Side.RIGHT)])
def test_in_double_support_a_foot_that_carries_twenty_times_as_much_is_the_one_at_rest(load, stance):
    """As after a hard landing, when the planned stance foot hops."""
    anchor = StanceAnchor(0.2)
    anchor.update(0.0, reference(Side.LEFT), None)
    feet = landed(0.01, -0.02, 0.0, load)
    side, position, _ = anchor.update(1.0, reference(Side.LEFT), feet)
    assert side is stance
    np.testing.assert_allclose(position, feet.foot_position(stance))


def test_a_sole_that_slipped_turns_the_plan_about_itself():
    anchor = StanceAnchor(0.2)
    _, position, rotation = anchor.update(0.0, reference(Side.LEFT), None)
    anchor.turn_plan(0.1)
    assert anchor.plan_origin.yaw == pytest.approx(0.1)
    sole = anchor.plan_origin @ PlanarPose.of(position, rotation)
    assert (sole.x, sole.y, sole.yaw) == pytest.approx((0.0, 0.08, 0.1))
