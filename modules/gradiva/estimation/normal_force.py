"""How the normal forces of both feet depend on the ground below them, as one function of their motion."""

from __future__ import annotations

from typing import Any

import casadi as cs

from gradiva.common import Side, SoleRectangle
from gradiva.contacts import ViscoElasticEquations, loaded_moments, normal_pressure
from gradiva.robot_model.flat_function import Compiler, FlatFunction

_NORMAL = 2  # of a wrench: the normal force


def normal_force_function(sole: SoleRectangle, compiler: Compiler) -> FlatFunction:
    """Return the function.

    Inputs for each side: ``<side>_position`` (3), ``<side>_rotation`` (3, 3) and ``<side>_twist`` (6) of the sole;
    ``<side>_rest_position`` (3), ``<side>_rest_rotation`` (3, 3) and ``<side>_ground`` (k, b) of its contact. Output
    for each side: ``<side>_normal_force``, that of k = 1, b = 0 [m³], that of k = 0, b = 1 [m³/s], and the loaded
    area [m²].

    Args:
        sole: Rectangle of the left sole.
        compiler: How it becomes fast.
    """
    inputs: dict[str, cs.SX] = {}
    outputs = {f"{side}_normal_force": _of_foot(side, sole, inputs) for side in Side}
    return FlatFunction("normal_forces", inputs, outputs, compiler)


def _of_foot(side: Side, sole: SoleRectangle, inputs: dict[str, cs.SX]) -> cs.SX:
    """Return the output of one foot and add its inputs."""
    shapes = {"position": (3, 1), "rotation": (3, 3), "twist": (6, 1), "rest_position": (3, 1), "rest_rotation": (3, 3)}
    symbols = {name: cs.SX.sym(f"{side}_{name}", *shape) for name, shape in shapes.items()}
    ground = cs.SX.sym(f"{side}_ground", 2)
    inputs |= {f"{side}_{name}": symbol for name, symbol in symbols.items()} | {f"{side}_ground": ground}
    motion: Any = [_numbers(symbol) for symbol in symbols.values()]
    corners = [(x, y) for x, y in sole.corners(side).tolist()]
    moments = loaded_moments(corners, normal_pressure(sole.z, *motion, *_numbers(ground)), sole.z)
    of_stiffness, of_damping = ViscoElasticEquations(moments, *motion).regressor()
    result: list[Any] = [of_stiffness[_NORMAL], of_damping[_NORMAL], moments.area]
    return cs.vertcat(*result)


def _numbers(symbol: cs.SX) -> Any:
    """Return a column or a matrix as scalars, which the equations of the ground take for numbers."""
    return cs.vertsplit(symbol) if symbol.shape[1] == 1 else [cs.horzsplit(row) for row in cs.vertsplit(symbol)]
