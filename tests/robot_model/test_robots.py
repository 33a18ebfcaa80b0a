from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ConfigError, ModelError, Side, so3
from gradiva.robot_model import IdynTreeModel, RotorCoupling, balanced, links_from_base
from gradiva.setup import find_model_file
from gradiva.setup.new_robot import ModelFile, draft_robot
from gradiva.simulation import load_tree
from tests.conftest import ERGOCUB, ROBOTS, description_of, model_of

ROMEO = ("example-robot-data", "romeo_description/urdf/romeo_small.urdf")


@pytest.mark.parametrize(
    ("name", "joints", "mass"),
    [
        ("icub_v2_7", 23, 33.06),
        ("icub_v3", 23, 52.47),
        ("talos", 32, 90.27),
        ("g1", 23, 33.34),
        pytest.param("ergocub", 23, 56.65, marks=ERGOCUB.marks),
    ],
)
def test_the_robots_have_their_joints_and_their_mass(name, joints, mass):
    model = model_of(name)
    assert len(model.description.joints) == joints
    assert model.mass == pytest.approx(mass, rel=2e-3)
    order = [model.model.getJointName(i) for i in range(joints)]
    assert order == list(model.description.joints)


def test_the_start_of_the_posture_is_within_the_joint_limits(model):
    lower, upper = model.joint_limits()
    assert np.all(model.description.posture >= lower - 0.02)
    assert np.all(model.description.posture <= upper + 0.02)


def test_every_foot_has_its_sensors():
    assert {name: len(description_of(name).sensors_of(Side.LEFT)) for name in ROBOTS} == {
        "g1": 1,
        "icub_v2_7": 1,
        "icub_v3": 2,
        "talos": 1,
    }


def test_another_mass_is_refused():
    with pytest.raises(ModelError, match=r"weighs 33\.\d+ kg, its description says 40"):
        IdynTreeModel(replace(description_of("icub_v2_7"), mass=40.0))


def test_a_base_that_is_no_root_is_refused_with_the_root():
    with pytest.raises(ModelError, match="base_link 'torso_1_link' is not the root of the URDF, which is 'base_link'"):
        IdynTreeModel(replace(description_of("talos"), base_link="torso_1_link"))


def test_inertias_that_no_body_can_have_are_named_or_balanced():
    romeo = replace(
        draft_robot("romeo", ModelFile(ROMEO, find_model_file(*ROMEO))).description,
        balance_inertia=False,
    )
    message = r"RShoulderYawLink \(0.000662 \+ 0.000679 < 0.00657 kg·m²\); RElbowYawLink .*balance_inertia = true"
    for load in (IdynTreeModel, load_tree):
        with pytest.raises(ModelError, match=message):
            load(romeo)
    balanced_romeo = replace(romeo, balance_inertia=True)
    bodies = {body.name: body.inertial for body in load_tree(balanced_romeo).bodies}
    model = IdynTreeModel(balanced_romeo)
    for link in links_from_base(model):
        body = bodies.pop(model.model.getLinkName(link.index))
        np.testing.assert_allclose(link.inertia_at_com, body.inertia, atol=1e-9)
        np.testing.assert_allclose(link.com, body.centre, atol=1e-9)
    assert not bodies


def test_balancing_keeps_axes_and_the_largest_moment():
    turn = so3.exp(np.array([0.3, -0.5, 0.8]))
    wrong, right = np.diag([1.0, 2.0, 7.0]), np.diag([2.0, 3.0, 4.0])
    np.testing.assert_allclose(turn.T @ balanced(turn @ wrong @ turn.T) @ turn, np.diag([3.0, 4.0, 7.0]), atol=1e-7)
    np.testing.assert_array_equal(balanced(right), right)
    flat = turn @ np.diag([3e-5, 3e-5, 6e-5]) @ turn.T
    low, middle, high = np.linalg.eigvalsh(balanced(flat))
    assert low + middle > high * (1.0 + 5e-10)  # engines pass it after rounding
    np.testing.assert_allclose(balanced(flat), flat, atol=1e-13)


def test_a_missing_frame_is_named_with_the_nearest_one():
    with pytest.raises(ModelError, match="no frame 'l_sol'; did you mean 'l_sole'"):
        IdynTreeModel(replace(description_of("icub_v2_7"), left_foot_frame="l_sol"))


