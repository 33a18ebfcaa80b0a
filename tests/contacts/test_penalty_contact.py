"""The two examples of Rengifo et al. (2009): a bouncing ball, a brick on a ramp."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradiva.common import ConfigError, so3
from gradiva.contacts import PenaltyConfig, penalty_accelerations, penalty_forces

GAINS = PenaltyConfig(stiffness=500.0, damping=250.0, rest_penetration=1e-4)
SQUARE = np.array([[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, -0.05, 0.0], [-0.1, 0.05, 0.0]])
GRAVITY = np.array([0.0, 0.0, -9.81])


def block_mobility(points: np.ndarray, mass: float = 2.0, inertia: float = 0.01) -> np.ndarray:
    """Accelerations of points of a free rigid body per force on them."""
    jacobian = np.vstack([np.hstack([np.eye(3), -so3.skew(point)]) for point in points])
    return jacobian @ np.diag([1 / mass] * 3 + [1 / inertia] * 3) @ jacobian.T


def test_a_point_at_its_resting_depth_is_left_alone():
    resting = penalty_accelerations(np.array([[0.3, 0.2, -1e-4]]), np.zeros((1, 3)), GAINS)
    np.testing.assert_allclose(resting, np.zeros((1, 3)), atol=1e-15)


def test_a_sinking_point_is_braked_and_a_rising_one_is_not():
    positions = np.full((2, 3), -1e-4)
    velocities = np.array([[0.1, -0.2, -0.3], [0.1, -0.2, 0.3]])
    desired = penalty_accelerations(positions, velocities, GAINS)
    np.testing.assert_allclose(desired, [[-25.0, 50.0, 75.0], [-25.0, 50.0, 0.0]], atol=1e-12)


def test_a_deep_point_is_pushed_out():
    desired = penalty_accelerations(np.array([[0.0, 0.0, -1e-3]]), np.zeros((1, 3)), GAINS)
    assert desired[0, 2] == pytest.approx(500.0 * 9e-4)


def test_the_ball_of_the_paper_feels_weight_and_braking():
    gains = PenaltyConfig(stiffness=0.0, damping=5000.0, rest_penetration=0.0)
    desired = penalty_accelerations(np.zeros((1, 3)), np.array([[0.0, 0.0, -2.0]]), gains)
    force = penalty_forces(np.eye(3) / 3.0, GRAVITY[None], desired, friction=1.0)
    np.testing.assert_allclose(force, [[0.0, 0.0, 3.0 * 9.81 + 3.0 * 5000.0 * 2.0]])


def test_four_corners_share_the_weight_evenly_though_their_forces_are_not_unique():
    forces = penalty_forces(block_mobility(SQUARE), np.tile(GRAVITY, (4, 1)), np.zeros((4, 3)), 1.0)
    np.testing.assert_allclose(forces, np.tile([0.0, 0.0, 2.0 * 9.81 / 4.0], (4, 1)), atol=1e-9)


def test_forces_that_nothing_cuts_give_the_wanted_accelerations():
    mobility = block_mobility(SQUARE)
    free = np.tile(GRAVITY, (4, 1)) + np.array([0.3, -0.2, 0.0])
    forces = penalty_forces(mobility, free, np.zeros((4, 3)), 1.0)
    np.testing.assert_allclose(mobility @ forces.ravel() + free.ravel(), np.zeros(12), atol=1e-9)


def test_the_ground_does_not_pull():
    upward = np.tile([0.0, 0.0, 5.0], (4, 1))
    forces = penalty_forces(block_mobility(SQUARE), upward, np.zeros((4, 3)), 1.0)
    np.testing.assert_array_equal(forces, np.zeros((4, 3)))


def test_friction_is_shortened_to_the_cone_in_its_direction():
    free = GRAVITY + np.array([6.0, 8.0, 0.0])
    force = penalty_forces(np.eye(3), free[None], np.zeros((1, 3)), friction=0.5)[0]
    np.testing.assert_allclose(force, [-0.6 * 0.5 * 9.81, -0.8 * 0.5 * 9.81, 9.81])
    held = penalty_forces(np.eye(3), free[None], np.zeros((1, 3)), friction=1.02)[0]
    np.testing.assert_allclose(held, [-6.0, -8.0, 9.81])


def test_a_brick_that_slides_is_carried_as_one_that_slides():
    corners = SQUARE - [0.0, 0.0, 0.02]
    free = np.tile(GRAVITY + np.array([4.0, 0.0, 0.0]), (4, 1))
    forces = penalty_forces(block_mobility(corners), free, np.zeros((4, 3)), friction=0.2)
    np.testing.assert_allclose(forces.sum(axis=0), 2.0 * 9.81 * np.array([-0.2, 0.0, 1.0]), atol=1e-9)
    moment = np.cross(corners, forces).sum(axis=0)
    np.testing.assert_allclose(moment, np.zeros(3), atol=1e-9)


@pytest.mark.parametrize(
    ("values", "message"),
    [((-1.0, 1.0, 0.0), "stiffness=-1.0"), ((1.0, 0.0, 0.0), "damping=0.0"), ((1.0, 1.0, -1e-4), "rest_penetration")],
)
def test_gains_that_cannot_work_are_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        PenaltyConfig(*values)


G = 9.81
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
    free, track = np.array([0.0, 0.0, -G]), []
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
    free = G * np.array([math.sin(RAMP), 0.0, -math.cos(RAMP)])
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
    expected = G * (math.sin(RAMP) - friction * math.cos(RAMP))
    np.testing.assert_allclose(np.diff(track) / 1e-3, expected, rtol=1e-9)


def test_a_brick_that_stands_does_not_creep():
    np.testing.assert_allclose(speeds(1.0001 * math.tan(RAMP), 0.0), 0.0, atol=1e-14)
