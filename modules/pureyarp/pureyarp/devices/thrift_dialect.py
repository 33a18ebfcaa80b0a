"""Speak the 4.x dialect of control boards, the methods of a generated (thrift) service, as client and as server."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pureyarp.devices.control_board_device import (
    COUNTS,
    INTERFACES,
    MODES,
    TRIGGERS,
    WIDTHS,
    BoardAccess,
    ControlBoardDevice,
    Joints,
    Measured,
    NotOffered,
    Quantity,
    as_many,
    joint,
    joints_of,
    many,
    number,
    pid_type,
    vocab,
)
from pureyarp.devices.control_board_messages import Scope
from pureyarp.devices.control_board_protocol import (
    Dialect,
    Feature,
    JointSelection,
    NotInDialect,
    PidType,
    Request,
    RequestLine,
    RequestRefused,
    Verb,
)
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, Int16, PlainList, TypedList, Vocab32, WireFamily, decode_vocab, encode_vocab

OK, FAIL = encode_vocab("ok"), encode_vocab("fail")
NOT_IMPLEMENTED, METHOD_FAILED = encode_vocab("err2"), encode_vocab("err5")
VERSION_METHOD = "getRemoteProtocolVersion"
INTERFACES_METHOD = "getDeviceInterfacesRPC"
#: The answer to VERSION_METHOD: the service's protocol, then YARP's version, as int16 without tags.
PROTOCOL_VERSION = (0, 4, 0, 0)
_VERSION = 0
_HEADER_SIZE = 8  # [bytes]
_VERSION_SIZE = 16  # [bytes] with header
_TRUTH: dict[Element, Element] = {OK: 1, encode_vocab("fail"): 0}
_LOGGER = logging.getLogger("pureyarp")


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods for one joint, all joints and a group; empty where the service has none."""

    one: str = ""
    all: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class ThriftForm:
    """The methods for one feature.

    Attributes:
        get: That ask.
        set: That order.
        narrow_joint: Whether the joint is an integer of two bytes.
    """

    get: Methods = Methods()
    set: Methods = Methods()
    narrow_joint: bool = False


def _three(stem: str) -> Methods:
    return Methods(f"{stem}OneRPC", f"{stem}AllRPC", f"{stem}GroupRPC")


def _two(stem: str) -> Methods:
    return Methods(f"{stem}OneRPC", f"{stem}AllRPC")


def _one(stem: str) -> Methods:
    return Methods(one=f"{stem}RPC")


def _all(stem: str) -> Methods:
    return Methods(all=f"{stem}RPC")


def _of_motor(stem: str) -> ThriftForm:
    return ThriftForm(_one(f"get{stem}"), _one(f"set{stem}"))


def _of_pid(stem: str) -> ThriftForm:
    return ThriftForm(
        Methods(f"getPid{stem}RPC", f"getPid{stem}sRPC"), Methods(f"setPid{stem}RPC", f"setPid{stem}sRPC"), True
    )


