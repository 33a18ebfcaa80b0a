"""Five processes walk as one."""

import numpy as np
import pytest

from gradiva.experiments.campaigns.application_walk import (
    LIMIT,
    Timetable,
    com_error_figure,
    walk_as_application,
    walk_in_process,
)
from gradiva.experiments.walk_score import com_error, rms_and_max
from gradiva.planner import VelocityCommand
from gradiva.simulation import Push
from gradiva.telemetry import footprints

# Towards the right foot, which is in the air and lands as soon as it can.
PUSH = Push("chest", (0.0, -80.0, 0.0), start=0.0, duration=0.1)
TABLE = Timetable(VelocityCommand(0.2), VelocityCommand(0.1, angular=0.1), 1.9, PUSH)
MEASURED = ("com::position::measured", "left_foot::position::measured", "right_foot::position::measured")


class Listener:
    """Records the commands of a timetable."""

    def __init__(self):
        self.commands = []

    def __getattr__(self, name):
        return lambda *arguments: self.commands.append((name, *arguments))


def test_a_timetable_walks_is_pushed_walks_otherwise_pauses_and_stops():
    listener = Listener()
    TABLE.follow(listener)
    assert [word for word, *_ in listener.commands if word != "wait_until"] == [
        *("prepare", "start", "walk", "push", "walk", "pause", "stop")
    ]
    times = [time for word, *time in listener.commands if word == "wait_until"]
    assert times == sorted(times)
    assert times[1][0] - times[0][0] == pytest.approx(TABLE.duration)


@pytest.fixture(scope="module")
def one():
    return walk_in_process("icub_v2_7", TABLE)


@pytest.mark.walk
@pytest.mark.parametrize(
    ("wrenches", "tolerance"),
    [("sensors", 3e-3), ("estimated", 1e-9)],
    ids=["sensors of the feet", "ground's wrenches"],
)
def test_five_processes_in_lockstep_walk_and_step_aside_from_a_push_as_one(one, wrenches, tolerance):
    # The sensors weigh what moves below them: the wrenches differ by some newtons, and a sole counts
    # as one in the air by its load, some ticks earlier or later.
    source = f"gradiva-whole-body=--set robot_io.wrenches={wrenches}"
    five = walk_as_application("icub_v2_7", "lockstep", TABLE, source)
    assert len(five.log) == len(one), "one tick a sample"
    for name in MEASURED:
        np.testing.assert_allclose(five.log[name], one[name], atol=tolerance)
    steps = [[(each.side, *each.position[:2]) for each in footprints(log)] for log in (one, five.log)]
    assert [side for side, *_ in steps[0]] == [side for side, *_ in steps[1]]
    np.testing.assert_allclose([place for _, *place in steps[1]], [place for _, *place in steps[0]], atol=tolerance)
    errors = [rms_and_max(com_error(log)[1]) for log in (one, five.log)]
    assert errors[1]["rms"] < LIMIT * errors[0]["rms"]
    assert errors[1]["max"] < LIMIT * errors[0]["max"]
    assert five.status["adaptations"] > 0
    assert (five.status["state"], five.status["safety_events"]) == ("stopped", 0)
    assert [module["exit_status"] for module in five.result["modules"]] == [0] * 5
    (axis,) = com_error_figure({"icub_v2_7": {"one process": one, "lockstep": five.log}}).axes
    assert [line.get_label() for line in axis.lines] == ["one process", "lockstep"]
