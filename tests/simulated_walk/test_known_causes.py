"""Each difference from a shipped walk is tried; here a rule says without which of them the robot walks on."""

import math
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest

from gradiva.planner import GoalCommand, VelocityCommand
from gradiva.setup import load_setup
from gradiva.setup.changed_keys import changed_keys, flat_keys
from gradiva.simulated_walk.cause_search import PLANT_PARTS, Trials, tried_cause
from gradiva.simulated_walk.fall_evidence import Cause, CauseKind
from gradiva.simulated_walk.known_causes import (
    BadEnd,
    KnownWalk,
    Trial,
    lower_speeds,
    sibling_cause,
    slower_command,
)
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.simulation import Fault, FaultKind, Push

PUSH = {"link": "torso", "force": [90.0, 0.0, 0.0], "start": 4.0, "duration": 0.1}
FAULT = {"kind": "weak_motor", "name": "l_knee", "start": 4.0, "value": 0.25}
BUMP = {"x": 0.4, "y": 0.07, "height": 0.01}
EASY, FAST = VelocityCommand(0.2), VelocityCommand(0.6)


@dataclass(frozen=True, slots=True, eq=False)
class RuledWalk(KnownWalk):
    """Falls where a rule says so of its settings, its speed factor and its plant; Ctrl-C comes in one of its trials."""

    falls: object = None
    tried: list = field(default_factory=list)
    interrupted_in: int | None = None

    def _excess(self, settings, difference=None):
        if len(self.tried) == self.interrupted_in:
            raise KeyboardInterrupt
        self.tried.append(settings)
        falls = self.falls(settings, difference.slower if difference else 1.0, difference and difference.plant)
        return falls if isinstance(falls, float) else math.inf if falls else 0.0


def fall(settings, falls, command=EASY, plant=None, inferred=None, measured=None):
    setup = load_setup("icub_v2_7", settings, plant=plant)
    walk = RuledWalk(setup, changed_keys(setup), command, 3, 6.0, BadEnd.FELL, falls=falls)
    lines = []
    trials = Trials(walk, lines.append)
    cause = tried_cause(trials, inferred, measured)
    assert len(lines) == bool(walk.tried) + len(walk.tried)
    assert trials.done == len(walk.tried) <= trials.most
    return cause


def of_key(key):
    return lambda settings, *_: bool(settings.get(key))


@pytest.mark.parametrize(
    ("key", "value", "kind", "text"),
    [
        (
            "planner.swing_height",
            0.25,
            CauseKind.SETTING,
            "planner.swing_height = 0.25 (shipped 0.015): it does not fall without that",
        ),
        (
            "simulation.ground.friction",
            0.02,
            CauseKind.FRICTION,
            "simulation.ground.friction = 0.02 (shipped 1): it does not fall without that",
        ),
        (
            "simulation.ground.contact_time",
            60.0,
            CauseKind.SOFT_GROUND,
            "simulation.ground.contact_time = 60 physics steps (shipped 2 physics steps): it does not fall",
        ),
        (
            "simulation.ground.slope_left",
            0.08727,
            CauseKind.SLOPE,
            "a slope of 5.0° that rises to the left (--slope 5,90): it does not fall without that",
        ),
        (
            "simulation.model_errors.floor_slope",
            0.05236,
            CauseKind.SLOPE,
            "simulation.model_errors.floor_slope = 3° (shipped 0°): it does not fall without that",
        ),
        (
            "simulation.friction.coulomb",
            2.0,
            CauseKind.MOTOR,
            "simulation.friction.coulomb = 2 (shipped 0): it does not fall",
        ),
        (
            "simulation.plant.mass_scale",
            2.0,
            CauseKind.MASS,
            "simulation.plant.mass_scale = 2 (shipped 1): it does not fall",
        ),
        ("simulation.pushes", [PUSH], CauseKind.PUSH, "a push of 90 N forward on torso from 4.00 to 4.10 s"),
        ("simulation.faults", [FAULT], CauseKind.MOTOR, "the motor of l_knee has 25% of its torque from 4.00 s"),
        ("simulation.ground.bumps", [BUMP], CauseKind.BUMP, "a bump of 10 mm at (0.40, 0.07) m"),
    ],
)
def test_the_difference_without_which_the_robot_walks_on_is_the_cause_whatever_was_set_beside_it(
    key, value, kind, text
):
    beside = {"planner.adapted_swing_height": 0.04, "simulation.sensors.force_torque.force_noise": 1.0}
    cause = fall({key: value, **beside}, of_key(key))
    assert (cause.kind, cause.text.startswith(text), cause.is_tried, cause.is_shown) == (kind, True, True, True)
    assert "adapted_swing_height" not in cause.text


