"""The model file of a new robot: as it is, or a URDF of its own where walking needs another root, soles, or no MJCF.

Drives of the joints are as the file has them, else assumed by torque and speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from gradiva.common import ModelError, NDArray, Side
from gradiva.robot_model import IdynTreeModel, JointGroup
from gradiva.robot_model.robot_description import PerJoint
from gradiva.setup.new_robot.limbs import MESHES, Choices, missing_soles, walking_base
from gradiva.setup.robots import FILE, find_model_file, package_and_model
from gradiva.simulation import (
    JointDrive,
    add_origin,
    find_mesh,
    numbers,
    origin_pose,
    read_urdf,
    write_urdf_of_mjcf,
)

Table = Mapping[str, tuple[object, str]]
"""Key to value and comment; no comment where it is empty."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """Model that a new robot is drafted from.

    Attributes:
        source: ``package`` and ``model`` of robot.toml.
        path: The URDF.
        folder: Of files that the robot's folder gets; None where the URDF is used as it is.
        notes: What was changed, a line each.
        drives: What the model says about the drives of its joints.
    """

    source: tuple[str, str]
    path: Path
    folder: Path | None = None
    notes: tuple[str, ...] = ()
    drives: Mapping[str, JointDrive] = field(default_factory=dict)


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
        given = ModelFile(source, find_model_file(*source))
    else:
        assert mjcf is not None
        robot = write_urdf_of_mjcf(mjcf, folder, name)
        notes = f"{mjcf.name} of MuJoCo as {robot.urdf.name}", *robot.notes
        given = ModelFile((FILE, robot.urdf.name), robot.urdf, folder, notes, robot.drives)
    try:
        return _with_soles(_with_base(given, name, choices, folder), name, choices, folder)
    except ModelError as error:
        raise ModelError(f"{given.path if mjcf is None else mjcf}: {error}") from error


def _with_base(given: ModelFile, name: str, choices: Choices, folder: Path) -> ModelFile:
    urdf = read_urdf(given.path)
    base = walking_base(urdf, choices)
    if base == urdf.roots[0]:
        return given
    robot = _parsed(given)
    reroot(robot, base)
    return _written(robot, given, name, folder, f"the root is '{base}', where the legs begin, not '{urdf.roots[0]}'")


def _with_soles(given: ModelFile, name: str, choices: Choices, folder: Path) -> ModelFile:
    missing = missing_soles(read_urdf(given.path), choices)
    if not missing:
        return given
    robot = _parsed(given)
    frames = [_add_sole(robot, side, link, pose) for side, (link, pose) in missing.items()]
    note = f"no frame of the feet has x forward and z up: {', '.join(frames)} are added"
    return _written(robot, given, name, folder, note)


def _parsed(given: ModelFile) -> ElementTree.Element:
    """Return the URDF, its meshes named by where they are: the new one stands elsewhere."""
    robot = ElementTree.parse(given.path).getroot()
    if given.folder is None:
        for mesh in robot.iter("mesh"):
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


# -- drives ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gears:
    r"""A kind of gear: its losses by the joint's peak torque, which the size of the drive goes with.

    Coulomb friction is :math:`F = F_1 (\tau / \tau_1)^p`, viscous friction at the speed without load :math:`v F`.

    Attributes:
        coulomb: Coulomb friction :math:`F_1` of a drive of ``torque``, [N·m].
        torque: Its peak torque :math:`\tau_1`, [N·m].
        power: p, [-].
        viscous: v, [-].
        loss: ``gear_loss`` of `JointGroup`, [-].
        play: ``gear_play`` of `JointGroup`, [rad].
    """

    coulomb: float
    torque: float
    power: float
    viscous: float
    loss: float
    play: float

    def friction(self, torques: NDArray) -> NDArray:
        """Return the Coulomb friction of drives with these peak torques, [N·m]."""
        return np.asarray(self.coulomb * (torques / self.torque) ** self.power)


# Of the robots whose drives are described, robots/*/robot.toml. Low ratios are those of Unitree G1: 1.7 to 2.4 % of
# 25 to 111 N·m. High ratios, iCub v3 and TALOS: 3 of 37, 4 of 47, 8 to 10 of 110, 8 of 160, 12 of 300 N·m; similar
# drives of size L have torques as L³ and friction as L².
LOW_RATIO = Gears(coulomb=2.3, torque=100.0, power=1.0, viscous=3.0, loss=0.05, play=0.0035)
HIGH_RATIO = Gears(coulomb=3.0, torque=37.0, power=2.0 / 3.0, viscous=2.9, loss=0.2, play=0.0)

_FAST = 12.0  # [rad/s] legs with planetary gears reach 20 to 40 rad/s, with harmonic drives 3 to 9
_TO_NO_LOAD = 1.1  # [-] a speed limit is what a motor still holds, nine tenths of its speed without load
_FULL = 0.5  # [-] of the speed without load, up to which the peak torque is there


def with_drives(
    groups: Mapping[str, JointGroup], model: IdynTreeModel, known: Mapping[str, JointDrive]
) -> dict[str, JointGroup]:
    r"""Return joint groups with friction, gear play and motors, whose sizes go with torque and speed of the joints.

    With the velocity limit :math:`\dot s` of a joint, the speed without load is :math:`\omega = 1.1\, \dot s`, and
    friction goes with its peak torque (`Gears`): as of a low ratio (planetary gears) where the fastest joint of a group
    has 12 rad/s or more, else of harmonic drives.

    Args:
        groups: With limits and guessed rotors.
        model: The robot; its limits bound those of the groups.
        known: Joint to what its model file says, which goes before.
    """
    first, driven = 0, dict(groups)
    for name, group in groups.items():
        rows = slice(first, first + len(group.joints))
        first += len(group.joints)
        if group.joints:
            torques = np.minimum(group.per_joint("torque_limit"), _known(model.torque_limits()[rows]))
            speeds = np.minimum(group.per_joint("velocity_limit"), _known(model.velocity_limits()[rows]))
            driven[name] = _driven(group, torques, speeds, [known.get(joint, JointDrive()) for joint in group.joints])
    return driven


def drive_files(groups: Mapping[str, JointGroup]) -> dict[str, tuple[str, dict[str, Table]]]:
    """Return file to what it is about and its tables: what torque control and its plant need for the gears of the legs.

    By torque, undisturbed DCM errors on the plant ``robot`` pass the usual trigger of adapted steps, as on shipped
    robots. With play, rotors rattle and feet come to rest by the plan, not by force, as on G1. Boards of harmonic
    drives compensate friction, as on iCub v3, ergoCub (0.6) and TALOS (0.8).
    """
    torque: dict[str, Table] = {"step_adaptation": {"trigger": (0.06, "[m] undisturbed errors stay below it")}}
    if max(max(groups[f"{side}_leg"].per_joint("gear_play")) for side in Side) > 0.0:
        torque["state_estimator"] = {"velocity_time_constant": (0.1, "[s] rotors rattle within the play of gears")}
        torque["torque_control"] = {"touch_fraction": (2.0, "[-] never by force"), "touch_timeout": (0.0, "[s]")}
        return {"torque.toml": ("in torque control", torque)}
    compensation: Table = {"friction_compensation": (0.6, "[-] by the boards, as with harmonic drives elsewhere")}
    plant = {"simulation.motors": compensation}
    return {"torque.toml": ("in torque control", torque), "plant_robot.toml": ("on the plant robot", plant)}


def _known(limits: NDArray) -> NDArray:
    """Return limits without those of 0, which some exporters write where they know none."""
    return np.where(limits > 0.0, limits, np.inf)


def _driven(group: JointGroup, torques: NDArray, speeds: NDArray, known: Sequence[JointDrive]) -> JointGroup:
    """Return a group with its drives, of joints with these peak torques, [N·m], and velocity limits, [rad/s]."""
    gears = LOW_RATIO if max(speeds) >= _FAST else HIGH_RATIO
    no_load = _TO_NO_LOAD * speeds

    def said(quantity: str, assumed: NDArray) -> PerJoint:
        values = np.array([getattr(drive, quantity) for drive in known])
        return _per_joint(np.where(values > 0.0, values, assumed))

    return replace(
        group,
        rotor_inertia=said("rotor_inertia", np.array(group.per_joint("rotor_inertia"))),
        coulomb_friction=said("coulomb_friction", gears.friction(torques)),
        viscous_friction=said("viscous_friction", gears.viscous * gears.friction(torques) / no_load),
        gear_loss=gears.loss,
        gear_play=gears.play,
        full_torque_speed=_per_joint(_FULL * no_load),
        no_load_speed=_per_joint(no_load),
    )


def _per_joint(values: Iterable[float]) -> PerJoint:
    """Return values of three significant digits; one number where all joints have the same."""
    rounded = tuple(float(f"{value:.3g}") for value in values)
    return rounded[0] if len(set(rounded)) == 1 else rounded
