"""The application that comes with iCub v2.7, from ``gradiva app run`` to a goal that is reached."""

import json
import re
import signal
from pathlib import Path

import pytest

from gradiva.cli.commands import carry_out
from tests.patience import wait_until

COORDINATOR = "/walking-coordinator/rpc"


@pytest.fixture
def ask(capsys):
    """Return a function that asks the coordinator and returns its reply."""

    def ask_coordinator(*words):
        carry_out(["rpc", "--timeout", "30", COORDINATOR, *words])
        return capsys.readouterr().out.strip()

    return ask_coordinator


def wait_for(condition, what):
    """Wait for models to be loaded and for some simulated seconds; each look is a call of its own."""
    wait_until(condition, what, patience=120.0, pause=0.2)


@pytest.mark.walk
def test_the_application_walks_to_a_goal_and_stops_in_order(application, name_server, start, ask):
    tool = start(
        *("app", "run", "icub_v2_7-simulation", "--without", "gradiva-logger", "--json", "result.json"),
        *("--add", "gradiva-simulator=--speed 0"),
    )
    wait_for(lambda: ask("getStatus").startswith("[ok] configured"), "the robot is there")
    assert ask("startWalking").startswith("[fail]")
    assert ask("prepareRobot") == "[ok]"
    wait_for(lambda: ask("getStatus").startswith("[ok] prepared"), "it stands")
    assert ask("startWalking") == "[ok]"
    assert ask("setGoal", "0.3", "0.0") == "[ok]"
    wait_for(lambda: ask("getStatus").startswith("[ok] paused"), "it has come to its goal")
    status = ask("getStatus")
    code, out, err = tool.stop(signal.SIGINT)
    assert code == 0, out + err
    x, y, _ = map(float, re.search(r"\(pose \((\S+) (\S+) (\S+)\)\)", status).groups())
    assert abs(x - 0.3) < 0.05
    assert abs(y) < 0.05
    assert "(qp_failures 0)" in status
    assert "(safety_events 0)" in status
    result = json.loads(Path("result.json").read_text())
    assert [module["exit_status"] for module in result["modules"]] == [0, 0]
