r"""The unknowns of whole-body control by torque, in the order of the solver.

The equations of motion, :math:`M \dot\nu + h = [0; \tau] + \sum_k J_k^\top f_k`, leave a choice of what a problem is
solved for. Joints come first, for they have bounds; wrenches and torques are counted in larger units, which keeps the
problem well conditioned.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import casadi as cs

from gradiva.common import Side
from gradiva.robot_model import SymbolicDynamics, SymbolicFrame

_FORCE_UNIT = 30.0  # [N, N·m] so that wrenches count as much as accelerations


class Form(StrEnum):
    """What the problem of the rigid controller is solved for."""

    REDUCED = "reduced"
    """Accelerations and wrenches; torques follow from the joints' rows of the dynamics."""
    FULL = "full"
    """Accelerations, wrenches and torques."""


@dataclass
class Unknowns:
    """The variables, and the physical quantities as expressions in them.

    Attributes:
        variables: x, in the solver's order.
        bounded: How many of the first may have bounds.
        acceleration: ν̇, (6 + n, 1).
        wrenches: Ground on foot, about the sole origin, world axes, by side, (6, 1) each.
        torques: [N·m], (n, 1).
        first_wrench: Where in the variables the wrench of each foot begins, when it is unknown.
        wrench_unit: Of those variables, [N, N·m].
    """

    variables: cs.SX
    bounded: int
    acceleration: cs.SX
    wrenches: dict[Side, cs.SX]
    torques: cs.SX
    first_wrench: dict[Side, int]
    wrench_unit: float = _FORCE_UNIT


def rigid_unknowns(form: Form, dynamics: SymbolicDynamics, feet: dict[Side, SymbolicFrame]) -> Unknowns:
    """Return s̈, both wrenches, τ in the full form, and the acceleration of the base, in this order."""
    n = dynamics.joints
    joints, base = cs.SX.sym("joint_accelerations", n), cs.SX.sym("base_acceleration", 6)
    scaled = {side: cs.SX.sym(f"{side}_wrench", 6) for side in Side}
    acceleration = cs.vertcat(base, joints)
    wrenches = {side: _FORCE_UNIT * symbol for side, symbol in scaled.items()}
    free = [joints, *scaled.values()]
    if form is Form.FULL:
        scaled_torques = cs.SX.sym("torques", n)
        free.append(scaled_torques)
        torques = _FORCE_UNIT * scaled_torques
    else:
        torques = missing_forces(dynamics, feet, acceleration, wrenches)[6:]
    return Unknowns(
        variables=cs.vertcat(*free, base),
        bounded=sum(part.numel() for part in free),
        acceleration=acceleration,
        wrenches=wrenches,
        torques=torques,
        first_wrench={side: n + 6 * index for index, side in enumerate(Side)},
    )


def compliant_unknowns(
    dynamics: SymbolicDynamics, feet: dict[Side, SymbolicFrame], wrenches: dict[Side, cs.SX]
) -> Unknowns:
    """Return s̈ and the acceleration of the base, in this order; the wrenches are measured."""
    joints, base = cs.SX.sym("joint_accelerations", dynamics.joints), cs.SX.sym("base_acceleration", 6)
    acceleration = cs.vertcat(base, joints)
    return Unknowns(
        variables=cs.vertcat(joints, base),
        bounded=dynamics.joints,
        acceleration=acceleration,
        wrenches=wrenches,
        torques=missing_forces(dynamics, feet, acceleration, wrenches)[6:],
        first_wrench={},
    )


def missing_forces(
    dynamics: SymbolicDynamics, feet: dict[Side, SymbolicFrame], acceleration: cs.SX, wrenches: dict[Side, cs.SX]
) -> cs.SX:
    r"""Return :math:`M \dot\nu + h - \sum_k J_k^\top f_k`: should be six zeros, then the joint torques, (6 + n, 1)."""
    forces = dynamics.mass_matrix @ acceleration + dynamics.bias_forces
    for side in Side:
        forces -= feet[side].jacobian.T @ wrenches[side]
    return forces
