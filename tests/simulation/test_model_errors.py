"""Errors of links, soles and floor: drawn within their ranges, from the seed, each by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from gradiva.common import ConfigError, Side
from gradiva.robot_model import RobotDescription, is_physical
from gradiva.simulation import MujocoRobot, RigidConfig, RigidGround, build_plant, load_tree, sole_boxes
from gradiva.simulation.ground import GroundSite
from gradiva.simulation.model_errors import ModelErrors
from gradiva.simulation.rigid_tree import RigidTree, quaternion

from ..whole_body.standing_robot import start_posture
from .conftest import MakeRobot
from .standing import configured, standing_posture

ALL = {
    "link_mass": 0.03,
    "trunk_com": 0.01,
    "link_inertia": 0.15,
    "sole_tilt": 0.00524,
    "sole_offset": 0.002,
    "floor_friction": 0.15,
    "floor_slope": 0.00873,
    "floor_contact_time": 0.006,
}
LINKS = ("link_mass", "trunk_com", "link_inertia")


def errors(seed: int = 3, **ranges: float) -> ModelErrors:
    return ModelErrors(configured(model_errors=ranges).model_errors, seed)


def second_moments(tree: RigidTree) -> np.ndarray:
    inertias = np.array([body.inertial.inertia for body in tree.bodies])
    return 0.5 * np.trace(inertias, axis1=1, axis2=2)[:, None, None] * np.eye(3) - inertias


def masses(tree: RigidTree) -> np.ndarray:
    return np.array([body.inertial.mass for body in tree.bodies])


def centres(tree: RigidTree) -> np.ndarray:
    return np.array([body.inertial.centre for body in tree.bodies])


def test_without_ranges_tree_soles_and_floor_stay_as_they_are(icub: RobotDescription) -> None:
    tree, floor = load_tree(icub), configured().ground
    soles = sole_boxes(icub, tree)
    assert errors().of_links(tree, icub.torso_frame) is tree
    assert all(same is sole for same, sole in zip(errors().of_soles(soles), soles, strict=True))
    assert errors().of_floor(floor, 0.001) == floor


def test_masses_are_drawn_within_their_range_about_the_models(description: RobotDescription) -> None:
    exact = load_tree(description)
    drawn = [errors(seed, **ALL).of_links(exact, description.torso_frame) for seed in range(40)]
    factors = np.array([masses(tree) / masses(exact) for tree in drawn])
    assert 0.97 <= factors.min() < 0.971
    assert 1.029 < factors.max() <= 1.03
    assert np.mean([tree.mass for tree in drawn]) == pytest.approx(exact.mass, rel=0.005)


def test_second_moments_are_scaled_along_the_principal_axes_and_every_inertia_stays_physical(
    description: RobotDescription,
) -> None:
    exact = load_tree(description)
    tree = errors(link_inertia=0.15).of_links(exact, description.torso_frame)
    np.testing.assert_allclose(masses(tree), masses(exact), rtol=1e-12)
    np.testing.assert_allclose(centres(tree), centres(exact), atol=1e-12)
    for before, after, body in zip(second_moments(exact), second_moments(tree), tree.bodies, strict=True):
        axes = np.linalg.eigh(before)[1]
        ratios = np.diag(axes.T @ after @ axes) / np.maximum(np.diag(axes.T @ before @ axes), 1e-9)
        assert (ratios > 0.85 - 1e-6).all()
        assert (ratios < 1.15 + 1e-6).all()
        assert is_physical(body.inertial.inertia)


def test_the_trunk_is_shifted_up_to_the_range_and_small_links_less(description: RobotDescription) -> None:
    exact = load_tree(description)
    trunk = exact.bodies.index(exact.body_of(description.torso_frame))
    foot = exact.bodies.index(exact.body_of(description.foot_frame(Side.LEFT)))
    drawn = [errors(seed, trunk_com=0.01).of_links(exact, description.torso_frame) for seed in range(40)]
    shifts = np.abs([centres(tree) - centres(exact) for tree in drawn])
    assert 0.0095 < shifts[:, trunk].max() <= 0.01
    spread = [np.sqrt(np.trace(body.inertial.inertia) / body.inertial.mass) for body in exact.bodies]
    assert shifts[:, foot].max() == pytest.approx(0.01 * spread[foot] / spread[trunk], rel=0.1)


def test_the_drawn_shift_of_each_centre_of_mass_is_its_own(description: RobotDescription) -> None:
    exact, drawer = load_tree(description), errors(trunk_com=0.01)
    shifts = centres(drawer.of_links(exact, description.torso_frame)) - centres(exact)
    drawn_values = drawer.drawn([body.name for body in exact.bodies], ())
    drawn = {each.effect: each for each in drawn_values}["shift of centre of mass"]
    assert drawn.labels[:3] == [f"{exact.bodies[0].name} {axis}" for axis in "xyz"]
    np.testing.assert_allclose(drawn.values, shifts.ravel(), atol=1e-12)
    assert 0.9 < np.abs(drawn.fractions).max() <= 1.0


def test_links_of_a_body_are_moved_together(icub: RobotDescription) -> None:
    exact = load_tree(icub)
    tree = errors(link_mass=0.03, trunk_com=0.01).of_links(exact, icub.torso_frame)
    before, after = exact.body_of(icub.torso_frame), tree.body_of(icub.torso_frame)
    shift = after.inertial.centre - before.inertial.centre
    factor = after.inertial.mass / before.inertial.mass
    assert len(before.inertials) > 1
    for name, own in before.inertials.items():
        np.testing.assert_allclose(after.inertials[name].centre, own.centre + shift, atol=1e-12)
        assert after.inertials[name].mass == pytest.approx(factor * own.mass, rel=1e-12)


@pytest.mark.parametrize("name", LINKS)
def test_each_range_alone_draws_what_it_draws_among_all(icub: RobotDescription, name: str) -> None:
    exact = load_tree(icub)
    alone = errors(**{name: ALL[name]}).of_links(exact, icub.torso_frame)
    together = errors(**ALL).of_links(exact, icub.torso_frame)
    if name == "link_mass":
        np.testing.assert_allclose(masses(alone), masses(together), rtol=1e-12)
    elif name == "trunk_com":
        np.testing.assert_allclose(centres(alone), centres(together), atol=1e-12)
    else:
        factors = (masses(together) / masses(exact))[:, None, None]
        np.testing.assert_allclose(factors * second_moments(alone), second_moments(together), atol=1e-12)


def test_one_seed_is_one_robot_and_another_is_another(icub: RobotDescription) -> None:
    exact = load_tree(icub)
    first, same, other = (errors(seed, **ALL).of_links(exact, icub.torso_frame) for seed in (3, 3, 4))
    np.testing.assert_array_equal(masses(first), masses(same))
    np.testing.assert_array_equal(centres(first), centres(same))
    assert np.abs(masses(first) - masses(other)).max() > 0.01


def test_soles_are_shifted_and_tilted_within_their_ranges_about_their_own_faces(description: RobotDescription) -> None:
    exact = sole_boxes(description, load_tree(description))
    shifts, tilts = [], []
    for seed in range(40):
        for before, after in zip(exact, errors(seed, **ALL).of_soles(exact), strict=True):
            shifts.append(before.rotation.T @ (after.face - before.face))
            turn = before.rotation.T @ after.rotation
            tilts.append([turn[2, 1], turn[0, 2]])
            np.testing.assert_array_equal(after.pose, before.pose)
    assert 0.0019 < np.abs(shifts).max() <= 0.002 + 1e-12
    assert 0.0050 < np.abs(tilts).max() <= 0.00524


def test_a_tilted_sole_touches_the_floor_at_its_edge(icub: RobotDescription) -> None:
    tree, config = load_tree(icub), configured()
    turned = errors(sole_tilt=0.00524).of_soles(sole_boxes(icub, tree))
    ground = RigidGround(RigidConfig(), GroundSite(config.ground, icub.sole.z))
    model = build_plant(icub, tree, config, ground, turned)
    data, posture = mujoco.MjData(model), standing_posture(icub)
    data.qpos[:3], data.qpos[3:7] = posture.base_position, quaternion(posture.base_rotation)
    for joint, angle in zip(icub.joints, posture.joint_positions, strict=True):
        data.qpos[model.joint(joint).qposadr] = angle
    mujoco.mj_kinematics(model, data)
    corners = []
    for sole in turned:
        body = data.body(f"sole:{sole.sensor}")
        corners.append(body.xpos + sole.face_corners @ body.xmat.reshape(3, 3).T)
    lowest = np.vstack(corners)[np.argmin(np.vstack(corners)[:, 2])]
    data.qpos[2] += icub.sole.z - lowest[2] - 1e-5
    mujoco.mj_forward(model, data)
    assert data.ncon == 1
    np.testing.assert_allclose(data.contact[0].pos[:2], lowest[:2], atol=1e-6)


def test_friction_slopes_and_contact_time_are_drawn_within_their_ranges() -> None:
    floor = configured(ground={"friction": 0.65}).ground
    drawn = [errors(seed, **ALL).of_floor(floor, 0.001) for seed in range(60)]
    assert 0.5 <= min(one.friction for one in drawn) < 0.52
    assert 0.78 < max(one.friction for one in drawn) <= 0.8
    slopes = np.array([(one.slope_forward, one.slope_left) for one in drawn])
    assert 0.0085 < np.abs(slopes).max() <= 0.00873
    times = [one.contact_time for one in drawn]
    assert 2.0 <= min(times) < 2.3
    assert 7.7 < max(times) <= 8.0
    assert drawn[7] == errors(7, **ALL).of_floor(floor, 0.001)
    only_friction = errors(7, floor_friction=0.15).of_floor(floor, 0.001)
    assert only_friction == replace(floor, friction=drawn[7].friction)


@pytest.mark.parametrize(("contact_time", "stiffness"), [(2.0, 2.63e9), (4.0, 6.57e8), (8.0, 1.66e8)])
def test_the_floor_yields_under_the_weight_with_the_square_of_the_contact_time(
    icub: RobotDescription, contact_time: float, stiffness: float
) -> None:
    robot = MujocoRobot(icub, configured(ground={"contact_time": contact_time}), start_posture())  # its soles are level
    robot.advance(0.2)
    state, sole = robot.truth(), icub.sole
    weight = state.left_foot_wrench[2] + state.right_foot_wrench[2]
    area = 2.0 * np.ptp(sole.x) * np.ptp(sole.y)
    depth = -np.mean([_middle_height(state, side, icub) for side in Side]) + sole.z
    assert weight / (area * depth) == pytest.approx(stiffness, rel=0.05)


def _middle_height(state: Any, side: Side, robot: RobotDescription) -> float:
    position, rotation = state.foot_position(side), state.foot_rotation(side)
    return float((position + rotation @ robot.sole.middle(side))[2])


def test_a_robot_with_all_errors_stands_with_the_weight_of_its_drawn_links(
    make_icub: MakeRobot, icub: RobotDescription
) -> None:
    for seed in (1, 2, 3):
        robot = make_icub(seed, model_errors=ALL, ground={"friction": 0.65})
        robot.advance(1.0)
        state = robot.truth()
        drawn = errors(seed, **ALL)
        slope = drawn.of_floor(configured().ground, 0.001).steepness
        weight = 9.81 * drawn.of_links(load_tree(icub), icub.torso_frame).mass * np.cos(slope)
        tilt = np.arccos(state.base_rotation[2, 2])
        assert robot.fall is None
        assert state.left_foot_wrench[2] + state.right_foot_wrench[2] == pytest.approx(weight, rel=0.01)
        assert np.degrees(tilt) < 8.0  # the posture's 5.5°, and 4 mm from sole to sole


def test_ranges_that_no_body_can_have_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"link_mass=-0\.1"):
        errors(link_mass=-0.1)
    with pytest.raises(ConfigError, match=r"link_inertia=1\.0.*masses could vanish"):
        errors(link_inertia=1.0)
