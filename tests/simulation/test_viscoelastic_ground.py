"""Visco-elastic ground: its equations, contacts, patches and noise."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from gradiva.common import ConfigError, FootContact, Side, SoleRectangle, from_table, merge, so3
from gradiva.contacts import SoleMotion, ViscoElasticContact
from gradiva.robot_model import RobotDescription, interpreted
from gradiva.setup import load_setup
from gradiva.simulation import (
    GroundSite,
    MujocoRobot,
    NoiseTarget,
    ViscoElasticGround,
    ViscoElasticGroundConfig,
    WrenchNoiseConfig,
)
from gradiva.simulation.viscoelastic_ground import SolePlaces, WrenchNoise, soft_ground_function
from gradiva.walking import WalkingLayers

from .free_box import AREA, GRAVITY, HALF_SIZE, MASS, FreeBox
from .standing import configured, standing_posture

K, B = 1.0e6, 1.0e4
QUIET = {"force": 0.0, "moment": 0.0, "interval": 0.001, "target": "both"}


def ground(floor: float = 0.0, friction: float = 1.0, seed: int = 0, **entries: Any) -> ViscoElasticGround:
    table = {"stiffness": K, "damping": B, "patches": [], "pulls": False, "slides": False, "noise": QUIET}
    config = from_table(ViscoElasticGroundConfig, merge(table, entries), "test")
    return ViscoElasticGround(config, GroundSite(configured(ground={"friction": friction}).ground, floor, seed))


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
    loaded = shift[:, 2] > 0.0
    return float(0.5 * K * (shift[loaded] ** 2).sum() * AREA / grid**2)


def test_the_sensor_measures_the_closed_form_about_its_own_frame() -> None:
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
    measured = brick.ground.wrenches(brick.data)[0]
    np.testing.assert_allclose(measured[:3], axes.T @ force, rtol=1e-9)
    np.testing.assert_allclose(measured[3:], axes.T @ about_sensor, rtol=1e-9)


def test_what_is_measured_is_what_moves_the_brick() -> None:
    brick = FreeBox(ground(noise=QUIET | {"force": 20.0, "moment": 0.5}), 0.001)
    brick.place(-0.002)
    brick.advance(0.01)
    before = brick.data.qvel.copy()
    brick.advance(0.001)
    measured = brick.ground.wrenches(brick.data)[0]
    axes = brick.data.site("sensor:s").xmat.reshape(3, 3)
    gained = MASS * ((brick.data.qvel[:3] - before[:3]) / 0.001 + [0.0, 0.0, GRAVITY])
    np.testing.assert_allclose(axes @ measured[:3], gained, atol=0.02)  # the axes turn within the step


@pytest.mark.parametrize(("target", "applied", "measured"), [("robot", 1, 0), ("sensors", 0, 1), ("both", 1, 1)])
def test_noise_reaches_its_target_alone(target: str, applied: int, measured: int) -> None:
    brick = FreeBox(ground(noise=QUIET | {"force": 5.0, "target": target}), 0.001)
    brick.place(-MASS * GRAVITY / (AREA * K))
    brick.ground.forward(brick.model, brick.data)
    exact = brick.ground.wrenches(brick.data)[0]
    brick.advance(0.001)
    assert bool(np.abs(brick.data.qvel).max() > 1e-6) == bool(applied)
    assert bool(np.abs(brick.ground.wrenches(brick.data)[0] - exact).max() > 1e-6) == bool(measured)


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


SITES, HEIGHT = 5, 0.02  # [-], [m]
SOLES = (SolePlaces(face=1, sensor=3, half_size=(0.08, 0.036)), SolePlaces(face=4, sensor=0, half_size=(0.1, 0.05)))


def situation(random):
    """Return inputs of soles that are about halfway in the ground, tilted, and moving."""
    rotations = [so3.exp(random.normal(size=3) * [0.15, 0.1, 0.5]) for _ in range(SITES)]
    return {
        "site_positions": random.normal(size=(SITES, 3)) * [0.2, 0.2, 0.003],
        "site_rotations": np.array([rotation.ravel() for rotation in rotations]),
        "face_twists": random.normal(size=(2, 6)) * 0.1,
        "rest_positions": random.normal(size=(2, 3)) * [0.2, 0.2, 0.003],
        "rest_rotations": np.array([so3.rotation_z(yaw).ravel() for yaw in random.normal(size=2) * 0.5]),
        "grounds": random.uniform((5e5, 1e3), (2e6, 1e4), size=(2, 2)),
        "touches": np.ones(2),
        "noises": random.normal(size=(2, 6)),
    }


def expected(inputs, index, pulls):
    """Return the wrench about the middle of a face and the loaded area by the equations of one sole."""
    sole, twist = SOLES[index], inputs["face_twists"][index]
    (x, y), rotation = sole.half_size, inputs["site_rotations"][sole.face].reshape(3, 3)
    motion = SoleMotion(inputs["site_positions"][sole.face], rotation, np.concatenate((twist[3:], twist[:3])))
    rest = inputs["rest_rotations"][index].reshape(3, 3)
    contact = FootContact(True, inputs["rest_positions"][index], rest, *inputs["grounds"][index])
    model = ViscoElasticContact(SoleRectangle((-x, x), (-y, y), 0.0), Side.LEFT, is_unilateral=not pulls)
    return model.wrench(motion, contact), abs(rotation[2, 2]) * model.loaded_moments(motion, contact).area


def about_sensor(inputs, index, wrench):
    """Return a wrench about the middle of the face as one about the sensor, in world axes."""
    arm = inputs["site_positions"][SOLES[index].face] - inputs["site_positions"][SOLES[index].sensor]
    return np.concatenate((wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])))


@pytest.mark.parametrize("pulls", [False, True])
def test_wrenches_are_those_of_single_soles_at_the_face_and_at_the_sensor(pulls):
    function, random = soft_ground_function(SOLES, SITES, HEIGHT, interpreted, pulls=pulls), np.random.default_rng(3)
    shares = []
    for _ in range(20):
        inputs = situation(random)
        function.set(**inputs)
        outputs = {name: value.copy() for name, value in function().items()}
        for index, sole in enumerate(SOLES):
            wrench, area = expected(inputs, index, pulls)
            applied, disturbed = (
                about_sensor(inputs, index, one) for one in (wrench, wrench + inputs["noises"][index])
            )
            axes = np.kron(np.eye(2), inputs["site_rotations"][sole.sensor].reshape(3, 3).T)
            shares.append(area / (4.0 * sole.half_size[0] * sole.half_size[1]))
            np.testing.assert_allclose(outputs["wrenches"][index], wrench, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(outputs["applied"][index], applied, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(outputs["applied_disturbed"][index], disturbed, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(outputs["measured"][index], axes @ applied, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(outputs["measured_disturbed"][index], axes @ disturbed, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(outputs["projected_areas"][index], area, rtol=1e-9, atol=1e-12)
    assert (np.ptp(shares) > 0.8) != pulls  # on ground that only pushes, all shares of a sole are seen


def test_a_sole_without_a_contact_feels_nothing_not_even_noise():
    function = soft_ground_function(SOLES, SITES, HEIGHT, interpreted, pulls=False)
    inputs = situation(np.random.default_rng(5)) | {"touches": np.array([0.0, 1.0])}
    function.set(**inputs)
    outputs = function()
    for name in ("wrenches", "applied", "applied_disturbed", "measured", "measured_disturbed"):
        np.testing.assert_array_equal(outputs[name][0], 0.0)
    assert np.abs(outputs["applied_disturbed"][1]).max() > 0.1


def test_places_are_middle_heading_and_lowest_corner():
    function = soft_ground_function(SOLES, SITES, HEIGHT, interpreted, pulls=False)
    inputs = situation(np.random.default_rng(7))
    function.set(**inputs)
    places = function()["places"]
    for (x, y, yaw, lowest), sole in zip(places, SOLES, strict=True):
        rotation, position = inputs["site_rotations"][sole.face].reshape(3, 3), inputs["site_positions"][sole.face]
        corners = np.array([(a, b, 0.0) for a in (-1, 1) for b in (-1, 1)]) * (*sole.half_size, 0.0) @ rotation.T
        np.testing.assert_allclose((x, y), position[:2], atol=1e-15)
        assert yaw == pytest.approx(so3.yaw(rotation), abs=1e-12)
        assert lowest == pytest.approx(position[2] + corners[:, 2].min() - HEIGHT, abs=1e-12)


def drawn(interval: float, timestep: float, steps: int = 4000, soles: int = 2) -> np.ndarray:
    config = WrenchNoiseConfig(force=5.0, moment=0.5, interval=interval, target=NoiseTarget.BOTH)
    noise = WrenchNoise(config, soles, timestep, seed=1)
    return np.array([noise.at(step) for step in range(steps)])


def test_forces_and_moments_have_their_deviations_and_no_mean() -> None:
    samples = drawn(0.001, 0.001)
    np.testing.assert_allclose(samples.std(axis=0)[:, :3], 5.0, rtol=0.04)
    np.testing.assert_allclose(samples.std(axis=0)[:, 3:], 0.5, rtol=0.04)
    np.testing.assert_allclose(samples.mean(axis=0)[:, :3], 0.0, atol=0.3)


def test_soles_are_disturbed_independently_and_one_draw_says_nothing_of_the_next() -> None:
    samples = drawn(0.001, 0.001)[:, :, 2]
    assert abs(np.corrcoef(samples.T)[0, 1]) < 0.05
    assert abs(np.corrcoef(samples[:-1, 0], samples[1:, 0])[0, 1]) < 0.05


def test_a_draw_is_held_for_its_interval() -> None:
    samples = drawn(0.002, 0.0005, steps=12)
    held = samples.reshape(3, 4, 2, 6)
    np.testing.assert_array_equal(held, np.repeat(held[:, :1], 4, axis=1))
    assert np.abs(held[0, 0] - held[1, 0]).min() > 0.0


def test_of_draws_within_a_step_the_step_sees_the_mean() -> None:
    samples = drawn(1e-5, 0.001)
    np.testing.assert_allclose(samples.std(axis=0)[:, :3], 0.5, rtol=0.04)


def test_noise_of_no_deviation_is_exactly_none() -> None:
    noise = WrenchNoise(WrenchNoiseConfig(0.0, 0.0, 0.001, NoiseTarget.ROBOT), 2, 0.001, seed=0)
    np.testing.assert_array_equal(noise.at(0), np.zeros((2, 6)))


@pytest.mark.parametrize("interval", [1e-5, 0.001])
def test_the_power_of_the_noise_does_not_depend_on_the_physics_step(interval: float) -> None:
    powers = [(drawn(interval, step, steps=8000, soles=1)[:, 0, 0].std() ** 2) * step for step in (0.0005, 0.001)]
    if interval == 0.001:
        powers[0] *= 2.0  # held for two steps
    assert powers[0] == pytest.approx(powers[1], rel=0.08)
