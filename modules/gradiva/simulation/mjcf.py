"""A URDF of an MJCF: bodies, hinges, inertias, shapes and sites as MuJoCo's own compiler understands them.

Scenes, solvers, pictures and sensors have no part in it, and are left out before the compiler reads the file: it would
refuse a robot because of a key of its solver that was dropped since, or a sensor of a floor that another file has.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from gradiva.common import ModelError, NDArray
from gradiva.simulation.engine import mujoco
from gradiva.simulation.scene import is_there
from gradiva.simulation.urdf import add_origin, numbers

_SHARE = 0.01  # [-] of the mass and inertia of a body
_KEPT = ("compiler", "default", "asset", "worldbody", "actuator", "equality", "tendon", "extension")  # sections
_NOT_OF_ROBOTS = ("light", "camera")
_NUMBERS = re.compile(r"[\s\d.,eE+-]*,[\s\d.,eE+-]*")  # with commas, which older compilers took
_UNKNOWN = re.compile(r"unrecognized attribute: '(\w+)'.*Element '(\w+)'", re.DOTALL)
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("colour", "<u2")])  # of a binary STL


@dataclass(frozen=True, slots=True)
class JointDrive:
    """Rotor and friction of the drive of a joint, as a model has them, seen at the joint; 0 where it has none.

    Attributes:
        rotor_inertia: N² J with the ratio N, [kg·m²].
        coulomb_friction: [N·m].
        viscous_friction: [N·m·s/rad].
    """

    rotor_inertia: float = 0.0
    coulomb_friction: float = 0.0
    viscous_friction: float = 0.0


@dataclass(frozen=True, slots=True)
class MjcfRobot:
    """URDF of an MJCF, and what a URDF has no place for.

    Attributes:
        urdf: The file that was written.
        drives: Joint to armature, loss by friction and damping, which a URDF has no place for.
        notes: What the URDF leaves out, a line each.
        absent_meshes: Names of the meshes that are not there, whose shapes are left out.
    """

    urdf: Path
    drives: Mapping[str, JointDrive]
    notes: tuple[str, ...]
    absent_meshes: tuple[str, ...] = ()


def write_urdf_of_mjcf(mjcf: Path, folder: Path, name: str) -> MjcfRobot:
    """Write ``folder/NAME.urdf`` and its meshes.

    Each hinge becomes a revolute joint (several of one body a chain of links without mass), each site a frame; joints
    that slide and balls are fixed, constraints that close loops are left out, as is what the world holds beside the
    robot. Limits of torque are those of the joints and of their motors.

    Args:
        mjcf: An XML file of MuJoCo, with all that it includes.
        folder: Exists; gets the URDF and ``meshes/``.
        name: Of the robot.

    Raises:
        ModelError: The file is no MJCF, MuJoCo cannot compile it, or it has no or several robots.
    """
    model, absent, unknown = _compiled(mjcf)
    tree = _UrdfOfModel(model, mjcf, folder, name)
    path = folder / f"{name}.urdf"
    ElementTree.indent(tree.robot)
    ElementTree.ElementTree(tree.robot).write(path, encoding="utf-8", xml_declaration=True)
    lines = [f"left out: shapes of meshes that are not there ({', '.join(absent)})"] if absent else []
    return MjcfRobot(path, tree.drives(), (*lines, *unknown, *tree.left_out()), absent)


# -- what a file says about its robot ----------------------------------------------------------------------------------


def _compiled(mjcf: Path) -> tuple[mujoco.MjModel, tuple[str, ...], list[str]]:
    """Return the compiled robot of a file, the meshes that are not there, and a line on each attribute left out."""
    try:
        root = _with_included(ElementTree.parse(mjcf).getroot(), mjcf.resolve().parent)
    except (OSError, ElementTree.ParseError) as error:
        raise ModelError(f"{mjcf}: cannot be read: {error}") from None
    _leave_out_scene(root)
    absent = _leave_out_absent_meshes(root, mjcf.resolve().parent)
    unknown: list[str] = []
    while True:
        try:
            return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode")), absent, unknown
        except ValueError as error:
            found = _UNKNOWN.search(str(error))
            if not found or not _dropped(root, *found.groups()):
                reason = " ".join(str(error).split())
                raise ModelError(f"{mjcf}: MuJoCo cannot compile it: {reason}") from None
            unknown.append(f"left out: {found[1]} of <{found[2]}>, which MuJoCo {mujoco.__version__} does not know")


def _with_included(element: ElementTree.Element, *folders: Path) -> ElementTree.Element:
    """Put what the files of ``<include>`` hold in their place; they are named from the main file, or from their own."""
    for child in list(element):
        if child.tag == "include":
            at, name = list(element).index(child), child.get("file", "")
            file = next((folder / name for folder in folders if (folder / name).is_file()), folders[0] / name)
            element.remove(child)
            included = _with_included(ElementTree.parse(file).getroot(), folders[0], file.parent)
            for offset, part in enumerate(included):
                element.insert(at + offset, part)
        else:
            _with_included(child, *folders)
    return element


def _leave_out_scene(root: ElementTree.Element) -> None:
    """Keep bodies, joints, motors, constraints and meshes; write numbers without commas."""
    for section in [section for section in root if section.tag not in _KEPT]:
        root.remove(section)
    for asset in root.iter("asset"):
        for item in [item for item in asset if item.tag not in ("mesh", "model")]:
            asset.remove(item)
    for world in root.findall("worldbody"):
        for item in [item for item in world if item.tag in ("geom", "site")]:
            world.remove(item)
    for element in root.iter():
        for child in [child for child in element if child.tag in _NOT_OF_ROBOTS or _is_material(element, child)]:
            element.remove(child)
        element.attrib.pop("material", None)
        for key, value in element.attrib.items():
            if _NUMBERS.fullmatch(value):
                element.set(key, value.replace(",", " "))


def _is_material(parent: ElementTree.Element, child: ElementTree.Element) -> bool:
    return parent.tag == "default" and child.tag == "material"


def _leave_out_absent_meshes(root: ElementTree.Element, folder: Path) -> tuple[str, ...]:
    """Name files of meshes by where they are; leave out and return those that are not there, and their shapes.

    Meshes of bodies whose inertia is stated have none of their own to be computed: those without a volume pass.
    """
    compiler: dict[str, str] = {}
    for element in root.iter("compiler"):
        compiler.update(element.attrib)
        for key in ("meshdir", "texturedir", "assetdir", "strippath", "discardvisual", "fusestatic"):
            element.attrib.pop(key, None)
    meshes = folder / compiler.get("meshdir", compiler.get("assetdir", ""))
    _name_by_place(root, {"asset/model": folder, ".//flexcomp": meshes})
    _name_default_meshes(root)
    of_shapes = _bodies_by_mesh(root, is_stated=compiler.get("inertiafromgeom") != "true")
    absent: set[str] = set()
    for asset in root.iter("asset"):
        for mesh in [mesh for mesh in asset.findall("mesh") if mesh.get("file")]:
            file = Path(mesh.get("file", ""))
            path, name = (
                meshes / (file.name if compiler.get("strippath") == "true" else file),
                mesh.get("name", file.stem),
            )
            mesh.attrib.update({"name": name, "file": str(path)})
            if not of_shapes.get(name):
                mesh.attrib.setdefault("inertia", "shell")
            if not is_there(path):
                absent.add(name)
                asset.remove(mesh)
                _refuse_lost_mass(of_shapes.get(name, []), path)
    for parent in list(root.iter()):  # bodies, and frames in them
        for geom in [geom for geom in parent.findall("geom") if geom.get("mesh") in absent]:
            parent.remove(geom)
    return tuple(sorted(absent))


def _name_by_place(root: ElementTree.Element, folders: Mapping[str, Path]) -> None:
    """Name files of elements by where they are; ``folders`` has, by the path of elements, from where theirs are named.

    What is compiled is a text, from which MuJoCo finds no file that is named otherwise.
    """
    for path, folder in folders.items():
        for element in root.iterfind(path):
            if file := element.get("file"):
                element.set("file", str(folder / file))


def _name_default_meshes(root: ElementTree.Element) -> None:
    """Name the mesh of each shape of a body that has it by its class."""
    meshes: dict[str, str] = {}

    def read(default: ElementTree.Element, inherited: str) -> None:
        """Collect the meshes that classes of defaults name, inherited ones included."""
        geom = default.find("geom")
        own = inherited if geom is None else geom.attrib.pop("mesh", inherited)
        meshes[default.get("class", "main")] = own
        for child in default.findall("default"):
            read(child, own)

    def name(body: ElementTree.Element, inherited: str) -> None:
        """Write the mesh of its class into each geometry that names none."""
        of_body = body.get("childclass", inherited)
        for geom in body.findall("geom"):
            if mesh := meshes.get(geom.get("class", of_body)):
                geom.attrib.setdefault("mesh", mesh)
        for child in [*body.findall("body"), *body.findall("frame")]:
            name(child, of_body)

    for default in root.findall("default"):
        read(default, "")
    for world in root.findall("worldbody"):
        name(world, "main")


def _bodies_by_mesh(root: ElementTree.Element, is_stated: bool) -> dict[str, list[str]]:
    """Return, by mesh, the bodies that have their inertia from it: those that state none, or all where none counts."""
    bodies: dict[str, list[str]] = {}
    for body in root.iter("body"):
        if not is_stated or body.find("inertial") is None:
            for geom in _geoms(body):
                bodies.setdefault(geom.get("mesh", ""), []).append(body.get("name", "without a name"))
    return bodies


def _geoms(parent: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield the geoms of a body, and those of frames in it, however deep."""
    yield from parent.findall("geom")
    for frame in parent.findall("frame"):
        yield from _geoms(frame)


