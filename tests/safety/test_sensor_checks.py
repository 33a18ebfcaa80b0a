"""Readings that are refused, and their substitutes."""

import numpy as np
import pytest

from gradiva.common import ImuMeasurement, Measurement, Side, so3
from gradiva.robot_model import ForceTorqueSensor
from gradiva.safety import SafetyKind
from gradiva.safety.joint_sensors import EncoderCheck, RepeatedRates, SensorCheckConfig, VelocityCheck
from gradiva.safety.sensor_checks import FrozenSensorCheck, ImuCheck, JointSensorCheck, WrenchCheck
from gradiva.safety.supervisor import SensorCheck
from gradiva.setup import load_robot

JOINTS, SPEEDS = ("hip", "knee"), np.full(2, 10.0)
_STRAIGHT = np.eye(3)
SENSORS = (ForceTorqueSensor("l_ft", Side.LEFT, "l"), ForceTorqueSensor("r_ft", Side.RIGHT, "r"))


def bridge():
    encoders = EncoderCheck(JOINTS, np.array([10.0, 10.0]), margin=0.05, duration=0.05)
    encoders.update(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), 0.01, 0.0)
    return encoders


def read(encoders, positions, time, velocities=(0.0, 0.0), commanded=(1.0, 1.0)):
    commanded = np.array(commanded)
    return encoders.update(np.array(positions), np.array(velocities), 0.01 * commanded, commanded, 0.01, time)


def test_encoders_that_move_as_fast_as_joints_can_are_accepted():
    positions = np.array([0.149, -0.149])
    accepted, velocities, found = bridge().update(positions, positions, np.ones(2), np.ones(2), 0.01, 0.01)
    assert accepted is positions
    assert velocities is positions
    assert found == []


@pytest.mark.parametrize("wrong", [0.151, -0.151, np.nan, np.inf])
def test_a_single_wrong_encoder_reading_is_bridged_by_what_the_joint_was_commanded(wrong):
    encoders = bridge()
    positions, velocities, found = read(encoders, (wrong, 0.02), 0.01, velocities=(33.0, 2.0))
    np.testing.assert_allclose(positions, [0.01, 0.02])
    np.testing.assert_allclose(velocities, [1.0, 2.0])
    assert found == []
    positions, velocities, _ = read(encoders, (0.03, 0.04), 0.02, velocities=(-33.0, 2.0))
    np.testing.assert_allclose(positions, [0.03, 0.04])
    np.testing.assert_allclose(velocities, [1.0, 2.0])  # the difference to the wrong reading
    assert read(encoders, (0.03, 0.04), 0.03, velocities=(0.5, 0.5))[1].tolist() == [0.5, 0.5]


def test_a_velocity_that_cannot_be_is_bridged():
    encoders = bridge()
    assert read(encoders, (0.01, 0.01), 0.01, velocities=(1e9, 9.9))[1].tolist() == [1.0, 9.9]
    assert read(encoders, (0.02, 0.02), 0.02, velocities=(-1e100, 9.9))[1].tolist() == [1.0, 9.9]


def test_a_joint_that_is_faster_than_its_limit_has_no_wrong_encoder():
    encoders = bridge()
    for tick in range(1, 20):
        accepted, velocities, found = read(encoders, (0.12 * tick, 0.0), 0.01 * tick, velocities=(12.0, 0.0))
        assert (accepted[0], velocities[0], found) == (0.12 * tick, 12.0, [])


def test_a_joint_that_a_blow_spins_has_no_dead_encoder():
    """TALOS's wrist, which its motor turns by 1 rad/s, under 0.5 kN on the gripper: it was stopped after 0.06 s."""
    encoders = EncoderCheck(JOINTS, np.full(2, 2.0), margin=0.05, duration=0.05)
    encoders.update(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), 0.02, 0.0)
    blow = [(0.058, 5.45), (0.217, 9.93), (0.443, 12.0), (0.671, 10.2), (0.85, 7.7), (0.96, 3.5), (0.98, -1.0)]
    for tick, (position, speed) in enumerate(blow, start=1):
        read = np.array([0.0, position]), np.array([0.0, speed])
        accepted, velocities, found = encoders.update(*read, np.zeros(2), np.zeros(2), 0.02, 0.02 * tick)
        assert (accepted[1], found) == (position, [])
        assert velocities[1] == (0.0 if tick == 1 else speed)  # a single interval may be that of a jump


