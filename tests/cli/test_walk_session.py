"""A walk from the command line: its text, its plan's footprints, its command."""

import math
import re
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.cli import walk_session
from gradiva.cli.output import text_console
from gradiva.cli.walk_options import WalkOptions
from gradiva.cli.walk_session import (
    _progress,
    acted_faults,
    acted_pushes,
    describe_command,
    idle_disturbances,
    opening,
    outcome_line,
    plan_warnings,
    result_table,
)
from gradiva.common import Side
from gradiva.simulated_walk import SimulatedWalk, plan_from_start
from gradiva.simulation import Bump, Fault, FaultKind, Push
from gradiva.telemetry import SignalLog, further_steps
from gradiva.telemetry.report import tiles

LEVEL = SimpleNamespace(bumps=())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "iCub v2.7 walks forward at 0.19 m/s for 10 s, ramps included: 16 steps, dcm"),
        (
            {"speed": -0.1, "turn": -10.0},
            "walks backward at 0.1 m/s and turning right at 10°/s for 10 s, ramps included:",
        ),
        ({"lateral": 0.05}, "walks to the left at 0.05 m/s for 10 s, ramps included:"),
        ({"goal": "1,0.5,90"}, "walks to (1, 0.5) m, heading 90°:"),
        ({"goal": "1,0.5,-0.1"}, "walks to (1, 0.5) m, heading 0°:"),
        ({"model": "dcm_mpc", "control": "velocity"}, "dcm_mpc with velocity control"),
        ({"control": "torque", "ground": "soft"}, "dcm with torque control on soft ground, ideal plant"),
        ({"plant": "robot"}, "dcm with position control, robot plant"),
        ({"robot": "talos", "flexibility": 3e3}, "ideal plant, links bend by 3000 N·m/rad"),
        (
            {"robot": "talos", "flexibility": 3e3, "settings": ("torque_control.law=rigid",)},
            "links bend by 3000 N·m/rad, which the controller does not know",
        ),
        (
            {"robot": "talos", "flexibility": 3e3, "settings": ("flexibility.stiffness=[1e3, 1e3, 2e3, 2e3]",)},
            "links bend by 3000 N·m/rad, which the controller takes for 1000 to 2000",
        ),
    ],
)
def test_the_command_is_described_in_words(options, words):
    request = WalkOptions(**{"robot": "icub_v2_7", **options}).request()
    assert words in describe_command(request, plan_from_start(request.setup, request.command))


def test_soft_ground_is_described_before_the_walk():
    request = WalkOptions(robot="icub_v2_7", control="torque", ground="soft", stiffness=1e6).request()
    lines = opening(request, plan_from_start(request.setup, request.command))
    assert len(lines) == 2
    assert lines[1].startswith("on this ground one foot sinks by 28 mm and rolls by 3.7° for each millimetre")


def test_rigid_ground_has_no_word():
    request = WalkOptions(robot="icub_v2_7").request()
    assert len(opening(request, plan_from_start(request.setup, request.command))) == 1


def test_assumed_drives_are_said_where_they_are_simulated():
    request = WalkOptions(robot="icub_v2_7", plant="robot").request()
    plan = plan_from_start(request.setup, request.command)
    assert len(opening(request, plan)) == 1
    robot = replace(request.setup.robot, assumed_drives=True)
    assumed = replace(request, setup=replace(request.setup, robot=robot))
    assert opening(assumed, plan)[1] == robot.drives_note
    assert robot.drives_note.startswith("friction, gear play and motors of iCub v2.7 are assumed by torque and speed")


def cells_of(**more):
    error = {"rms": 0.001, "max": 0.002}
    result = {
        **{f"{name}_error_m": error for name in ("com", "dcm", "zmp", "foot")},
        **dict.fromkeys(("distance_m", "duration_s", "mean_speed_mps", "peak_speed_mps", "real_time_factor"), 1.0),
        **dict.fromkeys(("foot_slip_m", "odometry_drift_m", "goal_error_m", "deadline_misses"), None),
        "max_tilt_rad": 0.1,
        "final_pose": [0.0, -1e-4, -1e-3],
        "qp_failures": 3,
        "tick_us": {"total": {"median": None, "p99": None}},
        "ground": "rigid",
        "sinkage_m": 0.0123,
        "foot_tilt_rad": math.radians(7.0),
        **more,
    }
    columns = [list(column.cells) for column in result_table(result).columns]
    return result, dict([*zip(*columns[:2], strict=True), *zip(*columns[2:], strict=True)])


