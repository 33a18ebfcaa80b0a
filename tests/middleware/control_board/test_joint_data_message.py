"""Joint data as bytes: the same as those of its elements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pureyarp.devices.control_board_messages import FIELDS, JointData, JointDataMessage, joint_data_in
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import WireFamily
from pureyarp.wire.text import to_text
from tests.middleware.recorded_messages import recorded_messages

YARP_3, YARP_4 = WireFamily.YARP_3, WireFamily.YARP_4


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


def test_recorded_states_are_written_again_byte_for_byte():
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
