from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ControlMode, so3
from gradiva.estimation import DeflectionSource
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, load_setup
from gradiva.setup.robot import load_robot
from gradiva.simulated_walk import diagnose, simulate, walk_result
from gradiva.simulated_walk.fall_diagnosis import (
    Diagnosis,
    advised,
    bending_links,
    chatter_table,
    impossible_causes,
    limited_joints,
    oscillating_loop,
    pushes_before,
)
from gradiva.simulated_walk.fall_evidence import Cause, CauseKind, joints_at_limits, spares_joints
from gradiva.simulated_walk.known_causes import known_push
from gradiva.simulated_walk.walk_result import WalkOutcome, WalkRequest
from gradiva.simulation import Push
from gradiva.telemetry import SignalLog
from gradiva.walking import Chatter, WalkingState
from tests.simulated_walk.synthetic_walk import walk_log

FALL = 6.0  # [s]


def text_of(*walk):
    return str(diagnose(*walk))


def growing_from(start, size=1.0, column=1, columns=2):
    def growth(times):
        change = np.zeros((len(times), columns))
        change[:, column] = size * np.maximum(0.0, times - start)
        return change

    return growth


def growth(start):
    return growing_from(start, column=0, columns=1)


def rolling_from(start):
    """Return the tilt of a foot that carries nothing before ``start`` [s] and rolls from then on."""
    return lambda times: np.where(times < start, np.nan, times - start)[:, None]


def bending_walk(
    known,
    bent,
    observed,
    source="wrenches",
    kind=CauseKind.PUSH,
    unmodelled=(),
    control="torque",
    plant=1000.0,
    ticks=11,
):
    """Return the cause of a fall at 1 s with a first sign at 0.5 s, from when on all is three times as large.

    Args:
        known: Stiffness as the controller knows it.
        bent: True deflection, [rad], and the observed one.
        observed: See there.
        source: Of the observed one.
        kind: Of the cause by the robot's measurements.
        unmodelled: Stiffness that the controller does not know.
        control: Mode of control.
        plant: Stiffness of the plant, [N·m/rad].
        ticks: Of the log.
    """
    times = np.linspace(0.0, 1.0, 11)[:ticks]
    growth = np.where(times > 0.55, 3.0, 1.0)[:, None]
    log = (
        SignalLog()
        if not ticks
        else SignalLog.from_arrays(
            times,
            {
                "simulation::flexible_joints::positions": bent * growth,
                "flexible_joints::positions::estimated": observed * growth,
                "flexible_joints::stiffness::estimated": known + 0.0 * growth,
            },
        )
    )
    for name in log.names:
        log.describe(name, ["hip"])
    setup = SimpleNamespace(
        robot=SimpleNamespace(mass=90.0, com_height=0.9),
        simulated_robot=SimpleNamespace(flexible_joints=(SimpleNamespace(name="hip", stiffness=plant),)),
        unmodelled_stiffness=unmodelled,
        walking=SimpleNamespace(
            flexible_joint_observer=SimpleNamespace(source=DeflectionSource(source)),
            walking=SimpleNamespace(control=ControlMode(control)),
        ),
    )
    return bending_links(Cause(kind, "as measured", ""), setup, log, 0.5)


def test_links_that_bend_unknown_to_the_controller_are_the_cause_of_what_looks_like_a_push():
    unmodelled = {"unmodelled": (2000.0, 3000.0)}
    text = "links bend by 2000 N·m/rad, which the controller does not know"
    assert bending_walk(1000.0, 0.05, 0.05, **unmodelled).text == text
    assert bending_walk(1000.0, 0.05, 0.05, **unmodelled, kind=CauseKind.SENSOR) is None
    assert bending_walk(1000.0, 0.08, 0.08, **unmodelled, kind=CauseKind.SENSOR).text == text
    assert bending_walk(1000.0, 0.08, 0.08, **unmodelled, kind=CauseKind.SLOPE) is None


def test_deflections_that_are_not_observed_are_the_cause():
    cause = bending_walk(1000.0, 0.028, 0.0, source="none")
    assert cause.text.endswith("(flexible_joint_observer.source=none), wrong by 1.6° until the first sign")
    assert cause.advice.startswith("flexible_joint_observer.source=wrenches")
    assert bending_walk(1000.0, 0.015, 0.0, source="none") is None