@pytest.mark.parametrize(("ground", "sinks"), [("soft", True), ("rigid", False), ("penalty", False)])
def test_sinkage_of_soles_is_shown_on_soft_ground_alone_their_tilt_on_any(ground, sinks):
    cells = cells_of(ground=ground)[1].values()
    assert ("12.3 mm" in cells, "7.0°" in cells) == (sinks, True)


def test_terminal_and_report_use_the_same_words():
    result, cells = cells_of(ground="soft")
    labels = re.findall(r'class="label">(.*?)</div>', tiles(result))
    assert len(labels) == 9
    assert set(labels) - cells.keys() == {"duration, standing included", "mean speed", "peak speed"}
    assert {"max tilt", "QP failures", "real-time factor"} <= set(labels)
    assert "deadline misses" not in cells


def test_a_walk_on_its_way_has_the_distance_of_whole_steps_and_one_that_fell_no_pose():
    walks = cells_of(is_standing=False, outcome="stopped", largest_step_change_m=0.054, largest_step_change_at_s=6.18)
    assert {"distance of whole steps", "middle of the feet, in mid-walk"} <= walks[1].keys()
    assert walks[1]["largest landed step change"] == "54 mm, of the step that lifted off at 6.18 s"
    assert "of the step that lifted off at 6.18 s" in tiles(walks[0])
    fell = cells_of(is_standing=False, outcome="fell")[1]
    assert not {"distance", "final pose", "middle of the feet, in mid-walk"} & fell.keys()


def test_the_end_of_a_velocity_that_moved_with_adapted_steps_is_said_so():
    moved = {"end_error_m": 0.036, "largest_step_change_m": 0.054, "commanded_end_m": [1.82, 0.0]}
    result, cells = cells_of(**moved, commanded_duration_s=10.0)
    assert (cells["end error"], cells["largest step change"]) == (
        "36 mm, adapted steps have moved its end",
        "54 mm",
    )
    assert "commanded end: (1.82, 0.00) m</div>" in tiles(result)
    assert "adapted steps have moved its end" in tiles(result)
    for place in (moved, moved | {"commanded_duration_s": 10.0, "largest_step_change_m": 0.0}):
        assert cells_of(**place)[1]["end error"] == "36 mm"


def test_a_push_that_moved_no_step_is_said():
    answered = {"adapted_steps": 0, "step_adaptation_active_s": 0.93}
    line = "steps   all as planned: in 0.93 s of step adaptation no landing had to move"
    assert further_steps(answered) == further_steps(answered | {"steps": 13, "planned_steps": 13}) == line
    others = {"adapted_steps": 1}, {"step_adaptation_active_s": 0.0}, {"step_adaptation_active_s": None}
    for other in (*others, {"outcome": "fell"}, {"outcome": "stopped"}):
        assert further_steps(answered | other) == ""


def test_steps_beyond_the_plan_are_said():
    result = {"steps": 16, "planned_steps": 13, "adapted_steps": 0, "further_steps_on_the_spot": 2}
    assert further_steps(result) == "steps   16 taken, 13 planned: 3 more; 2 of them on the spot"
    adapted = result | {"adapted_steps": 1, "further_steps_on_the_spot": 0}
    assert further_steps(adapted) == "steps   16 taken, 13 planned: 3 more; 1 adapted"
    anew = result | {"further_steps_on_the_spot": 0}
    assert further_steps(anew) == "steps   16 taken, 13 planned: 3 more; planned anew on the way"
    assert further_steps(result | {"steps": 13}) == ""
    assert further_steps({}) == ""


def test_zero_has_no_sign():
    assert cells_of()[1]["final pose"] == "(0.00, 0.00) m, 0°"


def test_a_reason_is_not_taken_for_markup():
    assert outcome_line({"outcome": "fell", "reason": "the [base]"}) == r"[bold red]fell[/]: the \[base]"


class PushedWalk(SimpleNamespace):
    """Time and pushes of a walk."""

    acted_pushes = SimulatedWalk.acted_pushes


