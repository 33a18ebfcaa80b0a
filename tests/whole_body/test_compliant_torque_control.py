"""Torques on soft ground."""

from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, EstimationError, NoSolutionFound, Side, so3
from gradiva.contacts import SoleMotion, ViscoElasticContact
from gradiva.robot_model import as_array
from gradiva.whole_body import CompliantTorqueController, Priority, SolverName, make_solver
from gradiva.whole_body.compliant_torque_control import LinearMomentumConfig
from tests.conftest import model_of
from tests.whole_body.standing_robot import (
    ACTUATION,
    GROUND,
    PERIOD,
    ROBOT,
    accelerations,
    changed_compliant_controller,
    compliant_controller,
    computations,
    contact,
    reference,
    rigid_controller,
    start_posture,
    state,
    sunk_state,
    walking_config,
)

SOLE = model_of(ROBOT).description.sole
AREA = (SOLE.x[1] - SOLE.x[0]) * (SOLE.y[1] - SOLE.y[0])


@pytest.fixture
def compliant():
    controller = compliant_controller()
    controller.reset(start_posture())
    return controller


def sinkage():
    return model_of(ROBOT).mass * GRAVITY / (2.0 * AREA * GROUND[0])


def sunk_reference(**changes):
    wanted = reference(**changes)
    return replace(wanted, com_position=wanted.com_position - [0.0, 0.0, sinkage()])


def test_on_soft_ground_the_torques_of_rest_are_those_of_rigid_ground(compliant):
    rigid = rigid_controller()
    rigid.reset(start_posture())
    before = sunk_state(sinkage())
    torques = compliant.command(before, sunk_reference(), PERIOD).values
    np.testing.assert_allclose(accelerations(compliant, before), 0.0, atol=0.05)
    np.testing.assert_allclose(torques, rigid.command(state(), reference(), PERIOD).values, atol=0.2)
    assert compliant.problem.quadratic_program.violation(compliant.problem.solution) < 1e-6


def test_on_soft_ground_the_guess_is_the_solvers_optimum(compliant, monkeypatch):
    rng, problem = np.random.default_rng(3), compliant.problem
    for _ in range(3):
        moving = {"base_twist": 0.002 * rng.normal(size=6), "joint_velocities": 0.005 * rng.normal(size=23)}
        before = sunk_state(sinkage(), **moving)
        compliant.command(before, sunk_reference(), PERIOD)  # whatever was guessed of other tests' ticks
        with monkeypatch.context() as alone:
            alone.setattr(problem, "solver", None)  # asked, it would fail
            compliant.command(before, sunk_reference(com_jerk=rng.normal(size=3)), PERIOD)
        optimum = make_solver(SolverName.DAQP, "beside", problem.quadratic_program).solve()
        np.testing.assert_allclose(problem.solution, optimum, atol=1e-7)


def test_on_soft_ground_an_impossible_foot_is_named_and_approached_where_it_is_relaxed():
    shipped = walking_config().compliant_torque_control
    hard = {name: replace(getattr(shipped, name), priority=Priority.HARD) for name in ("swing_foot", "torque_limits")}
    config = replace(shipped, **hard)
    controller = CompliantTorqueController(model_of(ROBOT), config, ACTUATION, start_posture())
    before = sunk_state(sinkage(), right_contact=contact("right", is_active=False))
    lifted = replace(reference().right_foot, in_contact=False, acceleration=np.array([0.0, 0.0, 1e4, 0.0, 0.0, 0.0]))
    with pytest.raises(NoSolutionFound, match=r"compliant torque control.*'right swinging foot'"):
        controller.command(before, sunk_reference(right_foot=lifted), PERIOD)
    np.testing.assert_array_equal(controller.desired_velocity, np.zeros(29))
    controller.command(before, sunk_reference(right_foot=lifted), PERIOD, relaxed=True)
    missed = controller.problem.violations()
    assert 10.0 < missed["right swinging foot"] < 1e4
    assert missed["base dynamics"] < 1e-6


