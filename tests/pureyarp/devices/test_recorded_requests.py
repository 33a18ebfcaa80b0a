"""Every recorded call of a real client sends the recorded bytes and understands the recorded reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pureyarp.data.vectors import BVector, DVector, IVector
from pureyarp.devices.remote_control_board import RemoteControlBoard, RemoteControlBoardOptions
from pureyarp.devices.settings_views import PidVector, pid_to_items
from pureyarp.devices.vocab_dialect import VocabDialect
from pureyarp.wire.binary import Sendable, decode_list, encode_list
from pureyarp.wire.elements import Element, WireFamily, encode_vocab
from tests.middleware.recorded_messages import RecordedMessage, recorded_messages
from tests.pureyarp.devices.recorded_calls import make_call

OPTIONS = RemoteControlBoardOptions("/gold/rcb", "/fakebot/arm", VocabDialect(), "tcp", "tcp")
REQUESTS = [one for one in recorded_messages("yarp_3_12", "rcb_rpc_all") if one.call not in ("OPEN", "CLOSE")]
OPENING = [one for one in recorded_messages("yarp_3_12", "rcb_rpc_all") if one.call == "OPEN"]
STREAMED = [one for one in recorded_messages("yarp_3_12", "rcb_streaming_all") if one.call]


class ScriptedPorts:
    """Ports without a network: requests are compared with the recorded ones and answered as recorded."""

    def __init__(self, expected: Sequence[RecordedMessage]) -> None:
        self.expected = list(expected)
        self.sent: list[tuple[bytes, bool]] = []

    def open(self) -> None:
        pass

    def connect(self) -> None:
        pass

    def close(self) -> None:
        pass

    def are_connected(self) -> bool:
        return True

    def ask(self, items: list[Element]) -> list[Element]:
        recorded = self.expected.pop(0)
        assert encode_list(items) == recorded.payload
        assert recorded.reply is not None
        return decode_list(recorded.reply).items

    def send(self, message: Sendable, strict: bool) -> None:
        self.sent.append((message.to_wire(WireFamily.YARP_3), strict))


def opened(*expected: RecordedMessage) -> tuple[RemoteControlBoard, ScriptedPorts]:
    ports = ScriptedPorts([*OPENING, *expected])
    board = RemoteControlBoard(OPTIONS, ports)  # type: ignore[arg-type]
    board.open()
    board.close()  # stops the keeper; requests go on
    return board, ports


def replied_values(reply: bytes) -> list[Any]:
    """Return the values of a reply after its head, up to the time stamp or ``[ok]``."""
    items = decode_list(reply).items
    ends = [items.index(end) for end in (encode_vocab("tsta"), encode_vocab("ok")) if end in items]
    start = 1 if items[1] == 0 and len(items) == 4 else 2
    return items[start : min(ends)]


def flat(values: Sequence[Any]) -> list[Any]:
    return [one for value in values for one in (flat(value) if isinstance(value, list) else [value])]


def test_opening_asks_what_a_real_client_asks():
    board, ports = opened()
    assert ports.expected == []
    assert board.axes == 3


@pytest.mark.parametrize("recorded", REQUESTS, ids=lambda one: one.call)
def test_a_call_sends_the_recorded_request_and_reads_the_recorded_reply(recorded):
    board, ports = opened(recorded)
    result, arguments = make_call(board, recorded.call)
    assert ports.expected == []
    refused = decode_list(recorded.reply).items == [encode_vocab("fail")]
    if refused:
        assert result in (False, None, "unknown")
    elif decode_list(recorded.reply).items == [encode_vocab("ok")]:
        assert result is True
    else:
        assert returned_values(result, arguments) == flat(replied_values(recorded.reply))


def returned_values(result: Any, arguments: list[Any]) -> list[Any]:
    """Return what a call gave back: in vectors that it filled, or as its result."""
    if not isinstance(result, bool):
        return flat(result) if isinstance(result, list) else [result]
    filled = [one for one in arguments if isinstance(one, DVector | BVector | PidVector)]
    if arguments and isinstance(arguments[-1], IVector):
        filled = [arguments[-1]]
    values: list[Any] = []
    for vector in filled:
        values += flat([pid_to_items(one) for one in vector]) if isinstance(vector, PidVector) else list(vector)
    return values or [int(result)]


@pytest.mark.parametrize("recorded", STREAMED, ids=lambda one: one.call)
def test_a_streamed_command_is_the_recorded_one(recorded):
    board, ports = opened()
    result, arguments = make_call(board, recorded.call)
    assert result is True
    assert [payload for payload, _ in ports.sent] == [recorded.payload]
    assert [strict for _, strict in ports.sent] == [isinstance(arguments[0], int) and len(arguments) == 2]
