"""The suite on YARP's bindings: an application is run, looked at, walked and stopped; names outlive a name server.

By default on a stand-in that answers as the real bindings were recorded to answer, and ends a process where they hang
or crash. ``GRADIVA_TEST_BINDINGS=real pytest tests/bindings`` runs the same on the real ones.
"""

from __future__ import annotations

import json

import pytest

from tests.bindings.conftest import IS_STAND_IN, Bindings
from tests.bindings.operator_session import GOAL

NAMES = """
import json, time
from pathlib import Path
from gradiva.simulated_walk.private_network import NameServerProcess
from gradiva.middleware import yarp
from gradiva.middleware.network import registered_names
from gradiva.yarp_modules.robot.sensors import FlexibleJointsPort

server = NameServerProcess(Path.cwd())  # in this process the real bindings would wait for it, and it for them
server.start()
yarp.Network.init()
first, second, third, nameless = yarp.Port(), yarp.BufferedPortBottle(), yarp.RpcServer(), yarp.Port()
opened = [first.open("/first"), second.open("/second"), yarp.Port().open("/second")]
time.sleep(2.0)  # until this process knows that the name server is one of its own, whose place it does not take
server.kill()
server.start()  # it has forgotten all names, and yet hands out no number on which a port listens
opened.append(nameless.open("..."))  # as ports within a device, which are opened once
numbers = [nameless.where().getPort(), first.where().getPort(), second.where().getPort()]
nameless.close()
opened.append(third.open("/third"))
deadline = time.monotonic() + 60.0
while not {"/first", "/second", "/third"} <= registered_names() and time.monotonic() < deadline:
    time.sleep(0.05)
known = sorted(registered_names() - {"/root", "fallback"})
first.close()
left = sorted(registered_names() - {"/root", "fallback"})
sender, truth = yarp.BufferedPortBottle(), FlexibleJointsPort("/deflections:o")
sender.open("/deflections:o")
truth.open("/walking", "fast_tcp")
truth.close()  # nothing had come in time
truth.open("/walking", "fast_tcp")
deadline = time.monotonic() + 10.0
while (found := truth.read()) is None and time.monotonic() < deadline:
    sender.prepare().fromString("(hip 3000.0 0.25 0.0 0.0)")
    sender.write(True)
    time.sleep(0.02)
truths = found and [dict(found.stiffness), found.motion.ravel().tolist()]
print(json.dumps({"opened": opened, "known": known, "left": left, "truths": truths, "numbers": numbers}))
for port in (second, third, sender, truth):
    port.close()
yarp.Network.fini()
server.kill()
"""


@pytest.fixture(scope="module")
def session(bindings):
    done = bindings.run("-m", "tests.bindings.operator_session", str(bindings.folder))
    assert done.returncode == 0, done.stderr[-3000:] + "\n".join(bindings.journal())
    return json.loads((bindings.folder / "session.json").read_text())


@pytest.mark.walk
def test_an_application_walks_to_a_goal_and_stops_in_order(session):
    assert (session["state"], session["outcome"], session["fall"]) == ("stopped", "stopped", "")
    assert session["status"]["pose"][:2] == pytest.approx([GOAL, 0.0], abs=0.05)
    assert (session["status"]["qp_failures"], session["status"]["safety_events"]) == (0, 0)
    assert session["exit_statuses"] == dict.fromkeys(("gradiva-simulator", "gradiva-walking", "gradiva-logger"), 0)
    assert session["lost_ticks"] == 0  # a port drops what is written while it sends


@pytest.mark.walk
def test_a_module_that_is_terminated_ends_in_order(session):
    assert session["terminated"] == 0


@pytest.mark.walk
def test_a_walk_is_one_log_and_no_connection_is_made_twice(session, bindings):
    assert len(session["run_folders"]) == 1
    assert session["reconnections"] == 0
    streams = [line for line in bindings.journal() if line.startswith("connected /walking-coordinator/logger/")]
    assert streams == ["connected /walking-coordinator/logger/measures:o /logger/measures:i"] * IS_STAND_IN


@pytest.mark.walk
def test_the_suite_asks_nothing_that_the_real_bindings_never_answer_or_complain_of(session, bindings):
    assert [line for line in bindings.journal() if not line.startswith("connected ")] == []
    assert "SubName" not in "".join(session["logs"].values())


@pytest.mark.walk
def test_the_tools_answer_as_on_pureyarp(session):
    outputs = {" ".join(tool["words"]): tool["output"] for tool in session["tools"]}
    statuses = [tool["status"] for tool in session["tools"]]
    assert statuses[:-1] == [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0], outputs
    assert "registration name /walking-coordinator/rpc" in outputs["yarp name list"]
    first, second = (tool["output"] for tool in session["tools"] if tool["words"][1] == "disconnect")
    assert "disconnected" in first
    assert "is not connected" in second
    assert len(outputs["yarp read --count 2 --carrier fast_tcp ... /icubSim/torso/state:o"].splitlines()) == 4
    assert "rate_hz" in outputs["yarp read --count 1 --rate ... /icubSim/torso/state:o"]
    assert "prepare the robot first" in outputs["rpc /walking-coordinator/rpc startWalking"]


@pytest.mark.walk
def test_doctor_looks_at_the_robot_to_the_last_check(session):
    output = session["tools"][-1]["output"]
    assert "24 of 24 ports of the robot are there" in output
    assert "gains of the position loops: kp" in output
    assert "this was the last check" in output


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    bindings = Bindings(tmp_path_factory.mktemp("names"))
    done = bindings.run("-c", NAMES)
    assert done.returncode == 0, done.stderr
    (found,) = [line for line in done.stdout.splitlines() if line.startswith("{")]  # the real bindings log there too
    return json.loads(found), bindings.journal()


def test_ports_are_registered_again_and_opened_beside_those_that_a_name_server_forgot(names):
    found, journal = names
    assert found["opened"] == [True, True, False, True, True]  # a living name is not taken over
    assert len(set(found["numbers"])) == len(found["numbers"])
    assert found["known"] == ["/first", "/second", "/third"]
    assert found["left"] == ["/second", "/third"]
    if IS_STAND_IN:
        assert [line for line in journal if "conflict" in line] == []


def test_a_port_of_the_simulator_is_read_again_after_an_attempt_to_reach_the_robot_failed(names):
    assert names[0]["truths"] == [{"hip": 3000.0}, [0.25, 0.0, 0.0]]
