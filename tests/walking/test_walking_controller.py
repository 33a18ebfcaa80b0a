"""Closed-loop walks in simulation, with numbers to reach."""

import math

import numpy as np
import pytest

from gradiva.common import PlanningError, StateError, so3
from gradiva.planner import GoalCommand, PathCommand, StopCommand, VelocityCommand
from gradiva.setup import Plant
from gradiva.simulated_walk import SimulatedWalk
from gradiva.simulation import MujocoRobot
from gradiva.walking import WalkingState
from gradiva.whole_body import WalkingKinematics, solve_start_posture, upright_torso
from tests.conftest import long, model_of
from tests.walking.conftest import setup_of
from tests.walking.walked import assert_stands_on_both_feet, assert_walked, figure_of_eight, figures_of

pytestmark = pytest.mark.walk

SPEEDS = [("icub_v2_7", 0.19), ("icub_v3", 0.34), ("talos", 0.34), ("g1", 0.5)]


@pytest.mark.parametrize(("robot", "speed"), SPEEDS)
def test_all_robots_walk_in_position_control(ready, robot, speed):
    walk = ready(robot)
    assert walk.follow(VelocityCommand(speed, duration=6.0), settle=0.5)
    limits = {"com": 0.031, "dcm": 0.04} if robot == "g1" else {}  # its gains are what soft floors and M_s allow
    figures = assert_walked(walk, **limits)
    assert figures["peak_speed_mps"] == pytest.approx(speed, rel=0.06)
    assert figures["odometry_drift_m"] < 0.02 * figures["distance_m"]
    assert_stands_on_both_feet(walk)
    stance_is_left = walk.recorder.log["stance_foot::is_left"][:, 0]
    assert set(stance_is_left) == {0.0, 1.0}
    assert np.count_nonzero(np.diff(stance_is_left)) >= 6


@pytest.mark.parametrize(
    ("robot", "overrides"),
    [
        long("icub_v2_7", ("walking.control=velocity",)),
        long("icub_v3", ("walking.model=dcm_mpc",)),
        ("talos", ("walking.control=velocity", "walking.model=dcm_mpc")),
    ],
)
def test_robots_walk_in_velocity_control_and_with_the_predictive_law(ready, robot, overrides):
    walk = ready(robot, *overrides)
    assert walk.follow(VelocityCommand(0.19, duration=2.5), settle=0.5)
    assert_walked(walk)


@pytest.mark.parametrize("robot", ["icub_v2_7", long("icub_v3"), long("talos")])
def test_encoders_and_force_sensors_are_enough(ready, robot):
    walk = ready(robot, "state_estimator.use_imu=false")
    assert walk.follow(VelocityCommand(0.19, duration=3.0), settle=0.5)
    figures = assert_walked(walk, dcm=0.05)
    assert figures["odometry_drift_m"] < 0.02 * figures["distance_m"]


@pytest.mark.parametrize("robot", [long("icub_v3"), long("talos")])
def test_noisy_sensors_are_walked_with(ready, robot):
    walk = ready(robot, seed=1, plant=Plant.NOISY)
    assert walk.follow(VelocityCommand(0.34, duration=3.0), settle=0.5)
    assert_walked(walk, com=0.03, dcm=0.05)


@pytest.mark.long
def test_faster_control_needs_no_other_gains(ready):
    walk = ready("icub_v2_7", "walking.period=0.002")
    assert walk.follow(VelocityCommand(0.19, duration=2.5), settle=0.5)
    assert_walked(walk, dcm=0.025)


def test_sensor_noise_mass_error_and_delay_together_do_not_matter(ready):
    walk = ready("icub_v2_7", "planner.max_speed=0.34", seed=3, plant=Plant.NOISY)
    assert walk.follow(VelocityCommand(0.34, duration=4.0), settle=0.5)
    assert_walked(walk, com=0.03, dcm=0.06)


DISTURBANCES = {
    "10 ms of delay": ["simulation.servo.delay=0.01"],
    "encoders off by up to 1 degree": ["simulation.sensors.encoders.encoder_offset=0.01745"],
    "a tenth more mass": ["simulation.plant.mass_scale=1.1"],
    "2 degrees up and to the left": ["simulation.ground.slope_forward=0.0349", "simulation.ground.slope_left=0.0349"],
}
HARDEST = list(DISTURBANCES)[:2]  # of CoM and DCM; together the four cancel in part


@pytest.mark.parametrize(
    "overrides", [each if name in HARDEST else long(each) for name, each in DISTURBANCES.items()], ids=DISTURBANCES
)
def test_disturbances_are_walked_through(ready, overrides):
    walk = ready("icub_v2_7", *overrides)
    assert walk.follow(VelocityCommand(0.19, duration=3.0), settle=0.5)
    assert_walked(walk, com=0.03, dcm=0.04)


