"""Footholds that are moved in place and time while the robot walks."""

import contextlib
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gradiva.common import PlanningError, Side, so3
from gradiva.contacts import ContactPlane
from gradiva.planner import (
    CaptureStep,
    Foothold,
    FootPose,
    Retarget,
    RetargetedSwing,
    StopCommand,
    VelocityCommand,
    WalkingPlanner,
)
from gradiva.planner.dcm_trajectory import PendulumTrajectory

from .planning import LEGS, config_of, start_of, state_vector

WALK = VelocityCommand(0.15, 0.0, 0.1, duration=5.0)


@pytest.fixture(scope="module")
def planner():
    return WalkingPlanner(config_of())


@pytest.fixture(scope="module")
def plan(planner):
    return planner.plan(WALK, start_of(planner.config))


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
            np.testing.assert_allclose(after.dcm.velocity, before.dcm.velocity, atol=2e-7)  # 2 ns apart, 100 m/s²
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
    part = planner.config.footsteps.double_support_ratio if fraction < 0.0 else 0.4
    time = step.lift_off + fraction * part * (step.touch_down - step.lift_off)
    new = planner.retarget(plan, Retarget((moved(step, 0.03, outward(step, 0.01), 0.0, 0.1),)), time)
    assert_dcm_is_consistent(new, time, planner.config.natural_frequency)
    zmps = [new.at(t).dcm.zmp_position for t in np.linspace(max(time, step.lift_off) + 1e-6, step.touch_down, 9)]
    np.testing.assert_allclose(zmps, np.tile(zmps[0], (9, 1)), atol=1e-9)
    planned = plan.at(step.lift_off + 1e-6).dcm.zmp_position
    assert np.linalg.norm(zmps[0] - planned) < 0.015


@pytest.mark.parametrize(("com_arc", "kept"), [(0.0, 3), (1.0, 2)])  # a moved step ends its arc in its own way
def test_a_retarget_to_the_same_footholds_keeps_dcm_and_com(com_arc, kept):
    planner = WalkingPlanner(config_of(pendulum={"com_arc": com_arc}))
    plan = planner.plan(WALK, start_of(planner.config))
    for time in (0.4, 1.3, 2.6):
        same = planner.retarget(plan, Retarget((Foothold(),)), time)
        for later in np.arange(time, plan.end_time + 1.0, 0.1):
            expected, now = plan.at(later), same.at(later)
            np.testing.assert_allclose(now.dcm.position, expected.dcm.position, atol=1e-9)
            np.testing.assert_allclose(now.com_position[:kept], expected.com_position[:kept], atol=1e-9)
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


@pytest.mark.parametrize("changes", [{}, {"swing_profile": "minimum_jerk"}, {"leg_momentum": LEGS}])
@pytest.mark.parametrize("fraction", [-0.1, 0.1, 0.5])
def test_the_translated_rest_is_the_plan_of_all_moved_footsteps(changes, fraction):
    config = config_of(**changes)
    planner = WalkingPlanner(config)
    plan = planner.plan(replace(WALK, duration=9.0), start_of(config))
    step = plan.steps[3]
    time = step.lift_off + fraction * (step.touch_down - step.lift_off)
    change = Retarget((moved(step, 0.03, outward(step, 0.02), 0.1 * step.footstep.side.sign, 0.1),))
    translated = planner.retarget(plan, change, time)
    footholds = tuple(Foothold(step.footstep.pose, step.touch_down) for step in translated.steps[3:])
    assert len(footholds) > 6
    planned = planner.retarget(plan, Retarget(footholds), time)
    for now in np.arange(time, plan.end_time + 1.0, 0.0371):
        np.testing.assert_allclose(state_vector(translated.at(now)), state_vector(planned.at(now)), atol=1e-9)
    for one, other in zip(translated.steps, planned.steps, strict=True):
        assert one.footstep.pose.is_close(other.footstep.pose, 1e-12)
        assert (one.lift_off, one.touch_down) == pytest.approx((other.lift_off, other.touch_down), abs=1e-12)
    one, other = translated.preview(time, 0.02, 90), planned.preview(time, 0.02, 90)
    np.testing.assert_allclose(one.zmp_positions, other.zmp_positions, atol=1e-9)
    np.testing.assert_allclose(one.left_foot_poses, other.left_foot_poses, atol=1e-9)
    np.testing.assert_array_equal(one.right_in_contact, other.right_in_contact)


