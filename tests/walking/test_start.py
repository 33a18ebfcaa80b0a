"""""" ""

import numpy as np
import pytest

from gradiva.common import StateError
from gradiva.walking import WalkingLayers
from gradiva.walking.start import Preparation
from tests.walking.conftest import setup_of


def test_the_move_starts_and_ends_where_it_should_and_keeps_the_speed():
    start, goal = np.zeros(2), np.array([0.3, -1.0])
    move = Preparation(5.0, start, goal, shortest=2.0, highest_speed=0.5)
    assert move.duration == pytest.approx(1.875 / 0.5)
    np.testing.assert_array_equal(move.at(5.0), start)
    np.testing.assert_allclose(move.at(5.0 + move.duration), goal)
    samples = np.array([move.at(t) for t in np.linspace(5.0, 9.0, 401)])
    assert np.abs(np.diff(samples, axis=0)).max() / 0.01 <= 0.5 + 1e-6
    assert not move.is_done(8.0)
    assert move.is_done(5.0 + move.duration)


def test_a_short_move_takes_its_least_duration():
    assert Preparation(0.0, np.zeros(1), np.array([0.01]), shortest=2.0, highest_speed=0.5).duration == 2.0


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
