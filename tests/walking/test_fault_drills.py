"""A sensor or a motor fails while the robot walks: it ends standing, in a named state, by a named event."""

import numpy as np
import pytest

from gradiva.planner import VelocityCommand
from gradiva.simulation import Fault, FaultKind
from gradiva.walking import Response, SafetyKind, WalkingState
from tests.conftest import long

pytestmark = pytest.mark.walk

FAULTS = {
    "frozen force sensor": (FaultKind.FROZEN_WRENCH, "l_foot_ft", 0.0, SafetyKind.SENSOR_FROZEN),
    "force sensor without numbers": (FaultKind.NAN_WRENCH, "l_foot_ft", 0.0, SafetyKind.SENSOR_NOT_FINITE),
    "encoder jump": (FaultKind.ENCODER_OFFSET, "l_knee", 0.3, SafetyKind.ENCODER_JUMP),
    "encoder without numbers": (FaultKind.NAN_ENCODER, "l_knee", 0.0, SafetyKind.SENSOR_NOT_FINITE),
    "IMU without numbers": (FaultKind.NAN_IMU, "", 0.0, SafetyKind.SENSOR_NOT_FINITE),
    "frozen IMU": (FaultKind.FROZEN_IMU, "", 0.0, SafetyKind.SENSOR_FROZEN),
    "IMU without rates": (FaultKind.DEAD_GYROSCOPE, "", 0.0, SafetyKind.SENSOR_FROZEN),
    "knee without velocity": (FaultKind.DEAD_VELOCITY, "l_knee", 0.0, SafetyKind.SENSOR_FROZEN),
    "silence": (FaultKind.SILENCE, "", 0.0, SafetyKind.STALE_MEASUREMENT),
}


def drill(ready, robot, fault, at, duration=None, value=0.0, name=""):
    """Walk, let the fault happen ``at`` seconds later, wait for the end, stand for 2 s."""
    walk = ready(robot)
    walk.robot.inject(Fault(fault, round(walk.time + at, 3), duration, name, value))
    walk.controller.walk(VelocityCommand(0.25))
    assert walk.run_until(lambda: walk.controller.state is not WalkingState.WALKING, at + 8.0)
    assert walk.run(2.0)
    return walk


def assert_stopped_standing(walk, kind):
    (event,) = walk.controller.safety_events
    assert event.kind is kind
    assert event.response is Response.FINISH_STEP
    assert walk.controller.state is WalkingState.STOPPED
    assert walk.controller.reason == event.text
    assert walk.robot.fall is None
    truth, weight = walk.robot.truth(), 9.81 * walk.setup.robot.mass
    assert min(truth.left_foot_wrench[2], truth.right_foot_wrench[2]) > 0.25 * weight
    assert np.linalg.norm(truth.com_velocity) < 0.05


LONG = ("IMU without numbers", "encoder jump")  # one way of each kind of reading is in every run


@pytest.mark.parametrize("name_of_fault", [long(name) if name in LONG else name for name in FAULTS])
def test_a_fault_ends_with_the_step_finished(ready, name_of_fault):
    fault, name, value, kind = FAULTS[name_of_fault]
    at = 2.04 if list(FAULTS).index(name_of_fault) % 2 else 2.84  # at the end or at the beginning of a swing
    assert_stopped_standing(drill(ready, "icub_v2_7", fault, at, name=name, value=value), kind)


def test_a_force_sensor_that_freezes_in_the_air_is_known_when_its_foot_should_carry(ready):
    walk = drill(ready, "icub_v2_7", FaultKind.FROZEN_WRENCH, 2.44, name="l_foot_ft")
    assert_stopped_standing(walk, SafetyKind.FOOT_FORCE)
    assert walk.controller.safety_events[0].finding.subject == "left"


def test_a_force_sensor_dead_at_zero_is_the_only_one_that_is_blamed(ready):
    walk = drill(ready, "g1", FaultKind.DEAD_WRENCH, 3.25, name="left_foot_ft")  # in a double support
    assert_stopped_standing(walk, SafetyKind.FOOT_FORCE)


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "name", "value", "kind"),
    [
        (FaultKind.NAN_WRENCH, "left_ankle_ft", 0.0, SafetyKind.SENSOR_NOT_FINITE),
        (FaultKind.ENCODER_OFFSET, "leg_left_4_joint", 0.3, SafetyKind.ENCODER_JUMP),
    ],
)
def test_so_does_talos(ready, fault, name, value, kind):
    assert_stopped_standing(drill(ready, "talos", fault, 3.2, name=name, value=value), kind)


def test_a_stall_of_300_ms_is_finished_blindly(ready):
    walk = drill(ready, "icub_v2_7", FaultKind.SILENCE, 2.14, duration=0.3)
    assert_stopped_standing(walk, SafetyKind.STALE_MEASUREMENT)


def test_a_hot_motor_is_warned_of_and_then_ends_the_walk(ready):
    walk = drill(ready, "icub_v2_7", FaultKind.HOT_MOTOR, 2.0, name="l_knee", value=20.0)
    warm, hot = walk.controller.safety_events
    assert (warm.kind, warm.response) == (SafetyKind.MOTOR_WARM, Response.WARN)
    assert (hot.kind, hot.subject, hot.response) == (SafetyKind.MOTOR_HOT, "l_knee", Response.FINISH_STEP)
    assert walk.controller.state is WalkingState.STOPPED
    assert walk.robot.fall is None


@pytest.mark.parametrize(
    ("fault", "value", "bridged"),
    [long(FaultKind.ENCODER_OFFSET, 0.5, {}), (FaultKind.NAN_ENCODER, 0.0, {"l_knee": 3})],
)
def test_a_few_wrong_readings_are_walked_through_and_counted(ready, fault, value, bridged):
    walk = ready("icub_v2_7")
    walk.robot.inject(Fault(fault, round(walk.time + 2.5, 3), 0.03, "l_knee", value))
    assert walk.follow(VelocityCommand(0.25, duration=2.5), settle=0.5)
    assert [event.subject for event in walk.controller.safety_events] == list(bridged)
    assert walk.controller.bridged_readings == bridged
    assert walk.controller.state is WalkingState.PAUSED


def test_a_robot_that_was_stopped_by_a_fault_can_be_prepared_again(ready):
    walk = drill(ready, "icub_v2_7", FaultKind.NAN_ENCODER, 2.5, duration=1.0, name="l_knee")
    assert walk.controller.state is WalkingState.STOPPED
    assert walk.get_ready(0.5)
    assert walk.follow(VelocityCommand(0.2, duration=1.0), settle=0.5)
    assert len(walk.controller.safety_events) == 1


def test_a_robot_that_goes_on_without_a_force_sensor_does_not_shake(ready):
    walk = drill(ready, "icub_v3", FaultKind.FROZEN_WRENCH, 1.5, name="l_foot_rear_ft")
    (event,) = walk.controller.safety_events
    log = walk.recorder.log
    commanded = log["com::position::commanded"][log.times > event.time, :2]
    amplitude = 0.25 * np.abs(np.diff(commanded, 2, axis=0)).max(axis=1)  # of what turns over in each tick
    assert amplitude.mean() < 5e-5  # [m]; 1.8e-4 without the low pass on the ZMP of the other foot
