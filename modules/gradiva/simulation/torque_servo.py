"""Servos that take joint torques."""

from __future__ import annotations

from gradiva.common import NDArray
from gradiva.simulation.servo import ALL, Joints, ServoGains, no_spring


class TorqueServo:
    """The torque is the command, clamped at the torque limits; all joints' commands start as the torques held."""

    def __init__(self, joints: int) -> None:
        self._gains = no_spring(joints)
        self._torques = self._gains.damping.copy()

    @property
    def gains(self) -> ServoGains:
        """No spring, no damper."""
        return self._gains

    def start(self, joint_positions: NDArray, joint_torques: NDArray, joints: Joints = ALL) -> None:
        """Hold the torques until the first command."""
        self._torques[joints] = joint_torques[joints]

    def command(self, values: NDArray, joints: Joints = ALL) -> None:
        """Take torques, [N·m]."""
        self._torques[joints] = values[joints]

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the torques, [N·m]."""
        return self._torques
