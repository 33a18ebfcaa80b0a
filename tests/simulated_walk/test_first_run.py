"""The overlay for first walks on a robot: slower in everything, and all robots walk with it."""

import pytest

from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, load_setup
from gradiva.simulated_walk import WalkRequest, run_walk
from tests.conftest import ROBOTS, long


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_ceiling_of_a_first_run_is_lower_than_the_usual_one(robot):
    usual, first = load_setup(robot).walking, load_setup(robot, first_run=True).walking
    assert first.planner.max_speed < usual.planner.max_speed
    for name in ("max_backward_speed", "max_lateral_speed", "max_angular_speed", "cruise_speed"):
        assert getattr(first.planner.commands, name) < getattr(usual.planner.commands, name)
    assert first.walking.prepare_speed < usual.walking.prepare_speed
    assert first.walking.prepare_duration > usual.walking.prepare_duration
    assert first.zmp_com_controller.standing.com <= usual.zmp_com_controller.standing.com
    assert first.inverse_kinematics.com_gain <= usual.inverse_kinematics.com_gain
    assert first.safety.joints.velocity_factor < usual.safety.joints.velocity_factor
    assert first.safety.fall.max_tilt < usual.safety.fall.max_tilt
    assert first.safety.fall.max_dcm_error < usual.safety.fall.max_dcm_error


@pytest.mark.walk
@pytest.mark.parametrize("robot", [long("icub_v2_7"), long("icub_v3"), long("talos"), "g1"])
def test_a_first_run_walks_on_the_robot_plant_without_a_safety_event(robot):
    settings = {"walking.prepare_duration": 0.5}  # of 6 s, in which nothing moves
    setup = load_setup(robot, settings, plant=Plant.ROBOT, first_run=True)
    speed = setup.walking.planner.max_speed
    result = run_walk(WalkRequest(setup, VelocityCommand(speed, duration=2.0))).result
    assert (result["outcome"], result["safety_events"]) == ("walked", [])
    assert result["dcm_error_m"]["max"] < 0.06
    assert 0.05 < result["distance_m"] < 0.3
