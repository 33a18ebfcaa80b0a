"""Dataclasses travel as Bottles."""

import math
import struct
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from gradiva.common import NO_JOINTS, NDArray, PlanarPose, Side, altered
from gradiva.middleware import MalformedMessage, decode_list, encode_list
from gradiva.planner import Command, GoalCommand, PathCommand, StopCommand, VelocityCommand, WalkingPlan
from gradiva.setup import load_setup
from gradiva.simplified_model import BalanceReference
from gradiva.simulated_walk import plan_from_start
from gradiva.yarp_modules.message_ports import MessageHeader
from gradiva.yarp_modules.remote_planner import PlanQuestion, plan_codec
from tests.yarp_modules.made_up_state import state_near

CODEC = plan_codec()


def over_the_wire(value, kind=None):
    return CODEC.unpack(decode_list(encode_list(CODEC.pack(value, kind))).items, kind or type(value))


@pytest.mark.parametrize("amplitude", [0.0, 0.02])
def test_a_plan_arrives_to_the_last_digit(amplitude):
    setup = load_setup("icub_v2_7", {"planner.pendulum.com_height_amplitude": amplitude})
    plan = plan_from_start(setup, VelocityCommand(0.19, angular=0.1, duration=6.0))
    arrived = over_the_wire(plan)
    assert arrived.end_time == plan.end_time
    for time in np.arange(0.0, plan.end_time + 1.0, 0.037):
        sent, got = plan.at(time), arrived.at(time)
        np.testing.assert_array_equal(got.dcm.position, sent.dcm.position)
        np.testing.assert_array_equal(got.com_velocity, sent.com_velocity)
        np.testing.assert_array_equal(got.left_foot.twist, sent.left_foot.twist)
        np.testing.assert_array_equal(got.right_foot.rotation, sent.right_foot.rotation)
        assert (got.stance_foot, got.is_walking, got.heading) == (sent.stance_foot, sent.is_walking, sent.heading)
    np.testing.assert_array_equal(
        arrived.preview(1.0, 0.05, 20).zmp_positions, plan.preview(1.0, 0.05, 20).zmp_positions
    )
    np.testing.assert_array_equal(
        arrived.preview(1.0, 0.05, 20).left_in_contact, plan.preview(1.0, 0.05, 20).left_in_contact
    )


@pytest.mark.parametrize(
    "command", [VelocityCommand(0.1), VelocityCommand(0.1, duration=3.0), GoalCommand(1.0, 2.0, yaw=0.5), StopCommand()]
)
def test_one_of_several_classes_arrives_as_itself(command):
    assert over_the_wire(command, Command) == command


def test_an_array_of_two_axes_keeps_its_shape():
    arrived = over_the_wire(PathCommand(np.arange(6.0).reshape(3, 2), 0.2), Command)
    np.testing.assert_array_equal(arrived.points, np.arange(6.0).reshape(3, 2))


def test_a_state_arrives_with_its_deflections():
    setup = load_setup("icub_v2_7")
    state = state_near(plan_from_start(setup, VelocityCommand(0.1, duration=1.0)).at(0.5), 23, seed=1)
    arrived = over_the_wire(state)
    for name in ("flexible_positions", "flexible_velocities", "flexible_torques", "joint_positions"):
        np.testing.assert_array_equal(getattr(arrived, name), getattr(state, name))
    assert arrived.flexible_positions.shape == (4,)
    rigid = over_the_wire(altered(state, flexible_positions=NO_JOINTS))
    assert rigid.flexible_positions.shape == (0,)


def test_a_preview_keeps_its_flags():
    preview = plan_from_start(load_setup("icub_v2_7"), VelocityCommand(0.19, duration=3.0)).preview(1.0, 0.05, 20)
    arrived = over_the_wire(preview)
    np.testing.assert_array_equal(arrived.right_in_contact, preview.right_in_contact)


def packed(*numbers, kind=PlanarPose):
    return [CODEC.version(kind), b64encode(zlib.compress(struct.pack(f"<{len(numbers)}d", *numbers))).decode()]