def test_a_retarget_plans_at_most_three_steps_however_many_follow(planner, monkeypatch):
    counts, plan_of = [], PendulumTrajectory.plan

    def counted(schedule, *arguments):
        counts.append(len(schedule.lift_offs))
        return plan_of(schedule, *arguments)

    plan = planner.plan(VelocityCommand(0.15, duration=60.0), start_of(planner.config))
    step = plan.steps[2]
    monkeypatch.setattr(PendulumTrajectory, "plan", counted)
    for delay in np.linspace(0.0, 0.1, 11):
        plan = planner.retarget(plan, Retarget((moved(step, 0.02, delay=delay),)), step.lift_off + 0.1 + 2.0 * delay)
        assert plan.at(step.lift_off + 0.1 + 2.0 * delay).time < plan.end_time
    assert counts == []  # until touch-down nothing but the running step is asked for
    landed = plan.at(step.touch_down + 0.2)
    assert landed.is_double_support
    assert counts == [2]


def test_a_plan_does_not_grow_with_the_number_of_retargets(planner):
    plan = planner.plan(VelocityCommand(0.15, duration=40.0), start_of(planner.config))
    phases, segments = len(plan.phases), len(plan.trajectory.starts)
    present, moves = plan, 0
    for time in np.arange(1.0, 12.0, 0.01):
        reference = present.at(time)
        step = next(step for step in present.steps if step.touch_down > time)
        if reference.is_double_support or step.touch_down < time + 0.1 or time < step.lift_off + 0.02:
            continue
        shift = 1e-3 * (-1.0) ** moves
        present = planner.retarget(present, Retarget((moved(step, shift),)), time)
        moves += 1
    assert moves > 400
    steps = sum(step.touch_down < 12.0 for step in plan.steps)
    assert len(present.phases) <= phases + 2 * steps + 2
    assert len(present.trajectory.starts) <= segments + 4 * steps + 4
    for at in (2.0, 5.0, 11.0):
        assert present.at(at).is_walking
    assert_dcm_is_consistent(present, 12.0, planner.config.natural_frequency)


def test_a_step_that_lands_late_is_one_step_of_the_plan_and_the_next_one_can_be_moved(planner, plan):
    """Its foot comes down after the time at which it was planned to, moved again between both."""
    step, following = plan.steps[2:4]
    late, lands = plan, step.touch_down
    for time, delay in ((lands - 0.1, 0.1), (lands + 0.02, 0.15), (lands + 0.06, 0.2)):
        late = planner.retarget(late, Retarget((moved(step, delay=delay),)), time)
    whole = late.whole()
    assert [step.footstep.side for step in whole.steps] == [step.footstep.side for step in plan.steps]
    assert whole.landings.times == sorted(whole.landings.times)
    assert [step.touch_down for step in whole.steps] == pytest.approx(list(whole.landings.times))
    for time in np.linspace(step.lift_off, lands + 0.2, 40, endpoint=False) + 1e-6:
        assert whole.phase_at(time).swing_side is step.footstep.side
        assert not whole.at(time).foot(step.footstep.side).in_contact
    assert whole.phase_at(lands + 0.2 + 1e-6).swing is None
    delayed = whole.steps[3]
    assert delayed.touch_down == pytest.approx(following.touch_down + 0.2)
    time = delayed.lift_off + 0.1
    again = planner.retarget(late, Retarget((moved(delayed, y=outward(delayed, 0.02)),)), time).whole()
    assert [step.footstep.side for step in again.steps] == [step.footstep.side for step in plan.steps]
    assert_dcm_is_consistent(again, time, planner.config.natural_frequency)


def test_steps_may_be_moved_late_in_a_long_walk(planner):
    """The plan forgets what was half a minute ago, and no step that is to come."""
    plan = present = planner.plan(VelocityCommand(0.15, duration=45.0), start_of(planner.config))
    first = plan.landings.after(38.0)
    for step in plan.steps[first : first + 3]:
        foothold = moved(step, y=outward(step, 0.01))
        present = planner.retarget(present, Retarget((foothold,)), step.lift_off + 0.1).whole()
        assert [step.touch_down for step in present.steps[first:]] == pytest.approx(plan.landings.times[first:])
    assert_dcm_is_consistent(present, step.lift_off + 0.1, planner.config.natural_frequency)


