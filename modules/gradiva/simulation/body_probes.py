"""Sensors that walking does not use: inertial units on any link, and wrenches between a link and its child."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from gradiva.common import ModelError, NDArray, nearest_name, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation.rigid_tree import RigidBody, RigidTree
from gradiva.simulation.simulation_config import SimulationConfig
from gradiva.simulation.urdf import Urdf, read_urdf


@dataclass(frozen=True, slots=True, eq=False)
class InertialReading:
    """What an inertial unit feels, without noise.

    Attributes:
        rotation: Of the unit, against gravity, shape (3, 3).
        angular_velocity: In the unit's axes, [rad/s], shape (3,).
        acceleration: Proper, at rest upward by 9.81, in the unit's axes, [m/s²], shape (3,).
    """

    rotation: NDArray
    angular_velocity: NDArray
    acceleration: NDArray


@dataclass(frozen=True, slots=True, eq=False)
class _Cut:
    """What hangs below a fixed joint: links of the same rigid body, and bodies behind further joints.

    Attributes:
        body: Number of the rigid body.
        position: Of the frame of the reading, in the frame of the body, [m], shape (3,).
        rotation: Of the frame of the reading, in the frame of the body, shape (3, 3).
        below: Numbers of the bodies behind.
        mass: Of the links, [kg].
        arm: From the frame of the reading to their centre of mass, in the frame of the body, [m], shape (3,).
        centre: Of mass, in the frame of the body, [m], shape (3,).
        inertia: About the centre of mass, axes of the body, [kg·m²], shape (3, 3).
    """

    body: int
    position: NDArray
    rotation: NDArray
    below: tuple[int, ...]
    mass: float
    arm: NDArray
    centre: NDArray
    inertia: NDArray


class BodyProbes:
    r"""Measures accelerations and inner wrenches of a simulated robot.

    What the parent exerts on the child at a cut carries the child's links and all bodies behind them,

    .. math:: f = \sum_l m_l (a_l - g) + \sum_b f_b, \qquad
        n = \sum_l I_l \alpha + \omega \times I_l \omega + c_l \times m_l (a_l - g) + \sum_b n_b

    with :math:`f_b, n_b` what the engine tells of the bodies b (soles on the ground among them), all moments about
    the same point.
    """

    def __init__(
        self,
        description: RobotDescription,
        tree: RigidTree,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        config: SimulationConfig,
    ) -> None:
        """Take a running simulation, whose motion is not touched."""
        self._urdf = read_urdf(description.model_path)
        self._sole_frames = {sensor.name: sensor.frame for sensor in description.force_torque_sensors}
        self._tree = tree
        self._model = model
        self._data = data
        self._level = config.ground.world_rotation
        self._mass_scale = config.plant.mass_scale
        self._cuts: dict[tuple[str, str], _Cut] = {}

    def refresh(self) -> None:
        """Compute accelerations and inner forces of the last physics step; before `inertial` and `wrench`."""
        mujoco.mj_rnePostConstraint(self._model, self._data)

    def inertial(self, frame: str) -> InertialReading:
        """Return what an inertial unit at a link or frame feels.

        Raises:
            ModelError: The model has no such frame.
        """
        body = self._tree.body_of(frame)
        number, pose = self._model.body(body.name).id, body.frames[frame]
        world = self._data.xmat[number].reshape(3, 3)
        angular, linear, spin = _acceleration(self._model, self._data, number)
        arm = world @ pose[:3, 3]
        felt = linear + so3.cross(angular, arm) + so3.cross(spin, so3.cross(spin, arm))
        rotation = world @ pose[:3, :3]
        return InertialReading(self._level @ rotation, rotation.T @ spin, rotation.T @ felt)

    def pose_between(self, frame: str, other: str) -> NDArray | None:
        """Return the pose of ``frame`` in ``other``, homogeneous, shape (4, 4); None where a joint moves between them.

        Raises:
            ModelError: The model has no such frame.
        """
        body = self._tree.body_of(frame)
        if self._tree.body_of(other) is not body:
            return None
        return np.linalg.inv(body.frames[other]) @ body.frames[frame]

    def wrench(self, joint: str, frame: str, without: str = "") -> NDArray:
        """Return what a child exerts on its parent through a fixed joint, in a frame, [N, N·m], shape (6,).

        Args:
            joint: The fixed joint.
            frame: On the same rigid body; the wrench is about its origin and in its axes.
            without: A sole whose ground wrench is left out, by its sensor.

        Raises:
            ModelError: The model has no such joint or frame.
        """
        cut = self._cuts.get((joint, frame)) or self._cut(joint, frame)
        model, data = self._model, self._data
        world = data.xmat[cut.body].reshape(3, 3)
        lever = data.subtree_com[model.body_rootid[cut.body]] - data.xpos[cut.body] - world @ cut.position
        left_out = model.body(f"sole:{without}").id if without else -1
        inner = data.cfrc_int[[body for body in cut.below if body != left_out]].sum(axis=0)
        force, moment = self._of_links(cut)  # in the axes of the body, as what follows
        force += inner[3:] @ world  # the engine tells moments first, about the centre of mass of the robot
        moment += (inner[:3] + so3.cross(lever, inner[3:])) @ world
        return -np.concatenate([force @ cut.rotation, moment @ cut.rotation])

    def _of_links(self, cut: _Cut) -> tuple[NDArray, NDArray]:
        """Return force and moment about the frame of the reading that move the links, in the axes of the body."""
        angular, linear, spin = _acceleration(self._model, self._data, cut.body, 1)
        felt = linear + so3.cross(angular, cut.centre) + so3.cross(spin, so3.cross(spin, cut.centre))
        force = cut.mass * felt
        moment = cut.inertia @ angular + so3.cross(spin, cut.inertia @ spin)
        return force, moment + so3.cross(cut.arm, force)

    def _cut(self, joint: str, frame: str) -> _Cut:
        if joint not in self._urdf.joints:
            raise ModelError(f"the model has no joint '{joint}'{nearest_name(joint, self._urdf.joints)}")
        body = self._tree.body_of(self._urdf.joints[joint].child)
        if frame not in body.frames:
            raise ModelError(f"frame '{frame}' is not rigidly connected to joint '{joint}'")
        links = _links_below(self._urdf, body, self._urdf.joints[joint].child)
        part = RigidBody(body.name, -1, None, np.eye(4))
        part.inertials = {name: own for name, own in body.inertials.items() if name in links}
        whole = part.inertial if part.inertials else None
        pose, centre = body.frames[frame], np.zeros(3) if whole is None else whole.centre
        cut = self._cuts[joint, frame] = _Cut(
            body=self._model.body(body.name).id,
            position=pose[:3, 3],
            rotation=pose[:3, :3],
            below=tuple(self._bodies_below(body, links)),
            mass=0.0 if whole is None else self._mass_scale * whole.mass,
            arm=centre - pose[:3, 3],
            centre=centre,
            inertia=np.zeros((3, 3)) if whole is None else self._mass_scale * whole.inertia,
        )
        return cut

    def _bodies_below(self, body: RigidBody, links: set[str]) -> list[int]:
        """Return the engine's bodies that hang on ``links`` of ``body``, soles among them."""
        parent = self._tree.bodies.index(body)
        names = [
            child.name
            for child in self._tree.bodies
            if child.parent == parent and child.joint is not None and child.joint.parent in links
        ]
        names += [f"sole:{sensor}" for sensor, frame in self._sole_frames.items() if frame in links]
        return [self._model.body(name).id for name in names]


def _links_below(urdf: Urdf, body: RigidBody, link: str) -> set[str]:
    """Return a link and those of the same rigid body that hang below it."""
    below = {link}
    waiting = [link]
    while waiting:
        parent = waiting.pop()
        children = [
            joint.child for joint in urdf.joints.values() if joint.parent == parent and joint.child in body.frames
        ]
        waiting += children
        below.update(children)
    return below


def _acceleration(
    model: mujoco.MjModel, data: mujoco.MjData, body: int, own_axes: int = 0
) -> tuple[NDArray, NDArray, NDArray]:
    """Return angular acceleration, proper acceleration of the body's origin, and angular velocity.

    In the axes of the world, or in those of the body where ``own_axes`` is 1.
    """
    both, twist = np.empty(6), np.empty(6)
    mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, both, own_axes)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, own_axes)
    return both[:3], both[3:], twist[:3]
