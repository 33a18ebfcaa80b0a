r"""Describe the deflection of links by passive joints with spring and damper, and put them into a URDF.

Between the parent link of a joint and the frame of this joint sit massless fictitious links, one an axis, each on a
revolute joint about an axis of the parent (thesis, chapter 9: roll and pitch between TALOS's waist and each leg):

.. math:: \tau_f = -k s_f - d \dot s_f

Massless links are exact for rigid-body dynamics: their rows add nothing to mass matrix and bias forces, and the mass
matrix stays regular because each fictitious joint carries a leg. Physics engines refuse them, see
``gradiva.simulation``.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from gradiva.common import ConfigError, ModelError, NDArray, configuration, nearest_name, setting

_LIMIT = "1.5"  # [rad] a robot that bends so far has fallen
UNLIMITED = 1e6  # [N·m], [rad/s] limits of flexible joints, which nothing commands


class DeflectionAxis(StrEnum):
    """Axis of the parent link about which a link bends."""

    ROLL = "roll"
    PITCH = "pitch"
    YAW = "yaw"

    @property
    def direction(self) -> tuple[float, float, float]:
        """Unit vector in the axes of the parent link."""
        return {"roll": (1.0, 0.0, 0.0), "pitch": (0.0, 1.0, 0.0), "yaw": (0.0, 0.0, 1.0)}[self]


@dataclass(frozen=True, slots=True)
class FlexibleJoint:
    """A passive joint in which the deflection of a link is concentrated.

    Attributes:
        joint: Name of the actuated joint in whose origin, on the side of the parent, it sits.
        axis: Of the deflection.
        stiffness: k, [N·m/rad].
        damping: d, [N·m·s/rad].
    """

    joint: str
    axis: DeflectionAxis
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        if not self.stiffness > 0.0:
            raise ConfigError(f"stiffness={self.stiffness} N·m/rad, must be positive: a rigid robot has none")
        if self.damping < 0.0:
            raise ConfigError(f"damping={self.damping} N·m·s/rad, must not be negative")

    @property
    def name(self) -> str:
        """Name in the model: ``leg_left_1_joint_roll``."""
        return f"{self.joint}_{self.axis}"


@configuration
class FlexibilityConfig:
    r"""Links of the robot that bend.

    Attributes:
        joints: Actuated joints whose parent link bends at their origin.
        axes: About which it bends there, the first one nearest to the parent.
        stiffness: k of all flexible joints, or of each: the axes of the first of ``joints``, then of the second;
            empty: nothing bends, [N·m/rad].
        damping: d likewise; empty: :math:`2 \sqrt k` (thesis 9.4.1), [N·m·s/rad].
    """

    joints: tuple[str, ...]
    axes: tuple[DeflectionAxis, ...]
    stiffness: float | tuple[float, ...] = setting("N·m/rad", above=0.0, why="a rigid robot has none")
    damping: float | tuple[float, ...] = setting("N·m·s/rad", least=0.0)

    def __post_init__(self) -> None:
        for name in ("joints", "axes"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ConfigError(f"{name}={list(values)}, each may be named once")
        for name in ("stiffness", "damping"):
            values = getattr(self, name)
            if isinstance(values, tuple) and values and len(values) != self._size:
                raise ConfigError(f"{name}={list(values)} has {len(values)} values for {self._size} flexible joints")
        if self.stiffness != () and self._size == 0:
            raise ConfigError(
                f"stiffness={self.stiffness} N·m/rad, but this robot has no flexible joints: name the joints before"
                ' which its links bend, one a leg, as by --set \'flexibility.joints=["LEFT_JOINT", "RIGHT_JOINT"]\''
            )
        self._flexible_joints()

    def flexible_joints(self, robot: str, joints: Sequence[str]) -> tuple[FlexibleJoint, ...]:
        """Return the flexible joints, none of a rigid robot.

        Args:
            robot: Name, for the message.
            joints: Actuated ones of the robot.

        Raises:
            ConfigError: The robot lacks a joint.
        """
        for joint in self.joints:
            if joint not in joints:
                raise ConfigError(f"flexibility.joints: {robot} has no joint '{joint}'{nearest_name(joint, joints)}")
        return self._flexible_joints()

    @property
    def _size(self) -> int:
        return len(self.joints) * len(self.axes)

    def _flexible_joints(self) -> tuple[FlexibleJoint, ...]:
        if self.stiffness == ():
            return ()
        stiffness = np.broadcast_to(np.array(self.stiffness), self._size)
        damping = 2.0 * np.sqrt(np.maximum(stiffness, 0.0)) if self.damping == () else np.array(self.damping)
        places = ((joint, axis) for joint in self.joints for axis in self.axes)
        numbers = zip(stiffness.tolist(), np.broadcast_to(damping, self._size).tolist(), strict=True)
        return tuple(FlexibleJoint(*place, *pair) for place, pair in zip(places, numbers, strict=True))


DISC_RADIUS, DISC_HEIGHT = 0.2, 0.05  # [CoM heights] of discs that show deflections, and above the flexible joints
DISC_COLOURS = (0.75, 0.78, 0.82), (0.78, 0.19, 0.17)  # on the side of the base, and of the foot


def deflection_note(flexible: Iterable[FlexibleJoint], joints: Sequence[str], positions: NDArray) -> str:
    """Return how far links bend at most, to stand behind the time in pictures; empty of a robot shown rigid.

    Args:
        flexible: Flexible joints of the robot.
        joints: Names of the joints that are shown.
        positions: Of these, [rad], shape (n,).
    """
    bent = [abs(float(positions[joints.index(joint.name)])) for joint in flexible if joint.name in joints]
    return f", links bent by {math.degrees(max(bent)):.1f} deg" if bent else ""


def file_stamp(path: Path) -> tuple[int, int]:
    """Return time of the last change, [ns], and size of a file, [B]; zeros where it cannot be read."""
    try:
        about = path.stat()
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_size


def flexible_urdf(path: Path, joints: Iterable[FlexibleJoint], mass: float = 0.0, inertia: float = 0.0) -> str:
    """Return the text of a URDF with flexible joints inserted, one fictitious link behind each.

    The first one in front of a joint takes the position of this joint, the joint itself keeps the rotation of its
    origin: at zero deflection all other frames are where they were.

    Args:
        path: Of the URDF.
        joints: To be inserted; those in front of one joint from the parent on.
        mass: Of each fictitious link, [kg].
        inertia: Of each fictitious link about each axis, [kg·m²].

    Raises:
        ModelError: The file is missing or is no URDF, or lacks a joint.
    """
    try:
        robot = ElementTree.parse(path).getroot()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from None
    except ElementTree.ParseError as error:
        raise ModelError(f"{path} is not XML: {error}") from None
    actuated = {str(element.get("name")): element for element in robot.findall("joint")}
    for joint in joints:
        if joint.joint not in actuated:
            raise ModelError(f"{path}: no joint '{joint.joint}'{nearest_name(joint.joint, actuated)}")
        _insert(robot, actuated[joint.joint], joint, mass, inertia)
    return ElementTree.tostring(robot, encoding="unicode")


def _insert(
    robot: ElementTree.Element, actuated: ElementTree.Element, flexible: FlexibleJoint, mass: float, inertia: float
) -> None:
    parent, origin = actuated.find("parent"), actuated.find("origin")
    if parent is None:
        raise ModelError(f"<joint name='{flexible.joint}'> has no <parent>")
    if origin is None:
        origin = ElementTree.SubElement(actuated, "origin")
    link = ElementTree.SubElement(robot, "link", name=f"{flexible.name}_link")
    if mass > 0.0:
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "mass", value=repr(mass))
        moments = {name: repr(inertia) for name in ("ixx", "iyy", "izz")}
        ElementTree.SubElement(inertial, "inertia", moments | dict.fromkeys(("ixy", "ixz", "iyz"), "0"))
    added = ElementTree.SubElement(robot, "joint", name=flexible.name, type="revolute")
    ElementTree.SubElement(added, "origin", xyz=origin.get("xyz", "0 0 0"), rpy="0 0 0")
    ElementTree.SubElement(added, "parent", link=parent.get("link", ""))
    ElementTree.SubElement(added, "child", link=str(link.get("name")))
    ElementTree.SubElement(added, "axis", xyz=" ".join(map(str, flexible.axis.direction)))
    limit = ElementTree.SubElement(added, "limit", lower=f"-{_LIMIT}", upper=_LIMIT)
    limit.attrib |= dict.fromkeys(("effort", "velocity"), repr(UNLIMITED))
    origin.set("xyz", "0 0 0")
    parent.set("link", str(link.get("name")))
