r"""The part of a sole that soft ground pushes on.

Ground pushes and never pulls. The normal component of :math:`\rho = k (\bar x - x) - b \dot x` is affine over the sole,

.. math::
    \rho_z = c + c_x x + c_y y, \quad
    c_x = k (\bar R - R)_{zx} - b (\omega \times R e_1)_z, \quad
    c_y = k (\bar R - R)_{zy} - b (\omega \times R e_2)_z, \quad
    c = k d_z - b v_z + z [k (\bar R - R)_{zz} - b (\omega \times R e_3)_z],

with the height :math:`z` of the touching surface in the sole frame. Where it is positive, the sole is loaded: the
rectangle cut by a line.
"""

from __future__ import annotations

from gradiva.contacts.half_plane import Point, clip
from gradiva.contacts.plain_vectors import Matrix, Vector, combination


def normal_pressure(
    height: float,
    position: Vector,
    rotation: Matrix,
    twist: Vector,
    rest_position: Vector,
    rest_rotation: Matrix,
    stiffness: float,
    damping: float,
) -> tuple[float, float, float]:
    """Return c [N/m²], c_x and c_y [N/m³]: the pressure at the origin of the sole frame and its slopes.

    Args:
        height: z of the touching surface in the sole frame, [m].
        position: Of the sole frame, world, [m].
        rotation: Of the sole frame, three rows.
        twist: Linear then angular velocity, [m/s, rad/s].
        rest_position: Of the sole frame where the ground exerts no force, [m].
        rest_rotation: The same, three rows.
        stiffness: k, [N/m³].
        damping: b, [N·s/m³].
    """
    _, _, sinking, omega_x, omega_y, _ = twist
    x_row, y_row, z_row = rotation
    turned = combination(stiffness, rest_rotation[2], -stiffness, z_row)
    moved = combination(omega_x, y_row, -omega_y, x_row)
    slopes = combination(1.0, turned, -damping, moved)
    origin = stiffness * (rest_position[2] - position[2]) - damping * sinking
    return origin + height * slopes[2], slopes[0], slopes[1]


def loaded_polygon(corners: list[Point], pressure: tuple[float, float, float]) -> list[Point]:
    """Return the corners of the loaded part, in the sole frame, [m]; the same list if all is loaded.

    Args:
        corners: Of the sole, counter-clockwise, in the sole frame, [m].
        pressure: c, c_x and c_y.
    """
    c, cx, cy = pressure
    if all(c + cx * x + cy * y >= 0.0 for x, y in corners):
        return corners
    return clip(corners, -cx, -cy, c)
