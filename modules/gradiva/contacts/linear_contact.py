"""Linear and rotational springs and dampers: what is usually put below a foot, valid for small angles."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import NDArray
from gradiva.contacts.viscoelastic_contact import ViscoElasticParameters

_GIMBAL_LOCK = 1e-9  # [-] cosine of the pitch below which roll and yaw are one


class LinearContact:
    r"""The first-order limit of the visco-elastic contact (thesis, corollary 1), for comparison.

    .. math::
        f = l w [k (\bar p - p) - b \dot p], \qquad
        \mu = -\tfrac{l w}{12} \mathrm{diag}(w^2, l^2, l^2 + w^2) (k \Theta + b \dot\Theta)

    with the length :math:`l` and the width :math:`w` of the sole, its centre :math:`p` and its roll, pitch and yaw
    :math:`\Theta`: :math:`R = R_z(\Theta_3) R_y(\Theta_2) R_x(\Theta_1)`. At rest the sole lies with the axes of world.
    """

    def __init__(self, length: float, width: float, parameters: ViscoElasticParameters) -> None:
        """Integrate.

        Args:
            length: l of the sole, along its x axis, [m].
            width: w of the sole, along its y axis, [m].
            parameters: k and b of the ground.
        """
        self._area = length * width
        self._spread = self._area / 12.0 * np.array([width**2, length**2, length**2 + width**2])
        self._parameters = parameters

    def wrench(self, displacement: NDArray, rotation: NDArray, twist: NDArray) -> NDArray:
        """Return the wrench of the ground about the centre of the sole, world axes, [N, N·m], shape (6,).

        Args:
            displacement: Of the centre from its rest position, [m], shape (3,).
            rotation: Of the sole, shape (3, 3).
            twist: Of the centre, linear then angular, [m/s, rad/s], shape (6,).

        Raises:
            ValueError: The sole points straight up or down: roll and yaw are not defined.
        """
        stiffness, damping = self._parameters
        angles = roll_pitch_yaw(rotation)
        force = -self._area * (stiffness * displacement + damping * twist[:3])
        moment = -self._spread * (stiffness * angles + damping * roll_pitch_yaw_rates(angles, twist[3:]))
        return np.concatenate((force, moment))


def roll_pitch_yaw(rotation: NDArray) -> NDArray:
    """Return the angles of a rotation, [rad], shape (3,).

    Raises:
        ValueError: The pitch is ±90°.
    """
    cosine = math.hypot(rotation[0, 0], rotation[1, 0])
    if cosine < _GIMBAL_LOCK:
        raise ValueError("at a pitch of ±90° roll and yaw are not defined")
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    return np.array([roll, math.atan2(-rotation[2, 0], cosine), math.atan2(rotation[1, 0], rotation[0, 0])])


def roll_pitch_yaw_rates(angles: NDArray, angular_velocity: NDArray) -> NDArray:
    """Return the rates of roll, pitch and yaw of an angular velocity in world axes, [rad/s], shape (3,)."""
    _, pitch, yaw = (float(angle) for angle in angles)
    x, y, z = (float(rate) for rate in angular_velocity)
    ahead, aside = math.cos(yaw) * x + math.sin(yaw) * y, math.cos(yaw) * y - math.sin(yaw) * x
    return np.array([ahead / math.cos(pitch), aside, z + math.tan(pitch) * ahead])