@pytest.mark.parametrize("axis", range(3))
def test_on_soft_ground_a_jerk_becomes_a_rate_of_force(compliant, axis):
    jerk = np.zeros(3)
    jerk[axis] = 5.0
    before = sunk_state(sinkage())
    compliant.command(before, sunk_reference(com_jerk=jerk), PERIOD)
    change = accelerations(compliant, before)
    body = computations(start_posture(), change[:6], change[6:])
    feet = [as_array(body.getFrameVel(frame)) for frame in ("l_sole", "r_sole")]
    held = GROUND[1] + 0.5 * GROUND[0] * acting()
    force_rate = sum(-AREA * held * (foot[:3] + np.cross(foot[3:], middle())) for foot in feet)
    np.testing.assert_allclose(force_rate / model_of(ROBOT).mass, jerk, atol=0.6)  # angular momentum has a say


def test_on_soft_ground_an_arm_that_is_away_from_its_posture_is_allowed_the_momentum_to_come_back():
    shipped = walking_config().compliant_torque_control.angular_momentum
    heavy = replace(shipped, weight=1e5, vertical_weight=1e5)
    controller = changed_compliant_controller(angular_momentum=heavy)
    before, away = sunk_state(sinkage()), np.zeros(23)
    away[model_of(ROBOT).description.joints.index("l_shoulder_roll")] = 0.5
    controller.command(before, sunk_reference(posture=start_posture().joint_positions + away), PERIOD)
    change = accelerations(controller, before)
    momentum = computations(start_posture(), np.zeros(6), shipped.recovery["left_arm"] * away)
    wanted = heavy.stiffness * as_array(momentum.getCentroidalTotalMomentum())[3:]
    np.testing.assert_allclose(moment_rate(before, change), wanted, atol=0.05 * np.linalg.norm(wanted))


def moment_rate(before, change):
    """Return the rate of the ground's moment about the CoM of a robot at rest whose ν̇ is ``change``, [N·m/s]."""
    body = computations(start_posture(), change[:6], change[6:])
    twists = {side: as_array(body.getFrameVel(f"{str(side)[0]}_sole")) for side in Side}  # of rest, so accelerations
    total = np.zeros(3)
    for side, acceleration in twists.items():
        position = before.foot_position(side)
        motion = SoleMotion(position, before.foot_rotation(side), np.zeros(6))
        rate = ViscoElasticContact(SOLE, side).rate(motion, before.foot_contact(side), acting()).gain @ acceleration
        total += np.cross(position - before.com_position, rate[:3]) + rate[3:]
    return total


def acting():
    """Return for how long an acceleration of a sole acts, [s]: its period, and the delay of the response twice."""
    return PERIOD + 2.0 * walking_config().compliant_torque_control.response_delay


def middle():
    """Return the middle of the left sole's bottom in its frame; that of the right one is 10 mm to the side."""
    return np.array([0.5 * sum(SOLE.x), 0.0, SOLE.z])


def test_on_soft_ground_an_old_wrench_is_brought_up_to_date(compliant):
    compliant.command(sunk_state(sinkage()), sunk_reference(), PERIOD)
    moving = sunk_state(sinkage(), base_twist=np.array([0.0, 0.0, -0.01, 0.0, 0.0, 0.0]))
    compliant.command(moving, sunk_reference(), PERIOD)
    age = walking_config().compliant_torque_control.wrench_age / PERIOD
    push = compliant.problem.outputs["left_wrench"][2] - moving.left_foot_wrench[2]
    assert push == pytest.approx(age * 0.01 * AREA * GROUND[1], rel=1e-3)


def test_on_soft_ground_a_low_pass_takes_the_noise_of_a_wrench_and_keeps_what_the_model_says():
    controller = changed_compliant_controller(wrench_time_constant=PERIOD / np.log(2.0))
    before = sunk_state(sinkage())
    wrench = controller_wrench(controller, before)
    noise = np.array([0.0, 0.0, 10.0, 0.0, 0.0, 0.0])
    noisy = controller_wrench(controller, replace(before, left_foot_wrench=before.left_foot_wrench + noise))
    np.testing.assert_allclose(noisy - wrench, 0.5 * noise, atol=1e-9)
    sinking = controller_wrench(
        controller, sunk_state(sinkage(), base_twist=np.array([0.0, 0.0, -0.01, 0.0, 0.0, 0.0]))
    )
    age = walking_config().compliant_torque_control.wrench_age / PERIOD
    expected = 0.5 * noise[2] * 0.5 + 0.5 * (1.0 + age) * 0.01 * AREA * GROUND[1]
    assert sinking[2] - wrench[2] == pytest.approx(expected, rel=1e-3)