@pytest.mark.parametrize(
    ("settings", "text", "advice"),
    [
        (
            {"step_adaptation.mode": "off"},
            "--step-adaptation off (shipped place_and_time)",
            "--step-adaptation place_a",
        ),
        ({"walking.model": "dcm_mpc"}, "--model dcm_mpc (shipped dcm)", "--model dcm"),
        (
            {"simulation.ground.kind": "viscoelastic", "simulation.viscoelastic.damping": 2e5},
            "--damping 2e+05 (shipped 1e+04) and --ground soft (shipped rigid)",
            "--ground rigid: tried",
        ),
        (
            {"simulation.ground.slope_forward": 0.05, "simulation.ground.slope_left": -0.05},
            "a slope of 4.1° that rises ahead and to the right (--slope 4.05,-45)",
            "--slope 0: tried",
        ),
        (
            {"planner.swing_height": 0.1},
            "planner.swing_height = 0.1 (shipped 0.015)",
            "planner.swing_height as shipped",
        ),
    ],
)
def test_a_cause_names_the_option_that_set_it_and_a_key_where_there_is_none(settings, text, advice):
    cause = fall(settings, lambda settings, *_: bool(settings))
    assert (cause.text.partition(": it")[0], cause.advice[: len(advice)]) == (text, advice)


def test_of_two_pushes_the_one_without_which_the_robot_walks_on_is_named():
    weak = {**PUSH, "force": [5.0, 0.0, 0.0]}
    cause = fall(
        {"simulation.pushes": [weak, PUSH], "step_adaptation.mode": "off"},
        lambda settings, *_: any(push["force"][0] > 50.0 for push in settings.get("simulation.pushes", ())),
    )
    assert cause.text.startswith("a push of 90 N")
    assert "; --step-adaptation place_and_time was tried and falls as well; " in cause.advice


@pytest.mark.parametrize("measured", [CauseKind.SLOPE, CauseKind.PUSH])
def test_a_slope_and_a_push_are_named_together_where_the_robot_walks_on_without_either(measured):
    both = {"simulation.pushes": [PUSH], "simulation.ground.slope_left": 0.08727}
    cause = fall(
        both, lambda settings, *_: both.keys() <= settings.keys() and settings["simulation.pushes"], measured=measured
    )
    slope, push = (
        "a slope of 5.0° that rises to the left (--slope 5,90)",
        "a push of 90 N forward on torso from 4.00 to 4.10 s",
    )
    named = (slope, push) if measured is CauseKind.SLOPE else (push, slope)
    assert cause.text == f"{' and '.join(named)}: it does not fall without the one or the other"
    assert (cause.kind, cause.advice.startswith("--slope 0: tried, the robot does not fall")) == (measured, True)
    for alone in both:
        assert fall(both, of_key(alone), measured=measured).text.endswith(": it does not fall without that")


def test_a_push_that_adapted_steps_do_not_catch_has_no_advice_of_what_else_was_measured():
    slipped = Cause(CauseKind.FRICTION, "the feet slipped", "walk on another floor")
    cause = fall({"simulation.pushes": [PUSH]}, of_key("simulation.pushes"), inferred=slipped)
    assert (cause.kind, "floor" in cause.advice, "push_recovery" in cause.advice) == (CauseKind.PUSH, False, True)


def test_advice_against_a_push_is_followed_in_walks_and_what_explains_the_fall_is_no_advice():
    gain = {"--set dcm_controller.proportional_gain=2": {"dcm_controller.proportional_gain": 2.0}}
    pushed = Cause(CauseKind.PUSH, "a push", "maps", True, "the step was too short", gain)
    falls = of_key("simulation.pushes")
    assert fall({"simulation.pushes": [PUSH]}, falls, inferred=pushed).next_step == (
        "the step was too short; it falls with 3 N as well;"
        " --set dcm_controller.proportional_gain=2 was tried and falls as well;"
        " gradiva experiment push_recovery --robot icub_v2_7 --control position --speed 0.2 maps the largest pushes"
    )
    helped = fall(
        {"simulation.pushes": [PUSH]},
        lambda settings, *_: falls(settings) and settings.get("dcm_controller.proportional_gain") != 2.0,
        inferred=pushed,
    )
    assert helped.next_step == "--set dcm_controller.proportional_gain=2 was tried and does not fall"


def test_a_variant_that_falls_is_blamed_on_what_the_nearest_one_that_stands_has_otherwise():
    falls, near, far = ("zmp=0.75", "com=4"), ("zmp=1.5", "com=4"), ("zmp=2", "com=3")
    cause = sibling_cause(falls, [far, near])
    assert (cause.kind, cause.text) == (CauseKind.SETTING, "zmp = 0.75: the variant with zmp = 1.5 walks on")
    assert cause.next_step == "zmp = 1.5: tried, the robot walks on"
    assert sibling_cause(falls, [far]).text == "zmp = 0.75, com = 4: the variant with zmp = 2, com = 3 walks on"


