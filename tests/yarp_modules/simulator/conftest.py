"""A simulator of a test's own: without ports, or as a module on a network of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import lru_cache

import pytest

from gradiva.common import RobotPosture
from gradiva.middleware import Element, NameServer, NetworkSettings, as_items, use_settings, yarp
from gradiva.setup import Setup, load_setup
from gradiva.yarp_modules.module_options import parse_options
from gradiva.yarp_modules.simulator import SimulatedWorld, simulator_module
from gradiva.yarp_modules.simulator.simulator_module import Simulator
from tests.simulation.standing import standing_posture
from tests.waiting import TIMEOUT, wait_until

_solve = simulator_module._start_posture
_VARIABLES = ("YARP_NAMESPACE", "YARP_IP", "YARP_CLOCK", "PUREYARP_LISTEN", "PUREYARP_FAMILY")


@lru_cache
def setup_of(robot: str) -> Setup:
    return load_setup(robot)


@lru_cache
def posture_of(robot: str) -> RobotPosture:
    return standing_posture(setup_of(robot).robot)


def make_world(robot: str = "icub_v2_7") -> SimulatedWorld:
    setup = setup_of(robot)
    return SimulatedWorld(setup.robot, setup.simulation, posture_of(robot))


@pytest.fixture
def world() -> SimulatedWorld:
    return make_world()


@pytest.fixture
def network(tmp_path, monkeypatch) -> Iterator[None]:
    """Run a name server that this test alone uses."""
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path))
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    server = NameServer(NetworkSettings(name_server_port=0, may_serve_names=False))
    server.start()
    use_settings(server.settings)
    yarp.Network.init()
    yield
    yarp.Network.fini()
    server.stop()
    use_settings(None)


class RunningSimulator:
    """A simulator that runs in a thread, and a client of its RPC."""

    def __init__(self, *arguments: str, robot: str = "icub_v2_7") -> None:
        options = parse_options(["--robot", robot, *arguments], "gradiva-simulator", "", Simulator.OPTIONS)
        self.module = Simulator(options)
        self._thread = threading.Thread(target=self.module.runModule, args=(yarp.ResourceFinder(),), daemon=True)
        self._thread.start()
        self._client = yarp.RpcClient()
        self._client.open("/client")
        wait_until(lambda: yarp.Network.exists("/simulator/rpc", True), "the simulator opens its ports")
        assert yarp.Network.connect("/client", "/simulator/rpc")

    def ask(self, text: str, port: yarp.RpcClient | None = None) -> list[Element]:
        reply = yarp.Bottle()
        (port or self._client).write(yarp.Bottle(text), reply)
        return as_items(reply)

    def status(self) -> dict[str, Element]:
        return {str(pair[0]): pair[1] for pair in self.ask("getStatus")[1:]}

    def stop(self) -> None:
        self._client.close()
        self.module.stopModule()
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive()


@pytest.fixture(autouse=True)
def solved_once(monkeypatch):
    """Solve each robot's start posture once for all tests."""
    monkeypatch.setattr(simulator_module, "_start_posture", lambda setup: _start_posture(setup.robot.name))


@lru_cache
def _start_posture(robot: str) -> RobotPosture:
    return _solve(setup_of(robot))


@pytest.fixture
def simulator(network) -> Iterator[Callable[..., RunningSimulator]]:
    """Start simulators by their options, and stop them."""
    running: list[RunningSimulator] = []

    def start(*arguments: str, robot: str = "icub_v2_7") -> RunningSimulator:
        running.append(RunningSimulator(*arguments, robot=robot))
        return running[-1]

    yield start
    for one in running:
        one.stop()
