"""Read the triangles of a Collada file (.dae), which many robots' meshes are.

What a file says of its vertical (``up_axis``) does not count, as in RViz: exporters of robots write y, the default,
and mean the frame of the link. Turned upright, soles of JAXON and HRP-4C would stand on edge.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gradiva.common import ModelError, NDArray, so3

Faces = npt.NDArray[np.int32]
_PRIMITIVES = ("triangles", "polylist")


def read_collada(path: Path) -> tuple[NDArray, Faces]:
    """Return vertices ([m], where the scene of the file puts them, shape (v, 3)) and triangles, shape (f, 3).

    Raises:
        ModelError: The file is no Collada file or shows no geometry.
    """
    try:
        root = ElementTree.parse(path).getroot()
        placed = _read(root)
    except (ElementTree.ParseError, ValueError, IndexError, KeyError) as error:
        raise ModelError(f"{path} is no valid Collada file: {error}") from None
    if not placed:
        raise ModelError(f"{path} shows no geometry")
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in placed)])
    faces = np.vstack([own + start for (_, own), start in zip(placed, starts, strict=False)])
    return np.vstack([vertices for vertices, _ in placed]), faces.astype(np.int32)


def _read(root: ElementTree.Element) -> list[tuple[NDArray, Faces]]:
    unit = root.find("{*}asset/{*}unit")
    scale = np.diag([*(3 * [1.0 if unit is None else float(unit.get("meter", "1"))]), 1.0])
    geometries = {
        geometry.get("id", ""): (_positions(geometry), _faces(geometry)) for geometry in root.findall(".//{*}geometry")
    }
    nodes = root.findall(".//{*}visual_scene/{*}node")
    return [shape for node in nodes for shape in _placed(node, scale, geometries)]


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


def _faces(geometry: ElementTree.Element) -> Faces:
    """Return the triangles of one geometry, its polygons as fans, shape (f, 3)."""
    triangles = [
        triangle
        for kind in _PRIMITIVES
        for primitive in geometry.findall("{*}mesh/{*}" + kind)
        for triangle in _triangles(primitive)
    ]
    return np.array(triangles, dtype=np.int32).reshape(-1, 3)


def _triangles(primitive: ElementTree.Element) -> Iterator[tuple[int, int, int]]:
    inputs = {entry.get("semantic"): int(entry.get("offset", "0")) for entry in primitive.findall("{*}input")}
    table = np.array(primitive.findtext("{*}p", "").split(), dtype=int).reshape(-1, max(inputs.values()) + 1)
    corners = table[:, inputs["VERTEX"]].tolist()
    sizes = [int(size) for size in primitive.findtext("{*}vcount", "").split()] or (len(corners) // 3) * [3]
    first = 0
    for size in sizes:
        for corner in range(first + 1, first + size - 1):
            yield corners[first], corners[corner], corners[corner + 1]
        first += size


def _placed(
    node: ElementTree.Element, pose: NDArray, geometries: dict[str, tuple[NDArray, Faces]]
) -> Iterator[tuple[NDArray, Faces]]:
    """Yield the shapes below a node of the scene, its transformations applied in their order."""
    for step in node:
        pose = pose @ _transformation(step)
    for instance in node.findall("{*}instance_geometry"):
        vertices, faces = geometries[instance.get("url", "")[1:]]
        yield vertices @ pose[:3, :3].T + pose[:3, 3], faces
    for child in node.findall("{*}node"):
        yield from _placed(child, pose, geometries)


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
