"""Limits of commands, the last command, and the positions at which the joints freeze."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand, Measurement, NoSolutionFound
from gradiva.safety import JointBounds
from gradiva.walking import SafetyKind
from gradiva.walking.fallbacks import CommandLimiter, RelaxingWholeBody, TorqueRamp

BOUNDS = JointBounds(
    lower=np.array([-1.0, -0.5]),
    upper=np.array([1.0, 2.0]),
    velocities=np.array([5.0, 8.0]),
    torques=np.array([10.0, 50.0]),
    stiffness=np.array([100.0, 1000.0]),
)

RATE, RAMP_PERIOD = 1000.0, 0.001
LIMIT = np.array([50.0])


def measured(positions=(0.1, 0.2), torques=(5.0, np.nan)):
    return Measurement(0.0, np.array(positions), np.zeros(2), np.array(torques), np.zeros((2, 6)))


def held(mode, *values):
    command = CommandLimiter(BOUNDS)
    command.last = JointCommand(mode, np.array(values))
    return command


def frozen(command, measurement, believed=None):
    frozen = command.frozen(measurement, believed)
    assert frozen.mode is ControlMode.POSITION
    return frozen.values


def test_after_torques_position_servos_begin_with_what_the_joints_bear_or_were_commanded():
    np.testing.assert_allclose(frozen(held(ControlMode.TORQUE, 1.0, 30.0), measured()), [0.15, 0.23])


@pytest.mark.parametrize(("torque", "tolerated"), [(np.inf, 1.0), (np.nan, 1.0), (1e9, 10.0), (-1e9, -10.0)])
def test_a_torque_that_cannot_be_does_not_move_the_joint(torque, tolerated):
    values = frozen(held(ControlMode.TORQUE, 1.0, 30.0), measured(torques=(torque, 20.0)))
    np.testing.assert_allclose(values, [0.1 + tolerated / 100.0, 0.22])


def test_after_velocities_they_begin_where_the_joints_are():
    np.testing.assert_allclose(frozen(held(ControlMode.VELOCITY, 1.0, 1.0), measured()), [0.1, 0.2])


@pytest.mark.parametrize("read", [(0.1, np.nan), (0.1, 0.9), (0.1, -np.inf)])
def test_an_encoder_that_cannot_be_believed_freezes_where_its_joint_was_before(read):
    command = held(ControlMode.VELOCITY, 1.0, 1.0)
    np.testing.assert_allclose(frozen(command, measured(read), np.array([0.12, 0.25])), [0.1, 0.25])


def test_joints_do_not_freeze_beyond_their_position_limits():
    command = held(ControlMode.VELOCITY, 1.0, 1.0)
    np.testing.assert_allclose(frozen(command, measured((-7.0, 7.0))), [-1.0, 2.0])


def test_set_points_stay_within_the_position_limits_as_control_boards_hold_them():
    """A joint near its limit, whose servo would need a set-point beyond it."""
    sent = CommandLimiter(BOUNDS).within_limits(
        JointCommand(ControlMode.POSITION, np.array([-1.05, 2.04])), np.array([-0.98, 1.99])
    )
    np.testing.assert_array_equal(sent.values, [-1.0, 2.0])


def test_positions_freeze_where_they_were_commanded_to_be():
    after = held(ControlMode.POSITION, 0.3, 0.4)
    assert after.frozen(measured(), None) is after.last


@pytest.mark.parametrize(
    "measurement", [None, "nothing", SimpleNamespace(joint_positions=np.zeros(3)), measured((np.nan, 0.0))]
)
def test_without_any_known_position_the_joints_are_commanded_to_rest(measurement):
    command = held(ControlMode.TORQUE, 1.0, 1.0)
    frozen = command.frozen(measurement, None)
    assert frozen.mode is ControlMode.VELOCITY
    np.testing.assert_array_equal(frozen.values, 0.0)
    assert command.frozen(measurement, np.array([0.3, 0.4])).mode is ControlMode.POSITION


def test_a_move_begins_where_the_joints_were_commanded_to_be_and_servos_have_yielded():
    np.testing.assert_array_equal(held(ControlMode.POSITION, 0.13, 0.17).start_of_move(measured()), [0.13, 0.17])


def test_a_joint_that_was_moved_from_outside_begins_where_it_is():
    np.testing.assert_array_equal(held(ControlMode.POSITION, 0.13, 1.2).start_of_move(measured()), [0.13, 0.2])


def test_a_move_after_torques_begins_with_what_the_joints_bear():
    np.testing.assert_allclose(held(ControlMode.TORQUE, 1.0, 20.0).start_of_move(measured()), [0.15, 0.22])


@pytest.mark.parametrize(
    ("mode", "values", "sent"),
    [
        (ControlMode.POSITION, (-1.05, 3.0), (-1.0, 2.0)),
        (ControlMode.VELOCITY, (-6.0, 7.0), (-5.0, 7.0)),
        (ControlMode.TORQUE, (11.0, -51.0), (10.0, -50.0)),
    ],
)
def test_commands_stay_within_the_limits_of_the_joints(mode, values, sent):
    command = CommandLimiter(BOUNDS).within_limits(JointCommand(mode, np.array(values)))
    assert command.mode is mode
    np.testing.assert_allclose(command.values, sent)
    assert CommandLimiter(BOUNDS).within_limits(command) is command


@pytest.mark.parametrize("values", [(np.nan, 0.0), (0.0, np.inf), (0.0,)])
def test_a_command_that_is_no_command_is_refused(values):
    with pytest.raises(NoSolutionFound, match="a command of torque"):
        CommandLimiter(BOUNDS).within_limits(JointCommand(ControlMode.TORQUE, np.array(values)))


def torques(*values):
    return JointCommand(ControlMode.TORQUE, np.array(values))


def test_the_first_command_goes_from_the_measured_torques_towards_what_is_wanted():
    ramp, wanted, measured = TorqueRamp(RATE, LIMIT), torques(5.0, -5.0, 0.2), np.array([2.0, 2.0, 0.0])
    np.testing.assert_allclose(ramp.limited(wanted, measured, RAMP_PERIOD).values, [3.0, 1.0, 0.2])
    np.testing.assert_allclose(ramp.limited(wanted, measured, RAMP_PERIOD).values, [4.0, 0.0, 0.2])


def test_slow_changes_pass_as_they_are():
    ramp = TorqueRamp(RATE, LIMIT)
    wanted = torques(0.5, -1.0)
    assert ramp.limited(wanted, np.zeros(2), RAMP_PERIOD) is wanted


def test_a_joint_without_torque_measurement_starts_at_its_command():
    first = TorqueRamp(RATE, LIMIT).limited(torques(8.0, 8.0), np.array([np.nan, 0.0]), RAMP_PERIOD)
    np.testing.assert_allclose(first.values, [8.0, 1.0])


def test_a_measured_torque_that_cannot_be_is_none_to_start_from():
    first = TorqueRamp(RATE, LIMIT).limited(torques(8.0, 8.0), np.array([1e9, -1e9]), RAMP_PERIOD)
    np.testing.assert_allclose(first.values, [49.0, -49.0])


@pytest.mark.parametrize("interruption", ["reset", "positions"])
def test_after_an_interruption_it_starts_from_the_measured_torques_again(interruption):
    ramp = TorqueRamp(RATE, LIMIT)
    ramp.limited(torques(1.0), np.zeros(1), RAMP_PERIOD)
    if interruption == "reset":
        ramp.reset()
    else:
        held = JointCommand(ControlMode.POSITION, np.zeros(1))
        assert ramp.limited(held, np.zeros(1), RAMP_PERIOD) is held
    assert ramp.limited(torques(1.0), np.array([-4.0]), RAMP_PERIOD).values == -3.0


PERIOD = 0.001  # [s]


class Contradicted:
    """A layer 3 whose references contradict each other while ``is_contradicted``."""

    def __init__(self):
        self.is_contradicted = True

    def command(self, state, body, period, relaxed=False):
        if self.is_contradicted and not relaxed:
            raise NoSolutionFound("torque control", "infeasible", "centre of mass")
        return "relaxed" if relaxed else "exact"


def test_contradictions_are_tolerated_for_a_while_and_then_raised_with_the_task_of_the_largest_residual():
    layer = RelaxingWholeBody(Contradicted(), relaxed_duration=0.003)
    assert [layer.command(None, None, PERIOD) for _ in range(3)] == ["relaxed"] * 3
    with pytest.raises(NoSolutionFound) as caught:
        layer.command(None, None, PERIOD)
    assert caught.value.task == "centre of mass"
    assert layer.failures == 4


def test_a_relaxed_tick_reports_its_task_at_once_and_the_next_good_one_reports_nothing():
    controller = Contradicted()
    layer = RelaxingWholeBody(controller, relaxed_duration=1.0)
    layer.command(None, None, PERIOD)
    (finding,) = layer.findings
    assert (finding.kind, finding.subject) == (SafetyKind.RELAXED, "centre of mass")
    assert finding.text.startswith("relaxed, torque control: the solver answered 'infeasible'")
    controller.is_contradicted = False
    layer.command(None, None, PERIOD)
    assert layer.findings == []
    assert layer.contradiction is None


def test_a_tick_that_goes_well_makes_it_patient_again():
    controller = Contradicted()
    layer = RelaxingWholeBody(controller, relaxed_duration=0.002)
    for _ in range(3):
        controller.is_contradicted = True
        assert [layer.command(None, None, PERIOD) for _ in range(2)] == ["relaxed"] * 2
        controller.is_contradicted = False
        assert layer.command(None, None, PERIOD) == "exact"
    assert layer.failures == 6


def test_servos_with_an_integral_take_loads_over_without_a_deflection():
    command = CommandLimiter(replace(BOUNDS, carries=np.array([True, False])))
    command.last = JointCommand(ControlMode.TORQUE, np.array([5.0, 20.0]))
    frozen = command.frozen(measured(torques=(5.0, 20.0)), np.array([0.1, 0.2]))
    np.testing.assert_allclose(frozen.values, [0.1, 0.2 + 20.0 / 1000.0])


def test_set_points_may_go_ahead_of_the_joints_against_their_damping():
    command = CommandLimiter(replace(BOUNDS, leads=np.array([0.3, 0.0])))
    limited = command.within_limits(JointCommand(ControlMode.POSITION, np.array([0.9, 0.9])), np.zeros(2))
    np.testing.assert_allclose(limited.values, [4.0 * 10.0 / 100.0 + 0.3, 4.0 * 50.0 / 1000.0])
