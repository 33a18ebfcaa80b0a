from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from gradiva.common import ConfigError, from_table, merge, so3
from gradiva.robot_model import RobotDescription
from gradiva.setup import load_setup
from gradiva.simulation import MujocoRobot, ViscoElasticGround
from gradiva.simulation.viscoelastic_config import ViscoElasticGroundConfig
from gradiva.walking import WalkingLayers

from .free_box import AREA, GRAVITY, HALF_SIZE, MASS, FreeBox
from .standing import configured, standing_posture

K, B = 1.0e6, 1.0e4
QUIET = {"force": 0.0, "moment": 0.0, "interval": 0.001, "target": "both"}


def ground(floor: float = 0.0, friction: float = 1.0, seed: int = 0, **entries: Any) -> ViscoElasticGround:
    table = {"stiffness": K, "damping": B, "patches": [], "pulls": False, "slides": False, "noise": QUIET}
    config = from_table(ViscoElasticGroundConfig, merge(table, entries), "test")
    return ViscoElasticGround(config, configured(ground={"friction": friction}).ground, floor, seed)


def finely_dropped(height: float, duration: float, step: float = 2e-6) -> float:
    """Deepest point of a level fall, by an integration of its own."""
    position, speed, deepest = height, 0.0, height
    for _ in range(round(duration / step)):
        pressure = max(0.0, -K * position - B * speed) if position < 0.0 else 0.0
        speed += step * (AREA * pressure / MASS - GRAVITY)
        position += step * speed
        deepest = min(deepest, position)
    return deepest


@pytest.mark.parametrize(("timestep", "tolerance"), [(0.001, 0.02), (0.0001, 0.002)])
def test_a_dropped_brick_dips_as_deep_as_a_fine_integration_says(timestep: float, tolerance: float) -> None:
    brick = FreeBox(ground(), timestep)
    brick.place(0.02)
    deepest = min(brick.advance(0.1))
    assert deepest == pytest.approx(finely_dropped(0.02, 0.1), rel=tolerance)


def test_a_brick_at_rest_sinks_by_its_weight_over_stiffness_and_area() -> None:
    brick = FreeBox(ground(floor=-0.0105), 0.001)
    brick.place(-0.0105)
    brick.advance(1.2)
    assert brick.bottom + 0.0105 == pytest.approx(-MASS * GRAVITY / (AREA * K), rel=1e-8)
    np.testing.assert_allclose(brick.data.qvel, np.zeros(6), atol=1e-8)


def test_without_damping_a_brick_bounces_back_to_its_height() -> None:
    brick = FreeBox(ground(damping=0.0), 0.0001)
    brick.place(0.01)
    heights = brick.advance(0.15)
    landing = int(np.argmin(heights))
    assert heights[landing] < -0.005
    assert max(heights[landing:]) == pytest.approx(0.01, rel=0.02)


def test_damping_only_takes_energy() -> None:
    brick = FreeBox(ground(), 0.001)
    brick.place(0.03, tuple(so3_quaternion(np.array([0.2, -0.1, 0.3]))))
    energies = [brick.energy]
    for _ in range(400):
        brick.advance(0.001)
        energies.append(brick.energy + stored(brick))
    assert np.diff(energies).max() < 2e-3 * energies[0]
    assert energies[-1] < 0.1 * (energies[0] - MASS * GRAVITY * HALF_SIZE[2]) + MASS * GRAVITY * HALF_SIZE[2]


def so3_quaternion(rotation_vector: np.ndarray) -> np.ndarray:
    result = np.empty(4)
    mujoco.mju_mat2Quat(result, so3.exp(rotation_vector).ravel())
    return result


def stored(brick: FreeBox, grid: int = 20) -> float:
    """Energy of the springs below the sole, by quadrature, [J]."""
    contact = brick.ground.contacts[0]
    if contact is None:
        return 0.0
    x, y = (half * (2.0 * (np.arange(grid) + 0.5) / grid - 1.0) for half in HALF_SIZE[:2])
    points = np.array([(a, b, 0.0) for a in x for b in y])
    site = brick.data.site("face:s")
    shift = contact.rest_position - site.xpos + points @ (contact.rest_rotation - site.xmat.reshape(3, 3)).T
    pressed = shift[:, 2] > 0.0
    return float(0.5 * K * (shift[pressed] ** 2).sum() * AREA / grid**2)


