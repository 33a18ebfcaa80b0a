import dataclasses
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import GRAVITY, EstimationError, Side, so3
from gradiva.push_recovery import SteppingMode
from gradiva.robot_model import ServoLaw
from gradiva.setup import load_robot, load_setup
from gradiva.simulated_walk import fall_diagnosis
from gradiva.simulated_walk.fall_causes import (
    _foot_pushed_over,
    _limit_of_steps,
    cause_not_found,
    find_cause,
    greatest_speed,
    moves,
)
from gradiva.simulated_walk.fall_evidence import CauseKind, FallEvidence
from gradiva.simulated_walk.measured_walk import MeasuredWalk
from gradiva.telemetry import SignalLog
from gradiva.walking import Finding, Response, SafetyEvent, SafetyKind

ROBOT = load_robot("icub_v2_7")
START, STEP_TIME, ONSET = 2.0, 0.8, 5.5  # [s]
TIMES = np.arange(0.0, 6.0, 0.01)
WALKING = TIMES >= START
SWAY = 0.4  # [m/s²] of the CoM, to left and right
SPEED = 0.2  # [m/s]


def healthy_walk() -> MeasuredWalk:
    """Return a robot that stands for 2 s and then sways over one foot after the other; force is mass times motion."""
    phase = np.pi / STEP_TIME * (TIMES - START)
    begins = WALKING & (TIMES < START + 1.0)
    acceleration = np.column_stack([SPEED * begins, SWAY * np.sin(phase) * WALKING, 0.0 * TIMES])
    velocity = np.cumsum(acceleration, axis=0) * 0.01
    force = ROBOT.mass * (acceleration + np.array([0.0, 0.0, GRAVITY]))
    is_left = ((TIMES - START) % (2.0 * STEP_TIME) < STEP_TIME) & WALKING
    carries = {Side.LEFT: is_left, Side.RIGHT: WALKING & ~is_left}
    shares = {side: np.where(WALKING, carries[side], 0.5)[:, None] for side in Side}
    return MeasuredWalk(
        ROBOT,
        times=TIMES,
        com_position=np.cumsum(velocity, axis=0) * 0.01,
        com_velocity=velocity,
        zmp_position=np.cumsum(velocity, axis=0)[:, :2] * 0.01,
        carries=carries,
        foot_rotations={side: np.broadcast_to(np.eye(3), (len(TIMES), 3, 3)) for side in Side},
        foot_wrenches={side: np.hstack([shares[side] * force, np.zeros_like(force)]) for side in Side},
    )


def changed(walk, **of_feet):
    """Return the walk with functions applied to what is measured of feet, given as name=function(side, array)."""
    return dataclasses.replace(
        walk,
        **{
            name: {side: change(side, getattr(walk, name)[side].copy()) for side in Side}
            for name, change in of_feet.items()
        },
    )


def tilted(walk, vector, sides=tuple(Side), rows=slice(None)):
    """Return the walk with soles tilted by a rotation vector, [rad]."""

    def tilt(side, rotations):
        if side in sides:
            rotations[rows] = so3.exp(np.array(vector)) @ rotations[rows]
        return rotations

    return changed(walk, foot_rotations=tilt)


def cause_of(walk, log=None, events=(), **more):
    return find_cause(
        FallEvidence(walk, log or SignalLog(), ONSET, np.full(len(ROBOT.joints), 5.0), 0.55, events, **more)
    )


class SeenStanding:
    """Plans standing, and estimates as the state estimator does: what is not finite is refused."""

    at_origin = standing = at = lambda self, _: self

    def reset(self):
        pass

    def update(self, measurement, reference):
        if not np.isfinite(measurement.joint_positions).all():
            raise EstimationError("joint_positions is not finite")
        return SimpleNamespace(
            com_position=np.zeros(3),
            com_velocity=np.zeros(3),
            zmp_position=np.zeros(2),
            foot_rotation=lambda side: np.eye(3),
            foot_wrench=lambda side: np.array([0.0, 0.0, 162.0, 0.0, 0.0, 0.0]),
        )