@pytest.mark.parametrize("speed", [0.0, 1.0, 33.0, 50.0])
@pytest.mark.parametrize("count", [1, 2])
def test_an_encoder_that_jumps_is_found_as_soon_whatever_velocity_is_derived_from_it(speed, count):
    """By 0.5 rad, beside velocities of ``speed`` [rad/s] in so many samples, and goes on with the joint."""
    encoders, found = bridge(), []
    for tick in range(1, 20):
        time = 0.01 * tick
        angles = 0.02 * tick, 0.02 * tick + 0.5 * (tick >= 10)
        speeds = 2.0, speed if 10 <= tick < 10 + count else 2.0
        positions, _, new = read(encoders, angles, time, speeds, commanded=(2.0, 2.0))
        found += [(round(time, 3), finding.kind) for finding in new]
        np.testing.assert_allclose(positions, 0.02 * tick)
    assert found == [(0.15, SafetyKind.ENCODER_JUMP)]


@pytest.mark.parametrize("period", [0.002, 0.005, 0.01, 0.02])
@pytest.mark.parametrize(
    "fault",
    [
        lambda t: 0.8 * (1.0 - np.exp(-t / 0.02)),  # a jump through a filter
        lambda t: np.clip(t / 0.03, 0.0, 1.0),  # through one that averages
        lambda t: 60.0 * t,  # counts that run away
    ],
)
def test_an_encoder_that_leaves_by_and_by_is_found_beside_velocities_derived_from_it(fault, period):
    encoders, before, kinds = EncoderCheck(JOINTS, np.full(2, 6.0), margin=0.05, duration=0.05), 0.0, []
    encoders.update(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), period, 0.0)
    for tick in range(1, round(0.3 / period)):
        position = float(fault(max(0.0, period * tick - 0.1)))
        read, before = (np.array([0.0, position]), np.array([0.0, (position - before) / period])), position
        accepted, _, found = encoders.update(*read, np.zeros(2), np.zeros(2), period, period * tick)
        kinds += [finding.kind for finding in found]
    assert SafetyKind.ENCODER_JUMP in kinds
    assert abs(accepted[1]) < 0.2


def test_an_encoder_that_has_jumped_is_not_believed_again_because_the_joint_is_fast():
    encoders = EncoderCheck(JOINTS, np.full(2, 2.0), margin=0.05, duration=0.05)
    encoders.update(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), 0.01, 0.0)
    for tick in range(1, 60):
        spin = 12.0 * (tick >= 30)  # [rad/s]
        read = np.array([0.0, 0.5 + 0.01 * spin * max(0.0, tick - 29.5)]), np.array([0.0, spin])
        accepted, *_ = encoders.update(*read, np.zeros(2), np.zeros(2), 0.01, 0.01 * tick)
        assert accepted[1] == 0.0


def test_no_blow_spins_a_joint_that_carries():
    encoders, kinds = EncoderCheck(JOINTS, np.full(2, 2.0), 0.05, 0.05, carrying=JOINTS[1:]), []
    encoders.update(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), 0.02, 0.0)
    for tick in range(1, 8):
        read = np.full(2, 0.24 * (tick - 0.5)), np.full(2, 12.0)
        accepted, _, found = encoders.update(*read, np.zeros(2), np.zeros(2), 0.02, 0.02 * tick)
        kinds += [(finding.kind, finding.subject) for finding in found]
    assert accepted[1] == 0.0
    assert (SafetyKind.ENCODER_JUMP, JOINTS[1]) in kinds


@pytest.mark.parametrize(("wrong", "kind"), [(0.5, SafetyKind.ENCODER_JUMP), (np.nan, SafetyKind.SENSOR_NOT_FINITE)])
def test_a_lasting_one_is_named(wrong, kind):
    encoders = bridge()
    for tick in range(1, 6):
        assert read(encoders, (0.0, wrong), 0.01 * tick)[2] == []
    positions, _, (finding,) = read(encoders, (0.0, wrong), 0.06)
    assert (finding.kind, finding.subject) == (kind, "knee")
    np.testing.assert_allclose(positions, [0.0, 0.06])


