"""Reads a URDF: links, joints, shapes, and the ranges of joints."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from gradiva.common import ModelError, NDArray, freeze_arrays, nearest_name, so3
from gradiva.robot_model import FlexibleJoint, RobotDescription, file_stamp, flexible_urdf

_DEFAULT_COLOUR = (0.8, 0.8, 0.8, 1.0)
FICTITIOUS_MASS = 1e-3  # [kg] of links between flexible joints: the engine refuses massless ones
FICTITIOUS_INERTIA = 1e-5  # [kg·m²] likewise, about each axis
_SPEED = 1.745  # [rad/s] 100°/s, of joints that the description does not mention
_TORQUE = 10.0  # [N·m] of joints that the description does not mention


@dataclass(frozen=True, slots=True, eq=False)
class Urdf:
    """All links and joints of a file, by name.

    Attributes:
        links: By name.
        joints: By name.
        force_torque_joints: Name of each force-torque sensor to the name of the joint that it measures.
    """

    links: Mapping[str, UrdfLink]
    joints: Mapping[str, UrdfJoint]
    force_torque_joints: Mapping[str, str]

    def __post_init__(self) -> None:
        for name in ("links", "joints", "force_torque_joints"):  # what was read is shared by all walks of a process
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def roots(self) -> list[str]:
        """Links without a parent: one, in a model that is a tree.

        A root without mass to which a single link is fixed, or which it floats in, is a mere name for this one.
        """
        children = {joint.child for joint in self.joints.values()}
        return [self._first_with_mass(name) for name in self.links if name not in children]

    def _first_with_mass(self, root: str) -> str:
        below = [joint for joint in self.joints.values() if joint.parent == root]
        own = self.links[root].inertial
        is_name = (own is None or own.mass == 0.0) and [joint.kind for joint in below] in (["fixed"], ["floating"])
        return self._first_with_mass(below[0].child) if is_name else root

    @property
    def mass(self) -> float:
        """Mass of all links, [kg]."""
        return sum(link.inertial.mass for link in self.links.values() if link.inertial is not None)


@dataclass(frozen=True, slots=True, eq=False)
class UrdfLink:
    """A link; ``inertial`` is None where the file gives no mass."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Visual, ...]
    collisions: tuple[Shape, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class UrdfJoint:
    """A joint between two links.

    Attributes:
        name: Of the joint.
        kind: The URDF's type.
        parent: Link.
        child: Link; its frame is the frame of the joint.
        pose: Of the child in the parent at zero, homogeneous, shape (4, 4).
        axis: In the axes of the child, unit length, shape (3,).
        limits: Lower and upper, [rad]; infinite for a continuous joint.
        effort: Largest torque, [N·m].
        mimic: Name of the joint that it follows; empty if it moves by itself.
        velocity: Largest one, [rad/s].
    """

    name: str
    kind: str
    parent: str
    child: str
    pose: NDArray
    axis: NDArray
    limits: tuple[float, float]
    effort: float
    mimic: str = ""
    velocity: float = np.inf

    def __post_init__(self) -> None:
        freeze_arrays(self, pose=(4, 4), axis=(3,))


@dataclass(frozen=True, slots=True, eq=False)
class Inertial:
    """Mass distribution of a link.

    Attributes:
        mass: [kg].
        centre: Centre of mass in the frame of the link, [m], shape (3,).
        inertia: About the centre of mass, in the axes of the link, [kg·m²], shape (3, 3).
    """

    mass: float
    centre: NDArray
    inertia: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, centre=(3,), inertia=(3, 3))


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """One shape of a link.

    Attributes:
        kind: ``mesh``, ``box``, ``cylinder`` or ``sphere``.
        size: Scale of the mesh, or edges / radius and length / radius, [m].
        file: Of the mesh; empty for the other kinds.
        pose: In the frame of the link, homogeneous, shape (4, 4).
    """

    kind: str
    size: tuple[float, ...]
    file: str
    pose: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, pose=(4, 4))


@dataclass(frozen=True, slots=True, eq=False)
class Visual(Shape):
    """One visible shape of a link.

    Attributes:
        colour: Red, green, blue, opacity.
    """

    colour: tuple[float, ...]


