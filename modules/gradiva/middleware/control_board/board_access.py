"""Reading and changing a device by feature: what the two dialects of control boards have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from gradiva.middleware.control_board.control_board_device import ControlBoardDevice, Joints, NotOffered
from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.joint_data import INTEGER_FIELDS
from gradiva.middleware.control_board.streamed_command import CommandKind, StreamedCommand
from gradiva.middleware.control_board.vocabulary import ControlMode, InteractionMode, PidType
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Vocab32


class Measured(Enum):
    """What clients can also ask for although it is streamed; the values are names of fields of JointData."""

    JOINT_VELOCITY = "joint_velocity"
    JOINT_ACCELERATION = "joint_acceleration"
    MOTOR_VELOCITY = "motor_velocity"
    MOTOR_ACCELERATION = "motor_acceleration"
    TORQUE = "torque"
    PWM = "pwm"
    CURRENT = "current"


Quantity = Feature | Measured

COUNTS = frozenset({Feature.AXES, Feature.MOTORS, Feature.MOTOR_ENCODERS})
TRIGGERS = frozenset(
    {Feature.ENCODER_RESET, Feature.MOTOR_ENCODER_RESET, Feature.AMPLIFIER_ENABLE, Feature.AMPLIFIER_DISABLE}
    | {Feature.PID_RESET, Feature.PID_ENABLE, Feature.PID_DISABLE}
)
# How many numbers a joint has, where it is a row of them.
WIDTHS = {
    Feature.POSITION_LIMITS: 2,
    Feature.VELOCITY_LIMITS: 2,
    Feature.TORQUE_RANGE: 2,
    Feature.CURRENT_RANGE: 2,
    Feature.IMPEDANCE: 2,
    Feature.IMPEDANCE_OFFSET: 1,
    Feature.IMPEDANCE_LIMITS: 4,
    Feature.MOTOR_TORQUE_PARAMETERS: 9,
    Feature.PID: 10,
}
MODES: dict[Feature, type[ControlMode] | type[InteractionMode]] = {
    Feature.CONTROL_MODE: ControlMode,
    Feature.INTERACTION_MODE: InteractionMode,
}
_INTEGERS = frozenset({Feature.AMPLIFIER_STATUS, Feature.PID_ENABLE})
_FIELDS = {
    Feature.ENCODER: "joint_position",
    Feature.MOTOR_ENCODER: "motor_position",
    Feature.CONTROL_MODE: "control_modes",
    Feature.INTERACTION_MODE: "interaction_modes",
}
_STREAMED = {
    Feature.POSITION_REFERENCE: CommandKind.POSITION_DIRECT,
    Feature.VELOCITY_REFERENCE: CommandKind.VELOCITY,
    Feature.TORQUE_REFERENCE: CommandKind.TORQUE,
    Feature.DUTY_CYCLE_REFERENCE: CommandKind.PWM,
    Feature.CURRENT_REFERENCE: CommandKind.CURRENT,
}


class BoardAccess:
    """Reads and changes the quantities of a device."""

    def __init__(self, device: ControlBoardDevice) -> None:
        self.device = device
        self._orders: dict[Feature, Callable[[Joints, Sequence[Any]], None]] = {
            Feature.TARGET_POSITION: device.move_to,
            Feature.RELATIVE_POSITION: device.move_by,
            Feature.STOP: lambda joints, _: device.stop(joints),
            Feature.CONTROL_MODE: device.set_control_modes,
            Feature.INTERACTION_MODE: device.set_interaction_modes,
        }

    @property
    def number_of_axes(self) -> int:
        """Return how many joints there are, and as many motors and motor encoders."""
        return len(self.device.axis_names)

    @property
    def all_joints(self) -> Joints:
        """Return the indices of all joints."""
        return tuple(range(self.number_of_axes))

    def read(self, quantity: Quantity, joints: Joints, pid: PidType | None = None) -> list[Any]:
        """Return a value, or a row of values, for each of the joints."""
        if isinstance(quantity, Measured):
            return self._measured(quantity.value, joints)
        if quantity in _FIELDS:
            return self._measured(_FIELDS[quantity], joints)
        if quantity is Feature.AXIS_NAME:
            return [self.device.axis_name(joint) for joint in joints]
        if quantity is Feature.JOINT_TYPE:
            return [int(self.device.joint_type(joint)) for joint in joints]
        if quantity is Feature.JOINT_FAULT:
            return [self.device.joint_fault(joint) for joint in joints]
        return self._parameters(quantity, joints, pid)

    def write(self, feature: Feature, joints: Joints, values: Sequence[Any], pid: PidType | None = None) -> None:
        """Hand a value, or a row of values, for each of the joints to the device."""
        if feature in TRIGGERS:
            return self.device.trigger(feature, joints, pid)
        if feature in _STREAMED:
            whose = None if joints == self.all_joints else joints
            return self.device.stream(StreamedCommand(_STREAMED[feature], whose, tuple(values)))
        if feature in self._orders:
            return self._orders[feature](joints, values)
        if feature in WIDTHS and any(len(row) != WIDTHS[feature] for row in values):
            raise MalformedMessage(f"{feature.name} has {WIDTHS[feature]} numbers for each joint, not {values}")
        return self.device.set_parameter(feature, joints, values, pid)

    def _parameters(self, feature: Feature, joints: Joints, pid: PidType | None) -> list[Any]:
        values = self.device.parameter(feature, joints, pid)
        if feature in _INTEGERS:
            return [int(value) for value in values]
        return [_row(value) for value in values]

    def _measured(self, field: str, joints: Joints) -> list[Any]:
        data = self.device.read()
        if not data.is_valid(field):
            raise NotOffered(field.replace("_", " "))
        values = getattr(data, field)
        kind: Callable[[Any], Any] = Vocab32 if field in INTEGER_FIELDS else float
        return [kind(values[joint]) for joint in joints]


def _row(value: Any) -> float | list[float]:
    return [float(number) for number in value] if hasattr(value, "__len__") else float(value)