def test_readings_that_cannot_be_estimated_from_are_left_out_of_standing():
    def standing(readings):
        measurements = [
            SimpleNamespace(time=0.1 * row, joint_positions=np.array([reading])) for row, reading in enumerate(readings)
        ]
        return MeasuredWalk.of_standing(measurements, SeenStanding(), SeenStanding(), ROBOT)

    walk = standing([np.nan, 0.0, np.nan, 0.0])
    np.testing.assert_allclose(walk.times, [0.1, 0.3])
    np.testing.assert_allclose(walk.force[:, 2], 324.0)
    assert standing([np.nan, np.nan]) is None
    assert standing([]) is None


def test_a_healthy_walk_has_no_cause():
    assert cause_of(healthy_walk()) is None


@pytest.mark.parametrize(
    ("vector", "text"),
    [
        ((0.0, -0.1, 0.0), "slopes by 5.7°, it rises forward"),
        ((0.06, 0.0, 0.0), "slopes by 3.4°, it rises to the left"),
    ],
)
def test_soles_aslant_under_a_vertical_force_are_a_slope(vector, text):
    cause = cause_of(tilted(healthy_walk(), vector))
    assert (cause.kind, text in cause.text) == (CauseKind.SLOPE, True)


@pytest.mark.parametrize(("followed", "kind"), [(1.0, CauseKind.SENSOR), (0.3, CauseKind.SLOPE)])
def test_soles_and_body_that_lean_alike_in_balance_are_the_imu(followed, kind):
    walk = tilted(healthy_walk(), (0.0, 0.08, 0.0))  # the toes are down: as if the body leaned forward
    lean = np.array([followed * 0.08 * ROBOT.com_height, 0.0, 0.0])
    cause = cause_of(dataclasses.replace(walk, com_position=walk.com_position + lean))
    assert cause.kind is kind
    assert "4.6°" in cause.text


def test_soles_that_are_not_parallel_are_the_encoders_of_the_one_that_is_not_level():
    cause = cause_of(tilted(healthy_walk(), (0.0, 0.08, 0.0), [Side.RIGHT]))
    assert cause.text.startswith("the encoders disagree")
    assert "they are 4.6° from parallel, the right one" in cause.text


def wrench_fault(fault, of=Side.LEFT):
    def spoil(side, wrenches):
        return fault(wrenches) if side is of else wrenches

    return changed(healthy_walk(), foot_wrenches=spoil)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (lambda wrench: -wrench, "the left foot's wrench disagrees: -162 N while the robot stands on it"),
        (
            lambda wrench: wrench + np.array([65.0, 0, 0, 0, 0, 0]),
            "a foot's wrench disagrees: at rest, 20 % of the load",
        ),
        (
            lambda wrench: wrench + np.array([0, 0, 50.0, 0, 0, 0]),
            "the left foot's wrench disagrees: 50 N while the foot swings",
        ),
        (lambda wrench: wrench * [-1, -1, 1, -1, -1, 1], "the left foot's wrench disagrees: its horizontal force is"),
    ],
)
def test_a_wrench_that_does_not_fit_the_motion_is_a_sensor(fault, text):
    cause = cause_of(wrench_fault(fault))
    assert cause.kind is CauseKind.SENSOR
    assert cause.text.startswith(text)


def test_a_zmp_beside_the_com_of_a_robot_at_rest_is_a_sensor():
    walk = healthy_walk()
    cause = cause_of(dataclasses.replace(walk, zmp_position=walk.zmp_position + np.array([0.0, 0.04])))
    assert cause.text == "a foot's wrench disagrees: at rest, the ZMP is 4 cm from below the centre of mass"


def test_a_sensor_that_the_supervisor_named_before_is_the_cause_and_one_named_later_is_not():
    def event(time):
        finding = Finding(SafetyKind.SENSOR_FROZEN, "l_foot_ft", "l_foot_ft repeats itself")
        return SafetyEvent(time, finding, Response.FINISH_STEP)

    assert cause_of(healthy_walk(), events=[event(ONSET - 0.1)]).text == "l_foot_ft repeats itself"
    assert cause_of(healthy_walk(), events=[event(ONSET + 0.1)]) is None


def test_a_foot_that_reads_nothing_while_the_robot_is_carried_is_a_dead_sensor():
    def dead(side, wrenches):
        wrenches[(side is Side.LEFT) & (TIMES > 5.0)] = 0.0
        return wrenches

    cause = cause_of(changed(healthy_walk(), foot_wrenches=dead))
    assert (cause.kind, "the left foot's wrench disagrees: it reads 0 N at 5." in cause.text) == (
        CauseKind.SENSOR,
        True,
    )


