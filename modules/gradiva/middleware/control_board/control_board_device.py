"""What a control board moves: the driver or the simulated part behind the ports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.joint_data import JointData
from gradiva.middleware.control_board.streamed_command import StreamedCommand
from gradiva.middleware.control_board.vocabulary import ControlMode, InteractionMode, JointType, PidType
from pureyarp.errors import NetworkError
from pureyarp.wire.elements import Element

Joints = tuple[int, ...]

# What a device may lack, by the names that the 4.x family gives them.
INTERFACES = (
    *("iAmplifierControl", "iAxisInfo", "iControlCalibration", "iControlLimits", "iControlMode", "iCurrentControl"),
    *("iEncodersTimed", "iImpedanceControl", "iInteractionMode", "iJointBrake", "iJointFault", "iMotor"),
    *("iMotorEncoders", "iPWMControl", "iPidControl", "iPositionControl", "iPositionDirect", "iPreciselyTimed"),
    *("iRemoteCalibrator", "iRemoteVariables", "iTorqueControl", "iVelocityControl", "iVelocityDirect"),
)
_SELDOM = frozenset(
    {"iAmplifierControl", "iControlCalibration", "iImpedanceControl", "iJointBrake", "iJointFault"}
    | {"iPreciselyTimed", "iRemoteCalibrator", "iRemoteVariables", "iVelocityDirect"}
)


class NotOffered(NetworkError):  # noqa: N818 (it reads as the sentence it is)
    """A device has no such ability; carries which."""


class ControlBoardDevice(ABC):
    """The joints of one part.

    The server calls one method at a time, never two at once. Joints are indices into :attr:`axis_names`; angles are
    degrees, speeds degrees per second. A method that a device does not override refuses; the client then reads
    ``[fail]``, as it does when a method raises.
    """

    #: The interfaces that clients of the 4.x family are told of, some of INTERFACES.
    interfaces: frozenset[str] = frozenset(INTERFACES) - _SELDOM

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
        """Tell whether all trajectories of these joints have ended."""
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
        """Tell whether a joint has been calibrated."""
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
