"""The page of ``gradiva walk --view``, without a browser."""

import pytest
from rich.console import Console

from gradiva.cli.walk_session import LiveView
from gradiva.experiments import SimulatedWalk, plan_from_start
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup


@pytest.fixture(scope="module")
def walk():
    walk = SimulatedWalk(load_setup("icub_v2_7"))
    assert walk.get_ready(settle=0.0)
    return walk


def test_the_live_page_turns_into_the_replay(walk, monkeypatch, capsys):
    monkeypatch.setattr("gradiva.cli.walk_session._OPENING", 0.0)
    plan = plan_from_start(walk.setup, VelocityCommand(forward=0.1, duration=2.0))
    played = []
    with LiveView(walk.setup.robot, plan, walk.time, Console(width=160)) as view:
        walk.run(0.1)
        view(walk)
        clock = view._view.server.scene.get_handle_by_name("/world/clock")
        assert clock.text == f"{walk.time:.2f} s"
        assert view._view.server.scene.get_handle_by_name("/world/left_foot_force").visible
        view.replay(walk.recorder.log)
        assert "replay" not in capsys.readouterr().out  # no page is open
        monkeypatch.setattr(view, "_wait_for_page", lambda timeout: True)
        monkeypatch.setattr("gradiva.cli.walk_session.Replay.play", lambda player, wanted: played.append(player))
        view.replay(walk.recorder.log)
        assert "replay  http://127.0.0.1:" in capsys.readouterr().out
        assert played[0].slider.min == walk.recorder.log.times[0]
        assert clock.text == f"{walk.recorder.log.times[0]:.2f} s"
