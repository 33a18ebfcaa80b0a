"""What soft ground does to all soles in one physics step, as one function of what the engine knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as cs

from gradiva.common import Side, SoleRectangle
from gradiva.contacts import SoleMoments, ViscoElasticEquations, loaded_moments, normal_pressure, rectangle_moments
from gradiva.robot_model import Compiler, FlatFunction


@dataclass(frozen=True, slots=True)
class SolePlaces:
    """One sole in the engine's tables.

    Attributes:
        face: Row of the site in the middle of its face.
        sensor: Row of the site of its sensor.
        half_size: Of the face, along its axes, [m].
    """

    face: int
    sensor: int
    half_size: tuple[float, float]


def soft_ground_function(
    soles: Sequence[SolePlaces], sites: int, height: float, compiler: Compiler, *, pulls: bool
) -> FlatFunction:
    """Return the function.

    Its inputs, one row for each site or sole: ``site_positions`` (3), ``site_rotations`` (9) and ``face_twists``,
    angular first, as the engine has them; ``rest_positions`` (3), ``rest_rotations`` (9) and ``grounds`` (k, b) of the
    contacts; ``touches``, 1 for a sole with a contact, else 0; and ``noises``, on the wrenches of those that touch.

    Its outputs, one row for each sole: ``places``, x and y of the middle of the face, its yaw, and the height of its
    lowest corner above the surface; ``projected_areas``, of the loaded parts, seen from above [m²]; ``wrenches`` about
    the middles of the faces, world axes; ``felt`` about the sensors and ``told`` in their axes, both with noise
    (``..._disturbed``) and without.

    Args:
        soles: Where they are in the tables.
        sites: How many the engine has.
        height: Of the surface of the ground, [m].
        compiler: How the function becomes fast.
        pulls: The whole sole sticks; else the ground only pushes.
    """
    n = len(soles)
    inputs = {
        "site_positions": cs.SX.sym("site_positions", sites, 3),
        "site_rotations": cs.SX.sym("site_rotations", sites, 9),
        "face_twists": cs.SX.sym("face_twists", n, 6),
        "rest_positions": cs.SX.sym("rest_positions", n, 3),
        "rest_rotations": cs.SX.sym("rest_rotations", n, 9),
        "grounds": cs.SX.sym("grounds", n, 2),
        "touches": cs.SX.sym("touches", n),
        "noises": cs.SX.sym("noises", n, 6),
    }
    rows = [_of_sole(inputs, index, sole, height, pulls) for index, sole in enumerate(soles)]
    outputs = {name: cs.vertcat(*(row[name] for row in rows)) for name in rows[0]}
    return FlatFunction("soft_ground", inputs, outputs, compiler)


def _of_sole(inputs: dict[str, cs.SX], index: int, sole: SolePlaces, height: float, pulls: bool) -> dict[str, cs.SX]:
    """Return the rows of one sole."""
    position, rotation = inputs["site_positions"][sole.face, :].T, _square(inputs["site_rotations"][sole.face, :])
    stiffness, damping = _scalars(inputs["grounds"][index, :])
    equations = _equations(inputs, index, sole, pulls)
    touches = inputs["touches"][index]
    wrench = touches * cs.vertcat(*equations.wrench(stiffness, damping))
    tilt = cs.fabs(rotation[2, 0]) * sole.half_size[0] + cs.fabs(rotation[2, 1]) * sole.half_size[1]
    yaw = cs.atan2(rotation[1, 0], rotation[0, 0])
    axes, arm = _square(inputs["site_rotations"][sole.sensor, :]), position - inputs["site_positions"][sole.sensor, :].T
    felt, disturbed = (
        cs.vertcat(about_face[:3], about_face[3:] + cs.cross(arm, about_face[:3]))
        for about_face in (wrench, wrench + touches * inputs["noises"][index, :].T)
    )
    return {
        "places": cs.horzcat(position[0], position[1], yaw, position[2] - tilt - height),
        "projected_areas": cs.fabs(rotation[2, 2]) * equations.area,
        "wrenches": wrench.T,
        "felt": felt.T,
        "felt_disturbed": disturbed.T,
        "told": _in_axes(axes, felt),
        "told_disturbed": _in_axes(axes, disturbed),
    }


def _equations(inputs: dict[str, cs.SX], index: int, sole: SolePlaces, pulls: bool) -> ViscoElasticEquations:
    twist = _scalars(inputs["face_twists"][index, :])
    motion = (
        _scalars(inputs["site_positions"][sole.face, :]),
        _rows(inputs["site_rotations"][sole.face, :]),
        [*twist[3:], *twist[:3]],
        _scalars(inputs["rest_positions"][index, :]),
        _rows(inputs["rest_rotations"][index, :]),
    )
    (x, y), ground = sole.half_size, _scalars(inputs["grounds"][index, :])
    face = SoleRectangle((-x, x), (-y, y), 0.0)
    return ViscoElasticEquations(_moments(face, motion, ground, pulls), *motion)


def _moments(face: SoleRectangle, motion: Any, ground: Any, pulls: bool) -> SoleMoments:
    if pulls:
        return rectangle_moments(face, Side.LEFT)
    corners = [(x, y) for x, y in face.corners(Side.LEFT).tolist()]
    return loaded_moments(corners, normal_pressure(face.z, *motion, *ground), face.z)


def _scalars(row: cs.SX) -> list[Any]:
    """Return the entries, which the equations of the ground take for numbers."""
    return cs.horzsplit(row)


def _rows(entries: cs.SX) -> list[list[Any]]:
    """Return a rotation as rows of scalars."""
    scalars = _scalars(entries)
    return [scalars[0:3], scalars[3:6], scalars[6:9]]


def _square(entries: cs.SX) -> cs.SX:
    return cs.reshape(entries, 3, 3).T


def _in_axes(axes: cs.SX, wrench: cs.SX) -> cs.SX:
    """Return a wrench in these axes as a row."""
    return cs.vertcat(axes.T @ wrench[:3], axes.T @ wrench[3:]).T