@pytest.mark.parametrize("kind", [CauseKind.PUSH, CauseKind.SENSOR, None])
def test_a_stiffness_that_is_wrong_is_the_cause_where_deflections_are(kind):
    text = "links bend by 1000 N·m/rad, the controller takes them for 700: deflections wrong by 2.1° until"
    assert bending_walk(700.0, 0.084, 0.12, kind=kind).text.startswith(text)
    assert bending_walk(700.0, 0.01, 0.014, kind=kind) is None
    assert bending_walk(1000.0, 0.084, 0.12, kind=kind) is None
    assert bending_walk(700.0, 0.084, 0.12, kind=CauseKind.SLOPE) is None


def test_links_that_bend_too_far_are_too_soft():
    assert "they bend by 46° until the first sign" in bending_walk(1000.0, 0.8, 0.79).text
    assert bending_walk(1000.0, 0.42, 0.42) is None


def test_links_that_bend_farther_than_servos_of_position_undo_are_too_soft_for_them():
    cause = bending_walk(1000.0, 0.09, 0.09, control="position", kind=CauseKind.SENSOR)
    assert cause.text.startswith("links are too soft for position control: by 1000 N·m/rad they bend by 5°")
    assert cause.advice.startswith("--control torque")
    assert bending_walk(1000.0, 0.05, 0.05, control="position", kind=CauseKind.SENSOR) is None


def test_links_softer_than_weight_times_height_topple_a_robot_before_it_balances():
    stands = {"ticks": 0, "kind": CauseKind.SENSOR}
    assert bending_walk(1.0, 0.0, 0.0, plant=794.0, **stands).text.endswith("weight times height is 795")
    assert bending_walk(1.0, 0.0, 0.0, plant=795.0, **stands) is None


def test_sensors_and_motors_that_were_noted_as_too_slow_are_the_advice_whatever_else_was_measured():
    cause = Cause(CauseKind.SENSOR, "a foot's wrench disagrees", "zero it")
    assert advised(cause, None) == cause
    assert advised(cause, "15 ms").advice == "sensors and motors are too slow for soft ground: 15 ms"


def test_a_healthy_walk_shows_no_sign():
    assert text_of(walk_log()) == ""


def test_an_empty_log_shows_no_sign():
    assert text_of(SignalLog()) == ""


def test_the_quantity_that_left_first_is_named_with_its_time_and_phase():
    log = walk_log(
        FALL, dcm__position__measured=growing_from(5.295), left_foot__position__measured=growing_from(5.7, columns=3)
    )
    assert text_of(log) == "; first sign: DCM error 7 cm at 5.36 s, while the right foot carried the robot"


def test_a_first_sign_that_grew_slowly_says_since_when_and_which_step_was_changed_before_it():
    log = walk_log(FALL, dcm__position__measured=growing_from(4.995, size=0.2))
    assert text_of(log) == (
        "; first sign: DCM error 6 cm at 5.30 s (3 cm at 5.15 s), while the right foot carried the robot"
    )
    times = log.times
    foothold = np.full((len(log), 3), np.nan)
    foothold[(times >= 4.4) & (times < 4.8)] = [0.2, 0.1, 0.0]
    signals = {name: log[name] for name in log}
    signals["step_adaptation::nominal_foothold"] = foothold
    signals["step_adaptation::adapted_foothold"] = foothold + np.array([0.0, 0.05, 0.0])
    signals["step_adaptation::delay"] = np.zeros((len(log), 1))
    sign = text_of(SignalLog.from_arrays(times, signals))
    words = "carried the robot (earlier, at {} s, step adaptation changed the step that lifted off at 4.40 s)"
    assert sign.endswith(words.format("4.40"))
    foothold[times < 4.6] += np.array([0.0, 0.05, 0.0])  # the plan had it there until then
    assert text_of(SignalLog.from_arrays(times, signals)).endswith(words.format("4.60"))
    foothold[times < 5.4] = np.where((times >= 5.2) & (times < 5.4), 0.2, np.nan)[times < 5.4, None]
    signals["step_adaptation::adapted_foothold"] = foothold + np.outer(times > 5.35, [0.0, 0.05, 0.0])
    assert text_of(SignalLog.from_arrays(times, signals)).endswith("carried the robot"), "changed after the sign"


def test_a_push_shortly_before_the_first_sign_is_named():
    log = walk_log(FALL, dcm__position__measured=growing_from(5.295))
    pushes = [Push("chest", (0.0, 90.0, 0.0), start, 0.1) for start in (3.0, 5.2, 5.8)]
    assert text_of(log, pushes, FALL).endswith("; before it, a push of 90 N to the left on chest from 5.20 to 5.30 s")


