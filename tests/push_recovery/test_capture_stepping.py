"""Capture steps of a robot that stands and is pushed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import RobotState, Side, so3
from gradiva.planner import CaptureStep, WalkingPlanner
from gradiva.push_recovery import ZMP_LAG, AdaptedSteps
from gradiva.push_recovery.capture_steps import UNLOADING
from gradiva.push_recovery.step_adapter import shortest_single_support
from gradiva.setup import load_setup
from gradiva.simulation import Push
from gradiva.walking import WalkingState
from tests.conftest import long
from tests.walking.walked import assert_stands_on_both_feet

SETUP = load_setup("icub_v2_7")
PLANNER = WalkingPlanner(SETUP.walking.planner)


def standing(x=0.0, y=0.0, yaw=0.0):
    """A plan that stands with the feet around a point."""
    start = PLANNER.at_origin(0.0)
    feet = {}
    for side in Side:
        foot = start.foot(side)
        c, s = math.cos(yaw), math.sin(yaw)
        feet[side] = replace(foot, x=x + c * foot.x - s * foot.y, y=y + s * foot.x + c * foot.y, yaw=yaw)
    com = start.com_position.copy()
    com[:2] = np.array([x, y]) + so3.rotation_z(yaw)[:2, :2] @ com[:2]
    return PLANNER.standing(
        replace(start, left_foot=feet[Side.LEFT], right_foot=feet[Side.RIGHT], dcm_position=com[:2], com_position=com)
    )


def step_of(offset, x=0.0, y=0.0, yaw=0.0):
    """The capture step of a robot whose DCM is off by ``offset`` [m] in the frame of its feet; None: ankles hold it."""
    stepping = AdaptedSteps(SETUP.walking.step_adaptation, PLANNER, SETUP.robot).standing
    plan = standing(x, y, yaw)
    reference = plan.at(5.0)
    turn = so3.rotation_z(yaw)[:2, :2]
    dcm = reference.dcm.position + turn @ np.asarray(offset)
    zmp = reference.dcm.position + turn @ np.clip(offset, -0.05, 0.05)
    state = object.__new__(RobotState)
    for name, value in {"dcm_position": dcm, "zmp_position": zmp, "com_position": reference.com_position}.items():
        object.__setattr__(state, name, value)
    steps = [stepping.capture(state, reference, plan) for _ in range(3)]
    assert steps[0] is None  # one tick may be an error of the estimate
    return next((step for step in steps if step is not None), None)


@pytest.mark.parametrize("direction", np.radians(np.arange(0, 360, 30)))
def test_a_dcm_within_the_soles_is_left_to_the_ankles_and_one_that_is_lost_to_its_fate(direction):
    along = np.array([math.cos(direction), math.sin(direction)])
    assert step_of(0.02 * along) is None
    assert step_of(1.5 * along) is None


@pytest.mark.parametrize("offset", [(0.12, 0.0), (0.1, 0.05), (-0.12, 0.0), (-0.11, -0.04)])
def test_it_steps_where_the_dcm_goes_within_the_limits_of_a_step(offset):
    step = step_of(offset)
    foot = standing().at(5.0).foot(step.side)
    assert np.sign(step.pose.x - foot.position[0]) == np.sign(offset[0])
    plan = PLANNER.capture_step(standing(), step, 5.0)  # refuses what no step can be
    assert plan.steps[0].touch_down == step.touch_down
    assert step.lift_off > 5.0
    stance = plan.at(5.0).foot(step.side.other).position
    reach = SETUP.walking.step_adaptation.reach * PLANNER.config.max_feet_distance
    assert math.hypot(step.pose.x - stance[0], step.pose.y - stance[1]) <= reach + 1e-9
    shift = UNLOADING
    assert (step.lift_off - 5.0) / shift == pytest.approx(round((step.lift_off - 5.0) / shift), abs=1e-9)
    assert np.sign(step.shift_zmp[1]) in (0.0, step.side.sign)  # towards the foot that steps


@pytest.mark.parametrize("offset", [(0.1, 0.05), (0.08, 0.06), (0.1, -0.05)])
def test_from_lift_off_on_the_dcm_ends_sideways_where_a_step_in_place_goes_on(offset):
    """Over the ZMP point of the foot that stays; the ZMP before lift-off is not at an edge of the soles there."""
    step, plan, limits = step_of(offset), standing(), PLANNER.config
    reference, side = plan.at(5.0), step.side
    rate, last = reference.dcm.divergence_rate, np.clip(offset, -0.05, 0.05)  # as of ``step_of``
    kappa, growth = rate * ZMP_LAG / (1.0 + rate * ZMP_LAG), math.exp(rate * (step.lift_off - 5.0))
    zmp = step.shift_zmp - reference.dcm.position
    dcm = reference.dcm.position + growth * (offset - kappa * last) - ((1.0 - kappa) * growth - 1.0) * zmp
    foot, stance = (plan.phase_at(5.0).foot(each).pose for each in (side, side.other))
    over, swing = stance.zmp_point(side.other, limits.zmp_offset), shortest_single_support(limits)
    duration = 0.5 * (limits.min_step_duration + limits.max_step_duration)
    double_support = duration - limits.single_support(duration)
    end = over + math.exp(rate * (swing + 0.5 * double_support)) * (dcm - over)
    in_place = CaptureStep(side, foot, step.lift_off, step.lift_off + swing)
    wanted = foot.zmp_point(side, limits.zmp_offset) + PLANNER.capture_offset(in_place)
    assert end[1] == pytest.approx(wanted[1], abs=1e-9)


def test_of_equal_steps_the_soonest_is_taken_by_the_foot_that_the_push_unloads():
    step = step_of((-0.05, 0.06))
    assert step.side is Side.RIGHT
    assert step.lift_off - 5.0 == pytest.approx(UNLOADING)


@pytest.mark.walk
@pytest.mark.parametrize("angle", [90.0, long(270.0)])
def test_a_push_sideways_that_tips_the_robot_on_a_soles_edge_is_survived(ready, angle):
    impulse = 12.6  # N·s: it falls on the other side where the tipped sole is not laid flat
    walk = ready("icub_v2_7", "step_adaptation.mode=place_and_time")
    assert walk.run(1.0)
    force = (0.0, impulse / 0.1 * math.sin(math.radians(angle)), 0.0)
    walk.robot.push(Push(walk.setup.robot.torso_frame, force, walk.time, 0.1))
    assert walk.run(4.5)
    assert_stands_on_both_feet(walk)
    set_points = np.degrees(walk.recorder.log["joints_state::positions::command"])
    assert np.abs(np.diff(set_points, axis=0)).max() < 5.0  # 15° without STANDING_TIME


@pytest.mark.parametrize("untrusted", [frozenset(), frozenset({Side.LEFT})])
def test_soles_are_not_moved_by_a_push_while_a_foots_sensor_is_not_trusted(ready, monkeypatch, untrusted):
    walk = ready("icub_v2_7", "step_adaptation.mode=place_and_time")
    monkeypatch.setattr(type(walk.layers.safety), "untrusted_feet", untrusted)
    force = (0.0, 110.0, 0.0)
    walk.robot.push(Push(walk.setup.robot.torso_frame, force, walk.time, 0.1))
    assert walk.run(0.4)
    assert walk.layers.push_recovery.steps.is_recovering(walk.time)
    assert bool(walk.layers.push_recovery.soles.levelling.offsets) is not bool(untrusted)


def test_a_robot_that_walks_recovers_from_no_push_that_it_had_while_it_stood(ready):
    walk = ready("icub_v2_7", "step_adaptation.mode=place_and_time")
    walk.robot.push(Push(walk.setup.robot.torso_frame, (0.0, 110.0, 0.0), walk.time, 0.1))
    assert walk.run(0.6)
    recovery = walk.layers.push_recovery
    for walks in (False, True):
        push = recovery.push(walk.time, is_catching=False, walks=walks, is_trusted=True)
        assert (push.is_caught, push.stands) == (not walks, not walks)


def test_a_moved_and_turned_world_gets_the_same_step_and_a_mirrored_one_the_mirrored_step():
    here, there = step_of((0.1, 0.05)), step_of((0.1, 0.05), 3.0, -2.0, 0.7)
    assert (there.side, there.lift_off) == (here.side, pytest.approx(here.lift_off))
    turned = np.array([3.0, -2.0]) + so3.rotation_z(0.7)[:2, :2] @ [here.pose.x, here.pose.y]
    np.testing.assert_allclose((there.pose.x, there.pose.y), turned, atol=1e-9)
    mirrored = step_of((0.1, -0.05))
    assert mirrored.side is here.side.other
    np.testing.assert_allclose((mirrored.pose.x, mirrored.pose.y), (here.pose.x, -here.pose.y), atol=1e-9)
    assert mirrored.touch_down == pytest.approx(here.touch_down, abs=1e-9)


@pytest.mark.walk
def test_a_push_that_fells_a_robot_that_stands_makes_it_step_and_stand_again(ready):
    impulse, angle = 12.5, math.radians(30.0)  # N·s
    for mode in ("off", "place_and_time"):
        walk = ready("icub_v2_7", f"step_adaptation.mode={mode}")
        assert walk.run(1.0)
        force = (impulse / 0.1 * math.cos(angle), impulse / 0.1 * math.sin(angle), 0.0)
        walk.robot.push(Push(walk.setup.robot.torso_frame, force, walk.time, 0.1))
        stands = walk.run(5.5)
        assert stands == (mode != "off")
    assert walk.controller.state is WalkingState.PAUSED
    assert len(walk.controller.plan.steps) >= 3
    assert_stands_on_both_feet(walk)
