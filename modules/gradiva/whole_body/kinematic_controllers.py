"""The two ways in which the inverse kinematics moves a robot (thesis section 7.1.3)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gradiva.common import ControlMode, JointCommand, LowPass, NDArray, RobotPosture, RobotState
from gradiva.whole_body.inverse_kinematics import InverseKinematics, integrate
from gradiva.whole_body.servo_feedforward import ServoFeedforward
from gradiva.whole_body.whole_body_reference import WholeBodyReference


class WholeBodyController(Protocol):
    """Layer 3: from what the body should do to a joint command."""

    @property
    def desired_posture(self) -> RobotPosture:
        """Where the robot was told to be at the end of the last tick."""
        ...

    @property
    def desired_joint_positions(self) -> NDArray:
        """Those of ``desired_posture``, [rad], (n,); asked for in each tick, where the posture may not be computed."""
        ...

    @property
    def desired_velocity(self) -> NDArray:
        """ν of the last tick, (6 + n,)."""
        ...

    def reset(self, posture: RobotPosture) -> None:
        """Begin again, at rest, from where the robot is told to be now."""
        ...

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """Return the command for the coming ``period`` [s].

        Args:
            state: Estimated.
            reference: What the body should do.
            period: [s].
            relaxed: Where the references contradict each other or the limits, come as near as possible.

        Raises:
            NoSolutionFound: The references contradict each other; nothing has changed.
        """
        ...


class PositionController:
    """Sends joint positions: the inverse kinematics runs on its own integrated state, the servos follow it."""

    def __init__(
        self, inverse_kinematics: InverseKinematics, feedforward: ServoFeedforward, posture: RobotPosture
    ) -> None:
        self._inverse_kinematics = inverse_kinematics
        self._feedforward = feedforward
        self.reset(posture)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``."""
        self._inverse_kinematics.problem.reset()
        self.desired_posture = posture
        self.desired_velocity = np.zeros(6 + len(posture.joint_positions))
        self._acceleration = LowPass(self._feedforward.acceleration_time_constant, self.desired_velocity)

    @property
    def desired_joint_positions(self) -> NDArray:
        """See ``WholeBodyController.desired_joint_positions``."""
        return self.desired_posture.joint_positions

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        velocity = self._inverse_kinematics.solve(self.desired_posture, reference, period, relaxed)
        acceleration = self._acceleration.update((velocity - self.desired_velocity) / period, period)
        self.desired_posture = integrate(self.desired_posture, velocity, period)
        self.desired_velocity = velocity
        offset = self._feedforward.offset(
            self.desired_posture,
            velocity,
            acceleration,
            reference.left_foot_wrench,
            reference.right_foot_wrench,
        )
        return JointCommand(ControlMode.POSITION, self.desired_posture.joint_positions + offset)


class VelocityController:
    """Sends joint velocities: the inverse kinematics closes its loop on the estimated state."""

    def __init__(self, inverse_kinematics: InverseKinematics, posture: RobotPosture) -> None:
        self._inverse_kinematics = inverse_kinematics
        self.reset(posture)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``."""
        self._inverse_kinematics.problem.reset()
        self.desired_posture = posture
        self.desired_velocity = np.zeros(6 + len(posture.joint_positions))

    @property
    def desired_joint_positions(self) -> NDArray:
        """See ``WholeBodyController.desired_joint_positions``."""
        return self.desired_posture.joint_positions

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        measured = RobotPosture(state.base_position, state.base_rotation, state.joint_positions)
        velocity = self._inverse_kinematics.solve(measured, reference, period, relaxed)
        self.desired_posture = integrate(measured, velocity, period)
        self.desired_velocity = velocity
        return JointCommand(ControlMode.VELOCITY, velocity[6:])
