"""Dataclasses travel as Bottles."""

import numpy as np
import pytest

from gradiva.common import NO_JOINTS, PlanarPose, altered
from gradiva.middleware import MalformedMessage, decode_list, encode_list
from gradiva.planner import Command, GoalCommand, PathCommand, StopCommand, VelocityCommand, WalkingPlan
from gradiva.setup import load_setup
from gradiva.simplified_model import BalanceReference
from gradiva.simulated_walk import plan_from_start
from gradiva.yarp_modules.remote_planner import plan_codec
from tests.yarp_modules.made_up_state import state_near

CODEC = plan_codec()


def over_the_wire(value, kind=None):
    packed = CODEC.pack(value, kind)
    items = decode_list(encode_list([packed])).items
    return CODEC.unpack(items[0], kind or type(value))


@pytest.mark.parametrize("amplitude", [0.0, 0.02])
def test_a_plan_arrives_to_the_last_digit(amplitude):
    setup = load_setup("icub_v2_7", {"planner.com_height_amplitude": amplitude})
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


@pytest.mark.parametrize(
    ("element", "complaint"),
    [
        ([0.1, 0.2], "message: PlanarPose has 3 fields, got 2"),
        ([0.1, "x", 0.2], "message.y: expected float, got 'x'"),
        ([0.1, float("nan"), 0.2], "message.y: not finite"),
        (3, "message: expected a list, got 3"),
    ],
)
def test_wrong_files_are_refused_by_name(element, complaint):
    with pytest.raises(MalformedMessage, match=complaint):
        CODEC.unpack(element, PlanarPose)


def test_a_value_that_its_class_refuses_is_a_malformed_message():
    with pytest.raises(MalformedMessage, match=r"message \(VelocityCommand\): duration=-1.0 s, must be positive"):
        CODEC.unpack(["VelocityCommand", 0.1, 0.0, 0.0, [-1.0]], Command)


def test_an_unknown_class_is_refused_with_the_known_ones():
    with pytest.raises(MalformedMessage, match="'Fly' is none of VelocityCommand, GoalCommand"):
        CODEC.unpack(["Fly"], Command)


def test_every_field_of_a_plan_is_written():
    assert list(WalkingPlan.__dataclass_fields__) == ["phases", "trajectory", "steps", "end_time"]


def test_wrenches_and_contact_targets_of_layer_2_arrive():
    zero = np.zeros(3)
    sent = BalanceReference(zero, zero, zero, zero[:2], (np.arange(6.0), -np.arange(6.0)), (None, PlanarPose(0.1, 0.2)))
    arrived = over_the_wire(sent)
    np.testing.assert_array_equal(arrived.foot_wrenches, sent.foot_wrenches)
    assert arrived.contact_targets == sent.contact_targets
    assert over_the_wire(BalanceReference(zero, zero, zero, zero[:2])).foot_wrenches is None
