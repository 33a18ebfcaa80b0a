r"""Move a robot by its inverse kinematics, in position or in velocity control (thesis section 7.1.3).

**Servo feed-forward.** A proportional servo :math:`\tau = k_p (s_{cmd} - s) - k_d \dot s` holds a torque only with a
position error. The torques that the motion needs are known,

.. math:: \tau = M_s \dot\nu + h_s - \sum_k J_{k,s}^\top f_k,

so the command is :math:`s_{cmd} = s + (\tau + k_d \dot s) / k_p`. The foot wrenches :math:`f_k` carry the
linear inverted pendulum's force :math:`m (\ddot x + g)`, through the desired ZMP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import casadi as cs
import numpy as np

from gradiva.common import ConfigError, ControlMode, JointCommand, LowPass, NDArray, RobotPosture, RobotState, sealed
from gradiva.robot_model import Compiler, FlatFunction, IdynTreeModel, SymbolicDynamics, built_once, interpreted
from gradiva.whole_body.inverse_kinematics import InverseKinematics, integrate
from gradiva.whole_body.whole_body_reference import WholeBodyReference


@dataclass(frozen=True, slots=True)
class ServoFeedforwardConfig:
    """Fractions of the torques that are fed forward; 0 leaves them to the servo.

    Attributes:
        gravity_and_contact: Of the static torques, [-].
        velocity: Of the servo's damping torque, [-].
        acceleration: Of the inertial torques, [-].
        acceleration_time_constant: Of the low pass on the desired accelerations, [s].
    """

    gravity_and_contact: float
    velocity: float
    acceleration: float
    acceleration_time_constant: float

    def __post_init__(self) -> None:
        for name in ("gravity_and_contact", "velocity", "acceleration"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be in [0, 1]")
        if self.acceleration_time_constant < 0.0:
            raise ConfigError(f"acceleration_time_constant={self.acceleration_time_constant}, must not be negative")


class ServoFeedforward:
    """Turns desired joint positions into the positions to send to the servos.

    Attributes:
        acceleration_time_constant: Of the low pass that the desired accelerations want, [s].
    """

    def __init__(self, model: IdynTreeModel, config: ServoFeedforwardConfig, compiler: Compiler = interpreted) -> None:
        self._config = config
        description = model.description
        self._actuated = description.selection
        self._stiffness = description.per_joint("stiffness")[self._actuated]
        self._damping_ratio = description.per_joint("damping")[self._actuated] / self._stiffness
        key = (ServoFeedforward, model.fingerprint, compiler)
        self._function = built_once(key, lambda: _torque_function(SymbolicDynamics.of(model), compiler))
        self.acceleration_time_constant = config.acceleration_time_constant

    def offset(
        self,
        state: RobotPosture,
        velocity: NDArray,
        acceleration: NDArray,
        left_foot_wrench: NDArray,
        right_foot_wrench: NDArray,
    ) -> NDArray:
        """Return what to add to the desired joint positions, [rad], shape (n,).

        Args:
            state: Desired.
            velocity: Desired ν, shape (6 + n,).
            acceleration: Desired ν̇, shape (6 + n,).
            left_foot_wrench: Ground on foot, about the sole origin, world axes, [N, N·m], shape (6,).
            right_foot_wrench: The same.
        """
        config = self._config
        torques = self.torques(
            state,
            acceleration if config.acceleration == 1.0 else config.acceleration * acceleration,
            left_foot_wrench,
            right_foot_wrench,
            config.gravity_and_contact,
        )[self._actuated]
        offset: NDArray = torques / self._stiffness
        if config.velocity > 0.0:
            offset += config.velocity * self._damping_ratio * velocity[6:][self._actuated]
        return offset

    def torques(
        self,
        state: RobotPosture,
        acceleration: NDArray,
        left_foot_wrench: NDArray,
        right_foot_wrench: NDArray,
        static_fraction: float = 1.0,
    ) -> NDArray:
        """Return a fraction of the joint torques at rest under the wrenches plus the inertial ones, [N·m], shape (n,).

        The array is that of all calls: the next one overwrites it.
        """
        self._function.set(
            base_rotation=state.base_rotation,
            joint_positions=state.joint_positions,
            acceleration=acceleration,
            left_foot_wrench=left_foot_wrench,
            right_foot_wrench=right_foot_wrench,
            static_fraction=static_fraction,
        )
        return self._function()["torques"]


def _torque_function(dynamics: SymbolicDynamics, compiler: Compiler) -> FlatFunction:
    description = dynamics.model.description
    acceleration = cs.SX.sym("acceleration", 6 + dynamics.joints)
    wrenches = {side: cs.SX.sym(f"{side}_foot_wrench", 6) for side in ("left", "right")}
    static_fraction = cs.SX.sym("static_fraction")
    left, right = dynamics.frame(description.left_foot_frame), dynamics.frame(description.right_foot_frame)
    contact = left.jacobian.T @ wrenches["left"] + right.jacobian.T @ wrenches["right"]
    forces = dynamics.mass_matrix @ acceleration + static_fraction * (dynamics.bias_forces - contact)
    at_rest = cs.substitute(
        forces[6:],
        cs.vertcat(dynamics.base_twist, dynamics.joint_velocities),
        np.zeros(6 + dynamics.joints),
    )
    return FlatFunction(
        f"servo_feedforward_{description.name}",
        inputs={
            "base_rotation": dynamics.base_rotation,
            "joint_positions": dynamics.joint_positions,
            "acceleration": acceleration,
            "left_foot_wrench": wrenches["left"],
            "right_foot_wrench": wrenches["right"],
            "static_fraction": static_fraction,
        },
        outputs={"torques": at_rest},
        compiler=compiler,
    )


class WholeBodyController(Protocol):
    """Layer 3: from what the body should do to a joint command."""

    @property
    def desired_posture(self) -> RobotPosture:
        """Commanded posture at the end of the last tick."""
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
        """Begin again, at rest, from the posture that is commanded now."""
        ...

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """Return the command for the coming ``period`` [s].

        Args:
            state: Estimated.
            reference: Of the body.
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
        positions = self.desired_posture.joint_positions[self._inverse_kinematics.actuated] + offset
        return JointCommand(ControlMode.POSITION, sealed(positions))


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
        return JointCommand(ControlMode.VELOCITY, velocity[6:][self._inverse_kinematics.actuated])
