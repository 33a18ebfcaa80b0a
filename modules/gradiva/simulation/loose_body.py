"""A rigid body that belongs to no robot, on penalty contacts."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from gradiva.common import NDArray
from gradiva.contacts import PenaltyConfig
from gradiva.simulation.penalty_vertices import BodyPoints, PenaltyVertices

_LARGEST_STEP = 1e-3  # [s] overwritten by every advance


@dataclass(frozen=True, slots=True, eq=False)
class LooseBody:
    """What falls, bounces and slides.

    Attributes:
        mass: [kg].
        inertia: Principal moments about the centre of mass, [kg·m²], shape (3,).
        vertices: Points that touch, from the centre of mass, [m], shape (n, 3).
    """

    mass: float
    inertia: NDArray
    vertices: NDArray

    @staticmethod
    def ball(mass: float) -> LooseBody:
        """Return a ball of which nothing but its lowest point and its mass counts."""
        return LooseBody(mass, np.full(3, mass), np.zeros((1, 3)))

    @staticmethod
    def brick(mass: float, size: tuple[float, float, float]) -> LooseBody:
        """Return a homogeneous brick that touches with the four corners of its lower face; ``size`` in [m]."""
        half = 0.5 * np.array(size)
        signs = np.array([[1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, -1.0]])
        return LooseBody(mass, mass / 3.0 * (np.sum(half**2) - half**2), signs * half)


class PenaltyWorld:
    """One loose body above the plane z = 0, whose every vertex a penalty contact stops."""

    def __init__(self, body: LooseBody, config: PenaltyConfig, friction: float, gravity: NDArray) -> None:
        """Put the centre of mass at the origin, at rest.

        Args:
            body: What falls.
            config: Of the contact.
            friction: Coulomb's coefficient, [-].
            gravity: World, [m/s²], shape (3,); a slope is a gravity that leans.
        """
        spec = mujoco.MjSpec()
        spec.option.gravity = gravity
        spec.option.timestep = _LARGEST_STEP
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        added = spec.worldbody.add_body(name="body")
        added.add_freejoint()
        added.mass, added.inertia, added.explicitinertial = body.mass, body.inertia, True
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        points = BodyPoints(int(self._model.body("body").id), body.vertices)
        self._vertices = PenaltyVertices(self._model, [points], config, friction, height=0.0)

    def place(self, position: NDArray, velocity: NDArray) -> None:
        """Put the centre of mass at a position [m] with a velocity [m/s], upright and without spin; shapes (3,)."""
        self._data.qpos[:] = (*position, 1.0, 0.0, 0.0, 0.0)
        self._data.qvel[:] = (*velocity, 0.0, 0.0, 0.0)

    def advance(self, timestep: float) -> None:
        """Let one step of this length [s] pass."""
        self._model.opt.timestep = timestep
        self._data.xfrc_applied[:] = 0.0
        mujoco.mj_step1(self._model, self._data)
        self._vertices.apply(self._model, self._data)
        mujoco.mj_step2(self._model, self._data)

    @property
    def time(self) -> float:
        """Since the start, [s]."""
        return float(self._data.time)

    @property
    def position(self) -> NDArray:
        """Of the centre of mass, [m], shape (3,)."""
        return self._data.qpos[:3].copy()

    @property
    def velocity(self) -> NDArray:
        """Of the centre of mass, [m/s], shape (3,)."""
        return self._data.qvel[:3].copy()

    @property
    def force(self) -> NDArray:
        """Of the ground during the last step, [N], shape (3,)."""
        return self._vertices.forces.sum(axis=0)
