"""TSID-Flex: torques of a robot whose hips bend, known torques of springs and dampers in the dynamics."""

from dataclasses import replace
from functools import lru_cache

import casadi as cs
import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, Side
from gradiva.robot_model import DeflectionAxis, FlexibilityConfig, IdynTreeModel, SymbolicDynamics, as_array
from gradiva.whole_body import FlexibleTorqueController, Priority, RigidTorqueController, TorqueActuation
from gradiva.whole_body.flexible_torque_control import WrenchTransitionConfig, WrenchTransitionTask
from gradiva.whole_body.flexible_torque_control import expected_deflections as stated_deflections
from gradiva.whole_body.torque_control import Form, RigidGroundBody
from tests.conftest import model_of
from tests.whole_body.standing_robot import (
    ACTUATION,
    PERIOD,
    RATE,
    ROBOT,
    accelerations,
    reference,
    start_posture,
    state,
    walking_config,
)

STIFFNESS, DAMPING, JOINTS = 500.0, 20.0, 23  # [N·m/rad], [N·m·s/rad]
HIPS = ("l_hip_pitch", "r_hip_pitch")
AXES = (DeflectionAxis.ROLL, DeflectionAxis.PITCH)
FLEXIBLE = slice(6 + JOINTS, None)


@lru_cache
def flexible(stiffness=STIFFNESS, damping=DAMPING):
    description = model_of(ROBOT).description
    joints = FlexibilityConfig(HIPS, AXES, stiffness, damping).flexible_joints(ROBOT, description.joints)
    return IdynTreeModel(replace(description, flexible_joints=joints).with_flexible_joints())


def controller_of(model, horizon=0.0, transition=0.1, rate=RATE, **regulation):
    config = walking_config()
    task = replace(config.flexible_torque_control.flexible_joints, **regulation)
    wrenches = replace(config.flexible_torque_control.transition, weight=transition)
    law = replace(
        config.flexible_torque_control,
        flexible_joints=task,
        transition=wrenches,
        spring_horizon=horizon,
        wrench_weight=config.rigid_torque_control.wrench_weight,
    )
    return FlexibleTorqueController(model, config.rigid_torque_control, law, TorqueActuation(rate), start_posture())


@lru_cache
def flexible_controller(horizon=0.0):
    return controller_of(flexible(), horizon)


def moving_state(deflections, rates, seed=5, scale=1.0):
    """A state near standing, everything moving a little, with its hips bent."""
    rng, posture = np.random.default_rng(seed), start_posture()
    joints = posture.joint_positions + scale * 0.03 * rng.normal(size=JOINTS)
    twist, speeds = scale * 0.05 * rng.normal(size=6), scale * 0.1 * rng.normal(size=JOINTS)
    moving = state(replace(posture, joint_positions=joints), twist, speeds)
    return replace(moving, flexible_positions=deflections, flexible_velocities=rates)


def generalised_forces(model, before, acceleration, wrenches):
    """M ν̇ + h - Σ Jᵀ f of the robot with flexible joints by iDynTree, (6 + n + f,)."""
    body, pose = model.kinematics_and_dynamics(), np.eye(4)
    pose[:3, :3], pose[:3, 3] = before.base_rotation, before.base_position
    joints = np.concatenate((before.joint_positions, before.flexible_positions))
    rates = np.concatenate((before.joint_velocities, before.flexible_velocities))
    assert body.setRobotState(pose, joints, before.base_twist, rates, np.array([0.0, 0.0, -GRAVITY]))
    external = idyn.LinkWrenches(model.model)
    external.zero()
    forces = idyn.FreeFloatingGeneralizedTorques(model.model)
    assert body.inverseDynamics(acceleration[:6], acceleration[6:], external, forces)
    left = np.concatenate((as_array(forces.baseWrench()), as_array(forces.jointTorques())))
    left[6:] += model.rotor_inertia @ acceleration[6:]
    frames = model.description.left_foot_frame, model.description.right_foot_frame
    for frame, wrench in zip(frames, wrenches, strict=True):
        jacobian = idyn.MatrixDynSize(6, len(left))
        assert body.getFrameFreeFloatingJacobian(frame, jacobian)
        left -= as_array(jacobian).T @ wrench
    return left


def answer(controller, joints):
    """ν̇ and both wrenches of the last tick."""
    solution = controller.problem.solution
    return np.concatenate((solution[-6:], solution[:joints])), 30.0 * solution[joints : joints + 12].reshape(2, 6)


