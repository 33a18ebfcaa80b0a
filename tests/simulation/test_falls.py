"""Falls and slips."""

from __future__ import annotations

import numpy as np
import pytest

from gradiva.common import Side, so3
from gradiva.simulation import FallConfig
from gradiva.simulation.falls import FallDetector, SlipMeter

START = np.array([1.0, 2.0, 0.6])
LEANING = so3.exp(np.array([0.0, 0.2, 0.0]))  # a base that is not level when the robot stands
DETECTOR = FallDetector(FallConfig(height_fraction=0.5, tilt=0.8), START, LEANING)


def test_the_start_posture_is_upright() -> None:
    assert DETECTOR.check(0.0, START, LEANING) is None


def test_turning_about_the_vertical_is_no_fall() -> None:
    assert DETECTOR.check(0.0, START, so3.rotation_z(3.0) @ LEANING) is None


def test_tilt_is_measured_from_the_start_attitude() -> None:
    assert DETECTOR.check(0.0, START, so3.exp(np.array([0.79, 0.0, 0.0])) @ LEANING) is None
    fall = DETECTOR.check(1.5, START, so3.exp(np.array([0.0, -0.81, 0.0])) @ LEANING)
    assert fall is not None
    assert fall.reason == "base tilt above the limit of 46°"
    assert fall.time == 1.5


def test_a_low_base_is_a_fall() -> None:
    assert DETECTOR.check(0.0, np.array([9.0, 9.0, 0.301]), LEANING) is None
    fall = DETECTOR.check(0.0, np.array([9.0, 9.0, 0.2]), LEANING)
    assert fall is not None
    assert fall.reason == "base height 0.200 m, 100.0 mm below the limit of 0.300 m"


def test_a_base_whose_frame_is_below_the_com_may_drop_as_far_as_one_at_the_com() -> None:
    at_ground = FallDetector(FallConfig(height_fraction=0.5, tilt=0.8), np.array([0.0, 0.0, -0.1]), LEANING, 0.4)
    assert at_ground.check(0.0, np.array([0.0, 0.0, -0.29]), LEANING) is None
    assert at_ground.check(0.0, np.array([0.0, 0.0, -0.31]), LEANING) is not None


def test_a_diverged_simulation_is_a_fall() -> None:
    fall = DETECTOR.check(0.0, np.array([np.nan, 0.0, 1.0]), LEANING)
    assert fall is not None
    assert "diverged" in fall.reason


def at(x: float, y: float = 0.0) -> np.ndarray:
    return np.array([x, y, 0.0])


def test_a_loaded_foot_that_slides_is_measured_from_touch_down() -> None:
    meter = SlipMeter(30.0)
    for x in (0.0, 0.003, 0.001):
        meter.update(Side.LEFT, at(x, 4 / 3 * x), np.eye(3), 100.0)
    assert meter.largest_slip == pytest.approx(0.005)
    assert meter.update(Side.LEFT, at(0.002), np.eye(3), 100.0) == pytest.approx(0.002)
    assert np.isnan(meter.update(Side.LEFT, at(0.004), np.eye(3), 20.0))
    assert meter.update(Side.LEFT, at(0.009), np.eye(3), 100.0) == 0.0


def test_a_swinging_foot_does_not_slip() -> None:
    meter = SlipMeter(30.0)
    for x, force in ((0.0, 100.0), (0.1, 10.0), (0.2, 0.0), (0.3, 100.0), (0.3, 200.0)):
        meter.update(Side.RIGHT, at(x), np.eye(3), force)
    assert meter.largest_slip == 0.0


def test_the_feet_are_measured_apart_and_the_largest_slip_is_kept() -> None:
    meter = SlipMeter(30.0)
    meter.update(Side.LEFT, at(0.0), np.eye(3), 100.0)
    meter.update(Side.RIGHT, at(1.0), np.eye(3), 100.0)
    meter.update(Side.RIGHT, at(1.002), so3.rotation_z(-0.1), 100.0)
    meter.update(Side.LEFT, at(0.001), so3.rotation_z(0.05), 100.0)
    assert meter.largest_slip == pytest.approx(0.002)
    assert meter.largest_turn == pytest.approx(0.1)