THRIFT_FORMS = {
    Feature.AXES: ThriftForm(_all("getAxes")),
    Feature.MOTORS: ThriftForm(_all("getNumberOfMotors")),
    Feature.AXIS_NAME: ThriftForm(_one("getAxisName")),
    Feature.JOINT_TYPE: ThriftForm(_one("getJointType")),
    Feature.TARGET_POSITION: ThriftForm(_three("getTargetPosition"), _three("positionMove")),
    Feature.RELATIVE_POSITION: ThriftForm(set=_three("relativeMove")),
    Feature.MOTION_DONE: ThriftForm(_three("checkMotionDone")),
    Feature.TRAJECTORY_SPEED: ThriftForm(
        Methods("getTrajSpeedOneRPC", "getTrajSpeedsAllRPC", "getTrajSpeedsGroupRPC"), _three("setTrajSpeed")
    ),
    Feature.TRAJECTORY_ACCELERATION: ThriftForm(
        _three("getTrajAcceleration"),
        Methods("setTrajAccelerationOneRPC", "setTrajAccelerationsAllRPC", "setTrajAccelerationsGroupRPC"),
    ),
    Feature.STOP: ThriftForm(set=_three("stop")),
    Feature.POSITION_REFERENCE: ThriftForm(_three("getRefPosition"), _three("setRefPosition")),
    Feature.VELOCITY_REFERENCE: ThriftForm(_three("getTargetVelocity"), _three("velocityMove")),
    Feature.TORQUE_REFERENCE: ThriftForm(_three("getRefTorque"), _three("setRefTorque")),
    Feature.TORQUE_RANGE: ThriftForm(_two("getTorqueRange")),
    Feature.MOTOR_TORQUE_PARAMETERS: _of_motor("MotorTorqueParams"),
    Feature.DUTY_CYCLE_REFERENCE: ThriftForm(_two("getRefDutyCycle"), _three("setRefDutyCycle")),
    Feature.CURRENT_REFERENCE: ThriftForm(_two("getRefCurrent"), _three("setRefCurrent")),
    Feature.CURRENT_RANGE: ThriftForm(_two("getCurrentRange")),
    Feature.CONTROL_MODE: ThriftForm(set=_three("setControlMode")),
    Feature.INTERACTION_MODE: ThriftForm(
        Methods("getInteractionModeOneRPC", "getInteractionModesAllRPC", "getInteractionModesGroupRPC"),
        Methods("setInteractionModeOneRPC", "setInteractionModesAllRPC", "setInteractionModesGroupRPC"),
    ),
    Feature.IMPEDANCE: _of_motor("Impedance"),
    Feature.IMPEDANCE_OFFSET: _of_motor("ImpedanceOffset"),
    Feature.IMPEDANCE_LIMITS: ThriftForm(_one("getCurrentImpedanceLimit")),
    Feature.ENCODER: ThriftForm(_two("getEncoder"), _two("setEncoder")),
    Feature.ENCODER_RESET: ThriftForm(set=_two("resetEncoder")),
    Feature.MOTOR_ENCODERS: ThriftForm(_all("getNumberOfMotorEncoders")),
    Feature.MOTOR_ENCODER: ThriftForm(_two("getMotorEncoder"), Methods("setMotorEncoderRPC", "setMotorEncodersAllRPC")),
    Feature.MOTOR_ENCODER_RESET: ThriftForm(set=Methods("resetMotorEncoderRPC", "resetMotorEncodersRPC")),
    Feature.MOTOR_ENCODER_COUNTS: _of_motor("MotorEncoderCountsPerRevolution"),
    Feature.POSITION_LIMITS: ThriftForm(_one("getPosLimits"), _one("setPosLimits"), True),
    Feature.VELOCITY_LIMITS: ThriftForm(_one("getVelLimits"), _one("setVelLimits"), True),
    Feature.AMPLIFIER_ENABLE: ThriftForm(set=_one("enableAmp")),
    Feature.AMPLIFIER_DISABLE: ThriftForm(set=_one("disableAmp")),
    Feature.AMPLIFIER_STATUS: ThriftForm(_two("getAmpStatus")),
    Feature.MAXIMUM_CURRENT: _of_motor("MaxCurrent"),
    Feature.NOMINAL_CURRENT: _of_motor("NominalCurrent"),
    Feature.PEAK_CURRENT: _of_motor("PeakCurrent"),
    Feature.PWM_LIMIT: _of_motor("PWMLimit"),
    Feature.SUPPLY_VOLTAGE: ThriftForm(_one("getPowerSupplyVoltage")),
    Feature.TEMPERATURE: ThriftForm(_two("getTemperature")),
    Feature.TEMPERATURE_LIMIT: _of_motor("TemperatureLimit"),
    Feature.GEARBOX_RATIO: _of_motor("GearboxRatio"),
    Feature.JOINT_FAULT: ThriftForm(_one("getLastJointFault")),
    Feature.PID_REFERENCE: _of_pid("Reference"),
    Feature.PID_ERROR: ThriftForm(_of_pid("Error").get, narrow_joint=True),
    Feature.PID_ERROR_LIMIT: _of_pid("ErrorLimit"),
    Feature.PID_OUTPUT: ThriftForm(_of_pid("Output").get, narrow_joint=True),
    Feature.PID_OFFSET: ThriftForm(_one("getPidOffset"), _one("setPidOffsetOne"), True),
    Feature.PID_RESET: ThriftForm(set=_one("resetPid"), narrow_joint=True),
    Feature.PID_ENABLE: ThriftForm(_one("isPidEnabled"), _one("enablePid"), True),
    Feature.PID_DISABLE: ThriftForm(set=_one("disablePid"), narrow_joint=True),
    Feature.REMOTE_VARIABLE: _of_motor("RemoteVariable"),
}


