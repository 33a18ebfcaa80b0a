"""All joints' servos and the mode that each of them is in."""

from __future__ import annotations

import mujoco
import numpy as np

from gradiva.common import ControlMode, NDArray
from gradiva.robot_model import RobotDescription
from gradiva.simulation.mixed_command import MixedCommand
from gradiva.simulation.position_servo import PositionServo
from gradiva.simulation.servo import ALL, Joints, Servo, ServoConfig
from gradiva.simulation.torque_servo import TorqueServo
from gradiva.simulation.velocity_servo import VelocityServo

Modes = tuple[ControlMode, ...]


class ServoBank:
    """Servos of each mode; switches the engine's actuators between them without a jump of the torques."""

    def __init__(self, description: RobotDescription, config: ServoConfig, model: mujoco.MjModel) -> None:
        stiffness = description.per_joint("stiffness")
        damping = description.per_joint("damping")
        self._model = model
        self._position = PositionServo(config.stiffness_scale * stiffness, config.damping_scale * damping)
        self._servos: dict[ControlMode, Servo] = {
            ControlMode.POSITION: self._position,
            ControlMode.VELOCITY: VelocityServo(
                config.velocity_stiffness_scale * stiffness,
                config.velocity_damping_scale * damping,
                model.actuator_forcerange[:, 1],
            ),
            ControlMode.TORQUE: TorqueServo(len(stiffness)),
        }
        self._modes: Modes = ()
        self._active: tuple[tuple[Servo, Joints], ...] = ()

    def hold(self, modes: Modes, joint_positions: NDArray, joint_torques: NDArray) -> None:
        """Enter the joints' modes with the present torques, [N·m]; a joint that is in its mode goes on as it was."""
        is_new = np.array(
            [mode is not before for mode, before in zip(modes, self._modes or (None,) * len(modes), strict=True)]
        )
        of_mode = {mode: np.array([one is mode for one in modes]) for mode in self._servos}
        for mode, servo in self._servos.items():
            if (of_mode[mode] & is_new).any():
                servo.start(joint_positions, joint_torques, of_mode[mode] & is_new)
        self._modes = modes
        self._active = tuple(
            (servo, ALL if of_mode[mode].all() else of_mode[mode])
            for mode, servo in self._servos.items()
            if of_mode[mode].any()
        )
        self._set_gains()

    def command(self, command: MixedCommand, joint_positions: NDArray, joint_torques: NDArray) -> None:
        """Obey a command, first entering its modes."""
        if command.modes != self._modes:
            self.hold(command.modes, joint_positions, joint_torques)
        for servo, joints in self._active:
            servo.command(command.values, joints)

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the control of the next physics step of ``duration`` [s], shape (n,)."""
        if len(self._active) == 1:
            return self._active[0][0].control(joint_positions, duration)
        control = np.empty_like(joint_positions)
        for servo, joints in self._active:
            control[joints] = servo.control(joint_positions, duration)[joints]
        return control

    @property
    def position_targets(self) -> NDArray:
        """Where the position servos pull, [rad], shape (n,); means nothing for joints in other modes."""
        return self._position.target

    @property
    def position_gains(self) -> tuple[NDArray, NDArray]:
        """Stiffness [N·m/rad] and damping [N·m·s/rad] of the position servos, shape (n,) each."""
        return self._position.gains.stiffness, self._position.gains.damping

    def set_position_gains(self, stiffness: NDArray, damping: NDArray) -> None:
        """Change the position servos: stiffness [N·m/rad], damping [N·m·s/rad], shape (n,) each; targets stay."""
        self._position.set_gains(stiffness, damping)
        self._set_gains()

    def _set_gains(self) -> None:
        for servo, joints in self._active:
            gains = servo.gains
            self._model.actuator_gainprm[joints, 0] = gains.input_gain[joints]
            self._model.actuator_biasprm[joints, 1] = -gains.stiffness[joints]
            self._model.actuator_biasprm[joints, 2] = -gains.damping[joints]
