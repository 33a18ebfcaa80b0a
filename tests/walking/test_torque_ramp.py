import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand
from gradiva.walking.torque_ramp import TorqueRamp

RATE, PERIOD = 1000.0, 0.001
LIMIT = np.array([50.0])


def torques(*values):
    return JointCommand(ControlMode.TORQUE, np.array(values))


def test_the_first_command_goes_from_the_measured_torques_towards_what_is_wanted():
    ramp, wanted, measured = TorqueRamp(RATE, LIMIT), torques(5.0, -5.0, 0.2), np.array([2.0, 2.0, 0.0])
    np.testing.assert_allclose(ramp.limited(wanted, measured, PERIOD).values, [3.0, 1.0, 0.2])
    np.testing.assert_allclose(ramp.limited(wanted, measured, PERIOD).values, [4.0, 0.0, 0.2])


def test_slow_changes_pass_as_they_are():
    ramp = TorqueRamp(RATE, LIMIT)
    wanted = torques(0.5, -1.0)
    assert ramp.limited(wanted, np.zeros(2), PERIOD) is wanted


def test_a_joint_without_torque_measurement_starts_where_it_is_told():
    first = TorqueRamp(RATE, LIMIT).limited(torques(8.0, 8.0), np.array([np.nan, 0.0]), PERIOD)
    np.testing.assert_allclose(first.values, [8.0, 1.0])


def test_a_measured_torque_that_cannot_be_is_none_to_start_from():
    first = TorqueRamp(RATE, LIMIT).limited(torques(8.0, 8.0), np.array([1e9, -1e9]), PERIOD)
    np.testing.assert_allclose(first.values, [49.0, -49.0])


@pytest.mark.parametrize("interruption", ["reset", "positions"])
def test_after_an_interruption_it_starts_from_the_measured_torques_again(interruption):
    ramp = TorqueRamp(RATE, LIMIT)
    ramp.limited(torques(1.0), np.zeros(1), PERIOD)
    if interruption == "reset":
        ramp.reset()
    else:
        held = JointCommand(ControlMode.POSITION, np.zeros(1))
        assert ramp.limited(held, np.zeros(1), PERIOD) is held
    assert ramp.limited(torques(1.0), np.array([-4.0]), PERIOD).values == -3.0
