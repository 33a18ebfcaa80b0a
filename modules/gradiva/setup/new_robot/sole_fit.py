"""Fit the rectangle with which a foot touches the ground to the shapes that its URDF gives it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gradiva.common import ModelError, NDArray, SoleRectangle, so3
from gradiva.simulation.mesh import find_mesh, read_stl
from gradiva.simulation.rigid_tree import RigidBody
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
        return _read_collada(path)
    lines = (line.split() for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    vertices = [line[1:4] for line in lines if line and line[0] == "v"]
    return np.array(vertices, dtype=float).reshape(-1, 3)


def _read_collada(path: Path) -> NDArray:
    """Return the vertices of all geometries of a Collada file where its scene puts them, z up, [m], shape (n, 3)."""
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise ModelError(f"{path} is not XML: {error}") from None
    unit = root.find("{*}asset/{*}unit")
    scale = 1.0 if unit is None else float(unit.get("meter", "1"))
    up = root.findtext("{*}asset/{*}up_axis", "Y_UP")
    geometries = {geometry.get("id", ""): _positions(geometry) for geometry in root.findall(".//{*}geometry")}
    placed: list[NDArray] = []
    for scene in root.findall(".//{*}visual_scene"):
        for node in scene.findall("{*}node"):
            placed += _placed(node, np.eye(4), geometries)
    if not placed:
        raise ModelError(f"{path} shows no geometry")
    turn = {"Z_UP": np.eye(3), "X_UP": so3.exp(np.array([0.0, -0.5 * np.pi, 0.0]))}
    return np.asarray(scale * np.vstack(placed) @ turn.get(up, so3.exp(np.array([0.5 * np.pi, 0.0, 0.0]))).T)


def _positions(geometry: ElementTree.Element) -> NDArray:
    """Return the positions that the vertices of one geometry name, shape (n, 3)."""
    wanted = [
        entry.get("source", "")[1:]
        for entry in geometry.findall("{*}mesh/{*}vertices/{*}input")
        if entry.get("semantic") == "POSITION"
    ]
    sources = [source for source in geometry.findall("{*}mesh/{*}source") if source.get("id") in wanted]
    numbers = " ".join(source.findtext("{*}float_array", "") for source in sources)
    return np.array(numbers.split(), dtype=float).reshape(-1, 3)


def _placed(node: ElementTree.Element, pose: NDArray, geometries: dict[str, NDArray]) -> list[NDArray]:
    """Return the vertices below a node of the scene, its transformations applied in their order."""
    for step in node:
        pose = pose @ _transformation(step)
    found = [
        geometries[instance.get("url", "")[1:]] @ pose[:3, :3].T + pose[:3, 3]
        for instance in node.findall("{*}instance_geometry")
    ]
    return found + [points for child in node.findall("{*}node") for points in _placed(child, pose, geometries)]


def _transformation(step: ElementTree.Element) -> NDArray:
    """Return the matrix of a transformation element, shape (4, 4); the identity of any other element."""
    kind, change = step.tag.rpartition("}")[2], np.eye(4)
    if kind not in ("matrix", "translate", "scale", "rotate"):
        return change
    numbers = np.array((step.text or "").split(), dtype=float)
    if kind == "matrix":
        change = numbers.reshape(4, 4)
    elif kind == "translate":
        change[:3, 3] = numbers
    elif kind == "scale":
        change[:3, :3] = np.diag(numbers)
    else:
        change[:3, :3] = so3.exp(np.radians(numbers[3]) * numbers[:3])
    return change
