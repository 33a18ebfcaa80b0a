import numpy as np
import pytest

from gradiva.common import ConfigError, NoSolutionFound, RobotPosture, so3
from gradiva.robot_model import as_array, as_pose
from gradiva.whole_body import (
    SolverName,
    WalkingKinematics,
    forward_base_rotation,
    integrate,
    solve_start_posture,
    torso_rotation,
    upright_torso,
)
from tests.whole_body.conftest import config_for, foot, inverse_kinematics_of, reference_for

PERIOD = 0.01


@pytest.fixture
def standing(model, inverse_kinematics):
    return solve_start_posture(model, inverse_kinematics, np.zeros(2), upright_torso(model))


def frame_velocity(model, posture, velocity, frame):
    computations = model.kinematics_and_dynamics()
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = posture.base_rotation, posture.base_position
    gravity = np.array([0.0, 0.0, -9.81])
    computations.setRobotState(pose, posture.joint_positions, velocity[:6], velocity[6:], gravity)
    if frame == "com":
        return as_array(computations.getCenterOfMassVelocity())
    return as_array(computations.getFrameVel(frame))


def test_the_start_posture_stands_on_level_soles_with_the_com_at_its_height(model, standing):
    computations = model.kinematics_and_dynamics()
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = standing.base_rotation, standing.base_position
    zero = np.zeros(len(standing.joint_positions))
    computations.setRobotState(pose, standing.joint_positions, np.zeros(6), zero, np.array([0.0, 0.0, -9.81]))
    description = model.description
    for frame, y in ((description.left_foot_frame, 0.5), (description.right_foot_frame, -0.5)):
        sole, rotation = as_pose(computations.getWorldTransform(frame))
        np.testing.assert_allclose(sole, [0.0, y * description.step_width, 0.0], atol=1e-6)
        np.testing.assert_allclose(rotation, np.eye(3), atol=1e-6)
    com = as_array(computations.getCenterOfMassPosition())
    np.testing.assert_allclose(com, [0.0, 0.0, description.com_height], atol=1e-6)
    lower, upper = model.joint_limits()
    assert np.all(standing.joint_positions >= lower)
    assert np.all(standing.joint_positions <= upper)


def test_where_all_is_as_asked_nothing_moves(model, inverse_kinematics, standing):
    reference = reference_for(
        model,
        torso_rotation(model, standing),
        pelvis_rotation=standing.base_rotation,
        posture=standing.joint_positions,
    )
    velocity = inverse_kinematics.solve(standing, reference, PERIOD)
    np.testing.assert_allclose(velocity, 0.0, atol=1e-4)


@pytest.mark.parametrize("axis", range(3))
def test_hard_tasks_are_met_and_the_com_goes_where_it_is_sent(model, inverse_kinematics, standing, axis):
    wanted = np.zeros(3)
    wanted[axis] = 0.05 if axis < 2 else -0.02
    twist = np.array([0.1, 0.02, 0.05, 0.0, 0.1, 0.2])
    description = model.description
    left = foot([0.0, 0.5 * description.step_width, 0.0], twist=twist)
    reference = reference_for(model, upright_torso(model), com_velocity=wanted, left_foot=left)
    velocity = inverse_kinematics.solve(standing, reference, PERIOD)
    assert inverse_kinematics.problem.quadratic_program.violation(inverse_kinematics.problem.solution) < 1e-8
    np.testing.assert_allclose(frame_velocity(model, standing, velocity, "com"), wanted, atol=1e-5)
    reached = frame_velocity(model, standing, velocity, description.left_foot_frame)
    np.testing.assert_allclose(reached, twist, atol=1e-5)
    still = frame_velocity(model, standing, velocity, description.right_foot_frame)
    np.testing.assert_allclose(still, np.zeros(6), atol=1e-5)


def test_a_turned_and_moved_world_turns_and_moves_the_answer(model, inverse_kinematics, standing):
    turn, shift = so3.rotation_z(0.8), np.array([3.0, -2.0, 0.0])
    wanted = np.array([0.03, 0.01, 0.0])
    torso = upright_torso(model)
    before = inverse_kinematics.solve(standing, reference_for(model, torso, com_velocity=wanted), PERIOD)
    half = 0.5 * model.description.step_width
    moved = RobotPosture(turn @ standing.base_position + shift, turn @ standing.base_rotation, standing.joint_positions)
    reference = reference_for(
        model,
        turn @ torso,
        com_velocity=turn @ wanted,
        pelvis_rotation=turn @ forward_base_rotation(model),
        com_position=turn @ np.array([0.0, 0.0, model.description.com_height]) + shift,
        left_foot=foot(turn @ np.array([0.0, half, 0.0]) + shift, turn),
        right_foot=foot(turn @ np.array([0.0, -half, 0.0]) + shift, turn),
    )
    after = inverse_kinematics.solve(moved, reference, PERIOD)
    np.testing.assert_allclose(after[6:], before[6:], atol=1e-7)
    np.testing.assert_allclose(after[:3], turn @ before[:3], atol=1e-7)
    np.testing.assert_allclose(after[3:6], turn @ before[3:6], atol=1e-7)


def test_both_solvers_find_the_same_optimum(model, standing):
    reference = reference_for(model, upright_torso(model), com_velocity=np.array([0.05, 0.02, 0.0]))
    name = model.description.name
    for solver in SolverName:
        problem = inverse_kinematics_of(name, solver).problem
        inverse_kinematics_of(name, solver).solve(standing, reference, PERIOD)
        np.testing.assert_allclose(problem.solver.solve(), problem.solution, atol=1e-4)


