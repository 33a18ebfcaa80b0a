import numpy as np

from gradiva.common import so3
from gradiva.simulation.spec_tools import quaternion, rotation_of


def test_rotations_become_quaternions_and_back():
    rng = np.random.default_rng(5)
    for vector in rng.uniform(-3.0, 3.0, (20, 3)):
        rotation = so3.exp(vector)
        assert abs(np.linalg.norm(quaternion(rotation)) - 1.0) < 1e-12
        np.testing.assert_allclose(rotation_of(quaternion(rotation)), rotation, atol=1e-12)


def test_a_quarter_turn_about_the_vertical_takes_x_to_y():
    half = np.sqrt(0.5)
    np.testing.assert_allclose(
        rotation_of(np.array([half, 0.0, 0.0, half])) @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15
    )
