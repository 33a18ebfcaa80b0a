import casadi as cs
import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import so3
from gradiva.robot_model import (
    FlatFunction,
    IdynTreeModel,
    SymbolicDynamics,
    as_array,
    as_pose,
    symbolic_exp,
    symbolic_log,
)
from tests.conftest import description_of

GRAVITY = np.array([0.0, 0.0, -9.81])


def random_state(joints, seed):
    rng = np.random.default_rng(seed)
    return {
        "base_position": rng.normal(size=3),
        "base_rotation": so3.exp(rng.normal(size=3)),
        "base_twist": rng.normal(size=6),
        "joint_positions": rng.normal(size=joints),
        "joint_velocities": rng.normal(size=joints),
    }


def oracle(model, state):
    computations = model.kinematics_and_dynamics()
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = state["base_rotation"], state["base_position"]
    assert computations.setRobotState(
        pose, state["joint_positions"], state["base_twist"], state["joint_velocities"], GRAVITY
    )
    return computations


def frames_of(model):
    d = model.description
    return (d.left_foot_frame, d.right_foot_frame, d.torso_frame, d.imu_frame)


def all_terms(model):
    dynamics = SymbolicDynamics(model)
    outputs = {
        "mass_matrix": dynamics.mass_matrix,
        "bias_forces": dynamics.bias_forces,
        "com_position": dynamics.com_position,
        "com_velocity": dynamics.com_velocity,
        "com_jacobian": dynamics.com_jacobian,
        "com_bias_acceleration": dynamics.com_bias_acceleration,
        "centroidal_momentum_matrix": dynamics.centroidal_momentum_matrix,
    }
    for index, name in enumerate(frames_of(model)):
        frame = dynamics.frame(name)
        for part in ("position", "rotation", "jacobian", "twist", "bias_acceleration"):
            outputs[f"{part}_{index}"] = getattr(frame, part)
    inputs = {name: getattr(dynamics, name) for name in random_state(dynamics.joints, 0)}
    return FlatFunction("all_terms", inputs, outputs)


def compare_with_idyntree(model):
    function = all_terms(model)
    size = 6 + len(model.description.joints)
    for seed in range(5):
        state = random_state(size - 6, seed)
        function.set(**state)
        out, reference = function(), oracle(model, state)
        expected = {
            "com_position": as_array(reference.getCenterOfMassPosition()),
            "com_velocity": as_array(reference.getCenterOfMassVelocity()),
            "com_bias_acceleration": as_array(reference.getCenterOfMassBiasAcc()),
        }
        matrices = {
            "mass_matrix": (reference.getFreeFloatingMassMatrix, size),
            "com_jacobian": (reference.getCenterOfMassJacobian, 3),
            "centroidal_momentum_matrix": (reference.getCentroidalTotalMomentumJacobian, 6),
        }
        for name, (fill, rows) in matrices.items():
            matrix = idyn.MatrixDynSize(rows, size)
            assert fill(matrix)
            expected[name] = as_array(matrix)
        expected["mass_matrix"][6:, 6:] += model.description.rotor_inertia_matrix  # of which iDynTree knows nothing
        forces = idyn.FreeFloatingGeneralizedTorques(model.model)
        reference.generalizedBiasForces(forces)
        expected["bias_forces"] = np.concatenate([as_array(forces.baseWrench()), as_array(forces.jointTorques())])
        for index, name in enumerate(frames_of(model)):
            position, rotation = as_pose(reference.getWorldTransform(name))
            jacobian = idyn.MatrixDynSize(6, size)
            reference.getFrameFreeFloatingJacobian(name, jacobian)
            expected[f"position_{index}"] = position
            expected[f"rotation_{index}"] = rotation
            expected[f"jacobian_{index}"] = as_array(jacobian)
            expected[f"twist_{index}"] = as_array(reference.getFrameVel(name))
            expected[f"bias_acceleration_{index}"] = as_array(reference.getFrameBiasAcc(name))
        for name, value in expected.items():
            scale = max(1.0, float(np.abs(value).max()))
            np.testing.assert_allclose(out[name], value, atol=1e-12 * scale, err_msg=name)


def test_all_terms_equal_idyntree_on_random_states(model):
    compare_with_idyntree(model)


