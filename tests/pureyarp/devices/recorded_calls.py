"""The calls of a real client, as the recordings name them, made with our interfaces."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pureyarp as api
from pureyarp.data.values import Bottle
from pureyarp.data.vectors import BVector, DVector, IVector
from pureyarp.devices.control_board_messages import CommandKind
from pureyarp.devices.control_board_protocol import Feature
from pureyarp.devices.remote_control_board import RemoteControlBoard
from pureyarp.devices.settings_views import Pid, PidVector


def recorded_pid() -> Pid:
    return Pid(1.0, 0.1, 0.01, 5.0, 100.0, 2.0)


# Calls that this package has no view for: the feature that is asked or set, the set-points that are streamed.
WITHOUT_VIEW = {
    "IAmplifierControl.disableAmp": Feature.AMPLIFIER_DISABLE,
    "IAmplifierControl.enableAmp": Feature.AMPLIFIER_ENABLE,
    "IAmplifierControl.getAmpStatus": Feature.AMPLIFIER_STATUS,
    "IAmplifierControl.getMaxCurrent": Feature.MAXIMUM_CURRENT,
    "IAmplifierControl.setMaxCurrent": Feature.MAXIMUM_CURRENT,
    "IAmplifierControl.getNominalCurrent": Feature.NOMINAL_CURRENT,
    "IAmplifierControl.setNominalCurrent": Feature.NOMINAL_CURRENT,
    "IAmplifierControl.getPeakCurrent": Feature.PEAK_CURRENT,
    "IAmplifierControl.setPeakCurrent": Feature.PEAK_CURRENT,
    "IAmplifierControl.getPWMLimit": Feature.PWM_LIMIT,
    "IAmplifierControl.setPWMLimit": Feature.PWM_LIMIT,
    "IAmplifierControl.getPowerSupplyVoltage": Feature.SUPPLY_VOLTAGE,
    "ICurrentControl.getCurrentRange": Feature.CURRENT_RANGE,
    "ICurrentControl.getCurrentRanges": Feature.CURRENT_RANGE,
    "ICurrentControl.getNumberOfMotors": Feature.MOTORS,
    "ICurrentControl.getRefCurrent": Feature.CURRENT_REFERENCE,
    "ICurrentControl.getRefCurrents": Feature.CURRENT_REFERENCE,
    "ICurrentControl.setRefCurrent": CommandKind.CURRENT,
    "ICurrentControl.setRefCurrents": CommandKind.CURRENT,
    "IPWMControl.getNumberOfMotors": Feature.MOTORS,
    "IPWMControl.getRefDutyCycle": Feature.DUTY_CYCLE_REFERENCE,
    "IPWMControl.getRefDutyCycles": Feature.DUTY_CYCLE_REFERENCE,
    "IPWMControl.setRefDutyCycle": CommandKind.PWM,
    "IPWMControl.setRefDutyCycles": CommandKind.PWM,
    "IRemoteVariables.getRemoteVariable": Feature.REMOTE_VARIABLE,
    "IRemoteVariables.setRemoteVariable": Feature.REMOTE_VARIABLE,
    "IRemoteVariables.getRemoteVariablesList": Feature.REMOTE_VARIABLES,
    "ITorqueControl.getMotorTorqueParams": Feature.MOTOR_TORQUE_PARAMETERS,
    "ITorqueControl.setMotorTorqueParams": Feature.MOTOR_TORQUE_PARAMETERS,
}
# Interfaces that the bindings have no view of: what a call of theirs asks of the board.
UNSEEN: dict[str, Callable[[RemoteControlBoard, list[Any]], Any]] = {
    "IMotorEncoders.getNumberOfMotorEncoders": lambda board, _: board.ask(Feature.MOTOR_ENCODERS),
    "IMotorEncoders.resetMotorEncoder": lambda board, a: board.order(Feature.MOTOR_ENCODER_RESET, a[0]),
    "IMotorEncoders.resetMotorEncoders": lambda board, _: board.order(Feature.MOTOR_ENCODER_RESET),
    "IMotorEncoders.setMotorEncoderCountsPerRevolution": lambda board, a: board.order(
        Feature.MOTOR_ENCODER_COUNTS, a[0], [a[1]]
    ),
    "IMotorEncoders.getMotorEncoderCountsPerRevolution": lambda board, a: board.ask(Feature.MOTOR_ENCODER_COUNTS, a[0]),
    "IMotorEncoders.setMotorEncoder": lambda board, a: board.order(Feature.MOTOR_ENCODER, a[0], [a[1]]),
    "IMotorEncoders.setMotorEncoders": lambda board, a: board.order(Feature.MOTOR_ENCODER, None, list(a[0])),
    "IJointFault.getLastJointFault": lambda board, a: board.ask(Feature.JOINT_FAULT, a[0]),
    "IImpedanceControl.getAxes": lambda board, _: board.ask(Feature.AXES),
    "IImpedanceControl.setImpedance": lambda board, a: board.order(Feature.IMPEDANCE, a[0], a[1:]),
    "IImpedanceControl.setImpedanceOffset": lambda board, a: board.order(Feature.IMPEDANCE_OFFSET, a[0], a[1:]),
    "IImpedanceControl.getImpedance": lambda board, a: board.ask(Feature.IMPEDANCE, a[0]),
    "IImpedanceControl.getImpedanceOffset": lambda board, a: board.ask(Feature.IMPEDANCE_OFFSET, a[0]),
    "IImpedanceControl.getCurrentImpedanceLimit": lambda board, a: board.ask(Feature.IMPEDANCE_LIMITS, a[0]),
}


def make_call(board: RemoteControlBoard, call: str) -> tuple[Any, list[Any]]:
    """Make a call such as ``IPositionControl.positionMove(1, 20.5)``; return its result and its arguments."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    assert isinstance(node.func.value, ast.Name)
    arguments = [_argument(one) for one in node.args]
    interface, method = node.func.value.id, node.func.attr
    if f"{interface}.{method}" in UNSEEN:
        return UNSEEN[f"{interface}.{method}"](board, arguments), arguments
    if f"{interface}.{method}" in WITHOUT_VIEW:
        return _without_view(board, WITHOUT_VIEW[f"{interface}.{method}"], method, arguments), arguments
    view = getattr(api, interface)(board)
    return getattr(view, method)(*arguments), arguments


