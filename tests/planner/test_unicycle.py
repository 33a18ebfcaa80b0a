import math

import numpy as np
import pytest

from gradiva.common import PlanningError
from gradiva.planner import GoalCommand, PathCommand, StopCommand, VelocityCommand
from gradiva.planner.planner_config import UNICYCLE_GAIN
from gradiva.planner.unicycle import PointFollower, UnicyclePath, UnicycleState, ramped_velocities, turn_velocities
from gradiva.planner.unicycle_planner import Polyline, UnicyclePlanner

from .planning import config_of


def test_a_constant_twist_is_integrated_to_the_exact_arc():
    v, w, count, period = 0.3, 0.7, 100, 0.02
    path = UnicyclePath.from_velocities(UnicycleState(1.0, 2.0, 0.5), np.tile([v, 0.0, w], (count, 1)), period)
    yaw = 0.5 + w * count * period
    radius = v / w
    exact = [1.0 + radius * (math.sin(yaw) - math.sin(0.5)), 2.0 - radius * (math.cos(yaw) - math.cos(0.5)), yaw]
    np.testing.assert_allclose(path.poses[-1], exact, atol=1e-12)


def test_a_lateral_velocity_moves_to_the_left_of_the_body():
    path = UnicyclePath.from_velocities(UnicycleState(0.0, 0.0, math.pi / 2), np.tile([0.0, 0.1, 0.0], (50, 1)), 0.02)
    np.testing.assert_allclose(path.poses[-1], [-0.1, 0.0, math.pi / 2], atol=1e-12)
    np.testing.assert_allclose(path.travelled[-1], [0.0, 0.1], atol=1e-12)


def test_the_speed_rises_stays_and_falls():
    profile = ramped_velocities(np.zeros(3), np.array([0.4, 0.0, 0.2]), 1.0, 2.0, 6.0, 0.01)
    assert len(profile) == 600
    np.testing.assert_allclose(profile[99:400], [[0.4, 0.0, 0.2]] * 301, rtol=0.01)
    assert profile[0, 0] == pytest.approx(0.002)
    assert profile[-1, 0] == pytest.approx(0.001)
    assert profile[:, 0].sum() * 0.01 == pytest.approx(0.4 * 4.5)


@pytest.mark.parametrize("angle", [-2.5, -0.01, 0.3, 3.0])
def test_a_turn_on_the_spot_ends_at_exactly_its_angle(angle):
    turn = turn_velocities(angle, max_rate=0.5, acceleration=0.3, period=0.02)
    assert turn[:, 2].sum() * 0.02 == pytest.approx(angle)
    assert np.abs(turn[:, 2]).max() <= 0.53
    assert len(turn_velocities(0.0, 0.5, 0.3, 0.02)) == 0


def test_the_law_gives_the_reference_point_the_velocity_it_asks_for():
    follower = PointFollower(config_of(), max_speed=9.0, acceleration=1e6)
    pose = (0.3, -0.2, 0.8)
    point = np.array(follower.control_point(pose))
    target = point + 0.004 * np.array([math.cos(0.9), math.sin(0.9)])
    v, w = follower.velocity(pose, tuple(target), (0.0, 0.0), 9.0, 9.0, (-9.0, 9.0))
    step = 1e-6
    moved = (pose[0] + step * v * math.cos(pose[2]), pose[1] + step * v * math.sin(pose[2]), pose[2] + step * w)
    velocity = (np.array(follower.control_point(moved)) - point) / step
    np.testing.assert_allclose(velocity, UNICYCLE_GAIN * (target - point), atol=1e-5)


def test_what_lies_to_the_left_turns_left_and_what_lies_behind_is_turned_to_without_walking():
    follower = PointFollower(config_of(), max_speed=0.2, acceleration=1e6)
    free = (-9.0, 9.0)
    assert follower.velocity((0.0, 0.0, 0.0), (1.0, 0.5), (0.0, 0.0), 0.2, 9.0, free)[1] > 0.0
    assert follower.velocity((0.0, 0.0, 0.0), (1.0, -0.5), (0.0, 0.0), 0.2, 9.0, free)[1] < 0.0
    v, w = follower.velocity((0.0, 0.0, 0.0), (-1.0, 0.0), (0.0, 0.0), 0.2, 9.0, free)
    assert v == 0.0
    assert abs(w) == config_of().commands.max_angular_speed


