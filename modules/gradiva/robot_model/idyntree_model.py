"""The reduced iDynTree model of a robot: loaded once, checked, asked by name."""

from __future__ import annotations

from typing import Any

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import ModelError, NDArray, nearest_name
from gradiva.robot_model.inertia import balanced, check_inertias, is_physical
from gradiva.robot_model.robot_description import RobotDescription


class IdynTreeModel:
    """A robot's URDF with all joints but the actuated ones locked at zero.

    Attributes:
        description: What the model was loaded from.
        model: The iDynTree model; joints in the order of the description.
        mass: Of the whole robot, [kg].
    """

    def __init__(self, description: RobotDescription) -> None:
        """Load the model.

        Raises:
            ModelError: The URDF cannot be read, lacks a joint or a frame, has another root or another mass, or a link
                has an inertia that no body can have.
        """
        full = _full_model(description)
        links = _link_inertias(full)
        if description.balance_inertia:
            _balance(full, links)
        loader = idyn.ModelLoader()
        if not loader.loadReducedModelFromFullModel(full, list(description.joints)):
            raise ModelError(f"{description.name}: iDynTree cannot reduce {description.model_file}")
        if not all(is_physical(inertia) for inertia in _link_inertias(loader.model()).values()):
            check_inertias(description.name, links)
        self.description = description
        self.model = loader.model().copy()
        self.model.setDefaultBaseLink(self.model.getLinkIndex(description.base_link))
        self.mass = float(self.model.getTotalMass())
        self._check()

    def frame_index(self, name: str) -> int:
        """Return the index of a frame.

        Raises:
            ModelError: The model has no such frame.
        """
        index = int(self.model.getFrameIndex(name))
        if index < 0:
            names = [self.model.getFrameName(i) for i in range(self.model.getNrOfFrames())]
            raise ModelError(f"{self.description.name}: no frame '{name}'{nearest_name(name, names)}")
        return index

    def joint_limits(self) -> tuple[NDArray, NDArray]:
        """Return lower and upper joint positions: the narrower of URDF's and description's, [rad], (n,) each."""
        bounds = [
            (joint.getMinPosLimit(0), joint.getMaxPosLimit(0))
            for joint in (self.model.getJoint(i) for i in range(self.model.getNrOfJoints()))
        ]
        lower, upper = np.array(bounds, dtype=float).T
        for joint, (lowest, highest) in self.description.position_limits.items():
            index = self.description.joints.index(joint)
            lower[index], upper[index] = max(lower[index], lowest), min(upper[index], highest)
        return lower, upper

    def velocity_limits(self) -> NDArray:
        """Return the joint velocity limits: the lower of the URDF's and the description's, [rad/s], shape (n,)."""
        joints = [self.model.getJoint(i) for i in range(self.model.getNrOfJoints())]
        of_urdf = [joint.getVelocityLimit(0) if joint.hasVelocityLimits() else np.inf for joint in joints]
        return np.minimum(of_urdf, self.description.per_joint("velocity_limit"))

    def torque_limits(self) -> NDArray:
        """Return the joint torque limits: the lower of the URDF's and the description's, [N·m], shape (n,)."""
        joints = [self.model.getJoint(i) for i in range(self.model.getNrOfJoints())]
        of_urdf = [joint.getEffortLimit(0) if joint.hasEffortLimits() else np.inf for joint in joints]
        return np.minimum(of_urdf, self.description.per_joint("torque_limit"))

    def kinematics_and_dynamics(self) -> idyn.KinDynComputations:
        """Return a fresh iDynTree computation object in mixed representation, for what is not in the tick.

        Raises:
            ModelError: iDynTree refuses the model.
        """
        computations = idyn.KinDynComputations()
        if not computations.loadRobotModel(self.model):
            raise ModelError(f"{self.description.name}: iDynTree refuses the model")
        computations.setFrameVelocityRepresentation(idyn.MIXED_REPRESENTATION)
        computations.setFloatingBase(self.description.base_link)
        return computations

    def _check(self) -> None:
        description = self.description
        description.check_mass(self.mass)
        frames = [description.torso_frame, description.left_foot_frame, description.right_foot_frame]
        frames += [description.imu_frame, *(sensor.frame for sensor in description.force_torque_sensors)]
        for frame in frames:
            self.frame_index(frame)


def as_array(value: Any) -> NDArray:
    """Return a copy of an iDynTree vector, matrix or rotation.

    ``toNumPy`` alone gives a view on memory that dies with a temporary.
    """
    return np.array(value.toNumPy(), dtype=float)


def as_pose(transform: Any) -> tuple[NDArray, NDArray]:
    """Return copies of the position (3,) and the rotation (3, 3) of an iDynTree transform."""
    position, rotation = transform.getPosition(), transform.getRotation()
    return as_array(position), as_array(rotation)


def _full_model(description: RobotDescription) -> idyn.Model:
    """Return the model of all joints, after a look at its root and the names of its joints."""
    loader = idyn.ModelLoader()
    if not description.model_path.is_file() or not loader.loadModelFromFile(description.model_file):
        raise ModelError(f"{description.name}: cannot load the URDF {description.model_file}")
    model = loader.model().copy()
    root = model.getLinkName(model.getDefaultBaseLink())
    if description.base_link != root:
        raise ModelError(
            f"{description.name}: base_link '{description.base_link}' is not the root of the URDF, which is '{root}'"
        )
    joints = [model.getJointName(i) for i in range(model.getNrOfJoints())]
    for joint in description.joints:
        if joint not in joints:
            raise ModelError(f"{description.name}: no joint '{joint}'{nearest_name(joint, joints)}")
    return model


def _link_inertias(model: idyn.Model) -> dict[str, NDArray]:
    """Return the inertias of the links about their centres of mass, [kg·m²], shape (3, 3) each."""
    links = {model.getLinkName(i): model.getLink(i).getInertia() for i in range(model.getNrOfLinks())}
    return {name: as_array(inertia.getRotationalInertiaWrtCenterOfMass()) for name, inertia in links.items()}


def _balance(model: idyn.Model, links: dict[str, NDArray]) -> None:
    for name, inertia in links.items():
        if not is_physical(inertia):
            link = model.getLink(model.getLinkIndex(name))
            own = link.getInertia()
            raised = idyn.SpatialInertia()
            about_com = idyn.RotationalInertia()
            for (row, column), moment in np.ndenumerate(balanced(inertia)):
                about_com.setVal(row, column, float(moment))
            raised.fromRotationalInertiaWrtCenterOfMass(own.getMass(), own.getCenterOfMass(), about_com)
            link.setInertia(raised)