class ThriftDialect(Dialect):
    """``getTargetPositionOneRPC 1`` is answered ``([ok]) 20.5``, ``positionMoveOneRPC 1 20.5`` is answered ``[ok]``."""

    family = WireFamily.YARP_4
    rpc_server = "/nws/rpc:i"
    rpc_client = "/nwc/rpc:o"
    default_carrier = "fast_tcp"
    rpc_comes_first = False

    def encode(self, request: Request) -> list[Element]:
        """Return method, control loop, joints and values, in this order."""
        form = THRIFT_FORMS.get(request.feature, ThriftForm())
        words = PlainList([_method(form, request)])
        if request.controller is not None:
            words.append(int(request.controller))
        words.extend(_joints(form, request))
        words.extend(_values(request))
        return words

    def decode(self, request: Request, reply: list[Element]) -> list[Element]:
        """Return what follows the return value, or raise RequestRefused with the board's error."""
        outcome = _outcome(reply)
        if outcome != OK:
            error = f"[{decode_vocab(outcome)}]" if isinstance(outcome, int) else repr(outcome)
            raise RequestRefused(f"the board answers {error} to {request.feature.name.lower()}")
        if request.verb is Verb.GET and len(reply) < 2:
            raise RequestRefused(f"the board answers {request.feature.name.lower()} without a value")
        return [_TRUTH.get(value, value) if isinstance(value, Vocab32) else value for value in reply[1:]]

    def check_protocol(self, line: RequestLine) -> None:
        """Ask for the version: the header of a list of one, then bare integers, of which the first must be ours."""
        reply = line.ask_bytes(PlainList(["getRemoteProtocolVersion"]))
        version = int.from_bytes(reply[_HEADER_SIZE : _HEADER_SIZE + 2], "little", signed=True)
        if len(reply) != _VERSION_SIZE or version != _VERSION:
            raise RequestRefused(f"the board answers {reply.hex()} when asked for its protocol, not {_VERSION}")

    def introduce(self, line: RequestLine) -> None:
        """Ask which interfaces the board's device has; what it lacks is refused when it is asked for."""
        reply = line.ask(PlainList(["getDeviceInterfacesRPC"]))
        if not reply or _outcome(reply) != OK:
            raise RequestRefused(f"the board answers {reply!r:.60} when asked for its interfaces")


def _outcome(reply: list[Element]) -> Element | None:
    status = reply[0] if reply else None
    return status[0] if isinstance(status, list) and status else status


def _method(form: ThriftForm, request: Request) -> str:
    methods = form.get if request.verb is Verb.GET else form.set
    of = request.of
    method = methods.one if isinstance(of, int | str) else methods.all if of is None else methods.group
    if not method:
        feature = request.feature.name.lower().replace("_", " ")
        raise NotInDialect(f"control boards of YARP 4 have no method to {request.verb.value} {feature} {_whom(of)}")
    return method


def _joints(form: ThriftForm, request: Request) -> list[Element]:
    if request.of is None:
        return []
    if isinstance(request.of, tuple):
        return [list(request.of)]
    # An integer of two bytes is also accepted where the service expects four, but not the other way round.
    return [Int16(request.of) if form.narrow_joint and isinstance(request.of, int) else request.of]


