"""""" ""

from types import SimpleNamespace

import casadi as cs
import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, Side, so3
from gradiva.robot_model import FlatFunction, SymbolicDynamics, as_array
from gradiva.whole_body import walking_tasks as tasks
from gradiva.whole_body.reference_symbols import Parameters, ReferenceSymbols
from gradiva.whole_body.tasks import (
    Priority,
)
from gradiva.whole_body.walking_tasks import (
    AngularMomentumTaskConfig,
    ComTaskConfig,
    OrientationTaskConfig,
    PoseTaskConfig,
    PostureTaskConfig,
)
from tests.conftest import model_of

TASKS = {PoseTaskConfig: 4, OrientationTaskConfig: 2, ComTaskConfig: 2, AngularMomentumTaskConfig: 1}
"""How many gains each has."""


@pytest.mark.parametrize("kind", list(TASKS))
def test_a_hard_task_has_a_weight_for_where_it_cannot_be_met(kind):
    gains = [1.0] * TASKS[kind]
    with pytest.raises(ConfigError, match=r"weight=0\.0, must be positive: .* hard task"):
        kind(Priority.HARD, 0.0, *gains)
    for priority in (Priority.SOFT, Priority.OFF):
        assert kind(priority, 0.0, *gains).weight == 0.0


@pytest.mark.parametrize("kind", list(TASKS))
def test_a_negative_weight_is_refused(kind):
    with pytest.raises(ConfigError, match=r"weight=-1\.0, must not be negative"):
        kind(Priority.SOFT, -1.0, *[1.0] * TASKS[kind])


def test_a_negative_gain_is_named():
    with pytest.raises(ConfigError, match=r"angular_damping=-2\.0, must not be negative"):
        PoseTaskConfig(Priority.SOFT, 1.0, 1.0, 1.0, 1.0, -2.0)


@pytest.mark.parametrize(
    ("stiffness", "weight", "named"), [(0.0, 1.0, r"stiffness\.torso"), (1.0, 0.0, r"weights\.torso")]
)
def test_a_posture_group_without_stiffness_or_weight_is_named(stiffness, weight, named):
    with pytest.raises(ConfigError, match=rf"{named}=0\.0, must be positive"):
        PostureTaskConfig({"torso": stiffness}, {"torso": weight})


LINEAR, ANGULAR = (300.0, 30.0), (200.0, 20.0)


class Evaluator:
    """Expressions of one moving robot, and iDynTree in the same state."""

    def __init__(self, model):
        rng = np.random.default_rng(0)
        self.dynamics, self.parameters = SymbolicDynamics(model), Parameters()
        self.reference = ReferenceSymbols(self.dynamics.joints, self.parameters)
        self.foot = self.reference.feet[Side.LEFT]
        self.foot.declare()
        self.wrench = self.foot.wrench
        description = model.description
        self.feet = {side: self.dynamics.frame(description.foot_frame(side)) for side in Side}
        self.acceleration = self.parameters.symbol("acceleration", 6 + self.dynamics.joints)
        self.wrenches = {side: self.parameters.symbol(f"{side}_wrench", 6) for side in Side}
        self.values = {
            name: rng.normal(size=symbol.shape) if symbol.shape[1] > 1 else rng.normal(size=symbol.shape[0])
            for name, symbol in self.parameters.symbols.items()
        }
        self.values["left_foot_rotation"] = so3.exp(rng.normal(size=3))
        self.state = {
            "base_position": rng.normal(size=3),
            "base_rotation": so3.exp(rng.normal(size=3)),
            "base_twist": rng.normal(size=6),
            "joint_positions": 0.3 * rng.normal(size=self.dynamics.joints),
            "joint_velocities": rng.normal(size=self.dynamics.joints),
        }
        self.oracle = model.kinematics_and_dynamics()
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = self.state["base_rotation"], self.state["base_position"]
        gravity = np.array([0.0, 0.0, -GRAVITY])
        joints, speeds = self.state["joint_positions"], self.state["joint_velocities"]
        self.oracle.setRobotState(pose, joints, self.state["base_twist"], speeds, gravity)

    def __call__(self, expression):
        symbols = {name: getattr(self.dynamics, name) for name in self.state}
        function = FlatFunction("expression", {**symbols, **self.parameters.symbols}, {"value": expression})
        function.set(**self.state, **self.values)
        return function()["value"].copy()


@pytest.fixture(scope="module")
def robot():
    return Evaluator(model_of("icub_v2_7"))


def test_the_acceleration_of_a_frame_is_that_of_idyntree(robot):
    value = robot(tasks.frame_acceleration(robot.feet[Side.LEFT], robot.acceleration))
    change = robot.values["acceleration"]
    bias = as_array(robot.oracle.getFrameBiasAcc("l_sole"))
    jacobian = robot(robot.feet[Side.LEFT].jacobian)
    np.testing.assert_allclose(value, jacobian @ change + bias, atol=1e-10)