def controller_wrench(controller, measured):
    controller.command(measured, sunk_reference(), PERIOD)
    return controller.problem.outputs["left_wrench"].copy()


def test_soft_ground_wants_the_contacts(compliant):
    with pytest.raises(EstimationError, match="contact of the left foot is not estimated"):
        compliant.command(state(), reference(), PERIOD)


SHIPPED = walking_config().compliant_torque_control


@pytest.mark.parametrize("integral", [200.0, 1000.0])
def test_gains_that_let_the_centre_of_mass_swing_up_are_refused(integral):
    with pytest.raises(ConfigError, match=rf"integral={integral}, must be below damping · stiffness = 200"):
        LinearMomentumConfig(weight=1.0, damping=5.0, stiffness=40.0, integral=integral)
    assert LinearMomentumConfig(weight=1.0, damping=5.0, stiffness=40.0, integral=199.0).integral == 199.0


@pytest.mark.parametrize("name", ["weight", "damping", "stiffness", "integral"])
def test_the_momentum_wants_each_of_its_gains(name):
    with pytest.raises(ConfigError, match=f"{name}=0.0, must be positive"):
        replace(SHIPPED.linear_momentum, **{name: 0.0})


@pytest.mark.parametrize(
    ("part", "changes", "message"),
    [
        ("angular_momentum", {"recovery": {"torso": -1.0}}, "recovery.torso=-1.0, must not be negative"),
        ("standing_foot", {"unloaded_force": 0.0}, "unloaded_force=0.0, must be positive"),
        ("wrench_rate", {"bandwidth": -1.0}, "bandwidth=-1.0, must not be negative"),
    ],
)
def test_parts_that_make_no_sense_are_refused(part, changes, message):
    with pytest.raises(ConfigError, match=message):
        replace(getattr(SHIPPED, part), **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reference_damping": 0.0}, "reference_damping=0.0, must be positive"),
        ({"cone_horizon": 0.0}, "cone_horizon=0.0, must be positive"),
        ({"wrench_age": -1e-3}, "wrench_age=-0.001, must not be negative"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        replace(SHIPPED, **changes)


def test_on_soft_ground_the_legs_keep_their_fraction_of_the_planned_angular_momentum_but_about_the_vertical():
    shipped = walking_config().compliant_torque_control.angular_momentum
    heavy = replace(shipped, weight=1e5, vertical_weight=1e5, legs_fraction=0.5)
    controller, before = changed_compliant_controller(angular_momentum=heavy), sunk_state(sinkage())
    momentum, rate = np.array([0.2, -0.4, 0.3]), np.array([-1.0, 3.0, 2.0])
    controller.command(before, sunk_reference(angular_momentum=momentum, angular_momentum_rate=rate), PERIOD)
    wanted = 0.5 * (heavy.damping * rate + heavy.stiffness * momentum) * [1.0, 1.0, 0.0]
    reached = moment_rate(before, accelerations(controller, before))
    np.testing.assert_allclose(reached, wanted, atol=0.05 * np.linalg.norm(wanted))


def test_on_soft_ground_a_pelvis_that_is_tilted_is_allowed_the_momentum_to_come_upright():
    shipped = walking_config().compliant_torque_control.angular_momentum
    heavy = replace(shipped, weight=1e5, vertical_weight=1e5)
    controller, before = changed_compliant_controller(angular_momentum=heavy), sunk_state(sinkage())
    tilt = np.array([0.1, -0.05, 0.0])
    wanted_rotation = so3.exp(tilt) @ before.base_rotation
    controller.command(before, sunk_reference(pelvis_rotation=wanted_rotation), PERIOD)
    body = computations(start_posture(), np.array([0.0, 0.0, 0.0, *(shipped.pelvis_recovery * tilt)]), np.zeros(23))
    wanted = heavy.stiffness * as_array(body.getCentroidalTotalMomentum())[3:]
    reached = moment_rate(before, accelerations(controller, before))
    np.testing.assert_allclose(reached, wanted, atol=0.05 * np.linalg.norm(wanted))
