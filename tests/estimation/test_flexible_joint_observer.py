"""The observer of flexible joints: torques by the recursion from the sole, deflections by spring and damper."""

from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import (
    GRAVITY,
    ConfigError,
    DcmReference,
    EstimationError,
    FootReference,
    ImuMeasurement,
    Measurement,
    ModelError,
    Side,
    WalkingReference,
    so3,
)
from gradiva.estimation import DeflectionSource, FlexibleJointObserver, FlexibleJointObserverConfig, FootMotion
from gradiva.estimation.flexible_joint_observer import observer_function
from gradiva.robot_model import IdynTreeModel, as_array, interpreted
from gradiva.setup import load_setup
from tests.conftest import description_of

STIFFNESS, DAMPING, PERIOD = 1000.0, 60.0, 0.001  # [N·m/rad], [N·m·s/rad], [s]
CONFIG = FlexibleJointObserverConfig(DeflectionSource.WRENCHES, 1.0, FootMotion.KINEMATICS, 0.0, 0.06, 0.0, 0.01)
ACTUATED = 32


@lru_cache
def flexible_model():
    setup = load_setup("talos", [f"flexibility.stiffness={STIFFNESS}", f"flexibility.damping={DAMPING}"])
    return IdynTreeModel(setup.robot.with_flexible_joints())


def computations(rng, joints, velocities, twist):
    """iDynTree's computations of a robot somewhere in the world, and the rotation of its base."""
    body, pose = flexible_model().kinematics_and_dynamics(), np.eye(4)
    pose[:3, :3], pose[:3, 3] = so3.exp(rng.normal(size=3)), rng.normal(size=3)
    assert body.setRobotState(pose, joints, twist, velocities, np.array([0.0, 0.0, -GRAVITY]))
    return body, pose[:3, :3]


def joint_torques(body, base_acceleration, accelerations, wrenches):
    """Torques of all joints under wrenches in the axes of the soles, by iDynTree; without rotors."""
    model, external = flexible_model(), idyn.LinkWrenches(flexible_model().model)
    external.zero()
    forces = idyn.FreeFloatingGeneralizedTorques(model.model)
    assert body.inverseDynamics(base_acceleration, accelerations, external, forces)
    torques = as_array(forces.jointTorques())
    for side, wrench in zip(Side, wrenches, strict=True):
        frame, jacobian = model.description.foot_frame(side), idyn.MatrixDynSize(6, 6 + ACTUATED + 4)
        body.getFrameFreeFloatingJacobian(frame, jacobian)
        turn = as_array(body.getWorldTransform(frame).getRotation())
        torques -= as_array(jacobian)[:, 6:].T @ np.concatenate((turn @ wrench[:3], turn @ wrench[3:]))
    return torques


@pytest.mark.parametrize("seed", range(3))
def test_the_recursion_is_idyntrees_inverse_dynamics_whatever_moves(seed):
    rng, joints = np.random.default_rng(seed), ACTUATED + 4
    positions, velocities, accelerations = (
        0.3 * rng.normal(size=joints),
        rng.normal(size=joints),
        rng.normal(size=joints),
    )
    twist, base_acceleration, wrenches = rng.normal(size=6), rng.normal(size=6), 80.0 * rng.normal(size=(2, 6))
    body, rotation = computations(rng, positions, velocities, twist)
    function = observer_function(flexible_model(), interpreted)
    function.set(
        joint_positions=positions[:ACTUATED],
        joint_velocities=velocities[:ACTUATED],
        contact_wrenches=wrenches,
        base_rotation=rotation,
        base_twist=twist,
        stiffness=np.full(4, STIFFNESS),
        damping=np.full(4, DAMPING),
        period=PERIOD,
        computed_fraction=1.0,
        touch_duration=1.0,
        left_foot_swings=1.0,
        right_foot_swings=1.0,
    )
    actuated = velocities[:ACTUATED], accelerations[:ACTUATED]
    memory = positions[ACTUATED:], velocities[ACTUATED:], *actuated, twist, base_acceleration, np.zeros(18)
    function.inputs["memory"][:] = np.concatenate(memory)
    result = function()
    accelerations[ACTUATED:] = (result["velocities"] - velocities[ACTUATED:]) / PERIOD
    expected = joint_torques(body, base_acceleration, accelerations, wrenches)[ACTUATED:]
    np.testing.assert_allclose(result["torques"], expected, atol=1e-8)
    spring = -STIFFNESS * result["positions"] - DAMPING * result["velocities"]
    np.testing.assert_allclose(result["torques"], spring, atol=1e-8)


