"""Commanded torques that never jump: where torque control takes over, and where contacts change."""

from __future__ import annotations

import numpy as np

from gradiva.common import ControlMode, JointCommand, NDArray


class TorqueRamp:
    r"""Limits the rate of the commanded torques.

    .. math:: \tau_k = \tau_{k-1} + \mathrm{clip}(\tau_k^* - \tau_{k-1}, \pm \dot\tau_{max} \Delta t)

    The first command starts from what the joints bear already, within their limits: the torques of the servos that it
    takes over from.
    """

    def __init__(self, rate: float, limits: NDArray) -> None:
        """Take the highest rate, [N·m/s], and the torque limits of the joints, [N·m], shape (n,)."""
        self._rate = rate
        self._limits = limits
        self._torques: NDArray | None = None

    def reset(self) -> None:
        """Begin again: the next command starts from the measured torques."""
        self._torques = None

    def limited(self, command: JointCommand, measured_torques: NDArray, period: float) -> JointCommand:
        """Return what may be sent of a command for the coming ``period`` [s]; other than torques pass as they are.

        Args:
            command: Of layer 3.
            measured_torques: [N·m], shape (n,); not finite where nothing measures them, and such a joint may jump once.
            period: [s].
        """
        if command.mode is not ControlMode.TORQUE:
            self._torques = None
            return command
        if self._torques is None:
            borne = np.where(np.isfinite(measured_torques), measured_torques, command.values)
            self._torques = borne.clip(-self._limits, self._limits)
        most = self._rate * period
        change = command.values - self._torques
        if np.count_nonzero(np.abs(change) <= most) == len(change):
            self._torques = command.values
            return command
        self._torques = self._torques + change.clip(-most, most)
        return JointCommand(ControlMode.TORQUE, self._torques)
