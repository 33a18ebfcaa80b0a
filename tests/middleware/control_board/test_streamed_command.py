"""The commands of command:i, against what YARP 3.12.3 and 4.0.0 sent."""

from __future__ import annotations

import math

import pytest

from pureyarp.devices.control_board_messages import CommandKind, StreamedCommand
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import WireFamily, encode_vocab
from tests.middleware.recorded_messages import recorded_messages

YARP_3, YARP_4 = WireFamily.YARP_3, WireFamily.YARP_4

CALLS = [
    StreamedCommand(CommandKind.POSITION_DIRECT, (1,), (33.5,)),
    StreamedCommand(CommandKind.POSITION_DIRECT, None, (1.5, 2.5, 3.5)),
    StreamedCommand(CommandKind.POSITION_DIRECT, (0, 2), (7.0, 8.0)),
    StreamedCommand(CommandKind.VELOCITY, (1,), (3.5,)),
    StreamedCommand(CommandKind.VELOCITY, None, (1.0, 2.0, 3.0)),
    StreamedCommand(CommandKind.VELOCITY, (0, 2), (4.0, 5.0)),
    StreamedCommand(CommandKind.TORQUE, (1,), (0.5,)),
    StreamedCommand(CommandKind.TORQUE, None, (0.1, 0.2, 0.3)),
    StreamedCommand(CommandKind.TORQUE, (0, 2), (0.4, 0.5)),
    StreamedCommand(CommandKind.PWM, (1,), (0.25,)),
    StreamedCommand(CommandKind.PWM, None, (0.1, 0.2, 0.3)),
    StreamedCommand(CommandKind.CURRENT, (1,), (0.75,)),
    StreamedCommand(CommandKind.CURRENT, None, (0.1, 0.2, 0.3)),
    StreamedCommand(CommandKind.CURRENT, (0, 2), (0.4, 0.5)),
]
CALLS_4 = [
    StreamedCommand(CommandKind.POSITION_DIRECT, (0,), (12.5,)),
    StreamedCommand(CommandKind.POSITION_DIRECT, None, (1.0, 2.0, 3.0)),
    StreamedCommand(CommandKind.POSITION_DIRECT, (0, 2), (4.0, 5.0)),
]
RECORDED = [
    (YARP_3, call, message.payload)
    for call, message in zip(CALLS, recorded_messages("yarp_3_12", "rcb_streaming_all"), strict=True)
] + [
    (YARP_4, call, message.payload)
    for call, message in zip(CALLS_4, recorded_messages("yarp_4_0", "v4_nwc_open"), strict=True)
]


@pytest.mark.parametrize(("family", "command", "payload"), RECORDED)
def test_recorded_commands_are_written_byte_for_byte(family, command, payload):
    assert encode_list(command.to_items(family), family) == payload


@pytest.mark.parametrize(("family", "command", "payload"), RECORDED)
def test_recorded_commands_are_understood(family, command, payload):
    assert StreamedCommand.from_items(decode_list(payload, family).items) == command


@pytest.mark.parametrize("kind", [CommandKind.VELOCITY, CommandKind.TORQUE, CommandKind.VELOCITY_DIRECT])
@pytest.mark.parametrize("joints", [(1,), None, (0, 2)])
def test_the_4_family_names_the_interface_and_is_understood(kind, joints):
    command = StreamedCommand(kind, joints, tuple(float(i) for i in joints or range(3)))
    items = command.to_items(YARP_4)
    assert len(items[0]) > len(joints or ()) or joints is None
    assert StreamedCommand.from_items(items) == command


def test_a_trajectory_for_all_joints_can_be_streamed():
    command = StreamedCommand(CommandKind.POSITION, None, (1.0, 2.0))
    assert command.to_items() == [[encode_vocab("poss")], [1.0, 2.0]]
    assert StreamedCommand.from_items(command.to_items()) == command


def test_words_and_integers_typed_by_hand_are_understood():
    assert StreamedCommand.from_items([["dpo", 1], [5]]) == StreamedCommand(CommandKind.POSITION_DIRECT, (1,), (5.0,))


@pytest.mark.parametrize(
    "command",
    [
        StreamedCommand(CommandKind.PWM, (0, 2), (1.0, 2.0)),
        StreamedCommand(CommandKind.POSITION, (1,), (1.0,)),
        StreamedCommand(CommandKind.VELOCITY_DIRECT, None, (1.0,)),
    ],
)
def test_commands_that_control_boards_do_not_know_are_refused(command):
    with pytest.raises(MalformedMessage, match=command.kind.value):
        command.to_items(YARP_3)


@pytest.mark.parametrize(
    "items",
    [
        [],
        [["dpo", 1]],
        [["dpo", 1], 5.0],
        [["dpo"], [5.0]],
        [["dpo", -1], [5.0]],
        [["dpo", 1.0], [5.0]],
        [["dpo", 1], [5.0, 6.0]],
        [["dpog", 2, [0]], [5.0, 6.0]],
        [["dpog", 2, [0, "b"]], [5.0, 6.0]],
        [["dpog", 2, [0, 2]], [5.0]],
        [["dpos"], ["a"]],
        [["dpos"], [math.nan]],
        [["dpos"], [math.inf]],
        [["walk"], [5.0]],
        [[], [5.0]],
        [[[1], [2]], [5.0]],
    ],
)
def test_what_is_no_command_is_refused(items):
    with pytest.raises(MalformedMessage, match="command"):
        StreamedCommand.from_items(items)
