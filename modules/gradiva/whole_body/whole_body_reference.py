"""Declare what the body should do in one tick: each quantity once, with its shape, unit and meaning.

A quantity is one field of `WholeBodyReference`, or a `Quantity` of a task from outside of the package.
"""

# ruff: noqa: RUF009, `_quantity` declares a field as `dataclasses.field` does
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from gradiva.common import (
    FootReference,
    NDArray,
    freeze_arrays,
    readonly,
    sealed,
    unchecked,
)

Shape = tuple[int | None, ...]
JOINTS = None
"""In a shape: the number of joints."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """Declare one quantity of a reference.

    Attributes:
        name: Of its field, its symbol and its value.
        shape: (m,) or (m, k); ``JOINTS`` stands for the number of joints.
        unit: In SI.
        meaning: In words, with the frame where it is not the world's.
        default: Value of each entry where none is set; None: a task that uses it needs a value.
    """

    name: str
    shape: Shape
    unit: str
    meaning: str
    default: float | None = None

    def default_value(self, joints: int) -> NDArray | None:
        """Return the default as an array, or None where there is none."""
        return None if self.default is None else sealed(np.full(self.sizes(joints), self.default))

    def sizes(self, joints: int) -> tuple[int, ...]:
        """Return the shape for a robot of ``joints``."""
        return tuple(joints if size is None else size for size in self.shape)


def _quantity(shape: Shape, unit: str, meaning: str) -> Any:
    """Declare a field of `WholeBodyReference` in one line; see `Quantity`."""
    return field(default=None, metadata={"quantity": (shape, unit, meaning)})


@dataclass(frozen=True, slots=True, eq=False)
class WholeBodyReference:
    """References of the whole-body layer (world, mixed representation); each field says its shape, unit and meaning.

    Kinematics use positions and velocities, torque control also accelerations, and on soft ground the jerk. A field
    that is None has no value, which is an error where a task uses it.

    Attributes:
        time: Of the plan, [s].
        left_foot: Left sole.
        right_foot: Right sole.
        own: Values of quantities that tasks from outside of the package declare, by name.
        height_yields: Whether a push is caught, when legs are stretched, knees as fast as they can and ankles at their
            limits: the CoM's height and the tilt of a sole in the air are soft, the others of feet and CoM almost hard.
        step_catches: Whether a step catches a push: torque control leaves the trunk upright for it.
    """

    time: float
    left_foot: FootReference
    right_foot: FootReference
    com_position: NDArray = _quantity((3,), "m", "position of the centre of mass")
    com_velocity: NDArray = _quantity((3,), "m/s", "its velocity")
    com_acceleration: NDArray = _quantity((3,), "m/s²", "its acceleration")
    com_jerk: NDArray = _quantity((3,), "m/s³", "its jerk")
    angular_momentum: NDArray = _quantity((3,), "N·m·s", "of the legs as planned, about the centre of mass")
    angular_momentum_rate: NDArray = _quantity((3,), "N·m", "its derivative")
    zmp: NDArray = _quantity((2,), "m", "desired zero moment point, on the plane of the soles")
    torso_rotation: NDArray = _quantity((3, 3), "-", "rotation of the torso frame")
    pelvis_rotation: NDArray = _quantity((3, 3), "-", "rotation of the base link")
    trunk_angular_velocity: NDArray = _quantity((3,), "rad/s", "of torso and pelvis")
    trunk_angular_acceleration: NDArray = _quantity((3,), "rad/s²", "of torso and pelvis")
    posture: NDArray = _quantity((JOINTS,), "rad", "joint positions")
    left_foot_wrench: NDArray = _quantity((6,), "N, N·m", "expected, ground on foot, about the planned sole origin")
    right_foot_wrench: NDArray = _quantity((6,), "N, N·m", "expected, ground on foot, about the planned sole origin")
    own: Mapping[str, NDArray] = field(default_factory=dict)
    height_yields: bool = False
    step_catches: bool = False

    def __post_init__(self) -> None:
        shapes = {name: quantity.shape for name, quantity in QUANTITIES.items() if getattr(self, name) is not None}
        freeze_arrays(self, **shapes)
        object.__setattr__(self, "own", {name: readonly(value) for name, value in self.own.items()})


QUANTITIES = {
    entry.name: Quantity(entry.name, *entry.metadata["quantity"])
    for entry in fields(WholeBodyReference)
    if "quantity" in entry.metadata
}
"""Name to quantity of `WholeBodyReference`."""

NO_WALK = unchecked(WholeBodyReference, time=0.0, left_foot=None, right_foot=None)
"""Reference of problems whose tasks have targets of their own: no quantity of a walk has a value."""
