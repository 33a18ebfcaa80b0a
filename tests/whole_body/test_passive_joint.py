"""A joint without a motor: a degree of freedom of the model that turns by its spring and gets no command."""

from dataclasses import replace
from functools import lru_cache

import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.robot_model import QUANTITIES, IdynTreeModel, JointGroup, as_array
from gradiva.walking import WalkingLayers
from gradiva.whole_body import (
    CompliantTorqueController,
    PositionController,
    RigidTorqueController,
    ServoFeedforward,
    ServoFeedforwardConfig,
    VelocityController,
    WalkingKinematics,
)
from tests.conftest import model_of
from tests.whole_body.standing_robot import (
    ACTUATION,
    PERIOD,
    ROBOT,
    computations,
    reference,
    start_posture,
    state,
    sunk_state,
    walking_config,
)
from tests.whole_body.test_compliant_torque_control import sinkage, sunk_reference

GROUP, STIFFNESS, DAMPING = "left_elbow", 15.0, 0.4  # [N·m/rad], [N·m·s/rad]
ELBOW = model_of(ROBOT).description.joints.index("l_elbow")
OTHERS = np.delete(np.arange(23), ELBOW)


@lru_cache
def sprung(stiffness=STIFFNESS):
    """The robot with a spring in the place of the motor of its left elbow."""
    description = model_of(ROBOT).description
    groups = {}
    for name, group in description.joint_groups.items():
        if name != "left_arm":
            groups[name] = group
            continue
        assert group.joints[-1] == "l_elbow"
        lists = {key: group.per_joint(key)[:-1] for key in QUANTITIES}
        groups[name] = replace(group, joints=group.joints[:-1], posture=group.posture[:-1], **lists)
        numbers = {key: group.per_joint(key)[-1] for key in ("velocity_limit", "torque_limit")}
        groups[GROUP] = JointGroup(
            ("l_elbow",), group.posture[-1:], stiffness, DAMPING, actuated=False, measured=False, **numbers
        )
    return IdynTreeModel(replace(description, joint_groups=groups))


def with_group(config):
    """A configuration of torque control with numbers for the group of the elbow, which are of no use."""
    posture = replace(
        config.posture,
        stiffness={**config.posture.stiffness, GROUP: 1.0},
        weights={**config.posture.weights, GROUP: 1.0},
    )
    return replace(config, posture=posture)


def inverse_kinematics():
    config = walking_config().inverse_kinematics
    weights = {**config.posture_weights, GROUP: 1.0}
    return WalkingKinematics(sprung(), replace(config, posture_weights=weights))


def bent(**fields):
    """The state of a robot that moves, with the elbow away from its posture."""
    posture = start_posture()
    joints = posture.joint_positions.copy()
    joints[ELBOW] += 0.3
    speeds = 0.1 * np.cos(np.arange(23))
    return state(replace(posture, joint_positions=joints), joint_velocities=speeds, **fields)


def spring_torque(before):
    stretch = sprung().description.posture[ELBOW] - before.joint_positions[ELBOW]
    return STIFFNESS * stretch - DAMPING * before.joint_velocities[ELBOW]


def generalised_forces(before, acceleration, wrenches):
    """M ν̇ + h - Σ Jᵀ f by iDynTree, of the robot with all joints and the rotors of its motors, (6 + n,)."""
    posture = replace(
        start_posture(),
        base_position=before.base_position,
        base_rotation=before.base_rotation,
        joint_positions=before.joint_positions,
    )
    body = computations(posture, before.base_twist, before.joint_velocities)
    matrix = idyn.MatrixDynSize()
    assert body.getFreeFloatingMassMatrix(matrix)
    forces = idyn.FreeFloatingGeneralizedTorques(body.model())
    assert body.generalizedBiasForces(forces)
    left = np.concatenate([as_array(forces.baseWrench()), as_array(forces.jointTorques())])
    left += as_array(matrix) @ acceleration
    left[6:] += sprung().description.rotor_inertia_matrix @ acceleration[6:]
    for frame, wrench in wrenches.items():
        jacobian = idyn.MatrixDynSize(6, 29)
        assert body.getFrameFreeFloatingJacobian(frame, jacobian)
        left -= as_array(jacobian).T @ wrench
    return left


def dense_optimum(problem):
    """The optimum of a problem without active limits, by one dense solution of its KKT equations."""
    program = problem.quadratic_program
    rows = np.vstack([np.eye(program.bounded_variables, len(program.gradient)), program.rows])
    equal = program.lower == program.upper
    matrix = np.block([[program.hessian, rows[equal].T], [rows[equal], np.zeros((equal.sum(), equal.sum()))]])
    right = np.concatenate([-program.gradient, program.lower[equal]])
    solution = np.linalg.lstsq(matrix, right, rcond=None)[0][: len(program.gradient)]
    free = rows @ solution
    assert np.all(free[~equal] <= program.upper[~equal] + 1e-9)
    assert np.all(free[~equal] >= program.lower[~equal] - 1e-9)
    return solution