def read_urdf(path: Path, flexible: Sequence[FlexibleJoint] = (), inertia: float = FICTITIOUS_INERTIA) -> Urdf:
    """Read a URDF file; what was read is remembered until the file changes.

    Args:
        path: Of the file.
        flexible: Joints to be inserted, see ``flexible_urdf``.
        inertia: Of the fictitious links between them, [kg·m²]; their mass is in proportion.

    Raises:
        ModelError: The file is missing or is not a URDF, or lacks the joint that a flexible one sits at.
    """
    return _read_urdf(path, file_stamp(path), tuple(flexible), inertia)


@lru_cache(maxsize=8)  # each walk of a campaign reads it
def _read_urdf(path: Path, stamp: tuple[int, int], flexible: tuple[FlexibleJoint, ...], inertia: float) -> Urdf:
    mass = inertia / FICTITIOUS_INERTIA * FICTITIOUS_MASS
    robot = ElementTree.fromstring(flexible_urdf(path, flexible, mass, inertia))
    if robot.tag != "robot":
        raise ModelError(f"{path}: expected a URDF <robot>, found <{robot.tag}>")
    try:
        return _read(robot)
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is no valid URDF: {type(error).__name__} {error}") from None


def _read(robot: ElementTree.Element) -> Urdf:
    colours = {name: colour for item in robot.findall("material") for name, colour in [_named_colour(item)]}
    links = [_link(element, colours) for element in robot.findall("link")]
    joints = [_joint(element) for element in robot.findall("joint")]
    sensors = {
        sensor.get("name", ""): _child(sensor, "parent").get("joint", "")
        for sensor in robot.findall("sensor")
        if sensor.get("type") == "force_torque"
    }
    urdf = Urdf({link.name: link for link in links}, {joint.name: joint for joint in joints}, sensors)
    for joint in joints:
        for name in (joint.parent, joint.child):
            if name not in urdf.links:
                raise ModelError(f"joint '{joint.name}' is of a link '{name}' that is not there")
    return urdf


def _link(element: ElementTree.Element, colours: dict[str, tuple[float, ...]]) -> UrdfLink:
    visuals = (_visual(visual, colours) for visual in element.findall("visual"))
    collisions = (_shape(collision) for collision in element.findall("collision") if _is_known_shape(collision))
    return UrdfLink(
        name=element.attrib["name"],
        inertial=_inertial(element.find("inertial")),
        visuals=tuple(visual for visual in visuals if visual is not None),
        collisions=tuple(shape for shape in collisions if shape is not None),
    )


