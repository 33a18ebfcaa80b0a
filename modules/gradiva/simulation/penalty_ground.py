"""Penalty ground: touching corners of soles and of loose bodies are stopped by feedback linearisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, so3
from gradiva.contacts import PenaltyConfig, penalty_accelerations, penalty_forces
from gradiva.simulation.engine import mujoco
from gradiva.simulation.ground import GroundSite
from gradiva.simulation.soles import SoleBodies, SoleBox, add_sole_body

_CORNERS = 4  # of a sole
_RESERVE = 0.001  # [m] beyond the rest penetration
_LARGEST_STEP = 1e-3  # [s] overwritten by every advance


class PenaltyGround:
    """Feedback-linearising penalty contact at the corners of each sole (Rengifo et al., 2009)."""

    Config = PenaltyConfig

    def __init__(self, config: PenaltyConfig, site: GroundSite) -> None:
        """Take the gains, the friction of the floor and the height of its surface."""
        self._config = config
        self._friction = site.floor.friction
        self._height = site.height

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
        self._measured = np.zeros((len(self._boxes), 6))

    @property
    def corners(self) -> NDArray:
        """Positions of the corners of each sole at the beginning of the last step, world, [m], shape (soles, 4, 3)."""
        return self._vertices.positions.reshape(-1, _CORNERS, 3)

    @property
    def corner_heights(self) -> NDArray:
        """Heights of the corners above the surface, at the beginning of the last step, [m], shape (soles, 4)."""
        return self.corners[:, :, 2] - self._height

    @property
    def corner_forces(self) -> NDArray:
        """Forces of the ground on each corner during the last step, world, [N], shape (soles, 4, 3)."""
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
        return self._measured

    def _exert(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._vertices.apply(model, data)
        forces = self.corner_forces
        arms = self.corners - self.corners.mean(axis=1, keepdims=True)  # from the middles of the faces
        moments = so3.cross(np.moveaxis(arms, 2, 0), np.moveaxis(forces, 2, 0)).sum(axis=2).T
        wrenches = np.hstack([forces.sum(axis=1), moments])
        self._measured = self._bodies.in_sensor_axes(data, self._bodies.at_sensors(data, wrenches))


class PenaltyVertices:
    r"""Linearises the motion of the points below the surface by feedback (Rengifo et al., 2009, 16-20).

    With the engine's mass matrix A, to which its integrator adds the damping of joints and servos times the step, the
    points accelerate as

    .. math:: \ddot p = D^T A^{-1} D f + D^T A^{-1} \Gamma_0 + \dot D^T \dot q

    so that, where friction and the sign of the normal forces allow it, they do in the next step what
    ``penalty_accelerations`` wants.

    Attributes:
        positions: Of all points at the beginning of the last step, world, [m], shape (n, 3).
        forces: On them during the last step, world, [N], shape (n, 3).
    """

    def __init__(
        self, model: mujoco.MjModel, parts: Sequence[BodyPoints], config: PenaltyConfig, friction: float, height: float
    ) -> None:
        """Take points, gains, Coulomb's coefficient [-] and the height of the surface [m]."""
        self._parts = tuple(parts)
        self._bodies = np.concatenate([np.full(len(part.points), part.body) for part in parts])
        self._config = config
        self._friction = friction
        self._height = height
        self._mass_matrix = np.zeros((model.nv, model.nv))
        self.positions = np.zeros((len(self._bodies), 3))
        self.forces = np.zeros((len(self._bodies), 3))

    def apply(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Add this step's forces to ``data.xfrc_applied``, after ``mj_step1``."""
        self.positions = np.vstack([_world_points(data, part) for part in self._parts])
        self.forces = np.zeros_like(self.positions)
        touching = np.flatnonzero(self.positions[:, 2] <= self._height).tolist()
        if not touching:
            return
        self.forces[touching] = self._forces(model, data, touching)
        moments = so3.cross((self.positions - data.xipos[self._bodies]).T, self.forces.T).T
        np.add.at(data.xfrc_applied, self._bodies, np.hstack([self.forces, moments]))

    def _forces(self, model: mujoco.MjModel, data: mujoco.MjData, touching: list[int]) -> NDArray:
        jacobian, drift = self._kinematics(model, data, touching)
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        solved = np.linalg.solve(self._effective_mass(model, data), np.column_stack([jacobian.T, data.qfrc_smooth]))
        free = (jacobian @ solved[:, -1] + drift).reshape(-1, 3)
        velocities = (jacobian @ data.qvel).reshape(-1, 3)
        above_ground = self.positions[touching] - [0.0, 0.0, self._height]
        desired = penalty_accelerations(above_ground, velocities, self._config)
        return penalty_forces(jacobian @ solved[:, :-1], free, desired, self._friction)

    def _kinematics(self, model: mujoco.MjModel, data: mujoco.MjData, touching: list[int]) -> tuple[NDArray, NDArray]:
        """Return the Jacobian of the touching points, shape (3n, nv), and its rate times the velocity, shape (3n,)."""
        jacobian, rate = np.empty((3 * len(touching), model.nv)), np.empty((3 * len(touching), model.nv))
        for row, vertex in enumerate(touching):
            rows, point, body = slice(3 * row, 3 * row + 3), self.positions[vertex], int(self._bodies[vertex])
            mujoco.mj_jac(model, data, jacobian[rows], None, point, body)
            mujoco.mj_jacDot(model, data, rate[rows], None, point, body)
        return jacobian, rate @ data.qvel

    def _effective_mass(self, model: mujoco.MjModel, data: mujoco.MjData) -> NDArray:
        """Return the mass matrix of a step of the engine, whose integrator takes damping at the end of the step."""
        mujoco.mj_fullM(model, data, self._mass_matrix)
        damping = model.dof_damping.copy()
        free = (model.actuator_forcerange[:, 0] < data.actuator_force) & (
            data.actuator_force < model.actuator_forcerange[:, 1]
        )
        degrees = model.jnt_dofadr[model.actuator_trnid[:, 0]]
        np.subtract.at(damping, degrees[free], model.actuator_biasprm[free, 2])
        self._mass_matrix[np.diag_indices_from(self._mass_matrix)] += model.opt.timestep * damping
        return self._mass_matrix


@dataclass(frozen=True, slots=True, eq=False)
class BodyPoints:
    """Points fixed on one body.

    Attributes:
        body: Number of the body.
        points: In the frame of the body, [m], shape (n, 3).
    """

    body: int
    points: NDArray


def _world_points(data: mujoco.MjData, part: BodyPoints) -> NDArray:
    return data.xpos[part.body] + part.points @ data.xmat[part.body].reshape(3, 3).T


@dataclass(frozen=True, slots=True, eq=False)
class LooseBody:
    """A body that falls, bounces and slides.

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
        """Position of the centre of mass, [m], shape (3,)."""
        return self._data.qpos[:3].copy()

    @property
    def velocity(self) -> NDArray:
        """Velocity of the centre of mass, [m/s], shape (3,)."""
        return self._data.qvel[:3].copy()

    @property
    def force(self) -> NDArray:
        """Force of the ground during the last step, [N], shape (3,)."""
        return self._vertices.forces.sum(axis=0)