@pytest.mark.parametrize("fraction", [0.0, 0.5])
def test_a_fraction_of_the_rotors_is_in_the_block_of_the_joints_alone(fraction):
    description = description_of("icub_v2_7")
    masses = []
    for known in (1.0, fraction):
        function = all_terms(IdynTreeModel(description, known))
        function.set(**random_state(len(description.joints), 5))
        masses.append(function()["mass_matrix"].copy())
    difference = masses[0] - masses[1]
    np.testing.assert_allclose(difference[6:, 6:], (1.0 - fraction) * description.rotor_inertia_matrix, atol=1e-12)
    np.testing.assert_array_equal(difference[:6], 0.0)
    roll, pitch, yaw = (description.joints.index(f"torso_{axis}") for axis in ("roll", "pitch", "yaw"))
    assert difference[6 + roll, 6 + yaw] == pytest.approx(-(1.0 - fraction) * 0.08 * 1.818, abs=1e-12)
    assert difference[6 + roll, 6 + pitch] == pytest.approx(0.0, abs=1e-12)


def test_the_frame_jacobian_is_the_derivative_of_the_pose(icub):
    function = all_terms(icub)
    joints, step = len(icub.description.joints), 1e-6
    state = random_state(joints, 3)
    function.set(**state)
    jacobian = function()["jacobian_0"].copy()
    for joint in range(joints):
        positions = []
        for sign in (1, -1):
            moved = state["joint_positions"].copy()
            moved[joint] += sign * step
            function.set(joint_positions=moved)
            positions.append(function()["position_0"].copy())
        slope = (positions[0] - positions[1]) / (2 * step)
        np.testing.assert_allclose(slope, jacobian[:3, 6 + joint], atol=1e-8)


def test_moving_the_world_changes_neither_masses_nor_forces(icub):
    function = all_terms(icub)
    state = random_state(len(icub.description.joints), 4)
    function.set(**state)
    before = {name: value.copy() for name, value in function().items()}
    function.set(base_position=state["base_position"] + np.array([40.0, -25.0, 3.0]))
    after = function()
    np.testing.assert_allclose(after["mass_matrix"], before["mass_matrix"], atol=1e-12)
    np.testing.assert_allclose(after["bias_forces"], before["bias_forces"], atol=1e-12)
    np.testing.assert_allclose(after["com_position"] - before["com_position"], [40.0, -25.0, 3.0])


def test_compiled_and_interpreted_functions_agree(icub, compiler):
    symbol = cs.SX.sym("x", 3)
    expression = {"y": cs.sin(symbol) * cs.norm_2(symbol)}
    functions = [FlatFunction("agree", {"x": symbol}, expression, c) for c in (compiler, lambda f: f)]
    for function in functions:
        function.set(x=[0.1, -2.0, 3.0])
    np.testing.assert_allclose(functions[0]()["y"], functions[1]()["y"], atol=1e-15)


def test_an_unknown_input_is_named(icub):
    symbol = cs.SX.sym("x", 3)
    function = FlatFunction("named", {"position": symbol}, {"y": symbol})
    with pytest.raises(KeyError, match="did you mean 'position'"):
        function.set(positon=0.0)


@pytest.mark.parametrize("scale", [0.0, 1e-10, 1e-7, 1e-3, 1.0, 5.0])
def test_the_symbolic_exponential_is_the_numeric_one(scale):
    vector = cs.SX.sym("x", 3)
    function = FlatFunction("exp", {"vector": vector}, {"rotation": symbolic_exp(vector)})
    for direction in np.random.default_rng(0).normal(size=(5, 3)):
        function.set(vector=scale * direction)
        np.testing.assert_allclose(function()["rotation"], so3.exp(scale * direction), atol=1e-14)


@pytest.mark.parametrize("scale", [0.0, 1e-10, 1e-3, 1.0, 2.9])
def test_the_symbolic_logarithm_is_the_numeric_one(scale):
    rotation = cs.SX.sym("R", 3, 3)
    function = FlatFunction("log", {"rotation": rotation}, {"vector": symbolic_log(rotation)})
    for direction in np.random.default_rng(0).normal(size=(5, 3)):
        vector = scale * direction / np.linalg.norm(direction)
        function.set(rotation=so3.exp(vector))
        np.testing.assert_allclose(function()["vector"], vector, atol=1e-12)
