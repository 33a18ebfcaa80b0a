"""The answers of a 4.x control board: ``getEncoderOneRPC 1`` gives ``([ok]) 20.5``, ``stopAllRPC`` gives ``[ok]``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradiva.middleware.control_board.board_access import COUNTS, MODES, TRIGGERS, WIDTHS, BoardAccess, Quantity
from gradiva.middleware.control_board.control_board_device import INTERFACES, ControlBoardDevice, Joints, NotOffered
from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import Scope
from gradiva.middleware.control_board.thrift_methods import METHODS, Method
from gradiva.middleware.control_board.typed_values import (
    as_many,
    joint,
    joints_of,
    many,
    number,
    pid_type,
    vocab,
)
from gradiva.middleware.control_board.vocabulary import PidType
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, PlainList, TypedList, encode_vocab

OK, FAIL = encode_vocab("ok"), encode_vocab("fail")
NOT_IMPLEMENTED, METHOD_FAILED = encode_vocab("err2"), encode_vocab("err5")
VERSION_METHOD = "getRemoteProtocolVersion"
INTERFACES_METHOD = "getDeviceInterfacesRPC"
#: The answer to VERSION_METHOD: the service's protocol, then YARP's version, as int16 without tags.
PROTOCOL_VERSION = (0, 4, 0, 0)

_BOOLEANS = (Feature.MOTION_DONE, Feature.PID_ENABLE)
_INTEGERS = (Feature.JOINT_TYPE, Feature.AMPLIFIER_STATUS, Feature.CONTROL_MODE, Feature.INTERACTION_MODE, *COUNTS)
_TEXTS = (Feature.AXIS_NAME,)
_logger = logging.getLogger("gradiva.yarp")


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments of a method taken apart: whose, the rest, the controller that is meant."""

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
            _logger.debug("control board: %r is not offered: %s", request, error)
            return NOT_IMPLEMENTED, _neutral(method)
        except (MalformedMessage, LookupError, ValueError) as error:
            _logger.debug("control board: %r is refused: %s", request, error)
        except Exception:
            _logger.exception("control board: the device failed at %r", request)
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
