import dataclasses
import socket

import numpy as np
import pytest

from gradiva.common import ModelError, Side, so3
from gradiva.setup import load_robot, load_setup
from gradiva.telemetry import Footprint, RobotView
from gradiva.telemetry.robot_meshes import MAX_FACES, LinkPoses, load_meshes

ROBOTS = ("icub_v2_7", "icub_v3", "talos", "g1")


@pytest.fixture(scope="module")
def robot():
    return load_robot("icub_v2_7")


@pytest.fixture(scope="module")
def view(robot):
    view = RobotView(robot, port=0)
    yield view
    view.close()


@pytest.mark.parametrize("name", ROBOTS)
def test_every_shape_is_light_and_has_a_carrier(name):
    description = load_robot(name)
    meshes, links = load_meshes(description.model_path), LinkPoses(description)
    assert len(links.bodies) == len(description.joints) + 1
    assert {links.attachment(mesh.link).body for mesh in meshes} <= set(links.bodies)
    for mesh in meshes:
        assert 0 < len(mesh.faces) <= 1.25 * MAX_FACES
        assert mesh.faces.max() < len(mesh.vertices)
        assert np.abs(mesh.vertices).max() < 1.0  # m: scales are applied
        assert all(0.0 <= channel <= 1.0 for channel in mesh.colour)


def test_the_shown_robot_bends_at_its_hips():
    description = load_setup("talos", {"flexibility.stiffness": 1e3}).simulated_robot
    links, joints = LinkPoses(description), np.zeros(36)
    straight = links.poses(np.zeros(3), np.eye(3), joints)
    joints[description.joints.index("leg_left_1_joint_roll")] = 0.2
    bent = links.poses(np.zeros(3), np.eye(3), joints)
    turn = so3.exp(np.array([0.2, 0.0, 0.0]))
    before, place = links.before("leg_left_1_joint_roll"), straight["leg_left_1_joint_roll_link"][:3, 3]
    assert before.body == "base_link"
    np.testing.assert_allclose(straight["base_link"][:3, 3] + before.position, place, atol=1e-12)
    hip, foot = (straight[link][:3, 3] for link in ("leg_left_1_link", "leg_left_6_link"))
    np.testing.assert_allclose(bent["leg_left_6_link"][:3, 3], hip + turn @ (foot - hip), atol=1e-12)
    np.testing.assert_array_equal(bent["leg_right_6_link"], straight["leg_right_6_link"])


def test_meshes_are_loaded_once(robot):
    assert load_meshes(robot.model_path) is load_meshes(robot.model_path)


def test_a_missing_mesh_is_named(tmp_path):
    urdf = tmp_path / "robot.urdf"
    mesh = '<visual><geometry><mesh filename="package://r/foot.stl"/></geometry></visual>'
    urdf.write_text(f'<robot name="r"><link name="foot">{mesh}</link></robot>')
    with pytest.raises(ModelError, match=r"package://r/foot\.stl"):
        load_meshes(urdf)
    urdf.write_text("no XML")
    with pytest.raises(ModelError, match="cannot read"):
        load_meshes(urdf)


def test_boxes_are_placed_and_coloured(tmp_path):
    urdf = tmp_path / "robot.urdf"
    urdf.write_text(
        '<robot name="r"><material name="blue"><color rgba="0 0 1 1"/></material><link name="foot"><visual>'
        '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><geometry><box size="0.4 0.2 0.1"/></geometry>'
        '<material name="blue"/></visual></link></robot>'
    )
    (mesh,) = load_meshes(urdf)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [0.2, 0.4, 0.1], atol=1e-12)
    np.testing.assert_allclose(mesh.vertices.mean(axis=0), [1.0, 0.0, 0.0], atol=1e-12)
    assert mesh.colour == (0.0, 0.0, 1.0)


def test_the_links_move_with_the_world(robot):
    links = LinkPoses(robot)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    shift = np.array([40.0, -25.0, 0.6])
    here = links.poses(np.zeros(3), np.eye(3), robot.posture)
    there = links.poses(shift, turn, robot.posture)
    for body in links.bodies:
        np.testing.assert_allclose(there[body][:3, 3], turn @ here[body][:3, 3] + shift, atol=1e-9)
        np.testing.assert_allclose(there[body][:3, :3], turn @ here[body][:3, :3], atol=1e-9)


def test_a_joint_turns_its_link_and_no_other(robot):
    links = LinkPoses(robot)
    straight, bent = np.zeros(len(robot.joints)), np.zeros(len(robot.joints))
    bent[robot.joints.index("l_ankle_roll")] = 0.1
    before = links.poses(np.zeros(3), np.eye(3), straight)
    after = links.poses(np.zeros(3), np.eye(3), bent)
    moved = {body for body in links.bodies if not np.allclose(before[body], after[body])}
    assert moved == {links.attachment(robot.left_foot_frame).body}


def test_unknown_links_and_models_are_refused_by_name(robot):
    with pytest.raises(ModelError, match="no link 'tail'"):
        LinkPoses(robot).attachment("tail")
    with pytest.raises(ModelError, match="base_link 'tail' is not the root"):
        LinkPoses(dataclasses.replace(robot, base_link="tail"))


