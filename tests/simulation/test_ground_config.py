from __future__ import annotations

import numpy as np

from gradiva.simulation.ground_config import GroundConfig, GroundKind


def sloping(forward: float, left: float) -> GroundConfig:
    return GroundConfig(GroundKind.RIGID, 1.0, 2.0, 9.81, slope_forward=forward, slope_left=left)


def test_gravity_pulls_backwards_where_the_floor_rises_forward() -> None:
    gravity = sloping(0.1, 0.0).gravity_vector
    np.testing.assert_allclose(gravity, -9.81 * np.array([np.sin(0.1), 0.0, np.cos(0.1)]))
    np.testing.assert_allclose(sloping(0.0, 0.0).gravity_vector, [0.0, 0.0, -9.81])


def test_gravity_pulls_to_the_right_where_the_floor_rises_to_the_left() -> None:
    gravity = sloping(0.0, 0.1).gravity_vector
    np.testing.assert_allclose(gravity, -9.81 * np.array([0.0, np.sin(0.1), np.cos(0.1)]))