def swing(time):
    """Return positions, [rad], and velocities, [rad/s], of two joints that swing."""
    phase = np.array([5.0, 4.0]) * time
    return 0.3 * np.sin(phase), 0.3 * np.array([5.0, 4.0]) * np.cos(phase)


@pytest.mark.parametrize(
    ("dead", "kind", "text", "delay"),
    [
        (0.0, SafetyKind.SENSOR_FROZEN, "repeats 0.00 rad/s while the joint moves", 0.07),
        (0.7, SafetyKind.SENSOR_FROZEN, "repeats 0.70 rad/s while the joint moves", 0.07),
        (np.nan, SafetyKind.SENSOR_NOT_FINITE, "gives no usable reading any more", 0.07),
    ],
)
def test_a_velocity_that_is_lost_is_named_and_taken_from_positions(dead, kind, text, delay):
    check, found = VelocityCheck(JOINTS, SPEEDS, 0.04, 0.05), []
    for tick in range(100):
        time = 0.01 * tick
        positions, truth = swing(time)
        read = truth if time < 0.3 else np.array([truth[0], dead])
        velocities, new = check.update(positions, read, 0.01, time, time)
        found += [(time, finding) for finding in new]
        assert velocities[0] == truth[0]
        if not np.isfinite(dead) or time > 0.3 + delay + 0.02:
            assert velocities[1] == pytest.approx(truth[1], abs=0.12)  # the difference is half a period late
    ((time, finding),) = found
    assert (finding.kind, finding.subject) == (kind, "knee")
    assert text in finding.text
    assert 0.3 < time <= 0.3 + delay + 1e-9
    check.reset()
    np.testing.assert_array_equal(check.update(*swing(2.0), 0.01, 2.0, 2.0)[0], swing(2.0)[1])


def test_velocities_of_joints_at_rest_and_of_constant_speed_may_repeat():
    check = VelocityCheck(JOINTS, SPEEDS, 0.04, 0.05)
    for tick in range(50):
        time = 0.01 * tick
        rates = np.array([0.0, 1.5])
        velocities, found = check.update(np.array([1e-4 * (tick % 3), 1.5 * time]), rates, 0.01, time, time)
        assert (velocities is rates, found) == (True, [])


@pytest.mark.parametrize("is_dead", [True, False])
def test_an_imu_whose_rates_repeat_while_it_turns_is_not_used_any_more(is_dead):
    check, found, imu = ImuCheck(0.04, 0.05), [], None
    for tick in range(100):
        time = 0.01 * tick
        rate = np.array([0.0, 0.2 * np.cos(4.0 * time), 1e-9 * tick])
        rotation = so3.exp(np.array([0.0, 0.05 * np.sin(4.0 * time), 0.0]))
        read = np.zeros(3) if is_dead and tick >= 50 else rate
        imu, new = check.update(ImuMeasurement(rotation, read), time)
        found += new
    assert [finding.text for finding in found] == [
        "the rates of the IMU repeat themselves while it turns: it is not used any more"
    ] * is_dead
    assert (imu is None) is is_dead


def wrenches(left, right):
    return np.array([[0.0, 0.0, left, 0.0, 0.0, 0.0], [0.0, 0.0, right, 0.0, 0.0, 0.0]])


def trusted():
    return WrenchCheck(SENSORS, frozen_duration=0.04, bridge_duration=0.05, largest=3000.0)


def test_a_frozen_force_sensor_is_not_accepted_any_more():
    trust = trusted()
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


def test_a_reading_that_is_seen_again_after_a_stall_is_not_frozen():
    trust = trusted()
    trust.update(wrenches(7.0, 9.0), 0.0, taken=0.0)  # the left foot's sample is from before the stall
    assert trust.update(wrenches(8.0, 9.0), 0.15, taken=0.15)[1] == []  # here both are of after it
    assert trust.update(wrenches(8.5, 9.5), 0.16, taken=0.16)[1] == []
    assert trust.untrusted == frozenset()


def test_a_frozen_sensor_is_found_after_the_clock_was_set_back():
    trust = trusted()
    trust.update(wrenches(7.0, 9.0), 10.0, taken=10.0)
    for tick in range(4):
        assert trust.update(wrenches(7.0, tick), 1.0 + 0.01 * tick, taken=1.0 + 0.01 * tick)[1] == []
    _, (finding,) = trust.update(wrenches(7.0, 9.0), 1.04, taken=1.04)
    assert (finding.kind, finding.subject) == (SafetyKind.SENSOR_FROZEN, "l_ft")


