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

_ROBOT = 1  # number of its first body, behind the world


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
        wrench_of_motion: What moves the links, in the frame of the reading, for a unit of each entry of (B a) of the
            body, shape (6, 12).
    """

    body: int
    position: NDArray
    rotation: NDArray
    below: list[int]
    wrench_of_motion: NDArray


@dataclass(frozen=True, slots=True, eq=False)
class _Seat:
    """Where an inertial unit sits.

    Attributes:
        body: Number of the rigid body.
        position: In the frame of the body, [m], shape (3,).
        rotation: In the frame of the body, shape (3, 3).
    """

    body: int
    position: NDArray
    rotation: NDArray


class BodyProbes:
    r"""Measures accelerations and inner wrenches of a simulated robot.

    A point at r of a body has the proper acceleration :math:`a + B r` with :math:`B = S(\alpha) + S(\omega)^2`. What
    the parent exerts on the child at a cut carries the child's links and all bodies behind them,

    .. math:: f = \int (a + B r) \, dm + \sum_b f_b, \qquad
        S(n) = \int (a + B r) r^T - r (a + B r)^T \, dm + \sum_b S(n_b)

    with :math:`f_b, n_b` what the engine tells of the bodies b (soles on the ground among them), all moments about
    the same point. Both integrals are in :math:`(B \; a) P`, with the pseudo-inertia
    :math:`P = \int (r, 1) (r, 1)^T dm`.
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
        self._cuts: dict[tuple[str, str, str], _Cut] = {}
        self._seats: dict[str, _Seat] = {}

    def refresh(self) -> None:
        """Compute accelerations and inner forces of the last physics step; before `inertial` and `wrench`."""
        mujoco.mj_rnePostConstraint(self._model, self._data)

    def inertial(self, frame: str) -> InertialReading:
        """Return what an inertial unit at a link or frame feels.

        Raises:
            ModelError: The model has no such frame.
        """
        seat = self._seats.get(frame) or self._seat(frame)
        world = self._data.xmat[seat.body].reshape(3, 3)
        motion, spin = _motion(self._model, self._data, seat.body)
        rotation = world @ seat.rotation
        felt = motion[:, 3] + motion[:, :3] @ seat.position
        return InertialReading(self._level @ rotation, spin @ seat.rotation, felt @ seat.rotation)

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
        cut = self._cuts.get((joint, frame, without)) or self._cut(joint, frame, without)
        data = self._data
        world = data.xmat[cut.body].reshape(3, 3)
        lever = data.subtree_com[_ROBOT] - data.xpos[cut.body] - world @ cut.position
        inner = np.add.reduce(data.cfrc_int[cut.below])  # moments first, about the centre of mass of the robot
        behind = np.array([inner[3:], inner[:3] + so3.cross(lever, inner[3:])])
        links = cut.wrench_of_motion @ _motion(self._model, data, cut.body)[0].ravel()
        return -links - (behind @ (world @ cut.rotation)).ravel()

    def _seat(self, frame: str) -> _Seat:
        body = self._tree.body_of(frame)
        pose = body.frames[frame]
        seat = self._seats[frame] = _Seat(self._model.body(body.name).id, pose[:3, 3], pose[:3, :3])
        return seat

    def _cut(self, joint: str, frame: str, without: str) -> _Cut:
        if joint not in self._urdf.joints:
            raise ModelError(f"the model has no joint '{joint}'{nearest_name(joint, self._urdf.joints)}")
        body = self._tree.body_of(self._urdf.joints[joint].child)
        if frame not in body.frames:
            raise ModelError(f"frame '{frame}' is not rigidly connected to joint '{joint}'")
        links = _links_below(self._urdf, body, self._urdf.joints[joint].child)
        left_out = self._model.body(f"sole:{without}").id if without else -1
        pose = body.frames[frame]
        cut = self._cuts[joint, frame, without] = _Cut(
            body=self._model.body(body.name).id,
            position=pose[:3, 3],
            rotation=pose[:3, :3],
            below=[number for number in self._bodies_below(body, links) if number != left_out],
            wrench_of_motion=self._mass_scale * _wrench_of_motion(body, links, pose),
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


def _motion(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> tuple[NDArray, NDArray]:
    """Return B beside the proper acceleration of the body's origin, shape (3, 4), and its angular velocity.

    In the axes of the body.
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