def test_the_sensor_tells_the_closed_form_about_its_own_frame() -> None:
    brick = FreeBox(ground(), 0.001)
    brick.place(-0.02)
    brick.ground.forward(brick.model, brick.data)  # touches down here
    tilt = np.array([0.02, -0.03, 0.01])
    brick.place(-0.021, tuple(so3_quaternion(tilt)))
    brick.data.qpos[:2] += (0.001, -0.002)
    brick.data.qvel[:] = (0.1, -0.05, 0.02, 0.1, 0.2, -0.1)
    brick.ground.forward(brick.model, brick.data)
    contact, site = brick.ground.contacts[0], brick.data.site("face:s")
    assert contact is not None
    rotation = site.xmat.reshape(3, 3)
    spin = rotation @ brick.data.qvel[3:]  # the brick's angular velocity is in its own axes
    velocity = brick.data.qvel[:3] + np.cross(spin, site.xpos - brick.data.qpos[:3])
    projection = abs(rotation[2, 2])
    force = AREA * projection * (K * (contact.rest_position - site.xpos) - B * velocity)
    moment = np.zeros(3)
    for axis in (0, 1):
        r, extent = rotation[:, axis], 2.0 * HALF_SIZE[axis]
        turned = B * np.cross(r, spin) + K * contact.rest_rotation[:, axis]
        moment += AREA / 12.0 * projection * extent**2 * np.cross(r, turned)
    sensor = brick.data.site("sensor:s")
    axes = sensor.xmat.reshape(3, 3)
    about_sensor = moment + np.cross(site.xpos - sensor.xpos, force)
    told = brick.ground.wrenches(brick.data)[0]
    np.testing.assert_allclose(told[:3], axes.T @ force, rtol=1e-9)
    np.testing.assert_allclose(told[3:], axes.T @ about_sensor, rtol=1e-9)


def test_what_is_told_is_what_moves_the_brick() -> None:
    brick = FreeBox(ground(noise=QUIET | {"force": 20.0, "moment": 0.5}), 0.001)
    brick.place(-0.002)
    brick.advance(0.01)
    before = brick.data.qvel.copy()
    brick.advance(0.001)
    told = brick.ground.wrenches(brick.data)[0]
    axes = brick.data.site("sensor:s").xmat.reshape(3, 3)
    gained = MASS * ((brick.data.qvel[:3] - before[:3]) / 0.001 + [0.0, 0.0, GRAVITY])
    np.testing.assert_allclose(axes @ told[:3], gained, atol=0.02)  # the axes turn within the step


@pytest.mark.parametrize(("target", "felt", "told"), [("robot", 1, 0), ("sensors", 0, 1), ("both", 1, 1)])
def test_noise_reaches_its_target_alone(target: str, felt: int, told: int) -> None:
    brick = FreeBox(ground(noise=QUIET | {"force": 5.0, "target": target}), 0.001)
    brick.place(-MASS * GRAVITY / (AREA * K))
    brick.ground.forward(brick.model, brick.data)
    exact = brick.ground.wrenches(brick.data)[0]
    brick.advance(0.001)
    assert bool(np.abs(brick.data.qvel).max() > 1e-6) == bool(felt)
    assert bool(np.abs(brick.ground.wrenches(brick.data)[0] - exact).max() > 1e-6) == bool(told)


def test_the_same_seed_gives_the_same_run() -> None:
    ends = []
    for seed in (3, 3, 4):
        brick = FreeBox(ground(seed=seed, noise=QUIET | {"force": 5.0, "moment": 0.2}), 0.001)
        brick.place(-0.002)
        brick.advance(0.05)
        ends.append(brick.data.qpos.copy())
    np.testing.assert_array_equal(ends[0], ends[1])
    assert np.abs(ends[0] - ends[2]).max() > 1e-6


def test_a_sole_in_the_air_feels_nothing_and_touches_down_anew() -> None:
    brick = FreeBox(ground(noise=QUIET | {"force": 5.0}), 0.001)
    brick.place(-0.001)
    brick.advance(0.001)
    brick.place(0.001)
    brick.data.qpos[0] = 0.5
    brick.data.qvel[:] = 0.0
    brick.advance(0.001)
    assert brick.ground.contacts == (None,)
    np.testing.assert_array_equal(brick.ground.wrenches(brick.data), np.zeros((1, 6)))
    brick.advance(0.05)
    contact = brick.ground.contacts[0]
    assert contact is not None
    np.testing.assert_allclose(contact.rest_position, [0.5, 0.0, 0.0], atol=1e-9)