def test_a_joint_that_the_urdf_has_not_is_named_with_its_group_and_file():
    robot = description_of("icub_v2_7")
    arm = robot.joint_groups["left_arm"]
    groups = robot.joint_groups | {"left_arm": replace(arm, joints=("l_shoulder_pich", *arm.joints[1:]))}
    message = r"icub_v2_7, \[joint_groups.left_arm\] joints: no joint 'l_shoulder_pich' in the URDF; did you mean"
    with pytest.raises(ModelError, match=message):
        IdynTreeModel(replace(robot, joint_groups=groups, ports=None))


def test_a_missing_file_is_named():
    with pytest.raises(ModelError, match="cannot load the URDF /nowhere"):
        IdynTreeModel(replace(description_of("icub_v2_7"), model_file="/nowhere"))


def test_group_numbers_are_spread_over_the_joints():
    robot = description_of("icub_v2_7")
    numbers = dict.fromkeys(robot.joint_groups, 1.0) | {"torso": 5.0}
    np.testing.assert_array_equal(robot.spread(numbers, "here"), [5.0] * 3 + [1.0] * 20)
    with pytest.raises(ConfigError, match="here: unknown joint group 'torsoo'; did you mean 'torso'"):
        robot.spread(numbers | {"torsoo": 1.0}, "here")
    with pytest.raises(ConfigError, match="here: missing joint group 'torso'"):
        robot.spread({name: 1.0 for name in robot.joint_groups if name != "torso"}, "here")


@pytest.mark.parametrize("name", ["stiffness", "velocity_limit", "torque_limit", "damping"])
def test_servos_that_cannot_hold_a_joint_are_refused(name):
    legs = description_of("icub_v2_7").joint_groups["left_leg"]
    with pytest.raises(ConfigError, match=f"{name}=-1.0"):
        replace(legs, **{name: -1.0})


@pytest.mark.parametrize("name", ["mass", "com_height", "step_width", "max_speed", "max_torque_speed"])
def test_a_robot_without_size_is_refused(name):
    with pytest.raises(ConfigError, match=f"{name}=0.0, must be positive"):
        replace(description_of("icub_v2_7"), **{name: 0.0})


def test_drives_are_given_for_a_group_or_for_each_joint():
    robot = description_of("icub_v2_7")
    legs = replace(robot.joint_groups["left_leg"], rotor_inertia=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6), gear_play=0.01)
    changed = replace(robot, joint_groups={**robot.joint_groups, "left_leg": legs}, rotor_couplings=())
    np.testing.assert_allclose(changed.per_joint("rotor_inertia")[11:17], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    np.testing.assert_allclose(changed.per_joint("gear_play")[10:18], [0.0, *[0.01] * 6, 0.0])
    np.testing.assert_allclose(changed.rotor_inertia_matrix, np.diag(changed.per_joint("rotor_inertia")))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"rotor_inertia": (0.1, 0.2)}, r"rotor_inertia=\[0.1, 0.2\] has 2 values for 6 joints"),
        ({"coulomb_friction": (1.0, 1.0, 1.0, 1.0, 1.0, -2.0)}, "coulomb_friction=.* must not be negative"),
        ({"full_torque_speed": 5.0, "no_load_speed": 4.0}, "full_torque_speed=5.0, must be below no_load_speed=4.0"),
        ({"velocity_feedforward": 1.1}, "velocity_feedforward=1.1, must not exceed 1"),
        ({"gear_loss": 1.5}, "gear_loss=1.5, must not exceed 1"),
        ({"integral_gain": 10.0, "integral_limit": 0.0}, "integral_limit=0.0, must be positive where the servo has an"),
        ({"velocity_stiffness": 9e3}, "velocity_stiffness=9000.0, must be below stiffness=5625.0"),
    ],
)
def test_drives_that_cannot_be_are_refused(numbers, message):
    with pytest.raises(ConfigError, match=message):
        replace(description_of("icub_v2_7").joint_groups["left_leg"], **numbers)


def test_a_rotor_that_turns_with_an_unknown_joint_is_refused():
    robot = description_of("icub_v2_7")
    with pytest.raises(ConfigError, match="rotor_couplings: no joint 'torso_pitsh'; did you mean 'torso_pitch'"):
        replace(robot, rotor_couplings=(RotorCoupling(("torso_pitsh",), (1.0,), 0.1),))
    with pytest.raises(ConfigError, match="1 coefficients for 2 joints"):
        RotorCoupling(("torso_pitch", "torso_roll"), (1.0,), 0.1)
