"""The message of stateExt:o, against what YARP 3.12.3 and 4.0.0 sent."""

from __future__ import annotations

import numpy as np
import pytest

from pureyarp.devices.control_board_messages import FIELDS, JointData
from pureyarp.devices.control_board_protocol import ControlMode
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import WireFamily
from tests.middleware.recorded_messages import recorded_messages

YARP_3, YARP_4 = WireFamily.YARP_3, WireFamily.YARP_4


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
