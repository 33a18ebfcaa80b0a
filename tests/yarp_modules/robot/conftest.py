"""A robot of a test's own network."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from gradiva.robot_model import Environment
from gradiva.setup import load_setup
from gradiva.yarp_modules.robot import RobotIoConfig, YarpRobot
from tests.middleware.conftest import folder_of_nobody, own_name_server  # noqa: F401 (fixtures)
from tests.yarp_modules.robot.fake_robot import FakeRobot

PATIENCE = 5.0  # [s]


@pytest.fixture
def fake(own_name_server) -> Iterator[FakeRobot]:  # noqa: F811
    """Run the boards and sensors of iCub v2.7."""
    with FakeRobot(load_setup("icub_v2_7").robot) as robot:
        yield robot


@pytest.fixture
def connect(fake) -> Iterator[Callable[..., YarpRobot]]:
    """Return a function that reaches the fake robot, with ``robot_io.key=value``."""
    opened: list[YarpRobot] = []

    def reach(*overrides: str) -> YarpRobot:
        setup = load_setup("icub_v2_7", [f"robot_io.{override}" for override in overrides])
        config = setup.part(RobotIoConfig, "robot_io")
        opened.append(YarpRobot(fake.description, Environment.SIMULATION, config, "/walking"))
        opened[-1].open()
        return opened[-1]

    yield reach
    for robot in opened:
        robot.close()


@pytest.fixture
def robot(connect) -> YarpRobot:
    """Reach the fake robot."""
    return connect()


def wait_until(condition: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait for what should happen at once."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)
