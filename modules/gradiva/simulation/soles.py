"""Soles of a robot as the engine has them: boxes without mass at the frames of the force-torque sensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gradiva.common import ModelError, NDArray, Side, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation.engine import mujoco
from gradiva.simulation.rigid_tree import RigidTree, quaternion

_THICKNESS = 0.02  # [m] upwards from the touching surface; only the lower face ever touches


@dataclass(frozen=True, slots=True, eq=False)
class SoleBox:
    """A box under a foot; in the frame of its sensor.

    Attributes:
        sensor: Name of the force-torque sensor.
        body: Rigid body that carries it.
        pose: Of the sensor's frame in this body, homogeneous, shape (4, 4).
        centre: [m], shape (3,).
        rotation: Of the box, and of an exact sole frame, shape (3, 3).
        half_size: [m], shape (3,).
    """

    sensor: str
    body: str
    pose: NDArray
    centre: NDArray
    rotation: NDArray
    half_size: NDArray

    @property
    def face(self) -> NDArray:
        """Middle of the face that touches, in the frame of the sensor, [m], shape (3,)."""
        return self.centre - self.rotation[:, 2] * self.half_size[2]

    @property
    def face_corners(self) -> NDArray:
        """Front right, front left, rear left, rear right, in the frame of the sensor, [m], shape (4, 3)."""
        signs = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
        return self.face + (signs * self.half_size[:2]) @ self.rotation[:, :2].T

    def moved(self, rotation: NDArray, shift: NDArray) -> SoleBox:
        """Return the box turned about the middle of its face, then shifted; the sensor stays.

        Args:
            rotation: In the axes of the sole frame, shape (3, 3).
            shift: Likewise, [m], shape (3,).
        """
        turned = self.rotation @ rotation
        face = self.face + self.rotation @ shift
        return replace(self, rotation=turned, centre=face + turned[:, 2] * self.half_size[2])


def sole_boxes(description: RobotDescription, tree: RigidTree) -> tuple[SoleBox, ...]:
    """Return one box a sensor, in the order of the description; the boxes of a foot meet without overlap.

    The rectangle of a foot is cut across, half way between its sensors.

    Raises:
        ModelError: A foot has no sensor, or a sensor is not on the body of its sole.
    """
    boxes: dict[int, SoleBox] = {}
    for side in Side:
        rows = description.sensors_of(side)
        if not rows:
            raise ModelError(f"robot '{description.name}' has no force-torque sensor on the {side} foot")
        boxes.update(_boxes_of_foot(description, tree, side, rows))
    return tuple(boxes[row] for row in sorted(boxes))


def _boxes_of_foot(description: RobotDescription, tree: RigidTree, side: Side, rows: list[int]) -> dict[int, SoleBox]:
    sole_frame = description.foot_frame(side)
    body = tree.body_of(sole_frame)
    sole = body.frames[sole_frame]
    in_sole: dict[int, NDArray] = {}
    for row in rows:
        frame = description.force_torque_sensors[row].frame
        if frame not in body.frames:
            raise ModelError(f"sensor frame '{frame}' is not rigidly connected to '{sole_frame}'")
        in_sole[row] = np.linalg.inv(sole) @ body.frames[frame]
    ordered = sorted(rows, key=lambda row: float(in_sole[row][0, 3]))
    origins = [float(in_sole[row][0, 3]) for row in ordered]
    cuts = [0.5 * (rear + front) for rear, front in pairwise(origins)]
    edges = [description.sole.x[0], *cuts, description.sole.x[1]]
    return {
        row: _box(description, side, row, body.name, sole @ in_sole[row], in_sole[row], span)
        for row, span in zip(ordered, pairwise(edges), strict=True)
    }


def _box(
    description: RobotDescription,
    side: Side,
    row: int,
    body: str,
    pose: NDArray,
    pose_in_sole: NDArray,
    span: tuple[float, float],
) -> SoleBox:
    width = description.sole.corners(side)[:, 1]
    low = np.array([span[0], width.min(), description.sole.z])
    high = np.array([span[1], width.max(), description.sole.z + _THICKNESS])
    rotation = pose_in_sole[:3, :3].T  # of the sole in the frame of the sensor
    return SoleBox(
        sensor=description.force_torque_sensors[row].name,
        body=body,
        pose=pose,
        centre=rotation @ (0.5 * (low + high) - pose_in_sole[:3, 3]),
        rotation=rotation,
        half_size=0.5 * (high - low),
    )


def add_sole_body(spec: mujoco.MjSpec, sole: SoleBox) -> mujoco.MjsBody:
    """Add a body ``sole:<sensor>`` at the frame of its sensor, with sites at that frame and on the sole's face.

    A body without mass passes on to its foot exactly what the ground does to it. The site ``face:<sensor>`` lies in
    the middle of the face that touches, its axes those of the box.
    """
    body = spec.body(sole.body).add_body(
        name=f"sole:{sole.sensor}", pos=sole.pose[:3, 3], quat=quaternion(sole.pose[:3, :3])
    )
    body.explicitinertial, body.ipos = True, np.zeros(3)  # outside forces act at the frame, not where MuJoCo guesses
    body.add_site(name=f"sensor:{sole.sensor}")
    body.add_site(name=f"face:{sole.sensor}", pos=sole.face, quat=quaternion(sole.rotation))
    return body


@dataclass(frozen=True, slots=True)
class SolePlaces:
    """One sole in the engine's tables.

    Attributes:
        face: Row of the site in the middle of its face.
        sensor: Row of the site of its sensor.
        half_size: Of the face, along its axes, [m].
    """

    face: int
    sensor: int
    half_size: tuple[float, float]


class SoleBodies:
    """The soles in a compiled model: how their faces move, and how wrenches on them get into the engine."""

    def __init__(self, model: mujoco.MjModel, soles: Sequence[SoleBox]) -> None:
        """Find the bodies that ``add_sole_body`` made."""
        self._model = model
        self._bodies = [int(model.body(f"sole:{sole.sensor}").id) for sole in soles]
        self._faces = [int(model.site(f"face:{sole.sensor}").id) for sole in soles]
        self._sensors = [int(model.site(f"sensor:{sole.sensor}").id) for sole in soles]
        self._soles = soles

    @property
    def places(self) -> list[SolePlaces]:
        """Places of the soles in the engine's tables."""
        halves = [(float(sole.half_size[0]), float(sole.half_size[1])) for sole in self._soles]
        return [SolePlaces(*place) for place in zip(self._faces, self._sensors, halves, strict=True)]

    def twists(self, data: mujoco.MjData, into: NDArray) -> None:
        """Write the twists of the middles of the faces, angular first, shape (n, 6)."""
        for face, twist in zip(self._faces, into, strict=True):
            mujoco.mj_objectVelocity(self._model, data, mujoco.mjtObj.mjOBJ_SITE, face, twist, 0)

    def at_sensors(self, data: mujoco.MjData, wrenches: NDArray) -> NDArray:
        """Return wrenches about the middles of the faces as wrenches about the sensors.

        Args:
            data: Of the engine.
            wrenches: World axes, [N, N·m], shape (n, 6).
        """
        moved = wrenches.copy()
        arms = data.site_xpos[self._faces] - data.xpos[self._bodies]
        moved[:, 3:] += so3.cross(arms.T, wrenches[:, :3].T).T
        return moved

    def exert(self, data: mujoco.MjData, wrenches: NDArray) -> None:
        """Add wrenches about the sensors, world axes, shape (n, 6), to what acts from outside."""
        data.xfrc_applied[self._bodies] += wrenches

    def in_sensor_axes(self, data: mujoco.MjData, wrenches: NDArray) -> NDArray:
        """Return wrenches about the sensors, world axes, in the axes of the sensors, shape (n, 6)."""
        rotations = data.xmat[self._bodies].reshape(-1, 3, 3)
        return (wrenches.reshape(-1, 2, 3) @ rotations).reshape(-1, 6)
