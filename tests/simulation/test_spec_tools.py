import math

import numpy as np

from gradiva.common import so3
from gradiva.simulation.spec_tools import quaternion


def test_a_rotation_becomes_the_quaternion_of_its_axis_and_half_its_angle():
    rng = np.random.default_rng(5)
    for vector in rng.uniform(-1.5, 1.5, (20, 3)):
        half = 0.5 * np.linalg.norm(vector)
        expected = [math.cos(half), *(0.5 * math.sin(half) / half * vector)]
        found = quaternion(so3.exp(vector))
        np.testing.assert_allclose(math.copysign(1.0, found[0]) * found, expected, atol=1e-12)  # −q turns alike


def test_a_quarter_turn_about_the_vertical():
    half = math.sqrt(0.5)
    np.testing.assert_allclose(quaternion(so3.rotation_z(0.5 * math.pi)), [half, 0.0, 0.0, half], atol=1e-15)