def test_joints_actuated_and_measured_ones_are_lists_of_their_own():
    description = sprung().description
    assert description.joints == model_of(ROBOT).description.joints
    assert description.actuated == description.measured == tuple(OTHERS.tolist())
    assert description.passive == (ELBOW,)
    assert "l_elbow" not in description.actuated_joints
    assert description.actuated_joints == description.measured_joints
    joints = np.arange(23.0)
    np.testing.assert_array_equal(description.actuation @ joints, joints[OTHERS])


def test_a_robot_with_a_motor_in_each_joint_selects_all_of_them():
    description = model_of(ROBOT).description
    assert description.actuated_joints == description.measured_joints == description.joints
    assert description.selection == slice(None)
    np.testing.assert_array_equal(description.actuation, np.eye(23))


@pytest.mark.parametrize("form", ["reduced", "full"])
def test_on_rigid_ground_the_optimum_is_that_of_the_dense_kkt_equations(form):
    config = replace(with_group(walking_config().rigid_torque_control), form=form)
    controller = RigidTorqueController(sprung(), config, ACTUATION, start_posture())
    before = bent()
    command = controller.command(before, reference(), PERIOD)
    assert command.values.shape == (22,)
    np.testing.assert_allclose(controller.problem.solution, dense_optimum(controller.problem), atol=1e-6)


def test_on_rigid_ground_the_motion_is_that_of_the_torques_and_the_spring():
    config = with_group(walking_config().rigid_torque_control)
    controller = RigidTorqueController(sprung(), config, ACTUATION, start_posture())
    before = bent()
    command = controller.command(before, reference(), PERIOD)
    velocity = np.concatenate([before.base_twist, before.joint_velocities])
    acceleration = (controller.desired_velocity - velocity) / PERIOD
    wrenches = 30.0 * controller.problem.solution[23:35]
    description = sprung().description
    frames = {description.left_foot_frame: wrenches[:6], description.right_foot_frame: wrenches[6:]}
    forces = generalised_forces(before, acceleration, frames)
    np.testing.assert_allclose(forces[:6], 0.0, atol=1e-6)
    assert forces[6 + ELBOW] == pytest.approx(spring_torque(before), abs=1e-6)
    assert abs(spring_torque(before)) > 4.0
    np.testing.assert_allclose(forces[6:][OTHERS], command.values, atol=1e-6)


def test_on_soft_ground_the_elbow_turns_by_its_spring():
    config = walking_config().compliant_torque_control
    momentum = replace(config.angular_momentum, recovery={**config.angular_momentum.recovery, GROUP: 0.0})
    config = with_group(replace(config, angular_momentum=momentum))
    controller = CompliantTorqueController(sprung(), config, ACTUATION, start_posture())
    before = sunk_state(sinkage())
    command = controller.command(before, sunk_reference(), PERIOD)
    acceleration = controller.desired_velocity / PERIOD
    description = sprung().description
    frames = {
        description.left_foot_frame: before.left_foot_wrench,
        description.right_foot_frame: before.right_foot_wrench,
    }
    forces = generalised_forces(before, acceleration, frames)
    assert forces[6 + ELBOW] == pytest.approx(spring_torque(before), abs=1e-5)
    np.testing.assert_allclose(forces[6:][OTHERS], command.values, atol=1e-5)


def test_kinematics_leave_a_passive_joint_alone_and_out_of_their_commands():
    layer = inverse_kinematics()
    posture = start_posture().joint_positions.copy()
    posture[ELBOW] += 0.5
    wanted = reference(posture=posture, com_velocity=np.array([0.02, 0.0, 0.0]))
    config = ServoFeedforwardConfig(0.5, 1.0, 0.02, 1.0)
    feedforward = ServoFeedforward(sprung(), config)
    for controller in (
        VelocityController(layer, start_posture()),
        PositionController(layer, feedforward, start_posture()),
    ):
        command = controller.command(state(), wanted, 0.01)
        assert command.values.shape == (22,)
        assert controller.desired_velocity[6 + ELBOW] == pytest.approx(0.0, abs=1e-12)
        assert np.abs(controller.desired_velocity[6:][OTHERS]).max() > 1e-3
        assert not layer.problem.was_solver_asked


def test_only_a_passive_joint_may_have_no_stiffness():
    assert sprung(0.0).description.passive == (ELBOW,)
    group = model_of(ROBOT).description.joint_groups["left_arm"]
    with pytest.raises(ConfigError, match=r"stiffness=0\.0, must be positive"):
        replace(group, stiffness=0.0)


def test_a_walk_refuses_a_joint_without_a_motor_and_says_what_to_do():
    with pytest.raises(ConfigError, match=r"joint 'l_elbow' has no motor; .* leave it out of joint_groups"):
        WalkingLayers(sprung().description, walking_config())
