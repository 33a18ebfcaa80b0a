r"""Loaded part of a sole on soft ground: its area and moments.

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

from collections.abc import Sequence
from typing import NamedTuple

from gradiva.common import Side, SoleRectangle
from gradiva.contacts.plain_vectors import Matrix, Point, Vector, combination


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


class LoadedEdge(NamedTuple):
    """The line on which the pressure vanishes, where it crosses the sole.

    Attributes:
        start: In the sole frame, [m].
        end: The same.
        mobility: Its length over the slope of the pressure, [m⁵/N]: what area it sweeps while the pressure along it
            rises, per [N/m²]; zero where the sole is loaded altogether or not at all.
    """

    start: Point
    end: Point
    mobility: float


class LoadedPart(NamedTuple):
    """Loaded part of a sole.

    Attributes:
        moments: Its area and moments.
        edge: Where it ends within the sole.
    """

    moments: SoleMoments
    edge: LoadedEdge


def normal_pressure(
    height: float,
    ground: Sequence[float],
    position: Vector,
    rotation: Matrix,
    twist: Vector,
    rest_position: Vector,
    rest_rotation: Matrix,
) -> tuple[float, float, float]:
    """Return c [N/m²], c_x and c_y [N/m³]: the pressure at the origin of the sole frame and its slopes.

    Args:
        height: z of the touching surface in the sole frame, [m].
        ground: Stiffness k, [N/m³], and damping b, [N·s/m³].
        position: Of the sole frame, world, [m].
        rotation: Of the sole frame, three rows.
        twist: Linear then angular velocity, [m/s, rad/s].
        rest_position: Of the sole frame where the ground exerts no force, [m].
        rest_rotation: The same, three rows.
    """
    stiffness, damping = ground
    _, _, sinking, omega_x, omega_y, _ = twist
    x_row, y_row, z_row = rotation
    turned = combination(stiffness, rest_rotation[2], -stiffness, z_row)
    moved = combination(omega_x, y_row, -omega_y, x_row)
    slopes = combination(1.0, turned, -damping, moved)
    origin = stiffness * (rest_position[2] - position[2]) - damping * sinking
    return origin + height * slopes[2], slopes[0], slopes[1]


def loaded_moments(corners: Sequence[Point], pressure: tuple[float, float, float], height: float) -> SoleMoments:
    """Return the moments of the loaded part of the sole; see ``loaded_part``."""
    return loaded_part(corners, pressure, height).moments


def loaded_part(corners: Sequence[Point], pressure: tuple[float, float, float], height: float) -> LoadedPart:
    """Return the loaded part of the sole.

    It is bounded by the loaded parts of the sole's edges and the line that cuts them. No branch depends on a number, so
    that symbols give an expression.

    Args:
        corners: Of the sole, counter-clockwise, in the sole frame, [m].
        pressure: c, c_x and c_y.
        height: Of the touching surface in the sole frame, [m].
    """
    c, cx, cy = pressure
    pressures = [c + cx * x + cy * y for x, y in corners]
    edges, way_out, way_in, is_cut = [], (0.0, 0.0), (0.0, 0.0), 0
    for index, corner in enumerate(corners):
        edge = _Edge(corners[index - 1], corner, pressures[index - 1], pressures[index])
        edges.append(edge.loaded)
        way_out, way_in = _sum(1, way_out, edge.leaves, edge.cut), _sum(1, way_in, edge.enters, edge.cut)
        is_cut = is_cut + edge.leaves
    across = abs((way_in[0] - way_out[0]) * cy - (way_in[1] - way_out[1]) * cx)
    mobility = is_cut * across / (is_cut * (cx * cx + cy * cy) + (1 - is_cut))
    return LoadedPart(edges_moments([*edges, (way_out, way_in)], height), LoadedEdge(way_out, way_in, mobility))


class _Edge:
    """One edge of the sole, from one corner to the next; its cases are factors of 0 and 1, not branches.

    Attributes:
        leaves: 1 if it leaves the loaded part.
        enters: 1 if it enters it.
        cut: Where it does; its start if it does not.
        loaded: Ends of its loaded part; of length zero if there is none.
    """

    def __init__(self, start: Point, end: Point, start_pressure: float, end_pressure: float) -> None:
        from_inside, to_inside = start_pressure >= 0.0, end_pressure >= 0.0
        self.leaves, self.enters = from_inside * (1 - to_inside), (1 - from_inside) * to_inside
        crosses = self.leaves + self.enters
        ratio = crosses * start_pressure / (crosses * (start_pressure - end_pressure) + (1 - crosses))
        self.cut = start[0] + ratio * (end[0] - start[0]), start[1] + ratio * (end[1] - start[1])
        self.loaded = _sum(from_inside, start, 1 - from_inside, self.cut), _sum(to_inside, end, 1 - to_inside, self.cut)


def _sum(alpha: float, a: Point, beta: float, b: Point) -> Point:
    """Return α a + β b."""
    return alpha * a[0] + beta * b[0], alpha * a[1] + beta * b[1]
