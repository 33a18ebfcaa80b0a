"""The model file of a new robot: as it is, or a URDF of its own where walking needs another root, soles, or no MJCF."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from gradiva.common import GRAVITY, ModelError, NDArray, Side, unreadable
from gradiva.setup.new_robot.drives import UNKNOWN_SPEED
from gradiva.setup.new_robot.limbs import LEG_JOINTS, Choices, find_limbs, missing_soles, standing_turn, walking_base
from gradiva.setup.new_robot.skeleton import Skeleton
from gradiva.setup.new_robot.soles import MESHES, mesh_extent
from gradiva.setup.robots import FILE, find_model_file, package_and_model
from gradiva.simulation import (
    JointDrive,
    Urdf,
    add_origin,
    find_mesh,
    numbers,
    origin_pose,
    read_urdf,
    write_urdf_of_mjcf,
)

_ALIGNED = 1e-6  # [-] of rotation matrices that are taken to be the same
_REACH = 10.0  # [m] from the root: beyond it lengths are in another unit
_REACH_OF_CM = 100.0  # [m] that a humanoid of less than a metre above the root reaches in centimetres
_PLACEHOLDERS = 2  # [ranges] beyond a turn that a model without limits has: degrees differ from joint to joint
_WIDEST_WHOLE = 10.0  # [rad] a joint of a model in radians turns less, of whole limits in degrees one turns more
_LEAST_REACH = 1.0  # [m] of a robot, for the size of its meshes
_LARGEST_MESH = 10.0  # [-] of that reach: beyond it a mesh is in another unit
_HEAVIEST = 2000.0  # [kg] of a humanoid
_LIGHT, _DENSE = 1.0, 2000.0  # [kg/m³] of the reach cubed: giants have 10, humanoids 20 to 300
_GYRATION = 1.0  # [-] of the reach: radius of the middle link, a tenth on robots
_UNITS_OF_INERTIA = {"g·m²": 3.0, "kg·cm²": 10.0, "kg·mm²": 100.0}
"""That radius over the reach, [-], where inertias are in a unit that makes them too large."""
_PARTS_OF_LINKS = ("inertial", "visual", "collision")
_KNEE_SWING = 0.5  # [rad]
_SHORTEST_LEG = 0.05  # [m] from the first to the last joint


@dataclass(frozen=True, slots=True)
class ModelFile:
    """Model that a new robot is drafted from.

    Attributes:
        source: ``package`` and ``model`` of robot.toml.
        path: The URDF.
        folder: Of files that the robot's folder gets; None where the URDF is used as it is.
        notes: What was changed, a line each.
        drives: What the model says about the drives of its joints.
        soles: Frames that were added, by foot: they are its soles, whatever the others are called.
        origin: The file that the user gives; None where it is the URDF.
        lacks_meshes: Whether shapes were left out, since their meshes are not there.
    """

    source: tuple[str, str]
    path: Path
    folder: Path | None = None
    notes: tuple[str, ...] = ()
    drives: Mapping[str, JointDrive] = field(default_factory=dict)
    soles: Mapping[Side, str] = field(default_factory=dict)
    origin: Path | None = None
    lacks_meshes: bool = False

    def named(self, error: ModelError) -> ModelError:
        """Return an error that names the file that the user gives, once."""
        origin = str(self.origin or self.path)
        text = str(error).replace(str(self.path), origin)
        return ModelError(text if origin in text else f"{text} ({origin})")

    def chosen(self, choices: Choices) -> Choices:
        """Return the names that the user gives, and those of the soles that were added."""
        left, right = (self.soles.get(side) for side in (Side.LEFT, Side.RIGHT))
        return replace(choices, left_sole=left or choices.left_sole, right_sole=right or choices.right_sole)


def model_file_of(name: str, urdf: str | None, mjcf: Path | None, choices: Choices, folder: Path) -> ModelFile:
    """Return the model file of a robot.

    Args:
        name: Of the robot.
        urdf: A path, or ``package:model``.
        mjcf: An XML file of MuJoCo instead.
        choices: Names that the user gives.
        folder: Exists and is empty; gets a URDF where one has to be written.

    Raises:
        ModelError: None of both is given, or both are; it is none of a biped, or something has to be named.
    """
    if (urdf is None) == (mjcf is None):
        raise ModelError("name the model of the robot: either --urdf or --mjcf")
    if urdf is not None:
        source = package_and_model(urdf)
        given = ModelFile(source, find_model_file(*source), origin=find_model_file(*source))
        _check_kind(given.path, "robot")
    else:
        assert mjcf is not None
        _check_kind(mjcf, "mujoco")
        robot = write_urdf_of_mjcf(mjcf, folder, name)
        notes = f"{mjcf.name} of MuJoCo as {robot.urdf.name}", *robot.notes
        given = ModelFile((FILE, robot.urdf.name), robot.urdf, folder, notes, robot.drives, origin=mjcf)
        given = replace(given, lacks_meshes=bool(robot.absent_meshes))
    try:
        given = _without_capsules(given, name, folder)
        _check_names(given)
        check_units(read_urdf(given.path))
        given = replace(given, notes=(*given.notes, *_equal_masses(read_urdf(given.path))))
        check_meshes(read_urdf(given.path), given.path)
        given = _upright(given, name, choices, folder)
        given = _with_soles(_with_base(given, name, choices, folder), name, choices, folder)
        return _without_slow_limits(given, name, given.chosen(choices), folder)
    except ModelError as error:
        raise given.named(error) from error


def check_units(urdf: Urdf) -> None:
    """Pass a model in metres, radians, kilograms and kg·m², as far as its size says.

    Raises:
        ModelError: It has probably another unit: the message says which.
    """
    skeleton = Skeleton(urdf)
    reach = max(float(np.linalg.norm(pose[:3, 3])) for pose in skeleton.poses)
    if reach > _REACH and urdf.mass < _LIGHT * reach**3:
        unit = "mm" if reach > _REACH_OF_CM else "cm"
        raise ModelError(
            f"it reaches {reach:.0f} m from its root: lengths are probably in {unit}, they have to be in m"
        )
    ranges = {joint.name: joint.limits for joint in urdf.joints.values() if joint.kind == "revolute"}
    wide = {name: each for name, each in ranges.items() if 2.0 * np.pi + 0.1 < max(map(abs, each)) <= 360.0}
    are_far = max((max(map(abs, each)) for each in wide.values()), default=0.0) > _WIDEST_WHOLE
    are_whole = are_far and all(float(angle).is_integer() for each in ranges.values() for angle in each)
    different = set(ranges.values() if are_whole else wide.values())
    if (2 * len(wide) > len(ranges) or are_whole) and len(different) > _PLACEHOLDERS:
        name, (low, high) = next(iter(wide.items()))
        raise ModelError(
            f"the limits of {len(wide)} of {len(ranges)} joints are beyond a turn ({name}: {low:g} to {high:g} rad):"
            " angles are probably in degrees, they have to be in rad"
        )
    largest = max((max(map(abs, each)) for each in ranges.values()), default=0.0)
    if 0.0 < largest < np.radians(2.0 * np.pi):
        raise ModelError(
            f"no joint turns by more than {np.degrees(largest):.1f}°: angles are probably in rad and read as degrees,"
            ' as of an MJCF without <compiler angle="radian"/>'
        )
    if urdf.mass > max(_HEAVIEST, _DENSE * reach**3):
        raise ModelError(f"it weighs {urdf.mass:.0f} kg: masses are probably in g, they have to be in kg")
    _check_inertias(urdf, reach)


def _check_inertias(urdf: Urdf, reach: float) -> None:
    solid = [(name, each.inertial) for name, each in urdf.links.items() if each.inertial and each.inertial.mass > 0.0]
    radii = sorted((float(np.sqrt(abs(np.trace(own.inertia)) / (2.0 * own.mass))), name) for name, own in solid)
    if radii and radii[len(radii) // 2][0] > _GYRATION * max(reach, _SHORTEST_LEG):
        radius, name = radii[len(radii) // 2]
        fraction = radius / max(reach, _SHORTEST_LEG)
        unit = min(_UNITS_OF_INERTIA, key=lambda unit: abs(math.log(fraction / _UNITS_OF_INERTIA[unit])))
        are = f"probably in {unit}" if fraction > 0.5 * _UNITS_OF_INERTIA[unit] else "some hundred times too large"
        raise ModelError(
            f"the radius of gyration of '{name}' is {radius:.2g} m on a robot that reaches {reach:.2g} m from its root,"
            f" and half of the links are no better: inertias are {are}, they have to be in kg·m²"
        )


def _equal_masses(urdf: Urdf) -> tuple[str, ...]:
    """Return a note where all links that have a mass have the same, as exporters without one give them."""
    masses = [link.inertial.mass for link in urdf.links.values() if link.inertial]
    if len(masses) <= 2 * LEG_JOINTS or len(set(masses)) > 1:
        return ()
    return (f"masses: the model has {masses[0]:g} kg for each of {len(masses)} links, a placeholder; it is taken",)


def check_meshes(urdf: Urdf, path: Path) -> None:
    """Pass a model whose meshes are as large as the robot, as far as they can be read.

    Raises:
        ModelError: A mesh is many times larger: the message says its size and its probable unit.
    """
    largest = _LARGEST_MESH * max(
        _LEAST_REACH, max(float(np.linalg.norm(pose[:3, 3])) for pose in Skeleton(urdf).poses)
    )
    for link in urdf.links.values():
        for shape in (*link.collisions, *link.visuals):
            if shape.kind == "mesh" and (extent := mesh_extent(shape, path)) > largest:
                unit, scale = ("mm", 0.001) if extent > _REACH_OF_CM else ("cm", 0.01)
                raise ModelError(
                    f"the mesh '{Path(shape.file).name}' of '{link.name}' is {extent:.0f} m long: it is probably in"
                    f" {unit}, multiply its scale by {scale:g}"
                )


def _check_names(given: ModelFile) -> None:
    """Refuse links or joints that differ and have the same name, and elements of links that readers pass over.

    Of the former they keep different ones, of the latter none: a link with a misspelled inertial has no mass.
    """
    robot = ElementTree.parse(given.path).getroot()
    wrong = [each.tag for link in robot.findall("link") for each in link if each.tag not in _PARTS_OF_LINKS]
    for tag in wrong:
        for meant in get_close_matches(tag, _PARTS_OF_LINKS, 1, 0.8):
            raise ModelError(f"links have {wrong.count(tag)} times an element <{tag}>, which has to be <{meant}>")
    for tag in ("link", "joint"):
        texts: dict[str, set[str]] = {}
        for element in robot.findall(tag):
            text = ElementTree.canonicalize(ElementTree.tostring(element, encoding="unicode"), strip_text=True)
            texts.setdefault(element.get("name", ""), set()).add(text)
        twice = [name for name, each in texts.items() if len(each) > 1]
        if twice:
            more = f", and so are {len(twice) - 1} more names" * (len(twice) > 1)
            raise ModelError(f"{len(texts[twice[0]])} {tag}s are called '{twice[0]}'{more}: names have to differ")


def _check_kind(path: Path, root: str) -> None:
    """Pass a file of XML whose outermost element is ``root``.

    Raises:
        ModelError: It is another file: the message says what to do with it.
    """
    options = {"robot": "--urdf", "mujoco": "--mjcf"}
    try:
        found = ElementTree.parse(path).getroot()
    except OSError as error:
        raise ModelError(unreadable(path, error, f"a file of XML that begins with <{root}>")) from None
    except ElementTree.ParseError as error:
        raise ModelError(
            f"{path} is no file of XML ({error}): a URDF begins with <robot>, an MJCF with <mujoco>"
        ) from None
    if found.tag != root:
        advice = f": give it with {options[found.tag]}" if found.tag in options else ""
        raise ModelError(f"{path} begins with <{found.tag}>, not with <{root}>{advice}")
    if _is_xacro(found):
        raise ModelError(f"{path} is a xacro: expand it first, xacro {path.name} > {path.name.split('.')[0]}.urdf")


def _is_xacro(robot: ElementTree.Element) -> bool:
    """Return whether values are still expressions, or macros stand for all links."""
    has_expressions = any("${" in value for element in robot.iter() for value in element.attrib.values())
    return has_expressions or ("xacro}" in "".join(element.tag for element in robot) and robot.find("link") is None)


def _without_capsules(given: ModelFile, name: str, folder: Path) -> ModelFile:
    """Draw capsules as cylinders with spheres at their ends: iDynTree crashes on them."""
    if "<capsule" not in given.path.read_text(encoding="utf-8", errors="replace"):
        return given
    robot = _parsed(given)
    shapes = [
        (link, shape) for link in robot.findall("link") for shape in link if shape.find("geometry/capsule") is not None
    ]
    for link, shape in shapes:
        geometry, origin = shape.find("geometry"), origin_pose(shape.find("origin"))
        assert geometry is not None
        capsule = geometry[0]
        capsule.tag = "cylinder"
        half = float(capsule.get("length", "0")) / 2.0
        for end in (-half, half):
            ball = ElementTree.SubElement(link, shape.tag)
            add_origin(ball, origin[:3, 3] + end * origin[:3, 2], origin[:3, :3])
            ElementTree.SubElement(
                ElementTree.SubElement(ball, "geometry"), "sphere", radius=capsule.get("radius", "0")
            )
    note = "capsules are cylinders with spheres at their ends"
    return _written(robot, given, name, folder, note)


def _upright(given: ModelFile, name: str, choices: Choices, folder: Path) -> ModelFile:
    """Turn the axes of the root so that z is up, and the legs are on both sides of y = 0."""
    urdf = read_urdf(given.path)
    turn = standing_turn(urdf, choices)
    if turn is None:
        return given
    robot = _parsed(given)
    turn_link(robot, urdf.roots[0], turn)
    return _written(
        robot, given, name, folder, f"the axes of '{urdf.roots[0]}' are turned: z is up, a leg on each side of y = 0"
    )


def _with_base(given: ModelFile, name: str, choices: Choices, folder: Path) -> ModelFile:
    given = _without_names_of_root(given, name, folder)
    urdf = read_urdf(given.path)
    base, rotation = walking_base(urdf, choices)
    if base == urdf.roots[0]:
        return given
    robot, note = _parsed(given), f"the root is '{base}', where the legs begin, not '{urdf.roots[0]}'"
    reroot(robot, base)
    if not np.allclose(rotation, np.eye(3), atol=_ALIGNED):
        turn_link(robot, base, rotation)
        note += f"; its axes are turned, parallel to those of '{urdf.roots[0]}'"
    return _written(robot, given, name, folder, note)


def _without_names_of_root(given: ModelFile, name: str, folder: Path) -> ModelFile:
    """Leave out links without mass above the root, except one to which it is fixed: iDynTree makes it a frame."""
    urdf = read_urdf(given.path)
    if len(urdf.roots) != 1:
        return given
    above, joints, link, kind = set[str](), set[str](), urdf.roots[0], "fixed"
    while (joint := next((joint for joint in urdf.joints.values() if joint.child == link), None)) is not None:
        link, kind = joint.parent, joint.kind
        above.add(link)
        joints.add(joint.name)
    if len(above) < 2 and kind == "fixed":
        return given
    robot = _parsed(given)
    for element in [element for element in robot if element.tag in ("link", "joint")]:
        if element.get("name") in (above if element.tag == "link" else joints):
            robot.remove(element)
    return _written(robot, given, name, folder, f"links without mass above '{urdf.roots[0]}' are left out")


def _with_soles(given: ModelFile, name: str, choices: Choices, folder: Path) -> ModelFile:
    missing = missing_soles(read_urdf(given.path), choices, given.path)
    if not missing:
        return given
    robot = _parsed(given)
    soles = {side: _add_sole(robot, side, link, pose) for side, (link, pose) in missing.items()}
    note = f"no frame of the feet has x forward and z normal to the sole: {', '.join(soles.values())} are added"
    return replace(_written(robot, given, name, folder, note), soles=soles)


def _without_slow_limits(given: ModelFile, name: str, choices: Choices, folder: Path) -> ModelFile:
    r"""Leave out speed limits that are the same for all joints of the legs and below what walking takes.

    No drive has them, exporters do, and other joints that have the same have no drive's either. A knee that swings by
    half a radian at the frequency of a pendulum as long as the leg, :math:`\sqrt{g / l}`, reaches half of that, in
    [rad/s].
    """
    urdf = read_urdf(given.path)
    limbs, skeleton = find_limbs(urdf, choices), Skeleton(urdf)
    joints = [joint for side in Side for joint in limbs.legs[side]]
    chain = skeleton.chain(skeleton.index_of(limbs.soles[Side.LEFT]))[-LEG_JOINTS:]
    length = float(skeleton.position(chain[0])[2] - skeleton.position(chain[-1])[2])
    needed = _KNEE_SWING * math.sqrt(GRAVITY / max(length, _SHORTEST_LEG))
    speed = urdf.joints[joints[0]].velocity
    if not 0.0 < speed < needed or any(urdf.joints[joint].velocity != speed for joint in joints):
        return given
    robot = _parsed(given)
    for joint in robot.findall("joint"):
        limit, known = joint.find("limit"), urdf.joints.get(joint.get("name", ""))
        if limit is not None and known is not None and known.velocity == speed:
            limit.set("velocity", f"{UNKNOWN_SPEED:g}")
    note = (
        f"velocity limits: the model has {speed:g} rad/s for each joint of the legs, a placeholder, since walking takes"
        f" {needed:.1f} rad/s; it is left out, at other joints as well"
    )
    return _written(robot, given, name, folder, note)


def _parsed(given: ModelFile) -> ElementTree.Element:
    """Return the URDF, its meshes named by where they are, if they are anywhere: the new one stands elsewhere."""
    robot = ElementTree.parse(given.path).getroot()
    if given.folder is None:
        for mesh in robot.iter("mesh"):
            with suppress(ModelError):  # walking needs those of the feet alone, where the sole is fitted
                mesh.set("filename", str(find_mesh(mesh.get("filename", ""), given.path, MESHES)))
    return robot


def _written(robot: ElementTree.Element, given: ModelFile, name: str, folder: Path, note: str) -> ModelFile:
    path = folder / f"{name}.urdf"
    ElementTree.indent(robot)
    ElementTree.ElementTree(robot).write(path, encoding="utf-8", xml_declaration=True)
    return replace(given, source=(FILE, path.name), path=path, folder=folder, notes=(*given.notes, note))


def _add_sole(robot: ElementTree.Element, side: Side, link: str, pose: NDArray) -> str:
    """Add a frame to a foot; return its name."""
    name = _unused(f"{side}_sole", robot)
    ElementTree.SubElement(robot, "link", name=name)
    _fix(robot, f"{name}_fixed", link, name, pose)
    return name


def _fix(robot: ElementTree.Element, name: str, parent: str, child: str, pose: NDArray) -> None:
    joint = ElementTree.SubElement(robot, "joint", name=name, type="fixed")
    add_origin(joint, pose[:3, 3], pose[:3, :3])
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=child)


def reroot(robot: ElementTree.Element, base: str) -> None:
    """Make a link the root of a URDF; frames, angles and limits of all joints stay what they are.

    A joint that moves turns about the origin of its child. Where the child becomes the parent, a link without mass
    turns there, by the same angle about the opposite axis, and carries the former parent.
    """
    above = {_link_of(joint, "child"): joint for joint in robot.findall("joint")}
    link = base
    while (joint := above.get(link)) is not None:
        parent, name = _link_of(joint, "parent"), joint.get("name", "")
        back: NDArray = np.linalg.inv(origin_pose(joint.find("origin"))).astype(float)
        if joint.get("type") == "fixed":
            robot.remove(joint)
            _fix(robot, name, link, parent, back)
        else:
            axis = _unused(f"{name}_axis", robot)
            _turn_round(robot, joint, link, axis)
            _fix(robot, _unused(f"{name}_fixed", robot), axis, parent, back)
        link = parent


def turn_link(robot: ElementTree.Element, link: str, turn: NDArray) -> None:
    """Turn the axes of a link by ``turn``, from the old to the new; all that it carries stays where it is."""
    own = next(element for element in robot.findall("link") if element.get("name") == link)
    parts = [part for part in own if part.tag in ("inertial", "visual", "collision")]
    below = [joint for joint in robot.findall("joint") if _link_of(joint, "parent") == link]
    for element in [*parts, *below]:
        pose = origin_pose(element.find("origin"))
        _set_origin(element, turn @ pose[:3, 3], turn @ pose[:3, :3])
    for joint in [joint for joint in robot.findall("joint") if _link_of(joint, "child") == link]:
        pose = origin_pose(joint.find("origin"))
        _set_origin(joint, pose[:3, 3], pose[:3, :3] @ turn.T)


def _set_origin(element: ElementTree.Element, position: NDArray, rotation: NDArray) -> None:
    if (origin := element.find("origin")) is not None:
        element.remove(origin)
    add_origin(element, position, rotation)


def _unused(name: str, robot: ElementTree.Element) -> str:
    """Return a name that nothing has yet."""
    taken = {element.get("name") for element in robot}
    return next(each for each in (name, *(f"{name}_{i}" for i in range(2, len(taken) + 3))) if each not in taken)


def _turn_round(robot: ElementTree.Element, joint: ElementTree.Element, child: str, axis: str) -> None:
    """Let a joint move ``axis``, a link without mass, against its former child."""
    ElementTree.SubElement(robot, "link", name=axis)
    for tag, link in (("parent", child), ("child", axis)):
        joint.find(tag).set("link", link)  # type: ignore[union-attr]
    if (origin := joint.find("origin")) is not None:
        joint.remove(origin)
    along = joint.find("axis")
    along = ElementTree.SubElement(joint, "axis", xyz="1 0 0") if along is None else along
    along.set("xyz", numbers(-np.array(along.get("xyz", "1 0 0").split(), dtype=float)))


def _link_of(joint: ElementTree.Element, tag: str) -> str:
    element = joint.find(tag)
    return "" if element is None else element.get("link", "")
