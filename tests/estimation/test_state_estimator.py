"""The estimated state against iDynTree, its filters and its refusals."""

from dataclasses import replace
from functools import lru_cache

import casadi as cs
import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import (
    BaseMeasurement,
    ConfigError,
    DcmReference,
    EstimationError,
    FootReference,
    ImuMeasurement,
    LowPass,
    Measurement,
    PlanarPose,
    Side,
    WalkingReference,
    altered,
    so3,
)
from gradiva.estimation import BaseSource, ContactEstimator, FootWrenchSource, StateEstimator, StateEstimatorConfig
from gradiva.estimation.floating_base_kinematics import Memory, low_passed, symbolic_low_pass_gain
from gradiva.robot_model import as_array, as_pose
from gradiva.robot_model.flat_function import FlatFunction
from gradiva.setup import GccCompiler, cache_folder, load_setup
from tests.conftest import ROBOTS, model_of

SENSORS = FootWrenchSource.SENSORS
GRAVITY = np.array([0.0, 0.0, -9.81])


@lru_cache
def estimator_of(
    name, use_imu=False, zmp_filter=0.0, base=BaseSource.ODOMETRY, attitude_filter=0.0, velocity_filter=0.0
):
    filters = attitude_filter, velocity_filter, zmp_filter, 0.0
    config = StateEstimatorConfig(base, SENSORS, use_imu, *filters, True, 0.0, 3.0)
    return StateEstimator(model_of(name), config, GccCompiler(cache_folder()))


class Scene:
    """A random robot with one sole flat on its planned pose and at rest; iDynTree knows the rest."""

    def __init__(self, model, stance=Side.LEFT, seed=0):
        rng = np.random.default_rng(seed)
        d = model.description
        self.model, self.stance = model, stance
        self.joints = d.posture + 0.1 * rng.normal(size=len(d.joints))
        self.rates = rng.normal(size=len(d.joints))
        self.stance_pose = np.array([0.4, 0.1, 0.0]), so3.rotation_z(0.3)
        self.kinematics = model.kinematics_and_dynamics()
        self._place()

    def _place(self):
        d, k = self.model.description, self.kinematics
        k.setJointPos(self.joints)
        sole_position, sole_rotation = as_pose(k.getRelativeTransform(d.base_link, d.foot_frame(self.stance)))
        position, rotation = self.stance_pose
        self.base_rotation = rotation @ sole_rotation.T
        self.base_position = position - self.base_rotation @ sole_position
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = self.base_rotation, self.base_position
        k.setRobotState(pose, self.joints, np.zeros(6), self.rates, GRAVITY)
        jacobian = idyn.MatrixDynSize(6, 6 + len(self.joints))
        k.getFrameFreeFloatingJacobian(d.foot_frame(self.stance), jacobian)
        jacobian = as_array(jacobian)
        self.base_twist = -np.linalg.solve(jacobian[:, :6], jacobian[:, 6:] @ self.rates)
        k.setRobotState(pose, self.joints, self.base_twist, self.rates, GRAVITY)

    def measurement(self, time=0.0, wrenches=None, imu=None, base=None):
        sensors = len(self.model.description.force_torque_sensors)
        wrenches = np.zeros((sensors, 6)) if wrenches is None else wrenches
        zero = np.zeros(len(self.joints))
        return Measurement(time, self.joints, self.rates, zero, wrenches, imu, base)

    def imu(self, heading_error=0.0):
        frame = self.model.description.imu_frame
        _, rotation = as_pose(self.kinematics.getWorldTransform(frame))
        rate = as_array(self.kinematics.getFrameVel(frame))[3:]
        return ImuMeasurement(so3.rotation_z(heading_error) @ rotation, rotation.T @ rate)

    def reference(self, stance=None, foot=None):
        stance = stance or self.stance
        position, rotation = foot or self.stance_pose
        planned = FootReference(position, rotation, np.zeros(6), np.zeros(6), True)
        dcm = DcmReference(np.zeros(2), np.zeros(2), 4.3, 4.3, np.zeros(2))
        return WalkingReference(0.0, dcm, np.zeros(3), np.zeros(3), planned, planned, stance, 0.0, True)