def test_a_foot_in_the_air_is_not_frozen():
    trust = trusted()
    assert all(trust.update(wrenches(0.0, tick), 0.1 * tick)[1] == [] for tick in range(9))


def test_an_ideal_sensor_that_repeats_its_offset_in_the_air_is_frozen_only_when_its_foot_should_stand():
    trust, readings = trusted(), [wrenches(-47.2, 300.0 + tick) for tick in range(30)]
    trust.lifted = frozenset({Side.LEFT})
    assert all(trust.update(readings[tick], 0.01 * tick)[1] == [] for tick in range(20))
    trust.lifted = frozenset()
    found = [trust.update(readings[tick], 0.01 * tick)[1] for tick in range(20, 24)]
    assert found[:3] == [[]] * 3
    (finding,) = found[3]
    assert (finding.kind, finding.subject) == (SafetyKind.SENSOR_FROZEN, "l_ft")


def test_a_sensor_whose_offset_was_seen_in_the_air_is_dead_when_it_reads_zero():
    trust = trusted()
    for tick in range(22):
        assert trust.update(wrenches(2.0 + 0.1 * tick, 100.0 + tick), 0.01 * tick)[1] == []
    readings = [(0.0, 0.0 if tick % 2 else 100.0) for tick in range(5)]  # the right one was never seen in the air
    found = [trust.update(wrenches(*loads), 0.22 + 0.01 * tick)[1] for tick, loads in enumerate(readings)]
    assert found[:4] == [[]] * 4
    (finding,) = found[4]
    assert (finding.kind, finding.subject) == (SafetyKind.SENSOR_FROZEN, "l_ft")


def test_readings_that_are_not_finite_show_no_offset_of_a_foot_in_the_air():
    check = FrozenSensorCheck(0.04, unloaded=20.0)
    for tick in range(30):
        assert not check.is_frozen([0.1 * tick, float("nan"), 0.0], 0.01 * tick)
    assert not any(check.is_frozen([0.0, 0.0, 0.0], 0.3 + 0.01 * tick) for tick in range(10))


@pytest.mark.parametrize("wrong", [np.nan, -np.inf, 1e9, -1e200])
def test_a_wrench_that_cannot_be_is_bridged_and_its_foot_not_accepted_meanwhile(wrong):
    trust = trusted()
    trust.update(wrenches(7.0, 8.0), 0.0)
    bridged, found = trust.update(wrenches(wrong, 9.0), 0.01)
    np.testing.assert_array_equal(bridged, wrenches(7.0, 9.0))
    assert (found, trust.untrusted) == ([], {Side.LEFT})
    _, (back,) = trust.update(wrenches(7.5, 9.5), 0.02)
    assert (back.kind, back.subject) == (SafetyKind.BRIDGED_READING, "l_ft")
    assert trust.untrusted == frozenset()
    assert trust.bridged.counts == {"l_ft": 1}
    found = [finding for tick in range(6) for finding in trust.update(wrenches(wrong, tick), 0.03 + 0.01 * tick)[1]]
    assert {finding.subject for finding in found} == {"l_ft"}
    assert trust.update(wrenches(7.5, 9.5), 0.1)[1] == []  # it has been named already
    assert trust.bridged.counts == {"l_ft": 7}


@pytest.mark.parametrize("number", [np.nan, np.inf, -1e9, 1e200])
def test_an_imu_is_left_out_while_it_reads_what_cannot_be_and_for_good_when_it_freezes(number):
    trust = ImuCheck(0.04, 0.05)
    assert trust.update(None, 0.0) == (None, [])
    alive, wrong = ImuMeasurement(np.eye(3), np.array([0.1, 0.0, 0.0])), ImuMeasurement(np.eye(3), np.full(3, number))
    assert trust.update(alive, 0.01) == (alive, [])
    assert trust.update(wrong, 0.02) == (None, [])
    accepted, (back,) = trust.update(alive, 0.03)
    assert (accepted, back.kind, trust.bridged.counts) == (alive, SafetyKind.BRIDGED_READING, {"IMU": 1})
    accepted, (finding,) = trust.update(alive, 0.05)
    assert (accepted, finding.kind) == (None, SafetyKind.SENSOR_FROZEN)