def test_an_attitude_by_which_both_soles_turn_at_once_is_the_imu_and_one_that_turns_slowly_is_not():
    cause = cause_of(tilted(healthy_walk(), (0.08, 0.0, 0.0), rows=TIMES > 5.0))
    assert cause.text == "the IMU disagrees: by its attitude the whole robot turned at once at 4.99 s"
    one = cause_of(tilted(healthy_walk(), (0.08, 0.0, 0.0), [Side.LEFT], TIMES > 5.0))
    assert one.kind is not CauseKind.SENSOR


def test_a_sole_that_was_flat_and_rolls_in_the_last_steps_trod_on_a_bump():
    cause = cause_of(tilted(healthy_walk(), (0.05, 0.0, 0.0), [Side.LEFT], TIMES > 4.0))
    assert (cause.kind, "the left sole, flat in the steps before, rolled by 2.9°" in cause.text) == (
        CauseKind.BUMP,
        True,
    )


def test_a_weight_that_the_model_does_not_have_is_the_mass():
    walk = healthy_walk()
    assert cause_of(changed(walk, foot_wrenches=lambda side, wrench: 1.5 * wrench)).text.endswith(
        "the feet carry 50 kg, the model 33 kg"
    )
    assert cause_of(changed(walk, foot_wrenches=lambda side, wrench: 1.1 * wrench)) is None


def test_a_sole_that_rolls_under_a_pressure_in_its_middle_is_soft_ground():
    cause = cause_of(tilted(healthy_walk(), (0.05, 0.0, 0.0), [Side.LEFT], TIMES > 2.0))
    assert (cause.kind, "the left sole rolled by 2.9°" in cause.text) == (CauseKind.SOFT_GROUND, True)


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({}, "walk with --control torque and torque_control.ground="),
        ({"models_soft_ground": True}, "walk on stiffer ground, or slower"),
    ],
)
def test_the_advice_on_soft_ground_does_not_repeat_what_is_set(settings, advice):
    walk = tilted(healthy_walk(), (0.05, 0.0, 0.0), [Side.LEFT], TIMES > 2.0)
    assert cause_of(walk, **settings).advice.startswith(advice)


def test_a_sole_that_tips_about_its_edge_is_no_soft_ground():
    def at_the_edge(side, wrenches):
        wrenches[:, 3] += 0.035 * wrenches[:, 2]
        return wrenches

    walk = tilted(healthy_walk(), (0.05, 0.0, 0.0), [Side.LEFT], TIMES > 4.0)
    assert cause_of(changed(walk, foot_wrenches=at_the_edge)) is None


def test_a_push_over_the_foot_that_carries_the_robot_is_one_that_no_step_catches():
    times, across, aside = np.arange(0.0, 1.0, 0.01), np.array([10.0, 80.0]), np.array([10.0, -80.0])
    signals = {"walking::is_double_support": np.zeros((100, 1)), "stance_foot::is_left": np.ones((100, 1))}
    log = SignalLog.from_arrays(times, signals)
    assert _foot_pushed_over(log, across, 0.5) is Side.LEFT
    assert _foot_pushed_over(log, aside, 0.5) is None
    signals["left_foot::orientation::desired"] = np.full((100, 3), [0.0, 0.0, 1.5])  # it walks to the left by now
    turned = SignalLog.from_arrays(times, signals)
    assert _foot_pushed_over(turned, np.array([-80.0, 10.0]), 0.5) is Side.LEFT
    assert _foot_pushed_over(turned, across, 0.5) is None
    assert _foot_pushed_over(SignalLog.from_arrays(times, {}), across, 0.5) is None


def test_the_advice_says_which_limit_the_adapted_step_met():
    times = np.arange(0.0, 1.0, 0.01)
    signals = {"step_adaptation::delay": np.zeros((100, 1)), "stance_foot::is_left": np.ones((100, 1))}
    signals |= {f"step_adaptation::{kind}_foothold": np.full((100, 3), np.nan) for kind in ("nominal", "adapted")}
    assert _limit_of_steps(SignalLog.from_arrays(times, signals), 0.5) == ""
    for kind, y in (("nominal", -0.1), ("adapted", -0.3)):
        signals[f"step_adaptation::{kind}_foothold"][40:80] = [0.2, y, 0.0]
    signals["step_adaptation::delay"][45:80] = -0.1
    why = _limit_of_steps(SignalLog.from_arrays(times, signals), 0.5)
    assert why == "the step that lifted off at 0.40 s, moved by 200 mm, 100 ms earlier, did not reach the DCM"


