r"""Load the reduced iDynTree model of a robot, check its links' inertias, and answer by name.

The principal moments :math:`A \le B \le C` of any distribution of mass obey :math:`A + B \ge C`, the triangle
inequality: :math:`A + B - C = 2 \int z^2 dm` with z along the axis of the largest moment. Models drawn by hand, or
mirrored by hand, sometimes break it, and physics engines refuse them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import GRAVITY, ModelError, NDArray, RobotPosture, nearest_name
from gradiva.robot_model.flexible_joints import FlexibleJoint, file_stamp, flexible_urdf
from gradiva.robot_model.robot_description import RobotDescription

_ZERO = 1e-15  # [kg·m²] what rounding leaves of none
_MARGIN = 1e-9  # [-] of the largest moment, by which balanced inertias are on the safe side of physics engines


def is_physical(inertia: NDArray) -> bool:
    """Tell whether a body can have this inertia about its centre of mass ([kg·m²], shape (3, 3))."""
    low, middle, high = np.linalg.eigvalsh(inertia)
    return bool(low >= -_ZERO and low + middle >= high - _ZERO)


def balanced(inertia: NDArray) -> NDArray:
    """Return the inertia with its two smaller moments raised alike until the triangle inequality holds, (3, 3).

    Axes and largest moment stay; an inertia that a body can have stays as it is, unless the body is flat: rounding
    alone would make one of it that no body can have.
    """
    moments, axes = np.linalg.eigh(inertia)
    lacking = (1.0 + _MARGIN) * moments[2] - moments[0] - moments[1]
    if moments[0] >= 0.0 and lacking <= 0.0:
        return inertia
    moments = np.maximum(moments, 0.0)
    moments[:2] += 0.5 * max(0.0, (1.0 + _MARGIN) * moments[2] - moments[0] - moments[1])
    return np.array(axes @ np.diag(moments) @ axes.T)


def unphysical_links(links: Mapping[str, NDArray]) -> list[str]:
    """Return the links whose inertia no body can have, each with its principal moments.

    Args:
        links: Name to inertia about the centre of mass, [kg·m²], shape (3, 3).
    """
    wrong = {name: np.linalg.eigvalsh(inertia) for name, inertia in links.items() if not is_physical(inertia)}
    return [f"{name} ({a:.3g} + {b:.3g} < {c:.3g} kg·m²)" for name, (a, b, c) in wrong.items()]


def check_inertias(robot: str, links: Mapping[str, NDArray]) -> None:
    """Pass when every link has an inertia that a body can have.

    Args:
        robot: Name, for the message.
        links: As for ``unphysical_links``.

    Raises:
        ModelError: Some have not; carries their names, their principal moments and what to do.
    """
    if wrong := unphysical_links(links):
        raise ModelError(
            f"{robot}: no body can have the inertia of {'; '.join(wrong)}: the sum of the two smaller principal moments"
            " must reach the largest; correct the URDF, or set balance_inertia = true in robot.toml to raise them"
        )


class IdynTreeModel:
    """A robot's URDF with all joints but those of its description locked at zero.

    Flexible joints among them, see ``RobotDescription.with_flexible_joints``, come last, on massless links.

    Attributes:
        description: What the model was loaded from.
        model: The iDynTree model; joints in the order of the description.
        mass: Of the whole robot, [kg].
        rotor_inertia: Of motors and gears, as far as the model knows them; iDynTree does not, [kg·m²], shape (n, n).
        fingerprint: Equal for models of the same description, rotors and URDF.
    """

    def __init__(self, description: RobotDescription, rotor_inertia: float = 1.0) -> None:
        """Load the model.

        Args:
            description: Of the robot.
            rotor_inertia: Fraction of the description's rotors that the mass matrix has, [-].

        Raises:
            ModelError: The URDF cannot be read, lacks a joint or a frame, has another root or another mass, or a link
                has an inertia that no body can have.
        """
        full = full_model(description)
        links = _link_inertias(full)
        if description.balance_inertia:
            _balance(full, links)
        loader = idyn.ModelLoader()
        with _answer_of_idyntree() as answer:
            is_reduced = loader.loadReducedModelFromFullModel(full, list(description.joints))
        if not is_reduced:
            raise ModelError(f"{description.name}: iDynTree cannot reduce {description.model_file}{answer.error}")
        if not all(is_physical(inertia) for inertia in _link_inertias(loader.model()).values()):
            check_inertias(description.name, links)
        self.description = description
        self.model = loader.model().copy()
        self.model.setDefaultBaseLink(self.model.getLinkIndex(description.base_link))
        self.mass = float(self.model.getTotalMass())
        file = description.model_path.stat()
        self.rotor_inertia = rotor_inertia * description.rotor_inertia_matrix
        self.fingerprint = (repr(description), rotor_inertia, file.st_mtime_ns, file.st_size)
        self._check()

    @property
    def frame_names(self) -> list[str]:
        """Frames that tasks, contacts and pushes may name: the links, then what the URDF fixes to them."""
        return [self.model.getFrameName(index) for index in range(self.model.getNrOfFrames())]

    def frame_index(self, name: str) -> int:
        """Return the index of a frame.

        Raises:
            ModelError: The model has no such frame.
        """
        if not self.model.isFrameNameUsed(name):
            raise ModelError(f"{self.description.name}: no frame '{name}'{nearest_name(name, self.frame_names)}")
        return int(self.model.getFrameIndex(name))

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

    # -- kinematics of a posture, not for the tick -----------------------------------------------------------------

    def frame_pose(self, posture: RobotPosture, frame: str) -> tuple[NDArray, NDArray]:
        """Return the position, world, [m], shape (3,), and the rotation, (3, 3), of a frame.

        Raises:
            ModelError: There is no such frame, or the posture has another number of joints.
        """
        return as_pose(self._computed(posture).getWorldTransform(self.frame_index(frame)))

    def frame_jacobian(self, posture: RobotPosture, frame: str) -> NDArray:
        r"""Return J of a frame: :math:`(\dot p, \omega) = J (\dot p_B, \omega_B, \dot s)`, world, mixed, (6, 6 + n).

        Raises:
            ModelError: There is no such frame, or the posture has another number of joints.
        """
        jacobian = idyn.MatrixDynSize(6, 6 + len(self.description.joints))
        self._computed(posture).getFrameFreeFloatingJacobian(self.frame_index(frame), jacobian)
        return as_array(jacobian)

    def com_position(self, posture: RobotPosture) -> NDArray:
        """Return the centre of mass, world, [m], shape (3,).

        Raises:
            ModelError: The posture has another number of joints.
        """
        return as_array(self._computed(posture).getCenterOfMassPosition())

    def com_jacobian(self, posture: RobotPosture) -> NDArray:
        """Return the Jacobian of the centre of mass, world, (3, 6 + n).

        Raises:
            ModelError: The posture has another number of joints.
        """
        jacobian = idyn.MatrixDynSize(3, 6 + len(self.description.joints))
        self._computed(posture).getCenterOfMassJacobian(jacobian)
        return as_array(jacobian)

    def _computed(self, posture: RobotPosture) -> idyn.KinDynComputations:
        joints = len(self.description.joints)
        if len(posture.joint_positions) != joints:
            have = len(posture.joint_positions)
            raise ModelError(f"{self.description.name} has {joints} joints, the posture has {have}")
        pose, rest = np.eye(4), np.zeros(joints)
        pose[:3, :3], pose[:3, 3] = posture.base_rotation, posture.base_position
        gravity = np.array([0.0, 0.0, -GRAVITY])
        self._computations.setRobotState(pose, posture.joint_positions, np.zeros(6), rest, gravity)
        return self._computations

    @cached_property
    def _computations(self) -> idyn.KinDynComputations:
        return self.kinematics_and_dynamics()

    def poses_seen_from(
        self, reference: str, frames: Sequence[str], joint_positions: NDArray
    ) -> list[tuple[NDArray, NDArray]]:
        """Return positions (3,) and rotations (3, 3) of frames in a reference frame; not for the tick.

        Args:
            reference: Name of a frame.
            frames: Names.
            joint_positions: [rad], shape (n,).

        Raises:
            ModelError: iDynTree refuses the model.
        """
        computations = self.kinematics_and_dynamics()
        computations.setJointPos(joint_positions)
        return [as_pose(computations.getRelativeTransform(reference, frame)) for frame in frames]

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


def full_model(description: RobotDescription) -> idyn.Model:
    """Return the model of all joints of the URDF, and of the flexible joints among those of the description.

    Raises:
        ModelError: The URDF cannot be read, lacks a joint, or has another root.
    """
    flexible = tuple(joint for joint in description.flexible_joints if joint.name in description.joints)
    try:
        model = _loaded(description.model_path, file_stamp(description.model_path), flexible).copy()
    except _NotLoadedError as error:
        raise ModelError(f"{description.name}: cannot load the URDF {description.model_file}{error}") from None
    root = model.getLinkName(model.getDefaultBaseLink())
    if description.base_link != root:
        raise ModelError(
            f"{description.name}: base_link '{description.base_link}' is not the root of the URDF, which is '{root}'"
        )
    joints = [model.getJointName(i) for i in range(model.getNrOfJoints())]
    for name, group in description.joint_groups.items():
        for joint in group.joints:
            if joint not in joints:
                where = f"robot.toml of {description.name}, [joint_groups.{name}] joints"
                raise ModelError(f"{where}: no joint '{joint}' in the URDF{nearest_name(joint, joints)}")
    return model


@dataclass(slots=True)
class _Answer:
    """First error that iDynTree wrote, behind a colon; empty where it wrote none."""

    error: str = ""


_REDIRECTION = threading.Lock()  # two threads at once would leave standard error in the file of one of them


@contextmanager
def _answer_of_idyntree() -> Iterator[_Answer]:
    """Keep what iDynTree writes to standard error: a warning for each texture, and why it refuses a model."""
    answer = _Answer()
    with _REDIRECTION, tempfile.TemporaryFile() as written:
        sys.stderr.flush()
        terminal = os.dup(2)
        os.dup2(written.fileno(), 2)
        try:
            yield answer
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)
            written.seek(0)
            lines = written.read().decode(errors="replace").splitlines()
            errors = [line.partition(" error :")[2].strip() for line in lines if line.startswith("[ERROR]")]
            answer.error = next((f": {error}" for error in errors if error), "")


class _NotLoadedError(Exception):
    """Has the first error of iDynTree."""


@lru_cache(maxsize=8)  # each walk of a campaign loads it
def _loaded(path: Path, stamp: tuple[int, int], flexible: tuple[FlexibleJoint, ...]) -> idyn.Model:
    loader = idyn.ModelLoader()
    with _answer_of_idyntree() as answer:
        is_loaded = path.is_file() and _load(loader, path, flexible)
    if not is_loaded:
        raise _NotLoadedError(answer.error)
    return loader.model().copy()


def _load(loader: idyn.ModelLoader, path: Path, flexible: Sequence[FlexibleJoint]) -> bool:
    if not flexible:
        return bool(loader.loadModelFromFile(str(path)))
    return bool(loader.loadModelFromString(flexible_urdf(path, flexible)))


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
