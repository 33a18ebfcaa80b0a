import mujoco
import numpy as np
import pytest

from gradiva.common import Side, so3
from gradiva.setup import load_robot
from gradiva.simulation.choose_ground import choose_ground
from gradiva.simulation.plant import build_plant, load_tree
from gradiva.simulation.slip_meter import SlipConfig, SlipMeter
from gradiva.simulation.state_reader import StateReader
from tests.simulation.standing import configured, standing_posture

ROBOT = load_robot("icub_v2_7")


@pytest.fixture(scope="module")
def model():
    config, tree = configured(), load_tree(ROBOT)
    ground = choose_ground(config, ROBOT.sole.z, 0)
    return build_plant(ROBOT, tree, config.plant, ground, config.ground.gravity_vector, config.timestep)


def placed(model, turn=None, shift=(0.0, 0.0, 0.0)):
    """Return the standing robot, shifted, and turned about the middle of its left sole."""
    posture, data = standing_posture(ROBOT), mujoco.MjData(model)
    turn = np.eye(3) if turn is None else turn
    _place(model, data, posture.base_position, posture.base_rotation, posture.joint_positions)
    sole = model.site(ROBOT.left_foot_frame).id
    pivot = data.site_xpos[sole] + data.site_xmat[sole].reshape(3, 3) @ ROBOT.sole.middle(Side.LEFT)
    position = pivot + turn @ (posture.base_position - pivot) + shift
    _place(model, data, position, turn @ posture.base_rotation, posture.joint_positions)
    return data


def _place(model, data, position, rotation, joints):
    data.qpos[:3] = position
    mujoco.mju_mat2Quat(data.qpos[3:7], rotation.ravel())
    for joint, angle in zip(ROBOT.joints, joints, strict=True):
        data.qpos[model.joint(joint).qposadr] = angle
    mujoco.mj_kinematics(model, data)


def slip_between(model, *states):
    """Return the slip of the left foot, which carries all."""
    reader, meter = StateReader(ROBOT, model, np.eye(3)), SlipMeter(SlipConfig(30.0))
    wrenches = np.array([[0.0, 0.0, 300.0, 0.0, 0.0, 0.0], np.zeros(6)])
    for data in states:
        reader.watch_soles(data, wrenches, meter)
    return meter.largest_slip


@pytest.mark.parametrize("turn", [so3.exp(np.array([0.2, 0.0, 0.0])), so3.exp(np.array([0.0, -0.2, 0.0]))])
def test_a_sole_that_rolls_about_its_middle_does_not_slip(model, turn):
    assert slip_between(model, placed(model), placed(model, turn)) == pytest.approx(0.0, abs=1e-9)


def test_a_sole_that_slides_and_sinks_slips_by_what_it_slides(model):
    assert slip_between(model, placed(model), placed(model, shift=(0.003, -0.004, -0.01))) == pytest.approx(0.005)
