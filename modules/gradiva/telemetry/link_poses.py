"""Where the links of a robot are."""

from __future__ import annotations

from dataclasses import dataclass

import idyntree.bindings as idyntree
import numpy as np

from gradiva.common import GRAVITY, ModelError, NDArray
from gradiva.robot_model import RobotDescription

_GRAVITY = np.array([0.0, 0.0, -GRAVITY])  # asked for by iDynTree, of no use here


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """Where a link of the URDF sits on the moving link that carries it.

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
        if not loader.loadReducedModelFromFile(description.model_file, list(description.joints)):
            raise ModelError(f"cannot load {description.model_file} with the joints of {description.name}")
        self._kinematics = idyntree.KinDynComputations()
        self._kinematics.loadRobotModel(loader.model())
        if not self._kinematics.setFloatingBase(description.base_link):
            raise ModelError(f"{description.model_file} has no link '{description.base_link}'")
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
