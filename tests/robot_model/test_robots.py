from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ConfigError, ModelError, Side
from gradiva.robot_model import IdynTreeModel
from tests.conftest import ROBOTS, description_of, model_of


@pytest.mark.parametrize(
    ("name", "joints", "mass"), [("icub_v2_7", 23, 33.06), ("icub_v3", 23, 52.47), ("talos", 32, 90.27)]
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
        "icub_v2_7": 1,
        "icub_v3": 2,
        "talos": 1,
    }


def test_another_mass_is_refused():
    with pytest.raises(ModelError, match=r"weighs 33\.\d+ kg, its description says 40"):
        IdynTreeModel(replace(description_of("icub_v2_7"), mass=40.0))


def test_a_missing_frame_is_named_with_the_nearest_one():
    with pytest.raises(ModelError, match="no frame 'l_sol'; did you mean 'l_sole'"):
        IdynTreeModel(replace(description_of("icub_v2_7"), left_foot_frame="l_sol"))


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


@pytest.mark.parametrize("name", ["mass", "com_height", "step_width", "max_speed"])
def test_a_robot_without_size_is_refused(name):
    with pytest.raises(ConfigError, match=f"{name}=0.0, must be positive"):
        replace(description_of("icub_v2_7"), **{name: 0.0})