def test_a_push_from_which_the_robot_has_not_recovered_is_named_however_long_ago_it_was():
    def rocking(times):  # beyond 6 cm at 3.2, 4.1, 5.0 and 5.9 s
        return 0.07 * (np.abs((times - 3.2 + 0.1) % 0.9 - 0.1) < 0.015)[:, None] * (times > 3.1)[:, None]

    pushes = [Push("chest", (0.0, 90.0, 0.0), start, 0.1) for start in (0.5, 3.0, 5.95)]
    log = walk_log(FALL, dcm__position__measured=rocking)
    assert pushes_before(log, pushes, 5.9) == (pushes[1],)
    assert pushes_before(walk_log(FALL), pushes, 5.9) == ()
    assert pushes_before(log, pushes, 3.0) == (pushes[1],)
    peaks = walk_log(FALL, zmp__measured=lambda times: 0.2 * (times % 0.5 < 0.02)[:, None] * np.ones(2))
    assert pushes_before(peaks, pushes, 5.9) == ()  # as in healthy walks, for a tick at a touch-down


def test_a_push_that_acted_and_was_measured_is_one_push():
    pushes = [Push("chest", (0.0, size, 0.0), start, 0.1) for size, start in ((30.0, 3.0), (100.0, 4.0))]
    measured = Cause(CauseKind.PUSH, "a push of about 87 N to the left at 4.01 s", "maps", begin=4.01)
    cause = known_push(pushes, measured, "icub_v2_7")
    known = "a push of 100 N to the left on chest from 4.00 to 4.10 s"
    assert cause.text == f"{known}, measured as about 87 N to the left at 4.01 s"
    assert str(Diagnosis("", None, cause, (pushes[1],))) == f"; cause: {cause.text}"
    first = "a push of 30 N to the left on chest from 3.00 to 3.10 s"
    assert str(Diagnosis("DCM error", 4.3, cause, tuple(pushes))).endswith(
        f"; first sign: DCM error; before it, {first}"
    )
    assert str(Diagnosis("DCM error", 2.9, cause, tuple(pushes))).endswith(
        f"; first sign: DCM error; after it, {first}"
    )
    smoothed = replace(measured, text="a push of about 87 N to the left at 3.99 s", begin=3.99)
    assert known_push(pushes, smoothed, "icub_v2_7").text.endswith("measured as about 87 N to the left at 4.00 s")
    tipping = replace(measured, begin=4.9)  # a foot that tips after the push
    for unseen in (None, tipping):
        cause = known_push(pushes, unseen, "icub_v2_7")
        assert (cause.kind, cause.text) == (CauseKind.PUSH, f"{known}: the measurements name nothing else")


@pytest.mark.parametrize(
    ("asked", "pushed", "is_possible"), [(0.2, False, True), (0.2, True, False), (0.4, True, True), (None, True, True)]
)
def test_no_speed_below_the_known_one_is_too_fast_where_a_push_acted(asked, pushed, is_possible):
    setup = load_setup("icub_v2_7")
    walk = SimpleNamespace(setup=setup, robot=SimpleNamespace(faults=()))
    acted = [Push("chest", (0.0, 90.0, 0.0), 3.0, 0.1)] * pushed
    impossible = impossible_causes(walk, asked, acted)
    assert (CauseKind.SPEED not in impossible, CauseKind.PUSH not in impossible) == (is_possible, pushed)


def test_a_push_shortly_before_the_end_is_named_where_there_is_no_sign():
    push = Push("chest", (0.0, 30.0, 40.0), 5.0, 0.5, torque=(0.0, 0.0, 2.0))
    text = "; after a push of 50 N along (0, 30, 40) and 2 N·m on chest from 5.00 to 5.50 s"
    assert text_of(SignalLog(), [push], FALL) == text
    assert text_of(SignalLog(), [push], 8.0) == ""


def test_a_foot_that_turns_is_reported_in_degrees():
    log = walk_log(FALL, right_foot__orientation__measured=growing_from(5.0, column=2, columns=3))
    assert text_of(log) == "; first sign: right foot turned by 6° at 5.11 s, in double support"


def test_a_foot_that_sinks_is_not_off_its_path():
    log = walk_log(FALL, left_foot__position__measured=growing_from(5.0, size=-1.0, column=2, columns=3))
    assert text_of(log) == ""