def test_the_ground_is_as_it_is_where_the_sole_touched_down_and_when() -> None:
    patches = [
        {"stiffness": 2 * K, "damping": B, "beyond_x": 0.5},
        {"stiffness": 4 * K, "damping": 2 * B, "after": 0.2},
    ]
    for x, time, factor in ((0.0, 0.1, 1.0), (0.6, 0.1, 2.0), (0.0, 0.5, 4.0)):
        brick = FreeBox(ground(patches=patches), 0.001)
        brick.place(0.0)
        brick.data.qpos[0] = x
        brick.advance(time)
        contact = brick.ground.contacts[0]
        assert contact is not None
        assert contact.stiffness == factor * K
        brick.advance(0.09)
        assert brick.bottom == pytest.approx(-MASS * GRAVITY / (AREA * factor * K), rel=0.05)


def test_a_sole_that_pulls_holds_what_one_that_pushes_lets_go() -> None:
    bottoms = []
    for pulls in (True, False):
        brick = FreeBox(ground(pulls=pulls, damping=100.0), 0.0005)
        brick.place(-MASS * GRAVITY / (AREA * K))
        brick.data.qvel[4] = 3.0  # pitches: half of the sole rises above the surface
        bottoms.append(max(brick.advance(0.1)))
    assert bottoms[0] < 0.5 * bottoms[1]


def test_a_sole_that_slides_carries_no_more_than_friction_and_stays_where_it_is_then() -> None:
    brick = FreeBox(ground(slides=True, friction=0.3), 0.001, gravity=(4.0, 0.0, -GRAVITY))
    brick.place(-MASS * GRAVITY / (AREA * K))
    brick.advance(0.2)
    before = brick.data.qvel[0]
    brick.advance(0.2)
    assert brick.data.qvel[0] - before == pytest.approx(0.2 * (4.0 - 0.3 * GRAVITY), rel=0.01)
    brick.model.opt.gravity[0] = 0.0
    brick.advance(0.5)
    assert abs(brick.data.qvel[0]) < 1e-3
    contact = brick.ground.contacts[0]
    assert contact is not None
    assert contact.rest_position[0] == pytest.approx(brick.data.qpos[0], abs=2e-3)


def test_a_noise_interval_that_is_no_whole_number_of_steps_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"noise.interval=0.0015: must be a multiple of timestep=0.001"):
        FreeBox(ground(noise=QUIET | {"interval": 0.0015}), 0.001)


def test_robots_start_sunk_by_their_weight_and_stand(description: RobotDescription) -> None:
    tables = {"ground": {"kind": "viscoelastic"}, "viscoelastic": {"stiffness": 3.0e7}}
    robot = MujocoRobot(description, configured(**tables), standing_posture(description))
    load = robot.read().contact_wrenches[:, 2].sum()
    assert load == pytest.approx(description.mass * GRAVITY, rel=1e-3)
    robot.advance(0.2)
    assert abs(robot.truth().com_velocity[2]) < 0.01
    assert np.degrees(so3.tilt(robot.truth().left_foot_rotation)) < 0.5


def test_icub_stands_on_soft_ground_with_position_servos() -> None:
    setup = load_setup("icub_v2_7")
    posture = WalkingLayers(setup.robot, setup.walking, lambda function: function).start_posture
    tables = {"ground": {"kind": "viscoelastic"}, "viscoelastic": {"stiffness": 8.0e6}}
    robot = MujocoRobot(setup.robot, configured(**tables), posture)
    sole = setup.robot.sole
    area = (sole.x[1] - sole.x[0]) * (sole.y[1] - sole.y[0])
    depth = setup.robot.mass * GRAVITY / (2.0 * 8.0e6 * area)
    assert robot.truth().left_foot_position[2] == pytest.approx(-depth, rel=1e-3)
    robot.advance(1.0)
    truth = robot.truth()
    assert robot.fall is None
    assert np.degrees(so3.tilt(truth.left_foot_rotation)) < 1.0
    assert robot.read().contact_wrenches[:, 2].sum() == pytest.approx(setup.robot.mass * GRAVITY, rel=0.01)
