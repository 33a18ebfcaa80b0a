"""A robot that stands, its configured torque controllers, and what they are asked for."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from gradiva.common import GRAVITY, FootContact, RobotPosture, RobotState
from gradiva.robot_model import as_array, as_pose
from gradiva.setup import GccCompiler, cache_folder, load_setup
from gradiva.whole_body import (
    CompliantTorqueController,
    RigidTorqueController,
    TorqueActuation,
    solve_start_posture,
    standing_reference,
    torso_rotation,
    upright_torso,
)
from tests.conftest import model_of
from tests.whole_body.conftest import inverse_kinematics_of

ROBOT = "icub_v2_7"
PERIOD = 0.001
RATE = 5000.0  # [N·m/s]
ACTUATION = TorqueActuation(RATE)
GROUND = (2e6, 1e4)  # [N/m³], [N·s/m³]


@lru_cache
def walking_config(*overrides):
    return load_setup(ROBOT, overrides).walking


@lru_cache
def start_posture():
    model = model_of(ROBOT)
    ahead = walking_config().planner.zmp_offset[0]
    return solve_start_posture(model, inverse_kinematics_of(ROBOT), np.array([ahead, 0.0]), upright_torso(model))


@lru_cache
def rigid_controller(*overrides):
    """Compiled as it is shipped; interpreted where something is overridden."""
    config = walking_config(*overrides).rigid_torque_control
    compiler = () if overrides else (GccCompiler(cache_folder()),)
    return RigidTorqueController(model_of(ROBOT), config, ACTUATION, start_posture(), *compiler)


@lru_cache
def compliant_controller():
    return changed_compliant_controller()


def changed_compliant_controller(**changes):
    """With other values of its configuration."""
    config = replace(walking_config().compliant_torque_control, **changes)
    return CompliantTorqueController(model_of(ROBOT), config, ACTUATION, start_posture(), GccCompiler(cache_folder()))


@lru_cache
def _standing():
    model, posture = model_of(ROBOT), start_posture()
    standing = standing_reference(model, posture, torso_rotation(model, posture))
    return replace(standing, left_foot_wrench=weight_on(0.5), right_foot_wrench=weight_on(0.5))


def reference(**changes):
    """Return the reference of a robot that stands, both feet loaded alike."""
    return replace(_standing(), **changes)


def weight_on(fraction):
    """Return a fraction of the robot's weight, where its start posture has the ZMP, as the wrench on a sole."""
    load = fraction * model_of(ROBOT).mass * GRAVITY
    ahead = walking_config().planner.zmp_offset[0]
    return np.array([0.0, 0.0, load, 0.0, -ahead * load, 0.0])


def state(posture=None, base_twist=None, joint_velocities=None, **fields):
    """The state of a robot in a posture, at rest where no velocities are given."""
    model, posture = model_of(ROBOT), posture or start_posture()
    base_twist = np.zeros(6) if base_twist is None else base_twist
    joint_velocities = np.zeros_like(posture.joint_positions) if joint_velocities is None else joint_velocities
    body = computations(posture, base_twist, joint_velocities)
    values = {
        "base_position": posture.base_position,
        "base_rotation": posture.base_rotation,
        "base_twist": base_twist,
        "joint_positions": posture.joint_positions,
        "joint_velocities": joint_velocities,
        "com_position": as_array(body.getCenterOfMassPosition()),
        "com_velocity": as_array(body.getCenterOfMassVelocity()),
        "dcm_position": np.zeros(2),
        "zmp_position": np.zeros(2),
    }
    frames = {"left": model.description.left_foot_frame, "right": model.description.right_foot_frame}
    for side, frame in frames.items():
        position, rotation = as_pose(body.getWorldTransform(frame))
        values |= {f"{side}_foot_position": position, f"{side}_foot_rotation": rotation}
        values |= {f"{side}_foot_twist": as_array(body.getFrameVel(frame)), f"{side}_foot_wrench": weight_on(0.5)}
    return RobotState(**(values | fields))


def sunk_state(depth, **fields):
    """The state of a robot that stands ``depth`` [m] deep in soft ground, which is known."""
    posture = start_posture()
    sunk = replace(posture, base_position=posture.base_position - [0.0, 0.0, depth])
    return state(sunk, **{"left_contact": contact("left"), "right_contact": contact("right"), **fields})


def contact(side, is_active=True):
    """The contact of a sole that touched down level at its place."""
    foot = getattr(reference(), f"{side}_foot")
    return FootContact(is_active, foot.position, foot.rotation, *GROUND)


@lru_cache
def _body():
    return model_of(ROBOT).kinematics_and_dynamics()


def computations(posture, base_twist, joint_velocities):
    """iDynTree's computations in that state; the next call moves them on."""
    body = _body()
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = posture.base_rotation, posture.base_position
    gravity = np.array([0.0, 0.0, -GRAVITY])
    assert body.setRobotState(pose, posture.joint_positions, base_twist, joint_velocities, gravity)
    return body


def accelerations(controller, before):
    """ν̇ that the last command of a controller leads to, from the state ``before``."""
    velocity = np.concatenate((before.base_twist, before.joint_velocities))
    return (controller.desired_velocity - velocity) / PERIOD


def moved(pose, turn, shift):
    """A posture in a world that is turned and shifted."""
    return RobotPosture(turn @ pose.base_position + shift, turn @ pose.base_rotation, pose.joint_positions)
