"""Define the device behind a control board's ports, and read and change it by feature."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pureyarp.devices.control_board_messages import INTEGER_FIELDS, CommandKind, JointData, StreamedCommand
from pureyarp.devices.control_board_protocol import ControlMode, Feature, InteractionMode, JointType, PidType
from pureyarp.errors import MalformedMessage, NetworkError
from pureyarp.wire.elements import Element, Vocab32, decode_vocab, encode_vocab

T = TypeVar("T")
Joints = tuple[int, ...]
Key = tuple[Feature, PidType | None]


# Interfaces that a device may lack, by the names of the 4.x family.
INTERFACES = (
    *("iAmplifierControl", "iAxisInfo", "iControlCalibration", "iControlLimits", "iControlMode", "iCurrentControl"),
    *("iEncodersTimed", "iImpedanceControl", "iInteractionMode", "iJointBrake", "iJointFault", "iMotor"),
    *("iMotorEncoders", "iPWMControl", "iPidControl", "iPositionControl", "iPositionDirect", "iPreciselyTimed"),
    *("iRemoteCalibrator", "iRemoteVariables", "iTorqueControl", "iVelocityControl", "iVelocityDirect"),
)
_RARE = frozenset(
    {"iAmplifierControl", "iControlCalibration", "iImpedanceControl", "iJointBrake", "iJointFault"}
    | {"iPreciselyTimed", "iRemoteCalibrator", "iRemoteVariables", "iVelocityDirect"}
)


class NotOffered(NetworkError):  # noqa: N818 (it reads as the sentence it is)
    """A device has no such ability; carries which."""


class ControlBoardDevice(ABC):
    """Measures and moves the joints of one part of a robot: subclass it for a driver or a simulation.

    The server calls one method at a time, never two at once. Joints are indices into :attr:`axis_names`; angles are
    degrees, speeds degrees per second. A method that a device does not override refuses; the client then reads
    ``[fail]``, as it does when a method raises.
    """

    #: The interfaces that are announced to clients of the 4.x family, some of INTERFACES.
    interfaces: frozenset[str] = frozenset(INTERFACES) - _RARE

    @property
    @abstractmethod
    def axis_names(self) -> Sequence[str]:
        """Return the names of the joints, in their order."""

    @abstractmethod
    def read(self) -> JointData:
        """Return what is measured now."""

    @abstractmethod
    def stream(self, command: StreamedCommand) -> None:
        """Take set-points; joints in a mode that does not follow them ignore them."""

    @abstractmethod
    def set_control_modes(self, joints: Joints, modes: Sequence[ControlMode]) -> None:
        """Let each of the joints follow what its mode says."""

    def set_interaction_modes(self, joints: Joints, modes: Sequence[InteractionMode]) -> None:
        """Make each of the joints stiff or compliant."""
        raise NotOffered("interaction modes")

    def axis_name(self, joint: int) -> str:
        """Return the name of one joint."""
        return self.axis_names[joint]

    def joint_type(self, joint: int) -> JointType:
        """Return how one joint moves."""
        if joint >= len(self.axis_names):
            raise IndexError(f"joint {joint} of {len(self.axis_names)}")
        return JointType.REVOLUTE

    def move_to(self, joints: Joints, positions: Sequence[float]) -> None:
        """Start trajectories of joints in mode POSITION, at the speeds and accelerations that were set."""
        raise NotOffered("trajectories")

    def move_by(self, joints: Joints, displacements: Sequence[float]) -> None:
        """Start trajectories by displacements."""
        raise NotOffered("trajectories")

    def stop(self, joints: Joints) -> None:
        """End the joints' trajectories and velocities where they are."""
        raise NotOffered("stop")

    def is_motion_done(self, joints: Joints) -> bool:
        """Return whether all trajectories of these joints have ended."""
        raise NotOffered("trajectories")

    def parameter(self, feature: Feature, joints: Joints, pid: PidType | None) -> Sequence[Any]:
        """Return a number, or a row of numbers, for each of the joints.

        Args:
            feature: Which setting.
            joints: Whose.
            pid: The controller that is meant, where ``feature`` is one of a PID.
        """
        raise NotOffered(_said(feature))

    def set_parameter(self, feature: Feature, joints: Joints, values: Sequence[Any], pid: PidType | None) -> None:
        """Take a number, or a row of numbers, for each of the joints."""
        raise NotOffered(_said(feature))

    def trigger(self, feature: Feature, joints: Joints, pid: PidType | None) -> None:
        """Do what needs no number: reset encoders or PIDs, switch amplifiers or PIDs on and off."""
        raise NotOffered(_said(feature))

    def joint_fault(self, joint: int) -> tuple[int, str]:
        """Return the code and the text of a joint's last fault; 0 if there was none."""
        raise NotOffered("joint faults")

    def calibrate(self, joint: int, kind: int, numbers: Sequence[float]) -> None:
        """Calibrate one joint; what ``kind`` and the numbers mean is the robot's business."""
        raise NotOffered("calibration")

    def is_calibration_done(self, joint: int) -> bool:
        """Return whether a joint has been calibrated."""
        raise NotOffered("calibration")

    def park(self) -> None:
        """Move all joints to where they may be switched off."""
        raise NotOffered("parking")

    def remote_variables(self) -> Sequence[str]:
        """Return the names of the device's own variables."""
        raise NotOffered("remote variables")

    def remote_variable(self, name: str) -> list[Element]:
        """Return the value of one of the device's own variables."""
        raise NotOffered("remote variables")

    def set_remote_variable(self, name: str, values: list[Element]) -> None:
        """Change one of the device's own variables."""
        raise NotOffered("remote variables")


