from __future__ import annotations

from pathlib import Path

import imageio.v2 as imageio
import mujoco
import numpy as np
import pytest

from gradiva.common import ConfigError, ModelError, RobotPosture, Side, so3
from gradiva.robot_model import RobotDescription, deflection_note
from gradiva.setup import load_robot, load_setup
from gradiva.simulation import find_mesh, floor_rotation, read_stl
from gradiva.simulation.film import Camera, FilmedMotion, FilmedSole, FilmFormat, _Studio, film, snapshot
from gradiva.simulation.plant import load_tree
from gradiva.simulation.scene import Mesh, build_scene, thin_out
from tests.conftest import long

from .standing import moved, standing_posture

FORM = FilmFormat(width=160, height=128, rate=10.0)


def draw(description: RobotDescription, posture: RobotPosture, path: Path) -> np.ndarray:
    snapshot(description, posture, path, FORM)
    return imageio.imread(path).astype(float)


def test_every_robot_is_drawn_whole(description: RobotDescription, tmp_path: Path) -> None:
    picture = draw(description, standing_posture(description), tmp_path / "robot.png")
    assert picture.shape == (128, 160, 3)
    sky = np.abs(picture[:5] - picture[:5].mean(axis=(0, 1))).max()
    assert sky < 10.0  # the head is below the upper edge
    middle, side = picture[30:110, 65:95], picture[30:110, :15]
    assert middle.std() > 1.2 * side.std()  # the robot stands out from the floor


def test_a_robot_whose_links_bend_is_drawn_bent(tmp_path: Path) -> None:
    robot = load_setup("talos", {"simulation.flexibility.stiffness": 1e3}).simulated_robot
    standing = standing_posture(robot)
    bent = standing.joint_positions.copy()
    bent[robot.joints.index("leg_left_1_joint_roll")] = 0.4
    pictures = [
        draw(robot, RobotPosture(standing.base_position, standing.base_rotation, joints), tmp_path / "robot.png")
        for joints in (standing.joint_positions, bent)
    ]
    change = np.abs(pictures[0] - pictures[1]).max(axis=2)
    assert change[70:].max() > 50.0
    assert change[:40].max() < 10.0  # the trunk stays


def test_discs_on_either_side_of_a_hip_coincide_while_it_is_straight_and_part_by_its_deflection() -> None:
    robot = load_setup("talos", {"simulation.flexibility.stiffness": 1e3}).simulated_robot
    model = build_scene(robot, 64, 64)
    data = mujoco.MjData(model)
    discs = [geom for geom in range(model.ngeom) if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CYLINDER]
    data.joint("leg_left_1_joint_roll").qpos[0] = 0.1
    mujoco.mj_kinematics(model, data)
    normals = data.geom_xmat[discs].reshape(-1, 3, 3)[:, :, 2]
    angles = sorted(np.arccos(np.clip(normals @ normals[0], -1.0, 1.0)))
    assert angles[-4:] == pytest.approx([0.0, 0.0, 0.0, 0.1], abs=1e-6)
    bent = np.where(np.array(robot.joints) == "leg_left_1_joint_roll", -0.1, 0.0)
    assert deflection_note(robot.flexible_joints, robot.joints, bent) == ", links bent by 5.7 deg"
    assert deflection_note((), robot.joints, bent) == ""


def test_the_floor_is_chequered_with_quarter_metre_tiles(tmp_path: Path) -> None:
    robot = load_robot("icub_v3")
    posture = standing_posture(robot)
    here = draw(robot, posture, tmp_path / "here.png")
    two_tiles_on = draw(robot, moved(posture, np.array([0.5, 0.0, 0.0])), tmp_path / "there.png")
    one_tile_on = draw(robot, moved(posture, np.array([0.25, 0.0, 0.0])), tmp_path / "between.png")
    assert np.abs(here - two_tiles_on).mean() < 1.0
    assert np.abs(here - one_tile_on)[80:].mean() > 3.0


