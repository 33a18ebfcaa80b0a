"""Penalty contacts below soles and loose bodies."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from gradiva.common import so3
from gradiva.contacts import PenaltyConfig, penalty_accelerations
from gradiva.robot_model import RobotDescription
from gradiva.simulation import GroundSite, LooseBody, MujocoRobot, PenaltyGround, PenaltyWorld, build_plant, load_tree
from gradiva.simulation.rigid_tree import quaternion

from .free_box import AREA, GRAVITY, HALF_SIZE, MASS, FreeBox
from .standing import configured, standing_posture

GAINS = PenaltyConfig(stiffness=500.0, damping=250.0, rest_penetration=1e-4)


def ground(height: float = 0.0, friction: float = 1.0) -> PenaltyGround:
    return PenaltyGround(GAINS, GroundSite(configured(ground={"friction": friction}).ground, height))


def test_a_brick_at_rest_lies_at_the_rest_penetration_and_its_corners_share_its_weight() -> None:
    brick = FreeBox(ground(height=-0.0105), 0.001)
    brick.place(-0.0105 - 1e-4)
    brick.advance(0.2)
    np.testing.assert_allclose(brick.ground.corner_heights, np.full((1, 4), -1e-4), atol=1e-12)
    np.testing.assert_allclose(brick.ground.corner_forces[0, :, 2], MASS * GRAVITY / 4.0, atol=1e-9)
    assert pytest.approx(4.0 * HALF_SIZE[0] * HALF_SIZE[1]) == AREA


def test_the_sensor_measures_the_force_that_carries_the_brick_and_its_moment() -> None:
    brick = FreeBox(ground(), 0.001)
    brick.place(-1e-4)
    brick.advance(0.05)
    measured = brick.ground.wrenches(brick.data)[0]
    np.testing.assert_allclose(measured[:3], [0.0, 0.0, MASS * GRAVITY], atol=1e-6)
    sensor = brick.data.site("sensor:s")
    moment = np.cross(brick.data.xipos[1] - sensor.xpos, [0.0, 0.0, MASS * GRAVITY])
    np.testing.assert_allclose(measured[3:], sensor.xmat.reshape(3, 3).T @ moment, atol=1e-6)


def test_a_sole_in_the_air_feels_nothing() -> None:
    brick = FreeBox(ground(), 0.001)
    brick.place(0.01)
    brick.advance(0.001)
    np.testing.assert_array_equal(brick.ground.wrenches(brick.data), np.zeros((1, 6)))


def test_touching_corners_of_a_robot_accelerate_as_wanted(icub: RobotDescription) -> None:
    """In one step of the engine, whose integrator takes the damping of the servos at its end.

    The corners of a tilted rigid sole cannot do exactly what is wanted of each: tilt times turn is left.
    """
    config = configured(ground={"kind": "penalty"})
    posture = standing_posture(icub)
    floor = ground(icub.sole.z, friction=10.0)
    model = build_plant(icub, load_tree(icub), config, floor)
    model.actuator_biasprm[:, 1:3] = (-500.0, -10.0)
    model.actuator_gainprm[:, 0] = 500.0
    data = mujoco.MjData(model)
    data.qpos[:3] = posture.base_position - [0.0, 0.0, 3e-4]
    data.qpos[3:7] = quaternion(posture.base_rotation)
    data.qpos[7:] = data.ctrl[:] = 0.0
    for joint, angle in zip(icub.joints, posture.joint_positions, strict=True):
        data.qpos[model.joint(joint).qposadr] = angle
        data.ctrl[model.actuator(joint).id] = angle
    data.qvel[:] = 1e-4 * np.random.default_rng(0).standard_normal(model.nv)
    data.qvel[2] = -0.05  # both feet land
    before = data.qvel.copy()
    floor.step(model, data)
    acceleration = (data.qvel - before) / 0.001
    heights = floor.corner_heights
    assert (heights < 0.0).all()
    assert (floor.corner_forces[:, :, 2] > 0.0).all()
    for points, body in zip(floor.corners, ("sole:l_foot_ft", "sole:r_foot_ft"), strict=True):
        for point in points:
            jacobian, rate = np.zeros((3, model.nv)), np.zeros((3, model.nv))
            # the engine's own derivatives, at the state before the step
            mujoco.mj_jac(model, data, jacobian, None, point, model.body(body).id)
            mujoco.mj_jacDot(model, data, rate, None, point, model.body(body).id)
            position = (point - [0.0, 0.0, icub.sole.z])[None]
            wanted = penalty_accelerations(position, (jacobian @ before)[None], GAINS)[0]
            np.testing.assert_allclose(jacobian @ acceleration + rate @ before, wanted, atol=4e-5)


def test_robots_stand_at_the_rest_penetration(description: RobotDescription) -> None:
    robot = MujocoRobot(description, configured(ground={"kind": "penalty"}), standing_posture(description))
    assert robot.read().contact_wrenches[:, 2].sum() == pytest.approx(description.mass * GRAVITY, rel=0.02)
    robot.advance(0.1)
    assert robot.read().contact_wrenches[:, 2].sum() == pytest.approx(description.mass * GRAVITY, rel=0.02)
    assert isinstance(robot.ground, PenaltyGround)
    loaded = robot.ground.corner_heights[robot.ground.corner_forces[:, :, 2] > 1.0]
    assert loaded.size >= 4
    np.testing.assert_allclose(loaded, -1e-4, atol=7e-5)
    assert np.degrees(so3.tilt(robot.truth().left_foot_rotation)) < 0.1


def sloping(angle: float) -> np.ndarray:
    return GRAVITY * np.array([np.sin(angle), 0.0, -np.cos(angle)])


def test_a_ball_stops_where_braking_in_proportion_to_its_speed_ends() -> None:
    gains = PenaltyConfig(stiffness=0.0, damping=5000.0, rest_penetration=0.0)
    world = PenaltyWorld(LooseBody.ball(2.0), gains, 1.0, sloping(0.0))
    world.place(np.zeros(3), np.array([0.0, 0.0, -1.0]))
    world.advance(1e-6)
    assert world.force[2] == pytest.approx(2.0 * (GRAVITY + 5000.0), rel=1e-9)
    for _ in range(4000):
        world.advance(1e-6)
    assert world.position[2] == pytest.approx(-1.0 / 5000.0, rel=0.01)
    assert world.force[2] == pytest.approx(2.0 * GRAVITY, rel=1e-3)


def test_a_brick_rests_at_the_rest_penetration() -> None:
    world = PenaltyWorld(LooseBody.brick(3.0, (0.2, 0.1, 0.04)), GAINS, 1.0, sloping(0.0))
    world.place(np.array([0.0, 0.0, 0.02 - 1e-4]), np.zeros(3))
    for _ in range(100):
        world.advance(0.001)
    assert world.position[2] == pytest.approx(0.02 - 1e-4, abs=1e-12)
    np.testing.assert_allclose(world.force, [0.0, 0.0, 3.0 * GRAVITY], atol=1e-9)


@pytest.mark.parametrize(("friction", "acceleration"), [(0.2, GRAVITY * (np.sin(0.4) - 0.2 * np.cos(0.4))), (0.5, 0.0)])
def test_a_brick_slides_or_sticks_as_coulomb_says(friction: float, acceleration: float) -> None:
    world = PenaltyWorld(LooseBody.brick(3.0, (0.2, 0.1, 0.04)), GAINS, friction, sloping(0.4))
    world.place(np.array([0.0, 0.0, 0.02 - 1e-4]), np.zeros(3))
    for _ in range(200):
        world.advance(0.001)
    assert world.velocity[0] == pytest.approx(0.2 * acceleration, abs=1e-9)
    assert world.time == pytest.approx(0.2)
