"""Walks whose samples are old, late and filtered, as those of the robots."""

from __future__ import annotations

from gradiva.planner import VelocityCommand
from gradiva_experiments.trial import Trial, run_trial

V2_7 = {  # ages of 5 to 15 ms and more, and packets that are lost or late
    f"simulation.sensors.{stream}.{key}": value
    for stream in ("joints", "wrenches", "imu")
    for key, value in {"period": 0.01, "delay": 0.005, "jitter": 0.002, "loss": 0.01, "late_interval": 3.0}.items()
}
FILTERED = {"simulation.sensors.force_torque.wrench_source": "filtered"}
COMPLETED = {"state_estimator.wrench_filter_time_constant": 0.08}


def walk(overrides):
    prepared_soon = {"walking.prepare_duration": 0.5}
    return run_trial(Trial("icub_v2_7", VelocityCommand(0.19, duration=4.0), prepared_soon | overrides))


def test_a_robot_walks_with_old_late_and_lost_samples_without_a_finding_of_safety():
    result = walk(V2_7 | {"simulation.transport.loss": 0.01})
    assert result.walked
    assert result.figures["safety_events"] == []


def test_the_commanded_zmp_halves_the_dcm_error_of_wrenches_behind_two_hertz():
    completed, plain = walk(FILTERED | COMPLETED), walk(FILTERED)
    assert completed.walked
    assert completed.figures["dcm_error_m"]["rms"] < 0.6 * plain.figures["dcm_error_m"]["rms"]
