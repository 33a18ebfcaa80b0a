"""What a robot looks like: the visual shapes of its URDF, light enough for a browser."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import trimesh

from gradiva.common import ModelError, NDArray
from gradiva.robot_model import read_collada

MAX_FACES = 1500  # per mesh file, what decimation aims at: shells keep their look down to a thousand
_FINEST_GRID = 256  # cells along the longest edge of a mesh
_DEFAULT_COLOUR = (0.75, 0.75, 0.78)


@dataclass(frozen=True, slots=True, eq=False)
class LinkMesh:
    """A visual shape in the frame of its link.

    Attributes:
        link: Name in the URDF.
        vertices: [m], shape (v, 3).
        faces: Vertex numbers, shape (f, 3).
        colour: Red, green, blue in [0, 1].
    """

    link: str
    vertices: NDArray
    faces: npt.NDArray[np.int64]
    colour: tuple[float, float, float]


@lru_cache(maxsize=4)
def load_meshes(model_path: Path) -> tuple[LinkMesh, ...]:
    """Return all visual shapes of a URDF; kept in memory.

    Raises:
        ModelError: The file is no URDF, or a mesh of it is missing.
    """
    try:
        robot = ET.parse(model_path).getroot()
    except (OSError, ET.ParseError) as error:
        raise ModelError(f"cannot read {model_path}: {error}") from None
    colours = {str(material.get("name")): colour for material in robot.iter("material") if (colour := _rgb(material))}
    return tuple(
        _link_mesh(str(link.get("name")), visual, colours, model_path)
        for link in robot.findall("link")
        for visual in link.findall("visual")
    )


def _link_mesh(link: str, visual: ET.Element, colours: Mapping[str, tuple[float, ...]], urdf: Path) -> LinkMesh:
    geometry = visual.find("geometry")
    if geometry is None or len(geometry) == 0:
        raise ModelError(f"{urdf}: a visual of link '{link}' has no geometry")
    shape = _shape(geometry[0], urdf)
    origin = visual.find("origin")
    position, rpy = _numbers(origin, "xyz", "0 0 0"), _numbers(origin, "rpy", "0 0 0")
    transform = trimesh.transformations.euler_matrix(*rpy)
    vertices = shape.vertices @ transform[:3, :3].T + position
    material = visual.find("material")
    colour = _DEFAULT_COLOUR
    if material is not None:
        colour = _rgb(material) or colours.get(str(material.get("name")), _DEFAULT_COLOUR)  # type: ignore[assignment]
    return LinkMesh(link, vertices, np.asarray(shape.faces), colour)


def _shape(element: ET.Element, urdf: Path) -> trimesh.Trimesh:
    if element.tag == "mesh":
        mesh = _decimated(_find_mesh(str(element.get("filename")), urdf)).copy()
        return mesh.apply_scale(_numbers(element, "scale", "1 1 1"))
    if element.tag == "box":
        return trimesh.creation.box(_numbers(element, "size", "0 0 0"))
    if element.tag == "cylinder":
        return trimesh.creation.cylinder(float(element.get("radius", 0)), float(element.get("length", 0)), 24)
    if element.tag == "sphere":
        return trimesh.creation.icosphere(2, float(element.get("radius", 0)))
    raise ModelError(f"{urdf}: unknown geometry '{element.tag}' (valid: box, cylinder, mesh, sphere)")


@lru_cache(maxsize=256)
def _decimated(path: Path) -> trimesh.Trimesh:
    try:
        is_collada = path.suffix.lower() == ".dae"
        mesh = trimesh.Trimesh(*read_collada(path)) if is_collada else trimesh.load_mesh(path, process=True)
    except (OSError, ValueError, ImportError) as error:
        raise ModelError(f"cannot read the mesh {path}: {error}") from None
    if len(mesh.faces) > MAX_FACES:
        mesh = mesh.simplify_quadric_decimation(face_count=MAX_FACES)
    cells = _FINEST_GRID
    while len(mesh.faces) > MAX_FACES:  # shells of loose triangles are not decimated
        mesh, cells = _clustered(mesh, cells), cells // 2
    return mesh


def _clustered(mesh: trimesh.Trimesh, cells: int) -> trimesh.Trimesh:
    """Return the mesh with its vertices on a grid of so many cells along its longest edge."""
    edge = float(max(mesh.extents)) / cells
    clustered = trimesh.Trimesh(np.round(mesh.vertices / edge) * edge, mesh.faces, process=True)
    clustered.update_faces(clustered.nondegenerate_faces())
    clustered.update_faces(clustered.unique_faces())
    clustered.remove_unreferenced_vertices()
    return clustered


def _find_mesh(name: str, urdf: Path) -> Path:
    """Return the file of a mesh; ``package://`` is searched for beside and above the URDF."""
    relative = name.removeprefix("package://").removeprefix("model://")
    for folder in urdf.resolve().parents:
        if (folder / relative).is_file():
            return folder / relative
    raise ModelError(f"{urdf} names the mesh {name}, which is in no folder above it")


def _rgb(material: ET.Element) -> tuple[float, float, float] | None:
    colour = material.find("color")
    if colour is None:
        return None
    red, green, blue = _numbers(colour, "rgba", "1 1 1 1")[:3]
    return float(red), float(green), float(blue)


def _numbers(element: ET.Element | None, attribute: str, default: str) -> NDArray:
    text = default if element is None else element.get(attribute, default)
    return np.array([float(number) for number in text.split()])