@pytest.mark.parametrize(
    ("heading", "words"), [(90.0, "to the left"), (-45.0, "forward and to the right"), (180.0, "backward")]
)
def test_a_force_that_the_feet_do_not_feel_is_a_push(heading, words):
    size, start, duration = 90.0, 5.2, 0.2
    speed = size / ROBOT.mass * np.clip(TIMES - start, 0.0, duration)
    direction = [math.cos(math.radians(heading)), math.sin(math.radians(heading)), 0.0]
    walk = healthy_walk()
    pushed = dataclasses.replace(walk, com_velocity=walk.com_velocity + np.outer(speed, direction))
    cause = cause_of(pushed)
    assert cause.kind is CauseKind.PUSH
    adapted = {"--step-adaptation place_and_time": {"step_adaptation.mode": "place_and_time"}}
    assert (cause.trials, cause_of(pushed, stepping=SteppingMode.PLACE_AND_TIME).trials) == (adapted, {})
    assert cause.next_step == (
        "untried: --step-adaptation place_and_time;"
        f" gradiva experiment push_recovery --robot {ROBOT.name} maps the largest pushes"
    )
    found = re.fullmatch(r"a push of about (\d+) N (.+) at (\S+) s", cause.text)
    assert (found[1], found[2]) == ("90", words)
    assert float(found[3]) == pytest.approx(start, abs=0.04)


def test_step_adaptation_that_was_off_is_tried_also_where_the_push_goes_over_the_foot_that_carries(monkeypatch):
    monkeypatch.setattr("gradiva.simulated_walk.fall_causes._foot_pushed_over", lambda log, force, begin: Side.LEFT)
    walk = healthy_walk()
    speed = 90.0 / ROBOT.mass * np.clip(TIMES - 5.2, 0.0, 0.2)
    pushed = dataclasses.replace(walk, com_velocity=walk.com_velocity + np.outer(speed, [0.0, 1.0, 0.0]))
    off, on = cause_of(pushed), cause_of(pushed, stepping=SteppingMode.PLACE_AND_TIME)
    assert list(off.trials) == ["--step-adaptation place_and_time"]
    assert on.trials == {}
    assert off.why.startswith("the left foot carried the robot")


@pytest.mark.parametrize(("size", "is_found"), [(30.0, True), (12.0, False)])
def test_a_weak_push_that_lasts_is_a_push_by_its_average_force(size, is_found):
    walk = healthy_walk()
    noise = np.random.default_rng(1).normal(0.0, 0.002, (len(TIMES), 3))
    speed = size / ROBOT.mass * np.clip(TIMES - 5.0, 0.0, 0.5)
    noisy = dataclasses.replace(walk, com_velocity=walk.com_velocity + np.outer(speed, [0.0, -1.0, 0.0]) + noise)
    cause = cause_of(noisy)
    assert (cause is not None and cause.kind is CauseKind.PUSH) is is_found
    if is_found:
        found = re.fullmatch(r"a push of about (\d+) N to the right at (\S+) s", cause.text)
        assert float(found[1]) == pytest.approx(size, abs=3.0)
        assert float(found[2]) == pytest.approx(5.0, abs=0.06)


def test_a_foot_that_withstands_a_push_is_not_turned():
    """450 N, of which the foot takes 300: what is not explained is -1.5 of what it feels, but not before."""
    walk, lasts = healthy_walk(), (TIMES > 5.2) & (TIMES < 5.4)
    speed = 150.0 / ROBOT.mass * np.clip(TIMES - 5.2, 0.0, 0.2)
    held = np.outer(lasts, [0.0, -300.0, 0.0, 0.0, 0.0, 0.0])
    wrenches = {side: walk.foot_wrenches[side] + held * walk.carries[side][:, None] for side in Side}
    pushed = dataclasses.replace(walk, com_velocity=walk.com_velocity + np.outer(speed, [0.0, 1.0, 0.0]))
    cause = cause_of(dataclasses.replace(pushed, foot_wrenches=wrenches))
    assert cause.kind is CauseKind.PUSH


