"""The live page: it shows the walk while it runs, and the replay afterwards."""

import dataclasses

import numpy as np
import pytest
from rich.console import Console

from gradiva.common import PlanarPose
from gradiva.planner import Foothold, Retarget, VelocityCommand
from gradiva.push_recovery import SteppingLog, SteppingMode
from gradiva.setup import load_setup
from gradiva.simulated_walk import LiveView, SimulatedWalk, plan_from_start


@pytest.fixture(scope="module")
def walk():
    walk = SimulatedWalk(load_setup("icub_v2_7"))
    assert walk.get_ready(settle=0.0)
    return walk


def test_the_live_page_turns_into_the_replay(walk, monkeypatch, capsys):
    monkeypatch.setattr("gradiva.simulated_walk.live_view._OPENING", 0.0)
    plan = plan_from_start(walk.setup, VelocityCommand(forward=0.1, duration=2.0))
    played = []
    with LiveView(walk.setup, plan, walk.time, Console(width=160).print) as view:
        walk.run(0.1)
        view(walk)
        clock = view._view.server.scene.get_handle_by_name("/world/clock")
        assert clock.text == f"{walk.time:.2f} s"
        assert view._view.server.scene.get_handle_by_name("/world/forces/left_foot").visible
        view.replay(walk.recorder.log)
        assert "replay" not in capsys.readouterr().out  # no page is open
        monkeypatch.setattr(view, "_wait_for_page", lambda timeout: True)
        monkeypatch.setattr(
            "gradiva.simulated_walk.live_view.Replay.play", lambda player, wanted: played.append(player)
        )
        view.replay(walk.recorder.log)
        assert "replay  http://127.0.0.1:" in capsys.readouterr().out
        assert played[0].slider.min == walk.recorder.log.times[0]
        assert clock.text == f"{walk.recorder.log.times[0]:.2f} s"


def test_the_live_page_shows_where_a_step_was_moved_to_and_from(walk, monkeypatch):
    monkeypatch.setattr("gradiva.simulated_walk.live_view._OPENING", 0.0)
    command = VelocityCommand(forward=0.1, duration=2.0)
    with LiveView(walk.setup, plan_from_start(walk.setup, command), walk.time, Console(width=160).print) as view:
        walk.controller.walk(command)
        step = walk.controller.plan.steps[0]
        assert walk.run_until(lambda: walk.time > step.lift_off + 0.1, 3.0)
        view(walk)
        pose = step.footstep.pose
        walk.controller.retarget(Retarget((Foothold(dataclasses.replace(pose, x=pose.x + 0.05)),)))
        nominal = PlanarPose(pose.x, pose.y, pose.yaw)
        stepping = SteppingLog(SteppingMode.PLACE, True, step.footstep.side, nominal)
        walk.tick(), walk.tick(), walk.tick(), walk.tick()
        walk.log = dataclasses.replace(walk.log, stepping=stepping)
        view(walk)
        scene, sole = view._view.server.scene, walk.setup.robot.sole
        outline = scene.get_handle_by_name("/world/nominal_footprints/0").points[:, 0, :2]
        prints = [scene.get_handle_by_name(f"/world/footprints/{index}").vertices[:, :2] for index in range(3)]
        middle = sole.corners(step.footstep.side).mean(axis=0)
        np.testing.assert_allclose(outline.mean(axis=0), middle + np.array([pose.x, pose.y]), atol=1e-6)
        assert any(
            np.allclose(one.mean(axis=0), middle + np.array([pose.x + 0.05, pose.y]), atol=1e-6) for one in prints
        )
