"""The checks, one by one: exact limits, both sides, persistence."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError, ImuMeasurement, Measurement, NoSolutionFound, Side, SoleRectangle, so3
from gradiva.robot_model import ForceTorqueSensor
from gradiva.setup import load_setup
from gradiva.walking.safety import Finding, JointBounds, Response, SafetyKind, SafetySupervisor
from gradiva.walking.safety.encoder_bridge import EncoderBridge
from gradiva.walking.safety.failure_policy import FailurePolicy, FailurePolicyConfig
from gradiva.walking.safety.fall_watch import FallWatch, FallWatchConfig
from gradiva.walking.safety.foot_watch import FootWatch, FootWatchConfig
from gradiva.walking.safety.imu_trust import ImuTrust
from gradiva.walking.safety.joint_watch import JointWatch, JointWatchConfig
from gradiva.walking.safety.motor_watch import MotorWatch, MotorWatchConfig
from gradiva.walking.safety.persistence import Patience, Persistence
from gradiva.walking.safety.reference_watch import ReferenceWatch, ReferenceWatchConfig
from gradiva.walking.safety.wrench_trust import WrenchTrust

JOINTS = ("hip", "knee")
BOUNDS = JointBounds(
    np.array([-1.0, 0.0]), np.array([1.0, 2.0]), np.array([2.0, 4.0]), np.array([10.0, 20.0]), np.array([100.0, 100.0])
)
JOINT_CONFIG = JointWatchConfig(0.1, 0.0, 1.5, 0.0, 1.0, 0.0, 0.15, 0.0)
FOOT_CONFIG = FootWatchConfig(0.2, 0.5, 0.1, 0.0, 0.1)
SOLE = SoleRectangle((-0.05, 0.1), (-0.03, 0.04), 0.0)


def measured(positions=(0.0, 1.0), velocities=(0.0, 0.0), torques=(0.0, 0.0)):
    return Measurement(
        0.0, *(np.array(part, dtype=float) for part in (positions, velocities, torques)), np.zeros((2, 6))
    )


def joint_findings(measurement, told=None):
    told = measurement.joint_positions if told is None else np.array(told)
    return JointWatch(JOINT_CONFIG, JOINTS, BOUNDS).findings(measurement, told, 0.0)


def test_what_is_wrong_for_its_duration_is_told_once():
    persistence = Persistence(np.array([0.05, 0.0]))
    wrong, well = np.array([True, False]), np.array([False, False])
    assert [persistence.update(wrong, 0.01 * tick) for tick in range(5)] == [[]] * 5
    assert persistence.update(wrong, 0.05) == [0]
    assert persistence.update(wrong, 0.06) == []
    persistence.reset()
    assert persistence.update(wrong, 1.0) == []
    assert persistence.update(well, 1.04) == []
    assert persistence.update(wrong, 1.06) == []
    assert persistence.update(~wrong, 1.07) == [1]


def test_patience_begins_anew_after_a_good_tick():
    patience = Patience(0.1)
    assert not patience.is_over(True, 0.0)
    assert not patience.is_over(False, 0.05)
    assert not patience.is_over(True, 0.1)
    assert patience.is_over(True, 0.2)
    assert not patience.is_over(True, 0.3)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"positions": (0.91, 1.0)}, SafetyKind.JOINT_POSITION),
        ({"positions": (-0.91, 1.0)}, SafetyKind.JOINT_POSITION),
        ({"velocities": (3.01, 0.0)}, SafetyKind.JOINT_VELOCITY),
        ({"velocities": (-3.01, 0.0)}, SafetyKind.JOINT_VELOCITY),
        ({"torques": (10.0, 0.0)}, SafetyKind.JOINT_TORQUE),
        ({"torques": (-10.0, 0.0)}, SafetyKind.JOINT_TORQUE),
    ],
)
def test_a_joint_beyond_its_limits_is_named(values, kind):
    (finding,) = joint_findings(measured(**values))
    assert finding.kind is kind
    assert finding.subject == "hip"
    assert "the limit is" in finding.text


def test_a_joint_at_its_limits_is_well():
    assert joint_findings(measured((0.9, 0.1), (3.0, -6.0), (9.99, -19.99))) == []
    assert joint_findings(measured(torques=(np.nan, np.nan))) == []  # nothing measures them


def test_a_joint_may_be_off_by_what_its_servo_yields():
    assert joint_findings(measured((0.0, 1.0)), told=(0.19, 0.76)) == []
    (finding,) = joint_findings(measured((0.0, 1.0)), told=(0.21, 1.0))
    assert finding.kind is SafetyKind.JOINT_TRACKING
    (finding,) = joint_findings(measured((0.0, 1.0)), told=(0.0, 0.74))
    assert finding.subject == "knee"
    assert finding.text == "joint knee is off where it was told to be by 0.26 rad, the limit is 0.25 rad"


def test_motors_are_warned_of_and_then_stopped():
    watch = MotorWatch(MotorWatchConfig(70.0, 80.0, 1.0), JOINTS)
    assert watch.findings(None, 0.0) == []
    assert watch.findings(np.array([np.nan, 70.0]), 0.0) == []
    assert watch.findings(np.array([np.nan, 81.0]), 1.0) == []
    warm, hot = watch.findings(np.array([np.nan, 81.0]), 2.0)
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


def foot_findings(state, untrusted=(), both=False, seconds=0.1):
    watch = FootWatch(FOOT_CONFIG, SOLE, 100.0)
    reference = SimpleNamespace(stance_foot=Side.LEFT, is_double_support=both)
    assert watch.findings(state, reference, untrusted, 0.0) == []
    return watch.findings(state, reference, untrusted, seconds)


@pytest.mark.parametrize("moment", [(0.0, -9.99), (0.0, 4.99), (3.99, 0.0), (-2.99, 0.0)])
def test_the_centre_of_pressure_may_be_anywhere_on_the_sole(moment):
    assert foot_findings(standing(moment=moment)) == []


@pytest.mark.parametrize("moment", [(0.0, -10.01), (0.0, 5.01), (4.01, 0.0), (-3.01, 0.0)])
def test_a_centre_of_pressure_beyond_each_edge_is_found(moment):
    (finding,) = foot_findings(standing(moment=moment))
    assert finding.kind is SafetyKind.CENTRE_OF_PRESSURE
    assert finding.subject == "left"
    assert foot_findings(standing(moment=moment), both=True) == []
    assert foot_findings(standing(moment=moment), untrusted=(Side.LEFT,)) == []


def test_a_foot_that_stands_alone_has_to_carry():
    assert foot_findings(standing(left=20.0, right=80.0)) == []
    (finding,) = foot_findings(standing(left=19.9, right=80.1))
    assert finding.text == "the left foot carries 20 N alone, the limit is 20 N"
    assert foot_findings(standing(left=19.9, right=80.1), seconds=0.09) == []


def test_both_feet_together_have_to_carry():
    assert foot_findings(standing(left=49.0, right=2.0), both=True) == []
    (finding,) = foot_findings(standing(left=49.0, right=0.0), both=True)
    assert (finding.kind, finding.subject) == (SafetyKind.FOOT_FORCE, "right")


def fall_findings(tilt=0.0, dcm_error=0.0, height=0.5, lean=0.0):
    posture = SimpleNamespace(
        base_rotation=so3.exp(np.array([0.0, lean, 0.0])), base_position=np.array([0.0, 0.0, 0.5])
    )
    state = SimpleNamespace(
        base_rotation=so3.exp(np.array([0.0, tilt, 0.0])),
        base_position=np.array([0.0, 0.0, height]),
        dcm_position=np.array([dcm_error, 0.0]),
    )
    reference = SimpleNamespace(dcm=SimpleNamespace(position=np.zeros(2)))
    return [finding.text for finding in FallWatch(FallWatchConfig(0.6, 0.4, 0.8), posture).findings(state, reference)]


def test_an_upright_robot_is_not_falling():
    assert fall_findings(tilt=0.59, dcm_error=0.39, height=0.41) == []


def test_the_tilt_counts_from_a_start_posture_that_leans():
    assert fall_findings(tilt=0.8, lean=0.3) == []
    assert fall_findings(tilt=-0.35, lean=0.3) == ["the base is tilted by 37°, the limit is 34°"]


def test_a_fall_is_told_with_its_measure():
    assert fall_findings(tilt=0.7) == ["the base is tilted by 40°, the limit is 34°"]
    assert fall_findings(dcm_error=-0.5) == ["the DCM is 50 cm off its reference, the limit is 40 cm"]
    assert fall_findings(height=0.39) == ["the base is 0.39 m above the ground, the limit is 0.40 m"]


def test_references_that_stop_in_mid_swing_are_found():
    watch = ReferenceWatch(ReferenceWatchConfig(0.1))
    reference = SimpleNamespace(time=1.0, foot=lambda side: SimpleNamespace(in_contact=side is Side.LEFT))
    assert watch.findings(reference, 1.09) == []
    (finding,) = watch.findings(reference, 1.2)
    assert finding.kind is SafetyKind.STALE_REFERENCE
    assert "while the right foot swings" in finding.text


def bridge():
    encoders = EncoderBridge(JOINTS, np.array([10.0, 10.0]), margin=0.05, duration=0.05)
    encoders.update(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), 0.01, 0.0)
    return encoders


def read(encoders, positions, time, velocities=(0.0, 0.0), told=(1.0, 1.0)):
    told = np.array(told)
    return encoders.update(np.array(positions), np.array(velocities), 0.01 * told, told, 0.01, time)


def test_encoders_that_move_as_fast_as_joints_can_are_believed():
    positions = np.array([0.149, -0.149])
    believed, velocities, found = bridge().update(positions, positions, np.ones(2), np.ones(2), 0.01, 0.01)
    assert believed is positions
    assert velocities is positions
    assert found == []


@pytest.mark.parametrize("wrong", [0.151, -0.151, np.nan, np.inf])
def test_a_single_wrong_encoder_reading_is_bridged_by_what_the_joint_was_told(wrong):
    encoders = bridge()
    positions, velocities, found = read(encoders, (wrong, 0.02), 0.01, velocities=(33.0, 2.0))
    np.testing.assert_allclose(positions, [0.01, 0.02])
    np.testing.assert_allclose(velocities, [1.0, 2.0])
    assert found == []
    positions, velocities, _ = read(encoders, (0.03, 0.04), 0.02, velocities=(-33.0, 2.0))
    np.testing.assert_allclose(positions, [0.03, 0.04])
    np.testing.assert_allclose(velocities, [1.0, 2.0])  # the difference to the wrong reading
    assert read(encoders, (0.03, 0.04), 0.03, velocities=(0.5, 0.5))[1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("wrong", "kind"), [(0.5, SafetyKind.ENCODER_JUMP), (np.nan, SafetyKind.SENSOR_NOT_FINITE)])
def test_a_lasting_one_is_named(wrong, kind):
    encoders = bridge()
    for tick in range(1, 6):
        assert read(encoders, (0.0, wrong), 0.01 * tick)[2] == []
    positions, _, (finding,) = read(encoders, (0.0, wrong), 0.06)
    assert (finding.kind, finding.subject) == (kind, "knee")
    np.testing.assert_allclose(positions, [0.0, 0.06])


SENSORS = (ForceTorqueSensor("l_ft", Side.LEFT, "l"), ForceTorqueSensor("r_ft", Side.RIGHT, "r"))


def wrenches(left, right):
    return np.array([[0.0, 0.0, left, 0.0, 0.0, 0.0], [0.0, 0.0, right, 0.0, 0.0, 0.0]])


def test_a_frozen_force_sensor_is_not_believed_any_more():
    trust = WrenchTrust(SENSORS, frozen_duration=0.04, bridge_duration=0.05)
    for tick in range(4):
        assert trust.update(wrenches(7.0, tick), 0.01 * tick)[1] == []
    assert trust.untrusted == frozenset()
    _, (finding,) = trust.update(wrenches(7.0, 9.0), 0.04)
    assert (finding.kind, finding.subject) == (SafetyKind.SENSOR_FROZEN, "l_ft")
    assert trust.untrusted == {Side.LEFT}
    trust.update(wrenches(8.0, 10.0), 0.05)
    assert trust.untrusted == {Side.LEFT}
    trust.reset()
    assert trust.untrusted == frozenset()


def test_a_foot_in_the_air_is_not_frozen():
    trust = WrenchTrust(SENSORS, 0.04, 0.05)
    assert all(trust.update(wrenches(0.0, tick), 0.1 * tick)[1] == [] for tick in range(9))


def test_a_wrench_that_is_not_finite_is_bridged_and_its_foot_not_believed_meanwhile():
    trust = WrenchTrust(SENSORS, 0.04, 0.05)
    trust.update(wrenches(7.0, 8.0), 0.0)
    bridged, found = trust.update(wrenches(np.nan, 9.0), 0.01)
    np.testing.assert_array_equal(bridged, wrenches(7.0, 9.0))
    assert (found, trust.untrusted) == ([], {Side.LEFT})
    trust.update(wrenches(7.5, 9.5), 0.02)
    assert trust.untrusted == frozenset()
    found = [finding for tick in range(6) for finding in trust.update(wrenches(np.nan, tick), 0.03 + 0.01 * tick)[1]]
    assert [finding.subject for finding in found] == ["l_ft"]


def test_an_imu_is_left_out_while_it_says_nothing_finite_and_for_good_when_it_freezes():
    trust = ImuTrust(0.04, 0.05)
    assert trust.update(None, 0.0) == (None, [])
    alive, wrong = ImuMeasurement(np.eye(3), np.array([0.1, 0.0, 0.0])), ImuMeasurement(np.eye(3), np.full(3, np.nan))
    assert trust.update(alive, 0.01) == (alive, [])
    assert trust.update(wrong, 0.02) == (None, [])
    assert trust.update(alive, 0.03) == (alive, [])
    believed, (finding,) = trust.update(alive, 0.05)
    assert (believed, finding.kind) == (None, SafetyKind.SENSOR_FROZEN)


def test_ticks_that_fail_for_too_long_without_a_break_are_a_finding():
    policy = FailurePolicy(FailurePolicyConfig(failed_duration=0.02, relaxed_duration=0.2))
    error = NoSolutionFound("inverse kinematics", "infeasible")
    assert policy.failed(error, 0.00) == policy.failed(error, 0.01) == []
    policy.succeeded()
    assert policy.failed(error, 0.03) == policy.failed(error, 0.04) == []
    (finding,) = policy.failed(error, 0.05)
    assert finding.kind is SafetyKind.NO_SOLUTION
    assert finding.text.startswith("3 ticks failed in a row, the last one: inverse kinematics")


def supervisor(*overrides):
    setup = load_setup("icub_v2_7", overrides)
    joints = len(setup.robot.joints)
    bounds = JointBounds(-np.ones(joints), np.ones(joints), *(np.ones(joints) for _ in range(3)))
    posture = SimpleNamespace(base_rotation=np.eye(3), base_position=np.array([0.0, 0.0, 0.5]))
    return SafetySupervisor(setup.walking.safety, setup.robot, bounds, posture)


def test_each_finding_becomes_one_event_and_the_gravest_is_returned():
    warm, tilt = Finding(SafetyKind.MOTOR_WARM, "l_knee", "warm"), Finding(SafetyKind.TILT, "", "tilted")
    safety = supervisor()
    event = safety.note([warm, tilt], 1.5)
    assert (event.kind, event.response) == (SafetyKind.TILT, Response.FREEZE)
    assert safety.note([warm], 2.0) is None
    assert [event.response for event in safety.events] == [Response.WARN, Response.FREEZE]
    assert safety.events[0].as_table() == {
        "time_s": 1.5,
        "kind": "motor_warm",
        "subject": "l_knee",
        "response": "warn",
        "text": "warm",
    }
    safety.reset()
    assert safety.note([warm], 3.0) is not None


def test_responses_are_configured():
    safety = supervisor("safety.responses.motor_hot=freeze")
    assert safety.note([Finding(SafetyKind.MOTOR_HOT, "l_knee", "hot")], 0.0).response is Response.FREEZE


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("responses.motor_hot", "ignore", "unknown value 'ignore'"),
        ("responses.tilt", "finish the step", "a robot that falls cannot"),
        ("joints.velocity_factor", 0.0, "velocity_factor=0.0"),
        ("joints.torque_duration", -1.0, "torque_duration=-1.0"),
        ("motors.warn_temperature", 90.0, "must be below stop_temperature"),
        ("feet.minimum_force", 1.0, "minimum_force=1.0"),
        ("fall.max_tilt", 0.0, "max_tilt=0.0"),
        ("fall.min_base_height", 1.0, "min_base_height=1.0"),
        ("sensors.max_age", 0.0, "max_age=0.0"),
        ("reference.max_age", 0.0, "max_age=0.0"),
        ("failures.failed_duration", 0.0, "failed_duration=0.0"),
        ("failures.relaxed_duration", 0.0, "relaxed_duration=0.0"),
    ],
)
def test_limits_that_cannot_work_are_refused_by_name(key, value, message):
    with pytest.raises(ConfigError, match=message):
        load_setup("icub_v2_7", {f"safety.{key}": value})


def test_a_measurement_keeps_the_temperatures_it_is_given():
    warm = replace(measured(), motor_temperatures=np.array([40.0, np.nan]))
    assert warm.motor_temperatures is not None
    assert not warm.motor_temperatures.flags.writeable