def test_a_force_is_no_push_but_a_weak_motor_where_a_leg_joint_gave_way_before():
    speed = 90.0 / ROBOT.mass * np.clip(TIMES - 5.2, 0.0, 0.2)
    walk = healthy_walk()
    pushed = dataclasses.replace(walk, com_velocity=walk.com_velocity + np.outer(speed, [0.0, 1.0, 0.0]))
    knee = ROBOT.joints.index("l_knee")
    limit = ROBOT.per_joint("torque_limit")[knee] / ROBOT.per_joint("stiffness")[knee]
    at_rest = {"walk": walk, "joint_speed": 0.0}
    assert cause_of(pushed, log_of(**at_rest, knee_error=0.9 * limit)).kind is CauseKind.PUSH
    weak = cause_of(pushed, log_of(**at_rest, knee_error=1.1 * limit))
    assert (weak.kind, weak.text.startswith("l_knee gave way")) == (CauseKind.MOTOR, True)
    servo_lag = ServoLaw.of(ROBOT).lag
    assert servo_lag[knee] == pytest.approx(0.1)  # [s] its velocity loop's position gain is 10 1/s
    for lag, behind in ((0.0, 0.01), (servo_lag, 0.11)):  # [s] at 1 rad/s, one tick of measurement included
        late = [log_of(walk, joint_speed=1.0, knee_error=limit + part * behind) for part in (0.9, 1.1)]
        causes = [cause_of(pushed, log, servo_lag=lag) for log in late]
        assert [cause.kind for cause in causes] == [CauseKind.PUSH, CauseKind.MOTOR]


@pytest.mark.parametrize(("control", "lag"), [("position", 0.01), ("velocity", 0.1)])
def test_position_control_leads_velocity_loops_and_holds_set_points_for_a_period(control, lag):
    setup = load_setup("icub_v2_7", overrides={"walking.control": control})
    assert fall_diagnosis.servo_lag(setup)[ROBOT.joints.index("l_knee")] == pytest.approx(lag)
    half = load_setup("icub_v2_7", overrides={"servo_feedforward.velocity": 0.5})
    assert fall_diagnosis.servo_lag(half)[ROBOT.joints.index("l_knee")] == pytest.approx(0.06)


def test_a_push_is_named_by_its_own_force_not_by_that_of_a_foot_that_lands_after_it():
    walk = healthy_walk()
    speed = 100.0 / ROBOT.mass * np.clip(TIMES - 5.1, 0.0, 0.1)
    landing = 200.0 / ROBOT.mass * np.clip(TIMES - 5.27, 0.0, 0.06)
    change = np.outer(speed, [0.0, -1.0, 0.0]) + np.outer(landing, [1.0, 0.0, 0.0])
    cause = cause_of(dataclasses.replace(walk, com_velocity=walk.com_velocity + change))
    assert re.fullmatch(r"a push of about 100 N to the right at 5\.\d\d s", cause.text)


@pytest.mark.parametrize(("gain", "is_advised"), [(1.1, True), (2.0, False), (math.inf, False)])
def test_a_gain_that_is_set_or_that_nothing_reads_is_not_advised(gain, is_advised):
    walk = healthy_walk()
    speed = 100.0 / ROBOT.mass * np.clip(TIMES - 5.1, 0.0, 0.1)
    pushed = dataclasses.replace(walk, com_velocity=walk.com_velocity + np.outer(speed, [0.0, -1.0, 0.0]))
    assert ("--set dcm_controller.proportional_gain=2" in cause_of(pushed, dcm_gain=gain).trials) is is_advised


def test_a_step_that_lands_hard_long_before_the_push_is_not_named():
    walk = healthy_walk()
    landing, push = (
        size / ROBOT.mass * np.clip(TIMES - start, 0.0, 0.1) for size, start in ((50.0, 3.5), (100.0, 5.1))
    )
    change = np.outer(landing, [1.0, 0.0, 0.0]) + np.outer(push, [0.0, -1.0, 0.0])
    cause = cause_of(dataclasses.replace(walk, com_velocity=walk.com_velocity + change))
    assert re.fullmatch(r"a push of about 100 N to the right at 5\.1\d s", cause.text)


