"""Tasks from outside of the package, with references of their own, as in examples/own_task."""

import importlib
import sys
import tomllib
from pathlib import Path
from typing import ClassVar

import casadi as cs
import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.planner import VelocityCommand
from gradiva.robot_model import SymbolicDynamics
from gradiva.setup import load_setup
from gradiva.simulated_walk import SimulatedWalk
from gradiva.walking import WalkingLayers
from gradiva.whole_body import (
    TASKS,
    Body,
    OrientationTask,
    Priority,
    Quantity,
    RigidTorqueController,
    TargetTask,
    Task,
    WalkingKinematics,
    WholeBodyReference,
    described_posture,
)
from tests.conftest import description_of, model_of
from tests.whole_body.standing_robot import ACTUATION, PERIOD, ROBOT, reference, start_posture, state, walking_config

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_task"
TABLE = tomllib.loads((EXAMPLE / "arm_swing.toml").read_text(encoding="utf-8"))
JOINTS = ("l_shoulder_pitch", "r_shoulder_pitch")
KNEE = Quantity("knee_angle", (1,), "rad", "of the left knee")


@pytest.fixture
def arm_swing(monkeypatch):
    """The module of the example, found without an installation."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    yield importlib.import_module("arm_swing")
    sys.modules.pop("arm_swing", None)


@pytest.fixture
def installed(arm_swing, tmp_path, monkeypatch):
    """The example's entry points, as an installation makes them known."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = tmp_path / "own_task-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: own-task\nVersion: 0.1.0\n")
    points = project["entry-points"]["gradiva.tasks"]
    lines = [f"{name} = {value}" for name, value in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[gradiva.tasks]", *lines, ""]))
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return arm_swing


class KneeTask(Task):
    """Bends the left knee to a reference that the caller sets."""

    def velocity(self, body):
        row = self.row(body)
        angle = body.dynamics.joint_positions[row]
        return body.dynamics.frame("l_sole").jacobian[:1, :] * 0.0 + _unit(body, row), body.reference.own(KNEE) - angle

    def acceleration(self, body):
        return body.acceleration[6 + self.row(body)] - 100.0 * (
            body.reference.own(KNEE) - body.dynamics.joint_positions[self.row(body)]
        )

    def row(self, body):
        return body.dynamics.model.description.joints.index("l_knee")


def _unit(body, row):
    unit = np.zeros((1, 6 + body.dynamics.joints))
    unit[0, 6 + row] = 1.0
    return unit


class Soft:
    priority = Priority.SOFT
    weight = 1.0


def torque_controller(*tasks):
    config = walking_config().rigid_torque_control
    return RigidTorqueController(model_of(ROBOT), config, ACTUATION, start_posture(), tasks=tasks)


def arm_ahead_of_foot(setup, tasks=()):
    """Walk, and return by how much the shoulders turn, and how the left arm goes with the right foot, [-1, 1]."""
    rows = [setup.robot.joints.index(name) for name in JOINTS]
    angles, ahead = [], []

    def note(walk):
        body = walk.log.reference
        if body is not None and body.is_walking:
            angles.append(walk.measurement.joint_positions[rows])
            ahead.append((body.right_foot.position - body.left_foot.position)[0])

    walk = SimulatedWalk(setup, observers=(note,), tasks=tasks)
    assert walk.get_ready()
    assert walk.follow(VelocityCommand(0.15, duration=2.0), settle=0.3)
    turned = np.array(angles)
    return np.ptp(turned, axis=0), np.corrcoef(-turned[:, 0], ahead)[0, 1]


class Mistaken(TargetTask):
    PARTS: ClassVar = {}

    def velocity(self, body):
        return _unit(body, 0), cs.SX.zeros(1)

    def reference(self, body):
        return {"angle": body.nothing}


def test_a_mistake_in_the_reference_of_a_task_is_one_line_before_the_robot_stands():
    said = r"\[tasks.mistaken\]: AttributeError: .* has no attribute 'nothing' \(.*test_own_task.py:\d+: return .*\)"
    with pytest.raises(ConfigError, match=said):
        WalkingLayers(description_of(ROBOT), load_setup(ROBOT).walking, tasks=[Mistaken("mistaken", 1.0, 1.0, "soft")])


class Short(TargetTask):
    PARTS: ClassVar = {}

    def velocity(self, body):
        return _unit(body, 0), cs.SX.zeros(2)


def test_a_jacobian_that_does_not_fit_and_a_negative_weight_are_one_line():
    said = r"task 'short': Short.velocity returned J of shape \(1, \d+\); with v\* it has to be \(2, \d+\)"
    with pytest.raises(ConfigError, match=said):
        WalkingLayers(description_of(ROBOT), load_setup(ROBOT).walking, tasks=[Short("short", 1.0, 1.0, "soft")])
    with pytest.raises(ConfigError, match=r"weight=-1\.0, must not be negative"):
        OrientationTask("l_hand", weight=-1.0)


def test_a_target_task_in_a_walk_holds_the_described_posture_at_first():
    hand = OrientationTask("l_hand")
    WalkingLayers(description_of(ROBOT), load_setup(ROBOT).walking, tasks=[hand])
    _, rotation = model_of(ROBOT).frame_pose(described_posture(model_of(ROBOT)), "l_hand")
    np.testing.assert_allclose(hand.target["rotation"], rotation, atol=1e-12)


@pytest.mark.walk
def test_the_arms_of_a_walk_swing_with_the_legs_by_a_table_alone(installed):
    setup = load_setup(
        ROBOT, [f"tasks.arm_swing.{key}={_toml(value)}" for key, value in TABLE["tasks"]["arm_swing"].items()]
    )
    swing, together = arm_ahead_of_foot(setup)
    still, _ = arm_ahead_of_foot(load_setup(ROBOT))
    assert np.all(swing > 0.25), "0.08 m between the feet either way, 2 rad/m, less the pull of the posture"
    assert np.all(still < 0.1)
    assert together > 0.85


def test_by_torque_the_same_task_given_as_an_object_moves_the_arms_alone(arm_swing):
    config = arm_swing.ArmSwingConfig(Priority.SOFT, 50.0, JOINTS, 2.0, 10.0)
    controller = torque_controller(arm_swing.ArmSwing("arm_swing", config))
    still, swung = (
        controller.command(state(), reference(own={"arm_swing": swing}), PERIOD).values
        for swing in ([0.0, 0.0], [0.2, -0.2])
    )
    change = swung - still
    left, right = (model_of(ROBOT).description.joints.index(name) for name in JOINTS)
    assert change[left] > 0.1
    assert change[right] < -0.1


def test_the_rows_of_the_example_are_those_of_the_shoulders(arm_swing):
    task = arm_swing.ArmSwing("arm_swing", arm_swing.ArmSwingConfig(Priority.SOFT, 1.0, JOINTS, 2.0, 10.0))
    body = Body(SymbolicDynamics(model_of(ROBOT)))
    jacobian, target = task.velocity(body)
    joints = model_of(ROBOT).description.joints
    expected = np.zeros((2, 6 + len(joints)))
    for row, joint in enumerate(JOINTS):
        expected[row, 6 + joints.index(joint)] = 1.0
    np.testing.assert_array_equal(np.array(cs.DM(jacobian)), expected)
    assert target.shape == (2, 1)
    assert set(body.parameters.symbols) == {"arm_swing.gain", "posture", "arm_swing"}


def test_a_reference_that_a_task_needs_and_that_has_no_value_is_an_error_in_the_first_tick():
    controller = torque_controller(KneeTask("knee", Soft()))
    with pytest.raises(ConfigError, match=r"no value of 'knee_angle' \(of knee\)"):
        controller.command(state(), reference(), PERIOD)
    assert np.all(np.isfinite(controller.command(state(), reference(own={"knee_angle": [-0.6]}), PERIOD).values))
    with pytest.raises(ConfigError, match="no value of knee_angle, which had one in a tick before"):
        controller.command(state(), reference(), PERIOD)


@pytest.mark.parametrize("quantity", ["com_acceleration", "torso_rotation", "left_foot_wrench"])
def test_a_quantity_of_walking_without_a_value_is_an_error_as_well(quantity):
    with pytest.raises(ConfigError, match=f"no value of '{quantity}'"):
        torque_controller().command(state(), reference(**{quantity: None}), PERIOD)


def test_what_no_task_uses_may_be_unset():
    complete = torque_controller().command(state(), reference(), PERIOD)
    without = torque_controller().command(state(), reference(com_jerk=None), PERIOD)
    np.testing.assert_array_equal(without.values, complete.values)


def test_a_value_of_another_shape_than_declared_is_refused():
    controller = torque_controller(KneeTask("knee", Soft()))
    with pytest.raises(ConfigError, match=r"'knee_angle' has shape \(2,\), its task declares \(1,\)"):
        controller.command(state(), reference(own={"knee_angle": [0.0, 0.1]}), PERIOD)


def test_a_default_stands_in_for_a_value():
    class WithDefault(KneeTask):
        def acceleration(self, body):
            return body.acceleration[6 + self.row(body)] - body.reference.own(Quantity("push", (1,), "rad/s²", "", 0.5))

    by_default = torque_controller(WithDefault("knee", Soft())).command(state(), reference(), PERIOD)
    by_value = torque_controller(WithDefault("knee", Soft())).command(state(), reference(own={"push": [0.5]}), PERIOD)
    np.testing.assert_array_equal(by_default.values, by_value.values)


def test_a_task_without_rows_for_the_kind_of_control_is_refused_by_its_name():
    class OnlyVelocity(KneeTask):
        acceleration = Task.acceleration

    with pytest.raises(ConfigError, match="task 'knee' states no acceleration"):
        torque_controller(OnlyVelocity("knee", Soft()))


def test_a_task_that_is_off_needs_neither_rows_nor_a_reference():
    class Stateless(KneeTask):
        acceleration = Task.acceleration

    class Off(Soft):
        priority = Priority.OFF

    values = torque_controller().command(state(), reference(), PERIOD).values
    for kind in (KneeTask, Stateless):
        off = torque_controller(kind("knee", Off()))
        np.testing.assert_array_equal(off.command(state(), reference(), PERIOD).values, values)


def test_two_tasks_of_one_name_are_refused():
    with pytest.raises(ConfigError, match="two tasks of the whole body are called 'torso'"):
        torque_controller(KneeTask("torso", Soft()))


def test_an_unknown_name_and_an_unknown_key_are_refused(arm_swing):
    with pytest.raises(
        ConfigError, match=r"unknown task 'arm_swing'; no installed package declares one in 'gradiva\.tasks'"
    ):
        TASKS.make_all({"arm_swing": {}})
    table = {"class": "arm_swing:ArmSwing", **TABLE["tasks"]["arm_swing"], "gian": 1.0}
    with pytest.raises(ConfigError, match=r"\[tasks\.arm_swing\]: unknown key 'gian'; did you mean 'gain'"):
        TASKS.make_all({"arm_swing": table})


def test_a_task_makes_another_compiled_function(arm_swing):
    sources = set()

    def noted(function):
        generator = cs.CodeGenerator("source")
        generator.add(function)
        sources.add(generator.dump())
        return function

    config = walking_config().inverse_kinematics
    WalkingKinematics(model_of(ROBOT), config, noted)
    WalkingKinematics(model_of(ROBOT), config, noted, [KneeTask("knee", Soft())])
    WalkingKinematics(model_of(ROBOT), config, noted)
    assert len(sources) == 2, "the name of a library is a hash of its source"


def test_a_reference_keeps_its_own_values_read_only():
    body = reference(own={"knee_angle": np.array([0.1])})
    assert isinstance(body, WholeBodyReference)
    with pytest.raises(ValueError, match="read-only"):
        body.own["knee_angle"][0] = 1.0


def _toml(value):
    return str(list(value)).replace("'", '"') if isinstance(value, (list, tuple)) else value


def test_a_task_without_a_configuration_says_what_it_lacks():
    with pytest.raises(ConfigError, match="task 'mine': its configuration has no priority, got None"):
        Task("mine", None)
