"""A robot on a network of its own: one for all tests of a file, as it was at first before each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from gradiva.common import Measurement
from gradiva.middleware import NameServer, NetworkSettings, use_settings
from gradiva.robot_model import Environment
from gradiva.setup import load_setup
from gradiva.yarp_modules.robot import RobotIoConfig, YarpRobot
from pureyarp.network.network import life
from tests.waiting import wait_until
from tests.yarp_modules.robot.fake_robot import FakeRobot

PERIOD = 0.02  # [s] of boards and sensors
_VARIABLES = ("YARP_NAMESPACE", "YARP_IP", "YARP_PORT_PREFIX", "YARP_CLOCK", "PUREYARP_LISTEN")
_names = count()


@pytest.fixture(scope="module")
def network(tmp_path_factory) -> Iterator[None]:
    """Run a name server that the tests of a file alone use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("YARP_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        for name in _VARIABLES:
            patch.delenv(name, raising=False)
        server = NameServer(NetworkSettings(name_server_port=0, may_serve_names=False))
        server.start()
        use_settings(server.settings)
        life.begin()
        yield
        life.end()
        server.stop()
        use_settings(None)


@pytest.fixture(scope="module")
def running_robot(network) -> Iterator[FakeRobot]:
    """Run the boards and sensors of iCub v2.7."""
    with FakeRobot(load_setup("icub_v2_7").robot, PERIOD) as robot:
        yield robot


@pytest.fixture
def fake(running_robot) -> FakeRobot:
    """Hand out the fake robot as it was at first."""
    running_robot.reset()
    return running_robot


@pytest.fixture(scope="module")
def reached_robot(running_robot) -> Iterator[YarpRobot]:
    """Reach the fake robot once; it is not closed by any test."""
    robot = reach(running_robot)
    robot.open()
    yield robot
    robot.close()


@pytest.fixture
def robot(fake, reached_robot) -> YarpRobot:
    """Hand out the robot behind its ports, all sources fresh, the motors not taken."""
    reached_robot._modes.rearm()
    read_until_late(reached_robot)
    return reached_robot


@pytest.fixture
def connect(fake) -> Iterator[Callable[..., YarpRobot]]:
    """Return a function that reaches the fake robot anew, with ``robot_io.key=value``; it may be closed."""
    opened: list[YarpRobot] = []

    def reach_anew(*overrides: str) -> YarpRobot:
        opened.append(reach(fake, *overrides))
        opened[-1].open()
        return opened[-1]

    yield reach_anew
    for robot in opened:
        robot.close()


def read_until_late(robot: YarpRobot, *sources: str) -> Measurement:
    """Read until these sources alone are late; return that measurement. A busy machine makes others so for moments."""
    found: list[Measurement] = []
    wait_until(lambda: found.append(robot.read()) or robot.late == sources, lambda: f"{robot.late}, not {sources}")
    return found[-1]


def reach(fake: FakeRobot, *overrides: str) -> YarpRobot:
    """Return the robot behind its ports, not yet open."""
    setup = load_setup("icub_v2_7", ["robot_io.max_age=0.1", *(f"robot_io.{override}" for override in overrides)])
    config = setup.part(RobotIoConfig, "robot_io")
    return YarpRobot(fake.description, Environment.SIMULATION, config, f"/walking{next(_names)}")
