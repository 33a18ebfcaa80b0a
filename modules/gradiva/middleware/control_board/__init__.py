"""The messages of control boards, shared by the clients and the server: values and elements, no ports."""

from gradiva.middleware.control_board.joint_data import JointData
from gradiva.middleware.control_board.streamed_command import CommandKind, StreamedCommand
from gradiva.middleware.control_board.vocabulary import ControlMode, InteractionMode, JointType, PidType

__all__ = [
    "CommandKind",
    "ControlMode",
    "InteractionMode",
    "JointData",
    "JointType",
    "PidType",
    "StreamedCommand",
]