def test_a_pose_is_approached_by_spring_and_damper(robot):
    value = robot(tasks.pose_law(robot.feet[Side.LEFT], robot.foot, LINEAR, ANGULAR))
    position, rotation = robot(robot.feet[Side.LEFT].position), robot(robot.feet[Side.LEFT].rotation)
    twist = as_array(robot.oracle.getFrameVel("l_sole"))
    wanted = robot.values
    missing = wanted["left_foot_twist"] - twist
    linear = LINEAR[0] * (wanted["left_foot_position"] - position) + LINEAR[1] * missing[:3]
    angular = ANGULAR[0] * so3.log(wanted["left_foot_rotation"] @ rotation.T) + ANGULAR[1] * missing[3:]
    np.testing.assert_allclose(value, wanted["left_foot_acceleration"] + np.concatenate((linear, angular)), atol=1e-8)


def test_the_zmp_that_is_asked_for_stays_near_the_loaded_sole(robot, monkeypatch):
    monkeypatch.setitem(robot.state, "base_rotation", so3.rotation_z(0.3))
    monkeypatch.setitem(robot.state, "base_position", np.array([5.0, -2.0, 3.0]))
    monkeypatch.setitem(robot.state, "joint_positions", np.zeros(robot.dynamics.joints))
    feet = {side: SimpleNamespace(is_loaded=float(side is Side.LEFT)) for side in Side}
    parameters = SimpleNamespace(constant=lambda name, value: cs.DM(0.05))
    reference = SimpleNamespace(feet=feet)
    body = SimpleNamespace(dynamics=robot.dynamics, feet=robot.feet, reference=reference, parameters=parameters)
    com, foot = robot(robot.dynamics.com_position), robot(robot.feet[Side.LEFT].position)
    corners = robot.dynamics.model.description.sole.corners(Side.LEFT)
    turn = so3.rotation_z(0.3)[:2, :2] @ so3.rotation_z(np.pi)[:2, :2]  # iCub's base looks backwards
    sole = (robot(robot.feet[Side.LEFT].rotation)[:2, :2] @ corners.T).T @ turn
    low, high = turn.T @ foot[:2] + sole.min(axis=0), turn.T @ foot[:2] + sole.max(axis=0)
    square = GRAVITY / (com[2] - foot[2])
    for offset in ((0.5, 0.01), (-0.4, 0.2), (0.02, 0.0)):
        zmp = 0.5 * (low + high) + offset
        wanted = np.append(square * (com[:2] - turn @ zmp), 0.0)
        left = wanted[:2] - robot(tasks.excess_acceleration(body, cs.DM(wanted)))
        np.testing.assert_allclose(turn.T @ (com[:2] - left / square), zmp.clip(low - 0.05, high + 0.05), atol=1e-9)
    inside = robot(tasks.excess_acceleration(body, cs.DM(wanted)))
    np.testing.assert_array_equal(inside, np.zeros(2))


def test_momentum_changes_by_the_wrenches_about_the_centre_of_mass(robot):
    com = as_array(robot.oracle.getCenterOfMassPosition())
    force, moment = robot.dynamics.mass * np.array([0.0, 0.0, -GRAVITY]), np.zeros(3)
    for side in Side:
        wrench = robot.values[f"{side}_wrench"]
        force = force + wrench[:3]
        moment = moment + wrench[3:] + np.cross(robot(robot.feet[side].position) - com, wrench[:3])
    np.testing.assert_allclose(robot(tasks.linear_momentum_rate(robot.dynamics, robot.wrenches)), force)
    rate = robot(tasks.angular_momentum_rate(robot.dynamics, robot.feet, robot.wrenches))
    np.testing.assert_allclose(rate, moment, atol=1e-12)


def test_angular_momentum_is_that_of_idyntree(robot):
    expected = as_array(robot.oracle.getCentroidalTotalMomentum())[3:]
    np.testing.assert_allclose(robot(tasks.angular_momentum(robot.dynamics)), expected, atol=1e-10)


def test_an_expected_wrench_is_about_the_measured_foot(robot):
    sole = robot.feet[Side.LEFT]
    planned = robot.values["left_foot_wrench"]
    value = robot(tasks.expected_wrench(sole, robot.foot))
    lever = robot.values["left_foot_position"] - robot(sole.position)
    np.testing.assert_allclose(value[:3], planned[:3])
    np.testing.assert_allclose(value[3:], planned[3:] + np.cross(lever, planned[:3]), atol=1e-12)
