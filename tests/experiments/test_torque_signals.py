import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand
from gradiva.experiments.torque_score import torque_score
from gradiva.experiments.torque_signals import torque_signals
from gradiva.telemetry import SignalLog
from gradiva.whole_body import TorqueController

LIMITS = np.array([10.0, 20.0, 30.0])


class Problem:
    def violations(self):
        return {"joint torques": 0.5, "left foot's wrench": 0.0}


@pytest.fixture
def controller():
    controller = object.__new__(TorqueController)
    controller.problem = Problem()
    return controller


def command(*values, mode=ControlMode.TORQUE):
    return JointCommand(mode, np.array(values))


@pytest.mark.parametrize(
    ("torques", "saturated"), [((9.9, -19.0, 0.0), 0), ((10.0, -20.5, 0.0), 2), ((0.0, 0.0, -30.0), 1)]
)
def test_joints_at_their_limits_are_counted(controller, torques, saturated):
    assert torque_signals(command(*torques), LIMITS, controller)["torque_control::saturated_joints"] == saturated


def test_what_the_tick_missed_is_told_under_names_that_matlab_takes(controller):
    told = torque_signals(command(0.0, 0.0, 0.0), LIMITS, controller)
    assert told["torque_control::missed::joint_torques"] == 0.5
    assert told["torque_control::missed::left_foot_wrench"] == 0.0


def test_other_commands_have_no_such_signals(controller):
    assert torque_signals(command(10.0, 0.0, 0.0, mode=ControlMode.POSITION), LIMITS, controller) == {}
    assert torque_signals(command(10.0, 0.0, 0.0), LIMITS, object()) == {}


def test_shares_are_those_of_the_ticks_that_count():
    times = np.arange(10.0)
    signals = {
        "torque_control::saturated_joints": np.where(times < 4.0, 2.0, 0.0),
        "torque_control::missed::joint_torques": np.where(times == 9.0, 0.25, 1e-5),
        "torque_control::missed::joint_positions": np.full(10, 1e-5),
    }
    told = torque_score(SignalLog.from_arrays(times, signals), slice(2, 10))
    assert told == {"saturated_share": 0.25, "missed": {"joint_torques": {"share": 0.125, "max": 0.25}}}


def test_where_torques_are_not_controlled_nothing_is_told():
    assert torque_score(SignalLog.from_arrays(np.arange(2.0), {"zmp::measured": np.zeros(2)}), slice(None)) is None
