"""The panel over ports, before a coordinator that records its commands."""

import json
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.middleware import CommandReader, RequestReader, VectorsCollectionServer, yarp
from gradiva.page import picture_type
from gradiva.yarp_modules.coordinator_client import CoordinatorClient
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.panel_module import PanelModule, boards_of
from gradiva.yarp_modules.rpc_commands import fail, ok, pairs
from tests.conftest import description_of
from tests.middleware.conftest import isolated_config_home, own_name_server  # noqa: F401 (fixtures)
from tests.waiting import TIMEOUT, wait_until

STATUS = {"reason": "started", "notice": "", "time": 12.0, "step_adaptation": "off"}
NAMES = {
    "root_link::position::measured": ("x", "y", "z"),
    "root_link::orientation::measured": ("roll", "pitch", "yaw"),
    "odometry::root_link::position": ("x", "y", "z"),
    "joints_state::positions::measured": description_of("g1").joints,
    "left_foot::position::measured": ("x", "y", "z"),
    "left_foot::orientation::measured": ("roll", "pitch", "yaw"),
    "left_foot::linear_force::measured": ("x", "y", "z"),
}


class Coordinator:
    """Answers every command but ``startWalking``, which it refuses; publishes signals."""

    def __init__(self):
        self.commands, self.goals = [], []
        self.may_pause = threading.Event()
        self._answerer, self._taker = RequestReader(self._answer), CommandReader(self.goals.append)
        self._ports = [yarp.Port(), yarp.Port(), yarp.BufferedPortBottle()]
        self._ports[0].setReader(self._answerer)
        self._ports[1].setReader(self._taker)
        for port, name in zip(self._ports, ("rpc", "goal:i", "health:o"), strict=True):
            assert port.open(f"/robot/{name}")
        self._logger = VectorsCollectionServer("/robot/logger")
        self._logger.open()
        for name, elements in NAMES.items():
            self._logger.populate_metadata(name, elements)

    def _answer(self, items):
        if items == ["getStatus"]:
            return ok("paused", *pairs(STATUS))
        if items == ["getHealth"]:
            return ok(["state", "paused"], ["overruns", 0], ["errors", 2])
        self.commands.append(items)
        if items == ["pauseWalking"]:
            assert self.may_pause.wait(TIMEOUT)
        if items == ["dump"]:
            return ok("runs/dump")
        return fail("prepare the robot first") if items == ["startWalking"] else ok()

    def publish(self, time=1.0):
        vectors = {name: [0.0] * len(elements) for name, elements in NAMES.items()}
        vectors["root_link::position::measured"] = [0.5, 0.0, 0.7]
        vectors["odometry::root_link::position"] = [0.4, 0.1, 0.7]
        vectors["joints_state::positions::measured"] = [0.1] * len(description_of("g1").joints)
        vectors["left_foot::linear_force::measured"] = [0.0, 0.0, 300.0]
        stamp = yarp.Stamp()
        stamp.update(time)
        self._logger.send(vectors, stamp)

    def close(self):
        self._logger.close()
        for port in self._ports:
            port.close()


class FakePage:
    """Sends what a test puts into it, keeps what it is shown."""

    def __init__(self):
        self.is_open, self.outgoing, self.status = True, [], {}
        self.picture, self.plotted = None, None

    def messages(self):
        while self.outgoing:
            yield self.outgoing.pop(0)

    def show(self, picture):
        self.picture = np.frombuffer(bytes(picture), picture_type(len(description_of("g1").joints)))[0]

    def plot(self, columns, row):
        self.plotted = dict(zip(columns, row[1:], strict=True))

    def report(self, status):
        self.status = status

    def row(self, name):
        return next((row[1:] for row in self.status.get("health", ()) if row[0] == name), None)


@pytest.fixture
def coordinator(own_name_server):  # noqa: F811
    coordinator = Coordinator()
    yield coordinator
    coordinator.close()


