"""Rotations and poses on the ground plane."""

import numpy as np
import pytest

from gradiva.common import PlanarPose, so3


def random_vectors(count, scale, seed=0):
    return np.random.default_rng(seed).normal(scale=scale, size=(count, 3))


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1e-4, 0.5, 1.2])
def test_log_undoes_exp(scale):
    for vector in random_vectors(20, scale):
        if np.linalg.norm(vector) < np.pi:
            np.testing.assert_allclose(so3.log(so3.exp(vector)), vector, atol=1e-12)


@pytest.mark.parametrize("angle", [np.pi, np.pi - 1e-7, np.pi - 1e-4])
def test_log_holds_up_to_half_a_turn(angle):
    for axis in random_vectors(20, 1.0):
        rotation = so3.exp(angle * axis / np.linalg.norm(axis))
        np.testing.assert_allclose(so3.exp(so3.log(rotation)), rotation, atol=1e-7)


def test_exp_is_a_rotation():
    for vector in random_vectors(20, 2.0):
        rotation = so3.exp(vector)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(rotation) == pytest.approx(1.0)


def test_skew_is_the_cross_product_and_vee_undoes_it():
    a, b = random_vectors(2, 1.0)
    np.testing.assert_allclose(so3.skew(a) @ b, np.cross(a, b))
    np.testing.assert_allclose(so3.cross(a, b), np.cross(a, b))
    np.testing.assert_allclose(so3.vee(so3.skew(a)), a)


def test_yaw_and_tilt_read_a_rotation():
    rotation = so3.rotation_z(0.7) @ so3.exp(np.array([0.0, 0.2, 0.0]))
    assert so3.yaw(rotation) == pytest.approx(0.7)
    assert so3.tilt(rotation) == pytest.approx(0.2)


@pytest.mark.parametrize(("angle", "wrapped"), [(0.0, 0.0), (4.0, 4.0 - 2 * np.pi), (np.pi, np.pi), (-np.pi, np.pi)])
def test_wrap_angle_stays_within_half_a_turn(angle, wrapped):
    assert so3.wrap_angle(angle) == pytest.approx(wrapped)


def test_roll_pitch_and_yaw_turn_about_x_then_y_then_z():
    roll, pitch = so3.exp(np.array([0.3, 0.0, 0.0])), so3.exp(np.array([0.0, -0.2, 0.0]))
    angles = so3.roll_pitch_yaw(so3.rotation_z(0.7) @ pitch @ roll)
    np.testing.assert_allclose(angles, [0.3, -0.2, 0.7], atol=1e-12)


def test_composing_turns_and_moves():
    pose = PlanarPose(1.0, 2.0, np.pi / 2) @ PlanarPose(1.0, 0.0, 0.3)
    assert (pose.x, pose.y, pose.yaw) == pytest.approx((1.0, 3.0, np.pi / 2 + 0.3))


def test_the_inverse_undoes_a_pose():
    pose = PlanarPose(0.3, -0.7, 2.9)
    for product in (pose @ pose.inverse(), pose.inverse() @ pose):
        assert (product.x, product.y, product.yaw) == pytest.approx((0.0, 0.0, 0.0))


def test_the_ground_part_of_a_pose_is_its_place_and_heading():
    rotation = so3.rotation_z(0.4) @ so3.exp(np.array([0.1, 0.0, 0.0]))
    pose = PlanarPose.of(np.array([1.0, 2.0, 3.0]), rotation)
    assert (pose.x, pose.y, pose.yaw) == pytest.approx((1.0, 2.0, 0.4))


@pytest.mark.parametrize("quarter_turns", [1, -1])
def test_angles_of_a_vertical_x_axis_give_the_rotation_back(quarter_turns):
    pitch = np.array([[0.0, 0.0, quarter_turns], [0.0, 1.0, 0.0], [-quarter_turns, 0.0, 0.0]])
    rotation = so3.rotation_z(0.7) @ pitch @ so3.exp(np.array([0.4, 0.0, 0.0]))
    roll, angle, yaw = so3.roll_pitch_yaw(rotation)
    assert angle == pytest.approx(quarter_turns * np.pi / 2.0)
    again = so3.rotation_z(yaw) @ so3.exp(np.array([0.0, angle, 0.0])) @ so3.exp(np.array([roll, 0.0, 0.0]))
    np.testing.assert_allclose(again, rotation, atol=1e-12)