def test_pushes_that_acted_are_named_the_first_ones_of_many():
    pushes = [Push("chest", (0.0, 30.0, 0.0), start, 0.1) for start in (2.0, 9.0)]
    walk = PushedWalk(time=8.5, robot=SimpleNamespace(pushes=pushes))
    assert acted_pushes(SimpleNamespace(walk=walk)) == "30 N to the left on chest from 2.00 to 2.10 s"
    walk.robot.pushes = [pushes[0]] * 6
    assert acted_pushes(SimpleNamespace(walk=walk)).endswith(
        "; 30 N to the left on chest from 2.00 to 2.10 s and 2 more"
    )
    walk.robot.pushes = [pushes[1], Push("chest", (0.0, 0.0, 0.0), 2.0, 0.1)]
    assert acted_pushes(SimpleNamespace(walk=walk)) == ""
    request = SimpleNamespace(
        setup=SimpleNamespace(simulation=SimpleNamespace(pushes=walk.robot.pushes[1:], faults=(), ground=LEVEL))
    )
    assert idle_disturbances(SimpleNamespace(walk=walk, request=request)) == [
        "warning: the push of 0 N on chest from 2.00 to 2.10 s has no force"
    ]


def test_pushes_and_faults_that_were_to_begin_after_the_end_of_the_walk_are_named():
    pushes = [Push("torso", (0.0, 5.0, 0.0), start, 0.3) for start in (2.0, 60.0)]
    faults = [Fault(FaultKind.DEAD_WRENCH, 90.0, name="l_foot_ft"), Fault(FaultKind.FROZEN_IMU, 3.0)]
    simulation = SimpleNamespace(pushes=pushes, faults=faults, ground=LEVEL)
    request = SimpleNamespace(setup=SimpleNamespace(simulation=simulation))
    late = idle_disturbances(SimpleNamespace(walk=SimpleNamespace(time=8.5), request=request))
    assert late == [
        "warning: the walk ended at 8.50 s, before the push of 5 N to the left on torso from 60.00 to 60.30 s",
        "warning: the walk ended at 8.50 s, before the fault dead_wrench of l_foot_ft from 90.00 s on",
    ]
    acted = SimpleNamespace(walk=SimpleNamespace(time=8.5, robot=SimpleNamespace(faults=faults)))
    assert acted_faults(acted) == "frozen_imu from 3.00 s on"


def test_a_bump_that_no_foot_came_to_is_named():
    met, far = Bump(0.3, 0.1, 0.01), Bump(9.0, 0.1, 0.01)
    simulation = SimpleNamespace(pushes=(), faults=(), ground=SimpleNamespace(bumps=(met, far)))
    setup = SimpleNamespace(
        simulation=simulation, robot=SimpleNamespace(sole=SimpleNamespace(x=(-0.1, 0.1), y=(-0.05, 0.05)))
    )
    feet = {f"simulation::{side}_foot::position": np.array([[0.2, 0.1, 0.0]]) for side in Side}
    outcome = SimpleNamespace(
        walk=SimpleNamespace(time=8.5),
        request=SimpleNamespace(setup=setup),
        log=SignalLog.from_arrays(np.zeros(1), feet),
    )
    assert idle_disturbances(outcome) == ["warning: no foot came to the bump of 10 mm at (9.00, 0.10) m"]


def test_the_bar_of_a_search_for_a_cause_says_how_many_walks_there_can_be_and_which_one_is_walked(monkeypatch):
    shown = []

    @contextmanager
    def bar(console, text, total):
        yield lambda done, text, total=total: shown.append((done, text, total))

    monkeypatch.setattr("gradiva.cli.walk_session.progress_bar", bar)
    request = WalkOptions(robot="icub_v2_7", duration=2.0).request()
    with _progress(text_console(), request, plan_from_start(request.setup, request.command)) as (_, search):
        search(2, 9, "with 75 N")
    assert shown == [(2, "looks for the cause, walk 3 of at most 9: with 75 N", 9)]


def test_a_floor_too_slippery_for_the_plan_is_warned_of_before_the_joints(monkeypatch):
    monkeypatch.setattr(walk_session, "joint_notes", lambda layers, plan: ["joints are slow"])
    for friction, slips in ((0.05, True), (1.0, False)):
        request = WalkOptions(robot="g1", settings=(f"simulation.ground.friction={friction}",)).request()
        walk = SimpleNamespace(setup=request.setup, layers=None)
        lines = plan_warnings(walk, plan_from_start(request.setup, request.command), request.seed)
        assert lines[-1] == "warning: joints are slow"
        assert [line.split(":")[1] for line in lines[:-1]] == (
            [" the simulated floor is more slippery than the plan takes"] if slips else []
        )
