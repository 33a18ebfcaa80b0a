r"""The tasks of the controllers that command torques: what is missing to the accelerations and momenta asked for.

Each task is stated once, in symbols, as a residual that is affine in :math:`\dot\nu` or in the foot wrenches
:math:`f_k`. Poses follow :math:`\ddot e = -k_d \dot e - k_p e` (thesis sections 7.2.1 and 7.2.2).
"""

from __future__ import annotations

import casadi as cs

from gradiva.common import Side
from gradiva.robot_model import SymbolicDynamics, SymbolicFrame
from gradiva.whole_body.reference_symbols import FootSymbols
from gradiva.whole_body.tasks import rotation_error

Gains = tuple[cs.SX, cs.SX]
"""k_p [1/s²] and k_d [1/s]."""
Wrenches = dict[Side, cs.SX]
Frames = dict[Side, SymbolicFrame]


def frame_acceleration(frame: SymbolicFrame, acceleration: cs.SX) -> cs.SX:
    r"""Return :math:`J \dot\nu + \dot J \nu`, linear then angular, (6, 1)."""
    return frame.jacobian @ acceleration + frame.bias_acceleration


def pose_law(frame: SymbolicFrame, foot: FootSymbols, linear: Gains, angular: Gains) -> cs.SX:
    r"""Return the acceleration that brings a sole to its reference, (6, 1).

    .. math::
        \ddot p^* = \ddot p_r + k_d (\dot p_r - \dot p) + k_p (p_r - p), \quad
        \dot\omega^* = \dot\omega_r + k_d (\omega_r - \omega) + k_p Log(R_r R^T)

    Args:
        frame: The sole.
        foot: Its reference.
        linear: Of the position.
        angular: Of the orientation.
    """
    missing = foot.twist - frame.twist
    position = linear[0] * (foot.position - frame.position) + linear[1] * missing[:3]
    orientation = angular[0] * rotation_error(frame, foot.rotation) + angular[1] * missing[3:]
    return foot.acceleration + cs.vertcat(position, orientation)


def orientation_law(
    frame: SymbolicFrame,
    rotation: cs.SX,
    angular_velocity: cs.SX,
    angular_acceleration: cs.SX,
    gains: Gains,
) -> cs.SX:
    r"""Return the angular acceleration that turns a frame to its reference, (3, 1); the law of ``pose_law``."""
    damping = gains[1] * (angular_velocity - frame.twist[3:])
    return angular_acceleration + gains[0] * rotation_error(frame, rotation) + damping


def linear_momentum_rate(dynamics: SymbolicDynamics, wrenches: Wrenches) -> cs.SX:
    r"""Return :math:`\sum_k f_k + m g`, [N], (3, 1)."""
    return wrenches[Side.LEFT][:3] + wrenches[Side.RIGHT][:3] + dynamics.mass * dynamics.gravity


def angular_momentum_rate(dynamics: SymbolicDynamics, feet: Frames, wrenches: Wrenches) -> cs.SX:
    r"""Return :math:`\sum_k S(p_k - x) f_k + \mu_k`, about the CoM, [N·m], (3, 1)."""
    rate = cs.SX.zeros(3)
    for side in Side:
        lever = feet[side].position - dynamics.com_position
        rate += cs.cross(lever, wrenches[side][:3]) + wrenches[side][3:]
    return rate


def angular_momentum(dynamics: SymbolicDynamics) -> cs.SX:
    """Return the centroidal angular momentum, [N·m·s], (3, 1)."""
    momentum = dynamics.centroidal_momentum_matrix[3:, :]
    return momentum @ cs.vertcat(dynamics.base_twist, dynamics.joint_velocities)


def global_zmp_moment(feet: Frames, wrenches: Wrenches, zmp: cs.SX) -> cs.SX:
    r"""Return the horizontal moment of the wrenches about the desired ZMP, [N·m], (2, 1).

    With :math:`\Gamma_k = [[0, 0, p_x, 0, -1, 0], [0, 0, p_y, 1, 0, 0]]`, :math:`\sum_k \Gamma_k f_k - z_r f_z`: zero
    where the ZMP is as wanted (thesis section 7.2).
    """
    moment = cs.SX.zeros(2)
    for side in Side:
        moment += local_zmp_moment(wrenches[side], zmp - feet[side].position[:2])
    return moment


def local_zmp_moment(wrench: cs.SX, zmp: cs.SX) -> cs.SX:
    r"""Return :math:`[-\mu_y, \mu_x] - z f_z` of one foot, with z from the sole origin, world axes, [N·m], (2, 1)."""
    return cs.vertcat(-wrench[4], wrench[3]) - zmp * wrench[2]


def expected_wrench(frame: SymbolicFrame, foot: FootSymbols) -> cs.SX:
    """Return the expected wrench about the sole origin where the foot really is, [N, N·m], (6, 1)."""
    force = foot.wrench[:3]
    return cs.vertcat(force, foot.wrench[3:] + cs.cross(foot.position - frame.position, force))


def expected_zmp(frame: SymbolicFrame, foot: FootSymbols) -> cs.SX:
    """Return where the expected wrench has its centre of pressure, from the sole origin, world axes, [m], (2, 1)."""
    wrench = expected_wrench(frame, foot)
    force = cs.fmax(wrench[2], 1.0)  # [N] of an unloaded foot the point means nothing
    return cs.vertcat(-wrench[4], wrench[3]) / force