@pytest.mark.parametrize(
    ("robot", "rise"),
    [("talos", {"slope_left": 5.0}), long("talos", {"slope_forward": -3.5}), long("g1", {"slope_left": 6.5})],
)
def test_on_a_slope_the_reference_begins_where_the_com_is_and_no_step_catches_it(ready, robot, rise):
    walk = ready(
        robot, *(f"simulation.ground.{name}={math.radians(angle)}" for name, angle in rise.items()), settle=1.5
    )
    ((axis, angle),) = rise.items()
    shift = -walk.setup.walking.planner.com_height * math.tan(math.radians(angle))
    planned = walk.recorder.log["dcm::position::desired"][:, int(axis == "slope_left")]
    assert planned[0] - planned[-1] == pytest.approx(shift, abs=0.012)
    assert figures_of(walk)["dcm_error_m"]["max"] < 0.016
    commanded = walk.recorder.log["joints_state::positions::desired"]
    assert np.abs(np.diff(commanded, axis=0)).max() < 0.02
    assert walk.follow(VelocityCommand(0.19, duration=3.0), settle=0.5)
    assert_walked(walk, dcm=0.04)
    assert walk.controller.adaptations == 0


def test_a_command_that_comes_before_the_first_tick_of_balance_is_followed_from_where_the_com_is():
    rise = f"simulation.ground.slope_left={math.radians(3.0)}"
    walk = SimulatedWalk(setup_of("icub_v2_7", "walking.prepare_duration=0.5", rise))
    controller = walk.controller
    controller.prepare()
    while controller.state is not WalkingState.PREPARED:
        walk.tick()
    controller.start()
    controller.walk(VelocityCommand(0.15, duration=2.0))
    walk.tick()
    assert controller.reason.endswith("cm off, as on 3.0° of slope or with an IMU that leans so")
    while controller.state is WalkingState.WALKING:
        walk.tick()
    figures = assert_walked(walk, dcm=0.04)
    assert figures["distance_m"] == pytest.approx(0.15, abs=0.02)
    assert controller.adaptations == 0


@pytest.mark.long
def test_eighty_steps_at_the_record_of_the_thesis(ready):
    walk = ready("icub_v2_7", "planner.max_speed=0.34")
    assert walk.follow(VelocityCommand(0.34, duration=54.0))
    assert len(walk.controller.plan.steps) >= 80
    assert_walked(walk)


DIRECTIONS = {
    "backward": VelocityCommand(-0.15, duration=3.0),
    "to the left": VelocityCommand(0.0, 0.08, duration=3.0),
    "to the right": VelocityCommand(0.0, -0.08, duration=3.0),
    "on the spot": VelocityCommand(0.0, 0.0, 0.35, duration=3.0),
    "on a circle": VelocityCommand(0.2, 0.0, 0.3, duration=3.0),
    "to a goal": GoalCommand(0.7, 0.5),
}


ROBOTS = {"to the right": "talos", "on a circle": "g1", "to a goal": "icub_v3"}  # iCub v2.7 walks to goals below
DIRECTED = [long(ROBOTS[way], way) if way in ROBOTS else ("icub_v2_7", way) for way in DIRECTIONS]


@pytest.mark.parametrize(("robot", "way"), DIRECTED)
def test_every_direction_ends_where_it_should(ready, robot, way):
    walk, command = ready(robot), DIRECTIONS[way]
    assert walk.follow(command, settle=0.5)
    assert_walked(walk, dcm=0.04)
    end = walk.controller.plan.at(walk.time)
    planned = 0.5 * (end.left_foot.position + end.right_foot.position)
    target = (command.x, command.y) if isinstance(command, GoalCommand) else planned[:2]
    np.testing.assert_allclose(assert_stands_on_both_feet(walk)[:2], target, atol=0.05)


@pytest.mark.long
def test_a_figure_of_eight_is_followed_and_ends_where_and_as_it_began(ready):
    walk, distances = ready("icub_v2_7"), []
    walk.controller.walk(PathCommand(figure_of_eight(radius=0.5), 0.25))
    while walk.controller.state is WalkingState.WALKING:
        reference = walk.tick().reference
        if reference.left_foot.in_contact and reference.right_foot.in_contact:
            x, y = middle_of_feet(walk.robot.truth())
            distances.append(abs(math.hypot(x, abs(y) - 0.5) - 0.5))
    assert_walked(walk, dcm=0.04)
    assert max(distances) < 0.015
    assert math.hypot(*assert_stands_on_both_feet(walk)[:2]) < 0.015
    truth = walk.robot.truth()
    yaws = np.degrees([so3.yaw(truth.left_foot_rotation), so3.yaw(truth.right_foot_rotation)])
    np.testing.assert_allclose(yaws, 0.0, atol=1.0)


def middle_of_feet(truth):
    return (0.5 * (truth.left_foot_position + truth.right_foot_position))[:2]


@pytest.mark.parametrize(("robot", "speed"), [("icub_v2_7", 0.5), long("icub_v3", 0.36), long("talos", 0.5)])
def test_fast_walks_with_noisy_sensors(ready, robot, speed):
    walk = ready(robot, f"planner.max_speed={speed}", seed=1, plant=Plant.NOISY)
    assert walk.follow(VelocityCommand(speed, duration=4.0), settle=0.5)
    assert_walked(walk, com=0.06, dcm=0.12, tilt_deg=15.0, slip=0.03)


