from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ConfigError, ModelError
from gradiva.middleware import ControlMode, SensorClass
from gradiva.setup import load_setup
from gradiva.simulation import Fault, FaultKind
from gradiva.yarp_modules.simulator import SimulatedWorld
from tests.conftest import ROBOTS
from tests.yarp_modules.simulator.conftest import make_world, posture_of, setup_of

WEIGHTS = {"g1": 327.1, "icub_v2_7": 324.3, "icub_v3": 514.7, "talos": 885.5}  # [N]


def wrenches(sample, world):
    sensors = {sensor.name: sensor for sensor in world.ports.force_torque_sensors}
    return {
        metadata.name: sensors[metadata.name].sign * np.array(reading.values)
        for server, readings in sample.sensors.items()
        if SensorClass.FORCE_TORQUE in readings
        for metadata, reading in zip(
            world.metadata[server][SensorClass.FORCE_TORQUE], readings[SensorClass.FORCE_TORQUE], strict=True
        )
    }


@pytest.mark.parametrize("robot", ROBOTS)
def test_feet_carry_the_weight_and_their_sensors_all_but_the_bodies_below(robot):
    world = make_world(robot)
    world.advance(0.2)
    sample = world.sample()
    ground = sample.measurement.contact_wrenches[:, :3]
    assert np.linalg.norm(ground.sum(axis=0)) == pytest.approx(WEIGHTS[robot], rel=0.02)
    readings = wrenches(sample, world)
    for row, contact in enumerate(world.contacts):
        _, sensor = world.ports.sensor_of(contact)
        below = np.linalg.norm(ground[row]) - np.linalg.norm(readings[sensor.name][:3])
        assert -1e-9 <= below < 8.0, f"{sensor.name} lies above {below} N"


def test_hips_that_bend_are_in_the_simulator_and_not_in_what_it_measures():
    setup = load_setup("talos", {"simulation.flexibility.stiffness": 1e3})
    world = SimulatedWorld(setup.robot, setup.simulation, posture_of("talos"))
    world.push("torso_2_link", (0.0, 150.0, 0.0), (0.0, 0.0, 0.0), 0.2)
    world.advance(0.2)
    assert np.abs(world.truth().flexible_positions).max() > 5e-3
    sample = world.sample()
    assert sample.measurement.joint_positions.shape == (32,)
    assert np.linalg.norm(sample.measurement.contact_wrenches[:, :3].sum(axis=0)) == pytest.approx(885.5, rel=0.3)


def test_sensors_in_the_thighs_carry_the_bodies_above_and_those_in_the_arms_the_bodies_below():
    world = make_world()
    world.advance(0.2)
    readings = wrenches(world.sample(), world)
    thigh, foot = np.linalg.norm(readings["l_leg_ft"][:3]), np.linalg.norm(readings["l_foot_ft"][:3])
    assert 30.0 < foot - thigh < 60.0  # a leg weighs 4.5 kg from there on
    assert 15.0 < np.linalg.norm(readings["l_arm_ft"][:3]) < 22.0
    np.testing.assert_allclose(np.abs(readings["l_arm_ft"]), np.abs(readings["r_arm_ft"]), atol=0.1)  # mirror images


@pytest.mark.parametrize("robot", ROBOTS)
def test_inertial_units_measure_gravity_upward_by_their_own_attitude(robot):
    world = make_world(robot)
    world.advance(0.1)
    sample = world.sample()
    for server in world.ports.inertial_servers:
        readings = sample.sensors[server.name]
        roll, pitch, _yaw = (math.radians(angle) for angle in readings[SensorClass.ORIENTATION][0].values)
        up_in_sensor = np.array([-math.sin(pitch), math.sin(roll) * math.cos(pitch), math.cos(roll) * math.cos(pitch)])
        acceleration = readings[SensorClass.LINEAR_ACCELEROMETER][0].values
        np.testing.assert_allclose(acceleration, 9.81 * up_in_sensor, atol=0.1)
        assert np.abs(readings[SensorClass.GYROSCOPE][0].values).max() < 1.0  # [deg/s]


def test_a_frozen_sensor_repeats_its_reading_to_the_last_digit():
    world = make_world()
    world.advance(0.1)
    before = wrenches(world.sample(), world)
    world.inject(Fault(FaultKind.FROZEN_WRENCH, world.robot_time, name="l_foot_ft"))
    world.push("chest", (0.0, 40.0, 0.0), (0.0, 0.0, 0.0), 0.2)
    world.advance(0.1)
    after = wrenches(world.sample(), world)
    np.testing.assert_array_equal(after["l_foot_ft"], before["l_foot_ft"])
    assert np.abs(after["r_foot_ft"] - before["r_foot_ft"]).max() > 1.0


def test_silent_sensors_have_no_new_reading_until_the_fault_ends():
    world = make_world()
    assert world.sample().is_new
    world.inject(Fault(FaultKind.SILENCE, 0.005, duration=0.02))
    news = []
    for _ in range(4):
        world.advance(0.01)
        news.append(world.sample().is_new)
    assert news == [False, False, True, True]


def test_a_push_moves_the_base_and_the_floating_base_port(world):
    start = world.sample().floating_base
    assert start.shape == (18,)
    assert start[2] == pytest.approx(world.truth().base_position[2])
    assert abs(start[5]) == pytest.approx(math.pi, abs=1e-6)  # this robot's base looks backward
    world.push("chest", (0.0, 40.0, 0.0), (0.0, 0.0, 0.0), 0.2)
    world.advance(0.1)
    pushed = world.sample().floating_base
    assert pushed[7] > 0.01
    assert pushed[13] == pytest.approx(pushed[7] / 0.1, rel=1e-9)


def test_impossible_pushes_are_refused_by_name(world):
    with pytest.raises(ModelError, match="no link or frame 'chst'; did you mean 'chest'"):
        world.push("chst", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0)
    with pytest.raises(ConfigError, match="not all numbers are finite"):
        world.push("chest", (math.nan, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0)
    with pytest.raises(ConfigError, match="must be positive"):
        world.push("chest", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)


def test_a_robot_that_was_put_back_stands_in_its_start_posture_at_a_later_time(world):
    start = world.truth()
    world.push("chest", (0.0, 400.0, 0.0), (0.0, 0.0, 0.0), 1.0)
    world.parts["head"].set_control_modes((0,), [ControlMode.IDLE])
    world.advance(1.5)
    assert world.fall is not None
    world.reset()
    assert world.fall is None
    assert world.time == pytest.approx(1.5)
    np.testing.assert_array_equal(world.truth().joint_positions, start.joint_positions)
    world.advance(0.5)
    assert world.sample().time == pytest.approx(2.0)
    assert world.fall is None
    assert world.parts["head"].read().control_modes[0] == ControlMode.POSITION


def test_only_wanted_sensors_are_computed(world):
    sample = world.sample(["left_leg/FT"])
    assert list(sample.sensors) == ["left_leg/FT"]
    assert sample.floating_base is None


def test_a_robot_without_ports_is_refused():
    setup = setup_of("icub_v2_7")
    with pytest.raises(ConfigError, match=r"no table \[ports\]"):
        SimulatedWorld(replace(setup.robot, ports=None), setup.simulation, posture_of("icub_v2_7"))


def test_metadata_name_the_sensors_as_the_robot_does():
    sensors = make_world("icub_v3").metadata["left_leg/FT"][SensorClass.FORCE_TORQUE]
    assert [sensor.name for sensor in sensors] == ["l_leg_ft", "l_foot_rear_ft", "l_foot_front_ft"]