@pytest.mark.parametrize("stance", list(Side))
@pytest.mark.parametrize("use_imu", [False, True])
def test_the_base_hangs_on_the_stance_sole(model, stance, use_imu):
    scene = Scene(model, stance)
    estimator = estimator_of(model.description.name, use_imu)
    estimator.reset()
    state = estimator.update(scene.measurement(imu=scene.imu(heading_error=1.0)), scene.reference())
    np.testing.assert_allclose(state.base_position, scene.base_position, atol=1e-12)
    np.testing.assert_allclose(state.base_rotation, scene.base_rotation, atol=1e-12)
    np.testing.assert_allclose(state.base_twist, scene.base_twist, atol=1e-10)
    com = as_array(scene.kinematics.getCenterOfMassPosition())
    velocity = as_array(scene.kinematics.getCenterOfMassVelocity())
    np.testing.assert_allclose(state.com_position, com, atol=1e-12)
    np.testing.assert_allclose(state.com_velocity, velocity, atol=1e-10)
    np.testing.assert_allclose(state.dcm_position, com[:2] + velocity[:2] / 4.3, atol=1e-10)
    for side in Side:
        twist = as_array(scene.kinematics.getFrameVel(model.description.foot_frame(side)))
        np.testing.assert_allclose(state.foot_twist(side), twist, atol=1e-10)


def test_a_measured_base_is_believed_whatever_the_plan_says(model):
    scene = Scene(model)
    estimator = estimator_of(model.description.name, use_imu=True, base=BaseSource.MEASURED)
    estimator.reset()
    base = BaseMeasurement(scene.base_position, scene.base_rotation, scene.base_twist)
    elsewhere = scene.reference(foot=(np.array([3.0, 2.0, 0.0]), so3.rotation_z(-1.0)))
    state = estimator.update(scene.measurement(imu=scene.imu(), base=base), elsewhere)
    np.testing.assert_array_equal(state.base_position, base.position)
    np.testing.assert_array_equal(state.base_rotation, base.rotation)
    np.testing.assert_array_equal(state.base_twist, base.twist)
    np.testing.assert_allclose(state.left_foot_position, scene.stance_pose[0], atol=1e-12)
    np.testing.assert_allclose(state.left_foot_twist, 0.0, atol=1e-10)
    np.testing.assert_allclose(state.com_position, as_array(scene.kinematics.getCenterOfMassPosition()), atol=1e-12)
    assert state.plan_origin == PlanarPose()


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (None, 'state_estimator.base="odometry" needs no such measurement'),
        (BaseMeasurement(np.zeros(3), np.eye(3), np.full(6, np.nan)), "the measured base is not finite at 0.000 s"),
    ],
)
def test_a_base_that_is_not_measured_is_an_error(icub, base, message):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7", base=BaseSource.MEASURED)
    estimator.reset()
    with pytest.raises(EstimationError, match=message):
        estimator.update(scene.measurement(base=base), scene.reference())


@pytest.mark.parametrize("sensor", ["joint_positions", "joint_velocities", "the IMU"])
def test_a_reading_that_is_not_finite_is_named_and_leaves_no_trace(icub, sensor):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7", True, zmp_filter=0.02, attitude_filter=0.1, velocity_filter=0.01)
    well = [scene.measurement(0.001 * tick, imu=scene.imu()) for tick in range(4)]
    wrong = scene.measurement(0.002, imu=ImuMeasurement(scene.imu().rotation, np.array([0.0, np.nan, 0.0])))
    if sensor != "the IMU":
        broken = getattr(well[2], sensor).copy()
        broken[3] = np.inf
        wrong = replace(well[2], **{sensor: broken})
    states = []
    for third in (None, wrong):
        estimator.reset()
        for measurement in well[:2]:
            estimator.update(measurement, scene.reference())
        if third is not None:
            with pytest.raises(EstimationError, match=f"^{sensor} is not finite at 0.002 s"):
                estimator.update(third, scene.reference())
        states.append([estimator.update(replace(well[3], imu=imu), scene.reference()) for imu in (None, well[3].imu)])
    for alone, after in zip(*states, strict=True):
        np.testing.assert_array_equal(after.base_twist, alone.base_twist)
        np.testing.assert_array_equal(after.dcm_position, alone.dcm_position)


