"""Judgement of a robot that stands at the end of a walk."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import Side, so3
from gradiva.planner import GoalCommand, PathCommand, VelocityCommand
from gradiva.setup import load_setup
from gradiva.simulated_walk import SimulatedWalk, WalkRequest, commanded_end, finish_walk, plan_from_start
from gradiva.simulated_walk.commanded_end import (
    EndError,
    complaints_of,
    count_steps,
    end_error,
    excess_of,
    final_pose,
    final_tilt,
    judged_posture,
    judged_walk,
    near_bounds,
    planned_middles,
)
from gradiva.simulated_walk.walk_score import LastingTilt, lasting_sole_tilt
from gradiva.simulation import Push
from gradiva.telemetry import SignalLog
from gradiva.walking import WalkingState

SETUP = load_setup("icub_v2_7")
NO_LOG = SignalLog()


def error_of(command, pose, log=NO_LOG, displacement=(0.0, 0.0)):
    plan = plan_from_start(SETUP, command)
    return end_error(command, plan, np.array(displacement), pose, log, SETUP.walking.planner.footsteps.turning_lever)


def beside(plan, x, y, yaw):
    end = final_pose(plan)
    return end[0] + x, end[1] + y, end[2] + yaw


def test_a_velocity_is_done_where_its_plan_ends_within_tolerances_that_grow_with_the_way():
    command = VelocityCommand(0.19, duration=10.0)
    plan = plan_from_start(SETUP, command)
    assert error_of(command, final_pose(plan)).way == pytest.approx(final_pose(plan)[0], abs=1e-9)
    assert complaints_of(error_of(command, beside(plan, 0.0, 0.17, math.radians(-9.0))).judged()) == []
    far = complaints_of(error_of(command, beside(plan, 0.0, 0.19, math.radians(-30.0))).judged())
    assert far == ["ended 30° off its commanded heading"]
    short = VelocityCommand(0.1, duration=1.0)
    assert complaints_of(error_of(short, beside(plan_from_start(SETUP, short), 0.0, 0.17, 0.0)).judged()) != []


def test_a_figure_within_a_tenth_of_its_tolerance_is_said_with_its_hint():
    end = SimpleNamespace(foot_slip_m=0.0149, foot_wrench=lambda side: np.array([0.0, 0.0, 100.0]))
    assert near_bounds(judged_posture(end, 0.0, 50.0)) == (
        "slid 15 mm, 99 % of the 15 mm allowed (often a slippery floor, or one so soft that feet roll: see"
        " simulation.ground)"
    )
    end.foot_slip_m = 0.0134
    assert near_bounds(judged_posture(end, 0.0, 50.0)) == ""
    tilted = near_bounds(judged_posture(end, math.radians(4.6), 50.0))
    assert tilted.startswith("stands with its base tilted by 5°, 92 % of the 5° allowed (often a posture that leans")
    aside = near_bounds(EndError(0.19, 0.0, 0.0, way=1.5, end=(1.5, 0.0)).judged())
    assert aside.startswith("ended 0.19 m from where it was commanded, 95 % of the 0.20 m allowed (often feet")
    turned = near_bounds(EndError(0.05, math.radians(9.0), 0.0, way=1.5, end=(1.5, 0.0)).judged())
    assert turned.startswith("ended 9° off its commanded heading, 95 % of the 9.5° allowed (often feet")
    end.foot_slip_m = 0.017
    assert near_bounds(judged_posture(end, 0.0, 50.0)) == ""  # a complaint of its own


def test_a_step_that_catches_a_push_moves_the_place_but_not_the_heading():
    command, displacement = VelocityCommand(0.19, duration=5.0), (0.1, -0.3)
    error = error_of(command, beside(plan_from_start(SETUP, command), *displacement, 0.0), displacement=displacement)
    assert (error.distance, error.heading) == (0.0, pytest.approx(0.0, abs=1e-12))


@pytest.mark.parametrize(("yaw", "complaints"), [(None, 0), (0.0, 1)])
def test_a_goal_is_a_place_and_has_a_heading_only_where_one_is_commanded(yaw, complaints):
    error = error_of(GoalCommand(1.0, 0.0, yaw), (1.05, 0.0, 1.0))
    assert error.distance == pytest.approx(0.05)
    assert len(complaints_of(error.judged())) == complaints


def test_a_path_of_no_length_is_the_place_where_the_robot_stands():
    command = PathCommand(np.zeros((2, 2)), 0.19)
    at_its_end = final_pose(plan_from_start(SETUP, command))
    assert error_of(command, at_its_end).off_path == 0.0
    assert complaints_of(error_of(command, at_its_end).judged()) == []


def test_turns_on_the_spot_have_a_way():
    command = VelocityCommand(0.0, angular=math.radians(20.0), duration=10.0)
    turned = planned_middles(plan_from_start(SETUP, command))[-1, 2]
    least = SETUP.walking.planner.footsteps.turning_lever * turned
    assert least <= error_of(command, (0.0, 0.0, turned)).way < 1.3 * least


def test_who_leaves_the_path_has_not_followed_it_though_it_ends_there():
    command = PathCommand(np.array([[0.5, 0.0], [1.0, 0.0]]), 0.15)
    end = final_pose(plan_from_start(SETUP, command))

    def log_of(aside):
        places = np.array([[0.0, 0.0], [0.5, aside], [1.0, 0.0]])
        feet = {
            f"simulation::{side}_foot::{what}": np.repeat(np.column_stack((places, np.zeros(3))), 2, axis=0) * scale
            for side in Side
            for what, scale in (("position", 1.0), ("orientation", 0.0))
        }
        support = np.tile([1.0, 0.0], 3)[:, None]
        return SignalLog.from_arrays(np.arange(6.0), {"walking::is_double_support": support, **feet})

    assert complaints_of(error_of(command, end, log_of(0.1)).judged()) == []
    assert complaints_of(error_of(command, end, log_of(0.3)).judged()) == ["left its path by 0.30 m"]


def truth(slip=0.0, loads=(150.0, 150.0)):
    wrenches = dict(zip(Side, ([0.0, 0.0, load] for load in loads), strict=True))
    return SimpleNamespace(foot_slip_m=slip, foot_wrench=lambda side: wrenches[side])


def test_slip_a_tilted_base_and_a_foot_in_the_air_are_named():
    def complaints(*figures):
        return complaints_of(judged_posture(*figures))

    assert complaints(truth(0.005), math.radians(1.4), 30.0) == []
    assert complaints(truth(0.039), 0.0, 30.0) == ["slid 39 mm"]
    assert complaints(truth(), math.radians(18.0), 30.0) == ["stands with its base tilted by 18°"]
    assert complaints(truth(loads=(300.0, 0.0)), 0.0, 30.0) == ["has its right foot in the air"]
    assert complaints(truth(), 0.0, 30.0, tilt_of(5.9)) == []
    assert complaints(truth(), 0.0, 30.0, tilt_of(15.0)) == [TILTED.format(15)]
    assert max(each.excess for each in judged_posture(truth(0.012), 0.0, 30.0)) == pytest.approx(0.8)


TILTED = "had its left sole tilted by {}° while it carried load, at 5.22 s: beyond 7° for 0.14 s"


def tilt_of(degrees):
    return LastingTilt(Side.LEFT, math.radians(degrees), math.radians(7.0), 5.22, 0.14)


class PushedWalk(SimpleNamespace):
    """Everything that a walk is judged by."""

    acted_pushes = SimulatedWalk.acted_pushes


@pytest.mark.parametrize(
    ("kind", "bumps", "pushes", "since"),
    [
        ("rigid", (), [], -math.inf),
        ("rigid", (), [(9.0, True)], -math.inf),
        ("rigid", (), [(2.0, False)], -math.inf),
        ("rigid", (), [(2.0, True)], 4.5),
        ("rigid", ("bump",), [], None),
        ("viscoelastic", (), [], None),
    ],
)
def test_soles_have_to_be_flat_on_rigid_ground_of_a_robot_that_was_pushed_at_the_end(
    monkeypatch, kind, bumps, pushes, since
):
    asked = []
    monkeypatch.setattr(
        commanded_end, "lasting_sole_tilt", lambda log, duration, bound, since: asked.append(since) or tilt_of(12.0)
    )
    monkeypatch.setattr(commanded_end, "final_tilt", lambda walk: 0.0)
    simulation = SimpleNamespace(
        ground=SimpleNamespace(kind=kind, bumps=bumps), slip=SimpleNamespace(least_load=lambda weight: 30.0)
    )
    walk = PushedWalk(
        setup=SimpleNamespace(simulation=simulation, robot=SimpleNamespace(mass=30.0)),
        robot=SimpleNamespace(
            truth=truth, pushes=[SimpleNamespace(start=start, is_felt=felt) for start, felt in pushes]
        ),
        recorder=SimpleNamespace(log=None),
        time=5.0,
    )
    judged = judged_walk(walk, EndError(0.0, 0.0, 0.0, 1.0, (1.0, 0.0)))
    assert complaints_of(judged) == [TILTED.format(12)] * (since is not None)
    assert asked == ([] if since is None else [since])


def test_a_tilt_of_a_loaded_sole_counts_where_it_lasts():
    times = 0.01 * np.arange(100.0)
    tilts = np.full((2, 100, 1), 0.02)
    tilts[0, 10] = 0.3  # for a tick
    tilts[0, 30:39] = 0.2  # for 0.09 s
    tilts[1, 60:71] = 0.1
    tilts[1, 71:90] = np.nan  # in the air
    names = {f"simulation::{side}_foot::tilt": values for side, values in zip(Side, tilts, strict=True)}
    log = Log(names, times)
    long = lasting_sole_tilt(log, 0.1, 0.05)
    assert (long.side, long.angle, long.begin) == (Side.RIGHT, pytest.approx(0.1), pytest.approx(0.6))
    assert long.duration == pytest.approx(0.11)
    short = lasting_sole_tilt(log, 0.05, 0.05)
    assert (short.side, short.angle, short.begin) == (Side.LEFT, pytest.approx(0.2), pytest.approx(0.3))
    assert short.duration == pytest.approx(0.09)
    assert lasting_sole_tilt(log, 0.1, 0.15).bound == pytest.approx(0.1)  # it came no farther
    late = lasting_sole_tilt(log, 0.1, 0.05, since=0.65)  # 0.06 s of it are left
    assert (late.side, late.angle) == (Side.LEFT, pytest.approx(0.02))
    assert lasting_sole_tilt(Log({}, times), 0.1, 0.05) is None
    assert lasting_sole_tilt(Log(names, times[:1]), 0.1, 0.05) is None


class Log(dict):
    """Signals by name, with their times."""

    def __init__(self, signals, times):
        super().__init__(signals)
        self.times = times

    def __len__(self):
        return len(self.times)


@pytest.mark.walk
def test_a_controller_that_takes_its_walk_for_done_elsewhere_has_walked_badly(monkeypatch):
    walk, command = SimulatedWalk(SETUP), VelocityCommand(0.1, duration=1.0)
    walk.robot.push(push := Push("chest", (0.0, 5.0, 0.0), 1.0, 0.1))
    assert walk.get_ready()
    done = walk.execute(command)
    assert (done.result["outcome"], done.walked, done.stands) == ("walked", True, True)
    assert done.result["end_error_m"] < 0.02
    assert done.result["is_standing"]
    assert excess_of(walk, command) < 0.3
    assert excess_of(walk, VelocityCommand(0.1, duration=8.0)) > 1.0
    stopped = SimpleNamespace(controller=SimpleNamespace(state=WalkingState.STOPPED))
    assert excess_of(stopped, command) == math.inf
    plan = plan_from_start(SETUP, command)
    assert count_steps(walk, plan) == {
        "steps": len(plan.steps),
        "planned_steps": len(plan.steps),
        "further_steps_on_the_spot": 0,
    }
    for method in ("get_ready", "follow"):
        monkeypatch.setattr(SimulatedWalk, method, lambda *_: True)
    x, y, _ = done.result["final_pose"]
    elsewhere = finish_walk(WalkRequest(SETUP, GoalCommand(x + 1.0, y), 0), walk)
    assert (elsewhere.result["outcome"], elsewhere.walked, elsewhere.stands) == ("walked badly", False, True)
    assert elsewhere.result["reason"] == f"ended 1.00 m from where it was commanded; after a {push}"
    assert elsewhere.result["end_error_m"] == pytest.approx(1.0)


@pytest.mark.parametrize(("control", "upright"), [("position", 0.0), ("velocity", 0.0), ("torque", 1.0)])
def test_a_base_on_a_slope_is_judged_by_the_floor_or_by_the_vertical_as_its_control_holds_it(control, upright):
    slope = math.radians(5.0)
    setup = load_setup("icub_v2_7", {"walking.control": control, "simulation.ground.slope_forward": slope})
    for part in (0.0, 1.0):  # perpendicular to the floor, and upright
        base = so3.exp(np.array([0.0, part * slope, 0.0]))
        walk = SimpleNamespace(
            setup=setup,
            robot=SimpleNamespace(truth=lambda base=base: SimpleNamespace(base_rotation=base)),
            layers=SimpleNamespace(start_posture=SimpleNamespace(base_rotation=np.eye(3))),
        )
        assert final_tilt(walk) == pytest.approx(abs(part - upright) * slope, abs=1e-6)