def _values(request: Request) -> list[Element]:
    values = list(request.values)
    if not values:
        return []
    if isinstance(request.of, str):
        return [values]
    plain: list[Element] = [int(value) if isinstance(value, Vocab32) else value for value in values]
    return plain if isinstance(request.of, int) else [plain]


def _whom(of: JointSelection | str) -> str:
    return "of all joints" if of is None else f"of {of}"


@dataclass(frozen=True, slots=True)
class Method:
    """Meaning of the name of a method.

    Attributes:
        quantity: What is asked for or ordered.
        scope: Of one joint, all or a listed group.
        is_order: Whether something is set.
    """

    quantity: Quantity
    scope: Scope
    is_order: bool


_MEASURED: tuple[tuple[Measured, Methods], ...] = (
    (Measured.JOINT_VELOCITY, Methods("getEncoderSpeedOneRPC", "getEncoderSpeedAllRPC")),
    (Measured.JOINT_ACCELERATION, Methods("getEncoderAccelerationOneRPC", "getEncoderAccelerationAllRPC")),
    (Measured.MOTOR_VELOCITY, Methods("getMotorEncoderSpeedOneRPC", "getMotorEncoderSpeedAllRPC")),
    (Measured.MOTOR_ACCELERATION, Methods("getMotorEncoderAccelerationOneRPC", "getMotorEncoderAccelerationAllRPC")),
    (Measured.CURRENT, Methods("getCurrentOneRPC", "getCurrentAllRPC")),
    (Measured.PWM, Methods("getDutyCycleOneRPC", "getDutyCycleAllRPC")),
    (Measured.PWM, Methods("getPWMRPC")),
)
# Their objects are serialised in a way that nothing recorded shows.
_UNKNOWN_OBJECTS = (Feature.PID, Feature.REMOTE_VARIABLE, Feature.REMOTE_VARIABLES)


def _methods() -> dict[str, Method]:
    rows: list[tuple[Quantity, Methods, bool]] = [(quantity, methods, False) for quantity, methods in _MEASURED]
    for feature, form in THRIFT_FORMS.items():
        if feature not in _UNKNOWN_OBJECTS:
            rows += [(feature, form.get, False), (feature, form.set, True)]
    return {
        name: Method(quantity, scope, is_order)
        for quantity, methods, is_order in rows
        for scope, name in ((Scope.ONE, methods.one), (Scope.ALL, methods.all), (Scope.GROUP, methods.group))
        if name
    }


METHODS = _methods()


