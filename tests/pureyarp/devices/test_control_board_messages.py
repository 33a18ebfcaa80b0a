"""Set-points and joint data as elements and bytes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pureyarp.devices.control_board_messages import (
    FIELDS,
    CommandKind,
    JointData,
    JointDataMessage,
    StreamedCommand,
    joint_data_in,
)
from pureyarp.devices.control_board_protocol import ControlMode
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import WireFamily, encode_vocab
from pureyarp.wire.text import to_text
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


def decoded(payload: bytes, family: WireFamily) -> JointData:
    return JointData.from_items(decode_list(payload, family).items)


def recorded_states() -> list[tuple[WireFamily, bytes]]:
    three = recorded_messages("yarp_3_12", "stateExt") + recorded_messages("yarp_3_12", "rcb_open_tcp", connection=23)
    four = recorded_messages("yarp_4_0", "v4_nwc_open", connection=1)
    return [(YARP_3, one.payload) for one in three] + [(YARP_4, one.payload) for one in four]


def test_recorded_states_are_written_again_byte_for_byte():
    states = recorded_states()
    assert len(states) >= 20
    for family, payload in states:
        assert encode_list(decoded(payload, family).to_items(family), family) == payload


def test_a_recorded_state_says_what_the_joints_did():
    data = decoded(recorded_messages("yarp_3_12", "stateExt")[0].payload, YARP_3)
    np.testing.assert_array_equal(data.joint_position, [4.0, 0.0, 0.0])
    np.testing.assert_array_equal(data.motor_position, [40.0, 0.0, 0.0])
    np.testing.assert_array_equal(data.pwm, [33.0, 34.0, 35.0])
    np.testing.assert_array_equal(data.current, [3300.0, 3400.0, 3500.0])
    assert data.control_modes.tolist() == [ControlMode.POSITION_DIRECT, ControlMode.POSITION, ControlMode.POSITION]
    assert data.invalid == {"temperature"}


def test_the_4_family_also_says_how_warm_the_motors_are():
    data = decoded(recorded_messages("yarp_4_0", "v4_nwc_open", connection=1)[0].payload, YARP_4)
    np.testing.assert_array_equal(data.temperature, [37.5, 38.5, 39.5])
    assert data.is_valid("temperature")


def test_what_is_not_measured_travels_as_invalid_zeros():
    data = JointData.of([1.0, 2.0], torque=[3.0, 4.0])
    again = JointData.from_items(data.to_items())
    assert again.invalid == set(FIELDS) - {"joint_position", "torque"}
    np.testing.assert_array_equal(again.torque, [3.0, 4.0])
    np.testing.assert_array_equal(again.current, [0.0, 0.0])


@pytest.mark.parametrize("family", [YARP_3, YARP_4])
def test_a_part_without_joints_is_a_message_too(family):
    data = JointData.of([])
    assert JointData.from_items(decode_list(encode_list(data.to_items(family), family), family).items).invalid >= {
        "torque"
    }


def test_numbers_of_other_kinds_are_understood():
    items = JointData.of([1.0, 2.0]).to_items()
    items[0] = [1, 2.0]  # as a person types them
    np.testing.assert_array_equal(JointData.from_items(items).joint_position, [1.0, 2.0])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda items: items.pop(), "22"),
        (lambda items: items.__setitem__(0, 5.0), "joint_position is not a vector"),
        (lambda items: items.__setitem__(0, ["a", "b"]), "joint_position is not a vector"),
        (lambda items: items.__setitem__(18, [1.5, 2.5]), "control_modes is not a vector"),
        (lambda items: items.__setitem__(18, [2**31, 0]), "control_modes is not a vector"),
        (lambda items: items.__setitem__(0, [2**70, 0]), "joint_position is not a vector"),
        (lambda items: items.__setitem__(0, [[1.0], [1.0, 2.0]]), "joint_position is not a vector"),
        (lambda items: items.__setitem__(0, [[1.0], [2.0]]), "joint_position is not a vector"),
        (lambda items: items.__setitem__(0, [b"1", b"2"]), "joint_position is not a vector"),
        (lambda items: items.__setitem__(0, []), "different lengths"),
        (lambda items: items.__setitem__(4, [1.0]), "different lengths"),
    ],
)
def test_what_is_no_joint_data_is_refused(change, says):
    items = JointData.of([1.0, 2.0]).to_items()
    change(items)
    with pytest.raises(MalformedMessage, match=says):
        JointData.from_items(items)


def test_a_field_of_another_length_is_refused():
    with pytest.raises(ValueError, match="torque of 1 joints"):
        JointData.of([1.0, 2.0], torque=[3.0])


def test_an_unknown_field_is_refused_by_name():
    with pytest.raises(TypeError, match="tork"):
        JointData.of([1.0], tork=[1.0])


def random_data(number_of_joints: int, invalid: tuple[str, ...] = ()) -> JointData:
    random = np.random.default_rng(number_of_joints)
    measured = {name: random.normal(size=number_of_joints) for name in FIELDS if name not in invalid}
    measured["control_modes"] = random.integers(0, 2**31, number_of_joints)
    return JointData.of(**measured)


@pytest.mark.parametrize("family", [YARP_3, YARP_4])
@pytest.mark.parametrize("number_of_joints", [0, 1, 3, 32])
@pytest.mark.parametrize("invalid", [(), ("torque", "temperature", "interaction_modes")])
def test_the_bytes_are_those_of_the_elements(family, number_of_joints, invalid):
    data = random_data(number_of_joints, invalid)
    assert JointDataMessage(data, family).to_wire(family) == encode_list(data.to_items(family), family)


def test_the_template_writes_recorded_states_again_byte_for_byte():
    for message in recorded_messages("yarp_3_12", "stateExt"):
        data = JointData.from_items(decode_list(message.payload, YARP_3).items)
        assert JointDataMessage(data, YARP_3).to_wire(YARP_3) == message.payload
    for message in recorded_messages("yarp_4_0", "v4_nwc_open", connection=1):
        data = JointData.from_items(decode_list(message.payload, YARP_4).items)
        assert JointDataMessage(data, YARP_4).to_wire(YARP_4) == message.payload


def test_one_message_leaves_nothing_behind_in_the_next():
    first, second = random_data(3, ("torque",)), random_data(3)
    JointDataMessage(first, YARP_3).to_wire(YARP_3)
    assert JointDataMessage(second, YARP_3).to_wire(YARP_3) == encode_list(second.to_items())


def test_fields_of_other_lengths_are_refused():
    data = replace(random_data(3), torque=np.zeros(2))
    with pytest.raises(MalformedMessage, match="3 joints"):
        JointDataMessage(data, YARP_3).to_wire(YARP_3)


def test_a_peer_of_the_other_family_gets_its_own_tags():
    data = random_data(2)
    assert JointDataMessage(data, YARP_4).to_wire(YARP_3) == encode_list(data.to_items(YARP_4), YARP_3)


def test_a_text_connection_gets_a_line():
    data = random_data(2)
    assert JointDataMessage(data, YARP_3).to_wire_text() == to_text(data.to_items(YARP_3))


def everything(data: JointData) -> dict[str, list[float]]:
    return {name: getattr(data, name).tolist() for name in FIELDS}


@pytest.mark.parametrize("family", [YARP_3, YARP_4])
@pytest.mark.parametrize("number_of_joints", [0, 1, 3, 32])
@pytest.mark.parametrize("invalid", [(), ("torque", "temperature", "interaction_modes")])
def test_bytes_say_what_their_elements_say(family, number_of_joints, invalid):
    message = JointDataMessage(random_data(number_of_joints, invalid), family).to_wire(family)
    slowly = JointData.from_items(decode_list(message, family).items)
    data = joint_data_in(message, family)
    assert everything(data) == everything(slowly)
    assert data.invalid == slowly.invalid
    assert [getattr(data, name).dtype for name in FIELDS] == [getattr(slowly, name).dtype for name in FIELDS]


def test_bytes_that_are_not_as_usual_are_left_to_the_elements():
    message = bytearray(JointDataMessage(random_data(3), YARP_3).to_wire(YARP_3))
    assert joint_data_in(bytes(message), YARP_4) is None
    assert joint_data_in(bytes(message[:-1]), YARP_3) is None
    message[8] ^= 1  # the tag of the first list
    assert joint_data_in(bytes(message), YARP_3) is None
    assert joint_data_in(b"", YARP_3) is None
