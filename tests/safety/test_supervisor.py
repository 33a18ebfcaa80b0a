"""Findings become events with responses."""

import re
from dataclasses import replace
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError, Measurement, NoSolutionFound, Side
from gradiva.safety import Finding, JointBounds, Response, SafetyKind, SafetySupervisor, failed_tick
from gradiva.safety.supervisor import FailurePolicy, FailurePolicyConfig
from gradiva.setup import load_setup


def test_ticks_that_fail_for_too_long_without_a_break_are_a_finding():
    policy = FailurePolicy(FailurePolicyConfig(failed_duration=0.02, relaxed_duration=0.2))
    error = NoSolutionFound("inverse kinematics", "infeasible")
    assert kinds(policy.failed(error, 0.00)) == kinds(policy.failed(error, 0.01)) == [SafetyKind.FAILED_TICK]
    policy.succeeded()
    assert kinds(policy.failed(error, 0.03)) == kinds(policy.failed(error, 0.04)) == [SafetyKind.FAILED_TICK]
    _, finding = policy.failed(error, 0.05)
    assert finding.kind is SafetyKind.NO_SOLUTION
    assert finding.text.startswith("3 ticks failed in a row, the last one: NoSolutionFound inverse kinematics")
    policy.reset()
    assert kinds(policy.failed(error, 0.06)) == [SafetyKind.FAILED_TICK]


def kinds(findings):
    return [finding.kind for finding in findings]


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("cannot say")


def raised(error, by=lambda error: (_ for _ in ()).throw(error)):
    try:
        next(by(error))
    except Exception as caught:
        return failed_tick(caught)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("x"), "KeyError 'x'"),
        (MemoryError(), "MemoryError without a message"),
        (MuteError(), "MuteError without a message"),
        (RuntimeError("Assertion failed\n" * 900), "RuntimeError Assertion failed"),
        (ValueError("long " * 900), "ValueError " + ("long " * 40)),
    ],
)
def test_a_failed_tick_says_what_and_where(error, said):
    finding = raised(error)
    assert finding.subject == type(error).__name__
    assert re.fullmatch(rf"{re.escape(said)} \(test_supervisor.py:\d+\)", finding.text)
    with pytest.raises(ConfigError) as caught:
        load_setup("no such robot")
    assert failed_tick(caught.value).subject == "ConfigError in setup"


def module(name, file, code):
    """Return the names of a module of some lines."""
    names = {"__name__": name}
    exec(compile(code, file, "exec"), names)
    return names


ROOM = "def update(law):\n    return law()\n"


@pytest.mark.parametrize(
    ("law", "lines"),
    [
        ("def law():\n\n    return {}['x']\n", "my_law.py:3"),
        ("def law():\n    return lookup('x')\n", r"my_law.py:2, library.py:2"),
        ("def law():\n    return update(lambda: lookup('x'))\n", r"my_law.py:2, library.py:2"),
    ],
    ids=["in the law", "in what the law calls", "in our code that the law calls"],
)
def test_an_error_of_a_law_of_ones_own_names_its_line_and_logs_its_traceback_once(law, lines, caplog):
    ours = module("gradiva.simplified_model.simplified_model_control", "/gradiva/model_control.py", ROOM)
    library = module("library", "/site-packages/library.py", "def lookup(key):\n    return {}[key]\n")
    mine = module("my_law", "/mine/my_law.py", law) | {"lookup": library["lookup"], "update": ours["update"]}
    own = FunctionType(mine["law"].__code__, mine)
    safety = supervisor()
    for time in (1.0, 1.01):
        with pytest.raises(KeyError) as caught:
            ours["update"](own)
        safety.failed(caught.value, time)
    (event,) = safety.events
    assert event.text == f"KeyError 'x' in simplified_model ({lines})"
    assert [record.getMessage() for record in caplog.records] == [event.text]
    assert "my_law.py" in caplog.text.partition("Traceback")[2]


def test_an_error_that_passed_what_guards_code_of_others_is_of_the_room_that_asked():
    ours = module("gradiva.walking.walking_controller", "/gradiva/walking.py", ROOM)
    guard = module("gradiva.common.plugins", "/gradiva/plugins.py", ROOM)
    mine = module("my_task", "/mine/my_task.py", "def signals():\n    return {}['x']\n")
    with pytest.raises(KeyError) as caught:
        ours["update"](lambda: guard["update"](mine["signals"]))
    assert failed_tick(caught.value).text.startswith("KeyError 'x' in walking (")
    assert "my_task.py:2" in failed_tick(caught.value).text