def test_a_changing_com_height_is_walked(ready):
    walk = ready("icub_v2_7", "planner.pendulum.com_height_amplitude=0.01")
    assert walk.follow(VelocityCommand(0.19, duration=3.0), settle=0.5)
    assert_walked(walk)
    heights = walk.recorder.log["simulation::com::position"][:, 2]
    assert np.ptp(heights) > 0.005


def test_a_goal_is_reached_and_the_next_one_too(ready):
    walk = ready("icub_v2_7")
    for goal in ((0.3, 0.2), (0.25, 0.1)):
        assert walk.follow(GoalCommand(*goal), settle=0.5)
        np.testing.assert_allclose(assert_stands_on_both_feet(walk)[:2], goal, atol=0.05)


def test_goals_may_change_while_walking_and_one_that_cannot_be_planned_changes_nothing(ready):
    walk = ready("icub_v2_7")
    walk.controller.walk(VelocityCommand(0.2))
    assert walk.run(1.2)
    plan = walk.controller.plan
    with pytest.raises(PlanningError, match="forward"):
        walk.controller.walk(VelocityCommand(5.0))
    assert walk.controller.plan is plan
    assert walk.run(0.8)
    walk.controller.walk(VelocityCommand(0.1, 0.03, 0.2))
    assert walk.run(1.6)
    walk.controller.walk(VelocityCommand(-0.1))
    assert walk.run(2.0)
    assert walk.follow(StopCommand(), settle=0.5)
    assert_walked(walk, dcm=0.05)
    assert_stands_on_both_feet(walk)


@pytest.mark.parametrize("when", [0.3, 2.07, long(3.55)])
def test_a_stop_at_any_time_ends_standing_on_both_feet(ready, when):
    walk = ready("icub_v2_7")
    walk.controller.walk(VelocityCommand(0.25))
    assert walk.run(when)
    walk.controller.stop()
    with pytest.raises(StateError, match="while stopp"):
        walk.controller.walk(VelocityCommand(0.1))
    assert walk.controller.reason == "closing the feet"
    assert walk.run_until(lambda: walk.controller.state is WalkingState.STOPPED, 5.0)
    assert walk.controller.reason == "stopped as commanded, both feet on the ground"
    assert walk.run(1.5)
    assert_stands_on_both_feet(walk)
    with pytest.raises(StateError, match="prepare the robot again"):
        walk.controller.walk(VelocityCommand(0.1))


def test_a_pause_stands_and_a_new_goal_goes_on(ready):
    walk = ready("icub_v2_7")
    walk.controller.walk(VelocityCommand(0.25))
    assert walk.run(1.8)
    walk.controller.pause()
    assert walk.run_until(lambda: walk.controller.state is WalkingState.PAUSED, 5.0)
    assert walk.controller.reason == "paused as commanded, both feet on the ground"
    assert walk.run(1.0)
    first = assert_stands_on_both_feet(walk)
    assert walk.follow(VelocityCommand(0.25, duration=1.5), settle=0.5)
    assert assert_stands_on_both_feet(walk)[0] > first[0] + 0.15
    assert walk.controller.reason == "the plan is done, both feet on the ground"


def test_the_robot_is_prepared_from_another_posture(compiler):
    setup = setup_of("icub_v2_7", "walking.prepare_duration=1.0")
    model = model_of("icub_v2_7")
    kinematics = WalkingKinematics(model, setup.walking.inverse_kinematics, compiler)
    offset = np.array([setup.walking.planner.zmp_offset[0], 0.0])
    taller = solve_start_posture(model, kinematics, offset, upright_torso(model), com_height=0.545)
    walk = SimulatedWalk(setup)
    walk.robot = MujocoRobot(setup.robot, setup.simulation, taller)
    assert walk.get_ready()
    assert walk.robot.truth().com_position[2] == pytest.approx(setup.robot.com_height, abs=0.004)
    assert walk.follow(VelocityCommand(0.19, duration=1.0), settle=0.5)
    assert_stands_on_both_feet(walk)


def test_equal_seeds_give_equal_walks(ready):
    logs = []
    for _ in range(2):
        walk = ready("icub_v2_7", seed=7, plant=Plant.NOISY)
        assert walk.follow(VelocityCommand(0.3, duration=0.5), settle=0.1)
        logs.append(walk.recorder.log["simulation::com::position"])
    np.testing.assert_array_equal(*logs)


def test_the_interpreted_layers_walk_as_well():
    walk = SimulatedWalk(setup_of("icub_v2_7", "walking.prepare_duration=0.5"), compiler=lambda function: function)
    assert walk.get_ready(0.2)
    assert walk.follow(VelocityCommand(0.19, duration=0.5), settle=0.2)
    assert_walked(walk)
