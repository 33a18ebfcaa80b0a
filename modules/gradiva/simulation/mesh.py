"""Triangle meshes of the links, thinned out for pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gradiva.common import ModelError, NDArray
from gradiva.robot_model import read_collada

_HEADER = 84  # bytes of a binary STL before its triangles
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("attribute", "<u2")])
_FINEST_GRID, _COARSEST_GRID = 256, 8  # cells along the longest edge of a mesh


READABLE = (".stl", ".dae")


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Vertices, shape (v, 3), and triangles of vertex indices, shape (f, 3)."""

    vertices: NDArray
    faces: npt.NDArray[np.int32]


def find_mesh(uri: str, model_file: Path, kinds: tuple[str, ...] = READABLE) -> Path:
    """Return the file of a ``package://`` address: below one of the folders that hold the model.

    Args:
        uri: As the URDF names it.
        model_file: The URDF.
        kinds: Endings that the caller can read.

    Raises:
        ModelError: There is none, or it is of another kind.
    """
    relative = uri.removeprefix("package://").removeprefix("file://")
    if not relative.lower().endswith(kinds):
        raise ModelError(f"mesh '{uri}': only {' or '.join(kind[1:].upper() for kind in kinds)} meshes can be read")
    for folder in model_file.resolve().parents:
        if (folder / relative).is_file():
            return folder / relative
    raise ModelError(f"mesh '{uri}' is in no folder above {model_file}")


def read_mesh(path: Path) -> Mesh:
    """Read a mesh of one of the kinds in ``READABLE``.

    Raises:
        ModelError: It cannot be read.
    """
    return Mesh(*read_collada(path)) if path.suffix.lower() == ".dae" else read_stl(path)


def read_stl(path: Path) -> Mesh:
    """Read a binary STL file; its triangles share no vertices.

    Raises:
        ModelError: It is not one.
    """
    content = path.read_bytes()
    count = int.from_bytes(content[80:_HEADER], "little")
    if len(content) != _HEADER + count * _TRIANGLE.itemsize or count == 0:
        raise ModelError(f"{path} is no binary STL file")
    triangles = np.frombuffer(content, dtype=_TRIANGLE, offset=_HEADER)["vertices"]
    corners = triangles.reshape(-1, 3).astype(np.float64)
    return Mesh(corners, np.arange(len(corners), dtype=np.int32).reshape(-1, 3))


def thin_out(mesh: Mesh, faces: int) -> Mesh:
    """Return a mesh of at most about ``faces`` triangles: vertices in one cell of a grid become their mean."""
    cells = _FINEST_GRID
    thinned = _cluster(mesh, cells)
    while len(thinned.faces) > faces and cells > _COARSEST_GRID:
        cells = int(cells / 1.25)
        thinned = _cluster(mesh, cells)
    return thinned


def _cluster(mesh: Mesh, cells: int) -> Mesh:
    low = mesh.vertices.min(axis=0)
    edge = float(np.ptp(mesh.vertices, axis=0).max()) / cells
    x, y, z = np.floor((mesh.vertices - low) / edge).astype(np.int64).T
    row = cells + 1
    _, cluster, size = np.unique(x + row * (y + row * z), return_inverse=True, return_counts=True)
    sums = np.stack([np.bincount(cluster, mesh.vertices[:, axis]) for axis in range(3)], axis=1)
    faces = cluster[mesh.faces].astype(np.int32)
    distinct = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return Mesh(sums / size[:, None], faces[distinct])