def test_the_steps_after_a_moved_one_stay_on_their_slope(planner):
    plane = ContactPlane(0.01, (0.05, -0.03))
    start = replace(start_of(planner.config), plane=plane)
    plan = planner.plan(WALK, start)
    step = plan.steps[2]
    pose = step.footstep.pose
    foothold = Foothold(FootPose(pose.x + 0.03, pose.y + outward(step, 0.02), pose.yaw).on(plane))
    new = planner.retarget(plan, Retarget((foothold,)), step.lift_off + 0.1)
    for later in new.steps[2:]:
        landed = later.footstep.pose
        assert landed.z == pytest.approx(plane.height_at(landed.x, landed.y), abs=1e-12)
        foot = new.at(later.touch_down + 1e-6).foot(later.footstep.side)
        assert foot.position[2] == pytest.approx(landed.z + planner.config.landing_height, abs=1e-4)


def test_several_footholds_are_moved_at_once(planner, plan):
    first, second = plan.steps[2], plan.steps[3]
    change = Retarget((moved(first, 0.02), moved(second, 0.05, outward(second, 0.01), 0.0, 0.1)))
    new = planner.retarget(plan, change, first.lift_off + 0.1)
    for step, foothold in zip((first, second), change.footholds, strict=True):
        foot = new.at(foothold.touch_down).foot(step.footstep.side)
        np.testing.assert_allclose(foot.position[:2], (foothold.pose.x, foothold.pose.y), atol=1e-12)
    assert_dcm_is_consistent(new, first.lift_off + 0.1, planner.config.natural_frequency)


def test_a_moved_foot_stays_up_and_comes_down_last(planner, plan):
    config, step = planner.config, plan.steps[3]
    time = step.lift_off + 0.1
    new = planner.retarget(plan, Retarget((moved(step, 0.05, outward(step, 0.05), delay=0.05),), following=1), time)
    touch_down = step.touch_down + 0.05
    height_at = lambda t: new.at(t).foot(step.footstep.side).position[2]  # noqa: E731
    highest = max(height_at(t) for t in np.linspace(time, touch_down, 200))
    assert 0.025 < highest <= config.adapted_swing_height + 1e-9
    np.testing.assert_allclose([height_at(time + 0.3), height_at(touch_down - 0.18)], highest, atol=1e-9)
    assert height_at(touch_down - 0.09) == pytest.approx(0.5 * highest, abs=1e-6)
    assert abs(new.at(touch_down - 1e-4).foot(step.footstep.side).twist[2]) < 1e-3


@pytest.mark.parametrize("fraction", [0.7, 0.8, 0.9])
def test_a_foot_that_comes_down_goes_up_again_where_it_lands_later_and_never_below_the_ground(planner, plan, fraction):
    step = plan.steps[3]
    time = step.lift_off + fraction * (step.touch_down - step.lift_off)
    for delay, highest in ((0.02, 0.0), (0.6, 0.025)):
        new = planner.retarget(plan, Retarget((moved(step, 0.01, delay=delay),), following=1), time)
        times = np.linspace(time, step.touch_down + delay, 80)
        heights = [new.at(t).foot(step.footstep.side).position[2] for t in times]
        assert min(heights) > -1e-3
        assert max(heights) >= highest - 1e-9


def test_swings_stay_above_the_ground_however_often_they_are_moved(planner, plan):
    rng, step, moves = np.random.default_rng(1), plan.steps[2], 0
    for _ in range(30):
        present, time = plan, step.lift_off + rng.uniform(0.0, 0.2)
        while time < present.steps[2].touch_down - 0.1:
            change = moved(
                step, rng.uniform(-0.05, 0.1), outward(step, rng.uniform(0.0, 0.1)), 0.0, rng.uniform(0, 0.2)
            )
            with contextlib.suppress(PlanningError):  # of a foot that falls fast and would have to turn round
                present = planner.retarget(present, Retarget((change,), following=1), time)
                moves += 1
            swing = present.phase_at(time).swing
            heights = [swing.at(t).position[2] for t in np.linspace(time, swing.end_time, 50)]
            assert min(heights) > -1e-3
            assert max(heights) < planner.config.adapted_swing_height + 0.01
            time += rng.uniform(0.01, 0.1)
    assert moves > 150


