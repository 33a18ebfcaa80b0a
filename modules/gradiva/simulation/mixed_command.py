"""A command in which every joint has its own mode."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import ControlMode, JointCommand, NDArray, RobotInterfaceError, freeze_arrays, unchecked


@dataclass(frozen=True, slots=True, eq=False)
class MixedCommand:
    """One command for all joints, in the order of the robot's description.

    Attributes:
        modes: What each of ``values`` is, shape (n,).
        values: Joint positions [rad], velocities [rad/s] or torques [N·m], shape (n,).
    """

    modes: tuple[ControlMode, ...]
    values: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, values=(None,))
        if len(self.modes) != len(self.values):
            raise RobotInterfaceError(f"{len(self.modes)} modes for {len(self.values)} values")

    @classmethod
    def of(cls, command: JointCommand) -> MixedCommand:
        """Return a command of all joints in one mode as such."""
        return unchecked(cls, modes=(command.mode,) * len(command.values), values=command.values)
