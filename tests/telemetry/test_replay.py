from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from synthetic_walk import JOINTS, walk_log, walk_result

from gradiva.common import ConfigError, Side, so3
from gradiva.setup import load_robot, load_setup
from gradiva.telemetry import RobotView, SignalLog, WalkRecord, save_replay_page
from gradiva.telemetry.replay import Motion, Replay, rotations_from_rpy


@pytest.fixture(scope="module")
def robot():
    return load_robot("icub_v2_7")


def record_of(without=(), duration=3.0, joints=JOINTS):
    return WalkRecord(walk_log(duration, without=without), joints, walk_result())


def test_the_truth_is_shown_where_it_is_known(robot):
    record = record_of()
    motion = Motion.read(record, robot, rate=10.0)
    rows = np.arange(0, 300, 10)
    np.testing.assert_allclose(motion.times, 0.1 * np.arange(30), atol=1e-12)
    np.testing.assert_array_equal(motion.base_positions, record.log["simulation::root_link::position"][rows])
    np.testing.assert_array_equal(motion.joint_positions, record.log["simulation::joint_positions"][rows])


def test_without_the_truth_the_estimate_is_shown(robot):
    record = record_of(without=("simulation::joint_positions",))
    motion = Motion.read(record, robot, rate=10.0)
    np.testing.assert_array_equal(motion.base_positions, record.log["root_link::position::measured"][::10])
    np.testing.assert_array_equal(motion.points["zmp"], record.log["zmp::measured"][::10])


def test_points_keep_their_place_under_the_robot(robot):
    record = record_of()
    motion = Motion.read(record, robot, rate=10.0)
    estimated = record.log["root_link::position::measured"][::10]
    logged = record.log["dcm::position::measured"][::10]
    np.testing.assert_allclose(
        motion.points["dcm"] - motion.base_positions[:, :2], logged - estimated[:, :2], atol=1e-12
    )


def test_the_replay_keeps_the_clock_of_the_log_and_the_forces(robot):
    whole = walk_log(2.0)
    late = SignalLog.from_arrays(whole.times + 5.67, {name: whole[name] for name in whole})
    motion = Motion.read(WalkRecord(late, JOINTS), robot, rate=10.0)
    np.testing.assert_allclose(motion.times, 5.67 + 0.1 * np.arange(20), atol=1e-12)
    np.testing.assert_array_equal(motion.forces[Side.LEFT], whole["left_foot::linear_force::measured"][::10])
    view = RobotView(robot, port=0)
    try:
        player = Replay(view, motion)
        assert (player.slider.min, player.slider.value) == (5.67, 5.67)
        player.show(6.27)
        assert view.server.scene.get_handle_by_name("/world/clock").text == "6.27 s"
        player.playing.value = True
        player.advance(60.0)
        assert player.slider.value == 5.67
    finally:
        view.close()


def test_joints_come_in_the_order_of_the_robot(robot):
    log = walk_log(1.0)
    shuffled = record_of(duration=1.0, joints=JOINTS[::-1])
    expected = log["simulation::joint_positions"][0][[JOINTS[::-1].index(joint) for joint in robot.joints]]
    np.testing.assert_array_equal(Motion.read(shuffled, robot).joint_positions[0], expected)


def test_deflections_are_the_last_joints_of_the_robot_that_is_shown():
    shown = load_setup("talos", {"simulation.flexibility.stiffness": 1e3}).simulated_robot
    whole = walk_log(1.0)
    log = SignalLog.from_arrays(whole.times, {name: whole[name] for name in whole if "joint" not in name})
    positions, deflections = np.arange(3200.0).reshape(100, 32), 0.01 * np.arange(400.0).reshape(100, 4)
    signals = {"simulation::joint_positions": positions, "simulation::flexible_joints::positions": deflections}
    log = SignalLog.from_arrays(whole.times, {**{name: log[name] for name in log}, **signals})
    log.describe("simulation::flexible_joints::positions", [joint.name for joint in shown.flexible_joints], "rad")
    motion = Motion.read(WalkRecord(log, shown.joints[:32]), shown, rate=10.0)
    np.testing.assert_array_equal(motion.joint_positions, np.hstack((positions, deflections))[::10])
    rigid = Motion.read(WalkRecord(log, shown.joints[:32]), load_robot("talos"), rate=10.0)
    np.testing.assert_array_equal(rigid.joint_positions, positions[::10])