def test_a_foot_that_stands_yet_lifts_off_later_and_the_rest_is_delayed(planner, plan):
    step, before = plan.steps[2], plan.steps[1]
    time, delay = 0.5 * (before.touch_down + step.lift_off), 0.06
    foothold = Foothold(None, step.touch_down + delay, step.lift_off + delay)
    waiting = planner.retarget(plan, Retarget((foothold,)), time)
    side, zeta = step.footstep.side, planner.config.natural_frequency
    assert waiting.at(step.lift_off + delay - 1e-6).foot(side).in_contact
    assert not waiting.at(step.lift_off + delay + 1e-6).foot(side).in_contact
    old, new = plan.steps[2:], waiting.steps[-len(plan.steps[2:]) :]
    for planned, later in zip(old, new, strict=True):
        assert later.touch_down == pytest.approx(planned.touch_down + delay, abs=1e-12)
        assert later.footstep.pose.is_close(planned.footstep.pose, 1e-12)
    assert_dcm_is_consistent(waiting, time, zeta)


@pytest.mark.parametrize("index", [2, -1])
@pytest.mark.parametrize("moves_before", [False, True])
def test_a_foot_that_lands_before_its_time_stands_from_now_on_and_the_next_two_steps_are_quick(
    planner, plan, index, moves_before
):
    step = plan.steps[index]
    time, side, base = step.lift_off + 0.3, step.footstep.side, plan
    if moves_before:
        base = planner.retarget(plan, Retarget((moved(step, 0.02, 0.0, 0.0, 0.05),)), time - 0.1)
    reference, zeta = base.at(time), planner.config.natural_frequency
    dcm = reference.dcm.position + np.array([0.02, 0.01])
    change = Retarget((Foothold(touch_down=time),), dcm, reference.com_position, following=2, is_quick=True)
    landed = planner.retarget(base, change, time)
    now = landed.at(time)
    assert now.is_double_support
    assert now.stance_foot is side
    np.testing.assert_allclose(now.foot(side).position[:2], reference.foot(side).position[:2], atol=1e-12)
    assert now.foot(side).position[2] == 0.0
    np.testing.assert_allclose(now.dcm.position, dcm, atol=1e-12)
    zmps = [each.dcm.position - each.dcm.velocity / zeta for each in (reference, now)]
    np.testing.assert_allclose(*zmps, atol=1e-12)
    assert_dcm_is_consistent(landed, time, planner.config.natural_frequency, restarted=True)
    first = landed.landings.after(time)
    stands = landed.landings[first - 1]
    assert (stands.touch_down, stands.footstep.side) == (time, side)
    later, old = landed.landings[first:], base.landings[base.landings.after(time) + 1 :]
    assert len(later) == max(2, len(old))
    early = base.landings[base.landings.after(time)].touch_down - time
    assert_two_quick_steps(planner.config, [stands, *later], old, early)
    assert landed.steps[-1].touch_down == later[-1].touch_down


@pytest.mark.parametrize(("index", "is_quick"), [(2, False), (2, True), (-2, False)])
@pytest.mark.parametrize(("ahead", "back"), [(0.0, 0.0), (0.05, 0.0), (0.0, -0.02), (0.0, -0.05)])
def test_after_a_foot_that_lands_early_the_other_one_waits_as_long_as_the_zmp_would_have_to_go_back(
    planner, plan, index, is_quick, ahead, back
):
    """``back`` is by how much the DCM is farther from the foot that lands, [m]."""
    step, early = plan.steps[index], 0.15
    time = step.touch_down - early
    dcm = np.add(plan.dcm_at(time)[0].position, (ahead, -outward(step, back)))
    com, landing = plan.at(time).com_position, Foothold(touch_down=time)
    landed = planner.retarget(plan, Retarget((landing,), dcm, com, following=2, is_quick=is_quick), time)
    found = landed.landings[landed.landings.after(time)]
    _, usual = planner.catching_offset(plan, plan.steps.index(step), is_quick)
    waits, backs = np.linspace(0.0, early, 7), []
    for lift_off in time + usual + waits:
        given = Foothold(lift_off=lift_off, touch_down=lift_off + found.touch_down - found.lift_off)
        other = planner.retarget(plan, Retarget((landing, given), dcm, com, following=1, is_quick=is_quick), time)
        backs.append(zmp_goes_back(other, time, planner.config))
    fitting = np.flatnonzero(np.array(backs) < planner.config.pendulum.zmp_tolerance)
    wait = waits[fitting[0] if len(fitting) else np.argmin(backs)]
    assert found.lift_off == pytest.approx(time + usual + wait, abs=1e-9)


