"""Requests and answers of YARP 4.x, against recordings."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from pureyarp.devices.control_board_device import ControlBoardDevice
from pureyarp.devices.control_board_protocol import ControlMode
from pureyarp.devices.thrift_dialect import METHODS, VERSION_METHOD, ThriftAnswers
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import WireFamily
from pureyarp.wire.text import from_text, to_text
from tests.middleware.fake_board import IntegratingBoard, RecordedBoard
from tests.middleware.recorded_messages import recorded_messages

YARP_4 = WireFamily.YARP_4


@pytest.fixture
def device() -> IntegratingBoard:
    return IntegratingBoard(3)


@pytest.fixture
def ask(device):
    answers = ThriftAnswers(device)
    return lambda text: to_text(answers.answer(from_text(text)))


def test_all_recorded_requests_are_answered_byte_for_byte():
    answers = ThriftAnswers(RecordedBoard())
    messages = recorded_messages("yarp_4_0", "v4_nwc_open", connection=2)
    assert decode_list(messages[0].payload, YARP_4).items == [VERSION_METHOD]
    for message in messages[1:]:
        assert encode_list(answers.answer(decode_list(message.payload, YARP_4).items), YARP_4) == message.reply
    assert len(messages) == 4


@pytest.mark.parametrize(
    ("request_text", "reply"),
    [
        ("positionMoveOneRPC 1 20.5", "[ok]"),
        ("positionMoveAllRPC (1.0 2.0 3.0)", "[ok]"),
        ("positionMoveGroupRPC (0 2) (5.0 6.0)", "[ok]"),
        ("stopAllRPC", "[ok]"),
        ("getAxesRPC", "([ok]) 3"),
        ("getEncoderAllRPC", "([ok]) (0.0 0.0 0.0)"),
        ("getEncoderSpeedOneRPC 2", "([ok]) 0.0"),
        ("getAxisNameRPC 1", "([ok]) joint1"),
        ("getPosLimitsRPC 1", "([ok]) 0.0 100.0"),
        ("getTorqueRangeAllRPC", "([ok]) (0.0 0.0 0.0) (0.0 0.0 0.0)"),
        ("checkMotionDoneAllRPC", "([ok]) [ok]"),
        ("isPidEnabledRPC pos1 2", "([ok]) [ok]"),
        ("getPidErrorsRPC pos1", "([ok]) (0.1 0.1 0.1)"),
        ("getJointTypeRPC 0", "([ok]) 1987212385"),
        ("getLastJointFaultRPC 0", '([ok]) 0 ""'),
        ("getImpedanceRPC 1", "([ok]) 0.0 0.0"),
    ],
)
def test_methods_are_answered(ask, request_text, reply):
    assert from_text(ask(request_text)) == from_text(reply)


def test_orders_reach_the_device(ask, device):
    ask("positionMoveGroupRPC (0 2) (5.0 6.0)")
    np.testing.assert_array_equal(device.target, [5.0, 0.0, 6.0])
    ask("relativeMoveOneRPC 0 1.5")
    assert device.target[0] == 6.5
    ask(f"setControlModeAllRPC ({int(ControlMode.TORQUE)} {int(ControlMode.IDLE)} posd)")
    assert device.modes == [ControlMode.TORQUE, ControlMode.IDLE, ControlMode.POSITION_DIRECT]
    ask("setPosLimitsRPC 1 -10.0 10.0")
    assert ask("getPosLimitsRPC 1") == "([ok]) -10.0 10.0"


@pytest.mark.parametrize(
    ("request_text", "reply"),
    [
        ("walkRPC", "[fail]"),
        ("", "[fail]"),
        ("5 6", "[fail]"),
        ("setEncoderOneRPC", "[err5]"),
        ("setEncoderOneRPC -1 5.0", "[err5]"),
        ("positionMoveAllRPC (1.0 2.0)", "[err5]"),
        ("setPosLimitsRPC 1 5.0", "[err5]"),
        ("getAxisNameRPC 9", '([err5]) ""'),
        ("getEncoderOneRPC 9", "([err5]) 0.0"),
        ("getPosLimitsRPC 9", "([err5]) 0.0 0.0"),
        ("getRefTorqueGroupRPC (0 9)", "([err5]) ()"),
    ],
)
def test_what_cannot_be_done_is_answered_with_an_error_and_neutral_values(ask, request_text, reply):
    assert ask(request_text) == reply


def test_what_a_device_does_not_offer_is_refused(ask, device, monkeypatch):
    monkeypatch.setattr(device, "parameter", lambda *_: ControlBoardDevice.parameter(device, *_))
    assert ask("getTemperatureAllRPC") == "([err2]) ()"


def test_a_failure_of_the_device_is_logged_and_answered(caplog, monkeypatch):
    def burn(*_: object) -> None:
        raise RuntimeError("motor burnt")

    monkeypatch.setattr(IntegratingBoard, "move_to", burn)
    with caplog.at_level(logging.ERROR, logger="pureyarp"):
        answers = ThriftAnswers(IntegratingBoard(3))
        assert to_text(answers.answer(["positionMoveOneRPC", 1, 5.0])) == "[err5]"
    assert "motor burnt" in caplog.text


def test_no_method_can_make_the_server_fail():
    answers = ThriftAnswers(IntegratingBoard(2))
    for name in METHODS:
        for arguments in ([], [0], [0, 1.0], [[0]], [[0], [1.0]], ["pos1", 0], [-1], ["x"]):
            assert answers.answer([name, *arguments])
