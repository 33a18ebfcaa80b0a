"""The part of a sole that one force-torque sensor feels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gradiva.common import ModelError, NDArray, Side
from gradiva.robot_model import RobotDescription
from gradiva.simulation.rigid_tree import RigidTree

_THICKNESS = 0.02  # [m] upwards from the touching surface; only the lower face ever touches


@dataclass(frozen=True, slots=True, eq=False)
class SoleBox:
    """A box under a foot; in the frame of its sensor.

    Attributes:
        sensor: Name of the force-torque sensor.
        body: Rigid body that carries it.
        pose: Of the sensor's frame in this body, homogeneous, shape (4, 4).
        centre: [m], shape (3,).
        rotation: Of the sole frame, shape (3, 3).
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