def test_after_the_last_foot_has_landed_early_the_robot_stands(planner, plan):
    step = plan.steps[-1]
    time = step.touch_down - 0.15
    landed = planner.retarget(plan, Retarget((Foothold(touch_down=time),)), time)
    assert len(landed.landings) == len(plan.landings)
    end = landed.at(landed.end_time)
    assert end.is_double_support
    points = [end.foot(side).position[:2] for side in Side]
    assert np.linalg.norm(end.dcm.position - np.mean(points, axis=0)) < 0.05
    assert_dcm_is_consistent(landed, time, planner.config.natural_frequency, restarted=True)


def zmp_goes_back(plan, time, config):
    """Return how far the ZMP goes away from the foot that has landed, until the other one lifts off, [m]."""
    first = plan.landings.after(time)
    landed, following = plan.landings[first - 1].footstep, plan.landings[first]
    dcms = [plan.at(at).dcm for at in np.linspace(time, following.lift_off - 1e-9, 11)]
    zmps = np.array([dcm.position - dcm.velocity / config.natural_frequency for dcm in dcms])
    way = landed.pose.zmp_point(landed.side, config.zmp_offset) - zmps[0]
    return ((zmps[0] - zmps) @ way).max() / np.linalg.norm(way)


def assert_two_quick_steps(config, steps, old, longest_wait=0.0):
    """The two steps after the first one are as short as the planner plans any; ``old`` ones after them as before.

    Returns by how much longer the double support is before the first of them, [s].
    """
    wait = 0.0
    for before, step in pairwise(steps[: len(old[:2]) + 1]):
        middles = [each.footstep.unicycle for each in (before, step)]
        way = math.hypot(middles[1].x - middles[0].x, middles[1].y - middles[0].y)
        duration = max(config.min_step_duration, way / config.max_speed)
        swing = config.single_support(duration)
        later = step.lift_off - before.touch_down - (duration - swing)
        assert -1e-12 <= later <= 1e-12 + (longest_wait if before is steps[0] else 0.0)
        wait = max(wait, later)
        assert step.touch_down - step.lift_off == pytest.approx(swing, abs=1e-12)
    sooner = {round(planned.touch_down - step.touch_down, 9) for planned, step in zip(old[1:], steps[2:], strict=False)}
    assert len(sooner) == (1 if len(old) > 1 else 0)
    assert all(advance > 0.0 for advance in sooner)
    return wait


def test_the_two_steps_after_a_catch_come_as_soon_as_any_planned_step_and_the_others_follow(planner, plan):
    step = plan.steps[2]
    time, foothold = step.lift_off + 0.1, moved(step, 0.03, outward(step, 0.02), delay=-0.1)
    usual = planner.retarget(plan, Retarget((foothold,), following=2), time)
    catch = planner.retarget(plan, Retarget((foothold,), following=2, is_quick=True), time)
    for planned, later in zip(plan.steps[3:], usual.steps[3:], strict=True):
        assert planned.touch_down - later.touch_down == pytest.approx(0.1, abs=1e-12)
    assert len(catch.steps) == len(plan.steps)
    assert_two_quick_steps(planner.config, catch.steps[2:], plan.steps[3:])
    for planned, sooner in zip(usual.steps, catch.steps, strict=True):
        assert sooner.footstep.pose.is_close(planned.footstep.pose, 1e-12)
    assert_dcm_is_consistent(catch, time, planner.config.natural_frequency)
    again = planner.retarget(catch, Retarget((foothold,), following=2, is_quick=True), time + 0.01)
    assert again.landings.times == pytest.approx(catch.landings.times, abs=1e-12)


