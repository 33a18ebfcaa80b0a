import numpy as np
import pytest

from gradiva.common import PlanarPose, so3


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
