"""Rigid bodies of a model, and rotations as the engine has them."""

from __future__ import annotations

import math
from pathlib import Path

import idyntree.bindings as idyn
import mujoco
import numpy as np
import pytest

from gradiva.common import ModelError, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation import load_tree, read_urdf, weld
from gradiva.simulation.rigid_tree import add_bodies, quaternion

GRAVITY = np.array([0.0, 0.0, -9.81])
PENDULUM = """<robot name="pendulum">
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="rod"><inertial><origin xyz="0 0 -1"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/>
  </inertial></link>
  <link name="bob"><inertial><mass value="1"/><inertia ixx="0.2" iyy="0.3" izz="0.4"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 2 0"/>
    <limit lower="-1" upper="2" effort="7" velocity="3"/></joint>
  <joint name="weld" type="fixed"><parent link="rod"/><child link="bob"/>
    <origin xyz="0 0 -3" rpy="1.5707963267948966 0 0"/></joint>
</robot>"""


@pytest.fixture
def pendulum(tmp_path: Path) -> Path:
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    return path


def test_what_was_read_is_shared_and_cannot_be_changed(pendulum: Path) -> None:
    urdf = read_urdf(pendulum)
    assert read_urdf(pendulum) is urdf
    rod = urdf.links["rod"].inertial
    for array in (urdf.joints["hinge"].axis, urdf.joints["hinge"].pose, rod.centre, rod.inertia):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(TypeError):
        del urdf.links["rod"]


def test_fixed_links_become_one_body_by_the_parallel_axis_theorem(pendulum: Path) -> None:
    rod = weld(read_urdf(pendulum), "base", ["hinge"]).bodies[1].inertial
    assert rod.mass == pytest.approx(2.0)
    np.testing.assert_allclose(rod.centre, [0.0, 0.0, -2.0], atol=1e-15)
    # the bob's y and z axes change places; both masses are 1 m away from the common centre
    np.testing.assert_allclose(rod.inertia, np.diag([0.1 + 0.2 + 2.0, 0.1 + 0.4 + 2.0, 0.1 + 0.3]), atol=1e-15)


def test_joint_axis_limits_and_effort_come_from_the_file(pendulum: Path) -> None:
    joint = read_urdf(pendulum).joints["hinge"]
    np.testing.assert_allclose(joint.axis, [0.0, 1.0, 0.0])
    assert joint.limits == (-1.0, 2.0)
    assert joint.effort == 7.0


def test_a_joint_that_is_not_driven_is_welded(pendulum: Path) -> None:
    tree = weld(read_urdf(pendulum), "base", [])
    assert [body.name for body in tree.bodies] == ["base"]
    assert tree.mass == pytest.approx(4.0)


def test_unknown_joints_frames_and_bases_are_named(pendulum: Path) -> None:
    urdf = read_urdf(pendulum)
    with pytest.raises(ModelError, match="no joint 'hing'; did you mean 'hinge'"):
        weld(urdf, "base", ["hing"])
    with pytest.raises(ModelError, match="'weld' is fixed"):
        weld(urdf, "base", ["weld"])
    with pytest.raises(ModelError, match="base link 'rod' is not the root"):
        weld(urdf, "rod", ["hinge"])
    with pytest.raises(ModelError, match="no link or frame 'bobb'; did you mean 'bob'"):
        weld(urdf, "base", ["hinge"]).body_of("bobb")


def test_a_number_that_is_none_is_refused_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "odd.urdf").write_text(PENDULUM.replace('lower="-1"', 'lower="minus one"'))
    with pytest.raises(ModelError, match=r"odd\.urdf is no valid URDF: .*'minus one'"):
        read_urdf(tmp_path / "odd.urdf")


def test_a_root_that_is_a_mere_name_is_the_link_that_it_is_fixed_to(tmp_path: Path) -> None:
    joint = '<joint name="named" type="fixed"><parent link="world"/><child link="base"/></joint>'
    name = f'<link name="world"/>{joint}</robot>'
    (tmp_path / "named.urdf").write_text(PENDULUM.replace("</robot>", name))
    urdf = read_urdf(tmp_path / "named.urdf")
    assert urdf.roots == ["base"]
    assert weld(urdf, "base", ["hinge"]).mass == pytest.approx(4.0)


