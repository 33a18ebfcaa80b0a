"""Reactive stepping in closed loop: pushes that fell a robot whose footholds stay as planned."""

import math

import pytest

from gradiva.experiments.forked_walks import phase_times
from gradiva.planner import VelocityCommand
from gradiva.simplified_model import SteppingMode
from gradiva.simulation import Push
from gradiva.walking import walking_signals


def pushed(ready, robot, mode, force, phase="middle", *overrides):
    """Push a robot at 0.15 m/s for 0.1 s; return the walk and the logs of stepping, 4 s later."""
    walk = ready(robot, f"step_adaptation.mode={mode}", *overrides)
    walk.controller.walk(VelocityCommand(0.15, duration=10.0))
    time = phase_times(walk.controller.plan)[phase]
    walk.robot.push(Push(walk.setup.robot.torso_frame, (*force, 0.0), time, 0.1))
    logs = []
    while walk.time < time + 4.0 and not walk.is_down:
        logs.append(walk.tick())
    return walk, logs


@pytest.mark.walk
def test_a_push_to_the_swinging_foot_that_fells_the_planned_walk_is_caught_by_a_step(ready):
    walk, _ = pushed(ready, "icub_v2_7", "off", (0.0, -90.0))
    assert walk.is_down
    walk, logs = pushed(ready, "icub_v2_7", "place_and_time", (0.0, -90.0))
    assert not walk.is_down
    changed = [log.stepping for log in logs if log.stepping.adapted != log.stepping.nominal]
    assert max(math.hypot(log.adapted.x - log.nominal.x, log.adapted.y - log.nominal.y) for log in changed) > 0.05
    assert min(log.delay for log in changed) < -0.05
    assert all(log.stepping.mode is SteppingMode.PLACE_AND_TIME for log in logs)
    signals = walking_signals(logs[-1], walk.measurement)
    assert signals["step_adaptation::is_active"] == 0.0
    assert len(signals["step_adaptation::adapted_foothold"]) == 3


def test_the_mode_is_switched_while_the_robot_stands(ready):
    walk = ready("icub_v2_7", "step_adaptation.mode=place")
    log = walk.tick().stepping
    assert (log.mode, log.is_active, log.side, log.changes) == (SteppingMode.PLACE, False, None, 0)
    walk.controller.step_adaptation = SteppingMode.OFF
    assert walk.tick().stepping.mode is SteppingMode.OFF
    walk.controller.step_adaptation = SteppingMode.PLACE_AND_TIME
    assert walk.tick().stepping.mode is SteppingMode.PLACE_AND_TIME


def test_nothing_is_logged_where_it_is_configured_to_be_off(ready):
    walk = ready("icub_v2_7")
    walk.controller.step_adaptation = SteppingMode.PLACE
    assert walk.tick().stepping is None
    assert walk.controller.step_adaptation is SteppingMode.PLACE