def test_errors_of_our_own_code_and_named_ones_log_no_traceback(caplog):
    safety = supervisor()
    for error in (KeyError("x"), ConfigError("named")):
        safety.failed(error, 1.0)
    assert (len(safety.events), caplog.records) == (2, [])


def supervisor(*overrides, robot=None):
    setup = load_setup("icub_v2_7", overrides)
    joints = len(setup.robot.joints)
    bounds = JointBounds(-np.ones(joints), np.ones(joints), *(np.ones(joints) for _ in range(3)))
    posture = SimpleNamespace(base_rotation=np.eye(3), base_position=np.array([0.0, 0.0, 0.5]))
    return SafetySupervisor(setup.walking.safety, robot or setup.robot, bounds, posture)


def test_each_finding_becomes_one_event_and_the_most_severe_is_returned():
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


def test_only_a_finding_that_names_a_foot_makes_its_force_sensor_untrusted():
    safety = supervisor()
    assert safety.note([Finding(SafetyKind.FOOT_FORCE, "both soles", "light")], 0.0).subject == "both soles"
    assert safety.untrusted_feet == frozenset()
    safety.note([Finding(SafetyKind.FOOT_FORCE, "left", "light")], 0.0)
    assert safety.untrusted_feet == {Side.LEFT}


def test_a_suspected_foot_whose_sensors_read_its_load_again_is_trusted_in_the_same_tick():
    safety, robot = supervisor(), load_setup("icub_v2_7").robot
    joints, rows = np.zeros(len(robot.joints)), robot.sensors_of(Side.LEFT)
    last = SimpleNamespace(positions=joints, velocities=joints)

    def checked(force, time):
        wrenches = np.zeros((len(robot.force_torque_sensors), 6))
        wrenches[rows[0], 2] = force
        return safety.checked(Measurement(time, joints, joints, joints, wrenches), last, time).contact_wrenches[rows]

    safety._feet.suspected = Side.LEFT
    assert np.isnan(checked(4.0, 0.00)).all()  # noise
    assert (safety.suspected_foot, safety.untrusted_feet) == (Side.LEFT, {Side.LEFT})
    assert checked(200.0, 0.01)[0, 2] == 200.0
    assert (safety.suspected_foot, safety.untrusted_feet) == (None, frozenset())


RESPONSES = {
    "joints": "joint_position joint_velocity joint_torque joint_tracking",
    "motor_warm": "motor_warm",
    "motor_hot": "motor_hot",
    "feet": "centre_of_pressure foot_force",
    "fall": "tilt base_height dcm_error",
    "sensors": "sensor_not_finite encoder_jump sensor_frozen stale_measurement",
    "references": "stale_reference",
    "control_mode": "control_mode",
    "own_check": "own_check",
}


def test_torso_and_legs_carry_and_the_robot_walks_on_without_an_arm():
    safety = supervisor()
    arm = Finding(SafetyKind.ARM_TRACKING, "l_elbow", "does not follow")
    assert safety.note([arm], 0.0).response is Response.WARN
    carrying = safety._joints._carrying
    assert {"torso_pitch", "l_knee", "r_ankle_roll"} < carrying
    assert not {"l_elbow", "r_shoulder_yaw"} & carrying


def test_a_group_of_another_name_carries():
    robot = load_setup("icub_v2_7").robot
    groups = {"waist" if name == "torso" else name: group for name, group in robot.joint_groups.items()}
    safety = supervisor(robot=replace(robot, joint_groups=groups))
    assert set(robot.joint_groups["torso"].joints) < safety._joints._carrying


@pytest.mark.parametrize(("choice", "kinds"), RESPONSES.items())
def test_responses_are_configured(choice, kinds):
    shipped = load_setup("icub_v2_7").walking.safety.responses
    for wanted in (Response.WARN, Response.FREEZE):
        responses = replace(shipped, **{choice: wanted})
        assert {str(kind) for kind in SafetyKind if responses.of(kind) is wanted} >= set(kinds.split())
        others = [kind for kind in SafetyKind if str(kind) not in kinds.split()]
        assert [responses.of(kind) for kind in others] == [shipped.of(kind) for kind in others]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("responses.motor_hot", "ignore", "unknown value 'ignore'"),
        ("responses.fall", "finish the step", "a robot that falls cannot"),
        ("joints.velocity_factor", 0.0, "velocity_factor=0.0"),
        ("joints.torque_duration", -1.0, "torque_duration=-1.0"),
        ("motors.warn_temperature", 90.0, "must be below stop_temperature"),
        ("motors.stop_temperature", 60.0, "must be below stop_temperature"),
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