@lru_cache
def standing():
    """Joints, foot wrenches and true deflections of a robot at rest on level soles."""
    rng, wrench = np.random.default_rng(1), np.array([3.0, -2.0, 440.0, 5.0, -8.0, 1.0])
    joints = description_of("talos").posture + 0.05 * rng.normal(size=ACTUATED)
    wrenches = np.array([wrench, wrench * [1, -1, 1, -1, 1, -1]])
    deflections = np.zeros(4)
    for _ in range(20):  # they have a part in the torques that cause them
        deflections = -_hip_torques(np.concatenate((joints, deflections)), wrenches) / STIFFNESS
    return joints, wrenches, deflections


def _hip_torques(positions, wrenches):
    """Torques of the flexible joints of a robot at rest."""
    left, right = (torques_at_rest(side, positions, wrenches)[ACTUATED:] for side in Side)
    return np.concatenate((left[:2], right[2:]))


def torques_at_rest(side, positions, wrenches):
    """Torques of all joints of a robot at rest whose base is turned so that the sole of one foot is level."""
    rest, gravity = np.zeros(ACTUATED + 4), np.array([0.0, 0.0, -GRAVITY])
    body, pose = flexible_model().kinematics_and_dynamics(), np.eye(4)
    body.setRobotState(pose, positions, np.zeros(6), rest, gravity)
    turn = as_array(body.getWorldTransform(flexible_model().description.foot_frame(side)).getRotation())
    pose[:3, :3] = turn.T
    body.setRobotState(pose, positions, np.zeros(6), rest, gravity)
    return joint_torques(body, np.zeros(6), rest, wrenches)


def measurement(time=0.0, **changes):
    joints, wrenches, _ = standing()
    sample = Measurement(time, joints, np.zeros(ACTUATED), np.full(ACTUATED, np.nan), wrenches)
    return replace(sample, **changes)


def reference(in_contact=True):
    foot = FootReference(np.zeros(3), np.eye(3), np.zeros(6), np.zeros(6), in_contact)
    dcm = DcmReference(np.zeros(2), np.zeros(2), 3.5, 3.5, np.zeros(2))
    return WalkingReference(0.0, dcm, np.zeros(3), np.zeros(3), foot, foot, Side.LEFT, 0.0, True)


def observer(**changes):
    return FlexibleJointObserver(flexible_model(), replace(CONFIG, **changes))


def test_of_a_robot_at_rest_the_first_estimate_is_exact():
    observed = observer().update(measurement(), reference(), None)
    assert np.max(np.abs(observed.positions)) > 0.02
    np.testing.assert_allclose(observed.positions, standing()[2], atol=1e-12)
    np.testing.assert_allclose(observed.velocities, 0.0, atol=1e-12)
    np.testing.assert_allclose(observed.torques, -STIFFNESS * standing()[2], atol=1e-9)


def test_after_a_step_of_the_wrench_the_deflection_approaches_its_rest_as_spring_and_damper_do():
    subject, wrenches = observer(), 1.1 * standing()[1]
    before = subject.update(measurement(), reference(), None)
    for tick in range(1, 51):
        observed = subject.update(measurement(PERIOD * tick, contact_wrenches=wrenches), reference(), None)
    end = -observed.torques / STIFFNESS
    decay = (DAMPING / (STIFFNESS * PERIOD + DAMPING)) ** 50
    np.testing.assert_allclose(observed.positions, end + decay * (before.positions - end), atol=1e-6)