def test_the_film_has_a_frame_for_each_instant_and_shows_the_motion(icub: RobotDescription, tmp_path: Path) -> None:
    posture = standing_posture(icub)
    times = np.linspace(2.0, 3.0, 11)
    positions = posture.base_position + np.outer(times - 2.0, [0.0, 0.3, 0.0])
    rotations = [so3.rotation_z(0.5 * (time - 2.0)) @ posture.base_rotation for time in times]
    joints = np.tile(posture.joint_positions, (11, 1))
    path, counts = tmp_path / "walk.mp4", []
    motion = FilmedMotion(times, positions, rotations, joints)
    film(icub, motion, path, FORM, lambda *count: counts.append(count))
    frames = [frame.astype(float) for frame in imageio.get_reader(path)]
    assert len(frames) == 11
    assert frames[0].shape == (128, 160, 3)
    assert np.abs(frames[0] - frames[-1]).mean() > 3.0
    assert counts == [(done, 11) for done in range(1, 12)]
    assert min(frame[-20:, :40].max() for frame in frames) > 240.0  # the clock, white on the floor


@pytest.mark.parametrize("camera", [Camera.SIDE, Camera.FIXED])
def test_the_camera_keeps_the_robot_in_the_picture(icub: RobotDescription, tmp_path: Path, camera: Camera) -> None:
    posture = standing_posture(icub)
    times, form = np.array([1.0, 3.0]), FilmFormat(width=256, height=144, camera=camera, rate=1.0)
    positions = posture.base_position + np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    same = np.tile(posture.base_rotation, (2, 1, 1)), np.tile(posture.joint_positions, (2, 1))
    film(icub, FilmedMotion(times, positions, *same), tmp_path / "walk.mp4", form)
    frames = [frame.astype(float) for frame in imageio.get_reader(tmp_path / "walk.mp4")]
    assert [frame.shape for frame in frames] == [(144, 256, 3)] * 3
    moved_in_picture = np.abs(frames[0] - frames[-1]).max(axis=2).mean(axis=0)  # by column
    if camera is Camera.FIXED:
        assert min(moved_in_picture[:110].max(), moved_in_picture[146:].max()) > 15.0
    else:  # a metre is four tiles: robot and floor look as before, the clock alone differs
        assert moved_in_picture[80:].max() < 15.0


def test_soles_are_drawn_on_the_ground_from_their_time_on(icub: RobotDescription, tmp_path: Path) -> None:
    posture = standing_posture(icub)
    times, form = np.array([0.0, 1.0]), FilmFormat(width=128, height=128, camera=Camera.TOP, rate=2.0)
    base = posture.base_position[:2]
    corners = base + np.array([[0.6, -0.05], [0.6, 0.05], [0.4, 0.05], [0.4, -0.05]])
    sole = FilmedSole(corners, 0.0, (1.0, 0.0, 0.0, 1.0), start=0.4)
    same = (np.tile(part, (2, *[1] * part.ndim)) for part in (posture.base_position, posture.base_rotation))
    motion = FilmedMotion(times, *same, np.tile(posture.joint_positions, (2, 1)))
    film(icub, motion, tmp_path / "walk.mp4", form, soles=[sole])
    frames = [frame.astype(float) for frame in imageio.get_reader(tmp_path / "walk.mp4")]
    red = [np.count_nonzero((frame[..., 0] > 120.0) & (frame[..., 1:].max(axis=2) < 80.0)) for frame in frames]
    assert min(red[1:]) > red[0] + 20


@pytest.mark.parametrize("slope", [long(0.0), 6.0])
def test_a_foot_in_the_air_is_above_its_shadow_and_one_that_stands_is_on_it(
    description: RobotDescription, slope: float
) -> None:
    posture, turn = standing_posture(description), floor_rotation(np.radians(slope), 0.0)
    with _Studio(description, FORM, floor_rotation=turn) as studio:
        for lift in (0.0, 0.05):
            lifted = moved(posture, np.array([0.3, 0.1, lift]))
            low = studio.picture(lifted, lifted.base_position)
            for side in Side:
                shadow = studio._shadow(side)
                middle = description.sole.corners(side).mean(axis=0)
                foot = posture_frame(studio, description, side) @ [*middle, description.sole.z, 1.0]
                np.testing.assert_allclose(shadow.corners.mean(axis=0), (turn.T @ foot[:3])[:2], atol=1e-9)
                assert (turn.T @ foot[:3])[2] - shadow.height == pytest.approx(lift, abs=2e-3)
            assert low.shape == (128, 160, 3)


