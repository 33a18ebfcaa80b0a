"""Inertial units on any link and wrenches between a link and its child, which walking does not use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradiva.common import ModelError, NDArray, nearest_name, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation.engine import mujoco
from gradiva.simulation.rigid_tree import RigidBody, RigidTree
from gradiva.simulation.simulation_config import SimulationConfig
from gradiva.simulation.urdf import Urdf, read_urdf

_ROBOT = 1  # number of its first body, behind the world


@dataclass(frozen=True, slots=True, eq=False)
class InertialReading:
    """Reading of an inertial unit, without noise.

    Attributes:
        rotation: Of the unit, against gravity, shape (3, 3).
        angular_velocity: In the unit's axes, [rad/s], shape (3,).
        acceleration: Proper, at rest upward by 9.81, in the unit's axes, [m/s²], shape (3,).
    """

    rotation: NDArray
    angular_velocity: NDArray
    acceleration: NDArray


@dataclass(frozen=True, slots=True, eq=False)
class _Seat:
    """Place of an inertial unit.

    Attributes:
        body: Number of the rigid body.
        position: In the frame of the body, [m], shape (3,).
        rotation: In the frame of the body, shape (3, 3).
    """

    body: int
    position: NDArray
    rotation: NDArray


class BodyProbes:
    """Measures accelerations and inner wrenches of a simulated robot."""

    def __init__(
        self,
        description: RobotDescription,
        tree: RigidTree,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        config: SimulationConfig,
    ) -> None:
        """Take a running simulation, whose motion is not touched."""
        self._urdf = read_urdf(description.model_path, description.flexible_joints)
        self._sole_frames = {sensor.name: sensor.frame for sensor in description.force_torque_sensors}
        self._tree = tree
        self._model = model
        self._data = data
        self._level = config.ground.world_rotation
        self._mass_scale = config.plant.mass_scale
        self._cuts: dict[tuple[Cut, ...], InnerCuts] = {}
        self._seats: dict[str, _Seat] = {}

    def refresh(self) -> None:
        """Compute accelerations and inner forces of the last physics step; before `inertial` and `wrenches`."""
        mujoco.mj_rnePostConstraint(self._model, self._data)

    def inertial(self, frame: str) -> InertialReading:
        """Return the reading of an inertial unit at a link or frame.

        Raises:
            ModelError: The model has no such frame.
        """
        seat = self._seats.get(frame) or self._seat(frame)
        world = self._data.xmat[seat.body].reshape(3, 3)
        motion, spin = body_motion(self._model, self._data, seat.body)
        rotation = world @ seat.rotation
        acceleration = motion[:, 3] + motion[:, :3] @ seat.position
        return InertialReading(self._level @ rotation, spin @ seat.rotation, acceleration @ seat.rotation)

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
        """Return what a child exerts on its parent at one cut, see `wrenches`, shape (6,)."""
        return self.wrenches((Cut(joint, frame, without),))[0]

    def wrenches(self, cuts: tuple[Cut, ...]) -> NDArray:
        """Return what children exert on their parents through fixed joints, [N, N·m], shape (cuts, 6).

        Raises:
            ModelError: The model lacks a joint or frame.
        """
        if not cuts:
            return np.zeros((0, 6))
        found = self._cuts.get(cuts)
        if found is None:
            found = InnerCuts(cuts, self._urdf, self._tree, self._model, self._sole_frames, self._mass_scale)
            self._cuts[cuts] = found
        return found.wrenches(self._data)

    def _seat(self, frame: str) -> _Seat:
        body = self._tree.body_of(frame)
        pose = body.frames[frame]
        seat = self._seats[frame] = _Seat(self._model.body(body.name).id, pose[:3, 3], pose[:3, :3])
        return seat


def body_motion(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> tuple[NDArray, NDArray]:
    r"""Return B beside the proper acceleration a of the body's origin, shape (3, 4), and its angular velocity.

    In the axes of the body; a point at r of it has the proper acceleration :math:`a + B r` with
    :math:`B = S(\alpha) + S(\omega)^2`. What `mj_rnePostConstraint` computes must be up to date.
    """
    both, twist = np.empty(6), np.empty(6)
    mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, both, 1)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 1)
    p, q, r, ax, ay, az = both.tolist()
    x, y, z = twist[:3].tolist()
    motion = np.array(
        [
            [-y * y - z * z, x * y - r, x * z + q, ax],
            [x * y + r, -x * x - z * z, y * z - p, ay],
            [x * z - q, y * z + p, -x * x - y * y, az],
        ]
    )
    return motion, twist[:3]


class Cut(NamedTuple):
    """Through a fixed joint; what hangs below it are links of the same rigid body, and bodies behind further joints.

    Attributes:
        joint: The fixed joint.
        frame: On the same rigid body; the wrench is about its origin and in its axes.
        without: A sole whose ground wrench is left out, by its sensor.
    """

    joint: str
    frame: str
    without: str = ""


class InnerCuts:
    r"""Wrenches at some cuts, all at once.

    What the parent exerts on the child carries the child's links and all bodies behind them,

    .. math:: f = \int (a + B r) \, dm + \sum_b f_b, \qquad
        S(n) = \int (a + B r) r^T - r (a + B r)^T \, dm + \sum_b S(n_b)

    with a and B of `body_motion`, :math:`f_b, n_b` the engine's inner force and moment of the bodies b (soles on the
    ground among them), all moments about the same point. Both integrals are in
    :math:`(B \; a) P`, with the pseudo-inertia :math:`P = \int (r, 1) (r, 1)^T dm`: they are linear in (B a).
    """

    def __init__(
        self,
        cuts: Sequence[Cut],
        urdf: Urdf,
        tree: RigidTree,
        model: mujoco.MjModel,
        sole_frames: Mapping[str, str],
        mass_scale: float,
    ) -> None:
        """Find what hangs below each of ``cuts``.

        Args:
            cuts: At least one.
            urdf: The model.
            tree: Its bodies.
            model: The engine's.
            sole_frames: Of the bodies of the soles, by their sensors.
            mass_scale: Of all links, [-].

        Raises:
            ModelError: The model lacks a joint or frame.
        """
        self._model = model
        bodies = [_body_of(cut, urdf, tree) for cut in cuts]
        poses = np.array([body.frames[cut.frame] for cut, body in zip(cuts, bodies, strict=True)])
        self._rotations, self._positions = poses[:, :3, :3], poses[:, :3, 3:]
        self._bodies = np.array([model.body(body.name).id for body in bodies])
        self._moving, self._motion_rows = np.unique(self._bodies, return_inverse=True)
        self._of_motion = np.empty((len(cuts), 6, 12))  # in the frame of the cut, for a unit of each entry of (B a)
        self._is_below = np.zeros((len(cuts), model.nbody))
        for row, (cut, body) in enumerate(zip(cuts, bodies, strict=True)):
            links = _links_below(urdf, body, urdf.joints[cut.joint].child)
            names = _names_below(tree, body, links, sole_frames)
            self._is_below[row, [model.body(name).id for name in names if name != f"sole:{cut.without}"]] = 1.0
            self._of_motion[row] = mass_scale * _wrench_of_motion(body, links, poses[row])

    def wrenches(self, data: mujoco.MjData) -> NDArray:
        """Return what each child exerts on its parent, [N, N·m], shape (cuts, 6)."""
        worlds = data.xmat[self._bodies].reshape(-1, 3, 3)
        levers = data.subtree_com[_ROBOT] - data.xpos[self._bodies] - (worlds @ self._positions)[:, :, 0]
        inner = self._is_below @ data.cfrc_int  # moments first, about the centre of mass of the robot
        behind = np.empty((len(levers), 2, 3))
        behind[:, 0] = inner[:, 3:]
        behind[:, 1] = inner[:, :3] + so3.cross(levers.T, inner[:, 3:].T).T
        motions = np.array([body_motion(self._model, data, body)[0].ravel() for body in self._moving.tolist()])
        links = (self._of_motion @ motions[self._motion_rows, :, None])[:, :, 0]
        return -links - (behind @ (worlds @ self._rotations)).reshape(-1, 6)


def _body_of(cut: Cut, urdf: Urdf, tree: RigidTree) -> RigidBody:
    if cut.joint not in urdf.joints:
        raise ModelError(f"the model has no joint '{cut.joint}'{nearest_name(cut.joint, urdf.joints)}")
    body = tree.body_of(urdf.joints[cut.joint].child)
    if cut.frame not in body.frames:
        raise ModelError(f"frame '{cut.frame}' is not rigidly connected to joint '{cut.joint}'")
    return body


def _names_below(tree: RigidTree, body: RigidBody, links: Collection[str], sole_frames: Mapping[str, str]) -> list[str]:
    """Return the engine's bodies that hang on ``links`` of ``body``, soles among them."""
    parent = tree.bodies.index(body)
    names = [
        child.name
        for child in tree.bodies
        if child.parent == parent and child.joint is not None and child.joint.parent in links
    ]
    return names + [f"sole:{sensor}" for sensor, frame in sole_frames.items() if frame in links]


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


def _wrench_of_motion(body: RigidBody, links: set[str], pose: NDArray) -> NDArray:
    """Return what moves some links, in a frame at ``pose`` in the body, for a unit of each entry of (B a), (6, 12)."""
    rotation, position = pose[:3, :3], pose[:3, 3]
    move = np.eye(4)
    move[:3, 3] = position
    pseudo_inertia = move @ _pseudo_inertia(body, links, position)
    columns = []
    for motion in np.eye(12).reshape(12, 3, 4):
        integrals = motion @ pseudo_inertia
        columns.append(np.concatenate([integrals[:, 3] @ rotation, 2.0 * so3.vee(integrals[:, :3]) @ rotation]))
    return np.column_stack(columns)


def _pseudo_inertia(body: RigidBody, links: set[str], point: NDArray) -> NDArray:
    """Return that of some links about ``point``, in the axes of the body, [kg·m², kg·m, kg], shape (4, 4)."""
    total = np.zeros((4, 4))
    for own in (inertial for name, inertial in body.inertials.items() if name in links):
        arm = np.append(own.centre - point, 1.0)
        total += own.mass * np.outer(arm, arm)
        total[:3, :3] += 0.5 * np.trace(own.inertia) * np.eye(3) - own.inertia
    return total