def test_a_blow_at_touch_down_hardly_reaches_the_hips_and_a_lasting_load_does():
    """Behind a low pass whose time constant T fades in a time D, T (1 - t / D)."""
    subject, duration, time_constant = observer(touch_time_constant=0.02), 0.06, 0.02
    hanging, load = np.zeros((2, 6)), standing()[1]
    resting = subject.update(measurement(contact_wrenches=hanging), reference(), None).torques
    carried = observer().update(measurement(contact_wrenches=load), reference(), None).torques
    ratio = 0.0
    for tick in range(1, 81):
        observed = subject.update(measurement(PERIOD * tick, contact_wrenches=load), reference(), None)
        remaining = time_constant * max(0.0, 1.0 - PERIOD * tick / duration)
        ratio += (1.0 - ratio) * (1.0 - np.exp(-PERIOD / remaining) if remaining > 1e-9 else 1.0)
        if tick == 3:
            np.testing.assert_allclose((observed.torques - resting) / (carried - resting), ratio, atol=0.02)
            assert ratio < 0.15
    np.testing.assert_allclose(observed.torques, carried, atol=0.6)


def test_measured_torques_correct_what_goes_on_to_the_hips():
    """Where they are the computed ones nothing changes; one that is off by δ changes the hips by (1 - β) δ a·a_f."""
    joints, wrenches, deflections = standing()
    yaw, error = description_of("talos").joints.index("leg_left_1_joint"), 7.0
    body, jacobian = flexible_model().kinematics_and_dynamics(), idyn.MatrixDynSize(6, 6 + ACTUATED + 4)
    body.setJointPos(np.concatenate((joints, deflections)))
    body.getFrameFreeFloatingJacobian("leg_left_1_link", jacobian)
    axes = as_array(jacobian)[3:, 6:]
    torques = torques_at_rest(Side.LEFT, np.concatenate((joints, deflections)), wrenches)[:ACTUATED]
    exact = observer().update(measurement(), reference(), None).torques[:2]
    for fraction in (0.0, 0.4):
        subject = observer(computed_fraction=fraction)
        same = subject.update(measurement(joint_torques=torques), reference(), None).torques[:2]
        np.testing.assert_allclose(same, exact, atol=1e-9)
        subject.reset()
        off = torques + error * (np.arange(ACTUATED) == yaw)
        changed = subject.update(measurement(joint_torques=off), reference(), None).torques[:2]
        expected = (1.0 - fraction) * error * axes[:, ACTUATED : ACTUATED + 2].T @ axes[:, yaw]
        np.testing.assert_allclose(changed - exact, expected, atol=1e-9)


def test_a_leg_in_the_air_comes_to_rest_though_its_inertia_is_above_what_the_damper_takes_in_a_tick():
    subject, hanging = observer(), np.zeros((2, 6))
    level = SimpleNamespace(base_rotation=np.eye(3), base_twist=np.zeros(6), foot_rotation=lambda side: np.eye(3))
    subject.update(measurement(contact_wrenches=1.5 * standing()[1]), reference(), None)
    found = []
    for tick in range(1, 1500):
        sample = measurement(PERIOD * tick, contact_wrenches=hanging)
        found.append(subject.update(sample, reference(False), level).positions)
    assert np.max(np.abs(found)) < 0.2
    positions, rest = np.concatenate((standing()[0], found[-1])), np.zeros(ACTUATED + 4)
    body = flexible_model().kinematics_and_dynamics()
    body.setRobotState(np.eye(4), positions, np.zeros(6), rest, np.array([0.0, 0.0, -GRAVITY]))
    bearing = joint_torques(body, np.zeros(6), rest, hanging)[ACTUATED:]
    np.testing.assert_allclose(-STIFFNESS * found[-1], bearing, atol=0.05)


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("ratio", [0.7, 1.3])
def test_wrong_stiffness_is_learned_in_the_leg_that_stands_by_the_tilt_of_its_sole(ratio, side):
    """The attitude of the base is the true one: that under the true deflections the sole is level."""
    truth, leg = np.zeros(4), 2 * list(Side).index(side) + np.arange(2)
    joints, wrenches, _ = standing()
    for _ in range(20):
        truth = -_hip_torques(np.concatenate((joints, truth)), wrenches) / (ratio * STIFFNESS)
    attitude = _foot_in_base(side, truth).T
    subject = observer(stiffness_rate=10.0, stiffness_deflection=1e-3, swing_motion=FootMotion.REST)
    imu = ImuMeasurement(np.eye(3), np.zeros(3))
    observed, feet = subject.update(measurement(imu=imu), reference(), None), {}
    assert np.max(np.abs(observed.positions - truth)[leg]) > 4e-3
    for tick in range(1, 301):
        feet = {foot: attitude @ _foot_in_base(foot, observed.positions) for foot in Side}
        last = SimpleNamespace(base_rotation=attitude, base_twist=np.zeros(6), foot_rotation=feet.get)
        observed = subject.update(measurement(0.01 * tick, imu=imu), one_foot(side), last)
    np.testing.assert_allclose(observed.positions[leg], truth[leg], atol=1e-6)
    np.testing.assert_allclose(observed.stiffness[leg], ratio * STIFFNESS, rtol=1e-4)
    np.testing.assert_array_equal(np.delete(observed.stiffness, leg), STIFFNESS)


