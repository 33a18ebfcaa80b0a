"""Wrenches by wholeBodyDynamics, and the simulator's truth about the base."""

from __future__ import annotations

import numpy as np
import pytest

from gradiva.middleware import fill_bottle, yarp
from gradiva.yarp_modules.robot.contact_wrenches import input_name
from tests.waiting import wait_until
from tests.yarp_modules.robot.conftest import reach, read_until_late

REMOTES = [f"/wholeBodyDynamics/{side}_foot/cartesianEndEffectorWrench:o" for side in ("left", "right")]


@pytest.fixture
def estimator(network):
    """Play wholeBodyDynamics: return a function that sends one foot's wrench."""
    ports = [yarp.BufferedPortVector() for _ in REMOTES]
    for port, name in zip(ports, REMOTES, strict=True):
        assert port.open(name)

    def publish(row: int, *numbers: float) -> None:
        vector = ports[row].prepare()
        vector.resize(len(numbers))
        for place, number in enumerate(numbers):
            vector.set(place, number)
        ports[row].setEnvelope(yarp.Stamp(0, yarp.now()))
        ports[row].write(True)

    yield publish
    for port in ports:
        port.close()


def test_wrenches_are_taken_as_they_come_and_grow_late(fake, estimator):
    robot = reach(fake, "wrenches=estimated", "first_sample_timeout=10")
    wrench = [1.0, 2.0, 300.0, 4.0, 5.0, 6.0]
    robot._open_parts()

    read = []

    def are_read() -> bool:
        for row in range(2):
            estimator(row, *wrench)
        robot.sample_time()
        if not robot._silent():
            read.append(robot.read().contact_wrenches)
        return bool(read) and np.isfinite(read[-1]).all()

    try:
        wait_until(are_read, "wrenches")
        np.testing.assert_array_equal(read[-1], [wrench, wrench])
        assert np.isnan(read_until_late(robot, *REMOTES).contact_wrenches).all()
    finally:
        robot.close()


def test_our_ports_are_called_as_walking_clients_call_them():
    assert input_name(REMOTES[0]) == "/left_foot/cartesianEndEffectorWrench:i"


def test_the_ports_of_the_estimator_are_required_where_it_is_chosen(fake):
    required = reach(fake, "wrenches=estimated").required_ports()
    assert set(REMOTES) <= set(required)
    assert not any("FT" in port for port in required)


def test_the_true_base_is_read_where_it_is_asked_for(fake, connect):
    truth = yarp.BufferedPortBottle()
    assert truth.open("/icubSim/floating_base/state:o")
    robot = connect("floating_base=true")
    numbers = [0.1, 0.2, 0.5, 0.0, 0.0, float(np.pi / 2), *(0.0,) * 12]

    def publish() -> bool:
        fill_bottle(truth.prepare(), list(numbers))
        truth.write(True)
        return robot.floating_base() is not None

    try:
        wait_until(publish, "the base")
    finally:
        truth.close()
    base = robot.floating_base()
    np.testing.assert_allclose(base.position, [0.1, 0.2, 0.5])
    np.testing.assert_allclose(base.rotation @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-12)
