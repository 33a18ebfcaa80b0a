"""Walks that meet faults, pushes and an emergency stop."""

from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ControlMode, Measurement
from gradiva.planner import VelocityCommand
from gradiva.walking import SafetyKind, WalkingState
from tests.walking.walked import assert_walked

pytestmark = pytest.mark.walk


def with_nan(measurement: Measurement) -> Measurement:
    positions = measurement.joint_positions.copy()
    positions[4] = np.nan
    return replace(measurement, joint_positions=positions)


def without_encoders(measurement: Measurement) -> Measurement:
    return replace(measurement, joint_positions=measurement.joint_positions[:-1])


def test_a_missing_measurement_holds_the_last_command_and_many_are_a_fault(ready):
    walk = ready("icub_v2_7")
    controller, period = walk.controller, walk.setup.walking.walking.period
    command, _ = controller.step(walk.robot.read(), walk.time)
    walk.robot.advance(period)
    unusable = without_encoders(walk.robot.read())
    for tick in range(8):
        now = walk.time + tick * period
        held, log = controller.step(replace(unusable, time=now), now)
        np.testing.assert_array_equal(held.values, command.values)
        if tick < 5:
            assert log.state is WalkingState.WALKING
    assert log.state is WalkingState.FAULT
    assert "joint_positions has shape" in log.reason
    assert [event.kind for event in controller.safety_events] == [SafetyKind.FAILED_TICKS]
    controller.prepare()
    assert controller.state is WalkingState.PREPARING


def test_an_encoder_without_reading_is_bridged(ready):
    walk = ready("icub_v2_7")
    period = walk.setup.walking.walking.period
    walk.robot.advance(period)
    _, log = walk.controller.step(with_nan(walk.robot.read()), walk.time)
    assert np.isfinite(log.robot_state.joint_positions).all()
    assert walk.controller.safety_events == ()


@pytest.mark.parametrize("control", ["position", "velocity"])
def test_an_emergency_stop_freezes_the_joints_in_position_mode_and_prepare_recovers(ready, control):
    walk = ready("icub_v2_7", f"walking.control={control}")
    walk.controller.walk(VelocityCommand(0.2))
    assert walk.run(2.0)
    last = walk.log.command
    walk.controller.emergency_stop()
    walk.robot.advance(0.01)
    measurement = walk.robot.read()
    command, log = walk.controller.step(measurement, walk.time)
    assert (log.state, log.reason) == (WalkingState.FAULT, "emergency stop")
    assert command.mode is ControlMode.POSITION
    held = last.values if control == "position" else measurement.joint_positions
    np.testing.assert_array_equal(command.values, held)
    walk.robot.advance(0.01)
    np.testing.assert_array_equal(walk.controller.step(walk.robot.read(), walk.time)[0].values, held)
    assert [event.kind for event in walk.controller.safety_events] == [SafetyKind.EMERGENCY_STOP]
    walk.controller.prepare()
    assert walk.controller.state is WalkingState.PREPARING


def test_a_push_that_topples_the_robot_is_a_fault_with_its_reason(ready):
    push = 'simulation.pushes=[{link="chest", force=[0.0, 400.0, 0.0], start=3.0, duration=0.2}]'
    walk = ready("icub_v2_7", push)
    assert not walk.follow(VelocityCommand(0.19, duration=6.0))
    assert walk.fault_reasons
    assert "limit is" in walk.fault_reasons[0]
    assert np.isfinite(walk.log.command.values).all()


def test_a_moderate_push_is_withstood(ready):
    push = 'simulation.pushes=[{link="chest", force=[0.0, 30.0, 0.0], start=3.0, duration=0.1}]'
    walk = ready("icub_v2_7", push)
    assert walk.follow(VelocityCommand(0.19, duration=4.0))
    assert_walked(walk, com=0.04, dcm=0.10, tilt_deg=6.0)