@pytest.fixture
def page(coordinator, monkeypatch):
    page = FakePage()
    monkeypatch.setattr(PanelModule, "open_page", lambda self: page)
    module = PanelModule(ModuleOptions(robot="g1", extras={"remote": "/robot"}))
    thread = threading.Thread(target=lambda: module.runModule(yarp.ResourceFinder()), daemon=True)
    thread.start()
    wait_until(lambda: module._connections.are_connected(), "connected")
    yield page
    module.stopModule()
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_the_panel_drives_commands_shows_and_sees_who_is_gone(coordinator, page):
    wait_until(lambda: page.status.get("state") == "stands, paused", "the state comes")
    assert (page.status["reason"], page.status["stepping"], page.status["is_simulated"]) == ("started", "off", False)
    wait_until(lambda: page.row("/robot") == [True, "paused, 2 errors"], "it is well")
    assert page.row("left_leg") == [False, "does not answer"], "there is no robot"

    coordinator.publish()
    wait_until(lambda: page.plotted, "signals come")
    wait_until(lambda: page.picture is not None, "a picture comes")
    assert page.picture["base"].tolist() == [0.5, 0.0, 0.7]
    assert set(page.picture["joints"]) == {0.1}
    assert page.plotted["left_foot::linear_force::measured::z"] == 300.0
    wait_until(lambda: len(page.status["footprints"]) == 1, "the foot that stands is a footprint")

    page.outgoing.append({"drive": [0.5, 0.0, -2.0]})
    wait_until(lambda: [0.5, 0.0, -1.0] in coordinator.goals, "the stick comes, within its limits")
    wait_until(lambda: coordinator.goals[-1] == [0.0, 0.0, 0.0], "half a second of silence lets it go")
    wait_until(lambda: "the driver is silent" in page.status["notice"], "that is said")

    page.outgoing += [{"stop": True}, {"goal": [1.0, 0.0, 90.0]}]
    page.outgoing += [{"command": ["startWalking"]}, {"command": ["emergencyStop"]}]
    page.outgoing += [{"command": ["dump"]}, {"command": [True]}, {"push": {}}]
    wait_until(lambda: len(coordinator.commands) == 5, "the commands come, before the reply to the stop")
    coordinator.may_pause.set()
    assert sorted(map(str, coordinator.commands)) == [
        "['dump']",
        "['emergencyStop']",
        "['pauseWalking']",
        "['setGoal', [0.9, 0.1, 90.0]]",
        "['startWalking']",
    ], "the goal is a place of the plan's world"
    wait_until(lambda: sum(outcome != "sent" for _, _, outcome in page.status["log"]) == 5, "replies come")
    outcomes = {command: outcome for _, command, outcome in page.status["log"]}
    assert outcomes["startWalking"] == "refused: prepare the robot first"
    assert (outcomes["emergencyStop"], outcomes["dump"]) == ("done", "done: runs/dump")

    coordinator.close()
    wait_until(lambda: page.row("/robot") == [False, "does not answer"], "it is gone")
    wait_until(lambda: page.status["state"] == "no answer of the coordinator", "that is said")


@pytest.fixture
def hasty_threads():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_replies_are_noted_while_commands_are(own_name_server, hasty_threads):  # noqa: F811
    module = PanelModule(ModuleOptions(robot="g1"))
    with ThreadPoolExecutor() as threads:
        replies = threads.submit(lambda: [module._note(f"command {number}", "done") for number in range(1000)])
        while not replies.done():
            module._note("startWalking")
            json.dumps(module.status(0.0)["log"])
        replies.result()


def test_a_reply_that_cannot_be_taken_leaves_the_next_command_its_turn(caplog):
    taken = []

    def take(command, reply):
        taken.append(command)
        if command == ["pauseWalking"]:
            raise RuntimeError("deque mutated")

    client = CoordinatorClient("/panel/emergency:o", take)
    for command in ("pauseWalking", "emergencyStop"):
        client.send(command)
    client._commands.put(None)
    with caplog.at_level(logging.ERROR):
        client._run()
    assert taken == [["pauseWalking"], ["emergencyStop"]]
    assert "pauseWalking could not be taken" in caplog.text


def test_boards_and_sensors_that_walking_uses_are_looked_at():
    ports = boards_of(description_of("icub_v2_7"), ModuleOptions().environment)
    assert ports["left_leg"] == "/icubSim/left_leg/stateExt:o"
    assert sum(port.endswith("/measures:o") for port in ports.values()) >= 2


def test_wrong_options_are_refused():
    with pytest.raises(ConfigError, match="--port x"):
        PanelModule(ModuleOptions(robot="g1", extras={"port": "x"}))
    with pytest.raises(ConfigError, match="give --tls-cert"):
        PanelModule(ModuleOptions(robot="g1", extras={"listen": "robot.example"}))
