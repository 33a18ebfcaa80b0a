"""Five processes walk as one."""

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

TABLE = Timetable(VelocityCommand(0.2), VelocityCommand(0.1, angular=0.1), 2.0)


class Listener:
    """Records the commands of a timetable."""

    def __init__(self):
        self.commands = []

    def __getattr__(self, name):
        return lambda *arguments: self.commands.append((name, *arguments))


def test_a_timetable_walks_twice_then_pauses_and_stops():
    listener = Listener()
    TABLE.follow(listener)
    assert [word for word, *_ in listener.commands if word != "wait_until"] == [
        *("prepare", "start", "walk", "walk", "pause", "stop")
    ]
    times = [time for word, *time in listener.commands if word == "wait_until"]
    assert times == sorted(times)
    assert times[1][0] - times[0][0] == TABLE.duration


@pytest.mark.walk
def test_the_error_of_five_processes_in_lockstep_is_that_of_one():
    one, five = walk_in_process("icub_v2_7", TABLE), walk_as_application("icub_v2_7", "lockstep", TABLE)
    errors = [rms_and_max(com_error(log)[1]) for log in (one, five.log)]
    assert errors[1]["rms"] < LIMIT * errors[0]["rms"]
    assert errors[1]["max"] < LIMIT * errors[0]["max"]
    assert len(five.log) == len(one), "one tick a sample"
    assert (five.status["state"], five.status["safety_events"]) == ("stopped", 0)
    assert [module["exit_status"] for module in five.result["modules"]] == [0] * 5
    (axis,) = com_error_figure({"icub_v2_7": {"one process": one, "lockstep": five.log}}).axes
    assert [line.get_label() for line in axis.lines] == ["one process", "lockstep"]