def test_what_was_walked_in_vain_is_not_advised_where_no_cause_was_found():
    unknown = Cause(None, "not found", "look at it", is_tried=True, trials={"a lower --speed": {}})
    assert unknown.next_step == "untried: a lower --speed; look at it"
    cause = fall({}, lambda *_: True, plant="robot", inferred=unknown)
    assert cause.next_step == (
        "tried and falls as well: --plant ideal, --speed 0.1; look at it; tried on the plant of seed 3 alone"
    )


def test_a_stop_is_blamed_on_the_difference_without_which_the_robot_walks_on():
    setup = load_setup("icub_v2_7", {"simulation.sensors.inertial.tilt_bias": 3.0})
    falls = of_key("simulation.sensors.inertial.tilt_bias")
    walk = RuledWalk(setup, changed_keys(setup), EASY, 3, 5.0, BadEnd.STOPPED, falls=falls)
    lines = []
    cause = tried_cause(Trials(walk, lines.append), None)
    assert lines == [
        "looks for the cause: at most 2 walks of 7 s, without what may be the cause; Ctrl-C ends it, gradiva walk"
        " --no-cause leaves it out",
        "walked again without: simulation.sensors.inertial.tilt_bias = 3 (shipped 0): the robot walks on",
    ]
    change = "simulation.sensors.inertial.tilt_bias = 3 (shipped 0)"
    assert cause.text == f"{change}: it walks on without that"
    assert cause.kind is CauseKind.SENSOR


@pytest.mark.parametrize(("pace", "clock"), [(0.5, "about 30 s"), (0.1, "about 3 min")])
def test_the_search_says_before_it_begins_how_long_it_may_take_at_the_pace_of_the_walk_and_how_to_skip_it(pace, clock):
    setup = load_setup("icub_v2_7", {"simulation.sensors.inertial.tilt_bias": 3.0})
    falls, lines = of_key("simulation.sensors.inertial.tilt_bias"), []
    walk = RuledWalk(setup, changed_keys(setup), EASY, 3, 5.0, BadEnd.FELL, falls=falls)
    tried_cause(Trials(walk, lines.append, pace=pace), None)
    assert lines[0] == (
        f"looks for the cause: at most 2 walks of 7 s, {clock} at the pace of this one, without what may be the cause;"
        " Ctrl-C ends it, gradiva walk --no-cause leaves it out"
    )


def test_the_keys_of_a_table_of_ones_own_are_one_difference():
    keys = {"tasks.swing.class": "own:Swing", "tasks.swing.priority": "soft", "tasks.swing.gains.leg": 2.0}
    cause = fall(keys, of_key("tasks.swing.priority"))
    assert cause.text.startswith("the table [tasks.swing]: it does not fall without that")
    assert cause.advice == "without [tasks.swing]: tried, the robot does not fall"


def test_a_key_of_a_table_that_ships_empty_is_named_with_its_value():
    bending = {"flexibility.joints": ["l_hip_yaw", "r_hip_yaw"], "simulation.flexibility.stiffness": 1e4}
    cause = fall(bending, of_key("simulation.flexibility.stiffness"))
    assert cause.text.startswith("simulation.flexibility.stiffness = 1e+04: it does not fall without that")


def test_differences_that_do_no_harm_alone_are_named_together():
    settings = {"planner.swing_height": 0.04, "planner.landing_height": -0.01}
    cause = fall(settings, lambda settings, *_: bool(settings))
    assert "planner.swing_height = 0.04" in cause.text
    assert "planner.landing_height = -0.01" in cause.text


def test_a_speed_above_the_known_one_is_the_cause_where_the_robot_stands_at_a_lower_one():
    cause = fall({"planner.max_speed": 0.6}, lambda settings, slower, plant: slower == 1.0, FAST)
    assert cause.kind is CauseKind.SPEED
    assert "0.60 m/s were asked for" in cause.text


def test_a_speed_above_the_known_one_is_to_blame_before_a_control_mode_that_is_shipped_but_not_before_other_keys():
    settings = {"planner.max_speed": 0.6, "walking.control": "velocity", "planner.adapted_swing_height": 0.04}
    fast = fall(settings, lambda settings, slower, _: slower == 1.0 and "walking.control" in settings, FAST)
    assert (fast.kind, fast.text.startswith("too fast: 0.60 m/s")) == (CauseKind.SPEED, True)
    high = fall(
        settings, lambda settings, slower, _: slower == 1.0 and "planner.adapted_swing_height" in settings, FAST
    )
    assert (high.kind, high.text.startswith("planner.adapted_swing_height")) == (CauseKind.SETTING, True)
    mode = fall(settings, of_key("walking.control"), FAST)
    assert (mode.kind, mode.text) == (None, "not found; it does not fall with --control position")


