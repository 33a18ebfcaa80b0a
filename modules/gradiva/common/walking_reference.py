"""All that the walking plan asks for at one instant."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common.arrays import NDArray, freeze_arrays
from gradiva.common.dcm_reference import DcmReference
from gradiva.common.foot_reference import FootReference
from gradiva.common.side import Side


@dataclass(frozen=True, slots=True, eq=False)
class WalkingReference:
    """One sample of a walking plan; everything in world.

    Attributes:
        time: Of the sample, on the plan's clock, [s].
        dcm: Divergent component of motion.
        com_position: Centre of mass, [m], shape (3,); its height is above the ground of the sole frames.
        com_velocity: [m/s], shape (3,).
        left_foot: Left sole.
        right_foot: Right sole.
        stance_foot: The foot that carries the base estimate: the one that stands longest.
        heading: Mean direction of the feet, the torso follows it, [rad].
        is_walking: False while the plan only stands (before the first weight shift and after the last).
    """

    time: float
    dcm: DcmReference
    com_position: NDArray
    com_velocity: NDArray
    left_foot: FootReference
    right_foot: FootReference
    stance_foot: Side
    heading: float
    is_walking: bool

    def __post_init__(self) -> None:
        freeze_arrays(self, com_position=(3,), com_velocity=(3,))

    def foot(self, side: Side) -> FootReference:
        """The reference of one foot."""
        return self.left_foot if side is Side.LEFT else self.right_foot

    @property
    def is_double_support(self) -> bool:
        """Whether both feet carry load."""
        return self.left_foot.in_contact and self.right_foot.in_contact
