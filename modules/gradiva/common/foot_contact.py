"""How a sole meets soft ground, as estimated."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common.arrays import NDArray, altered, freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class FootContact:
    """One sole and the ground below it; world.

    The ground is a continuum of springs and dampers: each point of the sole feels k times its distance from where it
    is at rest, less b times its velocity, per square metre.

    Attributes:
        is_active: The foot carries load: the plan lets it, and the measured force says so.
        rest_position: Origin of the sole frame in the pose in which the ground exerts no force, [m], shape (3,).
        rest_rotation: Of the sole frame in that pose, x forward and z up, shape (3, 3).
        stiffness: k of the ground per area of the sole, [N/m³].
        damping: b of the ground per area of the sole, [N·s/m³].
    """

    is_active: bool
    rest_position: NDArray
    rest_rotation: NDArray
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        freeze_arrays(self, rest_position=(3,), rest_rotation=(3, 3))

    def with_ground(self, stiffness: float, damping: float) -> FootContact:
        """Return the same contact on other ground; its arrays are read-only and therefore shared."""
        return altered(self, stiffness=stiffness, damping=damping)