def test_quick_steps_are_no_faster_over_the_ground_than_the_robot_walks_and_none_is_lengthened():
    slow, fast = (config_of("icub_v3", max_speed=speed) for speed in (0.3, 0.6))
    plans = [
        WalkingPlanner(config).plan(VelocityCommand(0.28, duration=5.0), start_of(config)) for config in (slow, fast)
    ]
    for config, plan in zip((slow, fast), plans, strict=True):
        step = plan.steps[2]
        change = Retarget((moved(step, 0.02, outward(step, 0.01)),), following=2, is_quick=True)
        quick = WalkingPlanner(config).retarget(plan, change, step.lift_off + 0.1)
        assert_two_quick_steps(config, quick.steps[2:], plan.steps[3:])
        for old, new in zip(pairwise(plan.steps[2:5]), pairwise(quick.steps[2:5]), strict=True):
            assert new[1].touch_down - new[0].touch_down <= old[1].touch_down - old[0].touch_down + 1e-12
    way = 0.28 * plans[0].steps[3].footstep.duration
    assert way / 0.3 > fast.min_step_duration > way / 0.6


@pytest.mark.parametrize("is_quick", [False, True])
@pytest.mark.parametrize("index", [2, -2, -1])
def test_the_offset_of_a_catch_is_the_dcm_after_it_beside_the_landed_foot(planner, plan, index, is_quick):
    step, config = plan.steps[index], planner.config
    offset, double_support = planner.catching_offset(plan, plan.steps.index(step), is_quick)
    following = len(plan.steps) - 1 - plan.steps.index(step) or 2
    change = Retarget((moved(step, 0.02, outward(step, 0.01)),), following=following, is_quick=is_quick)
    catch = planner.retarget(plan, change, step.lift_off + 0.1)
    first = catch.landings.after(step.lift_off + 0.1)
    landing, following = catch.landings[first : first + 2]
    assert following.lift_off - landing.touch_down == pytest.approx(double_support, abs=1e-12)
    growth = np.exp(0.5 * config.natural_frequency * double_support)
    point = landing.footstep.pose.zmp_point(step.footstep.side, config.zmp_offset)
    np.testing.assert_allclose(catch.at(following.lift_off).dcm.position, point + growth * offset, atol=1e-9)


@pytest.mark.parametrize(
    ("now", "following", "message"),
    [
        ({"pose": FootPose(2.0, 0.0, 0.0)}, {}, "stands where its swing is"),
        ({}, {"pose": FootPose(3.0, 0.1, 0.0)}, "apart|distance|reach|far"),
        ({}, {"touch_down": 0.1}, "a single support of"),
    ],
)
def test_a_foot_that_lands_now_stands_where_it_is_and_the_next_footholds_are_checked(
    planner, plan, now, following, message
):
    step = plan.steps[2]
    time = step.lift_off + 0.3
    pose = plan.steps[3].footstep.pose
    footholds = Foothold(touch_down=time, **now), Foothold(**({"pose": pose} | following))
    with pytest.raises(PlanningError, match=message):
        planner.retarget(plan, Retarget(footholds), time)


@pytest.mark.parametrize(("fraction", "delay"), [(-0.3, -1.0), (0.3, 0.1)])
def test_a_lift_off_in_the_past_and_one_of_a_foot_in_the_air_are_refused(planner, plan, fraction, delay):
    step = plan.steps[2]
    time = step.lift_off + fraction * (step.lift_off - plan.steps[1].touch_down)
    change = Retarget((Foothold(None, step.touch_down + 0.1, step.lift_off + delay),))
    with pytest.raises(PlanningError, match="lifts off at"):
        planner.retarget(plan, change, time)


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
    plan = planner.plan(WALK, start_of(config))
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
    ],
)
def test_footholds_that_no_step_can_reach_are_refused_by_name(planner, plan, change, fraction, message):
    step = plan.steps[3]
    time = step.lift_off + fraction * (step.touch_down - step.lift_off)
    change = change | {"y": outward(step, change.get("y", 0.0))}
    with pytest.raises(PlanningError, match=message):
        planner.retarget(plan, Retarget((moved(step, **change),)), time)


