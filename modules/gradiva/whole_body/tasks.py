r"""The tasks of the kinematics-based controller: rows :math:`J`, and the velocity :math:`v^*` that they ask for.

Each task is stated once, in symbols: as the constraint :math:`J \nu = v^*` when hard, as the cost
:math:`\| J \nu - v^* \|^2_\Lambda` when soft (thesis section 7.1.1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as cs

from gradiva.robot_model.symbolic_dynamics import SymbolicDynamics, SymbolicFrame
from gradiva.robot_model.symbolic_so3 import symbolic_log


@dataclass
class Task:
    """Rows, what they ask for, and the symbols that are set from outside.

    Attributes:
        jacobian: J, (m, 6 + n).
        target: v*, (m, 1).
        parameters: Name to symbol: references and gains.
    """

    jacobian: cs.SX
    target: cs.SX
    parameters: dict[str, cs.SX] = field(default_factory=dict)


def rotation_error(body: SymbolicFrame, rotation: cs.SX) -> cs.SX:
    r"""Return the rotation that is missing to ``rotation``: :math:`Log(R_r R^T)`, world, [rad], (3, 1)."""
    return symbolic_log(rotation @ body.rotation.T)


def se3_task(dynamics: SymbolicDynamics, frame: str, name: str, linear_gain: cs.SX, angular_gain: cs.SX) -> Task:
    r"""Pose of a frame: :math:`\dot p^* = \dot p_r + k (p_r - p)`, :math:`\omega^* = \omega_r + k Log(R_r R^T)`.

    Thesis equations (7.1.7) and (7.1.8).
    """
    body = dynamics.frame(frame)
    position = cs.SX.sym(f"{name}_position", 3)
    rotation = cs.SX.sym(f"{name}_rotation", 3, 3)
    twist = cs.SX.sym(f"{name}_twist", 6)
    linear = twist[:3] + linear_gain * (position - body.position)
    angular = twist[3:] + angular_gain * rotation_error(body, rotation)
    parameters = {f"{name}_position": position, f"{name}_rotation": rotation, f"{name}_twist": twist}
    return Task(body.jacobian, cs.vertcat(linear, angular), parameters)


def so3_task(dynamics: SymbolicDynamics, frame: str, name: str, angular_velocity: cs.SX, gain: cs.SX) -> Task:
    r"""Orientation of a frame: :math:`\omega^* = \omega_r + k Log(R_r R^T)`, thesis equation (7.1.10)."""
    body = dynamics.frame(frame)
    rotation = cs.SX.sym(f"{name}_rotation", 3, 3)
    target = angular_velocity + gain * rotation_error(body, rotation)
    return Task(body.jacobian[3:, :], target, {f"{name}_rotation": rotation})


def com_task(dynamics: SymbolicDynamics, gain: cs.SX) -> Task:
    r"""Centre of mass: :math:`\dot x^* = \dot x_r + k (x_r - x)`; the linear part of thesis equation (7.1.4)."""
    position = cs.SX.sym("com_position", 3)
    velocity = cs.SX.sym("com_velocity", 3)
    target = velocity + gain * (position - dynamics.com_position)
    return Task(dynamics.com_jacobian, target, {"com_position": position, "com_velocity": velocity})


def angular_momentum_task(dynamics: SymbolicDynamics) -> Task:
    """Centroidal angular momentum, asked to be zero: what the legs swing, the arms swing back."""
    return Task(dynamics.centroidal_momentum_matrix[3:, :], cs.SX(3, 1))


def posture_task(dynamics: SymbolicDynamics, gain: cs.SX) -> Task:
    r"""Joints: :math:`\dot s^* = k (s_r - s)`, thesis equations (7.1.11) and (7.1.12)."""
    posture = cs.SX.sym("posture", dynamics.joints)
    jacobian = cs.horzcat(cs.SX(dynamics.joints, 6), cs.SX.eye(dynamics.joints))
    return Task(jacobian, gain * (posture - dynamics.joint_positions), {"posture": posture})
