"""Where a foot should be."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common.arrays import NDArray, freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class FootReference:
    """Pose, twist and acceleration of a sole frame (mixed representation, world).

    Attributes:
        position: Origin of the sole frame, [m], shape (3,).
        rotation: Of the sole frame, x forward and z up whatever the robot's own convention, shape (3, 3).
        twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
        acceleration: Linear then angular acceleration, [m/s², rad/s²], shape (6,).
        in_contact: Whether the foot is meant to carry load.
    """

    position: NDArray
    rotation: NDArray
    twist: NDArray
    acceleration: NDArray
    in_contact: bool

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(3,), rotation=(3, 3), twist=(6,), acceleration=(6,))
