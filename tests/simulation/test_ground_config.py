from __future__ import annotations

import math

import numpy as np
import pytest

from gradiva.simulation.ground_config import GroundConfig, GroundKind, slope_components


def sloping(forward: float, left: float) -> GroundConfig:
    return GroundConfig(GroundKind.RIGID, 1.0, 2.0, 9.81, slope_forward=forward, slope_left=left)


def test_gravity_pulls_backwards_where_the_floor_rises_forward() -> None:
    gravity = sloping(0.1, 0.0).gravity_vector
    np.testing.assert_allclose(gravity, -9.81 * np.array([np.sin(0.1), 0.0, np.cos(0.1)]))
    np.testing.assert_allclose(sloping(0.0, 0.0).gravity_vector, [0.0, 0.0, -9.81])


def test_gravity_pulls_to_the_right_where_the_floor_rises_to_the_left() -> None:
    gravity = sloping(0.0, 0.1).gravity_vector
    np.testing.assert_allclose(gravity, -9.81 * np.array([0.0, np.sin(0.1), np.cos(0.1)]))


@pytest.mark.parametrize("uphill", [0.0, 0.7, 1.6, 3.0, -2.0])
def test_a_slope_is_as_steep_and_rises_where_it_is_said(uphill: float) -> None:
    ground = sloping(*slope_components(0.15, uphill))
    assert ground.steepness == pytest.approx(0.15)
    assert ground.uphill == pytest.approx(uphill)
    along = 9.81 * math.sin(0.15) * np.array([math.cos(uphill), math.sin(uphill)])
    np.testing.assert_allclose(ground.gravity_vector, [*-along, -9.81 * math.cos(0.15)])