def test_a_fall_without_a_cause_names_where_one_was_looked_for_and_what_to_try():
    walk = healthy_walk()
    evidence = FallEvidence(
        *(walk, log_of(walk, knee_error=0.3), ONSET, np.full(len(ROBOT.joints), 5.0), 0.55),
        servo_lag=0.01,
        impossible=frozenset({CauseKind.MOTOR}),
    )
    cause = cause_not_found(evidence)
    assert cause.text == (
        "not found among sensor, slope, mass, friction, bump, soft ground, speed, push; l_knee gave way before"
        " the first sign"
    )
    assert (cause.kind, next(iter(cause.trials))) == (None, "a lower --speed")


def log_of(walk, sway=SWAY, speed=SPEED, joint_speed=1.0, knee_error=0.0, joint="l_knee"):
    """Return the log of a walk whose plan sways and goes as said."""
    planned = walk.com_velocity * [1.0, sway / SWAY, 0.0]
    feet = {
        f"{side}_foot::{name}::measured": values
        for side in Side
        for name, values in (
            ("orientation", np.zeros((len(TIMES), 3))),
            ("linear_force", walk.foot_wrenches[side][:, :3]),
            ("angular_torque", walk.foot_wrenches[side][:, 3:]),
        )
    }
    return SignalLog.from_arrays(
        TIMES,
        {
            **feet,
            "com::position::measured": walk.com_position,
            "com::velocity::measured": walk.com_velocity,
            "com::velocity::desired": planned,
            "com::position::desired": np.outer(speed * np.maximum(TIMES - START, 0.0), [1.0, 0.0, 0.0]),
            "zmp::measured": walk.zmp_position,
            "joints_state::positions::desired": np.zeros((len(TIMES), len(ROBOT.joints))),
            "joints_state::positions::measured": knee_error
            * ((TIMES > 5.1)[:, None] & (np.array(ROBOT.joints) == joint)),
            "joints_state::velocities::desired": np.full((len(TIMES), len(ROBOT.joints)), joint_speed),
            "stance_foot::is_left": walk.carries[Side.LEFT].astype(float),
            "walking::is_double_support": 1.0 * ~WALKING,
            "walking::is_walking": 1.0 * WALKING,
        },
    )


def test_feet_that_feel_less_than_the_plan_needs_slip():
    walk = healthy_walk()
    assert cause_of(walk, log_of(walk)) is None
    cause = cause_of(walk, log_of(walk, sway=3.0 * SWAY))
    assert cause.text == "the feet slipped: friction of about 0.04 held them, the plan needs 0.12"
    slower = cause_of(walk, log_of(walk, sway=3.0 * SWAY), planned_friction=0.2)
    assert slower.text == "the feet slipped: friction of about 0.04 held them, the plan needs 0.20"
    assert slower.next_step == "untried: walk on a floor of more friction than the 0.20 that the plan needs"


@pytest.mark.parametrize(("tips", "slips"), [(3.4, False), (4.5, True)])
def test_feet_that_slide_after_a_sole_has_tipped_did_not_slip(tips, slips):
    """G1 tipped on a floor of 60 ms from 4.2 s on and slid from 4.7 s on: friction of 0.06 was said to hold it."""
    walk = healthy_walk()
    log = log_of(walk)
    more = np.where(TIMES < START + 2.0 * STEP_TIME, 1.0, 3.0)[:, None]  # that the plan needs than feet feel
    tilted_foot = np.outer((tips < TIMES) & (tips + 0.5 > TIMES), [0.1, 0.0, 0.0])
    signals = {name: log[name] for name in log} | {f"{side}_foot::orientation::measured": tilted_foot for side in Side}
    signals["com::velocity::desired"] = log["com::velocity::desired"] * np.hstack([more**0, more, more**0])
    cause = cause_of(walk, SignalLog.from_arrays(TIMES, signals))
    assert (cause is not None and cause.kind is CauseKind.FRICTION) == slips


