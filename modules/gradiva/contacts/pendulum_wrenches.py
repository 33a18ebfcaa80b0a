r"""Foot wrenches of the linear inverted pendulum.

The pendulum needs the force :math:`f = m (\zeta^2 (x - z), g + \ddot x_z)` through its ZMP :math:`z`. In double
support the load splits by the projection :math:`\lambda` of :math:`z` on the line between the feet's own ZMP
points, so that a foot is unloaded when it lifts off; the offset of :math:`z` from that line moves
both centres of pressure.
"""

from __future__ import annotations

import numpy as np

from gradiva.common import FootReference, NDArray
from gradiva.contacts.contact_plane import ContactPlane
from gradiva.contacts.plain_vectors import Point


def pendulum_wrenches(
    force: NDArray,
    zmp: NDArray,
    feet: tuple[FootReference, FootReference],
    zmp_points: tuple[Point, Point],
    plane: ContactPlane | None = None,
) -> tuple[NDArray, NDArray]:
    """Return the wrenches of the ground on the left and the right foot.

    Args:
        force: Total, world, [N], shape (3,).
        zmp: Point at which it acts, on the plane of the soles, [m], shape (2,).
        feet: Left and right.
        zmp_points: Nominal ZMP of each foot, world, [m].
        plane: Contact plane, which holds all of these points; None: that of each sole.

    Returns:
        Two wrenches about the sole origins, world axes, [N, N·m], shape (6,).
    """
    fraction = left_fraction(zmp, feet, zmp_points)
    (x, y), (left, right) = zmp.tolist(), zmp_points
    shift = (
        x - fraction * left[0] - (1.0 - fraction) * right[0],
        y - fraction * left[1] - (1.0 - fraction) * right[1],
    )
    total = force.tolist()
    return (
        _wrench(feet[0], fraction, total, left, shift, plane),
        _wrench(feet[1], 1.0 - fraction, total, right, shift, plane),
    )


def _wrench(
    foot: FootReference,
    fraction: float,
    force: list[float],
    point: Point,
    shift: tuple[float, float],
    plane: ContactPlane | None,
) -> NDArray:
    """Return a fraction of the force through a point that is shifted, as a wrench about the sole origin."""
    x0, y0, z0 = foot.position.tolist()
    x, y = point[0] + shift[0] - x0, point[1] + shift[1] - y0
    z = 0.0 if plane is None or plane.is_level else plane.height_at(x + x0, y + y0) - z0
    fx, fy, fz = fraction * force[0], fraction * force[1], fraction * force[2]
    return np.array((fx, fy, fz, y * fz - z * fy, z * fx - x * fz, x * fy - y * fx))


def left_fraction(zmp: NDArray, feet: tuple[FootReference, FootReference], zmp_points: tuple[Point, Point]) -> float:
    """Return the fraction of the load on the left foot, in [0, 1]."""
    left, right = feet
    if not right.in_contact:
        return 1.0
    if not left.in_contact:
        return 0.0
    (x, y), ((left_x, left_y), (right_x, right_y)) = zmp.tolist(), zmp_points
    line_x, line_y = left_x - right_x, left_y - right_y
    ratio = ((x - right_x) * line_x + (y - right_y) * line_y) / (line_x * line_x + line_y * line_y)
    return min(1.0, max(0.0, ratio))