def test_where_the_known_speed_is_too_fast_for_this_control_as_well_a_half_and_a_quarter_of_it_are_tried():
    settings = {"planner.max_speed": 0.6, "walking.control": "torque"}
    cause = fall(settings, lambda settings, slower, _: slower > 0.3 and "walking.control" in settings, FAST)
    assert (
        "0.30 m/s are known to be walked by torque control; at that speed it falls as well as configured" in cause.text
    )
    assert (cause.kind, cause.advice) == (CauseKind.SPEED, "--speed 0.15: tried, the robot does not fall")
    unknown = fall({}, lambda *_: True, FAST, inferred=Cause(None, "not found", "look at it", is_tried=True))
    assert unknown.why == "tried and falls as well: --speed 0.3, --speed 0.15, --speed 0.075"


def test_by_torque_a_speed_is_too_fast_beyond_that_which_was_walked_by_torque():
    walk = RuledWalk(load_setup("g1", {"walking.control": "torque"}), {}, VelocityCommand(0.5), 3, 6.0)
    assert (walk.known_speed, walk.known_control, walk.is_too_fast) == (0.35, "torque", True)
    first, half, _ = lower_speeds(walk)
    text = "too fast: 0.50 m/s were asked for, 0.35 m/s are known to be walked by torque control"
    assert (first.text, first.advice) == (text, "--speed 0.35")
    assert half.text == f"{text}; at that speed it falls as well as configured"


def test_the_speeds_that_are_advised_are_those_that_are_walked():
    walk = RuledWalk(load_setup("icub_v2_7"), {}, VelocityCommand(0.61), 3, 6.0)
    for lower in lower_speeds(walk):
        assert slower_command(walk.command, lower.slower, None).forward == pytest.approx(float(lower.advice.split()[1]))
    (half,) = lower_speeds(replace(walk, command=VelocityCommand(0.123)))
    assert (half.advice, half.slower) == ("--speed 0.061", pytest.approx(0.061 / 0.123))


def test_at_a_fraction_of_the_known_speed_the_robot_may_not_reach_a_bump_which_is_tried_before():
    settings = {"planner.max_speed": 0.6, "simulation.ground.bumps": [BUMP]}

    def falls(settings, slower, plant):
        return slower > 0.2 and bool(settings.get("simulation.ground.bumps"))

    assert fall(settings, falls, FAST, measured=CauseKind.SPEED).kind is CauseKind.BUMP
    slow = fall(settings, lambda settings, slower, _: slower == 1.0, FAST, measured=CauseKind.SPEED)
    assert (slow.kind, slow.advice) == (CauseKind.SPEED, "--speed 0.3: tried, the robot does not fall")


def test_a_cause_of_the_kind_that_is_measured_is_tried_before_a_harmless_difference_without_which_it_stands_by_chance():
    settings = {"planner.max_speed": 0.6, "simulation.ground.friction": 0.9}
    oscillating = Cause(CauseKind.SETTING, "the loop oscillates", "")

    def falls(settings, slower, plant):
        return slower == 1.0 and "simulation.ground.friction" in settings

    fast = fall(settings, falls, FAST, inferred=oscillating, measured=CauseKind.SPEED)
    assert (fast.kind, fast.text.startswith("too fast: 0.60 m/s")) == (CauseKind.SPEED, True)
    assert fall(settings, falls, FAST, inferred=oscillating).kind is CauseKind.FRICTION
    by_torque = {"simulation.ground.friction": 0.9, "walking.control": "torque"}
    assert fall(by_torque, lambda settings, *_: len(settings) > 1, inferred=oscillating).kind is CauseKind.FRICTION


def test_where_nothing_differs_the_plant_as_drawn_or_what_was_measured_is_the_cause():
    inferred = Cause(CauseKind.FRICTION, "the feet slipped", "another floor")
    drawn = fall({}, lambda settings, slower, plant: plant is None, plant="robot", inferred=inferred)
    assert (drawn.kind, drawn.text) == (CauseKind.FRICTION, "the plant robot, as seed 3 draws it; the feet slipped")
    assert fall({}, lambda *_: True, inferred=inferred).text == "the feet slipped"
    assert fall({}, lambda *_: True) is None


