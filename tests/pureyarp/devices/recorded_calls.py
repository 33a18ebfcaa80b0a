"""The calls of a real client, as the recordings name them, made with our interfaces."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gradiva.middleware.control_board.feature import Feature
from pureyarp.data.values import Bottle
from pureyarp.data.vectors import BVector, DVector, IVector
from pureyarp.devices import interfaces
from pureyarp.devices.motor_torque_parameters import MotorTorqueParameters
from pureyarp.devices.pid import Pid, PidVector
from pureyarp.devices.remote_control_board import RemoteControlBoard


def recorded_pid() -> Pid:
    return Pid(1.0, 0.1, 0.01, 5.0, 100.0, 2.0)


def recorded_parameters() -> MotorTorqueParameters:
    parameters = MotorTorqueParameters()
    parameters.bemf, parameters.bemf_scale, parameters.ktau, parameters.ktau_scale = 1.0, 2.0, 3.0, 4.0
    return parameters


# Interfaces that the bindings have no view of: what a call of theirs asks of the board.
UNSEEN: dict[str, Callable[[RemoteControlBoard, list[Any]], Any]] = {
    "IMotorEncoders.getNumberOfMotorEncoders": lambda board, _: board.ask(Feature.MOTOR_ENCODERS),
    "IMotorEncoders.resetMotorEncoder": lambda board, a: board.tell(Feature.MOTOR_ENCODER_RESET, a[0]),
    "IMotorEncoders.resetMotorEncoders": lambda board, _: board.tell(Feature.MOTOR_ENCODER_RESET),
    "IMotorEncoders.setMotorEncoderCountsPerRevolution": lambda board, a: board.tell(
        Feature.MOTOR_ENCODER_COUNTS, a[0], [a[1]]
    ),
    "IMotorEncoders.getMotorEncoderCountsPerRevolution": lambda board, a: board.ask(Feature.MOTOR_ENCODER_COUNTS, a[0]),
    "IMotorEncoders.setMotorEncoder": lambda board, a: board.tell(Feature.MOTOR_ENCODER, a[0], [a[1]]),
    "IMotorEncoders.setMotorEncoders": lambda board, a: board.tell(Feature.MOTOR_ENCODER, None, list(a[0])),
    "IJointFault.getLastJointFault": lambda board, a: board.ask(Feature.JOINT_FAULT, a[0]),
    "IImpedanceControl.getAxes": lambda board, _: board.ask(Feature.AXES),
    "IImpedanceControl.setImpedance": lambda board, a: board.tell(Feature.IMPEDANCE, a[0], a[1:]),
    "IImpedanceControl.setImpedanceOffset": lambda board, a: board.tell(Feature.IMPEDANCE_OFFSET, a[0], a[1:]),
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
    view = getattr(interfaces, interface)(board)
    return getattr(view, method)(*arguments), arguments


def _argument(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return {"Pid": recorded_pid, "Bottle": lambda: Bottle("1 2"), "MotorTorqueParameters": recorded_parameters}[
            node.id
        ]()
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
