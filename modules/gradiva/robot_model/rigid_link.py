"""The links of a robot from the base to its hands and feet, with what is constant about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import NDArray
from gradiva.robot_model.idyntree_model import IdynTreeModel, as_array


@dataclass
class RigidLink:
    """A link, its place in the tree and its constant inertia.

    Attributes:
        index: iDynTree's index of the link.
        parent: Index of its parent; None of the base.
        joint: Index of the joint between them; None of the base.
        rest_rotation: Of the link in its parent at joint position zero, (3, 3).
        rest_position: Of its origin in the parent, [m], (3,).
        axis: Of the joint through its origin, in its own axes, (3,).
        mass: [kg].
        com: In its own axes, [m], (3,).
        inertia_at_com: In its own axes, [kg·m²], (3, 3).
    """

    index: int
    parent: int | None
    joint: int | None
    rest_rotation: NDArray
    rest_position: NDArray
    axis: NDArray
    mass: float
    com: NDArray
    inertia_at_com: NDArray


def links_from_base(tree: IdynTreeModel) -> list[RigidLink]:
    """Return the links, parents before children."""
    model = tree.model
    traversal = idyn.Traversal()
    model.computeFullTreeTraversal(traversal, model.getDefaultBaseLink())
    links = []
    for visit in range(traversal.getNrOfVisitedLinks()):
        link = traversal.getLink(visit)
        index = link.getIndex()
        inertia = link.getInertia()
        com = as_array(inertia.getCenterOfMass())
        at_origin = as_array(inertia.getRotationalInertiaWrtFrameOrigin())
        mass = inertia.getMass()
        at_com = at_origin - mass * (com @ com * np.eye(3) - np.outer(com, com))
        place: dict[str, Any] = {
            "parent": None,
            "joint": None,
            "rest_rotation": np.eye(3),
            "rest_position": np.zeros(3),
            "axis": np.zeros(3),
        }
        if visit > 0:
            place = _place_in_tree(model, traversal, visit, index)
        links.append(RigidLink(index=index, mass=mass, com=com, inertia_at_com=at_com, **place))
    return links


def _place_in_tree(model: Any, traversal: Any, visit: int, index: int) -> dict[str, Any]:
    parent = traversal.getParentLink(visit).getIndex()
    joint = traversal.getParentJoint(visit)
    rest = joint.getRestTransform(index, parent).inverse()
    axis = joint.asRevoluteJoint().getAxis(index)
    assert np.allclose(as_array(axis.getOrigin()), 0.0), "the axis of a URDF joint passes through its child's origin"
    return {
        "parent": parent,
        "joint": joint.getIndex(),
        "rest_rotation": as_array(rest.getRotation()),
        "rest_position": as_array(rest.getPosition()),
        "axis": as_array(axis.getDirection()),
    }