def test_a_file_that_is_no_urdf_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        read_urdf(tmp_path / "absent.urdf")
    (tmp_path / "broken.urdf").write_text("<robot>")
    with pytest.raises(ModelError, match="is not XML"):
        read_urdf(tmp_path / "broken.urdf")


def test_the_mass_is_the_models(description: RobotDescription) -> None:
    assert load_tree(description).mass == pytest.approx(read_urdf(description.model_path).mass, rel=1e-12)
    assert load_tree(description).mass == pytest.approx(description.mass, rel=5e-3)


def test_centre_of_mass_and_free_accelerations_equal_idyntrees(description: RobotDescription) -> None:
    spec = mujoco.MjSpec()
    add_bodies(spec, load_tree(description))
    spec.option.gravity = GRAVITY
    model = spec.compile()
    data = mujoco.MjData(model)
    degrees = [int(model.joint(name).dofadr[0]) for name in description.joints]
    loader = idyn.ModelLoader()
    loader.loadReducedModelFromFile(description.model_file, description.joints, "urdf")
    oracle = idyn.KinDynComputations()
    oracle.loadRobotModel(loader.model())
    oracle.setFloatingBase(description.base_link)
    random = np.random.default_rng(7)
    n = len(description.joints)
    for _ in range(5):
        rotation = so3.exp(random.normal(size=3))
        positions, velocities = random.normal(size=n), random.normal(size=n)
        twist = random.normal(size=6)
        data.qpos[:3], data.qpos[3:7] = [1.0, -2.0, 3.0], quaternion(rotation)
        data.qvel[:3], data.qvel[3:6] = twist[:3], rotation.T @ twist[3:]
        for joint, degree, position, velocity in zip(description.joints, degrees, positions, velocities, strict=True):
            data.qpos[model.joint(joint).qposadr] = position
            data.qvel[degree] = velocity
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        mujoco.mj_forward(model, data)
        acceleration = _acceleration(oracle, rotation, positions, twist, velocities)
        expected_com = oracle.getCenterOfMassPosition().toNumPy()
        np.testing.assert_allclose(data.subtree_com[1], expected_com, atol=1e-9)
        np.testing.assert_allclose(data.qacc[:3], acceleration[:3], atol=1e-7)
        np.testing.assert_allclose(data.qacc[3:6], rotation.T @ acceleration[3:6], atol=1e-7)
        np.testing.assert_allclose(data.qacc[degrees], acceleration[6:], rtol=1e-9, atol=1e-6)


def _acceleration(
    oracle: idyn.KinDynComputations,
    rotation: np.ndarray,
    positions: np.ndarray,
    twist: np.ndarray,
    velocities: np.ndarray,
) -> np.ndarray:
    """M⁻¹ (−h) of a robot in free flight, by iDynTree."""
    oracle.setFrameVelocityRepresentation(idyn.MIXED_REPRESENTATION)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, [1.0, -2.0, 3.0]
    assert oracle.setRobotState(pose, positions, twist, velocities, GRAVITY)
    mass_matrix = idyn.MatrixDynSize(len(velocities) + 6, len(velocities) + 6)
    assert oracle.getFreeFloatingMassMatrix(mass_matrix)
    bias = idyn.FreeFloatingGeneralizedTorques(oracle.model())
    assert oracle.generalizedBiasForces(bias)
    forces = np.concatenate([bias.baseWrench().toNumPy(), bias.jointTorques().toNumPy()])
    return np.linalg.solve(mass_matrix.toNumPy(), -forces)


def test_a_rotation_becomes_the_quaternion_of_its_axis_and_half_its_angle():
    rng = np.random.default_rng(5)
    for vector in rng.uniform(-1.5, 1.5, (20, 3)):
        half = 0.5 * np.linalg.norm(vector)
        expected = [math.cos(half), *(0.5 * math.sin(half) / half * vector)]
        found = quaternion(so3.exp(vector))
        np.testing.assert_allclose(math.copysign(1.0, found[0]) * found, expected, atol=1e-12)  # −q turns alike


def test_a_quarter_turn_about_the_vertical():
    half = math.sqrt(0.5)
    np.testing.assert_allclose(quaternion(so3.rotation_z(0.5 * math.pi)), [half, 0.0, 0.0, half], atol=1e-15)
