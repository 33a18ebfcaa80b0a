"""Signals of a walk beside the controller's: ground, soles, torques."""

from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand, Side, so3
from gradiva.planner import VelocityCommand
from gradiva.setup import load_robot, load_setup
from gradiva.simulated_walk import SimulatedWalk
from gradiva.simulated_walk.walk_score import torque_score
from gradiva.simulated_walk.walking_recorder import ground_signals, sole_signals, torque_signals
from gradiva.simulation import MujocoRobot
from gradiva.telemetry import SignalLog, unit_of
from gradiva.whole_body import TorqueController
from tests.simulation.standing import configured, moved, standing_posture

FEET = [f"simulation::{side}_foot::contact" for side in ("left", "right")]


@pytest.mark.parametrize("name", ["icub_v2_7", "icub_v3"])
def test_ground_below_standing_feet_is_recorded_and_in_the_air_there_is_none(name):
    robot = load_robot(name)
    config = configured(ground={"kind": "viscoelastic"}, viscoelastic={"stiffness": 1e6, "damping": 2e4})
    posture = standing_posture(robot)
    signals = [ground_signals(MujocoRobot(robot, config, start).ground, robot) for start in _on_and_above(posture)]
    for foot in FEET:
        assert (signals[0][f"{foot}::stiffness"], signals[0][f"{foot}::damping"]) == (1e6, 2e4)
        assert np.isnan([signals[1][f"{foot}::stiffness"], signals[1][f"{foot}::damping"]]).all()


@pytest.mark.parametrize(
    ("signal", "unit"),
    [
        ("left_foot::linear_force::measured", "N"),
        ("right_foot::angular_torque::measured", "N m"),
        ("simulation::external_wrench::force", "N"),
        ("imu::angular_velocity::measured", "rad/s"),
        ("simulation::angular_momentum", "N m s"),
        ("dcm::velocity::desired", "m/s"),
        ("zmp::measured", "m"),
        ("left_foot::orientation::desired", "rad"),
        ("joints_state::torques::command", "N m"),
        ("step_adaptation::delay", "s"),
        ("tick::total", "µs"),
        ("walking::is_walking", "-"),
        ("own::law::force", "-"),
    ],
)
def test_the_unit_of_a_signal_is_known_by_its_name(signal, unit):
    assert unit_of(signal) == unit


def test_rigid_ground_has_no_such_signals():
    robot = load_robot("icub_v2_7")
    assert ground_signals(MujocoRobot(robot, configured(), standing_posture(robot)).ground, robot) == {}


def test_the_tick_in_which_a_foot_lands_early_is_recorded_between_those_that_are_due():
    """Step adaptation says in that tick alone that the step is over; a loop of 1 kHz records every seventh."""
    recorder = SimulatedWalk(load_setup("icub_v2_7")).recorder

    def tick(time, is_double_support, adapted):
        reference, stepping = SimpleNamespace(is_double_support=is_double_support), SimpleNamespace(adapted=adapted)
        return SimpleNamespace(desired=object(), time=time, reference=reference, stepping=stepping)

    recorder._pass(1.0)
    assert [recorder.wants(tick(time, False, "foothold")) for time in (1.003, 1.007)] == [False, True]
    assert recorder.wants(tick(1.003, True, "foothold"))
    assert not recorder.wants(tick(1.003, True, None))
    assert not recorder.wants(SimpleNamespace(desired=None, time=1.003))


def _on_and_above(posture):
    return posture, moved(posture, np.array([0.0, 0.0, 0.1]))


ROBOT = load_robot("icub_v2_7")
SIDES = ("left", "right")


def signals_of(posture, **ground):
    return sole_signals(MujocoRobot(ROBOT, configured(**ground), posture).truth(), ROBOT)


def test_soles_on_a_rigid_floor_are_level_and_do_not_sink():
    signals = signals_of(standing_posture(ROBOT))
    assert [signals[f"simulation::{side}_foot::sinkage"] for side in SIDES] == pytest.approx([0.0, 0.0], abs=1e-3)
    assert [signals[f"simulation::{side}_foot::tilt"] for side in SIDES] == pytest.approx(
        [0.0, 0.0], abs=np.radians(1.0)
    )