def test_a_tilted_imu_tilts_the_robot_about_its_stance_sole(icub):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7", True)
    estimator.reset()
    lean = so3.exp(np.array([0.05, -0.03, 0.0]))
    imu = scene.imu()
    tilted = ImuMeasurement(lean @ imu.rotation, imu.angular_velocity)
    state = estimator.update(scene.measurement(imu=tilted), scene.reference())
    np.testing.assert_allclose(state.left_foot_position, scene.stance_pose[0], atol=1e-12)
    np.testing.assert_allclose(so3.log(state.base_rotation @ scene.base_rotation.T)[:2], [0.05, -0.03], atol=2e-3)


def test_a_jump_of_the_measured_attitude_comes_with_its_time_constant(icub):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7", True, attitude_filter=0.1)
    estimator.reset()
    imu = ImuMeasurement(scene.imu().rotation, np.zeros(3))
    tilted = ImuMeasurement(so3.exp(np.array([0.02, 0.0, 0.0])) @ imu.rotation, np.zeros(3))
    estimator.update(scene.measurement(0.0, imu=imu), scene.reference())
    first = estimator.update(scene.measurement(0.001, imu=tilted), scene.reference())
    assert tilt_of(first, scene)[0] == pytest.approx(0.02 * (1.0 - np.exp(-0.01)), rel=0.02)
    for tick in range(2, 101):
        last = estimator.update(scene.measurement(0.001 * tick, imu=tilted), scene.reference())
    assert tilt_of(last, scene)[0] == pytest.approx(0.02 * (1.0 - np.exp(-1.0)), rel=0.02)


def tilt_of(state, scene):
    """Return the horizontal part of the rotation from the true base to the estimated, [rad]."""
    return so3.log(state.base_rotation @ scene.base_rotation.T)[:2]


def test_the_velocities_of_joints_and_base_have_the_same_delay(icub):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7", True, velocity_filter=0.003)
    estimator.reset()
    rest = Measurement(0.0, scene.joints, 0.0 * scene.rates, scene.rates, np.zeros((2, 6)), still(scene.imu()))
    estimator.update(rest, scene.reference())
    state = estimator.update(scene.measurement(0.001, imu=scene.imu()), scene.reference())
    share = 1.0 - np.exp(-1.0 / 3.0)
    np.testing.assert_allclose(state.joint_velocities, share * scene.rates, atol=1e-12)
    np.testing.assert_allclose(state.base_twist, share * scene.base_twist, atol=1e-10)
    np.testing.assert_allclose(state.left_foot_twist, 0.0, atol=1e-10)


def still(imu):
    return ImuMeasurement(imu.rotation, np.zeros(3))


def test_a_measured_twist_has_the_delay_of_the_joint_velocities(icub):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7", base=BaseSource.MEASURED, velocity_filter=0.003)
    estimator.reset()
    placed = BaseMeasurement(scene.base_position, scene.base_rotation, np.zeros(6))
    moving = BaseMeasurement(scene.base_position, scene.base_rotation, scene.base_twist)
    estimator.update(scene.measurement(0.0, base=placed), scene.reference())
    state = estimator.update(scene.measurement(0.001, base=moving), scene.reference())
    np.testing.assert_allclose(state.base_twist, (1.0 - np.exp(-1.0 / 3.0)) * scene.base_twist, atol=1e-12)


@pytest.mark.parametrize("name", ["attitude_time_constant", "velocity_time_constant", "zmp_time_constant"])
def test_a_negative_time_constant_is_refused(name):
    shipped = load_setup("icub_v2_7").walking.state_estimator
    with pytest.raises(ConfigError, match=f"{name}=-0.1, must not be negative"):
        replace(shipped, **{name: -0.1})