def test_the_view_puts_the_links_where_the_kinematics_says(robot, view):
    position = np.array([0.3, 0.1, 0.6])
    view.show(position, np.eye(3), robot.posture, {"zmp": np.array([0.3, 0.08])})
    poses = LinkPoses(robot).poses(position, np.eye(3), robot.posture)
    scene = view.server.scene
    for body in ("root_link", "l_foot", "chest"):
        handle = scene.get_handle_by_name(f"/world/robot/{LinkPoses(robot).attachment(body).body}")
        np.testing.assert_allclose(handle.position, poses[LinkPoses(robot).attachment(body).body][:3, 3], atol=1e-9)
    assert scene.get_handle_by_name("/world/zmp/point").visible
    assert not scene.get_handle_by_name("/world/dcm/point").visible


def test_the_view_shows_ground_forces_and_the_time(robot, view):
    position, weight = np.array([0.3, 0.1, 0.6]), robot.mass * 9.81
    sole, force = np.array([0.3, 0.18, 0.0]), np.array([0.0, 0.1 * weight, weight])
    view.show(position, np.eye(3), robot.posture, forces={Side.LEFT: (sole, force)}, time=6.14)
    handle = view.server.scene.get_handle_by_name
    left, right, clock = (handle(f"/world/{name}") for name in ("forces/left_foot", "forces/right_foot", "clock"))
    assert (left.visible, right.visible, clock.visible, clock.text) == (True, False, True, "6.14 s")
    ((tail, tip),) = left.points
    np.testing.assert_allclose(tip, sole, atol=1e-6)
    np.testing.assert_allclose(tip - tail, 0.6 * robot.com_height * force / weight, atol=1e-6)
    view.show(position, np.eye(3), robot.posture, forces={Side.LEFT: (sole, 0.001 * force)})
    assert (left.visible, clock.visible) == (False, False)


def test_the_scene_follows_the_robot(robot, view):
    view.show(np.array([5.0, -2.0, 0.6]), np.eye(3), robot.posture)
    np.testing.assert_allclose(view.server.scene.get_handle_by_name("/world").position, [-5.0, 2.0, 0.0])
    view.show(np.array([5.1, -2.0, 0.6]), np.eye(3), robot.posture)
    x = view.server.scene.get_handle_by_name("/world").position[0]
    assert -5.1 < x < -5.0


def test_footprints_replace_each_other(robot, view):
    prints = [Footprint(side, np.array([0.0, side.sign * 0.08, 0.0105]), 0.0, 0.0) for side in Side]
    view.footprints(prints)
    names = [f"/world/footprints/{index}" for index in range(2)]
    assert all(view.server.scene.get_handle_by_name(name) is not None for name in names)
    view.footprints(prints[:1])
    assert view.server.scene.get_handle_by_name(names[1]) is None
    np.testing.assert_allclose(view.server.scene.get_handle_by_name("/world/floor").position, 0.0, atol=1e-12)


def test_planned_footholds_that_were_moved_are_outlined(robot, view):
    moved = Footprint(Side.LEFT, np.array([0.3, 0.1, 0.0]), 0.0, 0.0)
    view.footprints([], [moved])
    outline = view.server.scene.get_handle_by_name("/world/nominal_footprints/0")
    np.testing.assert_allclose(outline.points[:, 0, :2], moved.corners(robot.sole), atol=1e-6)
    np.testing.assert_allclose(outline.points[:, 1], np.roll(outline.points[:, 0], -1, axis=0))
    view.footprints([])
    assert view.server.scene.get_handle_by_name("/world/nominal_footprints/0") is None


def test_a_port_in_use_is_passed_over(robot, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        view = RobotView(robot, port=port)
        view.announce()
        view.close()
    assert view.url.startswith("http://127.0.0.1:")
    assert capsys.readouterr().out == f"iCub v2.7 is shown at {view.url} (port {port} is in use)\n"


def test_the_support_polygon_is_that_of_the_feet_that_carry_load(robot, view):
    weight = np.array([0.0, 0.0, robot.mass * 9.81])
    edge = view.server.scene.get_handle_by_name("/world/polygon/edge")
    feet = {side: (np.zeros(3), weight) for side in Side}
    view.show(np.array([0.0, 0.0, 0.6]), np.eye(3), robot.posture, forces=feet)
    both = edge.points[:, 0]
    view.show(
        np.array([0.0, 0.0, 0.6]), np.eye(3), robot.posture, forces=feet | {Side.RIGHT: (np.zeros(3), 0.0 * weight)}
    )
    left = edge.points[:, 0]
    assert np.ptp(np.sign(left[:, 1])) == 0.0, "it lies on one side of the base"
    assert np.ptp(both[:, 1]) > 2.0 * np.ptp(left[:, 1])
    assert np.ptp(left[:, 0]) == pytest.approx(np.ptp(robot.sole.corners(Side.LEFT)[:, 0]), abs=0.01)


def test_where_the_robot_takes_itself_to_be_is_a_layer_that_is_hidden_at_first(robot, view):
    handle = view.server.scene.get_handle_by_name
    view.show_belief(np.array([1.0, 2.0, 0.6]), np.eye(3))
    assert (handle("/world/belief/base").visible, handle("/world/belief").visible) == (True, False)
    view.show_belief(np.full(3, np.nan), np.full((3, 3), np.nan))
    assert not handle("/world/belief/base").visible