@pytest.mark.parametrize("horizon", [0.0, 0.02])
def test_the_equations_of_motion_hold_with_the_torques_of_motors_springs_and_dampers(horizon):
    """Those of springs and dampers after the horizon, with the accelerations that are asked for."""
    deflections, rates = np.array([0.03, -0.02, 0.01, 0.04]), np.array([0.1, 0.2, -0.3, 0.1])
    before, controller = moving_state(deflections, rates), flexible_controller(horizon)
    controller.reset(start_posture())
    torques = controller.command(before, reference(), PERIOD).values
    acceleration, wrenches = answer(controller, JOINTS + 4)
    forces = generalised_forces(flexible(), before, acceleration, wrenches)
    changes = horizon * acceleration[FLEXIBLE]
    later = deflections + horizon * (rates + 0.5 * changes)
    np.testing.assert_allclose(forces[:6], 0.0, atol=1e-6)
    np.testing.assert_allclose(forces[6 : 6 + JOINTS], torques, atol=1e-6)
    np.testing.assert_allclose(forces[FLEXIBLE], -STIFFNESS * later - DAMPING * (rates + changes), atol=1e-6)


def test_a_learned_stiffness_counts_as_a_configured_one():
    before = moving_state(np.array([0.03, -0.02, 0.01, 0.04]), np.zeros(4))
    learned, configured = controller_of(flexible()), controller_of(flexible(1.3 * STIFFNESS))
    torques = learned.command(replace(before, flexible_stiffness=np.full(4, 1.3 * STIFFNESS)), reference(), PERIOD)
    expected = configured.command(before, reference(), PERIOD)
    np.testing.assert_allclose(torques.values, expected.values, atol=1e-6)


def test_stiff_springs_give_the_torques_of_the_rigid_controller():
    """Springs of 1e9 N·m/rad under what the rigid hips carry, at rest."""
    config, before = walking_config().rigid_torque_control, moving_state(np.zeros(4), np.zeros(4))
    rigid = RigidTorqueController(model_of(ROBOT), config, ACTUATION, start_posture())
    expected = rigid.command(before, reference(), PERIOD).values
    acceleration, wrenches = answer(rigid, JOINTS)
    stiff = flexible(1e9, 0.0)
    carried = generalised_forces(stiff, before, np.append(acceleration, np.zeros(4)), wrenches)[FLEXIBLE]
    assert np.max(np.abs(carried)) > 5.0
    bent = replace(before, flexible_positions=-carried / 1e9)
    controller = controller_of(stiff, weight=1e8, stiffness=0.0)
    np.testing.assert_allclose(controller.command(bent, reference(), PERIOD).values, expected, atol=2e-3)


def momentum_controller(com, angular, angular_weight=0.1, com_weight=1e4):
    """TSID-Flex with the centroidal momentum hard or soft."""
    law = walking_config().flexible_torque_control
    law = replace(
        law,
        com=replace(law.com, priority=com, weight=com_weight),
        angular_momentum=replace(law.angular_momentum, priority=angular, weight=angular_weight),
    )
    return FlexibleTorqueController(flexible(), walking_config().rigid_torque_control, law, ACTUATION, start_posture())


def test_soft_momentum_tends_to_the_hard_one():
    """The torques of a robot that moves: of the CoM within 0.05 N·m as configured, of all six rows as weights grow."""
    hard, soft = Priority.HARD, Priority.SOFT
    before = moving_state(expected_deflections(), np.zeros(4), scale=0.1)

    def torques(*of_momentum):
        return momentum_controller(*of_momentum).command(before, reference(), PERIOD).values

    exact, configured = torques(hard, hard), torques(soft, soft)
    np.testing.assert_allclose(configured, torques(hard, soft), atol=0.05)
    error = np.abs(configured - exact).max()
    assert error > 1.0  # the configured weight leaves the angular momentum to the posture
    assert np.abs(torques(soft, soft, 100.0, 1e6) - exact).max() < 0.15 * error


def test_without_flexible_joints_it_is_the_rigid_controller():
    config = walking_config()
    same = replace(
        config.flexible_torque_control,
        com=config.rigid_torque_control.com,
        angular_momentum=config.rigid_torque_control.angular_momentum,
        wrench_weight=config.rigid_torque_control.wrench_weight,
    )
    flexible_law = FlexibleTorqueController(
        model_of(ROBOT), config.rigid_torque_control, same, ACTUATION, start_posture()
    )
    rigid = RigidTorqueController(model_of(ROBOT), config.rigid_torque_control, ACTUATION, start_posture())
    before = moving_state(np.zeros(0), np.zeros(0))
    expected = rigid.command(before, reference(), PERIOD).values
    np.testing.assert_allclose(flexible_law.command(before, reference(), PERIOD).values, expected, atol=1e-9)


def expected_deflections():
    """Those under the expected wrenches at rest."""
    before = replace(state(), flexible_positions=np.zeros(4), flexible_velocities=np.zeros(4))
    wrenches = np.array([reference().left_foot_wrench, reference().right_foot_wrench])
    return -generalised_forces(flexible(), before, np.zeros(33), wrenches)[FLEXIBLE] / STIFFNESS