def test_a_sole_that_rolls_and_sinks_under_load_is_named():
    log = walk_log(FALL, simulation__left_foot__tilt=rolling_from(4.995), simulation__left_foot__sinkage=growth(5.5))
    assert text_of(log) == "; first sign: left sole tilted by 8° at 5.14 s, in double support"
    log = walk_log(FALL, simulation__right_foot__sinkage=growth(4.998))
    assert text_of(log) == "; first sign: right sole sunk by 10 cm at 5.10 s, in double support"


def test_a_turn_across_half_a_circle_is_none():
    def half_turn(times):
        return np.column_stack([0 * times, 0 * times, np.full_like(times, 2.0 * np.pi)])

    assert text_of(walk_log(FALL, left_foot__orientation__measured=half_turn)) == ""


def test_a_departure_that_came_back_is_no_sign():
    def bump(times):
        return 0.2 * ((times > 3.0) & (times < 4.0))[:, None]

    log = walk_log(FALL, zmp__measured=bump, com__position__measured=growing_from(5.5, columns=3))
    assert text_of(log).startswith("; first sign: CoM error")


def test_a_quantity_that_dips_back_for_a_moment_has_not_come_back():
    def dipping(times):
        return 0.2 * ((times > 4.995) & ~((times > 5.095) & (times < 5.195)))[:, None]

    log = walk_log(FALL, dcm__position__measured=dipping, com__position__measured=growing_from(5.1, columns=3))
    assert text_of(log).startswith("; first sign: DCM error 28 cm at 5.00 s")


def test_a_log_of_three_ticks_can_be_read():
    log = walk_log(0.03, dcm__position__measured=lambda times: np.array([0.0, 0.5]))
    assert text_of(log).startswith("; first sign: DCM error 50 cm at 0.00 s")


@pytest.mark.parametrize(
    ("froze", "words"), [(None, ""), (8.8, ""), (6.29, ", after it froze at 6.29 s: the DCM is 41 cm off")]
)
def test_a_robot_that_froze_long_before_it_fell_did_so_after_its_freeze(monkeypatch, froze, words):
    monkeypatch.setattr(walk_result, "diagnose_walk", lambda walk: Diagnosis("", None, None, ()))
    freezing = None if froze is None else SimpleNamespace(time=froze, reason="the DCM is 41 cm off")
    walk = SimpleNamespace(
        controller=SimpleNamespace(state=WalkingState.FAULT),
        robot=SimpleNamespace(fall=SimpleNamespace(reason="base tilt above the limit of 45°", time=9.0)),
        freezing=freezing,
    )
    ending = walk_result._ending(walk, False, "").as_table(SimpleNamespace(with_files=str))
    assert ending["reason"] == f"base tilt above the limit of 45° at 9.00 s{words}"
    assert (ending["outcome"], ending["is_standing"]) == ("fell", False)


@pytest.mark.parametrize(("tilt", "outcome"), [(0.58, "fell"), (0.1, "stopped")])
def test_a_robot_that_is_left_leaning_fell_though_it_does_not_lie(monkeypatch, tilt, outcome):
    monkeypatch.setattr(walk_result, "diagnose_walk", lambda walk: Diagnosis("", None, None, ()))
    leaning = SimpleNamespace(base_rotation=so3.exp(np.array([tilt, 0.0, 0.0])))
    walk = SimpleNamespace(
        controller=SimpleNamespace(state=WalkingState.FAULT, reason="the DCM is lost", safety_events=()),
        robot=SimpleNamespace(fall=None, truth=lambda: leaning),
        layers=SimpleNamespace(start_posture=SimpleNamespace(base_rotation=np.eye(3))),
        setup=load_setup("icub_v2_7"),
        time=9.0,
    )
    ending = walk_result._ending(walk, False, "").as_table(SimpleNamespace(with_files=str))
    assert ending["outcome"] == outcome
    assert ("left leaning by 33° at 9.00 s" in ending["reason"]) == (outcome == "fell")


def test_a_diagnosis_says_cause_and_first_sign_and_gives_both_with_the_advice_to_the_result():
    cause = Cause(CauseKind.SLOPE, "the ground slopes", "walk where it is flatter")
    diagnosis = diagnose(walk_log(FALL, dcm__position__measured=growing_from(5.295)), causes=lambda onset: cause)
    assert str(diagnosis).startswith("; cause: the ground slopes; first sign: DCM error 7 cm at 5.36 s")
    assert diagnosis.as_table() == {
        "cause": "slope",
        "measured_cause": None,
        "text": "the ground slopes",
        "advice": "untried: walk where it is flatter",
        "first_sign": "DCM error 7 cm at 5.36 s, while the right foot carried the robot",
        "first_sign_s": pytest.approx(5.36),
    }


