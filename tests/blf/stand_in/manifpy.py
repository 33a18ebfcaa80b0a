"""Stands in for manifpy: poses, rotations and twists as bipedal-locomotion-framework takes them."""

import numpy as np


def _matrix(quaternion):
    x, y, z, w = quaternion
    assert abs(x * x + y * y + z * z + w * w - 1.0) < 1e-9, "a quaternion of manif has unit length"
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


class SO3:
    def __init__(self, quaternion):
        self._matrix = _matrix(quaternion)

    def rotation(self):
        return self._matrix


class SE3:
    def __init__(self, position, quaternion):
        self._position, self._matrix = np.array(position, dtype=float), _matrix(quaternion)

    def translation(self):
        return self._position

    def rotation(self):
        return self._matrix


class SO3Tangent:
    size = 3

    def __init__(self, values):
        self._values = np.array(values, dtype=float)
        assert self._values.shape == (self.size,)

    def coeffs(self):
        return self._values


class SE3Tangent(SO3Tangent):
    size = 6
