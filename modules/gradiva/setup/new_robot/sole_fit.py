"""Fit the rectangle with which a foot touches the ground to the shapes that its URDF gives it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gradiva.common import ModelError, NDArray, SoleRectangle
from gradiva.robot_model import read_collada
from gradiva.simulation.rigid_tree import RigidBody
from gradiva.simulation.scene import find_mesh, read_stl
from gradiva.simulation.urdf import Shape

_BAND = 0.005  # [m] above the lowest point: rounded edges of a sole touch as well
_RIM = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)  # [rad]
_LEAST = 0.02  # [m] edge of a sole
_MESHES = (".stl", ".dae", ".obj")


def fit_sole(foot: RigidBody, sole_frame: str, model_file: Path) -> SoleRectangle:
    """Return the rectangle that the lowest 5 mm of a foot cover, in its sole frame.

    Collision shapes count; where there are none, visible ones.

    Args:
        foot: All links that move with the foot.
        sole_frame: One of its frames, x forward, z up.
        model_file: The URDF, from which meshes are found.

    Raises:
        ModelError: The foot has no shapes or touches the ground in less than a rectangle, or a mesh cannot be read.
    """
    shapes: Sequence[Shape] = foot.collisions or foot.visuals
    in_sole = np.linalg.inv(foot.frames[sole_frame])
    points = [_points(shape, in_sole @ shape.pose, model_file) for shape in shapes]
    if not points:
        raise ModelError(f"the foot '{foot.name}' has no shapes: give its sole with --sole X0,X1,Y0,Y1,Z")
    cloud = np.vstack(points)
    lowest = float(cloud[:, 2].min())
    touching = cloud[cloud[:, 2] <= lowest + _BAND]
    (x0, y0), (x1, y1) = np.round(touching[:, :2].min(axis=0), 4), np.round(touching[:, :2].max(axis=0), 4)
    if min(x1 - x0, y1 - y0) < _LEAST:
        raise ModelError(
            f"the lowest points of '{foot.name}' cover {x1 - x0:.3f} m × {y1 - y0:.3f} m, which is no sole: give it"
            " with --sole X0,X1,Y0,Y1,Z"
        )
    return SoleRectangle((float(x0), float(x1)), (float(y0), float(y1)), round(lowest, 4))


def _points(shape: Shape, pose: NDArray, model_file: Path) -> NDArray:
    """Return the points of a shape among which its lowest are, in the sole frame, [m], shape (n, 3)."""
    if shape.kind == "sphere":
        return np.asarray(pose[:3, 3] - [0.0, 0.0, shape.size[0]])[None, :]
    if shape.kind == "mesh":
        own = _vertices(find_mesh(shape.file, model_file, _MESHES)) * np.array(shape.size)
    elif shape.kind == "cylinder":
        radius, length = shape.size
        rim = radius * np.column_stack((np.cos(_RIM), np.sin(_RIM)))
        own = np.vstack([np.column_stack((rim, np.full(len(rim), end))) for end in (-0.5 * length, 0.5 * length)])
    else:
        own = 0.5 * np.array(shape.size) * np.stack(np.meshgrid(*3 * [[-1.0, 1.0]]), axis=-1).reshape(-1, 3)
    return np.asarray(own @ pose[:3, :3].T + pose[:3, 3])


def _vertices(path: Path) -> NDArray:
    """Return the vertices of a mesh, [m], shape (n, 3)."""
    kind = path.suffix.lower()
    if kind == ".stl":
        return read_stl(path).vertices
    if kind == ".dae":
        return read_collada(path)[0]
    lines = (line.split() for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    vertices = [line[1:4] for line in lines if line and line[0] == "v"]
    return np.array(vertices, dtype=float).reshape(-1, 3)
