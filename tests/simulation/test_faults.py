"""Failing sensors and motors, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from gradiva.common import ConfigError, ImuMeasurement, Measurement, ModelError, so3
from gradiva.simulation import Fault, FaultKind
from gradiva.simulation.faults import SensorFaults
from tests.conftest import description_of

from .standing import configured


def measurement(time: float = 0.0) -> Measurement:
    joints = len(description_of("icub_v2_7").joints)
    wrenches = np.full((2, 6), 1.0 + time)
    imu = ImuMeasurement(np.eye(3), np.full(3, time))
    return Measurement(time, np.full(joints, time), np.ones(joints), np.zeros(joints), wrenches, imu)


def spoilt(fault: Fault, *times: float) -> Measurement:
    faults = SensorFaults(description_of("icub_v2_7"))
    faults.add(fault)
    for time in times:
        read = faults.spoil(faults.misplace(measurement(time), time), time)
    return read


def test_a_fault_acts_from_its_start_to_its_end() -> None:
    fault = Fault(FaultKind.SILENCE, 1.0, 0.5)
    assert [fault.is_active(time) for time in (0.99, 1.0, 1.49, 1.5)] == [False, True, True, False]
    assert Fault(FaultKind.SILENCE, 1.0).is_active(1e6)


def test_without_faults_a_measurement_passes_as_it_is() -> None:
    read = measurement()
    assert SensorFaults(description_of("icub_v2_7")).spoil(read, 0.0) is read


def test_force_sensors_freeze_die_or_say_nothing() -> None:
    frozen = spoilt(Fault(FaultKind.FROZEN_WRENCH, 1.0, name="l_foot_ft"), 0.5, 1.0, 2.0)
    np.testing.assert_array_equal(frozen.contact_wrenches[:, 0], [2.0, 3.0])
    dead = spoilt(Fault(FaultKind.DEAD_WRENCH, 1.0, name="r_foot_ft"), 1.0)
    np.testing.assert_array_equal(dead.contact_wrenches[:, 0], [2.0, 0.0])
    silent = spoilt(Fault(FaultKind.NAN_WRENCH, 1.0, name="r_foot_ft"), 1.0)
    assert np.isnan(silent.contact_wrenches[1]).all()
    assert np.isfinite(silent.contact_wrenches[0]).all()


def test_force_sensors_have_the_wrong_sign_or_are_mounted_turned() -> None:
    reversed_wrench = spoilt(Fault(FaultKind.REVERSED_WRENCH, 0.0, name="l_foot_ft"), 1.0).contact_wrenches
    np.testing.assert_array_equal(reversed_wrench, [[-2.0] * 6, [2.0] * 6])
    quarter = spoilt(Fault(FaultKind.TURNED_WRENCH, 0.0, name="l_foot_ft", value=np.pi / 2), 1.0).contact_wrenches
    np.testing.assert_allclose(quarter, [[-2.0, 2.0, 2.0, -2.0, 2.0, 2.0], [2.0] * 6])


def test_an_imu_is_mounted_tilted_about_its_x_axis() -> None:
    imu = spoilt(Fault(FaultKind.TILTED_IMU, 0.0, value=0.1), 1.0).imu
    assert imu is not None
    np.testing.assert_allclose(imu.rotation @ [0.0, 0.0, 1.0], [0.0, -np.sin(0.1), np.cos(0.1)], atol=1e-12)
    np.testing.assert_allclose(imu.rotation @ imu.angular_velocity, np.ones(3))


def test_encoders_jump_or_say_nothing() -> None:
    knee = description_of("icub_v2_7").joints.index("l_knee")
    jumped = spoilt(Fault(FaultKind.ENCODER_OFFSET, 1.0, name="l_knee", value=0.3), 1.0)
    assert jumped.joint_positions[knee] == pytest.approx(1.3)
    assert jumped.joint_positions[0] == 1.0
    silent = spoilt(Fault(FaultKind.NAN_ENCODER, 1.0, name="l_knee"), 1.0)
    assert np.isnan([silent.joint_positions[knee], silent.joint_velocities[knee]]).all()


def test_the_imu_freezes_or_says_nothing() -> None:
    frozen = spoilt(Fault(FaultKind.FROZEN_IMU, 1.0), 0.5, 1.0, 2.0)
    assert frozen.imu is not None
    np.testing.assert_array_equal(frozen.imu.angular_velocity, 1.0)
    silent = spoilt(Fault(FaultKind.NAN_IMU, 1.0), 1.0)
    assert silent.imu is not None
    assert np.isnan(silent.imu.rotation).all()


def test_velocities_of_a_joint_and_rates_of_the_imu_die_alone() -> None:
    knee = description_of("icub_v2_7").joints.index("l_knee")
    dead = spoilt(Fault(FaultKind.DEAD_VELOCITY, 1.0, name="l_knee"), 1.0)
    assert (dead.joint_positions[knee], dead.joint_velocities[knee], dead.joint_velocities[0]) == (1.0, 0.0, 1.0)
    imu = spoilt(Fault(FaultKind.DEAD_GYROSCOPE, 1.0), 1.0).imu
    assert imu is not None
    np.testing.assert_array_equal(imu.angular_velocity, 0.0)
    assert so3.is_rotation(imu.rotation)


def test_silent_sensors_repeat_the_last_measurement() -> None:
    assert spoilt(Fault(FaultKind.SILENCE, 1.0, 0.5), 0.9, 1.0, 1.4).time == 0.9
    assert spoilt(Fault(FaultKind.SILENCE, 1.0, 0.5), 0.9, 1.0, 1.5).time == 1.5


def test_a_motor_gets_hotter_and_the_others_do_not() -> None:
    knee = description_of("icub_v2_7").joints.index("l_knee")
    temperatures = spoilt(Fault(FaultKind.HOT_MOTOR, 1.0, name="l_knee", value=10.0), 3.0).motor_temperatures
    assert temperatures is not None
    assert temperatures[knee] == pytest.approx(60.0)
    assert temperatures[0] == 40.0


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"kind": "silence", "start": 0.0, "duration": 0.0}, "duration=0.0, must be positive"),
        ({"kind": "nan_encoder", "start": 0.0}, "name a joint"),
        ({"kind": "nan_encoder", "start": -4.0, "name": "l_knee"}, "of 'l_knee': start=-4.0, must be 0 s or later"),
        ({"kind": "silence", "start": 0.0, "name": "l_knee"}, "name='l_knee'"),
        ({"kind": "hot_motor", "start": 0.0, "name": "l_knee"}, "value=0 is no fault"),
        ({"kind": "weak_motor", "start": 0.0, "name": "l_knee", "value": 1.0}, "must lie between 0 and 1"),
        ({"kind": "broken", "start": 0.0}, "unknown value 'broken'"),
    ],
)
def test_faults_that_cannot_be_are_refused(fault: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        configured(faults=[fault])


def test_a_fault_of_what_the_robot_lacks_is_refused() -> None:
    with pytest.raises(ModelError, match="no joint 'l_kne'; did you mean 'l_knee'"):
        spoilt(Fault(FaultKind.NAN_ENCODER, 0.0, name="l_kne"), 0.0)
    with pytest.raises(ModelError, match="no force-torque sensor 'l_knee'"):
        spoilt(Fault(FaultKind.NAN_WRENCH, 0.0, name="l_knee"), 0.0)


@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind.is_of_wrench])
def test_a_fault_of_a_sensor_that_nothing_reads_is_refused(kind: FaultKind) -> None:
    faults = SensorFaults(description_of("icub_v2_7").without_foot_sensors())
    with pytest.raises(ConfigError, match=f"{kind}: no sensor 'l_foot_ft' is read, its wrench is estimated"):
        faults.add(Fault(kind, 0.0, name="l_foot_ft", value=0.1))
