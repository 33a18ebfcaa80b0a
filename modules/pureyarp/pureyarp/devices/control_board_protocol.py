"""Name the features, modes and requests of control boards, as YARP's protocol has them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from typing import Protocol

from pureyarp.data.conversions import checked_integer
from pureyarp.errors import NetworkError
from pureyarp.wire.elements import Element, WireFamily, encode_vocab


class ControlMode(IntEnum):
    """Control mode of a joint; as an int, the vocab of the wire."""

    POSITION = encode_vocab("pos")
    POSITION_DIRECT = encode_vocab("posd")
    VELOCITY = encode_vocab("vel")
    VELOCITY_DIRECT = encode_vocab("veld")  # 4.x only
    MIXED = encode_vocab("mix")
    TORQUE = encode_vocab("torq")
    PWM = encode_vocab("ipwm")
    CURRENT = encode_vocab("icur")
    IDLE = encode_vocab("idl")
    FORCE_IDLE = encode_vocab("fidl")  # only commanded: how to leave HARDWARE_FAULT
    HARDWARE_FAULT = encode_vocab("hwfa")
    CALIBRATING = encode_vocab("cal")
    CALIBRATION_DONE = encode_vocab("cald")
    NOT_CONFIGURED = encode_vocab("cfgn")
    CONFIGURED = encode_vocab("cfgy")
    UNKNOWN = encode_vocab("unkw")
    IMPEDANCE_POSITION = encode_vocab("impo")  # obsolete
    IMPEDANCE_VELOCITY = encode_vocab("imve")  # obsolete


class InteractionMode(IntEnum):
    """Interaction mode of a joint, stiff or compliant; as an int, the vocab of the wire."""

    STIFF = encode_vocab("stif")
    COMPLIANT = encode_vocab("comp")
    UNKNOWN = encode_vocab("unkn")


class JointType(IntEnum):
    """Type of a joint; as an int, the vocab of the wire."""

    REVOLUTE = encode_vocab("atrv")
    PRISMATIC = encode_vocab("atpr")
    UNKNOWN = encode_vocab("unkn")


class PidType(IntEnum):
    """Controlled quantity of a PID; as an int, the vocab of the wire."""

    POSITION = encode_vocab("pos")
    VELOCITY = encode_vocab("vel")
    TORQUE = encode_vocab("trq")
    CURRENT = encode_vocab("cur")


class Feature(Enum):
    """Quantities and settings that can be read or set by RPC; each dialect has its words for them."""

    AXES = auto()
    MOTORS = auto()
    AXIS_NAME = auto()
    JOINT_TYPE = auto()

    TARGET_POSITION = auto()
    RELATIVE_POSITION = auto()
    MOTION_DONE = auto()
    TRAJECTORY_SPEED = auto()
    TRAJECTORY_ACCELERATION = auto()
    STOP = auto()
    POSITION_REFERENCE = auto()
    VELOCITY_REFERENCE = auto()
    TORQUE_REFERENCE = auto()
    TORQUE_RANGE = auto()
    MOTOR_TORQUE_PARAMETERS = auto()
    DUTY_CYCLE_REFERENCE = auto()
    CURRENT_REFERENCE = auto()
    CURRENT_RANGE = auto()
    CONTROL_MODE = auto()
    INTERACTION_MODE = auto()
    IMPEDANCE = auto()
    IMPEDANCE_OFFSET = auto()
    IMPEDANCE_LIMITS = auto()

    ENCODER = auto()
    ENCODER_RESET = auto()
    MOTOR_ENCODERS = auto()
    MOTOR_ENCODER = auto()
    MOTOR_ENCODER_RESET = auto()
    MOTOR_ENCODER_COUNTS = auto()
    POSITION_LIMITS = auto()
    VELOCITY_LIMITS = auto()

    AMPLIFIER_ENABLE = auto()
    AMPLIFIER_DISABLE = auto()
    AMPLIFIER_STATUS = auto()
    MAXIMUM_CURRENT = auto()
    NOMINAL_CURRENT = auto()
    PEAK_CURRENT = auto()
    PWM_LIMIT = auto()
    SUPPLY_VOLTAGE = auto()
    TEMPERATURE = auto()
    TEMPERATURE_LIMIT = auto()
    GEARBOX_RATIO = auto()
    JOINT_FAULT = auto()

    PID = auto()
    PID_REFERENCE = auto()
    PID_ERROR = auto()
    PID_ERROR_LIMIT = auto()
    PID_OUTPUT = auto()
    PID_OFFSET = auto()
    PID_RESET = auto()
    PID_ENABLE = auto()
    PID_DISABLE = auto()

    REMOTE_VARIABLE = auto()
    REMOTE_VARIABLES = auto()


VOCAB_CM_CALIBRATING = int(ControlMode.CALIBRATING)
VOCAB_CM_CALIB_DONE = int(ControlMode.CALIBRATION_DONE)
VOCAB_CM_CONFIGURED = int(ControlMode.CONFIGURED)
VOCAB_CM_CURRENT = int(ControlMode.CURRENT)
VOCAB_CM_FORCE_IDLE = int(ControlMode.FORCE_IDLE)
VOCAB_CM_HW_FAULT = int(ControlMode.HARDWARE_FAULT)
VOCAB_CM_IDLE = int(ControlMode.IDLE)
VOCAB_CM_IMPEDANCE_POS = int(encode_vocab("impo"))
VOCAB_CM_MIXED = int(ControlMode.MIXED)
VOCAB_CM_NOT_CONFIGURED = int(ControlMode.NOT_CONFIGURED)
VOCAB_CM_POSITION = int(ControlMode.POSITION)
VOCAB_CM_POSITION_DIRECT = int(ControlMode.POSITION_DIRECT)
VOCAB_CM_PWM = int(ControlMode.PWM)
VOCAB_CM_TORQUE = int(ControlMode.TORQUE)
VOCAB_CM_UNKNOWN = int(ControlMode.UNKNOWN)
VOCAB_CM_VELOCITY = int(ControlMode.VELOCITY)

VOCAB_IM_COMPLIANT = int(InteractionMode.COMPLIANT)
VOCAB_IM_STIFF = int(InteractionMode.STIFF)
VOCAB_IM_UNKNOWN = int(InteractionMode.UNKNOWN)

VOCAB_JOINTTYPE_PRISMATIC = int(JointType.PRISMATIC)
VOCAB_JOINTTYPE_REVOLUTE = int(JointType.REVOLUTE)
VOCAB_JOINTTYPE_UNKNOWN = int(JointType.UNKNOWN)


# Joints of a request: one joint (or one named variable), all joints, or a group of joints.
JointSelection = int | tuple[int, ...] | None


class Verb(Enum):
    """Distinguishes a request for values from an order."""

    GET = "get"
    SET = "set"


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a control board, or one order.

    Attributes:
        verb: Asked or ordered.
        feature: What it is about.
        of: Joint index, name of a variable, group of joint indices; None for all joints.
        values: Of an order: for one joint what is set, else one element for each joint. Degrees, as YARP speaks.
        controller: Vocabulary of the control loop that a PID request means (``pos``, ``vel``, ``trq``, ``cur``).
    """

    verb: Verb
    feature: Feature
    of: JointSelection | str = None
    values: Sequence[Element] = ()
    controller: int | None = None

    def __post_init__(self) -> None:
        """Refuse, with TypeError, a control loop that is no number."""
        if self.controller is not None:
            checked_integer(self.controller, 32)