def test_a_push_without_which_the_robot_falls_as_well_is_not_the_cause_though_it_was_measured():
    acted = "a push of 90 N forward on torso from 4.00 to 4.10 s"
    text = f"not found (it falls as well without: {acted})"
    inferred = Cause(CauseKind.PUSH, f"{acted}, measured as about 87 N forward at 4.01 s", "maps", True)
    pushed = {"simulation.pushes": [PUSH]}
    cause = fall(pushed, lambda *_: True, inferred=inferred, measured=CauseKind.PUSH)
    assert (cause.kind, cause.text) == (None, text)
    other = replace(inferred, text=inferred.text.replace("4.00", "5.00"))  # another push may be the cause
    cause = fall(pushed, lambda *_: True, inferred=other, measured=CauseKind.PUSH)
    assert (cause.kind, cause.text.split(",")[0]) == (
        CauseKind.PUSH,
        "a push of 90 N forward on torso from 5.00 to 4.10 s",
    )


def test_a_push_before_the_robot_balances_is_answered_by_no_gain_but_by_a_later_push():
    setup = load_setup("icub_v2_7", {"simulation.pushes": [PUSH]})
    ruled = {"falls": lambda settings, *_: bool(settings.get("simulation.pushes")), "has_balanced": False}
    walk, lines = RuledWalk(setup, changed_keys(setup), EASY, 3, 6.0, BadEnd.FELL, **ruled), []
    gain = {"--set dcm_controller.proportional_gain=2": {"dcm_controller.proportional_gain": 2.0}}
    cause = tried_cause(Trials(walk, lines.append), Cause(CauseKind.PUSH, "", "maps", True, trials=gain))
    assert cause.next_step.endswith("servos hold the posture, nothing balances before 2.0 s; push later")
    assert not any("proportional_gain" in text for text in (*lines, cause.next_step))


def test_the_parts_of_a_plant_without_which_the_robot_does_better_are_named():
    exact = {"simulation.friction.coulomb": 0.0}
    by_friction = fall(
        {}, lambda settings, _, plant: plant is None and not exact.items() <= settings.items(), plant="robot"
    )
    drawn = "the plant robot, as seed 3 draws it: it does not fall without"
    assert by_friction.text == f"{drawn} friction, play and rotors of its gears"
    by_all = fall({}, lambda settings, _, plant: plant is None and not settings, plant="robot")
    assert (
        "it does not fall where one of these is left out, whichever: errors and ages of its sensors, fric"
        in by_all.text
    )


def test_a_control_mode_that_is_shipped_is_no_excuse_for_the_plant():
    def falls(settings, _, plant):
        return plant is None and settings.get("walking.control") == "velocity"

    cause = fall({"walking.control": "velocity"}, falls, plant="robot")
    assert (cause.kind, cause.text) == (CauseKind.PLANT, "the plant robot, as seed 3 draws it")
    assert cause.advice.startswith("--plant ideal does not fall; ")
    assert cause.advice.endswith(
        "; --control position: tried, the robot does not fall; tried on the plant of seed 3 alone"
    )


def test_a_control_mode_that_was_asked_for_is_advice_and_no_cause():
    alone = fall({"walking.control": "torque"}, lambda settings, *_: bool(settings))
    assert (alone.kind, alone.text) == (None, "not found; it does not fall with --control position")
    assert alone.next_step == "--control position: tried, the robot does not fall"
    unknown = Cause(None, "not found among speed", "look at it", is_tried=True, trials={"a lower --speed": {}})
    slow = fall(
        {"walking.control": "torque"}, lambda settings, slower, _: bool(settings) and slower == 1.0, inferred=unknown
    )
    advice = (
        "--speed 0.1: tried, the robot does not fall; --control position: tried, the robot does not fall; look at it"
    )
    assert (slow.text, slow.next_step) == ("not found among speed", advice)
    no_slower = fall({"walking.control": "torque"}, lambda settings, *_: bool(settings), inferred=unknown)
    assert no_slower.next_step.startswith("tried and falls as well: --speed 0.1; --control position: tried")
    slipped = Cause(CauseKind.FRICTION, "the feet slipped", "walk on another floor")
    cause = fall({"walking.control": "torque"}, lambda settings, *_: bool(settings), inferred=slipped)
    assert (cause.kind, cause.text) == (CauseKind.FRICTION, "the feet slipped")
    assert cause.next_step == "--control position: tried, the robot does not fall"


@pytest.mark.parametrize(
    ("excess", "trial"),
    [(0.0, "BETTER"), (0.66, "BETTER"), (0.7, "NEAR_LIMIT"), (1.4, "NEAR_LIMIT"), (1.6, "NO_BETTER")],
)
def test_a_trial_within_half_as_much_again_of_a_tolerance_is_near_the_limit_on_either_side(excess, trial):
    assert Trial.of(excess) is Trial[trial]


