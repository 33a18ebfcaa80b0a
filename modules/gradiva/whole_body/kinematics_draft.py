"""The problem of the inverse kinematics while it is put together; ``inverse_kinematics`` states it."""

from __future__ import annotations

import casadi as cs
import numpy as np

from gradiva.common import NDArray
from gradiva.robot_model import SymbolicDynamics
from gradiva.whole_body.kinematics_config import InverseKinematicsConfig
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.qp_composer import QpComposer
from gradiva.whole_body.task_config import Priority
from gradiva.whole_body.tasks import Task, angular_momentum_task, com_task, posture_task, se3_task, so3_task

_RELAXED_SLACK_WEIGHT = 1e6  # [-] of feet and CoM against the posture, where they cannot be met


class KinematicsDraft:
    """Robot, references, and what has been asked of its velocity.

    Attributes:
        composer: Collects costs and constraints; joints come first among the variables, for they have bounds.
        parameters: All inputs.
        errors: What is missing to the poses of both feet and to the CoM: their targets over their gains, (15, 1).
    """

    def __init__(self, dynamics: SymbolicDynamics, config: InverseKinematicsConfig) -> None:
        """Put tasks together; `limits` are added to them.

        Raises:
            ConfigError: A posture weight is missing or belongs to no joint group.
        """
        joints, base = cs.SX.sym("joint_velocities", dynamics.joints), cs.SX.sym("base_velocity", 6)
        self._dynamics = dynamics
        self._velocity = cs.vertcat(base, joints)
        self.composer = QpComposer(cs.vertcat(joints, base), dynamics.joints)
        self.parameters = Parameters()
        self.parameters.add(
            base_position=dynamics.base_position,
            base_rotation=dynamics.base_rotation,
            joint_positions=dynamics.joint_positions,
        )
        self.errors = self._feet_and_com(config)
        self._trunk(config)
        self._joints(config)

    def limits(self, lower: NDArray, upper: NDArray, speed: NDArray) -> None:
        """Keep joint positions, [rad], and velocities, [rad/s], for the input ``period``, [s], for which they are held.

        A joint beyond its limit is brought back, at most at its velocity limit.
        """
        constant, period = self.parameters.constant, self.parameters.symbol("period")
        limit = constant("velocity_limits", speed)
        slowest, fastest = (
            cs.fmin(cs.fmax((constant(name, bound) - self._dynamics.joint_positions) / period, -limit), limit)
            for name, bound in (("lower_limits", lower), ("upper_limits", upper))
        )
        self.composer.bound("joint limits", 0, slowest, fastest, Priority.HARD, 0.0, is_law=True)

    def _feet_and_com(self, config: InverseKinematicsConfig) -> cs.SX:
        """Ask for them in every case but a relaxed one, and return what is missing to them."""
        dynamics, description = self._dynamics, self._dynamics.model.description
        linear = self.parameters.constant("foot_linear_gain", config.foot_linear_gain)
        angular = self.parameters.constant("foot_angular_gain", config.foot_angular_gain)
        com_gain = self.parameters.constant("com_gain", config.com_gain)
        left = se3_task(dynamics, description.left_foot_frame, "left_foot", linear, angular)
        right = se3_task(dynamics, description.right_foot_frame, "right_foot", linear, angular)
        com = com_task(dynamics, com_gain)
        for name, task in (("left foot", left), ("right foot", right), ("centre of mass", com)):
            self.composer.task(name, self._missing(task), Priority.HARD, cs.SX(1.0), _RELAXED_SLACK_WEIGHT)
        feet = [share for foot in (left, right) for share in (foot.target[:3] / linear, foot.target[3:] / angular)]
        return cs.vertcat(*feet, com.target / com_gain)

    def _trunk(self, config: InverseKinematicsConfig) -> None:
        """Torso and pelvis share their reference's angular velocity and a gain."""
        dynamics, description = self._dynamics, self._dynamics.model.description
        gain = self.parameters.constant("torso_gain", config.torso_gain)
        velocity = self.parameters.symbol("trunk_angular_velocity", 3)
        torso = so3_task(dynamics, description.torso_frame, "torso", velocity, gain)
        pelvis = so3_task(dynamics, description.base_link, "pelvis", velocity, gain)
        self.composer.cost("torso", self._missing(torso), self.parameters.constant("torso_weight", config.torso_weight))
        self.composer.cost(
            "pelvis", self._missing(pelvis), self.parameters.constant("pelvis_weight", config.pelvis_weight)
        )

    def _joints(self, config: InverseKinematicsConfig) -> None:
        """Angular momentum and posture."""
        dynamics, constant = self._dynamics, self.parameters.constant
        momentum_weights = constant("angular_momentum_weights", np.array(config.angular_momentum_weights))
        self.composer.cost("angular momentum", self._missing(angular_momentum_task(dynamics)), momentum_weights)
        posture = posture_task(dynamics, constant("posture_gain", config.posture_gain))
        table = "[inverse_kinematics.posture_weights]"
        weights = dynamics.model.description.spread(config.posture_weights, table)
        self.composer.cost("posture", self._missing(posture), constant("posture_weights", weights))

    def _missing(self, task: Task) -> cs.SX:
        """Return what is missing to a task, and take its references in."""
        self.parameters.add(**task.parameters)
        return task.jacobian @ self._velocity - task.target
