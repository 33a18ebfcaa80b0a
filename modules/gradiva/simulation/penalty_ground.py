"""A floor that stops the corners of the soles."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from gradiva.common import NDArray, so3
from gradiva.contacts import PenaltyConfig
from gradiva.simulation.ground_config import GroundConfig
from gradiva.simulation.penalty_vertices import BodyPoints, PenaltyVertices
from gradiva.simulation.sole_body import SoleBodies, add_sole_body
from gradiva.simulation.sole_box import SoleBox

_CORNERS = 4  # of a sole
_RESERVE = 0.001  # [m] beyond the rest penetration


class PenaltyGround:
    """Feedback-linearising penalty contact at the corners of each sole (Rengifo et al., 2009)."""

    def __init__(self, config: PenaltyConfig, floor: GroundConfig, height: float) -> None:
        """Take the gains, the friction of the floor and the height of the surface [m]."""
        self._config = config
        self._friction = floor.friction
        self._height = height

    def add_to(self, spec: mujoco.MjSpec, soles: Sequence[SoleBox], timestep: float) -> None:
        """Add the soles; the engine sees no floor."""
        self._boxes = tuple(soles)
        for sole in soles:
            add_sole_body(spec, sole)

    def bind(self, model: mujoco.MjModel) -> None:
        """Find the soles in the compiled model."""
        self._bodies = SoleBodies(model, self._boxes)
        self._numbers = [int(model.body(f"sole:{box.sensor}").id) for box in self._boxes]
        parts = [BodyPoints(body, box.face_corners) for body, box in zip(self._numbers, self._boxes, strict=True)]
        self._vertices = PenaltyVertices(model, parts, self._config, self._friction, self._height)
        self._told = np.zeros((len(self._boxes), 6))

    @property
    def corners(self) -> NDArray:
        """Of each sole at the beginning of the last step, world, [m], shape (soles, 4, 3)."""
        return self._vertices.positions.reshape(-1, _CORNERS, 3)

    @property
    def corner_heights(self) -> NDArray:
        """Of the corners of each sole above the surface, at the beginning of the last step, [m], shape (soles, 4)."""
        return self.corners[:, :, 2] - self._height

    @property
    def corner_forces(self) -> NDArray:
        """Of the ground on each corner during the last step, world, [N], shape (soles, 4, 3)."""
        return self._vertices.forces.reshape(-1, _CORNERS, 3)

    def deepest_rest(self, weight: float) -> float:
        """Return a depth [m] that soles which stand still surely do not reach, whatever the weight."""
        return self._config.rest_penetration + _RESERVE

    def forward(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Compute accelerations and contact wrenches of the present state."""
        data.xfrc_applied[:] = 0.0
        mujoco.mj_forward(model, data)
        self._exert(model, data)
        mujoco.mj_forward(model, data)

    def step(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Advance the physics by one step."""
        mujoco.mj_step1(model, data)
        self._exert(model, data)
        mujoco.mj_step2(model, data)

    def wrenches(self, data: mujoco.MjData) -> NDArray:
        """Return the wrenches of the last step, sensors' frames, [N, N·m], shape (sensors, 6)."""
        return self._told

    def _exert(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._vertices.apply(model, data)
        forces = self.corner_forces
        arms = self.corners - self.corners.mean(axis=1, keepdims=True)  # from the middles of the faces
        moments = so3.cross(np.moveaxis(arms, 2, 0), np.moveaxis(forces, 2, 0)).sum(axis=2).T
        wrenches = np.hstack([forces.sum(axis=1), moments])
        self._told = self._bodies.told(data, self._bodies.at_sensors(data, wrenches))