def test_a_trial_near_the_limit_is_named_so_and_is_no_cause():
    def excess(settings, _, plant):
        return 0.3 if plant else 0.9 if any(key.startswith("simulation.motors") for key in settings) else 1.8

    setup = load_setup("icub_v2_7", plant="robot")
    walk = RuledWalk(setup, {}, EASY, 3, 6.0, BadEnd.WALKED_BADLY, falls=excess)
    lines = []
    cause = tried_cause(Trials(walk, lines.append), None)
    assert cause.text == "the plant robot, as seed 3 draws it"  # no part of it
    assert "walked again without its motors and servos: the robot comes near the limit" in lines


def test_that_no_push_acted_is_said_where_the_measurements_look_like_one():
    settings, falls = {"planner.swing_height": 0.25}, of_key("planner.swing_height")
    assert fall(settings, falls, measured=CauseKind.PUSH).text.endswith(
        ": it does not fall without that; no push acted"
    )
    assert fall(settings, falls, measured=CauseKind.FRICTION).text.endswith(": it does not fall without that")


def test_the_largest_push_that_is_held_there_is_found_by_five_walks():
    before = {**PUSH, "start": 2.0, "force": [10.0, 0.0, 0.0]}
    lines = []

    def falls(settings, *_):
        return any(math.hypot(*push["force"]) > 61.0 for push in settings["simulation.pushes"])

    setup = load_setup("icub_v2_7", {"simulation.pushes": [before, {**PUSH, "force": [0.0, 90.0, 0.0]}]})
    walk = RuledWalk(setup, changed_keys(setup), EASY, 3, 4.6, BadEnd.FELL, falls=falls)
    cause = tried_cause(Trials(walk, lines.append), None)
    assert cause.next_step.startswith("it does not fall with 59 N there and falls with 62 N; gradiva experiment")
    assert [line for line in lines if line.startswith("walked again with ")] == [
        "walked again with 45 N: the robot does not fall",
        "walked again with 68 N: the robot falls",
        "walked again with 56 N: the robot does not fall",
        "walked again with 62 N: the robot falls",
        "walked again with 59 N: the robot does not fall",
    ]
    last = walk.tried[-1]["simulation.pushes"]
    assert (last[0], last[1]["force"]) == (before, [0.0, pytest.approx(59.0625), 0.0])


def pushed_until(trial, inferred=None, most=61.0):
    """Return the cause of a push of 90 N and the lines of a search for it that Ctrl-C ends in a trial."""
    lines, steps = [], []

    def falls(settings, *_):
        return any(math.hypot(*push["force"]) > most for push in settings.get("simulation.pushes", ()))

    setup = load_setup("icub_v2_7", {"simulation.pushes": [PUSH]})
    walk = RuledWalk(setup, changed_keys(setup), EASY, 3, 4.6, BadEnd.FELL, falls=falls, interrupted_in=trial)
    trials = Trials(walk, lines.append, lambda *step: steps.append(step))
    cause = tried_cause(trials, inferred, CauseKind.PUSH)
    assert trials.is_interrupted
    assert (len(walk.tried), trials.done) == (trial, trial)
    assert [step[0] for step in steps] == list(range(trial + 1))
    return cause, lines, steps


GAIN = {"--set dcm_controller.proportional_gain=2": {"dcm_controller.proportional_gain": 2.0}}
PUSHED = Cause(CauseKind.PUSH, "a push of about 75 N forward at 4.02 s", "maps", True, "the step was too short", GAIN)


def test_an_interrupted_search_keeps_the_proved_cause_the_advice_that_fell_and_the_bounds_of_the_largest_push():
    cause, lines, steps = pushed_until(4, PUSHED)
    assert cause.text == "a push of 90 N forward on torso from 4.00 to 4.10 s: it does not fall without that"
    assert (cause.kind, cause.is_shown) == (CauseKind.PUSH, True)
    assert cause.next_step == (
        "the step was too short; it does not fall with 45 N there and falls with 68 N;"
        " --set dcm_controller.proportional_gain=2 was tried and falls as well;"
        " gradiva experiment push_recovery --robot icub_v2_7 --control position --speed 0.2 maps the largest pushes;"
        " the search for the cause was interrupted after 4 of at most 8 walks"
    )
    assert lines[0].startswith("looks for the cause: at most 8 walks of 7 s, without what may be the cause; Ctrl-C ")
    assert lines[-1] == "interrupted in the walk with 56 N: what was found until then is kept"
    assert steps[1] == (1, 8, "with --set dcm_controller.proportional_gain=2")


