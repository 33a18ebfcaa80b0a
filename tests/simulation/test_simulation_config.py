"""Configuration of the simulation and of its floor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.setup import data_folder, read_toml
from gradiva.simulation import GroundConfig, GroundKind, Push, VelocitySource, slope_components

from .standing import configured


def test_the_shipped_configuration_is_an_exact_robot() -> None:
    config = configured()
    assert config.timestep == 0.001
    assert config.plant.mass_scale == 1.0
    assert config.sensors.encoders.encoder_noise == config.transport.delay == config.servo.delay == 0.0
    assert all(stream.is_sampled_at_reading for stream in config.sensors.streams.values())
    assert config.sensors.encoders.velocity_source is VelocitySource.MEASURED
    assert config.pushes == ()


def test_the_noise_overlay_has_the_figures_of_its_comments() -> None:
    config = configured(**read_toml(data_folder("config") / "plant_noisy.toml")["simulation"])
    assert config.sensors.encoders.encoder_noise == pytest.approx(np.radians(0.02), rel=1e-4)
    assert config.sensors.inertial.tilt_noise == pytest.approx(np.radians(0.2), rel=1e-4)
    assert config.sensors.inertial.tilt_correlation_time == pytest.approx(0.5 / np.pi, rel=0.01)
    assert config.servo.delay == 0.002
    assert config.plant.mass_scale == 1.02


def test_pushes_are_read_from_tables() -> None:
    push = {"link": "chest", "force": [1, 2, 3], "start": 1.0, "duration": 0.5}
    assert configured(pushes=[push]).pushes[0].force == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"timestep": 0.01}, "timestep=0.01"),
        ({"plant": {"mass_scale": 0.0}}, "mass_scale=0.0"),
        ({"plant": {"rotor_inertia": -1.0}}, "rotor_inertia=-1.0"),
        ({"servo": {"stiffness_scale": 0.0}}, "stiffness_scale=0.0"),
        ({"servo": {"delay": 0.0005}}, r"servo.delay=0.0005: must be a multiple"),
        ({"sensors": {"imu": {"period": 0.0015}}}, r"sensors.imu.period=0.0015: must be a multiple"),
        ({"ground": {"friction": 0.0}}, "friction=0.0"),
        ({"ground": {"gravity": -9.81}}, "gravity=-9.81, must not be negative"),
        ({"ground": {"contact_time": 1.0}}, "contact_time=1.0, must be at least 2: below 2 physics steps"),
        ({"ground": {"slope_left": 1.0}}, "below 45°"),
        ({"fall": {"height_fraction": 1.0}}, "height_fraction=1.0"),
        ({"fall": {"tilt": 4.0}}, "tilt=4.0"),
        ({"slip": {"loaded_force": 0.0}}, "loaded_force=0.0"),
        (
            {"pushes": [{"link": "a", "force": [0, 0, 0], "start": 0.0, "duration": 0.0}]},
            "duration=0.0 must be positive",
        ),
        ({"sensors": {"encoders": {"encoder_nose": 1.0}}}, "did you mean 'encoder_noise'"),
    ],
)
def test_values_out_of_range_are_refused_with_their_name(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        configured(**tables)


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


@pytest.mark.parametrize(
    ("force", "words"),
    [
        ((60.0, 0.0, 0.0), "60 N forward"),
        ((-60.0, 0.0, 0.0), "60 N backward"),
        ((0.0, 60.0, 0.0), "60 N to the left"),
        ((0.0, -60.0, 0.1), "60 N to the right"),
        ((0.0, 0.0, 60.0), "60 N up"),
        ((0.0, 0.0, -60.0), "60 N down"),
        ((30.0, -40.0, 0.0), "50 N along (30, -40, 0)"),
        ((0.0, 0.0, 0.0), "0 N"),
    ],
)
def test_a_push_is_named_with_its_direction(force, words):
    assert str(Push("torso", force, 3.0, 0.1)) == f"push of {words} on torso from 3.00 to 3.10 s"