def turning_unit(time, mounting=_STRAIGHT, rate=(0.4, -0.3, 0.5)):
    """Return the reading of a unit that turns with the body at a constant rate and is tilted in its mounting."""
    rates = np.array(rate) + 1e-9 * time  # a living gyroscope changes in its last digit
    return ImuMeasurement(so3.exp(time * np.array(rate)) @ mounting, mounting.T @ rates)


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.6, 0.8, 0.0)])
def test_an_imu_that_tilts_in_its_mounting_is_named_once(axis):
    trust, tilted, found = ImuCheck(0.04, 0.05), so3.exp(np.radians(1.0) * np.array(axis)), []
    for tick in range(100):
        reading = turning_unit(0.01 * tick, tilted if tick >= 50 else np.eye(3))
        read, new = trust.update(reading, 0.01 * tick)
        assert read is reading
        found += new
    assert [(finding.kind, finding.subject) for finding in found] == [(SafetyKind.IMU_JUMP, "IMU")]
    assert "jumped by 1.0°" in found[0].text


def test_a_second_tilt_is_named_as_well():
    trust, once, twice = ImuCheck(0.04, 0.05), so3.exp(np.array([0.02, 0, 0])), so3.exp(np.array([0.05, 0.02, 0]))
    mountings = [*[np.eye(3)] * 20, *[once] * 20, *[twice] * 20]
    readings = [turning_unit(0.01 * tick, mounting, (0.1, 0.1, 0.0)) for tick, mounting in enumerate(mountings)]
    found = [trust.update(reading, 0.01 * tick)[1] for tick, reading in enumerate(readings)]
    assert [tick for tick, new in enumerate(found) if new] == [20, 40]


def test_noise_as_large_as_a_tilt_is_soon_known_to_be_noise():
    random, trust, found = np.random.default_rng(0), ImuCheck(0.04, 0.05), []
    for tick in range(2000):
        noise = so3.exp(np.append(np.radians(random.normal(0.0, 0.3, 2)), 0.0))
        found += trust.update(turning_unit(0.01 * tick, noise), 0.01 * tick)[1]
    assert len(found) < 5


def test_a_clock_that_steps_back_tilts_nothing():
    trust, found = ImuCheck(0.04, 0.05), []
    for tick in range(100):
        stamp = 0.01 * tick - (0.07 if tick >= 50 else 0.0)
        found += trust.update(turning_unit(0.01 * tick, rate=(2.0, 1.0, 0.0)), 0.01 * tick, stamp)[1]
    assert found == []


@pytest.mark.parametrize(
    ("turn", "period"),
    [((0.0, 0.0, 0.3), 0.01), ((0.005, 0.004, 0.0), 0.01), ((0.02, 0.0, 0.0), 0.06)],
    ids=["heading", "noise", "after a gap"],
)
def test_headings_noise_and_gaps_are_no_tilt(turn, period):
    trust = ImuCheck(0.04, 0.05)
    trust.update(turning_unit(0.0, rate=(0.1, 0.1, 0.0)), 0.0)
    later = turning_unit(period, rate=(0.1, 0.1, 0.0))
    later = ImuMeasurement(so3.exp(np.array(turn)) @ later.rotation, later.angular_velocity)
    read, found = trust.update(later, period)
    assert found == []
    np.testing.assert_array_equal(read.rotation, later.rotation)


def test_joints_that_moved_while_the_clock_jumped_have_no_wrong_encoders():
    icub = load_robot("icub_v2_7")
    joints, feet = np.zeros(len(icub.joints)), np.zeros((len(icub.force_torque_sensors), 6))
    for gap, accepted in ((0.0, 0.0), (0.3, 0.4), (0.1, 0.0)):
        check = SensorCheck(SensorCheckConfig(0.05, 0.05, 0.5), icub, np.full(len(icub.joints), 0.6))
        check.update(Measurement(0.0, joints, joints, joints, feet), joints, 0.0)
        check.note_gap(gap)  # 1.2 rad/s in 0.31 s and the margin are 0.42 rad
        moved, _ = check.update(Measurement(0.01, joints + 0.4, joints, joints, feet), joints, 0.01)
        np.testing.assert_array_equal(moved.joint_positions, accepted)
        again, _ = check.update(Measurement(0.02, moved.joint_positions + 0.4, joints, joints, feet), joints, 0.02)
        np.testing.assert_array_equal(again.joint_positions, accepted)


