"""Closed-loop walks by torque, with numbers to reach."""

import numpy as np
import pytest

from gradiva.common import ControlMode, Side
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant
from gradiva.simulated_walk import score
from gradiva.walking import SafetyKind, WalkingState
from tests.conftest import long

pytestmark = pytest.mark.walk

TORQUE = "walking.control=torque"


def assert_walked(walk, com, slip=0.003):
    figures = score(walk.recorder.log)
    assert walk.robot.fall is None
    assert walk.controller.state is WalkingState.PAUSED
    assert figures["com_error_m"]["max"] < com
    assert figures["max_tilt_rad"] < np.radians(5.0)
    assert walk.robot.truth().foot_slip_m < slip
    assert (walk.controller.qp_failures, walk.controller.model_failures) == (0, 0)
    assert walk.controller.safety_events == ()
    lower, upper = walk.layers.joint_limits
    positions = walk.recorder.log["simulation::joint_positions"]
    assert (positions > lower - 0.002).all()
    assert (positions < upper + 0.002).all()


@pytest.mark.parametrize(("robot", "speed"), [("icub_v2_7", 0.25), long("icub_v3", 0.2), long("talos", 0.3)])
def test_all_robots_walk_in_torque_control(ready, robot, speed):
    walk = ready(robot, TORQUE)
    assert walk.follow(VelocityCommand(speed, duration=1.2), settle=0.5)
    assert_walked(walk, com=0.005)


def test_g1_walks_in_torque_control_with_the_friction_and_play_of_its_gears(ready):
    walk = ready("g1", TORQUE, plant=Plant.ROBOT)
    assert walk.follow(VelocityCommand(0.19, duration=1.2), settle=0.2)
    assert_walked(walk, com=0.025)


@pytest.mark.long
def test_noisy_sensors_and_the_predictive_law_do_in_torque_control_as_well(ready, monkeypatch):
    walk, torques = ready("icub_v2_7", TORQUE, "walking.model=dcm_mpc", plant=Plant.NOISY), []
    write = walk.robot.write
    monkeypatch.setattr(walk.robot, "write", lambda command: torques.append(command.values) or write(command))
    assert walk.follow(VelocityCommand(0.25, duration=1.5), settle=0.5)
    assert_walked(walk, com=0.015)
    changes = np.abs(np.diff(torques, axis=0))
    assert changes.mean() < 0.2  # [N·m] a tick; velocities low-passed with 2 ms make 0.31


@pytest.mark.parametrize("age", [long(0.0), 0.004])  # [s] of the joints; without response_delay it falls at once
def test_on_soft_ground_icub_walks(ready, age):
    walk = ready("icub_v2_7", TORQUE, "simulation.ground.kind=viscoelastic", f"simulation.sensors.joints.delay={age}")
    assert walk.follow(VelocityCommand(0.12, duration=1.0), settle=0.5)
    assert_walked(walk, com=0.005, slip=0.01)
    log = walk.recorder.log
    for side in Side:
        loaded = log[f"{side}_foot::contact::is_active"][:, 0] > 0.5
        assert 0.6 < loaded.mean() < 1.0
        estimated, truth = (log[f"{source}{side}_foot::contact::stiffness"][loaded] for source in ("", "simulation::"))
        assert (truth == walk.setup.simulation.viscoelastic.stiffness).all()
        assert estimated[-1] == pytest.approx(truth[-1], rel=0.05)


@pytest.mark.long
@pytest.mark.parametrize("robot", ["icub_v2_7", "talos"])
def test_feet_stay_flat_on_ground_that_is_soft_for_them(ready, robot):
    walk = ready(robot, TORQUE, "simulation.ground.kind=viscoelastic", "simulation.viscoelastic.stiffness=1e6")
    assert walk.follow(VelocityCommand(0.1, duration=1.5), settle=0.5)
    figures = score(walk.recorder.log)
    assert figures["com_error_m"]["max"] < 0.003
    assert np.degrees(figures["foot_tilt_rad"]) < 5.0
    assert np.degrees(figures["max_tilt_rad"]) < 6.0
    assert 0.01 < figures["sinkage_m"] < 0.05


def test_torques_are_taken_over_from_position_servos_and_handed_back_without_a_jump(ready):
    walk = ready("icub_v2_7", TORQUE, settle=0.0)
    most = walk.setup.walking.torque_control.torque_rate * walk.setup.walking.walking.period
    bears = walk.robot.read().joint_torques
    command = walk.tick().command
    assert command.mode is ControlMode.TORQUE
    assert np.abs(command.values - bears).max() < most
    assert walk.run(0.5)
    bears = walk.robot.read().joint_torques
    walk.controller.emergency_stop()
    log = walk.tick()
    assert (log.state, log.command.mode) == (WalkingState.FAULT, ControlMode.POSITION)
    np.testing.assert_allclose(walk.robot.read().joint_torques, bears, atol=1.0)
    assert [event.kind for event in walk.controller.safety_events] == [SafetyKind.EMERGENCY_STOP]
    walk.controller.prepare()
    assert walk.run(1.0)
    assert walk.controller.state is WalkingState.PREPARED


@pytest.mark.parametrize(("robot", "rise"), [("talos", "slope_left"), long("icub_v3", "slope_forward")])
def test_torque_control_takes_over_on_a_slope_without_a_jerk(ready, robot, rise):
    walk = ready(robot, TORQUE, f"simulation.ground.{rise}={np.radians(3.5)}", settle=1.5)
    torques = walk.recorder.log["joints_state::torques::command"][1:]
    assert np.abs(np.diff(torques, axis=0)).max() < 2.0  # 35 in 7 ms, all that is allowed, where all is asked at once
    forces = np.array([walk.recorder.log[f"{side}_foot::linear_force::measured"][:, 2] for side in Side])
    assert forces.min() > 0.14 * walk.layers.mass * 9.81  # as the plan has it, and 0.03 where all is asked at once
    assert walk.follow(VelocityCommand(0.19, duration=1.0), settle=0.5)
    assert_walked(walk, com=0.02)
