"""Footholds that are moved in place and time while the robot walks."""

from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import PlanningError, Side, so3
from gradiva.contacts import ContactPlane
from gradiva.planner import Foothold, FootPose, Retarget, RetargetedSwing, StopCommand, VelocityCommand, WalkingPlanner

from .planning import LEGS, config_of, start_of, state_vector

WALK = VelocityCommand(0.15, 0.0, 0.1, duration=5.0)


@pytest.fixture(scope="module")
def planner():
    return WalkingPlanner(config_of())


@pytest.fixture(scope="module")
def plan(planner):
    return planner.walk(WALK, start_of(planner.config))


def moved(step, x=0.0, y=0.0, yaw=0.0, delay=0.0, **changes):
    """The foothold of a step elsewhere, later."""
    pose = step.footstep.pose
    return Foothold(replace(pose, x=pose.x + x, y=pose.y + y, yaw=pose.yaw + yaw, **changes), step.touch_down + delay)


def outward(step, way):
    return step.footstep.side.sign * way


def swing_state(plan, step, time):
    foot = plan.at(time).foot(step.footstep.side)
    return np.concatenate((foot.position, foot.rotation.ravel(), foot.twist, foot.acceleration))


def assert_dcm_is_consistent(plan, since, zeta, restarted=False):
    """The DCM obeys the pendulum, position and velocity match at all contact changes, the CoM follows the DCM."""
    changes = [phase.start_time for phase in plan.phases if phase.start_time >= since]
    for time in changes:
        before, after = plan.at(time - 1e-9), plan.at(time + 1e-9)
        if time > since or not restarted:
            np.testing.assert_allclose(after.dcm.position, before.dcm.position, atol=1e-8)
            np.testing.assert_allclose(after.com_position, before.com_position, atol=1e-8)
        if time > since:
            np.testing.assert_allclose(after.dcm.velocity, before.dcm.velocity, atol=1e-7)
    for time in np.linspace(since + 1e-3, plan.end_time + 0.5, 60):
        now, h = plan.at(time), 1e-6
        rate = (plan.at(time + h).dcm.position - plan.at(time - h).dcm.position) / (2.0 * h)
        np.testing.assert_allclose(now.dcm.velocity, rate, atol=1e-5)
        com_rate = zeta * (now.dcm.position - now.com_position[:2])
        np.testing.assert_allclose(now.com_velocity[:2], com_rate, atol=1e-9)
    rest = plan.at(plan.end_time + 5.0)
    config = config_of()
    zmps = [
        FootPose(*rest.foot(side).position[:2], so3.yaw(rest.foot(side).rotation)).zmp_point(side, config.zmp_offset)
        for side in Side
    ]
    np.testing.assert_allclose(rest.dcm.position, np.mean(zmps, axis=0), atol=1e-9)


@pytest.mark.parametrize("fraction", [0.02, 0.3, 0.6, 0.8])
@pytest.mark.parametrize(
    "change",
    [
        {"x": 0.03, "delay": 0.05},
        {"y": 0.02, "yaw": 0.1, "delay": 0.02},
        {"x": -0.04, "z": 0.002, "normal": ContactPlane(0.0, (0.1, -0.05)).normal},
    ],
)
def test_the_swing_continues_in_position_velocity_and_acceleration_and_lands_at_rest(planner, plan, fraction, change):
    step = plan.steps[3]
    time = step.lift_off + fraction * (step.touch_down - step.lift_off)
    change = change | {"y": outward(step, change.get("y", 0.01))}
    foothold = moved(step, **change)
    new = planner.retarget(plan, Retarget((foothold,)), time)
    np.testing.assert_allclose(swing_state(new, step, time), swing_state(plan, step, time), atol=1e-9)
    np.testing.assert_array_equal(swing_state(new, step, time - 0.01), swing_state(plan, step, time - 0.01))
    assert new.at(time).heading == pytest.approx(plan.at(time).heading, abs=1e-12)
    landed = new.at(foothold.touch_down)
    position, rotation = foothold.pose.placement()
    foot = landed.foot(step.footstep.side)
    assert foot.in_contact
    np.testing.assert_allclose(foot.position, position, atol=1e-12)
    np.testing.assert_allclose(foot.rotation, rotation, atol=1e-12)
    last = swing_state(new, step, foothold.touch_down - 1e-9)
    np.testing.assert_allclose(last[:3], position, atol=1e-9)
    np.testing.assert_allclose(last[12:18], 0.0, atol=1e-6)
    np.testing.assert_allclose(last[18:], 0.0, atol=1e-5)