class NotInDialect(NetworkError):  # noqa: N818 (it reads as the sentence it is)
    """A control board of this family cannot be asked for this."""


class RequestRefused(NetworkError):  # noqa: N818
    """A control board answers that it will not, or cannot; carries its answer."""


class RequestLine(Protocol):
    """By which requests are sent."""

    def ask(self, items: list[Element]) -> list[Element]:
        """Send a request and return the reply, or raise PeerUnreachable."""

    def ask_bytes(self, items: list[Element]) -> bytes:
        """Send a request and return the bytes of the reply, or raise PeerUnreachable."""


class Dialect(ABC):
    """Requests and replies of one family of control boards.

    Attributes:
        family: Whose tags the messages carry.
        rpc_server: Ending of the board's RPC port.
        rpc_client: Ending of the client's RPC port.
        default_carrier: Of commands and state.
        rpc_comes_first: Whether the client opens and connects its RPC port before the two others.
    """

    family: WireFamily
    rpc_server: str
    rpc_client: str
    default_carrier: str
    rpc_comes_first: bool

    @abstractmethod
    def encode(self, request: Request) -> list[Element]:
        """Return the message for a request, or raise NotInDialect."""

    @abstractmethod
    def decode(self, request: Request, reply: list[Element]) -> list[Element]:
        """Return the values of an answer, or raise RequestRefused."""

    @abstractmethod
    def check_protocol(self, line: RequestLine) -> None:
        """Ask a board which version of the protocol it speaks; raise RequestRefused if it is another one."""

    @abstractmethod
    def introduce(self, line: RequestLine) -> None:
        """Ask a board what else a client asks after the number of axes; raise RequestRefused if it will not say."""
