"""Support polygon: the convex hull of the soles that touch the ground, in which the zero moment point may be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from gradiva.common import ConfigError, NDArray, Side, SoleRectangle, readonly, sealed
from gradiva.contacts.contact_plane import ContactPlane
from gradiva.contacts.plain_vectors import Point

_SMALLEST_AREA = 1e-12  # [m²] corners that turn by less are on a straight edge

Vector = NDArray | Sequence[float]


class SupportPolygon:
    r"""A convex polygon on the ground: the hull of points, and its half-planes.

    .. math:: z \in \mathcal{P} \iff A z \le b

    The rows of :math:`A` are the outward unit normals of the edges, so that :math:`A z - b` are signed
    distances in metres. Edge ``i`` runs from vertex ``i`` to vertex ``i + 1``, counter-clockwise from above.

    Attributes:
        vertices: Corners, counter-clockwise, world, [m], shape (m, 2).
        normals: A, outward unit normals, shape (m, 2).
        offsets: b, [m], shape (m,).
    """

    __slots__ = ("_corners", "_edges", "normals", "offsets", "vertices")

    def __init__(self, points: Iterable[Vector]) -> None:
        """Build the hull.

        Args:
            points: In any order, world, [m], shape (n, 2).

        Raises:
            ValueError: A coordinate is not finite, or the points do not span an area.
        """
        self._set_corners(_convex_hull([_pair(point) for point in points]))

    def _set_corners(self, corners: list[Point]) -> None:
        if len(corners) < 3:
            raise ValueError(f"a support polygon needs three points that are not on a line, got {corners}")
        self._corners = corners
        self._edges = [_edge(start, end) for start, end in _consecutive(corners)]
        self.vertices: NDArray = readonly(corners)
        self.normals: NDArray = readonly([edge[:2] for edge in self._edges])
        self.offsets: NDArray = readonly([edge[2] for edge in self._edges])

    def contains(self, point: Vector, tolerance: float = 0.0) -> bool:
        """Return whether a point (world, [m], shape (2,)) is inside or on the edge, up to a tolerance [m].

        Raises:
            ValueError: The point is not finite; so do ``distance`` and ``project``.
        """
        x, y = _pair(point)
        return max([nx * x + ny * y - b for nx, ny, b in self._edges]) <= tolerance

    def distance(self, point: Vector) -> float:
        """Return the distance from the boundary: positive outside, negative inside, [m]."""
        x, y = _pair(point)
        deepest = max(nx * x + ny * y - b for nx, ny, b in self._edges)
        if deepest <= 0.0:
            return deepest
        nearest = self._nearest(x, y)
        return math.hypot(x - nearest[0], y - nearest[1])

    def project(self, point: Vector) -> NDArray:
        """Return the nearest point of the polygon: the point itself inside (world, [m], shape (2,))."""
        x, y = _pair(point)
        if max([nx * x + ny * y - b for nx, ny, b in self._edges]) <= 0.0:
            return sealed(np.array((x, y)))
        return sealed(np.array(self._nearest(x, y)))

    def shrunk(self, margin: float) -> SupportPolygon:
        """Return the polygon with each edge moved inwards by ``margin`` [m].

        Raises:
            ValueError: The margin is negative, or nothing is left.
        """
        if not margin >= 0.0:
            raise ValueError(f"margin={margin} m: a support polygon shrinks by a margin of zero or more")
        corners = self._corners
        for nx, ny, b in self._edges:
            corners = clip(corners, nx, ny, b - margin)
        if len(corners) < 3:
            raise ValueError(f"margin={margin} m: nothing is left of the support polygon")
        return SupportPolygon(corners)

    def _nearest(self, x: float, y: float) -> Point:
        best, best_square = self._corners[0], math.inf
        for (ax, ay), (bx, by) in _consecutive(self._corners):
            dx, dy = bx - ax, by - ay
            ratio = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)
            ratio = min(1.0, max(0.0, ratio))
            px, py = ax + ratio * dx, ay + ratio * dy
            square = (x - px) ** 2 + (y - py) ** 2
            if square < best_square:
                best, best_square = (px, py), square
        return best


def support_polygon(
    foot_poses: Iterable[Vector], sides: Sequence[Side], sole: SoleRectangle, margin: float = 0.0
) -> SupportPolygon:
    """Return the hull of the soles on the ground; the most recent ones are remembered.

    Args:
        foot_poses: x, y, yaw of each sole frame that touches the ground and, where it is inclined, the two slopes of
            its :class:`ContactPlane`; world, [m, m, rad, -, -].
        sides: Which foot each of them is.
        sole: Rectangle of the left sole, mirrored for the right one.
        margin: By how much the edges of each sole are moved inwards first, [m].

    Raises:
        ConfigError: The margin leaves nothing of the sole.
        ValueError: No foot, not one side a foot, or a pose that is not finite.
    """
    poses = tuple(tuple(map(float, pose)) for pose in foot_poses)
    if not poses or len(poses) != len(sides):
        raise ValueError(f"{len(poses)} foot poses for {len(sides)} sides: no support polygon")
    return _support_polygon(poses, tuple(sides), sole, margin)


@lru_cache(maxsize=256)  # one entry a contact phase: a plan of some ten steps
def _support_polygon(
    poses: tuple[tuple[float, ...], ...], sides: tuple[Side, ...], sole: SoleRectangle, margin: float
) -> SupportPolygon:
    if not 0.0 <= 2.0 * margin < min(sole.x[1] - sole.x[0], sole.y[1] - sole.y[0]):
        raise ConfigError(f"margin={margin} m leaves nothing of a sole with x={sole.x}, y={sole.y}")
    points = []
    for (x, y, yaw, *slope), side in zip(poses, sides, strict=True):
        (xx, xy, _), (yx, yy, _), _ = (
            ContactPlane(0.0, (slope[0], slope[1]) if slope else (0.0, 0.0)).rotation(yaw).tolist()
        )
        for u, v in sole.corners(side, margin).tolist():
            points.append((x + xx * u + xy * v, y + yx * u + yy * v))
    return SupportPolygon(points)


def clip(corners: list[Point], nx: float, ny: float, b: float) -> list[Point]:
    r"""Return the corners of the part of a polygon inside :math:`n_x x + n_y y \le b`, in the same order.

    Args:
        corners: Of a convex polygon, in order, [m].
        nx: Of the outward normal, of any length.
        ny: The same.
        b: Offset of the line.
    """
    kept: list[Point] = []
    start = corners[-1] if corners else (0.0, 0.0)
    outside_start = nx * start[0] + ny * start[1] - b
    for end in corners:
        outside_end = nx * end[0] + ny * end[1] - b
        if outside_start * outside_end < 0.0:
            ratio = outside_start / (outside_start - outside_end)
            kept.append((start[0] + ratio * (end[0] - start[0]), start[1] + ratio * (end[1] - start[1])))
        if outside_end <= 0.0:
            kept.append(end)
        start, outside_start = end, outside_end
    return kept


def _convex_hull(points: list[Point]) -> list[Point]:
    """Return the corners counter-clockwise, by Andrew's monotone chain."""
    ordered = sorted(set(points))
    lower, upper = _chain(ordered), _chain(ordered[::-1])
    return lower[:-1] + upper[:-1]


def _chain(ordered: list[Point]) -> list[Point]:
    chain: list[Point] = []
    for point in ordered:
        while len(chain) >= 2 and _turn(chain[-2], chain[-1], point) <= _SMALLEST_AREA:
            chain.pop()
        chain.append(point)
    return chain


def _turn(a: Point, b: Point, c: Point) -> float:
    """Return twice the area of the triangle, positive where the path a, b, c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _edge(start: Point, end: Point) -> tuple[float, float, float]:
    """Return the outward unit normal and the offset of an edge."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy)
    nx, ny = dy / length, -dx / length
    return nx, ny, nx * start[0] + ny * start[1]


def _consecutive(corners: list[Point]) -> Iterable[tuple[Point, Point]]:
    return zip(corners, corners[1:] + corners[:1], strict=True)


def _pair(point: Vector) -> Point:
    x, y = point.tolist() if isinstance(point, np.ndarray) else map(float, point)
    if not (math.isfinite(x) and math.isfinite(y)):
        raise ValueError(f"the point ({x}, {y}) is not finite")
    return x, y