@pytest.mark.parametrize("delay", [-0.05, 0.0, 0.2])
def test_the_com_continues_its_arc_and_ends_it_as_the_moved_foot_lands(planner, plan, delay):
    step, height = plan.steps[3], planner.config.com_height
    time = step.lift_off + 0.4 * (step.touch_down - step.lift_off)
    changed = planner.retarget(plan, Retarget((moved(step, delay=delay),)), time)
    heights = [
        changed.at(time + 1e-3 * k).com_position[2] - height for k in range(round(1e3 * (step.touch_down - time)))
    ]
    assert 1e-3 < heights[0] == pytest.approx(plan.at(time).com_position[2] - height, abs=1e-12)
    np.testing.assert_allclose(changed.at(time).com_velocity, plan.at(time).com_velocity, atol=1e-9)
    assert -1e-6 < min(heights) < max(heights) < 1.6 * heights[0]
    landing = changed.at(step.touch_down + delay - 1e-6)
    np.testing.assert_allclose([landing.com_position[2], landing.com_velocity[2]], [height, 0.0], atol=1e-6)


def test_a_plan_without_steps_and_one_of_varying_height_are_refused(planner, plan):
    with pytest.raises(PlanningError, match="no step is left"):
        planner.retarget(plan, Retarget((Foothold(),)), plan.end_time)
    config = config_of(pendulum={"com_height_amplitude": 0.01})
    varying = WalkingPlanner(config)
    with pytest.raises(PlanningError, match="constant CoM height"):
        varying.retarget(varying.plan(WALK, start_of(config)), Retarget((Foothold(),)), 1.5)


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


def capture_of(planner, side=Side.LEFT, x=0.15, y=0.05, time=1.0, duration=0.5, **changes):
    """A capture step with one foot from standing at the origin, x ahead and y outward of where the foot stands."""
    foot = start_of(planner.config).foot(side)
    pose = replace(foot, x=foot.x + x, y=foot.y + side.sign * y)
    return CaptureStep(side, pose, time + 0.06, time + 0.06 + duration, **changes)


@pytest.mark.parametrize("changes", [{}, {"leg_momentum": LEGS}])
@pytest.mark.parametrize("side", list(Side))
def test_a_capture_step_begins_at_once_lands_as_asked_and_ends_with_the_feet_side_by_side(changes, side):
    config = config_of(**changes)
    planner = WalkingPlanner(config)
    standing = planner.standing(start_of(config))
    dcm = standing.at(1.0).dcm.position + np.array((0.08, side.sign * 0.02))
    capture = capture_of(planner, side, dcm_position=dcm)
    plan = planner.capture_step(standing, capture, 1.0)
    np.testing.assert_allclose(plan.at(1.0).dcm.position, dcm, atol=1e-12)
    np.testing.assert_array_equal(state_vector(plan.at(0.9)), state_vector(standing.at(0.9)))
    assert plan.at(capture.lift_off - 1e-6).is_double_support
    assert plan.at(capture.lift_off - 1e-6).is_walking
    assert not plan.at(capture.lift_off + 1e-6).foot(side).in_contact
    landed = plan.at(capture.touch_down).foot(side)
    np.testing.assert_allclose(landed.position, capture.pose.placement()[0], atol=1e-12)
    heights = [plan.at(t).foot(side).position[2] for t in np.linspace(capture.lift_off, capture.touch_down, 60)]
    assert 0.025 < max(heights) <= config.adapted_swing_height
    assert min(heights) >= 0.0
    assert len(plan.steps) == 3
    end = plan.at(plan.end_time)
    away = capture.pose.beside(side.other, config.step_width)
    np.testing.assert_allclose(end.foot(side).position[:2], (capture.pose.x, capture.pose.y), atol=1e-12)
    np.testing.assert_allclose(end.foot(side.other).position[:2], (away.x, away.y), atol=1e-12)
    assert not plan.at(plan.end_time + 1e-6).is_walking
    if not changes:
        assert_dcm_is_consistent(plan, 1.0, config.natural_frequency, restarted=True)
        zmps = [plan.at(t).dcm.zmp_position for t in np.linspace(1.0 + 1e-6, capture.touch_down - 1e-6, 9)]
        np.testing.assert_allclose(zmps, np.tile(zmps[0], (9, 1)), atol=1e-9)
        np.testing.assert_allclose(plan.at(capture.touch_down + 1e-9).dcm.zmp_position, zmps[0], atol=1e-6)


