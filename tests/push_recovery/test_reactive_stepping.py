"""Reactive stepping in closed loop: pushes that fell a robot whose footholds stay as planned."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import TIME_ROUNDING, so3
from gradiva.planner import CATCHING_STEPS, VelocityCommand, WalkingPlanner
from gradiva.push_recovery import AdaptedSteps, SteppingMode
from gradiva.push_recovery.adapted_steps import (
    MINIMUM_DELAY,
    RELEASE_TIME,
    STANCE_LOAD,
    TRIGGER_TIME,
)
from gradiva.setup import load_setup
from gradiva.simulation import Push
from gradiva.walking import WalkingState, walking_signals
from gradiva_experiments.continued_walks import phase_times
from tests.conftest import long


def pushed(ready, robot, mode, force, phase="middle", *overrides):
    """Push a robot at 0.15 m/s for 0.1 s; return the walk and the logs of stepping, 4 s later."""
    walk = ready(robot, f"step_adaptation.mode={mode}", *overrides)
    walk.controller.walk(VelocityCommand(0.15, duration=10.0))
    time = phase_times(walk.controller.plan)[phase]
    walk.robot.push(Push(walk.setup.robot.torso_frame, (*force, 0.0), time, 0.1))
    logs = []
    while walk.time < time + 4.0 and not walk.is_down:
        logs.append(walk.tick())
    return walk, logs


@pytest.mark.walk
def test_a_push_to_the_swinging_foot_that_fells_the_planned_walk_is_caught_by_a_step(ready):
    walk, _ = pushed(ready, "icub_v2_7", "off", (0.0, -130.0))
    assert walk.is_down
    walk, logs = pushed(ready, "icub_v2_7", "place_and_time", (0.0, -130.0))
    assert not walk.is_down
    changed = [log.stepping for log in logs if log.stepping.adapted != log.stepping.nominal]
    assert max(math.hypot(log.adapted.x - log.nominal.x, log.adapted.y - log.nominal.y) for log in changed) > 0.05
    assert min(log.delay for log in changed) < -0.05
    assert all(log.stepping.mode is SteppingMode.PLACE_AND_TIME for log in logs)
    signals = walking_signals(logs[-1], walk.measurement)
    assert signals["step_adaptation::is_active"] == 0.0
    assert len(signals["step_adaptation::adapted_foothold"]) == 3


def test_the_mode_is_switched_while_the_robot_stands(ready):
    walk = ready("icub_v2_7", "step_adaptation.mode=place")
    log = walk.tick().stepping
    assert (log.mode, log.is_active, log.side, log.changes) == (SteppingMode.PLACE, False, None, 0)
    walk.controller.step_adaptation = SteppingMode.OFF
    assert walk.tick().stepping.mode is SteppingMode.OFF
    walk.controller.step_adaptation = SteppingMode.PLACE_AND_TIME
    assert walk.tick().stepping.mode is SteppingMode.PLACE_AND_TIME


def test_footholds_are_logged_from_when_it_is_switched_on(ready):
    walk = ready("icub_v2_7", "step_adaptation.mode=off")
    walk.controller.walk(VelocityCommand(0.1, duration=4.0))
    assert walk.run_until(lambda: walk.log.stepping.mode is SteppingMode.OFF and walk.time > 1.5, 3.0)
    signals = walking_signals(walk.log, walk.measurement)
    assert np.isnan(signals["step_adaptation::nominal_foothold"]).all()
    walk.controller.step_adaptation = SteppingMode.PLACE
    assert walk.run_until(lambda: walk.log.stepping.nominal is not None, 1.5)
    step = next(step for step in walk.controller.plan.steps if step.touch_down > walk.time)
    pose = step.footstep.pose
    signals = walking_signals(walk.log, walk.measurement)
    np.testing.assert_allclose(signals["step_adaptation::nominal_foothold"], (pose.x, pose.y, pose.yaw), atol=1e-9)
    walk.run(0.1)
    recorded = walk.recorder.log["step_adaptation::nominal_foothold"]
    assert np.isnan(recorded[0]).all()
    assert np.isfinite(recorded).all(axis=1).any()


@pytest.mark.walk
def test_an_undisturbed_walk_with_noise_keeps_its_footholds(ready):
    walk = ready("icub_v2_7", "step_adaptation.mode=place_and_time", plant="noisy")
    walk.controller.walk(VelocityCommand(0.3, duration=5.0))
    assert walk.run_until(lambda: walk.controller.state is not WalkingState.WALKING, 10.0)
    assert walk.log.stepping.changes == 0


@pytest.mark.long
@pytest.mark.walk
def test_torque_control_catches_what_fells_it_otherwise(ready):
    survived = {}
    for mode in ("off", "place_and_time"):
        walk, _ = pushed(ready, "icub_v2_7", mode, (0.0, -100.0), "middle", "walking.control=torque")
        survived[mode] = not walk.is_down
    assert survived == {"off": False, "place_and_time": True}


@pytest.mark.walk
@pytest.mark.parametrize(("mode", "least", "most"), [long("off", 20.0, 90.0), ("place_and_time", 0.0, 15.0)])
def test_by_torque_the_trunk_stays_upright_while_a_step_catches_a_push(ready, mode, least, most):
    walk = ready("talos", f"step_adaptation.mode={mode}", "walking.control=torque")
    walk.controller.walk(VelocityCommand(0.15, duration=10.0))
    time = phase_times(walk.controller.plan)["early"] - 1.8  # [s] one stride earlier
    walk.robot.push(Push(walk.setup.robot.torso_frame, (264.0, 0.0, 0.0), time, 0.1))
    assert walk.run_until(lambda: walk.time > time + 0.38, 10.0)
    upright = walk.layers.start_posture.base_rotation
    tilt = np.degrees(np.linalg.norm(so3.log(walk.robot.truth().base_rotation @ upright.T)))
    assert least < tilt < most


@pytest.mark.walk
def test_a_sole_that_lands_before_its_step_can_move_reaches_down_to_the_ground(ready):
    heights = {}
    for mode in ("off", "place_and_time"):
        walk = ready("icub_v2_7", f"step_adaptation.mode={mode}")
        walk.controller.walk(VelocityCommand(0.15, duration=10.0))
        touch_down = phase_times(walk.controller.plan)["touch_down"]
        walk.robot.push(Push(walk.setup.robot.torso_frame, (-200.0, 0.0, 0.0), touch_down - 0.11, 0.1))
        assert walk.run_until(lambda walk=walk, end=touch_down: walk.time > end - 1e-9, 20.0)
        assert walk.log.stepping.changes == 0
        heights[mode] = walk.robot.truth().right_foot_position[2]
    assert heights["off"] > 0.007, "the robot tips on its heel"
    assert heights["place_and_time"] < 0.8 * heights["off"]


SETUP = load_setup("icub_v2_7")
CONFIG, WEIGHT = SETUP.walking.step_adaptation, 9.80665 * SETUP.robot.mass

# -- what triggers a change, and what a swing can still follow ---------------------------------------------------------


SPEED, AHEAD = 0.3, np.array([1.0, 0.0])


class SingleSupport:
    """Reactive stepping in a part of a single support, in which the DCM and the swinging sole are moved."""

    def __init__(self, part, speed=SPEED, index=4, **settings):
        planner = WalkingPlanner(SETUP.walking.planner)
        config = replace(CONFIG, mode=SteppingMode.PLACE_AND_TIME, **settings)
        self.stepping = AdaptedSteps(config, planner, SETUP.robot)
        self.plan = planner.plan(VelocityCommand(speed, duration=5.0), planner.at_origin(0.0))
        step = self.plan.steps[index]
        self.reference = self.plan.at(step.lift_off + part * (step.touch_down - step.lift_off))
        self.planned, self.side, self.weights = step, step.footstep.side, 1.0

    def retarget(self, error, sole_height=0.02, load=1.0, zmp_is_measured=True):
        """Decide with an error of the DCM, a height of the swinging sole [m], and a part of the load on the other."""
        reference = self.reference
        sole = np.array([*reference.foot(self.side).position[:2], sole_height])
        state = SimpleNamespace(
            dcm_position=reference.dcm.position + error,
            com_position=reference.com_position,
            zmp_position=reference.dcm.position - reference.dcm.velocity / SETUP.walking.planner.natural_frequency,
            zmp_is_measured=zmp_is_measured,
            foot_position=lambda _: sole,
            foot_rotation=lambda _: np.eye(3),
            part_of_load=lambda side: 1.0 - load if side is self.side else load,
            foot_wrench=lambda side: np.eye(6)[2] * self.weights * WEIGHT * (1.0 - load if side is self.side else load),
        )
        change = self.stepping.update(state, reference, self.plan)
        self.falls_away = change is not None and change.falls_away
        return change and change.retarget


@pytest.mark.parametrize(
    ("mode", "error", "is_quick"),
    [("place_and_time", -0.09, False), ("place_and_time", -0.3, True), ("place", -0.3, False)],
)
def test_steps_come_at_once_only_where_no_landing_catches_the_push_and_their_times_may_change(mode, error, is_quick):
    step = SingleSupport(0.6, speed=0.1, index=2)
    step.stepping.mode = SteppingMode(mode)
    change = step.retarget(np.array([error, 0.0]))
    assert change.is_quick is is_quick
    new = WalkingPlanner(SETUP.walking.planner).retarget(step.plan, change, step.reference.time)
    running, following = new.landings[2:4]
    planned = step.plan.steps[3].touch_down - step.plan.steps[2].touch_down
    assert (following.touch_down - running.touch_down < planned - 0.05) == is_quick


def test_on_a_foot_without_a_sensor_twice_the_error_of_the_dcm_moves_a_step():
    ahead = np.array([1.9 * CONFIG.trigger, 0.0])
    step = SingleSupport(0.4, speed=0.02)
    assert step.retarget(ahead, zmp_is_measured=False) is None
    assert not step.stepping.log.is_active
    assert step.retarget(1.2 * ahead, zmp_is_measured=False) is not None
    assert SingleSupport(0.4, speed=0.02).retarget(ahead) is not None


def test_a_step_stays_as_planned_while_the_foot_that_should_swing_carries_the_robot():
    back = np.array([-0.09, 0.0])
    step = SingleSupport(0.1)
    assert step.retarget(back, load=0.99 * STANCE_LOAD) is None
    assert step.stepping.log.is_active
    assert step.retarget(back, load=STANCE_LOAD) is not None


@pytest.mark.parametrize(
    ("part", "index", "weights", "ticks", "lands"),
    [
        (0.6, 4, 0.31, 2, True),
        (0.6, 4, 0.31, 1, False),  # an impact
        (0.6, 4, 0.29, 2, False),  # both feet in the air
        (0.45, 4, 0.31, 2, False),  # a foot that touches as it lifts off
        (0.97, 4, 0.31, 2, False),
        (0.6, -1, 0.31, 2, False),  # the last step
    ],
)
def test_a_pushed_foot_that_rests_on_the_ground_before_its_time_has_landed(part, index, weights, ticks, lands):
    step, error = SingleSupport(part, index=index), np.array([0.05, 0.02])
    step.weights = weights / (1.0 - 0.99 * STANCE_LOAD)
    for _ in range(3):
        assert step.retarget(0.0 * error, load=0.99 * STANCE_LOAD) is None, "nothing pushes"
    step.retarget(error, load=1.0)
    assert step.stepping.log.is_active
    changes = [step.retarget(error, load=0.99 * STANCE_LOAD) for _ in range(ticks)]
    assert changes[:-1] == [None] * (ticks - 1)
    assert (changes[-1] is not None) == lands
    if lands:
        (foothold,) = changes[-1].footholds
        assert (foothold.pose, foothold.touch_down) == (None, step.reference.time)
        np.testing.assert_allclose(changes[-1].dcm_position, step.reference.dcm.position + error)
        assert changes[-1].following == len(step.plan.steps) - 1 - index
        assert step.stepping.log.delay == pytest.approx(step.reference.time - step.planned.touch_down)


@pytest.mark.walk
def test_a_foot_that_a_push_brings_down_early_begins_the_double_support_and_carries(ready):
    walk = ready("icub_v2_7")
    walk.controller.walk(VelocityCommand(0.15, duration=10.0))
    time = phase_times(walk.controller.plan)["early"]
    walk.robot.push(Push(walk.setup.robot.torso_frame, (80.0, -80.0, 0.0), time, 0.1))
    assert walk.run_until(lambda: walk.time > time - 1e-9, 20.0)
    plan = walk.controller.plan
    step, plans = plan.landings[plan.landings.after(time)], []
    while not walk.log.reference.is_double_support:
        plans.append(walk.controller.plan)
        log = walk.tick()
    side = log.reference.stance_foot
    assert side is step.footstep.side
    assert log.robot_state.part_of_load(side) > STANCE_LOAD
    planned = plans[-1].landings[plans[-1].landings.after(walk.time - 0.02)]
    assert planned.touch_down - walk.time > MINIMUM_DELAY, "as the plan had it, in the air yet"
    assert step.touch_down - walk.time > 0.2
    assert walk.run(3.0)
    assert walk.controller.state is WalkingState.WALKING


def test_no_step_catches_a_push_that_goes_mainly_over_the_foot_that_stands_alone():
    step = SingleSupport(0.1)
    outward = -step.side.sign * np.array([0.0, 0.05])
    for back, catches in ((0.05, True), (0.041, True), (0.039, False)):
        step.stepping.reset()
        step.retarget(0.8 * outward - back * AHEAD)
        assert step.stepping.catches == catches


def test_the_errors_that_trigger_and_release_grow_with_the_speed_of_the_walk():
    step = SingleSupport(0.5, trigger=0.01)
    swinging, standing = step.reference, step.plan.at(step.plan.steps[4].touch_down + 0.05)
    for margin in (-0.01, 0.01):
        step.stepping.reset()
        step.retarget((1.0 + margin) * TRIGGER_TIME * SPEED * AHEAD)
        assert step.stepping.log.is_active == (margin > 0.0)
        step.retarget(0.2 * AHEAD)
        step.reference = standing
        step.retarget((1.0 + margin) * RELEASE_TIME * SPEED * AHEAD)
        assert step.stepping.log.is_active == (margin > 0.0)
        step.reference = swinging


@pytest.mark.parametrize(("error", "is_active"), [(0.9, False), (1.1, True)], ids=["calm", "triggers again"])
def test_a_robot_that_always_tracks_badly_is_released_after_a_step_that_nothing_triggered(error, is_active):
    walk = SingleSupport(0.9, trigger=0.05)
    least = max(0.05, TRIGGER_TIME * SPEED)
    assert 0.9 * least > RELEASE_TIME * SPEED
    for step, swinging, expected in zip(walk.plan.steps[4:6], (1.1, error), (True, is_active), strict=True):
        for time, part in ((step.touch_down - 0.05, swinging), (step.touch_down + 0.05, 0.9)):
            walk.reference = walk.plan.at(time)
            for _ in range(2):  # in the first tick the DCM jumps
                walk.retarget(part * least * AHEAD, sole_height=0.0, load=0.0)  # too late for a change
        assert walk.stepping.log.is_active == expected


@pytest.mark.parametrize(("late", "is_active"), [(CONFIG.lateness, False), (3.0 * CONFIG.lateness, True)])
def test_a_walk_that_is_late_is_not_pushed(late, is_active):
    step, errors, active = SingleSupport(0.0), [], []
    first = step.plan.steps[4].lift_off - CONFIG.lateness
    for time in np.arange(first, step.plan.steps[4].touch_down, 0.01):
        step.reference = step.plan.at(time)
        errors.append(step.plan.dcm_at(time - late)[0].position - step.reference.dcm.position)
        step.retarget(errors[-1])
        active.append(step.stepping.log.is_active)
    assert np.linalg.norm(errors, axis=1).max() > CONFIG.trigger
    assert any(active) is is_active


@pytest.mark.parametrize("index", [4, 5])
@pytest.mark.parametrize(
    ("part", "towards", "size", "falls_away"),
    [
        (0.75, -1.0, 0.05, True),
        (0.75, -1.0, 0.9 * CONFIG.trigger, False),
        (0.75, 1.0, 0.05, False),
        (0.1, -1.0, 0.05, False),
    ],
    ids=["away", "too small", "towards it", "it goes up"],
)
def test_a_robot_falls_away_from_a_sole_that_comes_down_in_the_tick_in_which_the_push_begins(
    index, part, towards, size, falls_away
):
    step = SingleSupport(part, 0.1, index)
    way = (step.reference.foot(step.side).position - step.reference.foot(step.side.other).position)[:2]
    error = towards * size * way / np.linalg.norm(way)
    step.retarget(error)
    assert step.falls_away is falls_away
    assert step.stepping.log.is_active is (size > CONFIG.trigger)
    step.retarget(error)
    assert not step.falls_away, "it began a tick earlier"


def test_a_foot_that_comes_down_lands_later_only_where_the_robot_does_not_tilt_onto_it():
    def delay(part, error):
        step = SingleSupport(part, 0.1)
        change = step.retarget(0.09 * error)
        return 0.0 if change is None else change.footholds[0].touch_down - step.plan.steps[4].touch_down

    step, late = SingleSupport(0.7, 0.1), 0.7
    way = (step.reference.foot(step.side).position - step.reference.foot(step.side.other).position)[:2]
    way = way / np.linalg.norm(way)
    back = -step.side.sign * np.array([way[1], -way[0]])
    assert back @ AHEAD < 0.0
    assert delay(late, back) > MINIMUM_DELAY
    for degrees, is_later in ((25.0, True), (35.0, False)):  # from back to the swinging foot
        angle = math.radians(degrees)
        assert (delay(late, math.cos(angle) * back + math.sin(angle) * way) > MINIMUM_DELAY) == is_later


@pytest.mark.parametrize("index", [3, 4])
@pytest.mark.parametrize("part", [0.1, 0.3])
def test_a_step_that_is_pushed_back_lands_at_the_end_of_the_shortest_single_support(part, index):
    step = SingleSupport(part, 0.1, index)
    foothold = step.retarget(-0.12 * AHEAD).footholds[0]
    planned = step.plan.steps[index]
    shortest = SETUP.walking.planner.single_support(SETUP.walking.planner.min_step_duration)
    assert planned.touch_down - planned.lift_off > shortest + 0.1
    assert foothold.touch_down - planned.lift_off == pytest.approx(shortest, abs=2e-9)
    assert foothold.pose.x < planned.footstep.pose.x - 0.1


@pytest.mark.parametrize(
    ("error", "left", "following"),
    [
        ((0.06, 0.0), 0, None),
        ((-0.05, 0.0), 0, None),
        ((0.0, -0.035), 0, None),
        ((0.12, 0.0), 0, CATCHING_STEPS),
        ((0.0, 0.06), 0, CATCHING_STEPS),
        ((0.0, 0.06), 1, CATCHING_STEPS),
        ((0.06, 0.0), 1, 1),
        ((0.06, 0.0), 3, 3),
    ],
)
def test_the_last_step_stays_where_the_robot_can_stand_after_it_and_is_else_never_the_last(error, left, following):
    step, planner = SingleSupport(0.6, 0.05, -1 - left), WalkingPlanner(SETUP.walking.planner)
    change = step.retarget(np.array(error) * [1.0, step.side.sign])
    assert (change and change.following) == following
    if change is not None:
        plan = planner.retarget(step.plan, change, step.reference.time)
        assert len(plan.landings) == len(step.plan.landings) + following - left


def test_a_change_of_the_last_step_that_the_planner_refuses_is_asked_for_again_after_a_while():
    step, planner, error = SingleSupport(0.3, 0.05, -1), WalkingPlanner(SETUP.walking.planner), 0.08 * AHEAD
    asked = step.retarget(error)
    assert asked is not None
    assert step.stepping.catches
    assert step.retarget(error) is None, "the plan is the same, so it was refused"
    assert step.stepping.log.changes == 1
    step.reference = step.plan.at(step.reference.time + 0.06)
    assert step.retarget(error) is not None
    step.stepping.reset()
    step.plan = planner.retarget(step.plan, step.retarget(error), step.reference.time)
    step.reference = step.plan.at(step.reference.time)
    assert step.retarget(0.055 * AHEAD) is not None, "one that was taken may be followed by others"


@pytest.mark.walk
@pytest.mark.parametrize(("force", "appended"), [(50.0, CATCHING_STEPS), (-50.0, 0)], ids=["outward", "inward"])
def test_a_last_step_with_an_error_to_either_side_ends_standing(ready, force, appended):
    walk = ready("icub_v2_7")
    walk.controller.walk(VelocityCommand(0.1, duration=2.0))
    steps = walk.controller.plan.steps
    last, swing = steps[-1], steps[-1].touch_down - steps[-1].lift_off
    outward = (0.0, last.footstep.side.sign * force, 0.0)  # [N] from the stance foot to the swinging one
    walk.robot.push(Push(walk.setup.robot.torso_frame, outward, last.lift_off + 0.25 * swing, 0.1))
    assert walk.run_until(lambda: walk.controller.state is not WalkingState.WALKING, 10.0)
    walk.run(0.5)
    assert not walk.is_down
    assert len(walk.controller.plan.landings) == len(steps) + appended
    assert (walk.controller.adaptations > 0) == (appended > 0)


def test_a_tick_at_the_time_of_an_adapted_landing_finds_the_foot_on_the_ground_whatever_its_last_digit():
    step, adapted = SingleSupport(0.61), []
    adapter = step.stepping.adapter
    chosen = adapter.adapt
    adapter.adapt = lambda running: adapted.append(chosen(running)) or adapted[-1]
    change = step.retarget(np.array([-0.1, 0.0]))
    now, instant = step.reference.time, change.footholds[0].touch_down + TIME_ROUNDING
    assert instant == pytest.approx(now + adapted[-1].time_left, abs=1e-12)
    assert instant > step.plan.steps[4].touch_down + MINIMUM_DELAY
    plan = WalkingPlanner(SETUP.walking.planner).retarget(step.plan, change, now)
    for time in (np.nextafter(instant, 0.0), instant, np.nextafter(instant, np.inf)):
        assert plan.at(float(time)).foot(step.side).in_contact
    assert not plan.at(instant - 0.01).foot(step.side).in_contact


def test_a_walk_leaves_no_running_step_in_the_log_and_a_robot_that_is_prepared_again_begins_anew(ready):
    walk = ready("icub_v2_7", "step_adaptation.mode=place_and_time")
    push = Push(walk.setup.robot.torso_frame, (0.0, 60.0, 0.0), walk.time + 2.2, 0.1)
    walk.robot.push(push)
    assert walk.follow(VelocityCommand(0.1, duration=2.0), settle=0.5)
    assert walk.log.stepping.changes == walk.controller.adaptations > 0
    assert (walk.log.stepping.side, walk.log.stepping.nominal, walk.log.stepping.is_active) == (None, None, False)
    walk.controller.stop()
    assert walk.run_until(lambda: walk.controller.state is WalkingState.STOPPED, 3.0)
    walk.controller.prepare()
    assert walk.run_until(lambda: walk.controller.state is WalkingState.PREPARED, 10.0)
    assert walk.controller.adaptations == 0


@pytest.mark.walk
def test_a_push_over_the_old_stance_foot_at_touch_down_is_survived(ready):
    for mode, is_survived in (("off", False), ("place_and_time", True)):
        walk, _ = pushed(ready, "icub_v2_7", mode, (0.0, 176.0), "touch_down")
        assert walk.is_down != is_survived
