"""Links that bend: passive joints between a parent and an actuated joint, on massless links."""

from dataclasses import replace
from functools import lru_cache

import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.robot_model import DeflectionAxis, FlexibilityConfig, FlexibleJoint, IdynTreeModel, as_array
from gradiva.setup import load_setup
from tests.conftest import description_of, model_of
from tests.robot_model.test_symbolic_dynamics import compare_with_idyntree

HIPS = ("leg_left_1_joint", "leg_right_1_joint")
AXES = (DeflectionAxis.ROLL, DeflectionAxis.PITCH)


@lru_cache
def flexible(stiffness=5000.0):
    config = FlexibilityConfig(HIPS, AXES, stiffness, ())
    robot = replace(
        description_of("talos"), flexible_joints=config.flexible_joints("talos", description_of("talos").joints)
    )
    return IdynTreeModel(robot.with_flexible_joints())


def test_degrees_of_freedom_are_the_joints_then_the_flexible_ones():
    description = flexible().description
    assert description.joints[32:] == tuple(f"{hip}_{axis}" for hip in HIPS for axis in AXES)
    assert description.actuated == description.measured == tuple(range(32))
    assert description.passive == (32, 33, 34, 35)
    assert flexible().model.getNrOfDOFs() == 36
    assert flexible().mass == pytest.approx(model_of("talos").mass, abs=1e-12)
    assert description.with_flexible_joints() is description
    assert description_of("talos").with_flexible_joints() is description_of("talos")


def test_damping_is_twice_the_root_of_the_stiffness_unless_it_is_configured():
    config = FlexibilityConfig(HIPS, AXES, (100.0, 400.0, 900.0, 1600.0), ())
    joints = config.flexible_joints("talos", HIPS)
    assert joints[2] == FlexibleJoint(HIPS[1], DeflectionAxis.ROLL, 900.0, 60.0)
    assert [joint.damping for joint in joints] == [20.0, 40.0, 60.0, 80.0]
    own = replace(config, damping=7.0).flexible_joints("talos", HIPS)
    assert [joint.damping for joint in own] == [7.0] * 4


def test_without_deflection_frames_and_inertia_are_those_of_the_rigid_robot():
    rigid, soft = model_of("talos").kinematics_and_dynamics(), flexible().kinematics_and_dynamics()
    joints = 0.3 * np.cos(np.arange(32.0))
    rigid.setJointPos(joints)
    soft.setJointPos(np.append(joints, np.zeros(4)))
    for frame in ("left_sole_link", "right_sole_link", "leg_left_1_link", "imu_link"):
        expected = rigid.getRelativeTransform("base_link", frame).asHomogeneousTransform().toNumPy()
        np.testing.assert_allclose(
            soft.getRelativeTransform("base_link", frame).asHomogeneousTransform().toNumPy(), expected, atol=1e-12
        )
    matrices = [idyn.MatrixDynSize(), idyn.MatrixDynSize()]
    for body, matrix in zip((rigid, soft), matrices, strict=True):
        assert body.getFreeFloatingMassMatrix(matrix)
    np.testing.assert_allclose(as_array(matrices[1])[:38, :38], as_array(matrices[0]), atol=1e-10)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_deflection_turns_the_leg_about_the_hip_in_the_axes_of_the_waist(axis):
    body = flexible().kinematics_and_dynamics()
    hip = body.getRelativeTransform("base_link", "leg_left_1_link").asHomogeneousTransform().toNumPy()
    joints = np.zeros(36)
    joints[32 + axis] = 0.1
    body.setJointPos(joints)
    bent = body.getRelativeTransform("base_link", "leg_left_1_link").asHomogeneousTransform().toNumPy()
    cosine, sine = np.cos(0.1), np.sin(0.1)
    turn = np.array(
        [[[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]], [[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]]]
    )
    np.testing.assert_allclose(bent[:3, 3], hip[:3, 3], atol=1e-12)
    np.testing.assert_allclose(bent[:3, :3], turn[axis] @ hip[:3, :3], atol=1e-12)


def test_all_terms_equal_idyntree_with_massless_links():
    compare_with_idyntree(flexible())


@pytest.mark.parametrize(
    ("robot", "setting", "message"),
    [
        ("talos", "flexibility.stiffness=0", "stiffness=0.0, must be positive"),
        ("talos", "simulation.flexibility.stiffness=-1", "simulation flexibility: stiffness=-1.0, must be pos"),
        ("talos", "flexibility.stiffness=[1e3, 1e3]", "has 2 values for 4 flexible joints"),
        ("g1", "flexibility.stiffness=1e3", "this robot has no flexible joints: name the joints"),
        ("g1", 'flexibility.joints=["hip"]', "g1 has no joint 'hip'"),
        ("g1", 'simulation.flexibility.joints=["hip"]', "g1 has no joint 'hip'"),
        ("talos", "simulation.flexibility=3", "simulation flexibility: expected a table, got 3"),
    ],
)
def test_a_wrong_flexibility_is_refused_in_one_line(robot, setting, message):
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")) as refused:
        load_setup(robot, [setting])
    assert "\n" not in str(refused.value)


def test_the_plant_bends_as_the_controller_knows_unless_it_is_configured():
    both = load_setup("talos", ["flexibility.stiffness=5e3", "flexibility.damping=50"])
    of_plant = both.simulation.flexibility.flexible_joints("talos", both.robot.joints)
    assert of_plant == both.robot.flexible_joints
    assert [joint.damping for joint in of_plant] == [50.0] * 4
    wrong = load_setup("talos", ["flexibility.stiffness=5e3", "simulation.flexibility.stiffness=[1e3, 2e3, 3e3, 4e3]"])
    of_plant = wrong.simulation.flexibility.flexible_joints("talos", wrong.robot.joints)
    assert [joint.stiffness for joint in wrong.robot.flexible_joints] == [5e3] * 4
    assert [joint.stiffness for joint in of_plant] == [1e3, 2e3, 3e3, 4e3]
    unknown = load_setup("talos", ["simulation.flexibility.stiffness=3e3"])
    assert unknown.robot.flexible_joints == ()
    assert load_setup("talos").simulation.flexibility.stiffness == ()
