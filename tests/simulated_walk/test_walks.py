"""Closed-loop walks: refused, interrupted, timed."""

import pytest

from gradiva.common import ConfigError, PlanningError
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva.simulated_walk import SimulatedWalk, WalkRequest, finish_walk, run_benchmark, run_walk
from gradiva.simulated_walk.benchmark import BenchmarkSize
from gradiva.simulation import Push

SMALL = BenchmarkSize(
    walk=1.5,
    torque_walk=0.2,
    pushes=1,
    plans=2,
    look_ups=200,
    calls=200,
    messages=400,
    stream=0.2,
    gait=0.1,
    gaits=1,
    passes=1,
)
YARP_ROWS = ("round_trip", "strict_message", "age_at_500_hz")


def interrupt_at(time):
    def observe(walk):
        if walk.time > time:
            raise KeyboardInterrupt

    return observe


def test_a_command_that_cannot_be_planned_is_refused_before_the_robot_stands():
    with pytest.raises(PlanningError, match="forward speed"):
        run_walk(WalkRequest(load_setup("icub_v2_7"), VelocityCommand(9.0, duration=2.0)))


def test_a_velocity_without_a_duration_is_refused_where_the_walk_would_never_end():
    walk = SimulatedWalk(load_setup("icub_v2_7"))
    for method in (walk.execute, walk.follow):
        with pytest.raises(PlanningError, match=r"VelocityCommand\(forward=0.1, .* has no duration"):
            method(VelocityCommand(forward=0.1))
    assert walk.time < 0.01


def test_a_period_in_which_the_robot_falls_away_unseen_is_refused():
    with pytest.raises(ConfigError, match=r"period=0.5, must be in \(0, 0.05\]: the DCM falls away"):
        load_setup("icub_v2_7", {"walking.period": 0.5})


def test_a_period_between_physics_steps_is_refused():
    with pytest.raises(ConfigError, match="multiple of simulation"):
        SimulatedWalk(load_setup("icub_v2_7", {"walking.period": 0.0105}))


@pytest.mark.walk
def test_an_interrupted_walk_is_stopped_and_scored():
    setup = load_setup("icub_v2_7")
    request = WalkRequest(setup, VelocityCommand(0.19, duration=5.0))
    outcome = finish_walk(request, SimulatedWalk(setup, observers=(interrupt_at(4.0),)))
    assert outcome.result["outcome"] == "stopped"
    assert outcome.result["reason"].startswith("interrupted at 4.0")
    assert outcome.result["dcm_error_m"]["max"] < 0.05
    assert (outcome.result["end_error_m"], outcome.result["heading_error_rad"]) == (None, None)
    assert len(outcome.result["commanded_end_m"]) == 2
    assert (outcome.result["specific_energetic_cost"], outcome.result["is_standing"]) == (None, False)
    assert outcome.result["steps"] < outcome.result["planned_steps"]


@pytest.mark.walk
def test_a_robot_that_froze_has_one_time_and_one_value_of_what_froze_it():
    setup = load_setup("icub_v2_7", {"safety.fall.max_dcm_error": 0.03})
    walk = SimulatedWalk(setup)
    walk.robot.push(Push("torso", (0.0, 60.0, 0.0), 6.0, 0.1))
    result = finish_walk(WalkRequest(setup, VelocityCommand(0.19, duration=5.0)), walk).result
    (event,) = result["safety_events"]
    assert walk.time == pytest.approx(event["time_s"] + 3.0, abs=0.02)  # it was watched
    text = f"{event['text']} at {event['time_s']:.2f} s, where it froze; it has not fallen by {walk.time:.2f} s"
    assert (result["outcome"], result["reason"].partition("; cause:")[0]) == ("stopped", text)
    logged = walk.recorder.log["dcm::position::measured"] - walk.recorder.log["dcm::position::desired"]
    assert (logged**2).sum(axis=1).max() < 0.03**2 < result["dcm_error_m"]["max"] ** 2
    assert f"the DCM is {100 * result['dcm_error_m']['max']:.1f} cm off" in text


def test_who_runs_many_walks_is_interrupted_with_the_first():
    request = WalkRequest(load_setup("icub_v2_7"), VelocityCommand(0.19, duration=5.0))
    with pytest.raises(KeyboardInterrupt):
        run_walk(request, observers=(interrupt_at(0.0),))


@pytest.mark.walk
def test_a_robot_interrupted_before_it_balances_has_a_result_without_figures():
    setup = load_setup("icub_v2_7")
    request = WalkRequest(setup, VelocityCommand(0.19, duration=5.0))
    result = finish_walk(request, SimulatedWalk(setup, observers=(interrupt_at(0.5),))).result
    assert result["outcome"] == "stopped"
    assert result["dcm_error_m"] == {"rms": None, "max": None}


@pytest.mark.long
@pytest.mark.walk
def test_the_benchmark_times_every_layer_on_recorded_ticks():
    result = run_benchmark(["icub_v2_7"], size=SMALL)
    rows = {row["name"]: row for row in result["results"]}
    assert set(rows) == {
        "whole_body.ik/icub_v2_7",
        "whole_body.ik_interpreted/icub_v2_7",
        "whole_body.tsid_rigid/icub_v2_7",
        "whole_body.tsid_compliant/icub_v2_7",
        "estimation/icub_v2_7",
        "model_control.dcm/icub_v2_7",
        "model_control.dcm_mpc/icub_v2_7",
        "model_control.centroidal_mpc/icub_v2_7",
        "model_control.centroidal_mpc.decision/icub_v2_7",
        "step_adaptation/icub_v2_7",
        *(f"reduced_model.centroidal_mpc/two_legs_12{solver}" for solver in ("", ".ipopt")),
        "tick/icub_v2_7",
        "simulation.step_10ms/icub_v2_7",
        "simulation.step_10ms.robot_plant/icub_v2_7",
        "planner.at",
        "planner.plan_20s",
        "planner.retarget_60s",
        *("contacts.rate", "contacts.viscoelastic_wrench"),
        *("yarp.state/written", "yarp.state/read", "yarp.set_points/written"),
        *("yarp.sensors/written", "yarp.sensors/read", "yarp.signals/written"),
        *(f"yarp.{what}/{carrier}" for what in YARP_ROWS for carrier in ("tcp", "fast_tcp")),
    }
    assert rows["whole_body.ik/icub_v2_7"]["samples"] >= 300
    assert rows["whole_body.ik/icub_v2_7"]["max_violation"] < 1e-6
    for row in rows.values():
        assert 0.0 < row["median_us"] <= row["p99_us"] <= row["max_us"]
    assert result["machine"].keys() == {"processor", "cores", "python", "casadi"}
    assert result["real_time_factor"]["icub_v2_7"].keys() == {"ideal", "robot"}
    assert min(result["real_time_factor"]["icub_v2_7"].values()) > 0.0
