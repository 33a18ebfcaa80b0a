"""Points of bodies that a penalty contact keeps out of the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from gradiva.common import NDArray, so3
from gradiva.contacts import PenaltyConfig, penalty_accelerations, penalty_forces


@dataclass(frozen=True, slots=True, eq=False)
class BodyPoints:
    """Points fixed on one body.

    Attributes:
        body: Number of the body.
        points: In the frame of the body, [m], shape (n, 3).
    """

    body: int
    points: NDArray


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


def _world_points(data: mujoco.MjData, part: BodyPoints) -> NDArray:
    return data.xpos[part.body] + part.points @ data.xmat[part.body].reshape(3, 3).T