def test_a_swing_may_be_retargeted_again_and_again(planner, plan):
    step, rng = plan.steps[2], np.random.default_rng(3)
    present, touch_down = plan, step.touch_down
    for fraction in (0.1, 0.25, 0.4, 0.55):
        time = step.lift_off + fraction * (step.touch_down - step.lift_off)
        foothold = moved(step, rng.uniform(-0.03, 0.03), outward(step, 0.02), rng.uniform(0.0, 0.1), 0.05)
        new = planner.retarget(present, Retarget((foothold,)), time)
        np.testing.assert_allclose(swing_state(new, step, time), swing_state(present, step, time), atol=1e-9)
        before, after = (state_vector(new.at(time + k * 1e-9)) for k in (-1, 1))
        np.testing.assert_allclose(after[:2], before[:2], atol=1e-8)
        present, touch_down = new, foothold.touch_down
    assert present.steps[2].touch_down == touch_down
    assert_dcm_is_consistent(present, time, planner.config.natural_frequency)


def test_twist_and_acceleration_are_the_derivatives_of_a_retargeted_pose(planner, plan):
    step = plan.steps[3]
    time = step.lift_off + 0.2 * (step.touch_down - step.lift_off)
    foothold = moved(step, 0.03, outward(step, 0.03), 0.2, 0.1, normal=ContactPlane(0.0, (0.2, 0.1)).normal)
    swing = planner.retarget(plan, Retarget((foothold,)), time).phase_at(time).swing
    assert isinstance(swing, RetargetedSwing)
    h = 1e-5
    for now in np.linspace(time + 0.01, foothold.touch_down - 0.01, 25):
        foot, before, after = swing.at(now), swing.at(now - h), swing.at(now + h)
        velocity = (after.position - before.position) / (2 * h)
        spin = so3.log(after.rotation @ before.rotation.T) / (2 * h)
        np.testing.assert_allclose(foot.twist, np.concatenate((velocity, spin)), atol=1e-6)
        np.testing.assert_allclose(foot.acceleration, (after.twist - before.twist) / (2 * h), atol=1e-6)


@pytest.mark.parametrize("fraction", [-0.5, 0.1, 0.5])
@pytest.mark.parametrize("index", [0, 3, -1])
def test_the_dcm_is_consistent_with_the_moved_and_delayed_footsteps(planner, plan, index, fraction):
    step = plan.steps[index]
    part = planner.config.double_support_ratio if fraction < 0.0 else 0.4
    time = step.lift_off + fraction * part * (step.touch_down - step.lift_off)
    new = planner.retarget(plan, Retarget((moved(step, 0.03, outward(step, 0.01), 0.0, 0.1),)), time)
    assert_dcm_is_consistent(new, time, planner.config.natural_frequency)
    zmps = [new.at(t).dcm.zmp_position for t in np.linspace(max(time, step.lift_off) + 1e-6, step.touch_down, 9)]
    np.testing.assert_allclose(zmps, np.tile(zmps[0], (9, 1)), atol=1e-9)
    planned = plan.at(step.lift_off + 1e-6).dcm.zmp_position
    assert np.linalg.norm(zmps[0] - planned) < 0.015


def test_a_retarget_to_the_same_footholds_keeps_dcm_and_com(planner, plan):
    for time in (0.4, 1.3, 2.6):
        same = planner.retarget(plan, Retarget((Foothold(),)), time)
        for later in np.arange(time, plan.end_time + 1.0, 0.1):
            expected, now = plan.at(later), same.at(later)
            np.testing.assert_allclose(now.dcm.position, expected.dcm.position, atol=1e-9)
            np.testing.assert_allclose(now.com_position, expected.com_position, atol=1e-9)
            assert now.heading == pytest.approx(expected.heading, abs=0.02)


def test_later_steps_are_translated_and_delayed_and_nothing_else(planner, plan):
    step = plan.steps[2]
    new = planner.retarget(plan, Retarget((moved(step, 0.04, outward(step, 0.02), 0.0, 0.12),)), step.lift_off + 0.1)
    later = [s for s in new.steps if s.touch_down > step.touch_down + 0.1]
    assert len(later) == len(plan.steps) - 2
    for old, now in zip(plan.steps[2:], later, strict=True):
        assert now.touch_down - old.touch_down == pytest.approx(0.12, abs=1e-12)
        shift = now.footstep.pose.x - old.footstep.pose.x, now.footstep.pose.y - old.footstep.pose.y
        np.testing.assert_allclose(shift, (0.04, outward(step, 0.02)), atol=1e-12)
    again = planner.replan(new, StopCommand(), step.touch_down + 0.2)
    assert again.at(again.end_time + 1.0).is_double_support
    assert new.end_time == pytest.approx(plan.end_time + 0.12, abs=1e-9)