def value_of(body, expression, **more):
    """Return what an expression of a body is in a robot that stands."""
    now, before, dynamics = reference(), state(), body.dynamics
    values = {"base_position": before.base_position, "base_rotation": before.base_rotation, "base_twist": np.zeros(6)}
    values["joint_positions"] = np.append(before.joint_positions, np.zeros(4))
    values["joint_velocities"] = np.zeros(JOINTS + 4)
    symbols = {name: getattr(dynamics, name) for name in values} | body.parameters.symbols
    values |= body.parameters.constants | more
    for side, foot in (("left", now.left_foot), ("right", now.right_foot)):
        poses = {name: getattr(foot, name) for name in ("position", "rotation", "twist", "acceleration")}
        wrench = getattr(now, f"{side}_foot_wrench")
        values |= {
            f"{side}_foot_{name}": value for name, value in {**poses, "is_loaded": 1.0, "wrench": wrench}.items()
        }
    found = cs.Function("value", [*symbols.values()], [expression])(*(values[name] for name in symbols))
    return np.array(found)[:, 0]


def body_of_flexible():
    return RigidGroundBody(SymbolicDynamics.of(flexible()), Form.REDUCED)


def test_the_law_expects_the_deflections_at_which_the_expected_wrenches_are_in_balance():
    body = body_of_flexible()
    assert np.abs(expected_deflections()).max() > 0.01
    np.testing.assert_allclose(value_of(body, stated_deflections(body)), expected_deflections(), atol=1e-9)


@pytest.mark.parametrize(("fraction", "part"), [(0.0, 1.0), (0.2, 0.25), (0.3, 0.0625), (0.4, 0.0), (1.0, 0.0)])
def test_what_holds_the_wrench_of_a_foot_that_takes_load_over_fades_as_the_square_of_the_load_that_is_missing(
    fraction, part
):
    """The foot is to carry half of the weight; once it carries 0.2 of it nothing holds the wrench."""
    task = WrenchTransitionTask(Side.RIGHT, WrenchTransitionConfig(weight=0.1, load=0.2, duration=0.05))
    body = body_of_flexible()
    weights = task.weights(body)
    assert value_of(body, weights, right_foot_transition=fraction) == pytest.approx([0.1 * part], abs=1e-9)


def test_at_the_deflections_of_the_expected_wrenches_a_robot_stands_still():
    controller = flexible_controller()
    before = replace(state(), flexible_positions=expected_deflections(), flexible_velocities=np.zeros(4))
    controller.reset(start_posture())
    controller.command(before, reference(), PERIOD)
    acceleration, _ = answer(controller, JOINTS + 4)
    np.testing.assert_allclose(acceleration[FLEXIBLE], 0.0, atol=0.5)


def test_what_is_desired_and_commanded_is_of_the_actuated_joints():
    controller, before = flexible_controller(), moving_state(np.zeros(4), np.zeros(4))
    controller.reset(start_posture())
    assert controller.desired_velocity.shape == (6 + JOINTS,)
    assert controller.command(before, reference(), PERIOD).values.shape == (JOINTS,)
    assert controller.desired_velocity.shape == (6 + JOINTS,)
    assert controller.desired_joint_positions.shape == (JOINTS,)
    np.testing.assert_allclose(accelerations(controller, before)[6:], answer(controller, JOINTS + 4)[0][6 : 6 + JOINTS])
    np.testing.assert_allclose(
        controller.desired_posture.joint_positions, controller.desired_joint_positions, atol=1e-12
    )


@pytest.mark.parametrize(("transition", "loads"), [(0.1, (0.24, 0.46)), (0.0, (0.46, 0.46))])
def test_a_foot_that_has_touched_down_takes_its_load_over_smoothly(transition, loads):
    """Fractions of the weight on it in the first tick and after the transition; without one all of it at once."""
    controller = controller_of(flexible(), 0.05, transition, rate=1e9)
    before, weight = moving_state(np.zeros(4), np.zeros(4)), flexible().mass * GRAVITY
    lifted = replace(reference().right_foot, in_contact=False)
    in_the_air = replace(before, right_foot_wrench=np.zeros(6))
    controller.command(in_the_air, replace(reference(), right_foot=lifted), PERIOD)
    found = []
    for _ in range(60):
        controller.command(before, reference(), PERIOD)
        found.append(answer(controller, JOINTS + 4)[1][1, 2] / weight)
    assert (found[0], found[-1]) == pytest.approx(loads, abs=0.03)


def test_the_centre_of_mass_is_lowered_while_a_push_is_caught_and_comes_back():
    controller, caught = controller_of(flexible(), 0.05), replace(reference(), height_yields=True)
    standing, height = state(), reference().com_position[2] - reference().left_foot.position[2]

    def lowering(ask, ticks):
        for _ in range(ticks):
            values = controller._values(standing, ask, set(Side), PERIOD)
        return reference().com_position - values["com_position"]

    np.testing.assert_array_equal(lowering(reference(), 1), 0.0)
    np.testing.assert_allclose(lowering(caught, 100), [0.0, 0.0, 0.025 * (1.0 - np.exp(-1.0)) * height], rtol=1e-6)
    np.testing.assert_allclose(lowering(reference(), 2000), 0.0, atol=1e-9)


def test_flexible_joints_cannot_be_a_hard_task():
    with pytest.raises(ConfigError, match="nothing moves flexible joints at once"):
        controller_of(flexible(), priority=Priority.HARD)