@pytest.mark.parametrize("stamp", [-0.5, np.nan])
def test_a_measurement_without_a_present_time_is_stale_and_bridged_by_the_commands(stamp):
    icub = load_robot("icub_v2_7")
    check = SensorCheck(SensorCheckConfig(0.05, 0.05, 0.5), icub, np.full(len(icub.joints), 10.0))
    joints, feet = np.zeros(len(icub.joints)), np.zeros((len(icub.force_torque_sensors), 6))
    moving = joints + 0.1
    _, found = check.update(Measurement(0.0, joints, joints, joints, feet), moving, 0.0)
    assert found == []
    repaired, (finding,) = check.update(Measurement(stamp, joints + 1.0, joints, joints, feet), moving, 0.01)
    assert finding.kind is SafetyKind.STALE_MEASUREMENT
    np.testing.assert_allclose(repaired.joint_positions, 0.001)
    assert check.untrusted_feet == frozenset(Side)


@pytest.mark.parametrize("wrong", range(20, 45))
def test_one_wrong_position_of_a_joint_at_rest_costs_no_velocity(wrong):
    check = VelocityCheck(JOINTS, SPEEDS, 0.04, 0.05)
    rest = np.zeros(2)
    for tick in range(100):
        velocities, found = check.update(rest + 0.1 * (tick == wrong), rest, 0.01, 0.01 * tick, 0.01 * tick)
        assert (velocities is rest, found) == (True, [])


def test_a_substitute_velocity_takes_no_change_that_cannot_be():
    check = VelocityCheck(JOINTS, np.full(2, 5.0), 0.04, 0.05)
    for tick in range(60):
        positions = np.array([0.0, 0.01 * tick + 0.1 * (tick == 50)])
        velocities, _ = check.update(positions, np.zeros(2), 0.01, 0.01 * tick, 0.01 * tick)
        if tick > 20:
            np.testing.assert_allclose(velocities, [0.0, 1.0], atol=1e-4)


def test_a_substitute_velocity_is_low_passed():
    """With 5 ms: of a step, half within as long, and nine tenths within 17 ms."""
    check, position, found = VelocityCheck(["knee"], np.full(1, 5.0), 0.04, 0.05), np.zeros(1), []
    check.update(position, np.zeros(1), 0.005, 0.0, 0.0)
    for tick in range(1, 5):
        position = position + 0.005
        velocities, _ = check.update(position, np.full(1, np.nan), 0.005, 0.005 * tick, 0.005 * tick)
        found.append(float(velocities[0]))
    np.testing.assert_allclose(found, [0.5, 0.75, 0.875, 0.9375], atol=1e-12)


def test_a_sample_that_is_read_again_counts_once():
    check = RepeatedRates(1, 0.04, 0.015)
    for tick in range(10):
        assert check.update(np.zeros(1), np.zeros(1), 0.01 * tick) is None
    assert all(check.update(np.zeros(1), np.ones(1), 0.1) is None for _ in range(5))


@pytest.mark.parametrize(("spread", "frozen_duration"), [(0.06, 0.04), (0.02, 0.15)])
def test_an_imu_at_rest_with_coarse_readings_is_used(spread, frozen_duration):
    """Attitude in steps of 1/16°, rates in steps of 1/16°/s, of which ``spread`` [°/s] is the noise."""
    noise, step, check = np.random.default_rng(3), np.radians(1.0 / 16.0), ImuCheck(frozen_duration, 0.05)
    for tick in range(2000):
        angles = step * np.round(np.radians(noise.normal(0.0, 0.03, 3)) / step)
        rates = step * np.round(np.radians(noise.normal(0.0, spread, 3)) / step)
        imu = ImuMeasurement(so3.exp(angles), rates)
        assert check.update(imu, 0.01 * tick) == (imu, [])


def stamps(random, count):
    """Times of samples, [s]: most of them 10 ms after the one before, some of the same time, some after a gap."""
    return np.cumsum(random.choice([0.01, 0.02, 0.0, 0.3], count, p=[0.85, 0.05, 0.06, 0.04]))