def test_a_cause_that_was_not_found_is_said_in_the_line_and_leaves_the_kind_empty():
    cause = Cause(None, "not found among push, slope", "a lower --speed")
    diagnosis = diagnose(SignalLog(), causes=lambda onset: cause)
    assert str(diagnosis) == "; cause: not found among push, slope"
    table = diagnosis.as_table()
    assert (table["cause"], table["advice"], table["first_sign_s"]) == (None, "untried: a lower --speed", None)


def oscillating_walk(force, sustained=0.05, *overrides, plant=Plant.IDEAL, zmp=5e-5):
    """A walk of iCub v2.7 with the chatter of its last weight shift and of the time before the first sign."""
    figures = {"double_support": Chatter(0.02, 1e-3, 0.001, 0), "shift": Chatter(force, zmp, 0.002, 3)}
    chatter = SimpleNamespace(
        figures=lambda: figures,
        sustained=lambda begin, end: sustained,
        frequency=lambda begin, end: 49.6,
        last_shift=lambda: (5.1, 6.0),
    )
    return SimpleNamespace(chatter=chatter, setup=load_setup("icub_v2_7", overrides, plant=plant))


def test_a_loop_that_oscillates_before_the_first_sign_is_the_cause_of_what_looks_like_a_push():
    push = Cause(CauseKind.PUSH, "a push", "step aside")
    cause = oscillating_loop(push, oscillating_walk(0.0, 0.08), FALL)
    assert cause.kind is None  # none of the disturbances
    assert cause.text.startswith("the loop oscillates at 50 Hz: 8.0 % of the weight")
    assert "zmp_com_controller.standing.zmp" in cause.advice
    assert oscillating_loop(push, oscillating_walk(0.0, 0.02), FALL) is None
    assert oscillating_loop(push, oscillating_walk(0.0, None), FALL) is None
    assert oscillating_loop(Cause(CauseKind.SENSOR, "dead", "mend it"), oscillating_walk(0.0, 0.08), FALL) is None


def test_chatter_beyond_its_healthy_band_names_the_gains_of_the_control_mode():
    assert chatter_table(oscillating_walk(0.002))["text"] is None
    assert chatter_table(oscillating_walk(0.002, zmp=1.3e-4))["text"] is None  # hardly beyond the band
    assert chatter_table(oscillating_walk(0.08, 0.001))["text"] is None  # not all the time
    unknown = chatter_table(oscillating_walk(0.08, None))
    assert (unknown["lasting_foot_force"], unknown["text"]) == (None, None)
    table = chatter_table(oscillating_walk(0.08))
    assert table["shift"] == {"foot_force": 0.08, "zmp_m": 5e-5, "command_rad": 0.002, "joint": "l_shoulder_pitch"}
    assert table["single_support"] is None
    assert table["lasting_foot_force"] == 0.05
    assert "the loop oscillates at 50 Hz: 8.0 % of the weight" in table["text"]
    by_velocity = chatter_table(oscillating_walk(0.08, 0.05, "walking.control=velocity"))
    assert "servo_feedforward" in table["text"]
    assert "servo_feedforward" not in by_velocity["text"]


@pytest.mark.parametrize(
    ("key", "is_shown", "text"),
    [
        ("planner.swing_height", True, None),
        ("planner.swing_height", False, "the loop oscillates"),
        ("zmp_com_controller.walking.zmp", True, "the loop oscillates"),
    ],
)
def test_an_oscillation_is_no_warning_beside_another_cause_that_a_walk_has_shown(key, is_shown, text):
    request = WalkRequest(load_setup("g1"), VelocityCommand(0.2, duration=4.0))
    result = {"reason": "fell", "chatter": {"text": "the loop oscillates", "shift": {}}}
    outcome = WalkOutcome(request, result, None, diagnosis=Diagnosis("DCM error", 1.0, None, ()))
    cause = Cause(CauseKind.SETTING, f"{key} = 9: it does not fall without that", "as shipped", is_shown=is_shown)
    assert outcome.with_cause(cause).result["chatter"] == {"text": text, "shift": {}}


