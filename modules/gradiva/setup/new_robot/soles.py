"""Fit the rectangles of soles to the shapes of feet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from gradiva.common import ModelError, NDArray, SoleRectangle
from gradiva.robot_model import read_collada
from gradiva.simulation import RigidBody, Shape, find_mesh, read_stl

_BAND = 0.005  # [m] above the lowest point: rounded edges of a sole touch as well
_RIM = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)  # [rad]
_LEAST = 0.02  # [m] edge of a sole
_STEEPEST = 0.7  # [-] cosine to the vertical of a plane on which a foot stands when all joints are at zero
_SAME = 0.9995  # [-] cosine between normals of one plane, 2°
MESHES = (".stl", ".dae", ".obj")


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
    in_sole: NDArray = np.linalg.inv(foot.frames[sole_frame]).astype(float)
    points = _shape_points(foot, in_sole, model_file)
    if not points:
        raise ModelError(f"the foot '{foot.name}' has no shapes: give its sole with --sole X0,X1,Y0,Y1,Z")
    touching = lowest(points)
    (x0, y0), (x1, y1) = np.round(touching[:, :2].min(axis=0), 4), np.round(touching[:, :2].max(axis=0), 4)
    if min(x1 - x0, y1 - y0) < _LEAST:
        raise ModelError(
            f"the lowest points of '{foot.name}' cover {x1 - x0:.3f} m × {y1 - y0:.3f} m, which is no sole: give it"
            " with --sole X0,X1,Y0,Y1,Z"
        )
    return SoleRectangle((float(x0), float(x1)), (float(y0), float(y1)), round(float(touching[:, 2].min()), 4))


def is_sole(foot: RigidBody, rotation: NDArray, model_file: Path) -> bool:
    """Return whether a foot that is turned so touches level ground with more than a line; arguments as below."""
    points = _shape_points(foot, _turned(rotation), model_file)
    return not points or covers_sole(lowest(points))


def covers_sole(touching: NDArray) -> bool:
    """Return whether points that touch cover more than a line, [m], shape (n, 3)."""
    return bool(np.ptp(touching[:, :2], axis=0).min() >= _LEAST)


def standing_plane(foot: RigidBody, rotation: NDArray, model_file: Path) -> NDArray | None:
    """Return the normal of the plane on which a foot can stand, away from it, in the base, shape (3,); None without.

    It is that of the largest face of the convex hull of its shapes which looks down.

    Args:
        foot: All links that move with the foot.
        rotation: Of its frame in the base when all joints are at zero, shape (3, 3).
        model_file: The URDF, from which meshes are found.
    """
    points = _shape_points(foot, _turned(rotation), model_file)
    try:
        hull = ConvexHull(np.vstack(points))
    except (QhullError, ValueError):
        return None
    corners = hull.points[hull.simplices]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    looks_down = hull.equations[:, 2] < -_STEEPEST
    normals, areas = hull.equations[looks_down, :3], areas[looks_down]
    if not len(areas):
        return None
    of_planes = (normals @ normals.T > _SAME) @ areas
    return np.asarray(-normals[int(np.argmax(of_planes))])


def _turned(rotation: NDArray) -> NDArray:
    pose = np.eye(4)
    pose[:3, :3] = rotation
    return pose


def _shape_points(foot: RigidBody, pose: NDArray, model_file: Path) -> list[NDArray]:
    """Return the points of the shapes of a foot, as of `points_of`, its frame at ``pose``."""
    shapes: Sequence[Shape] = foot.collisions or foot.visuals
    return [points_of(shape, pose @ shape.pose, model_file) for shape in shapes]


def lowest(points: Sequence[NDArray]) -> NDArray:
    """Return the points that touch a level ground, rounded edges as well, [m], shape (n, 3)."""
    cloud = np.vstack(points)
    return np.asarray(cloud[cloud[:, 2] <= cloud[:, 2].min() + _BAND])


def points_of(shape: Shape, pose: NDArray, model_file: Path) -> NDArray:
    """Return the points of a shape among which its lowest are, in axes with z up, [m], shape (n, 3)."""
    if shape.kind == "sphere":
        return np.asarray(pose[:3, 3] - [0.0, 0.0, shape.size[0]])[None, :]
    if shape.kind == "mesh":
        own = _vertices(find_mesh(shape.file, model_file, MESHES)) * np.array(shape.size)
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