def test_several_footholds_are_moved_at_once(planner, plan):
    first, second = plan.steps[2], plan.steps[3]
    change = Retarget((moved(first, 0.02), moved(second, 0.05, outward(second, 0.01), 0.0, 0.1)))
    new = planner.retarget(plan, change, first.lift_off + 0.1)
    for step, foothold in zip((first, second), change.footholds, strict=True):
        foot = new.at(foothold.touch_down).foot(step.footstep.side)
        np.testing.assert_allclose(foot.position[:2], (foothold.pose.x, foothold.pose.y), atol=1e-12)
    assert_dcm_is_consistent(new, first.lift_off + 0.1, planner.config.natural_frequency)


def test_the_dcm_may_restart_from_the_measured_one(planner, plan):
    step = plan.steps[2]
    time = step.lift_off + 0.2
    reference = plan.at(time)
    dcm = reference.dcm.position + np.array([0.01, outward(step, 0.012)])
    com = reference.com_position + np.array([0.003, 0.002, 0.0])
    change = Retarget((moved(step, 0.03, outward(step, 0.04)),), dcm, com)
    new = planner.retarget(plan, change, time)
    np.testing.assert_allclose(new.at(time).dcm.position, dcm, atol=1e-12)
    np.testing.assert_allclose(new.at(time).com_position[:2], change.com_position[:2], atol=1e-12)
    assert_dcm_is_consistent(new, time, planner.config.natural_frequency, restarted=True)


def test_the_legs_of_a_retargeted_swing_move_the_dcm_not_the_zmp():
    config = config_of(leg_momentum=LEGS)
    planner = WalkingPlanner(config)
    plan = planner.walk(WALK, start_of(config))
    step = plan.steps[2]
    for fraction in (0.1, 0.7):
        time = step.lift_off + fraction * (step.touch_down - step.lift_off)
        new = planner.retarget(plan, Retarget((moved(step, 0.03, outward(step, 0.02), 0.0, 0.05),)), time)
        swing, side = new.phase_at(time).swing, step.footstep.side
        matrix = config.leg_momentum.matrix(side, new.phase_at(time).heading_at(0.5 * (time + swing.end_time)))
        zmps = [
            new.at(t).dcm.zmp_position + matrix @ swing.at(t).acceleration[:3]
            for t in np.linspace(time + 1e-6, swing.end_time - 1e-6, 9)
        ]
        np.testing.assert_allclose(zmps, np.tile(zmps[0], (9, 1)), atol=1e-9)
        before, after = (new.at(swing.end_time + k * 1e-9).dcm for k in (-1, 1))
        np.testing.assert_allclose(after.position, before.position, atol=1e-8)
        np.testing.assert_allclose(after.velocity, before.velocity, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "fraction", "message"),
    [
        ({"x": 0.5}, 0.3, "max_feet_distance"),
        ({"y": -0.1}, 0.3, "min_step_width"),
        ({"yaw": 1.0}, 0.3, "max_step_turn"),
        ({"delay": -0.35}, 0.1, "min_step_duration"),
        ({"x": 0.01}, 0.95, "less than 0.06 s are left"),
        ({"delay": 0.6}, 0.9, "comes down already"),
    ],
)
def test_footholds_that_no_step_can_reach_are_refused_by_name(planner, plan, change, fraction, message):
    step = plan.steps[3]
    time = step.lift_off + fraction * (step.touch_down - step.lift_off)
    change = change | {"y": outward(step, change.get("y", 0.0))}
    with pytest.raises(PlanningError, match=message):
        planner.retarget(plan, Retarget((moved(step, **change),)), time)


def test_a_plan_without_steps_and_one_of_varying_height_are_refused(planner, plan):
    with pytest.raises(PlanningError, match="no step is left"):
        planner.retarget(plan, Retarget((Foothold(),)), plan.end_time)
    config = config_of(com_height_amplitude=0.01)
    varying = WalkingPlanner(config)
    with pytest.raises(PlanningError, match="constant CoM height"):
        varying.retarget(varying.walk(WALK, start_of(config)), Retarget((Foothold(),)), 1.5)


@pytest.mark.parametrize(
    "numbers",
    [
        {"touch_down": np.inf},
        {"pose": FootPose(np.nan, 0.0, 0.0)},
        {"pose": FootPose(0.0, 0.0, 0.0, normal=(1.0, 0.0, 0.0))},
    ],
)
def test_a_foothold_of_impossible_numbers_is_refused(numbers):
    with pytest.raises(PlanningError, match="finite numbers and a normal that points upward"):
        Foothold(**numbers)