def posture_frame(studio: _Studio, description: RobotDescription, side: Side) -> np.ndarray:
    """Return the pose of a sole frame in the drawn scene, homogeneous, shape (4, 4)."""
    body = load_tree(description).body_of(description.foot_frame(side))
    drawn, pose = studio._data.body(body.name), np.eye(4)
    pose[:3, :3], pose[:3, 3] = drawn.xmat.reshape(3, 3), drawn.xpos
    return pose @ body.frames[description.foot_frame(side)]


def test_the_floor_of_a_slope_rises_in_the_picture(icub: RobotDescription, tmp_path: Path) -> None:
    posture = standing_posture(icub)
    form, times = FilmFormat(width=256, height=192, camera=Camera.SIDE, rate=1.0), np.array([0.0, 0.5])
    parts = [np.tile(part, (2, *[1] * part.ndim)) for part in (posture.base_position, posture.base_rotation)]
    motion = FilmedMotion(times, *parts, np.tile(posture.joint_positions, (2, 1)))
    heights = {}
    for angle in (0.0, 5.0):  # a camera to the right of the robot sees it walk to the right of the picture
        path = tmp_path / f"{angle}.mp4"
        film(icub, motion, path, form, floor_rotation=floor_rotation(np.radians(angle), 0.0))
        (frame, *_) = (frame.astype(float).mean(axis=2) for frame in imageio.get_reader(path))
        edges = np.abs(np.diff(frame[:, [8, 247]], axis=0)) > 12.0
        heights[angle] = edges.argmax(axis=0)  # row of the horizon at either side
    assert abs(heights[0.0][0] - heights[0.0][1]) <= 1
    assert heights[5.0][0] - heights[5.0][1] > 10  # it rises to the right


@pytest.mark.parametrize("size", [(641, 480), (640, 32), (8192, 480)])
def test_sizes_that_no_film_has_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ConfigError, match="even numbers from 64 to 4096"):
        FilmFormat(*size)


def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 times for"):
        FilmedMotion([0.0, 1.0], np.zeros((3, 3)), np.zeros((2, 3, 3)), np.zeros((2, 23)))


def test_thinning_keeps_the_shape(icub: RobotDescription) -> None:
    uri = "package://iCub/meshes/simmechanics/sim_sea_2-5_root_link_prt-binary.stl"
    mesh = read_stl(find_mesh(uri, icub.model_path))
    thin = thin_out(mesh, 1000)
    assert 300 < len(thin.faces) <= 1000 < len(mesh.faces)
    size = np.ptp(mesh.vertices, axis=0)
    np.testing.assert_allclose(np.ptp(thin.vertices, axis=0), size, rtol=0.1)
    assert thin.faces.max() < len(thin.vertices)


def test_equal_vertices_are_merged() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    mesh = thin_out(Mesh(corners, np.arange(6, dtype=np.int32).reshape(2, 3)), 10)
    assert mesh.vertices.shape == (4, 3)
    assert len(mesh.faces) == 2


def test_meshes_that_cannot_be_drawn_are_named(icub: RobotDescription, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="only STL or DAE meshes can be read"):
        find_mesh("package://robot/arm.obj", icub.model_path)
    with pytest.raises(ModelError, match="is in no folder above"):
        find_mesh("package://robot/arm.stl", icub.model_path)
    (tmp_path / "copy" / "urdf").mkdir(parents=True)
    (tmp_path / "copy" / "arm.stl").write_text("solid arm")  # of the package robot, in a folder of another name
    found = find_mesh("package://robot/arm.stl", tmp_path / "copy" / "urdf" / "robot.urdf")
    assert found == (tmp_path / "copy" / "arm.stl").resolve()
    (tmp_path / "text.stl").write_text("solid arm")
    with pytest.raises(ModelError, match="no binary STL"):
        read_stl(tmp_path / "text.stl")
