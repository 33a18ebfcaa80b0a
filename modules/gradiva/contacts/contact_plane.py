"""Contact plane on which soles stand, level or inclined, and the foot wrenches of a pendulum above it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import FootReference, NDArray, so3
from gradiva.contacts.plain_vectors import Point

Normal = tuple[float, float, float]
UP: Normal = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class ContactPlane:
    r"""The plane :math:`z = h + a x + b y` (world).

    A pendulum whose CoM moves parallel to it, at the vertical height :math:`c`, has the horizontal dynamics
    :math:`\ddot x = (g / c) (x - z)` of level ground, with the ZMP :math:`z` on it (Caron and Kheddar, 2017). So
    points of the plane, such as ZMP and support polygon, are given by their x and y in world.

    Attributes:
        height: h, [m].
        slope: a and b, [-].
    """

    height: float = 0.0
    slope: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def through(cls, x: float, y: float, z: float, normal: Normal) -> ContactPlane:
        """Return the plane through a point (world, [m]) with an upward normal.

        Raises:
            ValueError: The normal does not point upward.
        """
        nx, ny, nz = normal
        if not nz > 0.0:
            raise ValueError(f"normal={normal}: a contact plane needs one that points upward")
        a, b = -nx / nz, -ny / nz
        return cls(z - a * x - b * y, (a, b))

    @classmethod
    def of_sole(cls, foot: FootReference) -> ContactPlane:
        """Return the plane of a sole that stands."""
        nx, ny, nz = foot.rotation[:, 2].tolist()
        x, y, z = foot.position.tolist()
        return cls.through(x, y, z, (nx, ny, nz))

    @property
    def is_level(self) -> bool:
        """Whether the plane is horizontal."""
        return self.slope == (0.0, 0.0)

    @property
    def normal(self) -> Normal:
        """Upward unit normal."""
        if self.is_level:
            return UP
        a, b = self.slope
        length = math.sqrt(a * a + b * b + 1.0)
        return -a / length, -b / length, 1.0 / length

    def height_at(self, x: float, y: float) -> float:
        """Return the height of the plane at a place, [m]."""
        a, b = self.slope
        return self.height + (a * x + b * y)

    def rotation(self, yaw: float) -> NDArray:
        """Return the rotation of a sole that lies on the plane with heading ``yaw`` [rad], shape (3, 3)."""
        if self.is_level:
            return so3.rotation_z(yaw)
        (a, b), c, s = self.slope, math.cos(yaw), math.sin(yaw)
        x_axis = np.array((c, s, a * c + b * s))
        x_axis /= math.sqrt(x_axis.dot(x_axis))
        normal = np.array(self.normal)
        return np.column_stack((x_axis, so3.cross(normal, x_axis), normal))


def pendulum_wrenches(
    force: NDArray,
    zmp: NDArray,
    feet: tuple[FootReference, FootReference],
    zmp_points: tuple[Point, Point],
    plane: ContactPlane | None = None,
) -> tuple[NDArray, NDArray]:
    r"""Return the wrenches of the ground on the left and the right foot of the linear inverted pendulum.

    The pendulum needs the force :math:`f = m (\zeta^2 (x - z), g + \ddot x_z)` through its ZMP :math:`z`. In double
    support the load splits by the projection :math:`\lambda` of :math:`z` on the line between the feet's own ZMP
    points, so that a foot is unloaded when it lifts off; the offset of :math:`z` from that line moves both centres of
    pressure.

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
