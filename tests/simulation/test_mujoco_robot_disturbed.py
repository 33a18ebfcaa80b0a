"""The simulated robot pushed, turned, on a slope, with other masses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradiva.common import ConfigError, ModelError, so3
from gradiva.robot_model import RobotDescription
from gradiva.setup import data_folder, load_robot, load_setup, read_toml
from gradiva.simulation import MujocoRobot, Push

from .conftest import MakeRobot
from .standing import configured, positions, standing_posture

TICK = 0.01  # [s]
GRAVITY = 9.81


def test_a_free_robot_falls_with_gravity(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5))
    start = robot.truth().com_position
    robot.advance(0.2)
    truth = robot.truth()
    np.testing.assert_allclose(truth.com_velocity, [0.0, 0.0, -0.2 * GRAVITY], atol=1e-3)
    np.testing.assert_allclose(truth.com_position - start, [0.0, 0.0, -0.5 * GRAVITY * 0.04], atol=2e-3)
    np.testing.assert_array_equal(robot.read().contact_wrenches, np.zeros((2, 6)))


def test_a_push_gives_the_robot_its_impulse(make_icub: MakeRobot, icub: RobotDescription) -> None:
    push = {"link": "chest", "force": [20.0, -40.0, 10.0], "start": 0.05, "duration": 0.1}
    robot = make_icub(shift=(0, 0, 5), pushes=[push], ground={"gravity": 0.0})
    robot.advance(0.05)
    assert np.abs(robot.truth().com_velocity).max() < 1e-3
    impulse = np.zeros(6)
    for _ in range(200):
        impulse += 1e-3 * robot.external_wrench(robot.truth().com_position)
        robot.advance(1e-3)
    truth = robot.truth()
    momentum = icub.mass * truth.com_velocity
    np.testing.assert_allclose(momentum, [2.0, -4.0, 1.0], atol=0.002)
    np.testing.assert_allclose(impulse, [*momentum, *truth.angular_momentum], atol=0.002)
    assert np.linalg.norm(impulse[3:]) > 0.1


def test_pushes_to_the_left_and_right_move_the_robot_there_alike() -> None:
    talos = load_robot("talos")
    speeds = []
    for link, force in (("torso", 60.0), ("torso_2_link", 60.0), ("torso_2_link", -60.0)):
        robot = MujocoRobot(talos, configured(), standing_posture(talos))
        robot.push(Push(link, (0.0, force, 0.0), start=0.2, duration=0.1))
        robot.advance(0.3)
        speeds.append(robot.truth().com_velocity[1])
    assert speeds[0] == speeds[1] > 0.02  # the torso of each robot is its torso frame
    assert speeds[2] == pytest.approx(-speeds[0], rel=0.05)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"force": (math.nan, 0.0, 0.0)},
            r"push on 'torso': force=\(nan, 0.0, 0.0\): expected x, y, z of at most 10000 N",
        ),
        ({"force": (1e9, 0.0, 0.0)}, "of at most 10000 N"),
        ({"force": (10.0, 0.0)}, r"force=\(10.0, 0.0\): expected x, y, z"),
        ({"force": 10.0}, "force=10.0: expected x, y, z"),
        ({"torque": (0.0, 0.0, math.inf)}, "of at most 10000 N·m"),
        ({"start": -1.0}, "start=-1.0 must be 0 s or later"),
        ({"start": math.nan}, "start=nan must be 0 s or later"),
    ],
)
def test_a_push_that_cannot_be_is_refused(wrong: dict[str, Any], message: str) -> None:
    right: dict[str, Any] = {"link": "torso", "force": (1.0, 0.0, 0.0), "start": 1.0, "duration": 0.1}
    with pytest.raises(ConfigError, match=message):
        Push(**(right | wrong))


def test_a_push_that_is_over_is_refused(make_icub: MakeRobot) -> None:
    robot = make_icub()
    robot.advance(0.2)
    with pytest.raises(ConfigError, match=r"to the left on chest from 0.10 to 0.20 s comes too late: .* at 0.20 s"):
        robot.push(Push("chest", (0.0, 5.0, 0.0), start=0.1, duration=0.1))
    assert robot.pushes == ()


def test_a_torque_turns_the_robot(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), ground={"gravity": 0.0})
    robot.push(Push("root_link", (0.0, 0.0, 0.0), start=0.0, duration=0.1, torque=(0.0, 0.0, -2.0)))
    robot.advance(0.1)
    truth = robot.truth()
    assert truth.base_twist[5] < -0.1
    assert np.abs(truth.com_velocity).max() < 1e-3


def test_every_robot_stands_with_noise_and_delay(description: RobotDescription) -> None:
    noise = read_toml(data_folder("config") / "plant_noisy.toml")["simulation"]
    robot = MujocoRobot(description, configured(**noise), standing_posture(description), seed=1)
    target = positions(robot.truth().joint_positions)
    for _ in range(100):
        robot.read()
        robot.write(target)
        robot.advance(TICK)
    assert robot.fall is None


def test_a_push_beyond_balance_is_reported_as_a_fall(make_icub: MakeRobot) -> None:
    push = {"link": "chest", "force": [0.0, 300.0, 0.0], "start": 0.1, "duration": 0.2}
    robot = make_icub(pushes=[push])
    robot.advance(2.5)
    assert robot.fall is not None
    assert "base tilt" in robot.fall.reason
    assert 0.3 < robot.fall.time < 2.0


def test_a_push_on_an_unknown_link_is_refused(make_icub: MakeRobot) -> None:
    push = {"link": "chets", "force": [0.0, 1.0, 0.0], "start": 0.0, "duration": 0.1}
    with pytest.raises(ModelError, match=r"no link or frame 'chets'; did you mean 'chest'.*; 'torso' is its chest"):
        make_icub(pushes=[push])


def test_the_plants_mass_scales(make_icub: MakeRobot, icub: RobotDescription) -> None:
    robot = make_icub(plant={"mass_scale": 1.1})
    robot.advance(1.0)
    robot.read()
    robot.advance(0.1)
    load = robot.read().contact_wrenches[:, 2].sum()
    assert load == pytest.approx(1.1 * icub.mass * GRAVITY, rel=3e-3)


def test_on_a_slope_the_imu_leans_and_the_ground_pulls_downhill(make_icub: MakeRobot) -> None:
    slope = np.radians(2.0)
    robot = make_icub(ground={"slope_forward": slope})
    level = make_icub()
    imu, reference = robot.read().imu, level.read().imu
    assert imu is not None
    assert reference is not None
    lean = so3.log(imu.rotation @ reference.rotation.T)
    np.testing.assert_allclose(lean, [0.0, -slope, 0.0], atol=1e-9)
    robot.advance(1.0)
    truth = robot.truth()
    total = truth.left_foot_wrench + truth.right_foot_wrench
    assert total[0] / total[2] == pytest.approx(np.tan(slope), rel=0.05)


def test_the_values_that_a_seed_draws_are_named_with_their_place_in_the_range() -> None:
    setup = load_setup("icub_v2_7", plant="robot")
    ideal, icub = load_setup("icub_v2_7").simulation, setup.robot
    assert MujocoRobot(icub, ideal, standing_posture(icub), seed=3).drawn_values() == []
    robot = MujocoRobot(icub, setup.simulation, standing_posture(icub), seed=3)
    drawn = {each.effect: each for each in robot.drawn_values()}
    config, friction = setup.simulation.friction, drawn["friction factor"]
    factors = dict(zip(friction.labels, friction.values, strict=True))
    np.testing.assert_array_equal([factors[joint] for joint in icub.joints], config.factors(len(icub.joints), 3))
    np.testing.assert_allclose(friction.values, config.spread**friction.fractions, rtol=1e-12)
    for each in drawn.values():
        assert len(each.labels) == len(each.values) == len(each.fractions) > 0
        assert np.abs(each.fractions).max() <= 1.0
    masses, reach = drawn["change of link mass"], setup.simulation.model_errors.link_mass
    np.testing.assert_allclose(masses.values, reach * masses.fractions, rtol=1e-12)
    assert {"wrench offset", "encoder offset", "sole tilt", "change of floor friction"} <= drawn.keys()