def test_chatter_that_the_noise_of_the_sensors_makes_in_a_loop_with_margins_is_no_oscillation():
    table = chatter_table(oscillating_walk(0.0131, plant=Plant.NOISY, zmp=7e-4))
    assert table["noise"] == pytest.approx({"foot_force": 0.0076, "zmp_m": 5.4e-4}, rel=0.05)
    assert table["text"].startswith("noise of the sensors shakes the robot: 1.3 % of the weight on a foot")
    assert table["text"].endswith("most of it by the gyroscope")
    assert "the loop oscillates" in chatter_table(oscillating_walk(0.08, plant=Plant.NOISY))["text"]
    assert chatter_table(oscillating_walk(0.08))["noise"] is None


class RecordedPositions(dict):
    times = np.linspace(0.0, 5.0, 100)


def test_joints_that_come_to_the_limits_of_their_positions_are_named_with_when_and_by_how_much():
    limits, joints = (np.full(2, -1.0), np.full(2, 1.0)), ["hip", "ankle"]
    log = RecordedPositions({"walking::is_walking": np.ones((100, 1))})
    positions = np.zeros((100, 2))
    positions[37:43, 1], positions[40, 1] = -0.995, -0.999
    positions[[10, 20, 30], 0] = 1.0  # touched now and then
    log |= {f"joints_state::positions::{which}": positions for which in ("measured", "desired")}
    found = joints_at_limits(log, joints, limits)
    assert [str(each) for each in found] == [f"ankle 0.1° from -57.3° at {log.times[40]:.2f} s"]
    assert joints_at_limits(log, joints, limits, until=float(log.times[36])) == []
    at_the_sign = joints_at_limits(log, joints, limits, until=float(log.times[38]))
    assert [each.joint for each in at_the_sign] == ["ankle"]
    robot = SimpleNamespace(joints=joints, leg_joints=joints, joint_groups={})
    walk = SimpleNamespace(
        recorder=SimpleNamespace(log=log),
        setup=SimpleNamespace(robot=robot),
        layers=SimpleNamespace(joint_limits=limits, joint_axes=lambda: {"ankle": "roll"}),
    )
    cause = limited_joints(walk, FALL)
    assert cause.text.startswith("at the limit of its position: ankle 0.1° from")
    assert cause.advice == "a planner.step_width nearer to the distance of the hips rolls hips and ankles less"
    robot.leg_joints = ["hip"]
    assert limited_joints(walk, FALL) is None, "joints of arms carry nothing"


def test_joints_that_bend_roll_and_yaw_are_spared_by_other_keys():
    axes = {"knee": "pitch", "hip_roll": "roll", "hip_yaw": "yaw"}
    bends, rolls, yaws = (spares_joints([joint], axes) for joint in axes)
    assert ("step_width" in bends, "step_width" in rolls, "swing_height" in bends) == (False, True, True)
    assert yaws == "a slower --turn or a lower planner.max_step_turn turns hips less"
    assert spares_joints(["hip_yaw", "hip_roll", "knee"], axes).split("; ") == [bends, rolls, yaws]
    assert spares_joints(["unknown"], axes) == bends


def test_a_joint_is_held_at_one_limit_whatever_it_does_at_the_other():
    positions = np.zeros((100, 1))
    positions[20:70], positions[80] = np.radians(0.3) - 1.0, 1.0  # held at the lower one, the upper one is touched
    log = RecordedPositions({"walking::is_walking": np.ones((100, 1))})
    log |= {f"joints_state::positions::{which}": positions for which in ("measured", "desired")}
    found = joints_at_limits(log, ["knee"], (np.array([-1.0]), np.array([1.0])))
    assert [(each.joint, each.limit) for each in found] == [("knee", -1.0)]
    assert found[0].margin == pytest.approx(np.radians(0.3))


@pytest.mark.walk
def test_a_robot_that_tips_on_a_soft_floor_did_not_slip():
    """G1 on a floor of 60 ms: friction of 0.06 was named, though it tipped from 4.2 s on and slid from 4.7 s on."""
    robot = load_robot("g1", ["simulation.ground.contact_time=60.0"])
    outcome = simulate(robot, VelocityCommand(0.19, duration=6.0))
    cause = outcome.diagnosis.cause
    assert (outcome.result["outcome"], cause.kind) == ("fell", CauseKind.SOFT_GROUND)
    assert "friction" not in outcome.result["reason"]
    assert cause.advice == "simulation.ground.contact_time of up to 28 physics steps (of 1 ms) is a stiffer floor"