def test_a_plan_above_the_known_speed_or_joints_at_their_limits_near_it_are_too_fast():
    walk = healthy_walk()
    assert cause_of(walk, log_of(walk, speed=0.5)) is None
    assert cause_of(walk, log_of(walk, speed=0.3, joint_speed=5.0)) is None
    assert cause_of(walk, log_of(walk, speed=0.5, joint_speed=5.0)).kind is CauseKind.SPEED
    late = {"joint_speed": 5.0, "joint": "l_hip_pitch", "knee_error": 0.15}
    assert cause_of(walk, log_of(walk, speed=0.3, **late)).kind is CauseKind.MOTOR
    text = cause_of(walk, log_of(walk, speed=0.43, **late)).text
    assert text.endswith("l_hip_pitch was commanded 100 % of its velocity limit and gave way")
    text = cause_of(walk, log_of(walk, speed=0.6, joint_speed=4.0)).text
    assert text == "too fast: 0.60 m/s were planned, 0.55 m/s are known to be walked"  # joints were slow enough


def test_the_speed_of_a_step_that_was_moved_is_not_that_of_the_plan():
    """0.6 m/s of 3.5 to 4.5 s, beside 0.2: the plan is too fast, but not where a step was moved at 3.4 s."""
    path = np.outer(0.2 * TIMES + 0.4 * np.clip(TIMES - 3.5, 0.0, 1.0), [1.0, 0.0])
    assert greatest_speed(TIMES, path) == pytest.approx(0.2 + 0.4 * 1.0 / 1.2)
    assert greatest_speed(TIMES, path, [3.4]) == pytest.approx(0.2)
    assert greatest_speed(TIMES, path, [4.6]) == pytest.approx(0.2 + 0.4 * 1.0 / 1.2)
    nowhere, swings = np.full((len(TIMES), 3), np.nan), (TIMES > 3.4) & (TIMES < 4.0)
    nominal, moved = nowhere.copy(), nowhere.copy()
    nominal[swings], moved[swings] = [0.3, 0.1, 0.0], [0.3, 0.2, 0.0]
    log = SignalLog.from_arrays(
        TIMES,
        {
            "step_adaptation::nominal_foothold": nominal,
            "step_adaptation::adapted_foothold": moved,
            "step_adaptation::delay": 0.0 * TIMES,
            "stance_foot::is_left": 1.0 * swings,
        },
    )
    assert moves(log) == pytest.approx([3.41])


def with_moved_step(log):
    """Return the log of a walk whose step from 3.0 to 3.5 s step adaptation moved."""
    foothold, swings = np.full((len(TIMES), 3), np.nan), (TIMES > 3.0) & (TIMES < 3.5)
    foothold[swings] = 0.3
    signals = {name: log[name] for name in log} | {
        "step_adaptation::nominal_foothold": foothold,
        "step_adaptation::adapted_foothold": foothold + 0.1,
        "step_adaptation::delay": 0.0 * TIMES,
        "stance_foot::is_left": 1.0 * swings,
    }
    return SignalLog.from_arrays(TIMES, signals)


def test_the_commanded_speed_counts_where_it_is_known_and_not_what_steps_after_a_push_make_of_it():
    walk, log = healthy_walk(), log_of(healthy_walk(), speed=0.6)
    assert cause_of(walk, log, asked_speed=0.3).text.startswith("too fast: 0.60 m/s were planned")  # as later commanded
    moved = with_moved_step(log)
    assert cause_of(walk, moved, speed_ahead=0.7).text.startswith("too fast: 0.70 m/s were planned")
    assert cause_of(walk, moved, asked_speed=0.3, speed_ahead=0.7) is None
    asked = cause_of(walk, with_moved_step(log_of(walk, speed=0.3)), asked_speed=0.58)
    assert asked.text == "too fast: 0.58 m/s were asked for, 0.55 m/s are known to be walked"


def test_joints_that_come_late_in_a_step_that_was_adapted_say_nothing_of_the_speed():
    walk = healthy_walk()
    log = log_of(walk, speed=0.5, joint_speed=5.0)
    assert cause_of(walk, log).kind is CauseKind.SPEED
    assert cause_of(walk, with_moved_step(log)) is None


def test_a_speed_that_lay_ahead_when_the_robot_fell_is_too_fast():
    walk = healthy_walk()
    assert cause_of(walk, log_of(walk, speed=0.3)) is None
    assert cause_of(walk, log_of(walk, speed=0.3), speed_ahead=0.7).text.startswith("too fast: 0.70 m/s were planned")