def _refuse_lost_mass(bodies: Sequence[str], path: Path) -> None:
    if bodies:
        raise ModelError(f"mesh {path} is not there, and the mass of body {', '.join(bodies)} is that of its shapes")


def _dropped(root: ElementTree.Element, attribute: str, tag: str) -> bool:
    """Remove an attribute of all elements of a kind; return whether one had it."""
    found = [element for element in root.iter(tag) if element.attrib.pop(attribute, None) is not None]
    return bool(found)


class _UrdfOfModel:
    """Builds the elements of a URDF from a compiled model."""

    def __init__(self, model: mujoco.MjModel, mjcf: Path, folder: Path, name: str) -> None:
        self._model = model
        self._folder = folder
        self.robot = ElementTree.Element("robot", name=name)
        self._root = self._moving_root(mjcf)
        for body in range(1, model.nbody):
            if model.body_rootid[body] == self._root:
                self._add_body(body, is_root=body == self._root)

    def drives(self) -> dict[str, JointDrive]:
        """Return what is known of the drive of each joint."""
        model = self._model
        values = zip(model.dof_armature, model.dof_frictionloss, model.dof_damping, strict=True)
        of_degrees = [JointDrive(*(float(value) for value in each)) for each in values]
        return {self._joint_name(hinge): of_degrees[model.jnt_dofadr[hinge]] for hinge in self._hinges()}

    def left_out(self) -> tuple[str, ...]:
        """Return a line on each kind of content that the URDF has no place for."""
        model = self._model
        coupled = [
            f"{self._joint_name(model.eq_obj1id[item])} to {self._joint_name(other) if other >= 0 else 'a constant'}"
            for item, other in enumerate(model.eq_obj2id)
            if model.eq_type[item] == mujoco.mjtEq.mjEQ_JOINT
        ]
        springs = [self._joint_name(hinge) for hinge in self._hinges() if model.jnt_stiffness[hinge] > 0.0]
        tendons = [model.tendon(index).name or f"number {index}" for index in range(model.ntendon)]
        found = {
            "left out: couplings of joints": coupled,
            "left out: springs of joints": springs,
            "left out: tendons": tendons,
            "left out: loops, each hinge of a leg is taken to have a motor of its own": self._loops(),
            "fixed: joints that slide, and balls": self._fixed(),
        }
        return tuple(f"{kind} ({', '.join(names)})" for kind, names in found.items() if names)

    def _hinges(self) -> list[int]:
        """Return the joints that become those of the URDF."""
        return [
            hinge for hinge in range(self._model.njnt) if self._model.jnt_type[hinge] == mujoco.mjtJoint.mjJNT_HINGE
        ]

    def _moving_root(self, mjcf: Path) -> int:
        """Return the body of the world that floats, or else moves; of several, the one with hinges."""
        model = self._model
        children = [body for body in range(1, model.nbody) if model.body_parentid[body] == 0]
        floats = [body for body in children if self._joints(body, mujoco.mjtJoint.mjJNT_FREE)]
        moving = floats or [body for body in children if any(model.body_dofnum[model.body_rootid == body])]
        robots = [body for body in moving if len(moving) == 1 or self._has_hinges(body)]
        if len(robots) != 1:
            names = ", ".join(self._body_name(body) for body in moving) or "none"
            raise ModelError(f"{mjcf}: one body of the world has to move, a robot; here it is {names}")
        return int(robots[0])

    def _has_hinges(self, root: int) -> bool:
        return any(self._model.body_rootid[self._model.jnt_bodyid[hinge]] == root for hinge in self._hinges())

    def _fixed(self) -> list[str]:
        """Return the joints of the robot that do not move in the URDF: all but hinges, and what lets its root move."""
        model, kept = self._model, {int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_FREE)}
        return [
            model.joint(joint).name or f"joint {joint}"
            for joint in range(model.njnt)
            if int(model.jnt_type[joint]) not in kept
            and model.body_rootid[model.jnt_bodyid[joint]] == self._root != model.jnt_bodyid[joint]
        ]

    def _loops(self) -> list[str]:
        """Return the constraints that close loops."""
        closing = {int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)}
        model = self._model
        return [
            model.equality(item).name or f"number {item}"
            for item in range(model.neq)
            if int(model.eq_type[item]) in closing
        ]

    def _joints(self, body: int, kind: int) -> list[int]:
        first, count = self._model.body_jntadr[body], self._model.body_jntnum[body]
        return [joint for joint in range(first, first + count) if self._model.jnt_type[joint] == int(kind)]

    def _joint_name(self, hinge: int) -> str:
        return self._model.joint(hinge).name or f"joint_{hinge}"

    def _body_name(self, body: int) -> str:
        return self._model.body(body).name or f"body_{body}"

    # -- links and joints ------------------------------------------------------------------------------------------

    def _add_body(self, body: int, is_root: bool) -> None:
        name = self._body_name(body)
        own_share = 1.0 if is_root else self._add_joints(body, name)
        link = self._link(name)
        self._add_inertial(link, body, own_share, self._model.body_ipos[body])
        for geom in range(self._model.ngeom):
            if self._model.geom_bodyid[geom] == body:
                self._add_shapes(link, geom)
        for site in range(self._model.nsite):
            if self._model.site_bodyid[site] == body and self._model.site(site).name:
                self._add_site(name, site)

    def _add_joints(self, body: int, name: str) -> float:
        """Join the body to its parent: by its hinges one after the other, each at its own place, or fixed.

        Returns:
            The body's share of its own mass: a link between two of its hinges gets ``_SHARE``, for a link that moves
            alone needs some.
        """
        model = self._model
        parent = self._body_name(model.body_parentid[body])
        position, rotation = model.body_pos[body], _rotation(model.body_quat[body])
        hinges = self._joints(body, mujoco.mjtJoint.mjJNT_HINGE)
        for hinge in hinges:
            place = model.jnt_pos[hinge]
            is_last = hinge == hinges[-1] and not np.any(place)
            child = name if is_last else f"{self._joint_name(hinge)}_axis"
            joint = self._joint(self._joint_name(hinge), parent, child, position + rotation @ place, rotation)
            self._set_motion(joint, hinge)
            if not is_last:
                axis = self._link(child)
                if hinge != hinges[-1]:
                    self._add_inertial(axis, body, _SHARE, np.zeros(3))
            parent, position, rotation = child, -place, np.eye(3)
        if parent != name:
            self._joint(f"{name}_fixed", parent, name, position, rotation)
        return 1.0 - _SHARE * max(len(hinges) - 1, 0)

    def _joint(self, name: str, parent: str, child: str, position: NDArray, rotation: NDArray) -> ElementTree.Element:
        joint = ElementTree.SubElement(self.robot, "joint", name=name, type="fixed")
        add_origin(joint, position, rotation)
        ElementTree.SubElement(joint, "parent", link=parent)
        ElementTree.SubElement(joint, "child", link=child)
        return joint

    def _set_motion(self, joint: ElementTree.Element, hinge: int) -> None:
        model = self._model
        zero = model.qpos0[model.jnt_qposadr[hinge]]  # the angle that the file shows is the zero of the URDF
        lower, upper = model.jnt_range[hinge] - zero if model.jnt_limited[hinge] else (-np.pi, np.pi)
        joint.set("type", "revolute")
        ElementTree.SubElement(joint, "axis", xyz=numbers(model.jnt_axis[hinge]))
        limit = {"lower": lower, "upper": upper, "velocity": 1e3, "effort": self._torque_limit(hinge)}
        ElementTree.SubElement(joint, "limit", {key: f"{value:.9g}" for key, value in limit.items()})

    def _torque_limit(self, hinge: int) -> float:
        """Return what the joint and its motors give at most, [N·m]; a million where nothing limits them."""
        model = self._model
        at_joint, direct = int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtBias.mjBIAS_NONE)
        limits = [1e6]
        if model.jnt_actfrclimited[hinge]:
            limits.append(float(np.abs(model.jnt_actfrcrange[hinge]).max()))
        for motor in range(model.nu):
            if model.actuator_trnid[motor, 0] != hinge or model.actuator_trntype[motor] != at_joint:
                continue
            gear = abs(float(model.actuator_gear[motor, 0]))
            if model.actuator_forcelimited[motor]:
                limits.append(gear * float(np.abs(model.actuator_forcerange[motor]).max()))
            elif model.actuator_ctrllimited[motor] and model.actuator_biastype[motor] == direct:
                control = float(np.abs(model.actuator_ctrlrange[motor]).max())
                limits.append(gear * control * float(model.actuator_gainprm[motor, 0]))
        return min(limits)

    def _link(self, name: str) -> ElementTree.Element:
        return ElementTree.SubElement(self.robot, "link", name=name)

    def _add_inertial(self, link: ElementTree.Element, body: int, share: float, centre: NDArray) -> None:
        model = self._model
        if model.body_mass[body] <= 0.0:
            return
        inertial = ElementTree.SubElement(link, "inertial")
        add_origin(inertial, centre, np.eye(3))
        axes = _rotation(model.body_iquat[body])
        inertia = share * axes @ np.diag(model.body_inertia[body]) @ axes.T
        ElementTree.SubElement(inertial, "mass", value=f"{share * model.body_mass[body]:.9g}")
        entries = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
        ElementTree.SubElement(inertial, "inertia", {key: f"{inertia[at]:.9g}" for key, at in entries.items()})

    def _add_site(self, body: str, site: int) -> None:
        model = self._model
        name = model.site(site).name
        taken = {link.get("name") for link in self.robot.findall("link")}
        taken |= {self._body_name(other) for other in range(1, model.nbody)}  # bodies that follow, too
        frame = f"{name}_site" if name in taken else name
        self._link(frame)
        self._joint(f"{frame}_fixed", body, frame, model.site_pos[site], _rotation(model.site_quat[site]))

    # -- shapes ----------------------------------------------------------------------------------------------------

    def _add_shapes(self, link: ElementTree.Element, geom: int) -> None:
        """Add what is seen of a geom and what touches; one that touches is seen where nothing else of its body is."""
        model = self._model
        touches = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
        is_drawn_otherwise = np.any(~touches & (model.geom_bodyid == model.geom_bodyid[geom]))
        kinds = ["visual"] if not touches[geom] else ["collision"] if is_drawn_otherwise else ["visual", "collision"]
        position, rotation = model.geom_pos[geom], _rotation(model.geom_quat[geom])
        for kind in kinds:
            for offset, tag, size in self._shapes(geom):
                shape = ElementTree.SubElement(link, kind)
                add_origin(shape, position + rotation[:, 2] * offset, rotation)
                ElementTree.SubElement(ElementTree.SubElement(shape, "geometry"), tag, size)

    def _shapes(self, geom: int) -> Iterator[tuple[float, str, dict[str, str]]]:
        """Yield the offset along z, [m], the tag and the attributes of the URDF's shapes of a geom."""
        kinds = mujoco.mjtGeom
        kind, size = kinds(self._model.geom_type[geom]), self._model.geom_size[geom]
        if kind == kinds.mjGEOM_BOX:
            yield 0.0, "box", {"size": numbers(2.0 * size)}
        elif kind == kinds.mjGEOM_SPHERE:
            yield 0.0, "sphere", {"radius": f"{size[0]:.9g}"}
        elif kind in (kinds.mjGEOM_CYLINDER, kinds.mjGEOM_CAPSULE):
            yield 0.0, "cylinder", {"radius": f"{size[0]:.9g}", "length": f"{2.0 * size[1]:.9g}"}
            if kind == kinds.mjGEOM_CAPSULE:
                yield size[1], "sphere", {"radius": f"{size[0]:.9g}"}
                yield -size[1], "sphere", {"radius": f"{size[0]:.9g}"}
        elif kind == kinds.mjGEOM_ELLIPSOID:
            yield 0.0, "box", {"size": numbers(2.0 * size)}
        elif kind == kinds.mjGEOM_MESH:
            yield 0.0, "mesh", {"filename": self._mesh(self._model.geom_dataid[geom])}

    def _mesh(self, mesh: int) -> str:
        """Return the name of the file of a mesh, which is written when it is first asked for."""
        model = self._model
        name = f"meshes/{model.mesh(mesh).name or f'mesh_{mesh}'}.stl"
        path = self._folder / name
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            first, faces = model.mesh_vertadr[mesh], model.mesh_faceadr[mesh]
            vertices = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
            corners = vertices[model.mesh_face[faces : faces + model.mesh_facenum[mesh]]]
            _write_stl(path, corners)
        return name


def _write_stl(path: Path, corners: NDArray) -> None:
    """Write triangles, [m], shape (n, 3, 3), as binary STL."""
    triangles = np.zeros(len(corners), dtype=_TRIANGLE)
    triangles["corners"] = corners
    path.write_bytes(bytes(80) + struct.pack("<I", len(triangles)) + triangles.tobytes())


def _rotation(quaternion: NDArray) -> NDArray:
    """Return the rotation matrix of (w, x, y, z)."""
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, quaternion)
    return rotation.reshape(3, 3)