SPIN = PlanarPose(0.1, 0.2, -0.0)
VERSION, NUMBERS = CODEC.pack(SPIN)


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        (packed(0.1, 0.2), "message.yaw: the message ends before it"),
        (packed(0.1, float("nan"), 0.2), "message.y: not finite"),
        (packed(0.1, 0.2, 0.3, 0.4), "message: 1 values are left over"),
        ([VERSION, 0.1], "message: texts alone are expected in it"),
        ([VERSION, NUMBERS[:-8]], "message: no numbers: "),
        ([VERSION, "?"], "message: no numbers: "),
        ([VERSION], "message: texts alone are expected in it"),
        ([0.1, 0.2, -0.0], "message: another version of Gradiva packs it otherwise"),
        ([], "message: another version of Gradiva packs it otherwise"),
    ],
)
def test_wrong_messages_are_refused_by_name(items, complaint):
    with pytest.raises(MalformedMessage, match=complaint):
        CODEC.unpack(items, PlanarPose)


@pytest.mark.parametrize(
    ("numbers", "kind", "complaint"),
    [
        ((0, 0.1, 0.0, 0.0, 0, -1.0, 0.0), Command, "duration=-1.0 s, must be positive"),
        ((9,), Command, "9 is no integer from 0 to "),
        ((0.5,), Side, "0.5 is no integer from 0 to 1"),
        ((1e300,), list[float], "1e[+]300 is no integer from 0 to "),
        ((-2, 1e9, 1e9), NDArray, "the message ends before it"),
        ((-2, 2, -1, 1.0), NDArray, "the message ends before it"),
        ((-3, 0, 0, -1), NDArray, "no array: "),
        ((2, 0.0, 3.0), npt.NDArray[np.bool_], "expected flags"),
        ((2.0,), bool, "expected bool, got 2"),
    ],
)
def test_numbers_that_stand_for_no_value_are_malformed(numbers, kind, complaint):
    with pytest.raises(MalformedMessage, match=complaint):
        CODEC.unpack(packed(*numbers, kind=kind), kind)


@dataclass(frozen=True)
class Spin(PlanarPose):
    """Another class with the same fields, as another version could have it."""


def test_the_version_differs_where_the_classes_do():
    assert CODEC.version(PlanarPose) == plan_codec().version(PlanarPose) == VERSION
    assert len({CODEC.version(kind) for kind in (PlanarPose, Spin, WalkingPlan, Command, Side, int, bool)}) == 7


def test_a_plan_is_one_short_text_and_keeps_every_bit():
    plan = plan_from_start(load_setup("icub_v2_7"), VelocityCommand(0.19))
    assert [type(item) for item in CODEC.pack(plan)] == [str, str]
    numbers = zlib.decompress(b64decode(CODEC.pack(plan)[1]))
    assert len(CODEC.pack(plan)[1]) < 60000 < len(numbers) / 5
    again = CODEC.pack(over_the_wire(plan))
    assert zlib.decompress(b64decode(again[1])) == numbers


def test_texts_and_signs_of_zero_arrive():
    header = MessageHeader(2**31 - 1, 2**31, -0.0)
    question = PlanQuestion(header, "fingerprint ä", GoalCommand(1.0, 2.0), None, 0, None)
    arrived = over_the_wire(question)
    assert (arrived.header, arrived.configuration) == (header, "fingerprint ä")
    assert math.copysign(1.0, arrived.header.time) == -1.0


def test_every_field_of_a_plan_is_written():
    assert list(WalkingPlan.__dataclass_fields__) == ["phases", "trajectory", "steps", "end_time"]


def test_wrenches_and_contact_targets_of_layer_2_arrive():
    zero = np.zeros(3)
    sent = BalanceReference(zero, zero, zero, zero[:2], (np.arange(6.0), -np.arange(6.0)), (None, PlanarPose(0.1, 0.2)))
    arrived = over_the_wire(sent)
    np.testing.assert_array_equal(arrived.foot_wrenches, sent.foot_wrenches)
    assert arrived.contact_targets == sent.contact_targets
    assert over_the_wire(BalanceReference(zero, zero, zero, zero[:2])).foot_wrenches is None
