"""Turn the reading of a force-torque sensor in a foot into the ground's wrench: frame, sign, weight below."""

from __future__ import annotations

from dataclasses import dataclass

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import GRAVITY, ModelError, NDArray, so3
from gradiva.robot_model.idyntree_model import IdynTreeModel, as_array, as_pose
from gradiva.robot_model.robot_description import ForceTorqueSensor
from gradiva.robot_model.robot_ports import ForceTorquePort


@dataclass(frozen=True, slots=True, eq=False)
class ForceTorqueMount:
    r"""From the reading of a sensor in a foot to the wrench of the ground on that foot.

    The sensor lies between the leg and the part of the foot that hangs below. That part is at rest, so the ground's
    wrench is what it exerts on the leg, less its weight:

    .. math:: f_g = \sigma R f - m g, \qquad \mu_g = \sigma (R \mu + p \times R f) - c \times m g

    with the reading :math:`(f, \mu)`, its sign :math:`\sigma`, rotation :math:`R` and origin :math:`p` of the sensor,
    and mass :math:`m` and centre of mass :math:`c` of what hangs below, in the frame of the contact. Gravity is taken
    along the sole's z axis: a loaded sole is level, one that swings tilts by some degrees, which is less than a newton.

    Attributes:
        sign: +1 where the reading is what the foot exerts on the leg, −1 where it is the opposite.
        rotation: Of the sensor in the frame of the contact, shape (3, 3).
        position: Of its origin in that frame, [m], shape (3,).
        weight: Of what hangs below, about the origin of the contact frame, [N, N·m], shape (6,).
    """

    sign: float
    rotation: NDArray
    position: NDArray
    weight: NDArray

    def ground_wrench(self, reading: NDArray) -> NDArray:
        """Return the ground's wrench about and in the contact frame, [N, N·m], shape (6,)."""
        force, torque = self.rotation @ reading[:3], self.rotation @ reading[3:]
        turned = np.concatenate([force, torque + so3.cross(self.position, force)])
        return self.sign * turned - self.weight


def force_torque_mount(model: IdynTreeModel, sensor: ForceTorquePort, contact: ForceTorqueSensor) -> ForceTorqueMount:
    """Return how ``sensor`` sits above ``contact``.

    Raises:
        ModelError: The model lacks a frame or the joint, or the two are not on one rigid part.
    """
    rotation, position = fixed_pose(model, contact.frame, sensor.frame)
    level, _ = fixed_pose(model, contact.frame, model.description.foot_frame(contact.foot))
    mass, centre = _hanging_part(model, sensor, contact.frame) if sensor.joint else (0.0, np.zeros(3))
    force = level @ np.array([0.0, 0.0, -mass * GRAVITY])
    return ForceTorqueMount(sensor.sign, rotation, position, np.concatenate([force, so3.cross(centre, force)]))


def fixed_rotation(model: IdynTreeModel, reference: str, frame: str) -> NDArray:
    """Return the rotation of ``frame`` in ``reference``, two frames between which no joint of the walk lies, (3, 3).

    Raises:
        ModelError: There is no such frame, or a joint lies between them.
    """
    return fixed_pose(model, reference, frame)[0]


def fixed_pose(model: IdynTreeModel, reference: str, frame: str) -> tuple[NDArray, NDArray]:
    """Return rotation, (3, 3), and origin, [m], (3,), of ``frame`` in ``reference``; see ``fixed_rotation``."""
    first, second = model.frame_index(reference), model.frame_index(frame)
    if model.model.getFrameLink(first) != model.model.getFrameLink(second):
        raise ModelError(f"{model.description.name}: a joint lies between the frames '{reference}' and '{frame}'")
    position, rotation = as_pose(model.model.getFrameTransform(first).inverse())
    offset, turn = as_pose(model.model.getFrameTransform(second))
    return rotation @ turn, rotation @ offset + position


def _hanging_part(model: IdynTreeModel, sensor: ForceTorquePort, reference: str) -> tuple[float, NDArray]:
    """Return mass [kg] and centre of mass in the frame ``reference`` [m] of all that hangs below the sensor's joint."""
    loader = idyn.ModelLoader()
    loader.loadModelFromFile(model.description.model_file)
    whole = loader.model()
    if int(whole.getJointIndex(sensor.joint)) < 0:
        raise ModelError(f"{model.description.name}: no joint '{sensor.joint}' for the sensor '{sensor.name}'")
    computations = idyn.KinDynComputations()
    computations.loadRobotModel(whole)
    mass, moment = 0.0, np.zeros(3)
    for link in _links_below(whole, sensor.joint, model.description.base_link):
        inertia = whole.getLink(link).getInertia()
        position, rotation = as_pose(computations.getRelativeTransform(reference, whole.getLinkName(link)))
        mass += inertia.getMass()
        moment += inertia.getMass() * (rotation @ as_array(inertia.getCenterOfMass()) + position)
    return mass, moment / mass if mass > 0.0 else moment


def _links_below(whole: idyn.Model, joint: str, base: str) -> list[int]:
    traversal = idyn.Traversal()
    whole.computeFullTreeTraversal(traversal, whole.getLinkIndex(base))
    mounted, below = int(whole.getJointIndex(joint)), []
    for visit in range(1, traversal.getNrOfVisitedLinks()):
        link = traversal.getLink(visit).getIndex()
        is_first = traversal.getParentJoint(visit).getIndex() == mounted
        if is_first or traversal.getParentLink(visit).getIndex() in below:
            below.append(link)
    return below