def _without_view(board: RemoteControlBoard, what: Feature | CommandKind, method: str, arguments: list[Any]) -> Any:
    is_of_one = bool(arguments) and isinstance(arguments[0], int | str)
    of, rest = (arguments[0], arguments[1:]) if is_of_one else (None, arguments)
    if isinstance(what, CommandKind):
        if len(rest) == 2:  # (number, joints, values)
            of, rest = tuple(rest[0]), rest[1:]
        return board.stream(what, of, list(rest[0]) if not isinstance(rest[0], float) else rest)
    if method.startswith("get"):
        return board.ask(what, of)
    values = [
        value.items if isinstance(value, Bottle) else value if isinstance(value, list) else [value] for value in rest
    ]
    return board.order(what, of, [one for value in values for one in value])


def _argument(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return {
            "Pid": recorded_pid,
            "Bottle": lambda: Bottle("1 2"),
            "MotorTorqueParameters": lambda: [1.0, 2.0, 3.0, 4.0, *[0.0] * 5],
        }[node.id]()
    if isinstance(node, ast.List) and isinstance(node.elts[0], ast.Name):
        pids = PidVector(len(node.elts))
        pids[:] = [recorded_pid() for _ in node.elts]
        return pids
    value = ast.literal_eval(node)
    return _vector(value) if isinstance(value, list) else value


def _vector(values: list[Any]) -> Any:
    if isinstance(values[0], str):
        return "".join(values)
    kind = BVector if isinstance(values[0], bool) else IVector if isinstance(values[0], int) else DVector
    return kind(values)