def test_torque_control_alone_filters_velocities_and_believes_the_attitude_later():
    position = load_setup("icub_v2_7").walking.state_estimator
    torque = load_setup("icub_v2_7", {"walking.control": "torque"}).walking.state_estimator
    assert (position.attitude_time_constant, position.velocity_time_constant) == (0.015, 0.0)
    assert (torque.attitude_time_constant, torque.velocity_time_constant) == (1.5, 0.005)
    soft = load_setup("icub_v2_7", {"walking.control": "torque", "simulation.ground.kind": "viscoelastic"}).walking
    assert soft.state_estimator.velocity_time_constant == 0.0


def test_the_imu_sees_the_stance_sole_turn_on_the_ground(icub):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7", True)
    estimator.reset()
    before = estimator.update(scene.measurement(0.0, imu=scene.imu(0.5)), scene.reference())
    after = estimator.update(scene.measurement(0.01, imu=scene.imu(0.53)), scene.reference())
    np.testing.assert_allclose(after.base_rotation, before.base_rotation, atol=1e-12)
    assert before.plan_origin.yaw == pytest.approx(0.0)
    assert after.plan_origin.yaw == pytest.approx(0.03)
    sole = after.plan_origin @ PlanarPose.of(after.left_foot_position, after.left_foot_rotation)
    np.testing.assert_allclose([sole.x, sole.y], scene.stance_pose[0][:2], atol=1e-12)


def test_a_contact_switch_does_not_jump_and_ends_on_the_plan(icub):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7", False)
    estimator.reset()
    before = estimator.update(scene.measurement(0.0), scene.reference())
    landed = before.right_foot_position, before.right_foot_rotation
    planned = landed[0] + np.array([0.01, -0.005, 0.0]), so3.rotation_z(0.02) @ landed[1]
    positions = []
    for tick in range(1, 31):
        reference = scene.reference(Side.RIGHT, planned)
        positions.append(estimator.update(scene.measurement(0.01 * tick), reference).base_position)
    jumps = np.linalg.norm(np.diff([before.base_position, *positions], axis=0), axis=1)
    assert jumps[0] < 1e-9
    assert jumps.max() < 0.004
    last = estimator.update(scene.measurement(0.4), scene.reference(Side.RIGHT, planned))
    np.testing.assert_allclose(last.right_foot_position, planned[0], atol=1e-12)
    np.testing.assert_allclose(last.right_foot_rotation, planned[1], atol=1e-12)


