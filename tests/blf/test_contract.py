"""The worker's problems on a stand-in and, where it is installed, on bipedal-locomotion-framework itself.

``GRADIVA_TEST_BLF=/path/to/python`` names an interpreter that has the framework.
"""

import numpy as np
import pytest

from gradiva.blf import BackendError, BackendRefusal, WorkerProcess
from gradiva.reduced_model import centroidal_problem
from gradiva_experiments.peers import centroidal
from gradiva_experiments.peers.centroidal import FEET
from tests.blf.recorded_problems import (
    REAL,
    STAND_IN,
    dynamic_numbers,
    dynamic_problem,
    interpreters,
    kinematic_numbers,
    kinematic_problem,
    recorded,
    task,
)

KINEMATIC_ACCURACY = 0.03  # [m/s, rad/s] OSQP at 1e-3: recorded answers are up to 0.021 from the optimum
MPC_ACCURACY = {"com": 5e-3, "force": 0.03}  # [m, N/kg] IPOPT at its usual tolerance, of a flat objective
TICKS = (0, 12, 20)  # both feet on the ground, the left one in the air, both again
DYNAMIC_ACCURACY = {"acceleration": 0.02, "torques": 1.0}  # likewise 0.0076 and 0.4 where torques are weighted


@pytest.fixture(params=interpreters())
def python(request, monkeypatch):
    if request.param != REAL:
        monkeypatch.setenv("PYTHONPATH", str(STAND_IN))
    return request.param


@pytest.mark.parametrize("name", ["model_limits", "tight_limits"])
def test_recorded_velocities_are_reproduced(python, name):
    record = recorded("ik")
    case = record["cases"][name]
    worker = WorkerProcess(python, kinematic_problem(record, case))
    for sample in case["samples"]:
        velocity = worker.solve(kinematic_numbers(sample, case))
        np.testing.assert_allclose(velocity, sample["blf"], atol=KINEMATIC_ACCURACY)
        np.testing.assert_allclose(velocity, sample["exact"], atol=1e-6 if python != REAL else KINEMATIC_ACCURACY)


@pytest.mark.parametrize("name", ["torque_weight_0.1", "torque_weight_1e-4"])
def test_recorded_accelerations_and_torques_are_reproduced(python, name):
    record = recorded("tsid")
    case, joints = record["cases"][name], len(record["joints"])
    worker = WorkerProcess(python, dynamic_problem(record, case))
    for sample in case["samples"]:
        answer = worker.solve(dynamic_numbers(sample, case))
        moved, torques = slice(0, 6 + joints), slice(6 + joints, 6 + 2 * joints)
        recorded_answer, exact = np.array(sample["blf"]), np.array(sample["exact"])
        np.testing.assert_allclose(answer[moved], recorded_answer[moved], atol=DYNAMIC_ACCURACY["acceleration"])
        if name == "torque_weight_0.1":  # at 1e-4 OSQP stops where torques are still 28 N·m away
            np.testing.assert_allclose(answer[torques], recorded_answer[torques], atol=DYNAMIC_ACCURACY["torques"])
        if python != REAL:
            np.testing.assert_allclose(answer[moved], exact[moved], atol=1e-6)


@pytest.mark.parametrize("name", ["unit_test", "adaptive"])
def test_recorded_trajectories_and_forces_are_reproduced(python, name):
    case = centroidal.recorded()["cases"][name]
    worker = WorkerProcess(python, centroidal_problem(centroidal.recorded_parameters(case)))
    for sample in [each for each in case["samples"] if each["tick"] in TICKS]:
        answer = worker.solve(centroidal.recorded_numbers(case, sample))
        forces, places, com, _ = np.split(answer, (24, 30, 69))
        of_feet = np.array([sample["forces"][foot] for foot in FEET])
        np.testing.assert_allclose(com.reshape(-1, 3), sample["com_trajectory"], atol=MPC_ACCURACY["com"])
        landings = [sample["next"][foot] for foot in FEET]
        is_in_air = [not np.any(sample["forces"][foot]) for foot in FEET]
        for place, landing, is_next in zip(places.reshape(-1, 3), landings, is_in_air, strict=True):
            if is_next:
                np.testing.assert_allclose(place, landing, atol=MPC_ACCURACY["com"])
        np.testing.assert_allclose(forces.reshape(of_feet.shape), of_feet, atol=MPC_ACCURACY["force"])


def test_contradicting_hard_tasks_name_the_call_that_returned_false(python):
    record = recorded("ik")
    case = record["cases"]["tight_limits"]
    asked = kinematic_problem(record, case)
    speeds = {"lower_limits": [0.5] * len(record["joints"]), "upper_limits": [1.0] * len(record["joints"])}
    asked["tasks"].append(task("all joints move", "JointVelocityLimitsTask", **speeds))
    numbers = kinematic_numbers(case["samples"][-1], case)
    with pytest.raises(BackendRefusal, match=r"QPInverseKinematics\.advance returned False"):
        WorkerProcess(python, asked).solve(numbers)


def test_a_parameter_that_is_missing_names_the_task(python):
    record = recorded("ik")
    asked = kinematic_problem(record, record["cases"]["tight_limits"])
    del asked["tasks"][3]["parameters"]["kp_angular"]
    with pytest.raises(BackendError, match=r"SO3Task\.initialize returned False.*'torso'"):
        WorkerProcess(python, asked)


def test_a_set_point_of_a_wrong_size_names_its_task(stand_in):
    record = recorded("ik")
    case = record["cases"]["tight_limits"]
    worker = WorkerProcess(stand_in, kinematic_problem(record, case))
    with pytest.raises(BackendRefusal) as caught:
        worker.solve(kinematic_numbers(case["samples"][0], case)[:-30])
    assert caught.value.task == "posture"
