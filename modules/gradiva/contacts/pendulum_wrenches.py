r"""The foot wrenches of the linear inverted pendulum.

The pendulum needs the force :math:`f = m (\zeta^2 (x - z), g + \ddot x_z)` through its ZMP :math:`z`. In double
support the load splits by the projection :math:`\lambda` of :math:`z` on the line between the feet's own ZMP
points, so that a foot is unloaded when it lifts off; what :math:`z` is off that line moves both centres of pressure.
"""

from __future__ import annotations

import numpy as np

from gradiva.common import FootReference, NDArray


def pendulum_wrenches(
    force: NDArray, zmp: NDArray, feet: tuple[FootReference, FootReference], zmp_points: NDArray
) -> tuple[NDArray, NDArray]:
    """Return the wrenches of the ground on the left and the right foot.

    Args:
        force: Total, world, [N], shape (3,).
        zmp: Where it acts, on the plane of the soles, [m], shape (2,).
        feet: Left and right.
        zmp_points: Where each foot likes to be loaded, world, [m], shape (2, 2).

    Returns:
        Two wrenches about the sole origins, world axes, [N, N·m], shape (6,).
    """
    share = left_share(zmp, feet, zmp_points)
    shift = zmp - (share * zmp_points[0] + (1.0 - share) * zmp_points[1])
    wrenches = []
    for foot, load, point in zip(feet, (share, 1.0 - share), zmp_points, strict=True):
        x, y = point + shift - foot.position[:2]
        fx, fy, fz = (float(component) for component in load * force)
        wrenches.append(np.array([fx, fy, fz, y * fz, -x * fz, x * fy - y * fx]))
    return wrenches[0], wrenches[1]


def left_share(zmp: NDArray, feet: tuple[FootReference, FootReference], zmp_points: NDArray) -> float:
    """Return the share of the load on the left foot, in [0, 1]."""
    left, right = feet
    if not right.in_contact:
        return 1.0
    if not left.in_contact:
        return 0.0
    line = zmp_points[0] - zmp_points[1]
    ratio = float((zmp - zmp_points[1]) @ line) / float(line @ line)
    return min(1.0, max(0.0, ratio))
