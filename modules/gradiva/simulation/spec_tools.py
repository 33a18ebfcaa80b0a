"""From our arrays to the engine's model specification."""

from __future__ import annotations

import mujoco
import numpy as np

from gradiva.common import NDArray
from gradiva.simulation.rigid_tree import RigidBody, RigidTree


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
    own = body.inertial
    xx, yy, zz = np.diag(own.inertia)
    full = [xx, yy, zz, own.inertia[0, 1], own.inertia[0, 2], own.inertia[1, 2]]
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
