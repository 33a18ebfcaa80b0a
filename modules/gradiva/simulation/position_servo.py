"""Servos that take joint positions."""

from __future__ import annotations

from gradiva.common import NDArray
from gradiva.simulation.servo import ALL, Joints, ServoGains, spring


class PositionServo:
    r"""Spring and damper: :math:`\tau = k_p (s^* - s) - k_d \dot s`, clamped at the torque limits.

    ==============  ========================  =======
    Symbol          Field                     Unit
    ==============  ========================  =======
    :math:`s^*`     last command              rad
    :math:`k_p`     ``stiffness``             N·m/rad
    :math:`k_d`     ``damping``               N·m·s/rad
    ==============  ========================  =======
    """

    def __init__(self, stiffness: NDArray, damping: NDArray) -> None:
        self._stiffness = stiffness
        self._gains = spring(stiffness, damping)
        self._target = 0.0 * stiffness

    @property
    def gains(self) -> ServoGains:
        """A spring and a damper."""
        return self._gains

    @property
    def target(self) -> NDArray:
        """Where the servos pull, [rad], shape (n,)."""
        return self._target.copy()

    def set_gains(self, stiffness: NDArray, damping: NDArray) -> None:
        """Take other gains, [N·m/rad] and [N·m·s/rad]; the target stays."""
        self._stiffness = stiffness
        self._gains = spring(stiffness, damping)

    def start(self, joint_positions: NDArray, joint_torques: NDArray, joints: Joints = ALL) -> None:
        """Hold the torques until the first command, at joints at rest."""
        self._target[joints] = (joint_positions + joint_torques / self._stiffness)[joints]

    def command(self, values: NDArray, joints: Joints = ALL) -> None:
        """Take target positions, [rad]."""
        self._target[joints] = values[joints]

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the target, [rad]."""
        return self._target
