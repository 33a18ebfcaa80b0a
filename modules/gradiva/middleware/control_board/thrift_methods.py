"""The methods of the 4.x dialect, from the server's side: what each asks for or orders, and for whom."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.middleware.control_board.board_access import Measured, Quantity
from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import Scope
from gradiva.middleware.control_board.thrift_forms import THRIFT_FORMS, Methods


@dataclass(frozen=True, slots=True)
class Method:
    """What the name of a method means.

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
