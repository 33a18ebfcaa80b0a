"""A configured inverse kinematics for each robot."""

from functools import lru_cache

import numpy as np
import pytest

from gradiva.common import FootReference
from gradiva.setup import GccCompiler, cache_folder
from gradiva.whole_body import InverseKinematicsConfig, WalkingKinematics, WholeBodyReference, forward_base_rotation
from tests.conftest import model_of


def config_for(model, **changes):
    values = {
        "foot_linear_gain": 5.0,
        "foot_angular_gain": 5.0,
        "com_gain": 2.0,
        "torso_gain": 5.0,
        "posture_gain": 5.0,
        "torso_weight": 100.0,
        "pelvis_weight": 30.0,
        "angular_momentum_weights": [0.0, 0.0, 0.0],
        "posture_weights": dict.fromkeys(model.description.joint_groups, 1.0),
    }
    return InverseKinematicsConfig(**(values | changes))


@lru_cache
def inverse_kinematics_of(name, solver="daqp"):
    model = model_of(name)
    return WalkingKinematics(model, config_for(model, solver=solver), GccCompiler(cache_folder()))


def foot(position, rotation=None, twist=None, in_contact=True):
    rotation = np.eye(3) if rotation is None else rotation
    twist = np.zeros(6) if twist is None else twist
    return FootReference(np.asarray(position, dtype=float), rotation, twist, np.zeros(6), in_contact)


def reference_for(model, torso_rotation, **changes):
    description = model.description
    half = 0.5 * description.step_width
    values = {
        "time": 0.0,
        "left_foot": foot([0.0, half, 0.0]),
        "right_foot": foot([0.0, -half, 0.0]),
        "com_position": np.array([0.0, 0.0, description.com_height]),
        "com_velocity": np.zeros(3),
        "com_acceleration": np.zeros(3),
        "com_jerk": np.zeros(3),
        "angular_momentum": np.zeros(3),
        "angular_momentum_rate": np.zeros(3),
        "zmp": np.zeros(2),
        "torso_rotation": torso_rotation,
        "pelvis_rotation": forward_base_rotation(model),
        "trunk_angular_velocity": np.zeros(3),
        "trunk_angular_acceleration": np.zeros(3),
        "posture": description.posture,
        "left_foot_wrench": np.zeros(6),
        "right_foot_wrench": np.zeros(6),
    }
    return WholeBodyReference(**(values | changes))


@pytest.fixture
def inverse_kinematics(model):
    return inverse_kinematics_of(model.description.name)
