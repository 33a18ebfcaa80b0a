r"""Rotations in SO(3), and poses on the ground plane, SE(2).

:math:`S(x) y = x \times y`; :math:`\mathrm{Exp}: \mathbb{R}^3 \to SO(3)` and its inverse :math:`\mathrm{Log}`
map rotation vectors (axis times angle, [rad]) to rotation matrices and back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common.arrays import NDArray

_SMALL_ANGLE = 1e-8
_VERTICAL = 1e-12  # [-] cosine of the pitch below which roll and yaw turn about the same axis


def is_rotation(matrix: NDArray, tolerance: float = 1e-2) -> bool:
    """Return whether a matrix of shape (3, 3) is a rotation: R'R = 1 to a tolerance [-], and det R > 0."""
    return bool(np.abs(matrix.T @ matrix - np.eye(3)).max() < tolerance and np.linalg.det(matrix) > 0.0)


def skew(vector: NDArray) -> NDArray:
    """Return S(x), shape (3, 3), with S(x) y = x × y."""
    x, y, z = vector.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def vee(matrix: NDArray) -> NDArray:
    """Return the vector, shape (3,), of the skew part of a 3 × 3 matrix."""
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = matrix.tolist()
    return 0.5 * np.array([zy - yz, xz - zx, yx - xy])


def cross(a: NDArray, b: NDArray) -> NDArray:
    """Return a × b, shapes (3,) or (3, …); for single vectors in a twentieth of the time of ``np.cross``."""
    (a0, a1, a2), (b0, b1, b2) = (a.tolist(), b.tolist()) if a.ndim == b.ndim == 1 else (a, b)
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def exp(rotation_vector: NDArray) -> NDArray:
    """Return the rotation matrix of a rotation vector ([rad], shape (3,)), by Rodrigues' formula."""
    x, y, z = rotation_vector.tolist()
    angle = math.sqrt(x * x + y * y + z * z)
    if angle < _SMALL_ANGLE:
        a, b = 1.0, 0.5
    else:
        a, b = math.sin(angle) / angle, (1.0 - math.cos(angle)) / (angle * angle)
    return np.array(
        [
            [1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y],
            [b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x],
            [b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)],
        ]
    )


def log(rotation: NDArray) -> NDArray:
    """Return the rotation vector ([rad], shape (3,), norm ≤ π) of a rotation matrix."""
    axis_sine = vee(rotation)
    sine = math.sqrt(float(axis_sine @ axis_sine))
    cosine = 0.5 * (rotation[0, 0] + rotation[1, 1] + rotation[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if sine > 1e-6:
        return axis_sine * (angle / sine)
    if cosine > 0.0:
        return axis_sine
    symmetric = 0.5 * (rotation + np.eye(3))  # near π: (R + I) / 2 = axis axisᵀ
    column = int(np.argmax(np.diag(symmetric)))
    axis = symmetric[:, column] / math.sqrt(symmetric[column, column])
    if axis @ axis_sine < 0.0:
        axis = -axis
    return axis * angle


def rotation_z(angle: float) -> NDArray:
    """Return the rotation by ``angle`` [rad] about the vertical."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def yaw(rotation: NDArray) -> float:
    """Return the heading [rad] of a rotation: the angle of its x axis in the ground plane."""
    return math.atan2(rotation[1, 0], rotation[0, 0])


def roll_pitch_yaw(rotation: NDArray) -> NDArray:
    """Return the angles of R = R_z(yaw) R_y(pitch) R_x(roll), [rad], shape (3,); where x is vertical, roll is zero."""
    (r00, r01, _), (r10, r11, _), (r20, r21, r22) = rotation.tolist()
    cosine = math.hypot(r21, r22)
    if cosine < _VERTICAL:
        return np.array([0.0, math.atan2(-r20, cosine), math.atan2(-r01, r11)])
    return np.array([math.atan2(r21, r22), math.atan2(-r20, cosine), math.atan2(r10, r00)])


def wrap_angle(angle: float) -> float:
    """Return the angle in (−π, π]."""
    return math.pi - (math.pi - angle) % (2.0 * math.pi)


def tilt(rotation: NDArray) -> float:
    """Return the angle [rad] between a rotation's z axis and the vertical."""
    return math.acos(min(1.0, max(-1.0, float(rotation[2, 2]))))


@dataclass(frozen=True, slots=True)
class PlanarPose:
    """A pose on the plane, an element of SE(2).

    Attributes:
        x: [m].
        y: [m].
        yaw: In (−π, π] after a composition, [rad].
    """

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    @classmethod
    def of(cls, position: NDArray, rotation: NDArray) -> PlanarPose:
        """Return the ground-plane part of a position (3,) and a rotation (3, 3)."""
        return cls(float(position[0]), float(position[1]), yaw(rotation))

    def __matmul__(self, other: PlanarPose) -> PlanarPose:
        """Compose: return ``other``, a pose in this frame, in the frame of this pose."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return PlanarPose(
            self.x + c * other.x - s * other.y, self.y + s * other.x + c * other.y, wrap_angle(self.yaw + other.yaw)
        )

    def inverse(self) -> PlanarPose:
        """Return the inverse pose."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return PlanarPose(-c * self.x - s * self.y, s * self.x - c * self.y, wrap_angle(-self.yaw))
