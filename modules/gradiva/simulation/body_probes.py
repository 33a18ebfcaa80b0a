"""Sensors that walking does not use: inertial units on any link, and wrenches between a link and its child."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from gradiva.common import NDArray
from gradiva.robot_model import RobotDescription
from gradiva.simulation.body_motion import body_motion
from gradiva.simulation.inner_cuts import Cut, InnerCuts
from gradiva.simulation.rigid_tree import RigidTree
from gradiva.simulation.simulation_config import SimulationConfig
from gradiva.simulation.urdf import read_urdf


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
        self._urdf = read_urdf(description.model_path)
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
        """Return what an inertial unit at a link or frame feels.

        Raises:
            ModelError: The model has no such frame.
        """
        seat = self._seats.get(frame) or self._seat(frame)
        world = self._data.xmat[seat.body].reshape(3, 3)
        motion, spin = body_motion(self._model, self._data, seat.body)
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
