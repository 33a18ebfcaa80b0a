"""How far, how fast and how strongly the joints of a robot move, also those that walking leaves alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import ModelError, NDArray, freeze_arrays, nearest_name
from gradiva.robot_model import RobotDescription
from gradiva.simulation.urdf import read_urdf

_SPEED = 1.745  # [rad/s] 100°/s, of joints that the description does not mention
_TORQUE = 10.0  # [N·m] of joints that the description does not mention


@dataclass(frozen=True, slots=True, eq=False)
class JointRanges:
    """Limits of joints, in the order in which they were asked for.

    Attributes:
        lower: [rad], shape (N,).
        upper: [rad], shape (N,).
        velocity: Largest, [rad/s], shape (N,).
        torque: Largest, [N·m], shape (N,).
    """

    lower: NDArray
    upper: NDArray
    velocity: NDArray
    torque: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, lower=(None,), upper=(None,), velocity=(None,), torque=(None,))


def joint_ranges(description: RobotDescription, joints: Sequence[str]) -> JointRanges:
    """Return the limits of any joints of a robot's model: the URDF's and, of walking joints, the description's.

    Raises:
        ModelError: The model has no such joint.
    """
    urdf = read_urdf(description.model_path)
    for joint in joints:
        if joint not in urdf.joints:
            raise ModelError(f"the model has no joint '{joint}'{nearest_name(joint, urdf.joints)}")
    speeds = dict(zip(description.joints, description.per_joint("velocity_limit"), strict=True))
    torques = dict(zip(description.joints, description.per_joint("torque_limit"), strict=True))
    bounds = np.array([urdf.joints[joint].limits for joint in joints])
    efforts = [urdf.joints[joint].effort or np.inf for joint in joints]
    return JointRanges(
        lower=bounds[:, 0],
        upper=bounds[:, 1],
        velocity=np.array([speeds.get(joint, _SPEED) for joint in joints]),
        torque=np.minimum(efforts, [torques.get(joint, _TORQUE) for joint in joints]),
    )
