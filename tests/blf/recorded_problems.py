"""Problems that bipedal-locomotion-framework was asked and its answers, and who answers them in tests."""

import json
import os
import sys
from importlib.resources import files
from pathlib import Path

import icub_models
import numpy as np
import pytest

STAND_IN = Path(__file__).parent / "stand_in"
REAL = os.environ.get("GRADIVA_TEST_BLF", "")
FOLDER = Path(__file__).parent / "recorded"
NAMES = {"ik": "kinematics", "tsid": "dynamics"}
RESTING = np.zeros(6)
CONTACTS = {"left_wrench": "l_sole", "right_wrench": "r_sole"}


def interpreters():
    """Return the parameters of tests that run on the stand-in, and where it is installed on the framework itself."""
    reason = "GRADIVA_TEST_BLF names no interpreter"
    return [
        pytest.param(sys.executable, id="stand_in"),
        pytest.param(REAL, id="real", marks=pytest.mark.skipif(not REAL, reason=reason)),
    ]


def recorded(name):
    """Return problems and answers of the framework, which the comparison of peers shows as well."""
    return json.loads(files("gradiva_experiments.peers").joinpath(f"{NAMES[name]}.json").read_text(encoding="utf-8"))


def rotation(quaternion):
    x, y, z, w = np.array(quaternion) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def pose(numbers):
    return np.concatenate((numbers[:3], rotation(numbers[3:]).ravel()))


def task(name, kind, priority=0, weight=(), **parameters):
    return {"name": name, "type": kind, "priority": priority, "weight": list(weight), "parameters": parameters}


def problem(kind, record, tasks):
    model = str(icub_models.get_model_file("iCubGazeboV2_5"))
    found = {"kind": kind, "model": model, "joints": record["joints"], "base": record["base"]}
    contacts = list(CONTACTS) if kind == "tsid" else []
    size = 6 + len(record["joints"]) * (1 + bool(contacts)) + 6 * len(contacts)
    return {**found, "gravity": record["gravity"], "tasks": tasks, "contacts": contacts, "size": size}


def kinematic_problem(record, case):
    ones, (lower, upper) = np.ones(len(record["joints"])), case["bounds"]
    limits = {"use_model_limits": False, "lower_limits": lower, "upper_limits": upper, "klim": (0.5 * ones).tolist()}
    feet = [task(frame, "SE3Task", frame_name=frame, kp_linear=7.0, kp_angular=5.0) for frame in CONTACTS.values()]
    tasks = [
        *feet,
        task("com", "CoMTask", kp_linear=4.0),
        task("torso", "SO3Task", 1, [10.0] * 3, frame_name="chest", kp_angular=5.0),
        task("posture", "JointTrackingTask", 1, ones.tolist(), kp=(5.0 * ones).tolist()),
        task("limits", "JointLimitsTask", sampling_time=0.01, **limits),
    ]
    return problem("ik", record, tasks)


def kinematic_numbers(sample, case):
    rest = np.zeros(len(sample["joints"]))
    feet = (pose(sample["left"]), RESTING, pose(sample["right"]), RESTING)
    parts = (pose(sample["base"]), RESTING, sample["joints"], rest, *feet)
    return np.concatenate(
        (*parts, sample["com"], rotation(sample["torso"]).ravel(), np.zeros(3), case["posture"], rest)
    )


def dynamic_problem(record, case):
    n, (kp, kd) = len(record["joints"]), (50.0, 14.1421356237)
    gains = {"kp_linear": 100.0, "kd_linear": 20.0, "kp_angular": 100.0, "kd_angular": 20.0}
    groups = {
        f"CONTACT_{k}": {"variable_name": name, "frame_name": frame} for k, (name, frame) in enumerate(CONTACTS.items())
    }
    groups["max_number_of_contacts"] = 2
    sole = {"foot_limits_x": [-0.07, 0.12], "foot_limits_y": [-0.045, 0.05]}
    cone = {"number_of_slices": 2, "static_friction_coefficient": 0.5, **sole}
    regularised = {"variable_name": "joint_torques", "variable_size": n}
    tasks = [
        *(task(frame, "SE3Task", frame_name=frame, **gains) for frame in CONTACTS.values()),
        task("com", "CoMTask", kp_linear=40.0, kd_linear=12.6491106407),
        task("base", "BaseDynamicsTask", **groups),
        task("joints", "JointDynamicsTask", joint_torques_variable_name="joint_torques", **groups),
        *(
            task(name, "FeasibleContactWrenchTask", frame_name=frame, variable_name=name, **cone)
            for name, frame in CONTACTS.items()
        ),
        task("torso", "SO3Task", 1, [10.0] * 3, frame_name="chest", kp_angular=kp, kd_angular=kd),
        task("posture", "JointTrackingTask", 1, [1.0] * n, kp=[kp] * n, kd=[kd] * n),
        task("torques", "VariableRegularizationTask", 1, [case["torque_weight"]] * n, **regularised),
    ]
    return problem("tsid", record, tasks)


def dynamic_numbers(sample, case):
    rest, moves = np.zeros(len(sample["joints"])), [0.0]  # the soles follow their poses, as in the recording
    feet = (moves, pose(sample["left"]), RESTING, RESTING, moves, pose(sample["right"]), RESTING, RESTING)
    parts = (pose(sample["base"]), sample["base_velocity"], sample["joints"], sample["joint_velocity"], *feet)
    soft = (rotation(sample["torso"]).ravel(), RESTING, case["posture"], rest, rest, rest)
    return np.concatenate((*parts, sample["com"], [1.0], [1.0], *soft))