def test_until_lift_off_a_capture_step_shifts_the_zmp_where_it_is_asked(planner):
    standing, shift = planner.standing(start_of(planner.config)), np.array((0.01, -0.04))
    capture = capture_of(planner, shift_zmp=shift)
    plan = planner.capture_step(standing, capture, 1.0)
    for time in np.linspace(1.0 + 1e-6, capture.lift_off - 1e-6, 5).tolist():
        np.testing.assert_allclose(plan.at(time).dcm.zmp_position, shift, atol=1e-9)
    growth = np.exp(planner.config.natural_frequency * (capture.lift_off - 1.0))
    lifted = shift + growth * (standing.at(1.0).dcm.position - shift)
    np.testing.assert_allclose(plan.at(capture.lift_off).dcm.position, lifted, atol=1e-12)


def test_the_offset_of_a_capture_step_is_the_dcm_after_it_beside_the_landed_foot(planner):
    config, capture = planner.config, capture_of(planner)
    offset = planner.capture_offset(capture)
    plan = planner.capture_step(planner.standing(start_of(config)), capture, 1.0)
    landed = capture.pose.zmp_point(capture.side, config.zmp_offset)
    following = plan.steps[1].lift_off
    middle = 0.5 * (capture.touch_down + following)
    growth = np.exp(config.natural_frequency * (following - middle))
    np.testing.assert_allclose(plan.at(following).dcm.position, landed + growth * offset, atol=1e-9)


def test_a_capture_step_may_be_retargeted_as_any_other_and_then_two_more_follow(planner):
    standing = planner.standing(start_of(planner.config))
    capture = capture_of(planner, following=0)
    plan = planner.capture_step(standing, capture, 1.0)
    assert len(plan.steps) == 1
    step = plan.steps[0]
    change = Retarget((moved(step, 0.03, 0.02, delay=-0.05),), following=2)
    new = planner.retarget(plan, change, capture.lift_off + 0.1)
    assert [s.footstep.side for s in new.steps] == [Side.LEFT, Side.RIGHT, Side.LEFT]
    again = planner.retarget(new, change, capture.lift_off + 0.12)
    assert len(again.steps) == 3
    assert_dcm_is_consistent(again, capture.lift_off + 0.12, planner.config.natural_frequency)
    end = again.at(again.end_time)
    width = end.left_foot.position - end.right_foot.position
    np.testing.assert_allclose(width, (0.0, planner.config.step_width, 0.0), atol=1e-9)


def test_impossible_capture_steps_are_refused_by_name(planner, plan):
    standing = planner.standing(start_of(planner.config))
    with pytest.raises(PlanningError, match="steps are under way"):
        planner.capture_step(plan, capture_of(planner), 1.0)
    with pytest.raises(PlanningError, match="max_feet_distance"):
        planner.capture_step(standing, capture_of(planner, x=0.6), 1.0)
    with pytest.raises(PlanningError, match=r"single support of 0\.100 s, at least 0\.2 s"):
        planner.capture_step(standing, capture_of(planner, duration=0.1), 1.0)
    with pytest.raises(PlanningError, match="in this order"):
        planner.capture_step(standing, capture_of(planner, time=0.5), 1.0)


@pytest.mark.parametrize("index", [-1, -2])
def test_a_step_that_is_moved_for_a_catch_is_never_the_last_one(planner, plan, index):
    step = plan.steps[index]
    time = step.lift_off + 0.1
    change = Retarget((moved(step, 0.05, outward(step, 0.03)),), following=2)
    new = planner.retarget(plan, change, time)
    assert len(new.steps) == len(plan.steps) + index + 3
    assert_dcm_is_consistent(new, time, planner.config.natural_frequency)
    end = new.at(new.end_time)
    between = end.left_foot.position - end.right_foot.position
    assert np.linalg.norm(between) == pytest.approx(planner.config.step_width, abs=1e-6)