@pytest.mark.parametrize(("loads", "rests"), [((0.0, 300.0), Side.RIGHT), ((30.0, 300.0), Side.LEFT)])
def test_a_foot_that_lands_early_and_carries_all_rests_where_it_landed_and_the_other_one_slides(icub, loads, rests):
    scene, estimator, wrenches = Scene(icub), estimator_of("icub_v2_7"), np.zeros((2, 6))
    estimator.reset()
    for row, (frame, load) in enumerate(zip(icub.description.force_torque_sensors, loads, strict=True)):
        _, rotation = as_pose(scene.kinematics.getWorldTransform(frame.frame))
        wrenches[row, :3] = rotation.T @ [0.0, 0.0, load]
    planned = scene.reference()
    moving = altered(planned.right_foot, in_contact=False, position=planned.right_foot.position + 0.3)
    swinging = replace(planned, right_foot=moving)
    first = estimator.update(scene.measurement(0.0, wrenches), swinging)
    scene.joints = scene.joints + 0.01 * np.linspace(-1.0, 1.0, len(scene.joints))
    scene.rates = np.zeros_like(scene.rates)
    for tick in range(1, 4):
        state = estimator.update(scene.measurement(0.01 * tick, wrenches), swinging)
    still, slid = (rests, rests.other)
    np.testing.assert_allclose(state.foot_position(still), first.foot_position(still), atol=1e-9)
    assert np.linalg.norm(state.foot_position(slid) - first.foot_position(slid)) > 1e-3
    landed = replace(planned, right_foot=altered(moving, in_contact=True), stance_foot=Side.RIGHT)
    lands = estimator.update(scene.measurement(0.04, wrenches), landed)
    np.testing.assert_allclose(lands.right_foot_position, state.right_foot_position, atol=1e-9)
    ends = estimator.update(scene.measurement(0.3, wrenches), landed)
    np.testing.assert_allclose(ends.right_foot_position, moving.position, atol=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_zmp_is_where_the_ground_pushes(name):
    model = model_of(name)
    scene = Scene(model)
    d, k = model.description, scene.kinematics
    points, loads, wrenches, total = [], [], [], np.zeros(6)
    rng = np.random.default_rng(5)
    origin, _ = as_pose(k.getWorldTransform(d.left_foot_frame))
    for sensor in d.force_torque_sensors:
        foot_origin, _ = as_pose(k.getWorldTransform(d.foot_frame(sensor.foot)))
        point = foot_origin + np.array([*rng.uniform(-0.05, 0.05, 2), 0.0])
        force = np.array([0.0, 0.0, rng.uniform(50, 200)])
        position, rotation = as_pose(k.getWorldTransform(sensor.frame))
        moment = np.cross(point - position, force)
        wrenches.append(np.concatenate((rotation.T @ force, rotation.T @ moment)))
        points.append(point[:2])
        loads.append(force[2])
        if sensor.foot is Side.LEFT:
            total += np.concatenate((force, np.cross(point - origin, force)))
    estimator = estimator_of(name)
    estimator.reset()
    state = estimator.update(scene.measurement(wrenches=np.array(wrenches)), scene.reference())
    np.testing.assert_allclose(state.zmp_position, np.average(points, axis=0, weights=loads), atol=1e-12)
    np.testing.assert_allclose(state.left_foot_wrench, total, atol=1e-10)


def test_the_zmp_of_an_inclined_sole_lies_in_the_plane_of_the_sole(icub):
    scene = Scene(icub)
    scene.stance_pose = np.array([0.4, 0.1, 0.3]), so3.rotation_z(0.3) @ so3.exp(np.array([0.2, -0.15, 0.0]))
    scene._place()
    position, rotation = scene.stance_pose
    point, force = position + rotation @ [0.03, -0.02, 0.0], rotation @ [12.0, -7.0, 250.0]
    sensor, orientation = as_pose(scene.kinematics.getWorldTransform(icub.description.force_torque_sensors[0].frame))
    wrenches = np.zeros((2, 6))
    wrenches[0] = np.concatenate((orientation.T @ force, orientation.T @ np.cross(point - sensor, force)))
    estimator = estimator_of("icub_v2_7")
    estimator.reset()
    state = estimator.update(scene.measurement(wrenches=wrenches), scene.reference())
    np.testing.assert_allclose(state.zmp_position, point[:2], atol=1e-12)


@pytest.mark.parametrize(("load", "share"), [(-0.03, 0.0), (0.02, 0.0), (0.045, 0.5), (0.1, 1.0)])
def test_what_a_planned_swing_does_to_its_sensor_is_no_ground_but_an_early_landing_is(icub, load, share):
    scene, estimator = Scene(icub), estimator_of("icub_v2_7")
    estimator.reset()
    _, rotation = as_pose(scene.kinematics.getWorldTransform(icub.description.force_torque_sensors[1].frame))
    wrenches = np.zeros((2, 6))
    wrenches[0, 2] = 300.0
    wrenches[1, :3] = rotation.T @ [0.0, 0.0, load * icub.mass * 9.81]
    planned = scene.reference()
    swinging = replace(planned, right_foot=replace(planned.right_foot, in_contact=False))
    state = estimator.update(scene.measurement(wrenches=wrenches), swinging)
    left, right = ground_of(state, Side.LEFT), share * ground_of(state, Side.RIGHT)
    np.testing.assert_allclose(state.zmp_position, (left + right)[1:] / (left + right)[0], atol=1e-6)


def ground_of(state, side):
    """Return force and moments of the ZMP of a foot."""
    wrench, position = state.foot_wrench(side), state.foot_position(side)
    force = wrench[2]
    return np.array([force, force * position[0] - wrench[4], force * position[1] + wrench[3]])


def test_a_robot_in_the_air_keeps_its_last_zmp(icub):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7")
    estimator.reset()
    wrenches = np.zeros((2, 6))
    wrenches[:, 2] = 160.0
    on_ground = estimator.update(scene.measurement(0.0, wrenches), scene.reference()).zmp_position
    in_air = estimator.update(scene.measurement(0.01), scene.reference()).zmp_position
    np.testing.assert_array_equal(in_air, on_ground)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joint_positions": np.full(23, np.nan)}, "joint_positions is not finite"),
        ({"joint_positions": np.zeros(5)}, r"joint_positions has shape \(5,\), the robot has \(23,\)"),
        ({"contact_wrenches": np.full((2, 6), np.inf)}, "contact_wrenches is not finite"),
        ({"time": np.nan}, "time is nan s"),
    ],
)
def test_a_measurement_that_cannot_be_used_is_refused_by_name(icub, change, message):
    scene = Scene(icub)
    good = scene.measurement()
    fields = {name: getattr(good, name) for name in Measurement.__dataclass_fields__} | change
    estimator = estimator_of("icub_v2_7")
    estimator.reset()
    with pytest.raises(EstimationError, match=message):
        estimator.update(Measurement(**fields), scene.reference())


