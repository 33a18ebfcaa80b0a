"""Devices behind control boards in tests: one that moves, and the one that the recordings were made with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradiva.common import NDArray
from pureyarp.devices.control_board_device import INTERFACES, ControlBoardDevice, Joints, Key, ParameterTable
from pureyarp.devices.control_board_messages import CommandKind, JointData, StreamedCommand
from pureyarp.devices.control_board_protocol import ControlMode, Feature, InteractionMode, PidType

REFERENCES = {
    CommandKind.POSITION_DIRECT: Feature.POSITION_REFERENCE,
    CommandKind.VELOCITY: Feature.VELOCITY_REFERENCE,
    CommandKind.TORQUE: Feature.TORQUE_REFERENCE,
    CommandKind.PWM: Feature.DUTY_CYCLE_REFERENCE,
    CommandKind.CURRENT: Feature.CURRENT_REFERENCE,
}
RECORDED_PID = (1.0, 0.1, 0.01, 5.0, 2.0, 0.0, 100.0, 0.0, 0.0, 0.0)


def parameters(number_of_joints: int) -> dict[Key, Any]:
    """Return the settings of a part before anybody changed them."""
    zeros = np.zeros(number_of_joints)
    rows = np.ones((number_of_joints, 1))
    plain: dict[Feature, Any] = dict.fromkeys(
        (*REFERENCES.values(), Feature.TARGET_POSITION, Feature.MOTOR_ENCODER_COUNTS, Feature.AMPLIFIER_STATUS), zeros
    )
    plain |= dict.fromkeys((Feature.TEMPERATURE_LIMIT, Feature.GEARBOX_RATIO, Feature.MAXIMUM_CURRENT), zeros)
    plain |= dict.fromkeys((Feature.NOMINAL_CURRENT, Feature.PEAK_CURRENT, Feature.PWM_LIMIT), zeros)
    plain |= dict.fromkeys((Feature.SUPPLY_VOLTAGE, Feature.TRAJECTORY_SPEED, Feature.TRAJECTORY_ACCELERATION), zeros)
    plain |= {
        Feature.POSITION_LIMITS: rows * [0.0, 100.0],
        Feature.VELOCITY_LIMITS: rows * [0.0, 50.0],
        Feature.TORQUE_RANGE: rows * [0.0, 0.0],
        Feature.CURRENT_RANGE: rows * [0.0, 0.0],
        Feature.IMPEDANCE: rows * [0.0, 0.0],
        Feature.IMPEDANCE_OFFSET: rows * [0.0],
        Feature.IMPEDANCE_LIMITS: rows * [1.0, 10.0, 2.0, 20.0],
        Feature.MOTOR_TORQUE_PARAMETERS: rows * np.zeros(9),
        Feature.TEMPERATURE: 37.5 + np.arange(number_of_joints),
    }
    of_pid = {
        Feature.PID: rows * RECORDED_PID,
        Feature.PID_REFERENCE: zeros,
        Feature.PID_ERROR: zeros + 0.1,
        Feature.PID_ERROR_LIMIT: zeros,
        Feature.PID_OUTPUT: np.array([1.1, 11.1, 21.1])[np.arange(number_of_joints) % 3],
        Feature.PID_OFFSET: zeros,
        Feature.PID_ENABLE: zeros + 1.0,
    }
    by_key: dict[Key, Any] = {(feature, None): value for feature, value in plain.items()}
    return by_key | {(feature, pid): value for pid in PidType for feature, value in of_pid.items()}


class IntegratingBoard(ControlBoardDevice):
    """Joints without inertia: they are where they were commanded to be, or move there at a constant speed.

    Args:
        number_of_joints: Called ``joint0``, ``joint1``, ...
    """

    def __init__(self, number_of_joints: int = 3) -> None:
        self._names = tuple(f"joint{i}" for i in range(number_of_joints))
        self.table = ParameterTable(parameters(number_of_joints))
        self.position: NDArray = np.zeros(number_of_joints)
        self.velocity: NDArray = np.zeros(number_of_joints)
        self.target: NDArray = np.zeros(number_of_joints)
        self.modes = [ControlMode.POSITION] * number_of_joints
        self.interaction_modes = [0] * number_of_joints
        self.commands: list[StreamedCommand] = []
        self.variables: dict[str, list[Any]] = {}
        self.table.set(Feature.TRAJECTORY_SPEED, self._all, [10.0] * number_of_joints)

    interfaces = frozenset(INTERFACES) - {"iPreciselyTimed", "iRemoteCalibrator"}

    @property
    def _all(self) -> Joints:
        return tuple(range(len(self._names)))

    @property
    def axis_names(self) -> Sequence[str]:
        return self._names

    def step(self, period: float) -> None:
        """Let time pass: position trajectories and velocities go on, [s]."""
        speeds = np.array(self.table.get(Feature.TRAJECTORY_SPEED, self._all))
        for joint, mode in enumerate(self.modes):
            if mode is ControlMode.POSITION:
                reach = speeds[joint] * period
                self.position[joint] += np.clip(self.target[joint] - self.position[joint], -reach, reach)
            elif mode is ControlMode.VELOCITY:
                self.position[joint] += self.velocity[joint] * period

    def read(self) -> JointData:
        return JointData(
            joint_position=self.position.copy(),
            joint_velocity=self.velocity.copy(),
            joint_acceleration=np.zeros_like(self.position),
            motor_position=self.position * 10.0,
            motor_velocity=self.velocity * 10.0,
            motor_acceleration=np.zeros_like(self.position),
            torque=self._references(CommandKind.TORQUE),
            pwm=self._references(CommandKind.PWM),
            current=self._references(CommandKind.CURRENT),
            control_modes=np.array(self.modes, dtype=np.int32),
            interaction_modes=np.array(self.interaction_modes, dtype=np.int32),
            temperature=np.array(self.table.get(Feature.TEMPERATURE, self._all)),
        )

    def _references(self, kind: CommandKind) -> NDArray:
        return np.array(self.table.get(REFERENCES[kind], self._all))

    def stream(self, command: StreamedCommand) -> None:
        self.commands.append(command)
        joints = self._all if command.joints is None else command.joints
        if command.kind is CommandKind.POSITION:
            return self.move_to(joints, command.values)
        self.table.set(REFERENCES[command.kind], joints, command.values)
        for joint, value in zip(joints, command.values, strict=True):
            self._follow(joint, command.kind, value)
        return None

    def _follow(self, joint: int, kind: CommandKind, value: float) -> None:
        if kind is CommandKind.POSITION_DIRECT and self.modes[joint] is ControlMode.POSITION_DIRECT:
            self.position[joint] = value
        if kind is CommandKind.VELOCITY and self.modes[joint] is ControlMode.VELOCITY:
            self.velocity[joint] = value

    def set_control_modes(self, joints: Joints, modes: Sequence[ControlMode]) -> None:
        for joint, mode in zip(joints, modes, strict=True):
            self.modes[joint] = mode

    def set_interaction_modes(self, joints: Joints, modes: Sequence[InteractionMode]) -> None:
        for joint, mode in zip(joints, modes, strict=True):
            self.interaction_modes[joint] = mode

    def move_to(self, joints: Joints, positions: Sequence[float]) -> None:
        self.target[list(joints)] = positions

    def move_by(self, joints: Joints, displacements: Sequence[float]) -> None:
        self.target[list(joints)] += displacements

    def stop(self, joints: Joints) -> None:
        self.target[list(joints)] = self.position[list(joints)]
        self.velocity[list(joints)] = 0.0

    def is_motion_done(self, joints: Joints) -> bool:
        return bool(np.all(self.position[list(joints)] == self.target[list(joints)]))

    def parameter(self, feature: Feature, joints: Joints, pid: PidType | None) -> Sequence[Any]:
        if feature is Feature.TARGET_POSITION:
            return [self.target[joint] for joint in joints]
        return self.table.get(feature, joints, pid)

    def set_parameter(self, feature: Feature, joints: Joints, values: Sequence[Any], pid: PidType | None) -> None:
        if feature is Feature.ENCODER:
            self.position[list(joints)] = values
        else:
            self.table.set(feature, joints, values, pid)

    def trigger(self, feature: Feature, joints: Joints, pid: PidType | None) -> None:
        if feature is Feature.ENCODER_RESET:
            self.position[list(joints)] = 0.0
        elif feature in (Feature.PID_ENABLE, Feature.PID_DISABLE):
            enabled = float(feature is Feature.PID_ENABLE)
            self.table.set(Feature.PID_ENABLE, joints, [enabled] * len(joints), pid)

    def joint_fault(self, joint: int) -> tuple[int, str]:
        return 0, ""

    def remote_variables(self) -> Sequence[str]:
        return tuple(self.variables)

    def remote_variable(self, name: str) -> list[Any]:
        return self.variables[name]

    def set_remote_variable(self, name: str, values: list[Any]) -> None:
        self.variables[name] = values


FIXED_VALUES = {
    Feature.MAXIMUM_CURRENT: 34000.0,
    Feature.NOMINAL_CURRENT: 680.0,
    Feature.PEAK_CURRENT: 68.0,
    Feature.PWM_LIMIT: 340.0,
    Feature.SUPPLY_VOLTAGE: 6800.0,
    Feature.TEMPERATURE_LIMIT: 0.0,
    Feature.GEARBOX_RATIO: 0.0,
    Feature.MOTOR_ENCODER_COUNTS: 0.0,
}


class RecordedBoard(IntegratingBoard):
    """The device of the recordings: it has their values, and their habits.

    It forgets limits that are set, reports amplifiers and currents by a formula, and answers questions about joints
    that it does not have with what it said last.
    """

    interfaces = frozenset(INTERFACES) - {"iPreciselyTimed", "iRemoteCalibrator", "iRemoteVariables"}

    def __init__(self) -> None:
        super().__init__(3)
        self._last_name = "joint0"

    def read(self) -> JointData:
        commanded = {command.kind for command in self.commands}
        data = super().read()
        pwm = data.pwm if CommandKind.PWM in commanded else 33.0 + np.arange(3)
        current = data.current / 2.0 if CommandKind.CURRENT in commanded else 100.0 * (33.0 + np.arange(3))
        return replace(data, torque=np.zeros(3), pwm=pwm, current=current)

    def axis_name(self, joint: int) -> str:
        if joint < 3:
            self._last_name = self._names[joint]
        return self._last_name

    def parameter(self, feature: Feature, joints: Joints, pid: PidType | None) -> Sequence[Any]:
        several = len(joints) > 1
        if feature in FIXED_VALUES:
            return [FIXED_VALUES[feature]] * len(joints)
        if feature is Feature.POSITION_LIMITS:
            return [(0.0, 100.0)] * len(joints)
        if feature is Feature.VELOCITY_LIMITS:
            return [(0.0, 50.0)] * len(joints)
        if feature is Feature.TORQUE_REFERENCE and several:
            return [0.0] * len(joints)
        if feature is Feature.TORQUE_RANGE and several:  # the memory of the device, as it was found
            return [(0.0, top) for top in (6.9429626226366e-310, 6.9429626226366e-310, 6.9429627080309e-310)]
        if feature is Feature.CURRENT_RANGE:
            references = self.table.get(Feature.CURRENT_REFERENCE, joints)
            return [(reference / 100.0, reference * 100.0) for reference in references]
        return super().parameter(feature, joints, pid)

    def set_parameter(self, feature: Feature, joints: Joints, values: Sequence[Any], pid: PidType | None) -> None:
        if feature not in (Feature.ENCODER, Feature.MOTOR_ENCODER):
            super().set_parameter(feature, joints, values, pid)

    def trigger(self, feature: Feature, joints: Joints, pid: PidType | None) -> None:
        pass

    def stop(self, joints: Joints) -> None:
        pass

    def calibrate(self, joint: int, kind: int, numbers: Sequence[float]) -> None:
        pass

    def is_calibration_done(self, joint: int) -> bool:
        return True

    def park(self) -> None:
        pass

    remote_variables = ControlBoardDevice.remote_variables
    remote_variable = ControlBoardDevice.remote_variable
    set_remote_variable = ControlBoardDevice.set_remote_variable