def test_both_soles_sink_by_the_weight_over_stiffness_and_area():
    ground = {"ground": {"kind": "viscoelastic"}, "viscoelastic": {"stiffness": 1e6}}
    signals = signals_of(standing_posture(ROBOT), **ground)
    depth = ROBOT.mass * 9.81 / (2.0 * ROBOT.sole.length * ROBOT.sole.width * 1e6)
    assert depth == pytest.approx(0.0141, abs=1e-4)
    assert np.mean([signals[f"simulation::{side}_foot::sinkage"] for side in SIDES]) == pytest.approx(depth, rel=0.02)


def test_of_a_foot_that_carries_nothing_nothing_is_recorded():
    signals = signals_of(moved(standing_posture(ROBOT), np.array([0.0, 0.0, 0.1])))
    assert np.isnan(list(signals.values())).all()


def test_depth_is_that_of_the_middle_and_tilt_that_of_the_normal():
    truth = _state(so3.exp(np.array([0.2, 0.0, 0.0])))
    signals = sole_signals(truth, ROBOT)
    assert signals["simulation::left_foot::tilt"] == pytest.approx(0.2)
    assert signals["simulation::left_foot::sinkage"] == pytest.approx(0.03)
    assert np.isnan(signals["simulation::right_foot::tilt"])


def _state(rotation):
    """Return the truth of a robot whose left sole's middle is 3 cm deep, turned by ``rotation``; it carries all."""
    surface = np.array([0.4, 0.1, ROBOT.sole.z - 0.03])
    positions = {Side.LEFT: surface - rotation @ ROBOT.sole.middle(Side.LEFT), Side.RIGHT: np.zeros(3)}
    forces = {Side.LEFT: ROBOT.mass * 9.81, Side.RIGHT: 0.0}
    return SimpleNamespace(
        foot_position=positions.__getitem__,
        foot_rotation=lambda side: rotation,
        foot_wrench=lambda side: np.array([0.0, 0.0, forces[side], 0.0, 0.0, 0.0]),
    )


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


def test_violations_of_the_tick_are_recorded_under_names_that_matlab_takes(controller):
    signals = torque_signals(command(0.0, 0.0, 0.0), LIMITS, controller)
    assert signals["torque_control::violation::joint_torques"] == 0.5
    assert signals["torque_control::violation::left_foot_wrench"] == 0.0


def test_other_commands_have_no_such_signals_and_other_controllers_no_violations(controller):
    assert torque_signals(command(10.0, 0.0, 0.0, mode=ControlMode.POSITION), LIMITS, controller) == {}
    assert torque_signals(command(10.0, 0.0, 0.0), LIMITS, object()) == {"torque_control::saturated_joints": 1.0}


def test_shares_are_those_of_the_ticks_that_count():
    times = np.arange(10.0)
    signals = {
        "torque_control::saturated_joints": np.where(times < 4.0, 2.0, 0.0),
        "torque_control::violation::joint_torques": np.where(times == 9.0, 0.25, 1e-5),
        "torque_control::violation::joint_positions": np.full(10, 1e-5),
    }
    signals = torque_score(SignalLog.from_arrays(times, signals), slice(2, 10))
    assert signals == {"saturated_fraction": 0.25, "violations": {"joint_torques": {"fraction": 0.125, "max": 0.25}}}


def test_where_torques_are_not_controlled_nothing_is_recorded():
    assert torque_score(SignalLog.from_arrays(np.arange(2.0), {"zmp::measured": np.zeros(2)}), slice(None)) is None


@pytest.mark.walk
def test_any_robot_can_be_given_links_that_bend_and_their_deflections_are_logged_by_name():
    settings = {
        "simulation.flexibility.joints": ["l_hip_pitch", "r_hip_pitch"],
        "simulation.flexibility.axes": ["roll"],
        "simulation.flexibility.stiffness": 2e3,
    }
    walk = SimulatedWalk(load_setup("icub_v2_7", settings))
    assert walk.get_ready()
    assert walk.follow(VelocityCommand(0.1, duration=1.0), settle=0.1)
    log = walk.recorder.log
    assert {name for name in log if log.info(name).unit == "-"} == {name for name in log if "is_" in name}
    names = ("l_hip_pitch_roll", "r_hip_pitch_roll")
    assert log.info("simulation::flexible_joints::positions").elements == names
    deflections, torques = (log[f"simulation::flexible_joints::{what}"] for what in ("positions", "torques"))
    rates = log["simulation::flexible_joints::velocities"]
    np.testing.assert_allclose(torques, -2e3 * deflections - 2.0 * np.sqrt(2e3) * rates, atol=1e-9)
    assert 1e-3 < np.abs(deflections).max() < 0.05
    assert "flexible_joints::positions::estimated" not in log