def test_advice_that_an_interrupted_search_did_not_come_to_is_untried_and_no_push_is_bounded_by_no_walk():
    cause, _, _ = pushed_until(1, PUSHED)
    assert cause.text.endswith(": it does not fall without that")
    assert cause.next_step == (
        "the step was too short; untried: --set dcm_controller.proportional_gain=2;"
        " gradiva experiment push_recovery --robot icub_v2_7 --control position --speed 0.2 maps the largest pushes;"
        " the search for the cause was interrupted after 1 of at most 8 walks"
    )
    nothing, _, _ = pushed_until(0, PUSHED)
    assert (nothing.text, nothing.trials, nothing.is_shown) == (PUSHED.text, GAIN, False)


def test_an_interrupted_search_without_a_cause_names_what_was_tried_and_what_was_not():
    unknown = Cause(None, "not found", "look at it", is_tried=True, trials={"a lower --speed": {}, "--plant ideal": {}})
    walk = RuledWalk(load_setup("icub_v2_7", plant="robot"), {}, EASY, 3, 6.0, falls=lambda *_: True, interrupted_in=1)
    cause = tried_cause(Trials(walk, lambda line: None), unknown)
    assert cause.next_step == (
        "tried and falls as well: --plant ideal; untried: a lower --speed; look at it;"
        " tried on the plant of seed 3 alone;"
        " the search for the cause was interrupted after 1 of at most 6 walks"
    )


def test_only_differences_that_were_walked_are_called_innocent():
    keys = {"planner.swing_height": 0.04, "planner.landing_height": -0.01}
    setup = load_setup("icub_v2_7", keys)
    inferred = Cause(CauseKind.FRICTION, "the feet slipped", "another floor")
    for trial, innocent in ((0, 0), (1, 1), (2, 2)):
        walk = RuledWalk(setup, changed_keys(setup), EASY, 3, 6.0, falls=lambda *_: True, interrupted_in=trial)
        text = tried_cause(Trials(walk, lambda line: None), inferred).text
        assert sum(key in text for key in keys) == innocent


def test_a_force_at_which_the_robot_comes_near_the_limit_is_called_so_in_the_advice():
    def excess(settings, *_):
        force = max((math.hypot(*push["force"]) for push in settings.get("simulation.pushes", ())), default=0.0)
        return 0.3 if force < 50.0 else 1.2 if force < 60.0 else 5.0

    setup = load_setup("icub_v2_7", {"simulation.pushes": [PUSH]})
    walk = RuledWalk(setup, changed_keys(setup), EASY, 3, 4.6, BadEnd.WALKED_BADLY, falls=excess)
    advice = tried_cause(Trials(walk, lambda line: None), None).next_step
    assert advice.startswith("it walks as commanded with 48 N there and comes near the limit with 51 N; gradiva")


def test_advice_that_was_tried_on_one_drawn_plant_says_so_once():
    pushes = {"simulation.pushes": [PUSH]}
    gain = {**GAIN, "--step-adaptation off": {"step_adaptation.mode": "off"}}
    falls = of_key("simulation.pushes")
    cause = fall(pushes, falls, plant="robot", inferred=replace(PUSHED, trials=gain))
    assert cause.next_step.count("was tried and falls as well") == 2
    assert cause.next_step.endswith("maps the largest pushes; tried on the plant of seed 3 alone")
    assert "of seed" not in fall(pushes, falls, inferred=replace(PUSHED, trials=gain)).next_step


def test_a_higher_swing_is_tried_against_a_bump():
    def falls(settings, *_):
        return bool(settings.get("simulation.ground.bumps")) and settings.get("planner.swing_height") != 0.025

    cause = fall({"simulation.ground.bumps": [BUMP]}, falls)
    assert cause.next_step == "--set planner.swing_height=0.025 was tried and does not fall"
    higher = fall({"simulation.ground.bumps": [BUMP]}, of_key("simulation.ground.bumps"))
    assert higher.next_step == (
        "a floor without that bump: tried, the robot does not fall; --set planner.swing_height=0.025 was tried and"
        " falls as well"
    )


@pytest.mark.walk
def test_a_walk_that_ended_badly_is_repeated_to_its_end_and_judged_by_its_command():
    command, slippery = VelocityCommand(0.15, duration=2.0), {"simulation.ground.friction": 0.04}
    setup = load_setup("icub_v2_7", slippery)
    known = KnownWalk(setup, changed_keys(setup), command, 0, 6.0, BadEnd.WALKED_BADLY)
    assert known.with_settings(slippery) is not Trial.BETTER
    assert known.as_shipped() is Trial.BETTER