def test_joints_stop_at_their_limits(model, inverse_kinematics, standing):
    posture = standing.joint_positions.copy()
    posture[0] = 10.0
    reference = reference_for(model, upright_torso(model), posture=posture)
    state = standing
    for _ in range(300):
        state = integrate(state, inverse_kinematics.solve(state, reference, 0.02), 0.02)
    assert np.all(state.joint_positions <= inverse_kinematics.upper_limits + 1e-9)
    assert np.all(state.joint_positions >= inverse_kinematics.lower_limits - 1e-9)


def test_joints_keep_their_velocity_limits(model, inverse_kinematics, standing):
    posture = standing.joint_positions + 10.0
    velocity = inverse_kinematics.solve(standing, reference_for(model, upright_torso(model), posture=posture), PERIOD)
    assert np.all(np.abs(velocity[6:]) <= model.description.per_joint("velocity_limit") + 1e-9)


def test_feet_that_cannot_be_reached_have_no_solution(model, inverse_kinematics, standing):
    reference = reference_for(model, upright_torso(model), left_foot=foot([50.0, 0.1, 0.0]))
    with pytest.raises(NoSolutionFound, match="inverse kinematics: the solver answered 'infeasible'") as caught:
        inverse_kinematics.solve(standing, reference, PERIOD)
    assert caught.value.task == "left foot"


def test_relaxed_the_robot_comes_as_near_as_its_joints_allow(model, inverse_kinematics, standing):
    reference = reference_for(model, upright_torso(model), left_foot=foot([50.0, 0.1, 0.0]))
    velocity = inverse_kinematics.solve(standing, reference, PERIOD, relaxed=True)
    limits = model.velocity_limits()
    assert np.all(np.abs(velocity[6:]) <= limits + 1e-6)
    assert frame_velocity(model, standing, velocity, model.description.left_foot_frame)[0] > 0.2


def test_where_the_height_yields_short_legs_lower_the_com_and_keep_its_place_and_the_feet(model, standing):
    half, height = 0.5 * model.description.step_width, model.description.com_height
    ahead = 0.55 * height
    left, right = foot([ahead, half, 0.0]), foot([-ahead, -half, 0.0])
    reference = reference_for(model, upright_torso(model), left_foot=left, right_foot=right, height_yields=True)
    state, inverse_kinematics = standing, inverse_kinematics_of(model.description.name)
    for _ in range(400):
        state = integrate(state, inverse_kinematics.solve(state, reference, 0.01), 0.01)
    errors = inverse_kinematics.task_error(state, reference)
    np.testing.assert_allclose(errors[[0, 1, 2, 6, 7, 8]], 0.0, atol=2e-3)
    np.testing.assert_allclose(errors[12:14], 0.0, atol=2e-3)
    assert 0.01 < errors[14] < 0.3 * height


def test_where_the_height_yields_a_sole_in_the_air_tilts_at_its_ankles_limit_and_reaches_its_place(model, standing):
    half, height = 0.5 * model.description.step_width, model.description.com_height
    tilted, place = so3.exp(np.array([0.0, -1.5, 0.0])), [0.0, half, 0.1 * height]
    sole = foot(place, tilted, in_contact=False)
    reference = reference_for(model, upright_torso(model), left_foot=sole, height_yields=True)
    state, inverse_kinematics = standing, inverse_kinematics_of(model.description.name)
    for _ in range(400):
        state = integrate(state, inverse_kinematics.solve(state, reference, 0.01), 0.01)
    errors = inverse_kinematics.task_error(state, reference)
    np.testing.assert_allclose(errors[[0, 1, 2, 6, 7, 8]], 0.0, atol=2e-3)  # both feet
    np.testing.assert_allclose(errors[9:14], 0.0, atol=2e-3)  # tilt of the sole that stands, place of the CoM
    assert np.linalg.norm(errors[3:6]) > 0.1


def test_relaxed_a_problem_that_has_a_solution_keeps_it(model, inverse_kinematics, standing):
    reference = reference_for(model, upright_torso(model), com_velocity=np.array([0.05, 0.02, 0.0]))
    exact = inverse_kinematics.solve(standing, reference, PERIOD)
    relaxed = inverse_kinematics.solve(standing, reference, PERIOD, relaxed=True)
    np.testing.assert_allclose(relaxed, exact, atol=2e-3)


def test_an_unknown_posture_group_is_named(icub):
    weights = dict.fromkeys(icub.description.joint_groups, 1.0) | {"tail": 1.0}
    with pytest.raises(ConfigError, match="unknown joint group 'tail'"):
        WalkingKinematics(icub, config_for(icub, posture_weights=weights))


@pytest.mark.parametrize(
    "changes",
    [
        {"com_gain": -1.0},
        {"foot_linear_gain": 0.0},
        {"torso_weight": -1.0},
        {"angular_momentum_weights": (0.0, 0.0, -1.0)},
        {"posture_weights": {"torso": 0.0}},
    ],
)
def test_gains_that_make_no_sense_are_refused(icub, changes):
    with pytest.raises(ConfigError, match=next(iter(changes))):
        config_for(icub, **changes)


def test_compiled_and_interpreted_problems_agree(icub):
    posture = solve_start_posture(icub, inverse_kinematics_of("icub_v2_7"), np.zeros(2), upright_torso(icub))
    reference = reference_for(icub, upright_torso(icub), com_velocity=np.array([0.05, 0.0, 0.0]))
    interpreted = WalkingKinematics(icub, config_for(icub)).solve(posture, reference, PERIOD)
    compiled = inverse_kinematics_of("icub_v2_7").solve(posture, reference, PERIOD)
    np.testing.assert_allclose(compiled, interpreted, atol=1e-9)
