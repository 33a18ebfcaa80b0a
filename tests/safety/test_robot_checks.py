"""The checks of the robot, one by one: exact limits, both sides, durations."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import Debounce, Measurement, Side, SoleRectangle, VectorDebounce, WalkingReference, so3
from gradiva.safety import JointBounds, SafetyKind
from gradiva.safety.robot_checks import (
    BLOW_DURATION,
    FallCheck,
    FallCheckConfig,
    FootCheck,
    FootCheckConfig,
    JointCheck,
    JointCheckConfig,
    MotorCheck,
    MotorCheckConfig,
    ReferenceAgeCheck,
    ReferenceAgeCheckConfig,
    beside_limit,
)

JOINTS = ("hip", "knee")
BOUNDS = JointBounds(
    np.array([-1.0, 0.0]), np.array([1.0, 2.0]), np.array([2.0, 4.0]), np.array([10.0, 20.0]), np.array([100.0, 100.0])
)
JOINT_CONFIG = JointCheckConfig(0.1, 1.5, 0.0, 0.0, 0.0)
FOOT_CONFIG = FootCheckConfig(0.2, 0.1, 0.0)
SOLE = SoleRectangle((-0.05, 0.1), (-0.03, 0.04), 0.0)


def measured(positions=(0.0, 1.0), velocities=(0.0, 0.0), torques=(0.0, 0.0)):
    return Measurement(
        0.0, *(np.array(part, dtype=float) for part in (positions, velocities, torques)), np.zeros((2, 6))
    )


def joint_findings(measurement, commanded=None, carrying=JOINTS):
    commanded = measurement.joint_positions if commanded is None else np.array(commanded)
    check = JointCheck(JOINT_CONFIG, JOINTS, BOUNDS, carrying)
    return [finding for time in (0.0, 0.1) for finding in check.findings(measurement, commanded, time)]


def test_a_joint_that_carries_nothing_may_be_too_fast_for_as_long_as_a_blow_spins_it():
    check, found = JointCheck(JOINT_CONFIG, JOINTS, BOUNDS, ("hip",)), []
    for time in (0.0, 0.1, BLOW_DURATION - 0.01, BLOW_DURATION):
        spun = measured(velocities=(3.1, -6.1))
        found += [(time, new.kind, new.subject) for new in check.findings(spun, spun.joint_positions, time)]
    assert found == [(0.0, SafetyKind.JOINT_VELOCITY, "hip"), (BLOW_DURATION, SafetyKind.JOINT_VELOCITY, JOINTS[1])]
    page = Path(__file__).parents[2] / "docs" / "how_it_works" / "safety.md"
    assert f"may be too fast for {BLOW_DURATION:g} s |" in page.read_text(encoding="utf-8")


def test_a_violation_that_lasts_for_its_duration_is_reported_once():
    debounce = VectorDebounce(np.array([0.05, 0.0]))
    wrong, well = np.array([True, False]), np.array([False, False])
    assert [debounce.update(wrong, 0.01 * tick) for tick in range(5)] == [[]] * 5
    assert debounce.update(wrong, 0.05) == [0]
    assert debounce.update(wrong, 0.06) == []
    debounce.reset()
    assert debounce.update(wrong, 1.0) == []
    assert debounce.update(well, 1.04) == []
    assert debounce.update(wrong, 1.06) == []
    assert debounce.update(~wrong, 1.07) == [1]


def test_a_debounce_begins_anew_after_a_good_tick():
    debounce = Debounce(0.1)
    assert not debounce.update(True, 0.0)
    assert not debounce.update(False, 0.05)
    assert not debounce.update(True, 0.1)
    assert debounce.update(True, 0.2)
    assert not debounce.update(True, 0.3)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"positions": (0.91, 1.0)}, SafetyKind.JOINT_POSITION),
        ({"positions": (-0.91, 1.0)}, SafetyKind.JOINT_POSITION),
        ({"velocities": (3.01, 0.0)}, SafetyKind.JOINT_VELOCITY),
        ({"velocities": (-3.01, 0.0)}, SafetyKind.JOINT_VELOCITY),
        ({"torques": (9.8, 0.0)}, SafetyKind.JOINT_TORQUE),
        ({"torques": (-9.8, 0.0)}, SafetyKind.JOINT_TORQUE),
    ],
)
def test_a_joint_beyond_its_limits_is_named(values, kind):
    (finding,) = joint_findings(measured(**values))
    assert finding.kind is kind
    assert finding.subject == "hip"
    assert "the limit is" in finding.text


def test_a_joint_at_its_limits_is_well():
    assert joint_findings(measured((0.9, 0.1), (3.0, -6.0), (9.79, -19.59))) == []
    assert joint_findings(measured(torques=(np.nan, np.nan))) == []  # nothing measures them


def test_a_joint_may_be_off_by_the_deflection_of_its_servo():
    assert joint_findings(measured((0.0, 1.0)), commanded=(0.19, 0.76)) == []
    (finding,) = joint_findings(measured((0.0, 1.0)), commanded=(0.21, 1.0))
    assert finding.kind is SafetyKind.JOINT_TRACKING
    (finding,) = joint_findings(measured((0.0, 1.0)), commanded=(0.0, 0.74))
    assert finding.subject == "knee"
    assert finding.text == "joint knee differs from its command by 0.26 rad, the limit is 0.25 rad"


def test_a_joint_that_carries_nothing_and_does_not_follow_is_a_kind_of_its_own():
    kinds = [finding.kind for finding in joint_findings(measured(), (0.21, 0.74), carrying=("hip",))]
    assert kinds == [SafetyKind.JOINT_TRACKING, SafetyKind.ARM_TRACKING]
    (finding,) = joint_findings(measured(torques=(0.0, -19.7)), carrying=("hip",))
    assert finding.kind is SafetyKind.JOINT_TORQUE


def test_motors_are_warned_of_and_then_stopped():
    check = MotorCheck(MotorCheckConfig(70.0, 80.0), JOINTS)
    assert check.findings(None, 0.0) == []
    assert check.findings(np.array([np.nan, 70.0]), 0.0) == []
    assert check.findings(np.array([np.nan, 81.0]), 1.0) == []
    warm, hot = check.findings(np.array([np.nan, 81.0]), 2.0)
    assert (warm.kind, hot.kind) == (SafetyKind.MOTOR_WARM, SafetyKind.MOTOR_HOT)
    assert hot.text == "the motor of knee has 81 °C, the limit is 80 °C"


def standing(left=100.0, right=0.0, moment=(0.0, 0.0)):
    """A robot of 100 N on its left foot, turned by 90°."""
    rotation = so3.rotation_z(0.5 * np.pi)
    wrench = np.concatenate([rotation @ [0.0, 0.0, left], rotation @ [*moment, 0.0]])
    wrenches = {Side.LEFT: wrench, Side.RIGHT: np.array([0.0, 0.0, right, 0.0, 0.0, 0.0])}
    return SimpleNamespace(
        foot_wrench=wrenches.get,
        foot_rotation=lambda side: rotation,
        left_foot_wrench=wrenches[Side.LEFT],
        right_foot_wrench=wrenches[Side.RIGHT],
    )


def planned_support(both, zmp=None):
    """Left foot alone, or both; the ZMP between them at ``zmp``."""
    feet = {
        Side.LEFT: SimpleNamespace(position=np.array([0.0, 0.08, 0.0]), in_contact=True),
        Side.RIGHT: SimpleNamespace(position=np.array([0.0, -0.08, 0.0]), in_contact=both),
    }
    zmp = (0.0 if both else 0.08) if zmp is None else zmp
    reference = SimpleNamespace(
        stance_foot=Side.LEFT,
        is_double_support=both,
        foot=feet.get,
        left_foot=feet[Side.LEFT],
        right_foot=feet[Side.RIGHT],
        dcm=SimpleNamespace(zmp_position=np.array([0.0, zmp])),
    )
    reference.right_load_fraction = WalkingReference.right_load_fraction.fget(reference)
    return reference


def foot_findings(state, untrusted=(), both=False, seconds=0.15, config=FOOT_CONFIG, zmp=None):
    check, reference = FootCheck(config, SOLE, 100.0), planned_support(both, zmp)
    assert check.findings(state, reference, untrusted, 0.0) == []
    return check.findings(state, reference, untrusted, seconds)


@pytest.mark.parametrize("moment", [(0.0, -10.49), (0.0, 5.49), (4.49, 0.0), (-3.49, 0.0)])
def test_the_centre_of_pressure_may_be_anywhere_on_the_sole(moment):
    assert foot_findings(standing(moment=moment)) == []


@pytest.mark.parametrize("moment", [(0.0, -10.51), (0.0, 5.51), (4.51, 0.0), (-3.51, 0.0)])
def test_a_centre_of_pressure_beyond_each_edge_is_found(moment):
    (finding,) = foot_findings(standing(moment=moment))
    assert finding.kind is SafetyKind.CENTRE_OF_PRESSURE
    assert finding.subject == "left"
    assert foot_findings(standing(moment=moment), both=True) == []
    assert foot_findings(standing(moment=moment), untrusted=(Side.LEFT,)) == []


def test_a_centre_of_pressure_may_be_off_by_the_gains_of_the_sensor():
    config = replace(FOOT_CONFIG, pressure_gain_error=0.1)
    assert foot_findings(standing(moment=(0.0, -11.49)), config=config) == []
    (finding,) = foot_findings(standing(moment=(0.0, -12.0)), config=config)
    assert "is 4.5 mm beyond its limit" in finding.text


def test_a_foot_that_stands_alone_has_to_carry():
    assert foot_findings(standing(left=20.0, right=80.0), seconds=0.2) == []
    both, finding = foot_findings(standing(left=19.9), seconds=0.1)
    assert (both.subject, finding.subject) == ("left", "left")
    assert both.text.startswith("both feet carry 20 N together")
    assert finding.text == "the left foot carries 19.9 N alone, the limit is 20.0 N"
    assert foot_findings(standing(left=19.9), seconds=0.09) == []
    assert foot_findings(standing(left=19.9), seconds=0.09, config=replace(FOOT_CONFIG, force_duration=0.09)) != []


def test_a_foot_that_lands_early_may_carry_the_robot_for_a_while():
    assert foot_findings(standing(left=19.9, right=80.1), seconds=0.14) == []
    (finding,) = foot_findings(standing(left=19.9, right=80.1), seconds=0.15)
    assert finding.text == "the left foot carries 19.9 N alone, the limit is 20.0 N"


def found_after(loads, reference, period=0.01):
    """Return how long the loads of both feet, [N], last until something is found, [s], after 1 s of half of them."""
    check = FootCheck(FOOT_CONFIG, SOLE, 100.0)
    assert check.findings(standing(left=50.0, right=50.0), reference, (), 1.0) == []
    for tick in range(100):
        if found := check.findings(standing(*loads), reference, (), 1.0 + (tick + 1) * period):
            return tick * period, found
    return None, []


def test_loads_begin_anew_when_a_foot_is_trusted_again():
    check, pulls, both = FootCheck(FOOT_CONFIG, SOLE, 100.0), standing(70.0, -10.0), planned_support(both=True)
    for time in (0.0, 0.01, 0.02):
        assert check.findings(pulls, both, (), time) == []
    assert check.findings(pulls, both, (Side.LEFT,), 1.0) == []
    assert check.findings(pulls, both, (), 1.01) == []


def test_a_foot_in_the_air_that_pulls_accuses_nothing():
    after, found = found_after((80.0, -20.0), planned_support(both=False))
    assert (after, found) == (None, [])


def test_a_standing_duration_begins_when_a_foot_stands_alone():
    """TALOS, pushed: the other foot landed early, then both stood, and at once it was said to have done so for long."""
    check, early = FootCheck(FOOT_CONFIG, SOLE, 100.0), standing(left=0.0, right=95.0)
    for time in (0.0, 0.14):
        assert check.findings(early, planned_support(both=False), (), time) == []
    assert check.findings(standing(left=40.0, right=60.0), planned_support(both=True), (), 0.15) == []
    assert check.findings(early, planned_support(both=False), (), 0.5) == []
    assert check.findings(early, planned_support(both=False), (), 0.64) == []
    (finding,) = check.findings(early, planned_support(both=False), (), 0.65)
    assert finding.text == "the left foot carries 0 N alone, the limit is 20 N"


@pytest.mark.parametrize("loads", [(36.0, 4.8), (33.0, 9.5), (20.0, 0.0), (48.0, 0.0), (0.0, 49.0)])
def test_feet_that_a_blow_unloads_for_as_long_as_it_lasts_are_well(loads):
    """Loads of TALOS and iCub v3, as parts of a hundred, under blows of 0.08 s from below."""
    after, _ = found_after(loads, planned_support(both=True))
    assert after >= 0.08


def test_both_feet_together_have_to_carry():
    assert found_after((49.0, 2.0), planned_support(both=True))[1] == []
    after, (finding,) = found_after((30.0, 12.0), planned_support(both=True))
    assert (round(after, 3), finding.subject) == (0.2, "right")
    assert finding.text.startswith("both feet carry 42 N together, the limit is 50 N: most lacks on the right foot")
    for zmp, subject in ((0.06, "left"), (-0.06, "right")):
        after, (finding,) = found_after((0.0, 0.0), planned_support(both=True, zmp=zmp))
        assert (round(after, 3), finding.subject) == (0.06, subject)


def test_a_sensor_that_has_died_under_a_foot_is_known_when_the_robot_would_fall():
    """The foot that stands alone: 0.06 s; half of the weight: 0.13 s; a foot that the other way round pulls: sooner."""
    dead = ((0.0, 0.0), False, 0.06), ((50.0, 0.0), True, 0.13), ((50.0, -50.0), True, 0.06)
    half_dead = (40.0, 0.0), False, 0.1  # one of the two sensors of a foot of iCub v3
    for loads, both, seconds in (*dead, half_dead):
        after, (finding,) = found_after(loads, planned_support(both))
        assert (round(after, 3), finding.kind) == (seconds, SafetyKind.FOOT_FORCE)
        assert finding.subject == ("right" if both else "left")


def test_a_foot_that_reads_nothing_where_it_stands_is_suspected_at_once_and_dead_when_the_robot_would_fall():
    check, both = FootCheck(FOOT_CONFIG, SOLE, 100.0), planned_support(both=True, zmp=-0.06)
    assert check.findings(standing(left=0.5, right=91.0), both, (), 0.0) == []  # it lands late
    assert check.suspected is None
    speed, time = 0.0, 0.0
    while speed <= 0.5:  # [m/s] by the half of the weight that lacks of what robots carry that walk
        assert check.findings(standing(left=0.5, right=40.0), both, (), time) == []
        assert check.suspected is Side.LEFT  # though the plan has most of the load on the other foot, which lacks more
        time += 0.01
        speed += 0.01 * 9.81 * (0.9 - 0.405)
    (finding,) = check.findings(standing(left=0.5, right=40.0), both, (), time)
    assert (finding.kind, finding.subject) == (SafetyKind.FOOT_FORCE, "left")
    assert "its sensor is dead" in finding.text
    assert check.findings(standing(left=0.5, right=0.0), both, (Side.LEFT,), time + 2.0) == []  # nor is the other one
    assert check.suspected is None


def test_of_two_feet_that_read_nothing_the_one_known_before_is_suspected():
    check, both = FootCheck(FOOT_CONFIG, SOLE, 100.0), planned_support(both=True)
    check.findings(standing(left=0.0, right=0.0), both, (), 0.0)
    assert check.suspected is None  # in the air
    check.findings(standing(left=30.0, right=0.0), both, (), 0.01)
    check.findings(standing(left=0.0, right=0.0), both, (), 0.02)
    assert check.suspected is Side.RIGHT
    check.note_reading(4.0)  # noise
    check.findings(standing(left=40.0, right=51.0), both, (), 0.03)
    assert check.suspected is Side.RIGHT  # whose load in the state is an estimate by now
    check.note_reading(51.0)
    assert check.suspected is None


def fall_findings(tilt=0.0, dcm_error=0.0, height=0.5, lean=0.0, feet=(0.0, 0.0), start=0.5):
    posture = SimpleNamespace(
        base_rotation=so3.exp(np.array([0.0, lean, 0.0])), base_position=np.array([0.0, 0.0, start])
    )
    state = SimpleNamespace(
        base_rotation=so3.exp(np.array([0.0, tilt, 0.0])),
        base_position=np.array([0.0, 0.0, height]),
        dcm_position=np.array([dcm_error, 0.0]),
        left_foot_position=np.array([feet[0], 0.1, 0.0]),
        right_foot_position=np.array([feet[1], -0.1, 0.0]),
    )
    reference = SimpleNamespace(dcm=SimpleNamespace(position=np.zeros(2)))
    return [
        finding.text
        for finding in FallCheck(FallCheckConfig(0.6, 0.4, 0.6, 0.8), posture, 0.4).findings(state, reference)
    ]


def test_an_upright_robot_is_not_falling():
    assert fall_findings(tilt=0.59, dcm_error=0.39, height=0.41) == []


def test_the_tilt_counts_from_a_start_posture_that_leans():
    assert fall_findings(tilt=0.8, lean=0.3) == []
    assert fall_findings(tilt=-0.35, lean=0.3) == ["the base is tilted by 37°, the limit is 34°"]


def test_a_fall_is_reported_with_value_and_limit():
    assert fall_findings(tilt=0.7) == ["the base is tilted by 40°, the limit is 34°"]
    assert fall_findings(dcm_error=-0.5) == ["the DCM is 50 cm off its reference, the limit is 40 cm"]
    assert fall_findings(height=0.39) == ["the base is 0.39 m above the ground, the limit is 0.40 m"]
    assert fall_findings(start=-0.1, height=-0.17) == []  # a frame at the ground, the CoM 0.4 m above it
    assert fall_findings(start=-0.1, height=-0.19) == ["the base is -0.19 m above the ground, the limit is -0.18 m"]


def test_a_dcm_that_no_step_reaches_is_found_though_its_reference_follows_it():
    assert fall_findings(feet=(-0.8, -0.5)) == []
    assert fall_findings(feet=(-0.8, 0.7)) == ["the DCM is 71 cm from the nearer foot, the limit is 60 cm"]


def test_references_that_stop_in_mid_swing_are_found():
    check = ReferenceAgeCheck(ReferenceAgeCheckConfig(0.1))
    reference = SimpleNamespace(time=1.0, foot=lambda side: SimpleNamespace(in_contact=side is Side.LEFT))
    assert check.findings(reference, 1.09) == []
    (finding,) = check.findings(reference, 1.2)
    assert finding.kind is SafetyKind.STALE_REFERENCE
    assert "while the right foot swings" in finding.text


def test_a_measurement_keeps_the_temperatures_it_is_given():
    warm = replace(measured(), motor_temperatures=np.array([40.0, np.nan]))
    assert warm.motor_temperatures is not None
    assert not warm.motor_temperatures.flags.writeable


def test_a_value_beside_its_limit_has_the_digits_that_differ():
    assert beside_limit(0.4699, 0.47, 2, " m") == "0.4699 m, the limit is 0.4700 m"
    assert beside_limit(0.4, 0.47, 2, " m", " above the ground") == "0.40 m above the ground, the limit is 0.47 m"
