"""Load the visual meshes of a URDF, decimated for a browser, and compute the poses of its links."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import idyntree.bindings as idyntree
import numpy as np
import numpy.typing as npt

from gradiva.common import GRAVITY, ModelError, NDArray
from gradiva.robot_model import RobotDescription, full_model, read_collada

if TYPE_CHECKING:  # takes a second to import, which no walk without a view needs
    import trimesh

MAX_FACES = 1500  # per mesh file, what decimation aims at: shells keep their look down to a thousand
_FINEST_GRID = 256  # cells along the longest edge of a mesh
_DEFAULT_COLOUR = (0.75, 0.75, 0.78)
_GRAVITY = np.array([0.0, 0.0, -GRAVITY])  # asked for by iDynTree, of no use here


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
    vertices = shape.vertices @ idyntree.Rotation.RPY(*rpy).toNumPy().T + position
    material = visual.find("material")
    colour = _DEFAULT_COLOUR
    if material is not None:
        colour = _rgb(material) or colours.get(str(material.get("name")), _DEFAULT_COLOUR)  # type: ignore[assignment]
    return LinkMesh(link, vertices, np.asarray(shape.faces), colour)


def _shape(element: ET.Element, urdf: Path) -> trimesh.Trimesh:
    import trimesh

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
    import trimesh

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
    clustered = type(mesh)(np.round(mesh.vertices / edge) * edge, mesh.faces, process=True)
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


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """Pose of a URDF's link on the moving link that carries it.

    Attributes:
        body: Name of the moving link.
        position: Of the link's frame in the body's, [m], shape (3,).
        rotation: Of the link's frame in the body's, shape (3, 3).
    """

    body: str
    position: NDArray
    rotation: NDArray


class LinkPoses:
    """Forward kinematics of the links that the walking joints move; all other joints are fixed at zero."""

    def __init__(self, description: RobotDescription) -> None:
        """Load the model.

        Raises:
            ModelError: The URDF cannot be loaded, or lacks a joint or the base link.
        """
        loader = idyntree.ModelLoader()
        if not loader.loadReducedModelFromFullModel(full_model(description), list(description.joints)):
            raise ModelError(f"cannot load {description.model_file} with the joints of {description.name}")
        self._kinematics = idyntree.KinDynComputations()
        self._kinematics.loadRobotModel(loader.model())
        self._kinematics.setFloatingBase(description.base_link)
        self._model = self._kinematics.model()
        self._joints = len(description.joints)
        self.bodies = tuple(self._model.getLinkName(link) for link in range(self._model.getNrOfLinks()))
        self._frames = [self._model.getFrameIndex(body) for body in self.bodies]

    def attachment(self, link: str) -> Attachment:
        """Return where a link of the URDF sits.

        Raises:
            ModelError: No such link.
        """
        frame = self._model.getFrameIndex(link)
        if not self._model.isValidFrameIndex(frame):
            raise ModelError(f"the model has no link '{link}'")
        transform = self._model.getFrameTransform(frame)
        body = self._model.getLinkName(self._model.getFrameLink(frame))
        return Attachment(body, transform.getPosition().toNumPy(), transform.getRotation().toNumPy())

    def before(self, joint: str) -> Attachment:
        """Return where a joint sits on the link before it."""
        index = self._model.getJointIndex(joint)
        parent = self._model.getJoint(index).getFirstAttachedLink()
        transform = self._model.getJoint(index).getRestTransform(
            parent, self._model.getJoint(index).getSecondAttachedLink()
        )
        return Attachment(
            self._model.getLinkName(parent), transform.getPosition().toNumPy(), transform.getRotation().toNumPy()
        )

    def poses(self, base_position: NDArray, base_rotation: NDArray, joint_positions: NDArray) -> dict[str, NDArray]:
        """Return the pose of each body, world, homogeneous, shape (4, 4).

        Args:
            base_position: World, [m], shape (3,).
            base_rotation: Shape (3, 3).
            joint_positions: [rad], shape (n,).
        """
        base = np.eye(4)
        base[:3, :3], base[:3, 3] = base_rotation, base_position
        still = np.zeros(self._joints)
        self._kinematics.setRobotState(base, np.ascontiguousarray(joint_positions), np.zeros(6), still, _GRAVITY)
        return {
            body: self._kinematics.getWorldTransform(frame).asHomogeneousTransform().toNumPy()
            for body, frame in zip(self.bodies, self._frames, strict=True)
        }
