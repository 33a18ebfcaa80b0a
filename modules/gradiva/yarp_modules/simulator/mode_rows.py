"""Which joints follow positions, which velocities, which torques."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray
from gradiva.middleware import ControlMode

AT_POSITION = frozenset({ControlMode.POSITION, ControlMode.POSITION_DIRECT, ControlMode.MIXED})
AT_VELOCITY = frozenset({ControlMode.VELOCITY, ControlMode.VELOCITY_DIRECT})
AT_TORQUE = frozenset({ControlMode.TORQUE})
Rows = npt.NDArray[np.int_]


@dataclass(frozen=True, slots=True, eq=False)
class ModeRows:
    """Some joints by what their modes follow; idle ones follow nothing.

    Attributes:
        position: Indices of those that follow positions.
        velocity: Of those that follow velocities.
        torque: Of those that follow torques.
        placed: Of those that follow positions or velocities.
    """

    position: Rows
    velocity: Rows
    torque: Rows
    placed: Rows

    @classmethod
    def of(cls, joints: Iterable[int], modes: Sequence[ControlMode]) -> ModeRows:
        """Sort ``joints``, indices into ``modes``."""
        some = [int(joint) for joint in joints]
        kinds = (AT_POSITION, AT_VELOCITY, AT_TORQUE, AT_POSITION | AT_VELOCITY)
        return cls(*(np.array([joint for joint in some if modes[joint] in kind], dtype=int) for kind in kinds))

    def chosen(self, position: NDArray, velocity: NDArray, torque: NDArray) -> NDArray:
        """Return what each joint follows, of all joints; 0 for those that are not among these or are idle."""
        values = np.zeros(len(position))
        for rows, targets in ((self.position, position), (self.velocity, velocity), (self.torque, torque)):
            values[rows] = targets[rows]
        return values