def test_an_old_measurement_is_refused(icub):
    scene = Scene(icub)
    estimator = estimator_of("icub_v2_7")
    estimator.reset()
    estimator.update(scene.measurement(1.0), scene.reference())
    with pytest.raises(EstimationError, match=r"at 0\.500 s is older"):
        estimator.update(scene.measurement(0.5), scene.reference())


def test_the_state_has_contacts_where_somebody_estimates_them(icub):
    scene = Scene(icub)
    shipped = load_setup("icub_v2_7").walking
    contacts = ContactEstimator(icub.description.sole, shipped.contact_estimator)
    estimator = StateEstimator(icub, shipped.state_estimator, GccCompiler(cache_folder()), contacts)
    wrenches = np.zeros((2, 6))
    wrenches[0, 2] = 160.0
    state = estimator.update(scene.measurement(0.0, wrenches), scene.reference())
    assert (state.left_contact.is_active, state.right_contact.is_active) == (True, False)
    np.testing.assert_allclose(state.left_contact.rest_position[:2], state.left_foot_position[:2])
    assert state.left_contact.stiffness == shipped.contact_estimator.stiffness
    estimator.reset()
    lifted = estimator.update(scene.measurement(0.0), scene.reference())
    assert not lifted.left_contact.is_active
    without = estimator_of("icub_v2_7")
    without.reset()
    assert without.update(scene.measurement(0.0), scene.reference()).left_contact is None


def filtering() -> FlatFunction:
    memory = Memory()
    names = ("period", "time_constant")
    inputs = {"sample": cs.SX.sym("sample", 2), **{name: cs.SX.sym(name) for name in names}}
    share = symbolic_low_pass_gain(inputs["time_constant"], inputs["period"])
    value = low_passed(memory.last("value", 2), inputs["sample"], share)
    memory.keep(value)
    return FlatFunction("low_pass", inputs | {"memory": memory.input}, {"value": value, "memory": memory.output})


@pytest.mark.parametrize("time_constant", [0.0, 0.002, 0.1])
def test_the_low_pass_within_a_function_is_the_one_outside(time_constant: float) -> None:
    function, outside, random = filtering(), LowPass(time_constant), np.random.default_rng(1)
    for period in (np.inf, 0.001, 0.0, 0.01, 1e-9):
        sample = random.normal(size=2)
        function.set(sample=sample, period=period, time_constant=time_constant)
        outputs = function()
        function.set(memory=outputs["memory"])
        np.testing.assert_allclose(outputs["value"], outside.update(sample, period), rtol=1e-15, atol=1e-15)


def test_the_first_sample_passes_to_the_last_digit() -> None:
    function, sample = filtering(), np.array([0.1, 1.0 / 3.0])
    function.set(sample=sample, period=np.inf, time_constant=0.1)
    np.testing.assert_array_equal(function()["value"], sample)
