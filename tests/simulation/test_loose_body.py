from __future__ import annotations

import numpy as np
import pytest

from gradiva.contacts import PenaltyConfig
from gradiva.simulation import LooseBody, PenaltyWorld

GRAVITY = 9.81
GAINS = PenaltyConfig(stiffness=500.0, damping=250.0, rest_penetration=1e-4)


def sloping(angle: float) -> np.ndarray:
    return GRAVITY * np.array([np.sin(angle), 0.0, -np.cos(angle)])


def test_a_ball_stops_where_braking_in_proportion_to_its_speed_ends() -> None:
    gains = PenaltyConfig(stiffness=0.0, damping=5000.0, rest_penetration=0.0)
    world = PenaltyWorld(LooseBody.ball(2.0), gains, 1.0, sloping(0.0))
    world.place(np.zeros(3), np.array([0.0, 0.0, -1.0]))
    world.advance(1e-6)
    assert world.force[2] == pytest.approx(2.0 * (GRAVITY + 5000.0), rel=1e-9)
    for _ in range(4000):
        world.advance(1e-6)
    assert world.position[2] == pytest.approx(-1.0 / 5000.0, rel=0.01)
    assert world.force[2] == pytest.approx(2.0 * GRAVITY, rel=1e-3)


def test_a_brick_rests_at_the_rest_penetration() -> None:
    world = PenaltyWorld(LooseBody.brick(3.0, (0.2, 0.1, 0.04)), GAINS, 1.0, sloping(0.0))
    world.place(np.array([0.0, 0.0, 0.02 - 1e-4]), np.zeros(3))
    for _ in range(100):
        world.advance(0.001)
    assert world.position[2] == pytest.approx(0.02 - 1e-4, abs=1e-12)
    np.testing.assert_allclose(world.force, [0.0, 0.0, 3.0 * GRAVITY], atol=1e-9)


@pytest.mark.parametrize(("friction", "acceleration"), [(0.2, GRAVITY * (np.sin(0.4) - 0.2 * np.cos(0.4))), (0.5, 0.0)])
def test_a_brick_slides_or_sticks_as_coulomb_says(friction: float, acceleration: float) -> None:
    world = PenaltyWorld(LooseBody.brick(3.0, (0.2, 0.1, 0.04)), GAINS, friction, sloping(0.4))
    world.place(np.array([0.0, 0.0, 0.02 - 1e-4]), np.zeros(3))
    for _ in range(200):
        world.advance(0.001)
    assert world.velocity[0] == pytest.approx(0.2 * acceleration, abs=1e-9)
    assert world.time == pytest.approx(0.2)
