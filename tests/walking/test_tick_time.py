"""Walks whose clock jumps, stops, or gives no number."""

import math

import numpy as np
import pytest

from gradiva.planner import VelocityCommand
from gradiva.walking import Response, SafetyKind, WalkingState

pytestmark = pytest.mark.walk
TICKS = 240


def true_time(tick, time):
    return time


def troubled_time(tick, time):
    """Return what a clock says that is set on by half a second and back, stands still, and gives no number."""
    if tick in range(215, 220):
        return math.nan
    return 3.5 if tick in range(200, 206) else time + 0.5 * (tick in range(160, 180)) - 1e6 * (tick >= 230)


def commands(walk, clock, stamps):
    """Walk with the controller's time by ``clock`` and the samples' time by ``stamps``; return all commands."""
    walk.controller.walk(VelocityCommand(0.25))
    sent = []
    for tick in range(TICKS):
        measurement = walk.robot.read()
        measurement = measurement.shifted(stamps(tick, measurement.time) - measurement.time)
        command, _ = walk.controller.step(measurement, clock(tick, walk.time))
        walk.robot.write(command)
        walk.robot.advance(walk.setup.walking.walking.period)
        sent.append(command.values)
    return np.array(sent)


def test_a_clock_in_trouble_is_an_event_and_the_robot_walks_on_as_if_nothing_had_been(ready):
    undisturbed = commands(ready("icub_v2_7"), true_time, true_time)
    for stamps in (true_time, lambda tick, time: time + 0.5 * (tick in range(160, 180)) - 1e6 * (tick >= 230)):
        walk = ready("icub_v2_7")
        np.testing.assert_allclose(
            commands(walk, troubled_time, stamps), undisturbed, atol=0.005
        )  # a landing may be one tick off
        events = walk.controller.safety_events
        assert {event.subject for event in events} == {"forward", "backward", "not finite"}
        assert {(event.kind, event.response) for event in events} == {(SafetyKind.CLOCK_JUMP, Response.WARN)}
        assert events[0].text.startswith("the clock jumped by +0.500 s")
        assert walk.controller.state is WalkingState.WALKING


def test_a_robot_that_gets_no_command_for_300_ms_walks_on_at_whatever_moment_of_the_step(ready):
    """The plan has stood still as the joints have: one that goes on lifts the foot that carries the robot.

    Alone none of 54 moments of a step fells iCub v2.7; of rows of seven, 1.64 s apart is one that does, at the third.
    """
    walk = ready("icub_v2_7")
    walk.controller.walk(VelocityCommand(0.2))
    supports = []
    for _ in range(7):
        assert walk.run(1.6)  # steps take 0.64 s: each stall is at another moment of them
        supports.append((walk.log.reference.stance_foot, walk.log.reference.is_double_support))
        walk.robot.advance(0.3)
    assert walk.run(1.64)
    assert len(set(supports)) >= 3
    assert walk.controller.state is WalkingState.WALKING
    (event,) = walk.controller.safety_events
    assert (event.kind, event.response) == (SafetyKind.CLOCK_JUMP, Response.WARN)
    assert event.text.startswith("the clock jumped by +0.300 s")
