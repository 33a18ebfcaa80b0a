"""Servos that take joint velocities."""

from __future__ import annotations

import numpy as np

from gradiva.common import NDArray
from gradiva.simulation.servo import ALL, Joints, ServoGains, spring


class VelocityServo:
    r"""Proportional-integral control of the velocity, its integral kept within the torque limits.

    .. math:: \tau = k_d (v^* - \dot s) + k_p \int (v^* - \dot s) dt = k_p (u - s) - k_d \dot s, \qquad
        u = \int v^* dt + \frac{k_d}{k_p} v^*

    so that the damping term can be integrated implicitly. The spring :math:`k_p (\int v^* dt - s)` never
    exceeds the torque limit: beyond it the integral follows the joint.

    ==============  ========================  ===========
    Symbol          Field                     Unit
    ==============  ========================  ===========
    :math:`v^*`     last command              rad/s
    :math:`k_p`     ``stiffness``             N·m/rad
    :math:`k_d`     ``damping``               N·m·s/rad
    ==============  ========================  ===========
    """

    def __init__(self, stiffness: NDArray, damping: NDArray, torque_limits: NDArray) -> None:
        self._stiffness = stiffness
        self._gains = spring(stiffness, damping)
        self._lead = damping / stiffness
        self._reach = torque_limits / stiffness
        self._integral = 0.0 * stiffness
        self._velocity = 0.0 * stiffness

    @property
    def gains(self) -> ServoGains:
        """A spring and a damper."""
        return self._gains

    def start(self, joint_positions: NDArray, joint_torques: NDArray, joints: Joints = ALL) -> None:
        """Hold the torques until the first command, at joints at rest."""
        self._integral[joints] = (joint_positions + joint_torques / self._stiffness)[joints]
        self._velocity[joints] = 0.0

    def command(self, values: NDArray, joints: Joints = ALL) -> None:
        """Take target velocities, [rad/s]."""
        self._velocity[joints] = values[joints]

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return u at the end of the step, [rad]."""
        moved = self._integral + duration * self._velocity
        low, high = joint_positions - self._reach, joint_positions + self._reach
        self._integral = np.minimum(np.maximum(moved, low), high)
        return self._integral + self._lead * self._velocity
