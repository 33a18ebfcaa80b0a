"""Area and moments of the loaded part of a sole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradiva.common import Side, SoleRectangle
from gradiva.contacts.half_plane import Point


class SoleMoments(NamedTuple):
    r"""Integrals over a part of the sole, its points :math:`(x, y)` taken in the sole frame.

    Attributes:
        area: :math:`\int 1`, [m²].
        x: :math:`\int x`, [m³].
        y: :math:`\int y`, [m³].
        xx: :math:`\int x^2`, [m⁴].
        xy: :math:`\int x y`, [m⁴].
        yy: :math:`\int y^2`, [m⁴].
        height: Of the touching surface in the sole frame, [m].
    """

    area: float
    x: float
    y: float
    xx: float
    xy: float
    yy: float
    height: float


def rectangle_moments(sole: SoleRectangle, side: Side) -> SoleMoments:
    """Return the moments of the whole sole."""
    return polygon_moments([(x, y) for x, y in sole.corners(side).tolist()], sole.z)


def polygon_moments(corners: Sequence[Point], height: float) -> SoleMoments:
    """Return the moments of a polygon.

    Args:
        corners: Counter-clockwise from above, in the sole frame, [m]; fewer than three span nothing.
        height: Of the touching surface in the sole frame, [m].
    """
    return edges_moments([(corners[index - 1], corner) for index, corner in enumerate(corners)], height)


def edges_moments(edges: Sequence[tuple[Point, Point]], height: float) -> SoleMoments:
    r"""Return the moments of what closed lines enclose: each edge spans a triangle with the origin, Green's theorem.

    A triangle of the origin, :math:`a` and :math:`b` has :math:`\int x = A (a_x + b_x)/3` and
    :math:`\int x y = A (2 a_x a_y + a_x b_y + b_x a_y + 2 b_x b_y)/12`, with its signed area A.

    Args:
        edges: Start and end of each, in any order, counter-clockwise from above, in the sole frame, [m].
        height: Of the touching surface in the sole frame, [m].
    """
    area = sx = sy = sxx = sxy = syy = 0.0
    for (ax, ay), (bx, by) in edges:
        doubled = ax * by - bx * ay
        area += doubled
        sx += doubled * (ax + bx)
        sy += doubled * (ay + by)
        sxx += doubled * (ax * ax + ax * bx + bx * bx)
        sxy += doubled * (2.0 * (ax * ay + bx * by) + ax * by + bx * ay)
        syy += doubled * (ay * ay + ay * by + by * by)
    return SoleMoments(area / 2.0, sx / 6.0, sy / 6.0, sxx / 12.0, sxy / 24.0, syy / 12.0, height)