def test_flexible_joints_that_nothing_logged_are_shown_unbent():
    """As of a simulator module beside a controller that takes the links to be rigid."""
    shown, whole = load_setup("talos", {"simulation.flexibility.stiffness": 1e3}).simulated_robot, walk_log(1.0)
    signals = {name: whole[name] for name in whole if "joint" not in name}
    positions = np.arange(3200.0).reshape(100, 32)
    log = SignalLog.from_arrays(whole.times, {**signals, "joints_state::positions::measured": positions})
    motion = Motion.read(WalkRecord(log, shown.joints[:32]), shown, rate=10.0)
    np.testing.assert_array_equal(motion.joint_positions, np.hstack((positions[::10], np.zeros((10, 4)))))


def test_what_cannot_be_replayed_is_refused_by_name(robot):
    with pytest.raises(ConfigError, match="another robot, it has no joint 'torso_pitch'"):
        Motion.read(record_of(joints=tuple(f"j{index}" for index in range(23))), robot)
    with pytest.raises(ConfigError, match="names 2 joints for 23"):
        Motion.read(record_of(joints=("a", "b")), robot)
    with pytest.raises(ConfigError, match="no root_link::position::measured"):
        Motion.read(record_of(without=("simulation::joint_positions", "root_link::position::measured")), robot)
    with pytest.raises(ConfigError, match="empty"):
        Motion.read(WalkRecord(SignalLog(), JOINTS), robot)


def test_angles_turn_about_x_then_y_then_z():
    roll, pitch, yaw = 0.3, -0.4, 1.9
    x, y = so3.exp(np.array([roll, 0.0, 0.0])), so3.exp(np.array([0.0, pitch, 0.0]))
    expected = so3.rotation_z(yaw) @ y @ x
    found = rotations_from_rpy(np.array([[roll, pitch, yaw], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(found, [expected, np.eye(3)], atol=1e-12)


def test_a_replay_plays_pauses_and_begins_again(robot):
    view = RobotView(robot, port=0)
    try:
        player = Replay(view, Motion.read(record_of(), robot))
        player.advance(0.5)
        assert player.slider.value == pytest.approx(0.5)
        player.speed.value = "2 ×"
        player.advance(0.5)
        assert player.slider.value == pytest.approx(1.5)
        player.speed.value = "0.1 ×"
        for _ in range(10):
            player.advance(1.0 / 30.0)
        assert player.slider.value == 1.53
        player.speed.value = "2 ×"
        player.slider.value = 1.5
        player.playing.value = False
        player.advance(0.5)
        assert player.slider.value == pytest.approx(1.5)
        player.playing.value = True
        player.advance(5.0)
        assert player.slider.value == 0.0
    finally:
        view.close()


def test_a_replay_page_stands_alone(robot, run, capsys):
    page = save_replay_page(run, robot, run.path / "replay.html")
    text = page.read_text()
    assert "__VISER_EMBED_DATA__" in text
    assert 1e6 < len(text) < 8e6
    assert capsys.readouterr().out == ""


def test_the_slider_of_a_replay_page_has_the_clock_of_the_log(robot, run, monkeypatch):
    serializer = SimpleNamespace(sleeps=[], as_html=lambda: "")
    serializer.insert_sleep = serializer.sleeps.append
    server = SimpleNamespace(get_scene_serializer=lambda: serializer)
    view = SimpleNamespace(server=server, footprints=lambda *_: None, show=lambda *_: None, close=lambda: None)
    motion = Motion.read(WalkRecord.read(run), robot)
    monkeypatch.setitem(save_replay_page.__globals__, "RobotView", lambda *_, **__: view)
    monkeypatch.setattr(Motion, "read", lambda *_: replace(motion, times=motion.times + 2.5))
    save_replay_page(run, robot, run.path / "replay.html")
    assert serializer.sleeps[0] == 2.5
    assert sum(serializer.sleeps) == pytest.approx(2.5 + motion.times[-1], abs=0.04)
