"""What the robot stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import mujoco

from gradiva.common import NDArray
from gradiva.simulation.soles import SoleBox


class Ground(Protocol):
    """Builds its part of the engine's model, steps the physics with its forces, returns the contact wrenches.

    A ground that is no contact of the engine applies its forces in ``step``, between ``mj_step1`` and
    ``mj_step2``, through ``data.xfrc_applied``, to which it adds: pushes are in it already.
    """

    def add_to(self, spec: mujoco.MjSpec, soles: Sequence[SoleBox], timestep: float) -> None:
        """Add floor, soles and sensors to the robot's model; a step will take ``timestep`` [s]."""
        ...

    def bind(self, model: mujoco.MjModel) -> None:
        """Find the soles in the compiled model; once, before all that follows."""
        ...

    def deepest_rest(self, weight: float) -> float:
        """Return a depth [m] that soles which stand still surely do not reach under a weight [N]."""
        ...

    def forward(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Compute accelerations and contact wrenches of the present state, in which no time passes."""
        ...

    def step(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Advance the physics by one step."""
        ...

    def wrenches(self, data: mujoco.MjData) -> NDArray:
        """Return what the ground exerted on each sole during the last step.

        Returns:
            About the origin and in the axes of the sensors' frames, [N, N·m], shape (sensors, 6).
        """
        ...
