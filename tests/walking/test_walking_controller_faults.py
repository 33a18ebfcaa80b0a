"""Walks that meet faults, pushes and an emergency stop."""

import re
from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ControlMode, Measurement, so3
from gradiva.planner import VelocityCommand
from gradiva.walking import Response, SafetyKind, WalkingState
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
    first, last = controller.safety_events
    assert (first.kind, first.subject) == (SafetyKind.FAILED_TICK, "EstimationError in safety")
    assert last.kind is SafetyKind.FAILED_TICKS
    controller.prepare()
    assert controller.state is WalkingState.PREPARING


def test_an_encoder_without_reading_is_bridged(ready):
    walk = ready("icub_v2_7")
    period = walk.setup.walking.walking.period
    walk.robot.advance(period)
    _, log = walk.controller.step(with_nan(walk.robot.read()), walk.time)
    assert np.isfinite(log.robot_state.joint_positions).all()
    assert walk.controller.safety_events == ()


@pytest.mark.parametrize(("control", "ticks"), [("position", 6), ("velocity", 6), ("torque", 21)])
def test_an_error_of_any_kind_is_named_and_freezes_the_joints_while_the_robot_still_stands_upright(
    ready, monkeypatch, control, ticks
):
    walk = ready("icub_v2_7", f"walking.control={control}", settle=0.1)
    walk.controller.walk(VelocityCommand(0.2))
    assert walk.run(1.4)
    monkeypatch.setattr("gradiva.estimation.state_estimator.known_age", lambda *_: {}["x"])
    logs = [walk.tick() for _ in range(ticks)]
    assert [log.state for log in logs] == [WalkingState.WALKING] * (ticks - 1) + [WalkingState.FAULT]
    assert walk.held_ticks == ticks - 1
    first, last = walk.controller.safety_events
    assert (first.kind, first.subject) == (SafetyKind.FAILED_TICK, "KeyError in estimation")
    assert re.fullmatch(r"KeyError 'x' in estimation \(test_walking_controller_faults.py:\d+\)", first.text)
    assert (last.kind, last.response) == (SafetyKind.FAILED_TICKS, Response.FREEZE)
    assert last.text == f"{ticks} ticks failed in a row, the last one: {first.text}" == walk.fault_reasons[0]
    assert logs[-1].command.mode is ControlMode.POSITION
    assert so3.tilt(walk.robot.truth().base_rotation) < np.radians(1.0)


@pytest.mark.parametrize(("ticks", "state"), [(40, WalkingState.STOPPED), (1, WalkingState.WALKING)])
def test_the_step_is_finished_where_layer_2_raises_errors(ready, monkeypatch, ticks, state, caplog):
    walk = ready("icub_v2_7", settle=0.1)
    walk.controller.walk(VelocityCommand(0.2))
    assert walk.run(1.4)
    with monkeypatch.context() as failing:
        failing.setattr(walk.layers.model_control, "update", lambda *_: {}["x"])
        logs = [walk.tick() for _ in range(ticks)]
    assert not any(log.reference.is_double_support for log in logs[:10])
    jumps = np.diff([log.desired.com_position for log in logs] + [walk.tick().desired.com_position], axis=0)
    assert np.abs(jumps).max() < 0.005  # [m] of the commanded CoM, to the fallback and back
    assert walk.controller.model_failures == ticks
    assert walk.held_ticks == 0
    assert walk.run(3.0)
    assert walk.controller.state is state
    kinds = [event.kind for event in walk.controller.safety_events]
    assert kinds == [SafetyKind.FAILED_TICK, SafetyKind.STALE_REFERENCE][: 1 + (ticks > 1)]
    assert caplog.text.count("Traceback") == 1  # of code that is not ours


@pytest.mark.parametrize("error", [KeyError("x"), MemoryError(), np.linalg.LinAlgError("singular")])
def test_errors_of_safety_itself_and_of_what_holds_the_last_command_freeze_the_joints(ready, monkeypatch, error):
    def fail(*_):
        raise error

    walk = ready("icub_v2_7", "walking.control=velocity")
    for name in ("check", "note", "failed"):
        monkeypatch.setattr(walk.layers.safety, name, fail)
    log = walk.tick()
    assert (log.state, log.command.mode) == (WalkingState.FAULT, ControlMode.POSITION)
    np.testing.assert_allclose(log.command.values, walk.measurement.joint_positions, atol=1e-9)
    assert log.reason.startswith(type(error).__name__)
    assert [(event.kind, event.subject) for event in walk.controller.safety_events] == [
        (SafetyKind.FAILED_TICKS, "safety")
    ]
    monkeypatch.undo()
    walk.controller.prepare()
    assert walk.tick().state is WalkingState.PREPARING


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_the_end_of_the_program_is_no_failed_tick(ready, monkeypatch, end):
    def leave(*_):
        raise end

    walk = ready("icub_v2_7")
    monkeypatch.setattr(walk.layers.estimator, "update", leave)
    with pytest.raises(end):
        walk.tick()
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
