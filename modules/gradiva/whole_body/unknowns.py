r"""The unknowns of whole-body control by torque, in the order of the solver.

The equations of motion, :math:`M \dot\nu + h = [0; \tau] + \sum_k J_k^\top f_k`, leave a choice of what a problem is
solved for. Joints come first, for they have bounds; wrenches and torques are counted in larger units, which keeps the
problem well conditioned. (The acceleration of the base can be eliminated too. That makes the QP a third cheaper and
the function that states it three times as long: nothing is won.)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import casadi as cs

from gradiva.common import Side
from gradiva.robot_model import SymbolicDynamics, SymbolicFrame

_FORCE_UNIT = 30.0  # [N, N·m] so that wrenches count as much as accelerations

Wrenches = dict[Side, cs.SX]
Frames = dict[Side, SymbolicFrame]


class Form(StrEnum):
    """What the problem of the rigid controller is solved for."""

    FULL = "full"
    """Accelerations, wrenches and torques."""
    REDUCED = "reduced"
    """Accelerations and wrenches; torques follow from the joints' rows of the dynamics."""


@dataclass
class Unknowns:
    """The variables, and the physical quantities as expressions in them.

    Attributes:
        variables: x, in the solver's order.
        bounded: How many of the first may have bounds.
        acceleration: ν̇, (6 + n, 1).
        wrenches: Ground on foot, about the sole origin, world axes, by side, (6, 1) each.
        torques: [N·m], (n, 1).
        laws: What is missing to the laws of nature, by name.
        first_wrench: Where in the variables the wrench of each foot begins, when it is unknown.
    """

    variables: cs.SX
    bounded: int
    acceleration: cs.SX
    wrenches: Wrenches
    torques: cs.SX
    laws: dict[str, cs.SX]
    first_wrench: dict[Side, int]


def rigid_unknowns(form: Form, dynamics: SymbolicDynamics, feet: Frames) -> Unknowns:
    """Return s̈, both wrenches, τ in the full form, and the acceleration of the base, in this order."""
    n = dynamics.joints
    joints, base = cs.SX.sym("joint_accelerations", n), cs.SX.sym("base_acceleration", 6)
    scaled = cs.SX.sym("wrenches", 12)
    wrenches = {Side.LEFT: _FORCE_UNIT * scaled[:6], Side.RIGHT: _FORCE_UNIT * scaled[6:]}
    acceleration = cs.vertcat(base, joints)
    missing = _missing_forces(dynamics, feet, acceleration, wrenches)
    free, laws, torques = [joints, scaled], {"base dynamics": missing[:6]}, missing[6:]
    if form is Form.FULL:
        scaled_torques = cs.SX.sym("torques", n)
        free.append(scaled_torques)
        torques = _FORCE_UNIT * scaled_torques
        laws["joint dynamics"] = missing[6:] - torques
    first = {Side.LEFT: n, Side.RIGHT: n + 6}
    return Unknowns(cs.vertcat(*free, base), n + 12, acceleration, wrenches, torques, laws, first)


def compliant_unknowns(dynamics: SymbolicDynamics, feet: Frames, wrenches: Wrenches) -> Unknowns:
    """Return s̈ and the acceleration of the base, in this order; the wrenches are measured."""
    joints, base = cs.SX.sym("joint_accelerations", dynamics.joints), cs.SX.sym("base_acceleration", 6)
    acceleration = cs.vertcat(base, joints)
    missing = _missing_forces(dynamics, feet, acceleration, wrenches)
    laws = {"base dynamics": missing[:6]}
    return Unknowns(cs.vertcat(joints, base), dynamics.joints, acceleration, wrenches, missing[6:], laws, {})


def _missing_forces(dynamics: SymbolicDynamics, feet: Frames, acceleration: cs.SX, wrenches: Wrenches) -> cs.SX:
    r"""Return :math:`M \dot\nu + h - \sum_k J_k^\top f_k`: should be six zeros, then the joint torques, (6 + n, 1)."""
    forces = dynamics.mass_matrix @ acceleration + dynamics.bias_forces
    for side in Side:
        forces -= feet[side].jacobian.T @ wrenches[side]
    return forces
