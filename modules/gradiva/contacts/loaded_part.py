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

from collections.abc import Sequence
from typing import NamedTuple

from gradiva.contacts.half_plane import Point
from gradiva.contacts.plain_vectors import Matrix, Vector, combination
from gradiva.contacts.sole_moments import SoleMoments, edges_moments


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
    """What of a sole is loaded.

    Attributes:
        moments: Its area and moments.
        edge: Where it ends within the sole.
    """

    moments: SoleMoments
    edge: LoadedEdge


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


def loaded_moments(corners: Sequence[Point], pressure: tuple[float, float, float], height: float) -> SoleMoments:
    """Return the moments of the loaded part of the sole; see ``loaded_part``."""
    return loaded_part(corners, pressure, height).moments


def loaded_part(corners: Sequence[Point], pressure: tuple[float, float, float], height: float) -> LoadedPart:
    """Return the loaded part of the sole.

    What is left of its edges, and the line that cuts them, go round it. No branch depends on a number, so that symbols
    give an expression.

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
    """One edge of the sole, walked from one corner to the next; what it is tells itself by factors of 0 and 1.

    Attributes:
        leaves: 1 if it walks out of the loaded part.
        enters: 1 if it walks into it.
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