_BOOLEANS = (Feature.MOTION_DONE, Feature.PID_ENABLE)
_INTEGERS = (Feature.JOINT_TYPE, Feature.AMPLIFIER_STATUS, Feature.CONTROL_MODE, Feature.INTERACTION_MODE, *COUNTS)
_TEXTS = (Feature.AXIS_NAME,)


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The parsed arguments of a method: whose, the rest, the controller that is meant."""

    joints: Joints
    rest: Sequence[Element]
    pid: PidType | None


class ThriftAnswers:
    """Answers the requests of ``nws/rpc:i``.

    Args:
        device: What is asked and commanded.
    """

    def __init__(self, device: ControlBoardDevice) -> None:
        self._board = BoardAccess(device)
        self._device = device

    def answer(self, request: list[Element]) -> list[Element]:
        """Return the reply: a return value, and behind it what was asked for."""
        name = request[0] if request else None
        if name == INTERFACES_METHOD:
            return _returned(OK, [PlainList(self._interfaces())])
        method = METHODS.get(name) if isinstance(name, str) else None
        if method is None:
            return PlainList([FAIL])
        outcome, values = self._outcome(method, request)
        return PlainList([outcome]) if method.is_order else _returned(outcome, values)

    def _outcome(self, method: Method, request: list[Element]) -> tuple[Element, list[Element]]:
        """Return the return value and the values: neutral ones if there are none, as the client reads all fields."""
        try:
            return OK, self._do(method, request)
        except NotOffered as error:
            _LOGGER.debug("control board: %r is not offered: %s", request, error)
            return NOT_IMPLEMENTED, _neutral(method)
        except (MalformedMessage, LookupError, ValueError) as error:
            _LOGGER.debug("control board: %r is refused: %s", request, error)
        except Exception:
            _LOGGER.exception("control board: the device failed at %r", request)
        return METHOD_FAILED, _neutral(method)

    def _do(self, method: Method, request: list[Element]) -> list[Element]:
        arguments = self._arguments(method, request)
        if not method.is_order:
            return self._values(method, arguments)
        assert isinstance(method.quantity, Feature)  # what is only measured has no order
        values = _values_to_set(method.quantity, method.scope, arguments)
        self._board.write(method.quantity, arguments.joints, values, arguments.pid)
        return []

    def _arguments(self, method: Method, request: list[Element]) -> _Arguments:
        rest, pid = request[1:], None
        if isinstance(method.quantity, Feature) and method.quantity.name.startswith("PID"):
            pid, rest = pid_type(rest[0]), rest[1:]
        match method.scope:
            case Scope.ONE:
                return _Arguments((joint(rest[0]),), rest[1:], pid)
            case Scope.GROUP:
                return _Arguments(joints_of(rest[0]), rest[1:], pid)
            case Scope.ALL:
                return _Arguments(self._board.all_joints, rest, pid)

    def _values(self, method: Method, arguments: _Arguments) -> list[Element]:
        if method.quantity in COUNTS:
            return [self._board.number_of_axes]
        if method.quantity is Feature.MOTION_DONE:
            return [_truth(self._device.is_motion_done(arguments.joints))]
        if method.quantity is Feature.JOINT_FAULT:
            return list(self._device.joint_fault(arguments.joints[0]))
        rows = self._board.read(method.quantity, arguments.joints, arguments.pid)
        columns = [list(column) for column in zip(*rows, strict=True)] if method.quantity in WIDTHS else [rows]
        if method.scope is Scope.ONE:
            return [_scalar(method.quantity, column[0]) for column in columns]
        return [TypedList(_element_type(method.quantity), map(_element_type(method.quantity), c)) for c in columns]

    def _interfaces(self) -> list[Element]:
        return [PlainList([name, _truth(name in self._device.interfaces)]) for name in INTERFACES]


def _values_to_set(feature: Feature, scope: Scope, arguments: _Arguments) -> list[Any]:
    """Return a value, or a row of values, for each of the joints."""
    if feature in TRIGGERS or feature is Feature.STOP:
        return []
    one = scope is Scope.ONE
    if feature in MODES:
        modes = arguments.rest[:1] if one else many(arguments.rest[0], lambda mode: mode)
        return as_many(arguments.joints, [MODES[feature](vocab(mode)) for mode in modes])
    numbers = [number(element) for element in arguments.rest] if one else many(arguments.rest[0], number)
    if feature in WIDTHS:
        return [tuple(numbers)]
    return as_many(arguments.joints, numbers)


def _returned(outcome: Element, values: list[Element]) -> list[Element]:
    return PlainList([PlainList([outcome]), *values])


def _neutral(method: Method) -> list[Element]:
    if method.quantity is Feature.JOINT_FAULT:
        return [0, ""]
    width = WIDTHS.get(method.quantity, 1) if isinstance(method.quantity, Feature) else 1
    if method.scope is Scope.ONE or method.quantity in COUNTS or method.quantity is Feature.MOTION_DONE:
        return [_scalar(method.quantity, _element_type(method.quantity)())] * width
    return [TypedList(_element_type(method.quantity))] * width


def _scalar(quantity: Quantity, value: Any) -> Element:
    if quantity in _BOOLEANS:
        return _truth(bool(value))
    element: Element = _element_type(quantity)(value)
    return element


def _element_type(quantity: Quantity) -> type[Any]:
    if quantity in _TEXTS:
        return str
    return int if quantity in _INTEGERS else float


def _truth(fact: bool) -> Element:
    return OK if fact else FAIL