def _foot_in_base(side, deflections):
    body = flexible_model().kinematics_and_dynamics()
    body.setJointPos(np.concatenate((standing()[0], deflections)))
    frame = flexible_model().description.foot_frame(side)
    return as_array(body.getRelativeTransform(flexible_model().description.base_link, frame).getRotation())


def one_foot(side):
    """The plan while one foot stands."""
    plan = reference()
    return replace(plan, **{f"{side.other}_foot": replace(plan.left_foot, in_contact=False)})


@pytest.mark.parametrize(
    ("source", "expected"), [("none", np.zeros((2, 4))), ("measured", np.arange(8.0).reshape(2, 4))]
)
def test_without_the_recursion_deflections_are_zero_or_those_of_the_simulator(source, expected):
    subject = observer(source=DeflectionSource(source))
    found = subject.update(measurement(deflections=np.arange(8.0).reshape(2, 4)), reference(), None)
    np.testing.assert_array_equal([found.positions, found.velocities], expected)
    np.testing.assert_allclose(found.torques, -STIFFNESS * expected[0] - DAMPING * expected[1])


def test_deflections_that_nothing_measures_are_refused():
    with pytest.raises(EstimationError, match=r"source=measured: nothing measures the deflections of 4 joints"):
        observer(source=DeflectionSource.MEASURED).update(measurement(), reference(), None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint_positions": np.zeros(3)}, "joint_positions has shape"),
        ({"contact_wrenches": np.full((2, 6), np.nan)}, "contact_wrenches is not finite"),
        ({"time": -1.0}, "older than the last one"),
    ],
)
def test_a_wrong_sample_is_refused(changes, message):
    subject = observer()
    subject.update(measurement(), reference(), None)
    with pytest.raises(EstimationError, match=message):
        subject.update(measurement(**{"time": PERIOD, **changes}), reference(), None)


def test_torques_that_nothing_measures_are_refused_where_they_are_trusted():
    with pytest.raises(EstimationError, match=r"joint_torques is not finite .* computed_fraction = 1 needs none"):
        observer(computed_fraction=0.9).update(measurement(), reference(), None)


def test_a_flexible_joint_in_an_arm_is_refused():
    setup = load_setup("talos", ['flexibility.joints=["arm_left_1_joint"]', "flexibility.stiffness=1e3"])
    model = IdynTreeModel(setup.robot.with_flexible_joints())
    with pytest.raises(ModelError, match="flexible joint 'arm_left_1_joint_roll' is in no leg"):
        FlexibleJointObserver(model, CONFIG)


@pytest.mark.parametrize(
    ("name", "value"), [("computed_fraction", 1.1), ("computed_fraction", -0.1), ("touch_time_constant", -1.0)]
)
def test_wrong_numbers_are_refused(name, value):
    with pytest.raises(ConfigError, match=name):
        replace(CONFIG, **{name: value})
