from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from gradiva.common import ConfigError, ModelError, Side, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation import (
    Bump,
    GroundConfig,
    GroundKind,
    GroundSite,
    RigidConfig,
    RigidGround,
    build_plant,
    load_tree,
    sole_boxes,
)
from gradiva.simulation.rigid_tree import quaternion

from .standing import configured, standing_posture

FLAT = GroundConfig(GroundKind.RIGID, 1.0, 2.0, 9.81, slope_forward=0.0, slope_left=0.0)


def test_the_boxes_of_a_foot_tile_the_sole_rectangle(description: RobotDescription) -> None:
    tree = load_tree(description)
    boxes = sole_boxes(description, tree)
    for side in Side:
        body = tree.body_of(description.foot_frame(side))
        sole = np.linalg.inv(body.frames[description.foot_frame(side)])
        corners, area = [], 0.0
        for row in description.sensors_of(side):
            box = boxes[row]
            area += 4.0 * box.half_size[0] * box.half_size[1]
            for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                corner = box.centre + box.rotation @ (box.half_size * np.array([x, y, -1.0]))
                corners.append((sole @ box.pose @ np.append(corner, 1.0))[:3])
        expected = description.sole.corners(side)
        found = np.array(corners)
        np.testing.assert_allclose(found[:, 2], description.sole.z, atol=1e-12)
        np.testing.assert_allclose(found[:, :2].min(axis=0), expected.min(axis=0), atol=1e-12)
        np.testing.assert_allclose(found[:, :2].max(axis=0), expected.max(axis=0), atol=1e-12)
        assert area == pytest.approx(np.prod(np.ptp(expected, axis=0)), rel=1e-12)


def test_a_bump_stands_on_the_floor_and_meets_soles(description: RobotDescription) -> None:
    floor = replace(FLAT, bumps=(Bump(0.3, 0.1, 0.01),))
    ground = RigidGround(RigidConfig(), GroundSite(floor, description.sole.z))
    model = build_plant(description, load_tree(description), configured(), ground)
    bump, plane = model.geom("bump 0"), model.geom("floor")
    assert bump.pos[2] + bump.size[2] - plane.pos[2] == pytest.approx(0.01)
    assert (bump.conaffinity, bump.contype) == (plane.conaffinity, 0)
    with pytest.raises(ConfigError, match="bumps are those of a rigid floor"):
        replace(floor, kind=GroundKind.VISCOELASTIC)
    with pytest.raises(ConfigError, match="must be positive"):
        Bump(0.3, 0.1, 0.0)
    with pytest.raises(ConfigError, match=r"height=5\.0, at most 0\.1 m: only the soles meet a bump"):
        Bump(0.3, 0.1, 5.0)


def test_a_model_that_the_engine_refuses_is_named(description: RobotDescription) -> None:
    dust = configured(plant={"mass_scale": 1e-20})
    ground = RigidGround(RigidConfig(), GroundSite(FLAT, description.sole.z))
    with pytest.raises(ModelError, match=f"{description.name}: MuJoCo refuses the model: .*Element name"):
        build_plant(description, load_tree(description), dust, ground)


def test_sensors_read_exactly_the_forces_at_the_contacts(description: RobotDescription) -> None:
    tree = load_tree(description)
    ground = RigidGround(RigidConfig(), GroundSite(FLAT, description.sole.z))
    model = build_plant(description, tree, configured(), ground)
    data = mujoco.MjData(model)
    posture = standing_posture(description)
    data.qpos[:3], data.qpos[3:7] = posture.base_position, quaternion(posture.base_rotation)
    for joint, angle in zip(description.joints, posture.joint_positions, strict=True):
        data.qpos[model.joint(joint).qposadr] = angle
    mujoco.mj_step(model, data, 30)
    mujoco.mj_forward(model, data)
    wrenches = ground.wrenches(data)
    assert data.ncon > 0
    for row, sensor in enumerate(description.force_torque_sensors):
        site = data.site(f"sensor:{sensor.name}")
        expected = _contact_wrench(model, data, f"sole:{sensor.name}", site.xpos)
        rotation = site.xmat.reshape(3, 3)
        np.testing.assert_allclose(rotation @ wrenches[row, :3], expected[:3], atol=1e-8)
        np.testing.assert_allclose(rotation @ wrenches[row, 3:], expected[3:], atol=1e-8)


def _contact_wrench(model: mujoco.MjModel, data: mujoco.MjData, body: str, origin: np.ndarray) -> np.ndarray:
    """Sum of the contact forces on a body, world axes, about ``origin``."""
    total, local = np.zeros(6), np.zeros(6)
    for index in range(data.ncon):
        contact = data.contact[index]
        bodies = [model.geom_bodyid[contact.geom1], model.geom_bodyid[contact.geom2]]
        if model.body(body).id in bodies:
            mujoco.mj_contactForce(model, data, index, local)
            sign = 1.0 if bodies[1] == model.body(body).id else -1.0
            force = sign * contact.frame.reshape(3, 3).T @ local[:3]
            total += np.concatenate([force, so3.cross(contact.pos - origin, force)])
    return total
