"""Frames, centre of mass and Jacobians of a posture, by finite differences."""

import numpy as np
import pytest

from gradiva.common import so3
from gradiva.whole_body import described_posture, integrate

STEP = 1e-6


def moved(posture, index, size):
    velocity = np.zeros(6 + len(posture.joint_positions))
    velocity[index] = 1.0
    return integrate(posture, velocity, size)


def test_jacobians_are_the_derivatives_of_the_poses(model):
    posture, frame = described_posture(model), model.description.torso_frame
    jacobian, of_com = model.frame_jacobian(posture, frame), model.com_jacobian(posture)
    for index in range(6 + len(posture.joint_positions)):
        ahead, behind = moved(posture, index, STEP), moved(posture, index, -STEP)
        (after, turned), (before, unturned) = model.frame_pose(ahead, frame), model.frame_pose(behind, frame)
        np.testing.assert_allclose(jacobian[:3, index], (after - before) / (2.0 * STEP), atol=1e-6)
        np.testing.assert_allclose(jacobian[3:, index], so3.log(turned @ unturned.T) / (2.0 * STEP), atol=1e-6)
        change = (model.com_position(ahead) - model.com_position(behind)) / (2.0 * STEP)
        np.testing.assert_allclose(of_com[:, index], change, atol=1e-6)


def test_soles_of_the_described_posture_are_about_the_origin(model):
    posture, description = described_posture(model), model.description
    left, right = (
        model.frame_pose(posture, name)[0] for name in (description.left_foot_frame, description.right_foot_frame)
    )
    np.testing.assert_allclose(0.5 * (left + right), np.zeros(3), atol=1e-9)
    assert left[1] - right[1] == pytest.approx(description.step_width, abs=0.1)