@pytest.mark.parametrize("goal", [(2.0, 1.0), (-1.0, 0.0), (0.0, 0.4), (0.3, -0.4), (0.05, 0.0)])
@pytest.mark.parametrize("yaw", [None, -2.0])
def test_the_unicycle_ends_within_three_centimetres_of_the_goal(goal, yaw):
    path = UnicyclePlanner(config_of()).path(GoalCommand(*goal, yaw=yaw), UnicycleState(0.0, 0.0, 0.0))
    assert math.dist(path.poses[-1, :2], goal) < 0.03
    if yaw is not None:
        assert math.remainder(path.poses[-1, 2] - yaw, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_the_unicycle_follows_a_path_and_stays_near_it():
    points = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    path = UnicyclePlanner(config_of()).path(PathCommand(points, 0.2), UnicycleState(0.0, 0.0, 0.0))
    assert math.dist(path.poses[-1, :2], points[-1]) < 0.01
    x, y = path.poses[:, 0], path.poses[:, 1]
    distances = np.minimum.reduce(
        [
            np.hypot(np.maximum(0.0, x - 1.0), y),
            np.hypot(x - 1.0, np.maximum(0.0, np.maximum(-y, y - 1.0))),
            np.hypot(np.maximum(0.0, 1.0 - x), y - 1.0),
        ]
    )
    assert distances.max() < 0.06
    assert np.abs(path.velocities[:, 0]).max() <= 0.2 + 1e-12


def test_stopping_is_a_path_without_motion():
    path = UnicyclePlanner(config_of()).path(StopCommand(), UnicycleState(1.0, 2.0, 3.0))
    assert path.duration == 0.0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (VelocityCommand(0.7, duration=5.0), "forward speed 0.7 .*0.3"),
        (VelocityCommand(-0.4), "forward speed -0.4 .*-0.3"),
        (VelocityCommand(0.1, lateral=-0.2), "lateral speed -0.2 .*0.15"),
        (VelocityCommand(0.1, angular=0.6), "angular speed 0.6 .*0.53"),
        (VelocityCommand(0.1, duration=500.0), "duration 500.0 .*120"),
        (GoalCommand(100.0, 0.0), "goal .100.000, 0.000. m.*max_duration=120"),
        (GoalCommand(1.0, 0.0, speed=0.9), "speed of the goal.*0.9 .*0.3"),
        (PathCommand(np.array([[1.0, 0.0]]), 0.0), "0.0 m/s, must be positive"),
    ],
)
def test_what_cannot_be_done_is_refused_with_value_and_limit(command, message):
    with pytest.raises(PlanningError, match=message):
        UnicyclePlanner(config_of()).path(command, UnicycleState(0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    "build",
    [
        lambda: VelocityCommand(math.nan),
        lambda: VelocityCommand("x"),
        lambda: VelocityCommand(None),
        lambda: GoalCommand(1.0, [2.0]),
        lambda: PathCommand([[0.0, 1.0]], "slow"),
        lambda: VelocityCommand(0.1, duration=-1.0),
        lambda: GoalCommand(math.inf, 0.0),
        lambda: PathCommand(np.array([[math.nan, 0.0]]), 0.1),
        lambda: PathCommand(np.zeros((0, 2)), 0.1),
        lambda: PathCommand(np.zeros(3), 0.1),
    ],
)
def test_commands_that_are_not_numbers_are_refused(build):
    with pytest.raises(PlanningError, match=r"finite|positive|shape"):
        build()


def test_what_is_no_command_is_refused_with_the_commands_that_there_are():
    with pytest.raises(PlanningError, match=r"expected a command \(VelocityCommand, .*\), got 0\.15"):
        UnicyclePlanner(config_of()).path(0.15, UnicycleState(0.0, 0.0, 0.0))


def test_a_polyline_is_addressed_by_its_length():
    line = Polyline(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 2.0]]), rounding=0.1)
    assert line.length == pytest.approx(3.0)
    for length, place, heading, rate in (
        (0.5, (0.5, 0.0), 0.0, 0.0),
        (1.0, (1.0, 0.0), math.pi / 4, math.pi / 2 / 0.2),
        (2.0, (1.0, 1.0), math.pi / 2, 0.0),
        (9.0, (1.0, 2.0), math.pi / 2, 0.0),
    ):
        assert line.at(length) == (pytest.approx(place), pytest.approx(heading), pytest.approx(rate))
    with pytest.raises(ValueError, match="not finite"):
        line.at(math.nan)


def test_samples_of_a_circle_have_its_tangents_and_its_end():
    line = Polyline(circle(36, radius=0.5, turns=0.75), rounding=0.1)
    angle = 1.5 * math.pi * np.linspace(0.0, 1.0, 50)
    for length, expected in zip(line.length * angle / angle[-1], angle, strict=True):
        place, heading, rate = line.at(float(length))
        np.testing.assert_allclose(place, [0.5 * math.sin(expected), 0.5 - 0.5 * math.cos(expected)], atol=1e-4)
        assert (heading, rate) == (pytest.approx(expected, abs=1e-3), pytest.approx(2.0, rel=0.01))


