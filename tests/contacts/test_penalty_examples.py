"""The two examples of Rengifo et al. (2009): a bouncing ball, a brick on a ramp."""

import math

import numpy as np
import pytest

from gradiva.contacts import PenaltyConfig, penalty_accelerations, penalty_forces

GRAVITY = 9.81
MASS = 3.0
RAMP = math.radians(20.0)
PERIOD = 5e-5  # [s] of the ball; its first step is not braked yet


def step(position, velocity, free, gains, friction, period):
    """Semi-implicit Euler of one point, in contact where it is below the ground."""
    acceleration = free
    if position[2] <= 0.0:
        desired = penalty_accelerations(position[None], velocity[None], gains)
        force = penalty_forces(np.eye(3) / MASS, free[None], desired, friction)[0]
        acceleration = free + force / MASS
    velocity = velocity + period * acceleration
    return position + period * velocity, velocity


def heights(stiffness, duration):
    """Heights of a ball that arrives with 1 m/s, k_v = 5000/s, [m]."""
    gains = PenaltyConfig(stiffness, 5000.0, 0.0)
    position, velocity = np.zeros(3), np.array([0.0, 0.0, -1.0])
    free, track = np.array([0.0, 0.0, -GRAVITY]), []
    for _ in range(round(duration / PERIOD)):
        position, velocity = step(position, velocity, free, gains, 1.0, PERIOD)
        track.append(position[2])
    return np.array(track)


def test_a_ball_on_ground_that_only_brakes_stays_as_deep_as_it_sank():
    track = heights(0.0, 0.02)
    assert track[-1] == pytest.approx(PERIOD - 1.0 / 5000.0)
    assert track[-1] == track.min() == pytest.approx(track[-100])


def test_a_ball_on_ground_that_pushes_comes_to_rest_at_no_depth():
    track = heights(500.0, 0.15)
    assert track.min() == pytest.approx(PERIOD - 1.0 / 5000.0, rel=1e-3)
    assert np.abs(track[-1000:]).max() < 0.01 * abs(track.min())


def speeds(friction, start, duration=0.2, period=1e-3):
    """Speeds of a brick on the ramp, along and across it, k_v = 250/s, [m/s]."""
    gains = PenaltyConfig(500.0, 250.0, 0.0)
    position, velocity = np.zeros(3), np.array([start, 0.0, 0.0])
    free = GRAVITY * np.array([math.sin(RAMP), 0.0, -math.cos(RAMP)])
    track = []
    for _ in range(round(duration / period)):
        position, velocity = step(position, velocity, free, gains, friction, period)
        track.append(velocity[0])
    return np.array(track)


@pytest.mark.parametrize("start", [0.0, 1e-9, 1e-3, 0.03])
def test_a_brick_stops_where_friction_exceeds_the_slope(start):
    track = speeds(1.1 * math.tan(RAMP), start)
    assert abs(track[-1]) < 1e-12
    assert np.all(np.diff(track) <= 1e-15)


@pytest.mark.parametrize("start", [0.0, 1e-9, 1e-3, 0.03])
def test_a_brick_slides_where_the_slope_exceeds_friction(start):
    friction = 0.9 * math.tan(RAMP)
    track = speeds(friction, start)
    expected = GRAVITY * (math.sin(RAMP) - friction * math.cos(RAMP))
    np.testing.assert_allclose(np.diff(track) / 1e-3, expected, rtol=1e-9)


def test_a_brick_that_stands_does_not_creep():
    np.testing.assert_allclose(speeds(1.0001 * math.tan(RAMP), 0.0), 0.0, atol=1e-14)
