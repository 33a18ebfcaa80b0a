"""The last command, and where the joints freeze."""

from __future__ import annotations

import numpy as np

from gradiva.common import ControlMode, JointCommand, Measurement, NDArray

_FARTHEST = 0.15  # [rad] from its set-point that a joint is still held by it; standing robots yield by 0.03


class HeldCommand:
    """Remembers what was last sent.

    Attributes:
        last: None before the first command.
    """

    def __init__(self, stiffness: NDArray) -> None:
        """Take the stiffness of the position servos, [N·m/rad], shape (n,)."""
        self._stiffness = stiffness
        self.last: JointCommand | None = None

    def start_of_move(self, measurement: Measurement) -> NDArray:
        """Return the positions with which a move of position servos begins without a jump, [rad], shape (n,).

        Where the joints were last told to be, as servos that bear weight have yielded; a joint that is farther away
        has been moved by somebody else meanwhile, and begins where it is.
        """
        if self.last is None or self.last.mode is not ControlMode.POSITION:
            return self.taken_over(measurement)
        is_held = np.abs(self.last.values - measurement.joint_positions) < _FARTHEST
        return np.where(is_held, self.last.values, measurement.joint_positions)

    def taken_over(self, measurement: Measurement) -> NDArray:
        """Return the positions with which position servos take the joints over, [rad], shape (n,).

        After torques, those in which the servos bear what the joints bear; else where the joints are.
        """
        positions, torques = measurement.joint_positions, measurement.joint_torques
        if self.last is None or self.last.mode is not ControlMode.TORQUE or torques.shape != positions.shape:
            return positions
        return positions + np.nan_to_num(torques) / self._stiffness

    def frozen(self, *known_positions: NDArray | None) -> JointCommand:
        """Return the command that stops the joints.

        They stay where they were last told to be; in velocity and torque control at the first of the positions that
        are known; where none is, at rest.

        Args:
            known_positions: The best first, [rad], shape (n,).
        """
        if self.last is not None and self.last.mode is ControlMode.POSITION:
            return self.last
        for positions in known_positions:
            if positions is not None and positions.shape == self._stiffness.shape and np.isfinite(positions).all():
                return JointCommand(ControlMode.POSITION, positions)
        return JointCommand(ControlMode.VELOCITY, np.zeros(len(self._stiffness)))
