"""Requests and answers of YARP 3.x, against recordings."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from pureyarp.devices.control_board_messages import CommandKind, StreamedCommand
from pureyarp.devices.control_board_protocol import ControlMode, Feature, InteractionMode
from pureyarp.devices.vocab_dialect import VocabAnswers
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import Element, encode_vocab
from pureyarp.wire.text import from_text, to_text
from tests.middleware.fake_board import IntegratingBoard, RecordedBoard
from tests.middleware.recorded_messages import RecordedMessage, recorded_messages

TIME_STAMP = encode_vocab("tsta")
# One after the other, as they were made: the server counts its answers.
SESSIONS = [("rcb_open_tcp", 11), ("rcb_open_default_udp", 1), ("rcb_rpc_all", 0), ("cb_raw_rpc", 0)]
ENCODERS = [7.212999475002289, 2.65809757232666, 8.284958553314208]


class RecordedClock:
    """Shows the times that are in the recorded answers."""

    def __init__(self) -> None:
        self.time = 0.0

    def follow(self, reply: list[Element]) -> None:
        if TIME_STAMP in reply:
            self.time = float(reply[reply.index(TIME_STAMP) + 2])

    def __call__(self) -> float:
        return self.time


def replay(answers: VocabAnswers, clock: RecordedClock, messages: list[RecordedMessage]) -> list[tuple[str, str, str]]:
    """Return request, wanted and given answer wherever these differ by a byte."""
    differences = []
    for message in messages:
        request = decode_list(message.payload).items
        wanted = decode_list(message.reply).items
        clock.follow(wanted)
        given = answers.answer(request)
        if encode_list(given) != message.reply:
            differences.append((to_text(request), to_text(wanted), to_text(given)))
    return differences


def test_all_recorded_requests_are_answered_byte_for_byte():
    device, clock = RecordedBoard(), RecordedClock()
    answers = VocabAnswers(device, clock)
    for message in recorded_messages("yarp_3_12", "rcb_streaming_all"):
        device.stream(StreamedCommand.from_items(decode_list(message.payload).items))
    count = 0
    for name, connection in SESSIONS:
        if name == "cb_raw_rpc":
            device.position[:] = ENCODERS
        messages = recorded_messages("yarp_3_12", name, connection)
        count += len(messages)
        assert replay(answers, clock, messages) == []
    assert count >= 190


@pytest.fixture
def device() -> IntegratingBoard:
    return IntegratingBoard(3)


@pytest.fixture
def ask(device):
    answers = VocabAnswers(device, lambda: 5.0)
    return lambda text: to_text(answers.answer(from_text(text)))


def test_a_person_may_type_words_and_integers(ask, device):
    assert ask("set pos 1 20") == "[ok]"
    np.testing.assert_array_equal(device.target, [0.0, 20.0, 0.0])
    assert ask("get pos 1") == "[is] pos 20.0 [tsta] 0 5.0 [ok]"


def test_modes_may_be_typed(ask, device):
    assert ask("set icmd cmod 2 posd") == "[ok]"
    assert device.modes == [ControlMode.POSITION, ControlMode.POSITION, ControlMode.POSITION_DIRECT]
    assert ask("set intm mods (stif comp stif)") == "[ok]"
    assert device.interaction_modes == [InteractionMode.STIFF, InteractionMode.COMPLIANT, InteractionMode.STIFF]


def test_a_torque_set_by_rpc_reaches_the_device_as_a_streamed_command(ask, device):
    assert ask("[set] [torq] [ref] 1 0.5") == "[ok]"
    assert ask("[set] [torq] [refs] (1.0 2.0 3.0)") == "[ok]"
    assert device.commands == [
        StreamedCommand(CommandKind.TORQUE, (1,), (0.5,)),
        StreamedCommand(CommandKind.TORQUE, None, (1.0, 2.0, 3.0)),
    ]


def test_limits_are_set_as_a_pair(ask):
    assert ask("[set] [llim] 1 -10.0 50.0") == "[ok]"
    assert ask("[get] [llim] 1") == "[is] [llim] -10.0 50.0 [tsta] 0 5.0 [ok]"
    assert ask("[get] [llim] 0") == "[is] [llim] 0.0 100.0 [tsta] 1 5.0 [ok]"


def test_remote_variables_keep_their_values(ask):
    assert ask("[set] [ivar] [mvar] gain 1.5 2") == "[ok]"
    assert ask("[get] [ivar] [mvar] gain") == "[is] [ivar] (1.5 2) [ok]"
    assert ask("[get] [ivar] [lvar]") == "[is] [ivar] (gain) [ok]"


def test_pids_can_be_switched_off_and_on(ask):
    assert ask("[set] [pid] [dis] [trq] 1") == "[ok]"
    assert ask("[get] [pid] [ena] [trq] 1") == "[is] [pid] 0 [ok]"
    assert ask("[get] [pid] [ena] [pos] 1") == "[is] [pid] 1 [ok]"


@pytest.mark.parametrize(
    "request_text",
    [
        "[get] [enc]",
        "[get] [enc] -1",
        "[get] [enc] 3",
        "[get] [enc] 0.5",
        "[get] [enc] joint0",
        "[set] [encs] (1.0 2.0)",
        "[set] [encs] 1.0",
        "[set] [encs] (1.0 2.0 knee)",
        "[set] [pos] 1",
        "[set] [posg] 2 (0 1) (1.0)",
        "[set] [posg] 3 (0 1) (1.0 2.0)",
        "[set] [posg] 2 (0 -1) (1.0 2.0)",
        "[set] [llim] 1 5.0",
        "[set] [icmd] [cmod] 1 [jump]",
        "[set] [icmd] [cmds] ([pos] [pos])",
        "[set] [icmd]",
        "[set] [esps] (1.0 2.0 3.0)",
        "[set] [dpo] 1 5.0",
        "[set] [ipwm] [refs] (1.0 2.0 3.0)",
        "[set] [pid] [pid] [pos] 1 (1.0 2.0)",
        "[set] [pos] 1 nan",
        "[set] [poss] (1.0 inf 3.0)",
        "[get] [pid] [pid] [leg] 1",
        "[get] [pid] [pid]",
        "[get] [ivar]",
        "[get] [ivar] [mvar] nothing",
        "[get] [tmp] 9",
        "[cal] 1",
        "[park] 1",
        "1.5 2.5",
        "(1) (2)",
    ],
)
def test_what_cannot_be_done_is_answered_fail(ask, request_text):
    assert ask(request_text) == "[fail]"


@pytest.mark.parametrize("request_text", ["", "help", "[get]"])
def test_fewer_than_two_words_are_not_acknowledged(ask, request_text):
    assert ask(request_text) == "[nak]"


def test_a_device_that_fails_is_logged_and_answered_fail(caplog, monkeypatch):
    def burn(*_: object) -> None:
        raise RuntimeError("motor burnt")

    monkeypatch.setattr(IntegratingBoard, "move_to", burn)
    with caplog.at_level(logging.ERROR, logger="pureyarp"):
        answers = VocabAnswers(IntegratingBoard(3), lambda: 5.0)
        assert to_text(answers.answer(["set", "pos", 1, 5.0])) == "[fail]"
    assert "motor burnt" in caplog.text


def test_what_is_not_measured_is_not_answered(device, ask, monkeypatch):
    data = device.read()
    object.__setattr__(data, "invalid", frozenset({"current"}))
    monkeypatch.setattr(device, "read", lambda: data)
    assert ask("[get] [acus]") == "[fail]"
    assert ask("[get] [encs]") == "[is] [encs] (0.0 0.0 0.0) [tsta] 1 5.0 [ok]"


def test_all_settings_of_the_fake_board_can_be_read_for_each_joint(device):
    assert device.parameter(Feature.POSITION_LIMITS, (0, 2), None) == [[0.0, 100.0], [0.0, 100.0]]
