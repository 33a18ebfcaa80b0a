"""Contact plane on which soles stand, level or inclined."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import FootReference, NDArray, so3

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
