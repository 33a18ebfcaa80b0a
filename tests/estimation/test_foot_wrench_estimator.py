"""Wrenches of feet without force sensors, against those that the robot has and against its motion."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import (
    GRAVITY,
    ControlMode,
    DcmReference,
    FootReference,
    JointCommand,
    Measurement,
    RobotState,
    Side,
    WalkingReference,
    so3,
)
from gradiva.estimation.foot_wrench_estimator import (
    FootWrenchEstimator,
    MotorTorques,
    Past,
    _SensorsOfFoot,
    supporting_joints,
)
from gradiva.planner import VelocityCommand
from gradiva.robot_model import IdynTreeModel, interpreted
from gradiva.setup import load_setup
from gradiva.simulated_walk import SimulatedWalk
from tests.conftest import model_of

HEIGHT = 0.6  # [m] of the base, which no equation depends on


class Standing:
    """A robot at rest on both feet, of which the right one carries a part of the weight."""

    def __init__(self, model, right=0.4):
        description = model.description
        self.model, self.joints = model, description.posture
        self.weight = model.mass * GRAVITY
        kinematics = model.kinematics_and_dynamics()
        pose = np.eye(4)
        pose[2, 3] = HEIGHT
        rest = np.zeros(len(self.joints))
        kinematics.setRobotState(pose, self.joints, np.zeros(6), rest, np.array([0.0, 0.0, -GRAVITY]))
        self.feet = {side: kinematics.getWorldTransform(description.foot_frame(side)) for side in Side}
        com = kinematics.getCenterOfMassPosition().toNumPy()
        parts = {Side.LEFT: 1.0 - right, Side.RIGHT: right}
        self.wrenches = {side: self._wrench(side, part, com) for side, part in parts.items()}
        self.torques = self._torques(kinematics)

    def _wrench(self, side, part, com):
        """Return a vertical force; both together act below the CoM."""
        force = np.array([0.0, 0.0, part * self.weight])
        lever = com - self.feet[side].getPosition().toNumPy()
        return np.concatenate((force, np.cross(lever, force)))

    def _torques(self, kinematics):
        import idyntree.bindings as idyn

        count = len(self.joints)
        bias = idyn.FreeFloatingGeneralizedTorques(self.model.model)
        kinematics.generalizedBiasForces(bias)
        torques = bias.jointTorques().toNumPy().copy()
        for side in Side:
            jacobian = idyn.MatrixDynSize(6, 6 + count)
            kinematics.getFrameFreeFloatingJacobian(self.model.description.foot_frame(side), jacobian)
            torques -= jacobian.toNumPy()[:, 6:].T @ self.wrenches[side]
        return torques

    def measurement(self, torques=None, time=0.0, **readings):
        rest, sensors = np.zeros(len(self.joints)), len(self.model.description.force_torque_sensors)
        wrenches = np.full((sensors, 6), np.nan)
        for side, wrench in readings.items():
            wrenches[self.model.description.sensors_of(Side(side))[0]] = wrench
        return Measurement(time, self.joints, rest, self.torques if torques is None else torques, wrenches)

    def state(self):
        still = {f"{side}_foot_twist": np.zeros(6) for side in Side}
        places = {f"{side}_foot_position": self.feet[side].getPosition().toNumPy() for side in Side} | {
            f"{side}_foot_rotation": self.feet[side].getRotation().toNumPy() for side in Side
        }
        return RobotState(
            base_position=np.array([0.0, 0.0, HEIGHT]),
            base_rotation=np.eye(3),
            base_twist=np.zeros(6),
            joint_positions=self.joints,
            joint_velocities=np.zeros(len(self.joints)),
            com_position=np.zeros(3),
            com_velocity=np.zeros(3),
            dcm_position=np.zeros(2),
            zmp_position=np.zeros(2),
            left_foot_wrench=np.zeros(6),
            right_foot_wrench=np.zeros(6),
            **places,
            **still,
        )

    def reference(self, right=0.5, lifted=None):
        feet = {
            side: FootReference(
                self.feet[side].getPosition().toNumPy(), np.eye(3), np.zeros(6), np.zeros(6), side is not lifted
            )
            for side in Side
        }
        left, way = feet[Side.LEFT].position[:2], (feet[Side.RIGHT].position - feet[Side.LEFT].position)[:2]
        dcm = DcmReference(left + right * way, np.zeros(2), 4.0, 4.0, np.zeros(2))
        stance = Side.LEFT if lifted is not Side.LEFT else Side.RIGHT
        return WalkingReference(0.0, dcm, np.zeros(3), np.zeros(3), *feet.values(), stance, 0.0, True)


def estimator_of(standing):
    return FootWrenchEstimator(standing.model, interpreted)


def loads(standing, measurement):
    rows = {side: standing.model.description.sensors_of(side) for side in Side}
    return [float(measurement.contact_wrenches[rows[side], 2].sum()) for side in Side]


@pytest.fixture(scope="module")
def standing():
    return Standing(model_of("g1"))


def test_the_joints_between_base_and_soles_are_those_of_the_legs(model):
    groups = model.description.joint_groups
    legs = {joint for side in Side for joint in groups[f"{side}_leg"].joints}
    assert {model.description.joints[joint] for joint in supporting_joints(model)} == legs


@pytest.mark.parametrize("right", [0.2, 0.5, 0.7])
def test_torques_say_how_the_weight_is_shared_whatever_the_plan_has(right):
    scene = Standing(model_of("g1"), right)
    found = estimator_of(scene).completed(scene.measurement(), scene.reference(right=0.5), Past(scene.state()))
    left, other = loads(scene, found)
    assert left + other == pytest.approx(scene.weight, rel=2e-3)
    assert other == pytest.approx(right * scene.weight, abs=0.02 * scene.weight)


def test_a_foot_whose_sensor_is_dead_carries_what_the_other_one_does_not(standing):
    wrench = standing.wrenches[Side.LEFT]
    measurement = standing.measurement(left=wrench)
    found = estimator_of(standing).completed(measurement, standing.reference(), Past(standing.state()))
    assert loads(standing, found)[1] == pytest.approx(0.4 * standing.weight, abs=0.02 * standing.weight)
    np.testing.assert_array_equal(found.contact_wrenches[0], measurement.contact_wrenches[0])  # it is believed
    complete = standing.measurement(left=wrench, right=standing.wrenches[Side.RIGHT])
    assert estimator_of(standing).completed(complete, standing.reference(), Past()) is complete


@pytest.mark.parametrize("mode", [ControlMode.POSITION, ControlMode.TORQUE, ControlMode.VELOCITY])
def test_torques_that_nothing_measures_are_those_of_servos_or_commands(standing, mode):
    estimator, unread = estimator_of(standing), np.full(len(standing.joints), np.nan)
    stiffness = standing.model.description.per_joint("stiffness")
    values = standing.joints + standing.torques / stiffness if mode is ControlMode.POSITION else standing.torques
    past, plan = Past(standing.state(), command=JointCommand(mode, values)), standing.reference(right=0.5)
    found = estimator.completed(standing.measurement(unread), plan, past)
    assert estimator.is_observed is (mode is not ControlMode.VELOCITY)
    measured = estimator_of(standing).completed(standing.measurement(), plan, Past(standing.state()))
    if estimator.is_observed:
        np.testing.assert_allclose(found.contact_wrenches, measured.contact_wrenches, atol=1e-6)
    else:  # the plan alone shares the weight
        assert sum(loads(standing, found)) == pytest.approx(standing.weight, rel=0.01)
        assert loads(standing, found)[1] == pytest.approx(0.5 * standing.weight, abs=0.1 * standing.weight)


@pytest.mark.parametrize("side", Side)
def test_the_readings_of_a_wrench_are_those_by_which_it_is_read(model, side):
    rng = np.random.default_rng(5)
    sensors, wrench, rotation = _SensorsOfFoot(model, side), rng.normal(size=6), so3.exp(rng.normal(size=3))
    readings = np.full((len(model.description.force_torque_sensors), 6), np.nan)
    sensors.write(readings, wrench, rotation)
    np.testing.assert_allclose(sensors.read(readings, rotation), wrench, atol=1e-12)


def test_joints_that_bend_have_no_motors():
    robot = load_setup("talos", ["flexibility.stiffness=1000", "flexibility.damping=60"]).robot
    count = len(robot.joints)
    reading = Measurement(0.0, np.zeros(count), np.full(count, 0.1), np.full(count, 2.0), np.zeros((2, 6)))
    bending, rigid = (
        MotorTorques(each).at_links(reading, Past(), 900.0) for each in (robot.with_flexible_joints(), robot)
    )
    np.testing.assert_array_equal(bending, rigid)


def test_a_foot_carries_from_its_load_to_its_planned_lift_off():
    right_only = Standing(model_of("g1"), right=1.0)
    estimator, past = estimator_of(right_only), Past(right_only.state())
    assert estimator.carrying == set(Side)
    estimator.completed(right_only.measurement(), right_only.reference(), past)
    assert estimator.carrying == {Side.RIGHT}  # whatever the plan says
    for time, lifted in ((0.01, Side.LEFT), (0.02, None)):  # planned to stand again, but still in the air
        found = estimator.completed(right_only.measurement(time=time), right_only.reference(lifted=lifted), past)
        assert estimator.carrying == {Side.RIGHT}
        assert loads(right_only, found)[0] < 0.02 * right_only.weight
    landed = Standing(model_of("g1"), right=0.4)
    for lifted in (Side.LEFT, None):  # earlier than planned
        found = estimator.completed(landed.measurement(time=0.03), landed.reference(lifted=lifted), past)
        assert estimator.carrying == set(Side)
        assert loads(landed, found)[0] == pytest.approx(0.6 * landed.weight, abs=0.06 * landed.weight)


def test_a_sole_neither_pulls_nor_has_its_centre_of_pressure_beside_it(standing):
    estimator, sole = estimator_of(standing), standing.model.description.sole
    force = np.array([10.0, -5.0, 100.0])
    beyond = np.concatenate((force, [0.0, 0.0, 0.0]))
    beyond[3:] = np.cross([2.0 * sole.x[1], 0.0, sole.z], force)
    limited = estimator._exerted_by_ground(Side.LEFT, beyond, np.eye(3))
    np.testing.assert_array_equal(limited[:3], force)
    pressure = np.array([sole.z * force[0] - limited[4], sole.z * force[1] + limited[3]]) / force[2]
    np.testing.assert_allclose(pressure, [sole.x[1], 0.0], atol=1e-12)
    np.testing.assert_array_equal(estimator._exerted_by_ground(Side.LEFT, -beyond, np.eye(3)), np.zeros(6))


@pytest.fixture(scope="module")
def walk():
    """Return a walk without sensors in the feet, with the errors of the estimated loads in each tick, [N]."""
    setup = load_setup("g1", ["state_estimator.foot_wrenches=joint_torques"])
    errors = []

    def observe(walk):
        state, truth = walk.log.robot_state, walk.robot.truth()
        if state is not None and walk.controller.plan.at(walk.time).is_walking:
            errors.append([state.foot_wrench(side)[2] - truth.foot_wrench(side)[2] for side in Side])

    walk = SimulatedWalk(setup, 1, observers=(observe,))
    assert walk.get_ready(0.3)
    assert walk.follow(VelocityCommand(0.2, duration=1.5), settle=0.2)
    return SimpleNamespace(walk=walk, loads=np.array(errors))


def test_a_robot_without_sensors_in_its_feet_walks_and_knows_what_they_carry(walk):
    weight = walk.walk.setup.robot.mass * GRAVITY
    rms = np.sqrt((walk.loads**2).mean(axis=0)) / weight
    assert (rms < 0.08).all()  # the joints of this plant have no friction, which the estimator takes off
    assert walk.walk.controller.safety_events == ()
    assert np.isnan(walk.walk.measurement.contact_wrenches).all()
    assert np.isfinite(walk.walk.measurement.joint_torques).all()


def test_a_description_without_sensors_has_places_where_wrenches_are_estimated():
    sensed = load_setup("icub_v3").robot
    bare = replace(sensed, force_torque_sensors=(), ports=None).without_foot_sensors()
    assert [(place.name, place.frame, place.is_real) for place in bare.force_torque_sensors] == [
        ("left_foot", sensed.left_foot_frame, False),
        ("right_foot", sensed.right_foot_frame, False),
    ]
    without = sensed.without_foot_sensors()
    assert [place.frame for place in without.force_torque_sensors] == [s.frame for s in sensed.force_torque_sensors]
    assert without.real_force_torque_sensors == ()
    assert without.ports.contact_wrenches == {}
    assert len(without.ports.force_torque_sensors) < len(sensed.ports.force_torque_sensors)
    assert all(not port.contact for port in without.ports.force_torque_sensors)
    assert IdynTreeModel(bare).mass == pytest.approx(sensed.mass, rel=5e-3)
