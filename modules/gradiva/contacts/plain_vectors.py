"""Vectors of three plain numbers: for so few, numpy costs ten times the arithmetic.

Nothing here asks what a number is: floats give floats, symbols give expressions.
"""

from __future__ import annotations

from collections.abc import Sequence

Vector = Sequence[float]
Matrix = Sequence[Vector]
Point = tuple[float, float]


def combination(alpha: float, a: Vector, beta: float, b: Vector) -> list[float]:
    """Return α a + β b."""
    ax, ay, az = a
    bx, by, bz = b
    return [alpha * ax + beta * bx, alpha * ay + beta * by, alpha * az + beta * bz]


def cross(a: Vector, b: Vector) -> list[float]:
    """Return a × b."""
    ax, ay, az = a
    bx, by, bz = b
    return [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]


def times(matrix: Matrix, vector: Vector) -> list[float]:
    """Return the product of a matrix of three rows and a vector."""
    x, y, z = vector
    (a, b, c), (d, e, f), (g, h, i) = matrix
    return [a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z]


def axial(matrix: Matrix) -> list[float]:
    r"""Return :math:`\sum_j a_j \times b_j` of :math:`\sum_j a_j b_j^\top`."""
    (_, b, c), (d, _, f), (g, h, _) = matrix
    return [f - h, g - c, b - d]


def trace(matrix: Matrix) -> float:
    """Return the sum of the diagonal."""
    return matrix[0][0] + matrix[1][1] + matrix[2][2]
