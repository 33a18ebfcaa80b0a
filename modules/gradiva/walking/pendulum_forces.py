"""Forces of the linear inverted pendulum as expressions: its force, its jerk, and the wrenches of both feet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import casadi as cs

from gradiva.common import Side

Expression = TypeVar("Expression", cs.SX, cs.DM)


def plane_of_stance(left_is_stance: cs.SX, feet: dict[Side, dict[str, cs.SX]]) -> tuple[cs.SX, cs.SX]:
    """Return height h and slope (a, b) of the contact plane z = h + a x + b y of the stance foot."""

    def of_stance(name: str) -> cs.SX:
        """Return position, (3, 1), or rotation, (3, 3), of the stance foot, world."""
        return cs.if_else(left_is_stance, feet[Side.LEFT][name], feet[Side.RIGHT][name])

    normal, position = of_stance("rotation")[:, 2], of_stance("position")
    slope = -normal[:2] / normal[2]
    return position[2] - cs.dot(slope, position[:2]), slope


def pendulum_force(inputs: dict[str, cs.SX], plane: tuple[cs.SX, cs.SX]) -> cs.SX:
    """Return the force that the planned pendulum needs with the desired ZMP of layer 2, [N]."""
    square = inputs["natural_frequency"] * inputs["divergence_rate"]
    stiffness, (height, slope) = inputs["mass"] * square, plane
    com, zmp = inputs["planned_com_position"], inputs["zmp_position"]
    above = com[2] - (height + cs.dot(slope, zmp))
    weight = stiffness * above / (1.0 - square * inputs["inverse_frequency_offset"])  # m (g + z̈)
    return cs.vertcat(stiffness * (com[:2] - zmp), weight)


def pendulum_jerk(inputs: dict[str, cs.SX]) -> cs.SX:
    """Return the jerk of the planned CoM, [m/s³]."""
    zmp_velocity = inputs["dcm_velocity"] - inputs["dcm_acceleration"] / inputs["divergence_rate"]
    square = inputs["natural_frequency"] * inputs["divergence_rate"]
    return cs.vertcat(square * (inputs["planned_com_velocity"][:2] - zmp_velocity), 0.0)


def zmp_points_of(offset: cs.SX, feet: dict[Side, dict[str, cs.SX]]) -> list[cs.SX]:
    """Return the nominal ZMP of both feet, world, [m]."""
    points = []
    for side, foot in feet.items():
        x, y = offset[0], side.sign * offset[1]
        points.append(foot["position"][:2] + foot["rotation"][:2, 0] * x + foot["rotation"][:2, 1] * y)
    return points


def pendulum_wrenches(
    force: Expression,
    zmp: Expression,
    feet: Sequence[Mapping[str, Expression]],
    zmp_points: Sequence[Expression],
    plane: tuple[Expression, Expression],
) -> list[Expression]:
    r"""Return the wrenches of the ground on the left and the right foot of the linear inverted pendulum.

    The pendulum needs the force :math:`f = m (\zeta^2 (x - z), g + \ddot x_z)` through its ZMP :math:`z`. In double
    support the load splits by the projection :math:`\lambda` of :math:`z` on the line between the feet's own ZMP
    points, so that a foot is unloaded when it lifts off; the offset of :math:`z` from that line moves both centres of
    pressure. Symbols give expressions, ``casadi.DM`` gives numbers.

    Args:
        force: Total, world, [N], shape (3, 1).
        zmp: Point at which it acts, on the plane of the soles, [m], shape (2, 1).
        feet: Left and right: ``position`` of the sole's origin, world, [m], shape (3, 1), and ``in_contact``.
        zmp_points: Nominal ZMP of each foot, world, [m], shape (2, 1).
        plane: Height h [m] and slope (a, b) of the contact plane, which holds all of these points.

    Returns:
        Two wrenches about the sole origins, world axes, [N, N·m], shape (6, 1).
    """
    left, right = zmp_points
    line = left - right
    ratio = cs.fmin(1.0, cs.fmax(0.0, cs.dot(zmp - right, line) / cs.sumsqr(line)))
    ratio = cs.if_else(feet[0]["in_contact"], ratio, 0.0)
    ratio = cs.if_else(feet[1]["in_contact"], ratio, 1.0)
    shift = zmp - ratio * left - (1.0 - ratio) * right
    height, slope = plane
    wrenches = []
    for foot, point, fraction in zip(feet, zmp_points, (ratio, 1.0 - ratio), strict=True):
        place = point + shift
        lever = cs.vertcat(place, height + cs.dot(slope, place)) - foot["position"]
        part = fraction * force
        wrenches.append(cs.vertcat(part, cs.cross(lever, part)))
    return wrenches