def test_the_nearest_place_is_looked_for_between_two_lengths_and_the_first_of_two_is_meant():
    there_and_back = Polyline(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.0]]), rounding=0.1)
    assert there_and_back.nearest((0.5, 0.1)) == pytest.approx(0.5)
    assert there_and_back.nearest((0.5, 0.1), 1.0) == pytest.approx(3.5)
    assert there_and_back.nearest((0.5, 0.1), 1.2, 3.0) == pytest.approx(3.0)
    np.testing.assert_allclose(there_and_back.from_length(1.5), [[1.5, 0.0], [2.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("points", [16, 36, 200])
def test_the_unicycle_itself_follows_a_curve_and_ends_along_it(points):
    left = circle(points, radius=0.5)
    eight = np.vstack((left, left[1:] * [1.0, -1.0]))
    path = UnicyclePlanner(config_of()).path(PathCommand(eight, 0.12), UnicycleState(0.0, 0.0, 0.0))
    x, y = path.poses[:, 0], path.poses[:, 1]
    distances = np.abs(np.hypot(x, np.abs(y) - 0.5) - 0.5)
    assert distances.max() < (0.012 if points == 16 else 0.003)
    np.testing.assert_allclose(path.poses[-1], [0.0, 0.0, 0.0], atol=0.006)
    assert path.poses[:, 2].max() > 6.1


def test_a_path_that_the_robot_stands_beside_is_come_to_within_some_steps():
    points = np.array([[0.0, 0.05], [2.0, 0.05]])
    path = UnicyclePlanner(config_of()).path(PathCommand(points, 0.15), UnicycleState(0.3, 0.0, 0.0))
    x, y = path.poses[:, 0], path.poses[:, 1]
    assert x.min() >= 0.3 - 1e-9, "it does not go back to the first point"
    np.testing.assert_allclose(y[x > 0.9], 0.05, atol=0.003)
    assert np.abs(path.poses[:, 2]).max() < 0.25


def circle(count, *, radius, turns=1.0):
    """Samples of a circle to the left that begins at the origin, along x."""
    angle = 2.0 * math.pi * turns * np.linspace(0.0, 1.0, count + 1)
    return radius * np.column_stack((np.sin(angle), 1.0 - np.cos(angle)))


@pytest.mark.parametrize(
    "points", [[[0.0, 0.0], [-1.0, 0.0]], [[0.0, 0.0], [0.05, 0.1], [-1.5, 0.0]], [[-0.5, 0.1], [-1.0, 0.5]]]
)
def test_a_path_that_lies_behind_is_turned_to_first(points):
    path = UnicyclePlanner(config_of()).path(PathCommand(np.array(points), 0.19), UnicycleState(0.0, 0.0, 0.0))
    np.testing.assert_allclose(path.poses[-1, :2], points[-1], atol=0.05)


def test_a_path_of_one_place_is_a_goal():
    planner, start = UnicyclePlanner(config_of()), UnicycleState(0.0, 0.0, 0.0)
    path = planner.path(PathCommand(np.array([[0.5, 0.2], [0.5, 0.2]])[:1], 0.19), start)
    goal = planner.path(GoalCommand(0.5, 0.2, speed=0.19), start)
    np.testing.assert_allclose(path.poses, goal.poses)


def velocity_path(command, start=None):
    return UnicyclePlanner(config_of()).path(command, start or UnicycleState(0.0, 0.0, 0.0))


def test_a_velocity_turns_a_heading_error_back_within_steps_and_goes_on_as_commanded():
    straight = velocity_path(VelocityCommand(0.2, duration=6.0))
    path = velocity_path(VelocityCommand(0.2, duration=6.0, heading_error=0.1))
    config = config_of()
    step = config.preferred_duration(config.pace(0.2, 0.0, 0.0))
    times = path.period * np.arange(len(path.poses))
    np.testing.assert_allclose(path.poses[:, 2], 0.1 * (np.exp(-times / step) - 1.0), atol=1e-12)
    np.testing.assert_array_equal(path.velocities, straight.velocities)
    np.testing.assert_array_equal(straight.heading_errors, 0.0)


@pytest.mark.parametrize(("error", "angular"), [(2.0, 0.0), (-2.0, 0.0), (-1.0, 1.0), (1.0, 1.0)])
def test_a_heading_error_is_turned_back_within_the_limits(error, angular):
    most = config_of().commands.max_angular_speed
    path = velocity_path(VelocityCommand(0.1, angular=angular * most, duration=8.0, heading_error=error))
    back = np.diff(path.heading_errors) / path.period
    assert np.abs(back).max() <= 0.5 * most + 1e-9
    assert np.abs(np.diff(path.poses[:, 2]) / path.period).max() <= most + 1e-9
    np.testing.assert_allclose(np.diff(path.poses[:, 2]), path.period * (path.velocities[:-1, 2] + back), atol=1e-12)


def test_a_heading_error_that_is_left_at_a_step_is_turned_back_by_the_next_plan():
    path = velocity_path(VelocityCommand(0.2, duration=6.0, heading_error=0.1))
    later = velocity_path(VelocityCommand(0.15, duration=6.0, heading_error=-0.02), path.state(30))
    assert later.heading_errors[0] == pytest.approx(path.heading_errors[30] - 0.02)
    assert later.poses[-1, 2] == pytest.approx(-0.08, abs=1e-3)
    goal = velocity_path(GoalCommand(1.0, 0.0), path.state(30))
    np.testing.assert_array_equal(goal.heading_errors, 0.0)
