"""All joints' servos and the mode that they are in."""

from __future__ import annotations

import mujoco

from gradiva.common import ControlMode, JointCommand, NDArray
from gradiva.robot_model import RobotDescription
from gradiva.simulation.position_servo import PositionServo
from gradiva.simulation.servo import Servo, ServoConfig
from gradiva.simulation.torque_servo import TorqueServo
from gradiva.simulation.velocity_servo import VelocityServo


class ServoBank:
    """Servos of each mode; switches the engine's actuators between them without a jump of the torques."""

    def __init__(self, description: RobotDescription, config: ServoConfig, model: mujoco.MjModel) -> None:
        stiffness = description.per_joint("stiffness")
        damping = description.per_joint("damping")
        self._model = model
        self._servos: dict[ControlMode, Servo] = {
            ControlMode.POSITION: PositionServo(config.stiffness_scale * stiffness, config.damping_scale * damping),
            ControlMode.VELOCITY: VelocityServo(
                config.velocity_stiffness_scale * stiffness,
                config.velocity_damping_scale * damping,
                model.actuator_forcerange[:, 1],
            ),
            ControlMode.TORQUE: TorqueServo(len(stiffness)),
        }
        self._active = self._servos[ControlMode.POSITION]

    def hold(self, mode: ControlMode, joint_positions: NDArray, joint_torques: NDArray) -> None:
        """Enter a mode with the present torques, [N·m]."""
        self._active = self._servos[mode]
        self._active.start(joint_positions.copy(), joint_torques.copy())
        gains = self._active.gains
        self._model.actuator_gainprm[:, 0] = gains.input_gain
        self._model.actuator_biasprm[:, 1] = -gains.stiffness
        self._model.actuator_biasprm[:, 2] = -gains.damping

    def command(self, command: JointCommand, joint_positions: NDArray, joint_torques: NDArray) -> None:
        """Obey a command, first entering its mode."""
        if self._servos[command.mode] is not self._active:
            self.hold(command.mode, joint_positions, joint_torques)
        self._active.command(command.values)

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the control of the next physics step of ``duration`` [s], shape (n,)."""
        return self._active.control(joint_positions, duration)
