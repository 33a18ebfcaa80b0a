"""The last command, and where the joints freeze."""

from __future__ import annotations

import numpy as np

from gradiva.common import ControlMode, JointCommand, NDArray


class HeldCommand:
    """Remembers what was last sent.

    Attributes:
        last: None before the first command.
    """

    def __init__(self, joints: int) -> None:
        self._joints = joints
        self.last: JointCommand | None = None

    @property
    def positions(self) -> NDArray | None:
        """Of the last command where it was one of positions, [rad], shape (n,)."""
        return self.last.values if self.last is not None and self.last.mode is ControlMode.POSITION else None

    def frozen(self, *known_positions: NDArray | None) -> JointCommand:
        """Return the command that stops the joints.

        They stay where they were last told to be; in velocity control at the first of the positions that are known;
        where none is, at rest.

        Args:
            known_positions: The best first, [rad], shape (n,).
        """
        if self.last is not None and self.last.mode is ControlMode.POSITION:
            return self.last
        for positions in known_positions:
            if positions is not None and positions.shape == (self._joints,) and np.isfinite(positions).all():
                return JointCommand(ControlMode.POSITION, positions)
        return JointCommand(ControlMode.VELOCITY, np.zeros(self._joints))
