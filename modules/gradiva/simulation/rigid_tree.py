"""Rigid bodies: links welded together where no joint moves between them, and as the engine takes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradiva.common import ModelError, NDArray, nearest_name, so3
from gradiva.robot_model import balanced
from gradiva.simulation.engine import mujoco
from gradiva.simulation.urdf import Inertial, Shape, Urdf, UrdfJoint, UrdfLink, Visual


@dataclass(slots=True, eq=False)
class RigidBody:
    """A body: one or more links that move as one.

    Attributes:
        name: Of its first link, whose frame is the frame of the body.
        parent: Index of the parent in the tree, -1 for the base.
        joint: That moves it against its parent, None for the base.
        pose: In the frame of the parent at zero, homogeneous, shape (4, 4).
        frames: Pose of each of its links, in the frame of the body, homogeneous, shape (4, 4).
        inertials: Of its links that have mass, by link, in the frame of the body.
        visuals: Visible shapes, in the frame of the body.
        collisions: Shapes that touch, likewise.
    """

    name: str
    parent: int
    joint: UrdfJoint | None
    pose: NDArray
    frames: dict[str, NDArray] = field(default_factory=dict)
    inertials: dict[str, Inertial] = field(default_factory=dict)
    visuals: list[Visual] = field(default_factory=list)
    collisions: list[Shape] = field(default_factory=list)

    @property
    def inertial(self) -> Inertial:
        r"""All links as one, by the parallel axis theorem.

        .. math:: m = \sum m_i, \quad c = \sum m_i c_i / m, \quad
            I = \sum I_i - m_i S(c_i - c)^2
        """
        parts = self.inertials.values()
        mass = sum(part.mass for part in parts)
        if mass <= 0.0:
            raise ModelError(f"the moving body '{self.name}' has no mass: give it one, or make its joint fixed")
        centre = sum((part.mass * part.centre for part in parts), np.zeros(3)) / mass
        arms = [so3.skew(part.centre - centre) for part in parts]
        inertia = sum(
            (part.inertia - part.mass * arm @ arm for part, arm in zip(parts, arms, strict=True)),
            np.zeros((3, 3)),
        )
        return Inertial(mass, centre, inertia)


@dataclass(frozen=True, slots=True, eq=False)
class RigidTree:
    """Bodies, parents before children; the base comes first."""

    bodies: tuple[RigidBody, ...]

    def body_of(self, frame: str) -> RigidBody:
        """Return the body that carries a link or frame.

        Raises:
            ModelError: The model has no such frame.
        """
        for body in self.bodies:
            if frame in body.frames:
                return body
        names = [name for body in self.bodies for name in body.frames]
        raise ModelError(f"the model has no link or frame '{frame}'{nearest_name(frame, names)}")

    @property
    def mass(self) -> float:
        """Mass of the whole robot, [kg]."""
        return sum(body.inertial.mass for body in self.bodies)


def weld(urdf: Urdf, base_link: str, joints: Sequence[str]) -> RigidTree:
    """Return the tree in which only ``joints`` move, rooted at the frame of ``base_link``.

    Raises:
        ModelError: A joint is not in the model or is not revolute, or ``base_link`` is not its root.
    """
    for name in joints:
        if name not in urdf.joints:
            raise ModelError(f"the model has no joint '{name}'{nearest_name(name, urdf.joints)}")
        if urdf.joints[name].kind not in ("revolute", "continuous"):
            raise ModelError(f"joint '{name}' is {urdf.joints[name].kind}: only revolute joints are driven")
    if base_link not in urdf.roots:
        raise ModelError(f"base link '{base_link}' is not the root of the model ({', '.join(urdf.roots)})")
    return RigidTree(tuple(_grow(urdf, base_link, frozenset(joints))))


def _grow(urdf: Urdf, base_link: str, moving: frozenset[str]) -> list[RigidBody]:
    joints_below: dict[str, list[UrdfJoint]] = defaultdict(list)
    for joint in urdf.joints.values():
        joints_below[joint.parent].append(joint)
    bodies = [RigidBody(base_link, -1, None, np.eye(4))]
    waiting = [(base_link, 0, np.eye(4))]  # depth first, a link with its body and its pose in this body
    while waiting:
        link, index, pose = waiting.pop()
        _attach(bodies[index], urdf.links[link], pose)
        for joint in reversed(joints_below[link]):
            if joint.name in moving:
                bodies.append(RigidBody(joint.child, index, joint, pose @ joint.pose))
                waiting.append((joint.child, len(bodies) - 1, np.eye(4)))
            else:
                waiting.append((joint.child, index, pose @ joint.pose))
    return bodies


def _attach(body: RigidBody, link: UrdfLink, pose: NDArray) -> None:
    rotation, position = pose[:3, :3], pose[:3, 3]
    body.frames[link.name] = pose
    if link.inertial is not None and link.inertial.mass > 0.0:
        own = link.inertial
        body.inertials[link.name] = Inertial(
            own.mass, position + rotation @ own.centre, rotation @ own.inertia @ rotation.T
        )
    body.visuals.extend(replace(visual, pose=pose @ visual.pose) for visual in link.visuals)
    body.collisions.extend(replace(shape, pose=pose @ shape.pose) for shape in link.collisions)


def quaternion(rotation: NDArray) -> NDArray:
    """Return the unit quaternion (w, x, y, z) of a rotation matrix, shape (4,)."""
    result = np.empty(4)
    mujoco.mju_mat2Quat(result, np.ascontiguousarray(rotation).ravel())
    return result


def add_bodies(spec: mujoco.MjSpec, tree: RigidTree, mass_scale: float = 1.0) -> None:
    """Add the bodies of a tree, the base free, with their inertia as it is, times ``mass_scale``."""
    spec.compiler.degree = False
    spec.compiler.balanceinertia = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    for body in tree.bodies:
        parent = spec.worldbody if body.parent < 0 else spec.body(tree.bodies[body.parent].name)
        added = parent.add_body(name=body.name, pos=body.pose[:3, 3], quat=quaternion(body.pose[:3, :3]))
        _set_inertia(added, body, mass_scale)
        if body.joint is None:
            added.add_freejoint()
        else:
            _add_joint(added, body)


def _set_inertia(added: mujoco.MjsBody, body: RigidBody, mass_scale: float) -> None:
    own, inertia = body.inertial, balanced(body.inertial.inertia)  # a flat one passes the engine after any rounding
    xx, yy, zz = np.diag(inertia)
    full = [xx, yy, zz, inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    added.mass = mass_scale * own.mass
    added.ipos = own.centre
    added.fullinertia = mass_scale * np.array(full)
    added.explicitinertial = True


def _add_joint(added: mujoco.MjsBody, body: RigidBody) -> None:
    joint = body.joint
    assert joint is not None
    bounded = bool(np.isfinite(joint.limits).all())
    added.add_joint(
        name=joint.name,
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=joint.axis,
        range=joint.limits if bounded else [0.0, 0.0],
        limited=mujoco.mjtLimited.mjLIMITED_TRUE if bounded else mujoco.mjtLimited.mjLIMITED_FALSE,
    )