@pytest.mark.parametrize("seed", range(6))
def test_joints_that_pass_at_first_sight_are_those_that_the_checks_pass(seed):
    """Faults at random: one velocity lost or no number, one encoder that jumps, comes back, and gives no number."""
    random, config = np.random.default_rng(seed), SensorCheckConfig(0.05, 0.05, 0.04)
    check, passed = JointSensorCheck(config, JOINTS, SPEEDS), 0
    velocity_check = VelocityCheck(JOINTS, SPEEDS, config.frozen_duration, config.bridge_duration)
    encoder_check = EncoderCheck(JOINTS, 2.0 * SPEEDS, 0.05, config.bridge_duration)
    dead, wrong, commanded, before = random.integers(60, 90), random.integers(20, 50), np.array([1.0, -1.0]), 0.0
    for tick, time in enumerate(stamps(random, 140).tolist()):
        positions, velocities = (values.copy() for values in swing(time))
        velocities[0] = 0.7 if tick >= dead else velocities[0]
        velocities[1] = np.nan if tick in (10, 11) else velocities[1]
        positions[1] = {wrong: 9.0, wrong + 5: np.nan}.get(tick, positions[1] + 3.0 * (100 <= tick < 110))
        interval, before = time - before, time
        motion = interval * commanded
        if random.random() < 0.1:
            np.testing.assert_array_equal(check.predict(0.1 * motion), encoder_check.predict(0.1 * motion))
        if random.random() < 0.02:
            for part in (check, velocity_check, encoder_check):
                part.reset()
        read = Measurement(time, positions, velocities, np.zeros(2), np.zeros((2, 6)))
        expected, lost = velocity_check.update(positions, velocities, interval, time, time)
        *expected, found = encoder_check.update(positions, expected, motion, commanded, interval, time)
        new = []
        if check.accepts(read, interval):
            passed += 1
        else:
            read, new = check.repaired(read, motion, commanded, interval, time)
        np.testing.assert_array_equal([read.joint_positions, read.joint_velocities], expected)
        assert new == lost + found
        np.testing.assert_array_equal(check.positions, encoder_check.positions)
    assert 15 < passed < dead
    assert check.bridged_counts == velocity_check.bridged.counts | encoder_check.bridged.counts


@pytest.mark.parametrize("seed", range(6))
def test_imu_readings_that_pass_at_first_sight_are_those_that_all_checks_pass(seed):
    """Faults at random: one rate that repeats, a reading that is no number or missing, a unit or its rates frozen."""
    random = np.random.default_rng(seed)
    check, thorough, kinds = ImuCheck(0.04, 0.03), ImuCheck(0.04, 0.03), set()
    still, resets = random.integers(30, 80), random.integers(90, 110)
    imu, before = ImuMeasurement(np.eye(3), np.zeros(3)), -1.0
    for tick, time in enumerate(stamps(random, 160).tolist()):
        rates, attitude = random.normal(0.0, 0.1, 3), so3.exp(np.array([0.3 * np.sin(5.0 * time), 0.0, time]))
        if random.random() < 0.1:
            rates[random.integers(3)] = imu.angular_velocity[0]
        rates = imu.angular_velocity if still <= tick < still + 12 else rates
        attitude = imu.rotation if seed % 2 and still <= tick < still + 12 else attitude
        is_same = time == before and random.random() < 0.5  # a stamp may stand still beside new readings
        imu, before = imu if is_same else ImuMeasurement(attitude, rates), time
        seen = {17: ImuMeasurement(attitude, np.full(3, np.nan)), 19: None}.get(tick, imu)
        if tick == resets:
            check.reset()
            thorough.reset()
        thorough._was_trusted = False  # it passes nothing at first sight
        expected, found = thorough.update(seen, time)
        read, new = check.update(seen, time)
        assert (read is None, new) == (expected is None, found)
        if read is not None:
            np.testing.assert_array_equal(read.rotation, expected.rotation)
            np.testing.assert_array_equal(read.angular_velocity, expected.angular_velocity)
        kinds.update(finding.kind for finding in found)
    assert kinds == {SafetyKind.SENSOR_FROZEN, SafetyKind.BRIDGED_READING, SafetyKind.IMU_JUMP}  # rates are not its own
    assert check.bridged.counts == thorough.bridged.counts
