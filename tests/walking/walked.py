"""Criteria of a successful walk."""

import numpy as np
import pytest

from gradiva.simulated_walk import score
from gradiva.walking import WalkingState


def figures_of(walk):
    return score(walk.recorder.log) | {"slip": walk.robot.truth().foot_slip_m}


def assert_walked(walk, com=0.02, dcm=0.03, tilt_deg=5.0, slip=0.005):
    figures = figures_of(walk)
    assert walk.robot.fall is None
    assert walk.controller.state is WalkingState.PAUSED
    assert figures["com_error_m"]["max"] < com
    assert figures["dcm_error_m"]["max"] < dcm
    assert figures["max_tilt_rad"] < np.radians(tilt_deg)
    assert figures["slip"] < slip
    assert walk.controller.qp_failures == 0
    assert walk.controller.model_failures == 0
    assert walk.controller.safety_events == ()
    return figures


def assert_stands_on_both_feet(walk):
    truth = walk.robot.truth()
    weight = walk.setup.robot.mass * 9.81
    left, right = truth.left_foot_wrench[2], truth.right_foot_wrench[2]
    assert left > 0.3 * weight
    assert right > 0.3 * weight
    middle = 0.5 * (truth.left_foot_position + truth.right_foot_position)
    apart = truth.left_foot_position - truth.right_foot_position
    assert np.linalg.norm(apart[:2]) == pytest.approx(walk.setup.robot.step_width, abs=0.02)
    return middle


def figure_of_eight(radius):
    """Two circles that begin and end at the origin, along x, shape (73, 2)."""
    angle = np.linspace(0.0, 2.0 * np.pi, 37)
    left = radius * np.column_stack((np.sin(angle), 1.0 - np.cos(angle)))
    return np.vstack((left, left[1:] * [1.0, -1.0]))