def _said(feature: Feature) -> str:
    return feature.name.lower().replace("_", " ")


class ParameterTable:
    """A number, or a row of numbers, for each joint and setting.

    Args:
        defaults: For each setting what it is at first: one row per joint. A setting that is not named is refused.
    """

    def __init__(self, defaults: Mapping[Key, npt.ArrayLike]) -> None:
        self._values = {key: np.array(value, dtype=np.float64) for key, value in defaults.items()}

    def get(self, feature: Feature, joints: Joints, pid: PidType | None = None) -> list[Any]:
        """Return the rows of these joints; IndexError if there is no such joint."""
        return [self._table(feature, pid)[joint].tolist() for joint in joints]

    def set(self, feature: Feature, joints: Joints, values: Sequence[Any], pid: PidType | None = None) -> None:
        """Remember one row for each of these joints."""
        table = self._table(feature, pid)
        rows = np.array(values, dtype=np.float64)
        if rows.shape != (len(joints), *table.shape[1:]):
            raise ValueError(f"{feature.name} of {len(joints)} joints with numbers of shape {rows.shape}")
        table[list(joints)] = rows

    def _table(self, feature: Feature, pid: PidType | None) -> npt.NDArray[np.float64]:
        try:
            return self._values[feature, pid]
        except KeyError:
            raise NotOffered(f"{feature.name} {pid.name if pid else ''}".strip()) from None


class Measured(Enum):
    """Measured quantities that are streamed and can be asked for; the values are names of fields of JointData."""

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


def word(element: Element) -> str:
    """Return the up to four letters of a vocab or a typed word; empty for anything else."""
    if isinstance(element, str):
        return element[:4]
    return decode_vocab(element) if isinstance(element, int) else ""


def vocab(element: Element) -> int:
    """Return a vocab that came as vocab, integer or typed word."""
    if isinstance(element, str):
        return encode_vocab(element)
    return integer(element)


def number(element: Element) -> float:
    """Return a finite double; integers count as such."""
    if isinstance(element, int | float) and math.isfinite(element):
        return float(element)
    raise MalformedMessage(f"a number is missing, there is {element!r:.40}")


def integer(element: Element) -> int:
    """Return an integer of any size."""
    if isinstance(element, int | float) and math.isfinite(element) and int(element) == element:
        return int(element)
    raise MalformedMessage(f"an integer is missing, there is {element!r:.40}")


def joint(element: Element) -> int:
    """Return the index of a joint; the device says whether it exists."""
    index = integer(element)
    if index < 0:
        raise MalformedMessage(f"joint {index}")
    return index


def many(element: Element, read: Callable[[Element], T]) -> list[T]:
    """Return the values of a nested list."""
    if not isinstance(element, list):
        raise MalformedMessage(f"a list is missing, there is {element!r:.40}")
    return [read(item) for item in element]


def joints_of(element: Element) -> Joints:
    """Return the indices in a nested list."""
    return tuple(many(element, joint))


def as_many(joints: Joints, values: Sequence[Any]) -> list[Any]:
    """Return the values if there is one for each joint."""
    if len(values) != len(joints):
        raise MalformedMessage(f"{len(values)} values for {len(joints)} joints")
    return list(values)


_PID_TYPES = {"pos": PidType.POSITION, "vel": PidType.VELOCITY, "trq": PidType.TORQUE, "cur": PidType.CURRENT}


def pid_type(element: Element) -> PidType:
    """Return which controller is meant; the 4.x family numbers them, the first is taken (``pos1``)."""
    name = word(element)
    if name.removesuffix("1") not in _PID_TYPES:
        raise MalformedMessage(f"PIDs are of {', '.join(_PID_TYPES)}, not {name!r}")
    return _PID_TYPES[name.removesuffix("1")]
