"""Servos that take joint torques."""

from __future__ import annotations

from gradiva.common import NDArray
from gradiva.simulation.servo import ServoGains, no_spring


class TorqueServo:
    """The torque is the command, clamped at the torque limits; all joints' commands start as the torques held."""

    def __init__(self, joints: int) -> None:
        self._gains = no_spring(joints)
        self._torques = self._gains.damping

    @property
    def gains(self) -> ServoGains:
        """No spring, no damper."""
        return self._gains

    def start(self, joint_positions: NDArray, joint_torques: NDArray) -> None:
        """Hold the torques until the first command."""
        self._torques = joint_torques

    def command(self, values: NDArray) -> None:
        """Take torques, [N·m]."""
        self._torques = values

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the torques, [N·m]."""
        return self._torques
