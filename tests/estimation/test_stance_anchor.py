import numpy as np
import pytest

from gradiva.common import DcmReference, FootReference, PlanarPose, Side, WalkingReference, so3
from gradiva.estimation.stance_anchor import StanceAnchor

LEFT_POSE = np.array([0.0, 0.08, 0.0]), np.eye(3)
RIGHT_POSE = np.array([0.2, -0.08, 0.0]), so3.rotation_z(0.1)


def reference(stance):
    def foot(pose):
        return FootReference(*pose, np.zeros(6), np.zeros(6), True)

    dcm = DcmReference(np.zeros(2), np.zeros(2), 4.3, 4.3, np.zeros(2))
    feet = foot(LEFT_POSE), foot(RIGHT_POSE)
    return WalkingReference(0.0, dcm, np.zeros(3), np.zeros(3), *feet, stance, 0.0, True)


def landed(dx, dy, turn):
    position, rotation = RIGHT_POSE
    return {Side.LEFT: LEFT_POSE, Side.RIGHT: (position + np.array([dx, dy, 0.0]), so3.rotation_z(turn) @ rotation)}


def test_the_first_stance_sole_stands_as_planned_and_the_plan_lies_at_the_origin():
    anchor = StanceAnchor(0.2)
    side, position, rotation = anchor.update(0.0, reference(Side.LEFT), {})
    assert side is Side.LEFT
    np.testing.assert_array_equal(position, LEFT_POSE[0])
    np.testing.assert_array_equal(rotation, np.eye(3))
    assert anchor.plan_origin == PlanarPose()


def test_what_a_landing_missed_moves_the_plan_by_odometry_once_it_has_faded():
    anchor = StanceAnchor(0.2)
    anchor.update(0.0, reference(Side.LEFT), {})
    feet = landed(0.01, -0.02, 0.0)
    _, position, _ = anchor.update(1.0, reference(Side.RIGHT), feet)
    np.testing.assert_allclose(position, feet[Side.RIGHT][0])
    assert anchor.plan_origin.x == pytest.approx(0.0)
    _, position, _ = anchor.update(1.3, reference(Side.RIGHT), feet)
    np.testing.assert_allclose(position, RIGHT_POSE[0])
    assert (anchor.plan_origin.x, anchor.plan_origin.y) == pytest.approx((0.01, -0.02))


def test_the_stance_sole_never_moves_by_odometry():
    anchor = StanceAnchor(0.2)
    anchor.update(0.0, reference(Side.LEFT), {})
    feet = landed(0.01, -0.02, 0.05)
    soles = []
    for time in np.linspace(1.0, 1.3, 31):
        _, position, rotation = anchor.update(time, reference(Side.RIGHT), feet)
        sole = anchor.plan_origin @ PlanarPose.of(position, rotation)
        soles.append([sole.x, sole.y, sole.yaw])
    np.testing.assert_allclose(soles, np.tile(soles[0], (31, 1)), atol=1e-12)


def test_a_sole_that_slipped_turns_the_plan_about_itself():
    anchor = StanceAnchor(0.2)
    _, position, rotation = anchor.update(0.0, reference(Side.LEFT), {})
    anchor.turn_plan(0.1)
    assert anchor.plan_origin.yaw == pytest.approx(0.1)
    sole = anchor.plan_origin @ PlanarPose.of(position, rotation)
    assert (sole.x, sole.y, sole.yaw) == pytest.approx((0.0, 0.08, 0.1))