def _inertial(element: ElementTree.Element | None) -> Inertial | None:
    if element is None:
        return None
    pose = origin_pose(element.find("origin"))
    xx, xy, xz, yy, yz, zz = (
        _number(element.find("inertia"), key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    rotation = pose[:3, :3]
    return Inertial(_number(element.find("mass"), "value"), pose[:3, 3], rotation @ inertia @ rotation.T)


def _joint(element: ElementTree.Element) -> UrdfJoint:
    kind = element.attrib["type"]
    limit = element.find("limit")
    bounded = limit is not None and kind != "continuous"
    axis, mimic = _vector(element.find("axis"), "xyz", "1 0 0"), element.find("mimic")
    return UrdfJoint(
        name=element.attrib["name"],
        kind=kind,
        parent=_child(element, "parent").attrib["link"],
        child=_child(element, "child").attrib["link"],
        pose=origin_pose(element.find("origin")),
        axis=axis / (np.linalg.norm(axis) or 1.0),  # fixed joints may carry a zero axis
        limits=(_number(limit, "lower"), _number(limit, "upper")) if bounded else (-np.inf, np.inf),
        effort=_number(limit, "effort") if limit is not None else np.inf,
        mimic="" if mimic is None else mimic.get("joint", ""),
        velocity=_number(limit, "velocity") if limit is not None else np.inf,
    )


def _visual(element: ElementTree.Element, colours: dict[str, tuple[float, ...]]) -> Visual | None:
    shape = _shape(element)
    if shape is None:
        return None
    return Visual(shape.kind, shape.size, shape.file, shape.pose, _colour(element.find("material"), colours))


def _is_known_shape(element: ElementTree.Element) -> bool:
    return all(shape.tag in _SHAPES for shape in _child(element, "geometry"))


def _shape(element: ElementTree.Element) -> Shape | None:
    shape = next(iter(_child(element, "geometry")), None)
    if shape is None:
        return None
    if shape.tag not in _SHAPES:
        raise ModelError(f"a visual has the unknown shape <{shape.tag}> (known: {', '.join(_SHAPES)})")
    size = tuple(float(number) for number in _SHAPES[shape.tag](shape))
    return Shape(shape.tag, size, shape.get("filename", ""), origin_pose(element.find("origin")))


_SHAPES: dict[str, Callable[[ElementTree.Element], Iterable[float]]] = {
    "mesh": lambda shape: _vector(shape, "scale", "1 1 1"),
    "box": lambda shape: _vector(shape, "size", ""),
    "cylinder": lambda shape: (_number(shape, "radius"), _number(shape, "length")),
    "sphere": lambda shape: (_number(shape, "radius"),),
}


def _colour(material: ElementTree.Element | None, colours: dict[str, tuple[float, ...]]) -> tuple[float, ...]:
    if material is None:
        return _DEFAULT_COLOUR
    if material.find("color") is None:
        return colours.get(material.get("name", ""), _DEFAULT_COLOUR)
    return _named_colour(material)[1]


def _named_colour(material: ElementTree.Element) -> tuple[str, tuple[float, ...]]:
    rgba = _vector(material.find("color"), "rgba", "0.8 0.8 0.8 1")
    return material.get("name", ""), tuple(float(number) for number in rgba)


def origin_pose(origin: ElementTree.Element | None) -> NDArray:
    """Homogeneous matrix of ``xyz`` and ``rpy`` (about fixed axes: roll, then pitch, then yaw)."""
    roll, pitch, yaw = _vector(origin, "rpy", "0 0 0")
    pose = np.eye(4)
    pose[:3, :3] = so3.rotation_z(yaw) @ so3.exp(np.array([0.0, pitch, 0.0])) @ so3.exp(np.array([roll, 0.0, 0.0]))
    pose[:3, 3] = _vector(origin, "xyz", "0 0 0")
    return pose


def add_origin(element: ElementTree.Element, position: NDArray, rotation: NDArray) -> None:
    """Add the ``<origin>`` of a pose: `origin_pose` reads it back."""
    ElementTree.SubElement(element, "origin", xyz=numbers(position), rpy=numbers(so3.roll_pitch_yaw(rotation)))


def numbers(vector: NDArray) -> str:
    """Return a vector as an attribute."""
    return " ".join(f"{number:.9g}" for number in vector)


def _vector(element: ElementTree.Element | None, key: str, default: str) -> NDArray:
    text = default if element is None else element.get(key, default)
    return np.array([float(number) for number in text.split()])


def _number(element: ElementTree.Element | None, key: str) -> float:
    return 0.0 if element is None else float(element.get(key, "0"))


def _child(element: ElementTree.Element, tag: str) -> ElementTree.Element:
    child = element.find(tag)
    if child is None:
        raise ModelError(f"<{element.tag} name='{element.get('name', '')}'> has no <{tag}>")
    return child


@dataclass(frozen=True, slots=True, eq=False)
class JointRanges:
    """Limits of joints, in the order in which they were asked for.

    Attributes:
        lower: [rad], shape (N,).
        upper: [rad], shape (N,).
        velocity: Largest, [rad/s], shape (N,).
        torque: Largest, [N·m], shape (N,).
    """

    lower: NDArray
    upper: NDArray
    velocity: NDArray
    torque: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, lower=(None,), upper=(None,), velocity=(None,), torque=(None,))


def joint_ranges(description: RobotDescription, joints: Sequence[str]) -> JointRanges:
    """Return the limits of any joints of a robot's model: the URDF's and, of walking joints, the description's.

    Raises:
        ModelError: The model has no such joint.
    """
    urdf = read_urdf(description.model_path)
    for joint in joints:
        if joint not in urdf.joints:
            raise ModelError(f"the model has no joint '{joint}'{nearest_name(joint, urdf.joints)}")
    speeds = dict(zip(description.joints, description.per_joint("velocity_limit"), strict=True))
    torques = dict(zip(description.joints, description.per_joint("torque_limit"), strict=True))
    bounds = np.array([urdf.joints[joint].limits for joint in joints])
    efforts = [urdf.joints[joint].effort or np.inf for joint in joints]
    return JointRanges(
        lower=bounds[:, 0],
        upper=bounds[:, 1],
        velocity=np.array([speeds.get(joint, _SPEED) for joint in joints]),
        torque=np.minimum(efforts, [torques.get(joint, _TORQUE) for joint in joints]),
    )
