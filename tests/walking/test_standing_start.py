import numpy as np
import pytest

from gradiva.common import StateError
from gradiva.walking import WalkingLayers
from tests.walking.conftest import setup_of


@pytest.fixture(scope="module")
def layers():
    setup = setup_of("icub_v2_7")
    return WalkingLayers(setup.robot, setup.walking)


def test_the_start_posture_begins_where_the_planner_would(layers):
    start = layers.standing_start(layers.start_posture.joint_positions)
    expected = layers.planner.at_origin(2.0)
    state = start.at(2.0)
    for foot, wanted in ((state.left_foot, expected.left_foot), (state.right_foot, expected.right_foot)):
        np.testing.assert_allclose([foot.x, foot.y, foot.yaw], [wanted.x, wanted.y, wanted.yaw], atol=1e-4)
    np.testing.assert_allclose(state.com_position, expected.com_position, atol=1e-4)
    np.testing.assert_allclose(start.posture.base_position, layers.start_posture.base_position, atol=1e-4)
    np.testing.assert_allclose(start.posture.base_rotation, layers.start_posture.base_rotation, atol=1e-4)


@pytest.mark.parametrize(
    ("joint", "change", "complaint"),
    [
        ("l_ankle_pitch", 0.2, "inclined by"),
        ("torso_pitch", 0.6, r"torso_pitch is \+0.60 rad from the start posture"),
        ("l_knee", float("nan"), "not finite"),
    ],
)
def test_a_robot_that_cannot_stand_so_is_refused_by_name(layers, joint, change, complaint):
    positions = layers.start_posture.joint_positions.copy()
    positions[layers.robot.joints.index(joint)] += change
    with pytest.raises(StateError, match=complaint):
        layers.standing_start(positions)


def test_straight_legs_are_too_high(layers):
    with pytest.raises(StateError, match="from the start posture; prepare the robot without onTheFly"):
        layers.standing_start(np.zeros_like(layers.start_posture.joint_positions))
