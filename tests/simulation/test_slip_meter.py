from __future__ import annotations

import numpy as np
import pytest

from gradiva.common import Side, so3
from gradiva.simulation.slip_meter import SlipConfig, SlipMeter


def at(x: float, y: float = 0.0) -> np.ndarray:
    return np.array([x, y, 0.0])


def test_a_loaded_foot_that_slides_is_measured_from_touch_down() -> None:
    meter = SlipMeter(SlipConfig(30.0))
    for x in (0.0, 0.003, 0.001):
        meter.update(Side.LEFT, at(x, 4 / 3 * x), np.eye(3), 100.0)
    assert meter.largest_slip == pytest.approx(0.005)


def test_a_swinging_foot_does_not_slip() -> None:
    meter = SlipMeter(SlipConfig(30.0))
    for x, force in ((0.0, 100.0), (0.1, 10.0), (0.2, 0.0), (0.3, 100.0), (0.3, 200.0)):
        meter.update(Side.RIGHT, at(x), np.eye(3), force)
    assert meter.largest_slip == 0.0


def test_the_feet_are_measured_apart_and_the_largest_slip_is_kept() -> None:
    meter = SlipMeter(SlipConfig(30.0))
    meter.update(Side.LEFT, at(0.0), np.eye(3), 100.0)
    meter.update(Side.RIGHT, at(1.0), np.eye(3), 100.0)
    meter.update(Side.RIGHT, at(1.002), so3.rotation_z(-0.1), 100.0)
    meter.update(Side.LEFT, at(0.001), so3.rotation_z(0.05), 100.0)
    assert meter.largest_slip == pytest.approx(0.002)
    assert meter.largest_turn == pytest.approx(0.1)