def test_a_configuration_that_was_changed_by_hand_is_not_walked_again():
    setup = load_setup("icub_v2_7")
    by_hand = replace(setup, tables={**setup.tables, "planner": {**setup.tables["planner"], "unknown": 1.0}})
    walk = RuledWalk(by_hand, {}, EASY, 0, 6.0, falls=lambda *_: False)
    assert tried_cause(Trials(walk, print), None) is None
    assert walk.tried == []


def pushed(**own):
    setup = load_setup("icub_v2_7", {"walking.prepare_duration": 0.5})
    walk = SimulatedWalk(setup, **own)
    walk.robot.push(Push("torso", (0.0, 400.0, 0.0), start=1.0, duration=0.2))
    return walk.execute(VelocityCommand(0.15, duration=0.5))


@pytest.mark.walk
def test_an_outcome_in_python_is_explained_by_further_walks_where_it_is_asked_to(monkeypatch):
    outcome, lines = pushed(), []
    assert (outcome.result["outcome"], outcome.diagnosis.cause.is_shown) == ("fell", False)
    explained = outcome.explained(lines.append)
    text = "a push of 400 N to the left on torso from 1.00 to 1.20 s: it does not fall without that"
    assert (explained.diagnosis.cause.text, explained.diagnosis.cause.is_shown) == (text, True)
    assert text in explained.result["reason"]
    assert explained.result["diagnosis"]["text"] == text
    assert lines[1] == f"walked again without: {text.partition(': it')[0]}: the robot does not fall"

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(KnownWalk, "without", interrupted)
    ended = outcome.explained(lines.append)
    assert (ended.was_interrupted, explained.was_interrupted) == (True, False)
    assert ended.diagnosis.cause.text == outcome.diagnosis.cause.text
    assert lines[-1].startswith("interrupted in the walk without: a push of 400 N")


class Watchman:
    """A check that never finds anything."""

    Config = None

    def __init__(self, config, robot):
        pass

    def reset(self):
        pass

    def findings(self, measurement, state, reference, time):
        return []


@pytest.mark.walk
def test_a_walk_with_a_check_of_python_is_not_repeated_without_it():
    lines = []
    outcome = pushed(checks=[Watchman(None, None)])
    assert outcome.explained(lines.append).diagnosis.cause == outcome.diagnosis.cause
    assert lines == ["the walk cannot be repeated: parts of it, or of its configuration, were handed over in Python"]


def test_what_a_choice_of_control_brings_along_is_no_difference():
    assert changed_keys(load_setup("talos", {"walking.control": "torque"})) == {"walking.control": "torque"}


def test_a_slower_command_goes_the_same_way():
    planner = load_setup("icub_v2_7").walking.planner
    assert slower_command(VelocityCommand(0.2, 0.1, 0.3, 4.0), 0.5, planner) == VelocityCommand(0.1, 0.05, 0.15, 4.0)
    assert slower_command(GoalCommand(1.0, 0.0), 0.5, planner).speed == 0.5 * planner.commands.cruise_speed


@pytest.mark.parametrize("robot", ["icub_v2_7", "icub_v3", "talos", "g1"])
def test_all_that_differs_on_a_plant_belongs_to_one_of_its_parts(robot):
    exact, own = (flat_keys(load_setup(robot, {}, plant=plant).tables) for plant in ("ideal", "robot"))
    different = [key for key in own if key.startswith("simulation.") and exact[key] != own[key]]
    assert len(different) > 40
    for key in different:
        assert sum(key.startswith(prefixes) for prefixes in PLANT_PARTS.values()) == 1, key


def test_what_cannot_be_walked_proves_nothing():
    setup = load_setup("icub_v2_7")
    known = KnownWalk(setup, {}, EASY, 0, 6.0)
    assert known.with_settings({"planner.swing_height": -1.0}) is None


def test_a_trial_meets_no_push_and_no_fault_that_came_after_the_end_of_the_walk():
    acted, later = Push("torso", (90.0, 0.0, 0.0), 4.0, 0.1), Push("torso", (300.0, 0.0, 0.0), 8.2, 0.1)
    faults = [Fault(FaultKind.FROZEN_IMU, 9.0)]
    robot = SimpleNamespace(fall=SimpleNamespace(time=7.8), pushes=[acted, later], faults=faults)
    recorder, state = SimpleNamespace(log=[]), {"overdue": "", "is_as_configured": True}
    walk = SimpleNamespace(setup=load_setup("icub_v2_7"), robot=robot, recorder=recorder, time=10.0, seed=0, **state)
    known = KnownWalk.of(walk, EASY, BadEnd.FELL)
    assert not known.has_balanced  # nothing was recorded
    assert [push["start"] for push in known.settings["simulation.pushes"]] == [4.0]
    assert known.settings["simulation.faults"] == []
