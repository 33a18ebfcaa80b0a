import threading
import time
from collections.abc import Iterator

import pytest

from pureyarp.network import Network, clock
from pureyarp.network.clock import NetworkClock
from pureyarp.network.peers import is_connected
from pureyarp.network.port_core import PortCore
from tests.pureyarp.network.running_threads import is_waiting, threads_named
from tests.waiting import wait_until


class Simulator:
    """Publishes the time of a simulation."""

    def __init__(self) -> None:
        self._port = PortCore()
        self._port.open("/clock")

    def tick(self, seconds: int, nanoseconds: int = 0) -> None:
        self._port.send([seconds, nanoseconds])

    def has_listener(self) -> bool:
        return self._port.has_outputs

    def close(self) -> None:
        self._port.close()


@pytest.fixture(autouse=True)
def system_clock(monkeypatch) -> Iterator[None]:
    """Begin and end on the machine's clock; a network clock is looked at often."""
    monkeypatch.setattr(clock, "_FIRST_TIME", 0.01)
    monkeypatch.setattr(clock, "_CHECK_PERIOD", 0.02)
    monkeypatch.setattr(clock, "_SILENCE", 0.1)
    clock.useSystemClock()
    yield
    clock.useSystemClock()
    wait_until(lambda: not threads_named("yarp clock"))


@pytest.fixture
def simulator(name_server) -> Iterator[Simulator]:
    simulator = Simulator()
    yield simulator
    simulator.close()


def test_the_machines_clock_is_the_usual_one():
    assert clock.isSystemClock()
    assert not clock.isNetworkClock()
    assert clock.isValid()
    assert abs(clock.now() - time.time()) < 5.0
    begin = time.monotonic()
    clock.delay(0.01)
    assert time.monotonic() - begin >= 0.01
    clock.delay(-1.0)


def test_time_is_what_the_simulator_says(simulator):
    clock.useNetworkClock("/clock")
    assert clock.isNetworkClock()
    assert clock.getClockType() == clock.YARP_CLOCK_NETWORK
    assert not clock.isValid()
    assert clock.now() == 0.0
    wait_until(simulator.has_listener)
    simulator.tick(12, 500_000_000)
    wait_until(clock.isValid)
    assert clock.now() == 12.5


def test_waiting_ends_when_the_simulation_has_come_so_far(simulator):
    clock.useNetworkClock("/clock")
    wait_until(simulator.has_listener)
    simulator.tick(10)
    wait_until(clock.isValid)
    ended: list[float] = []
    thread = threading.Thread(target=lambda: (clock.delay(1.5), ended.append(clock.now())))
    thread.start()
    wait_until(lambda: is_waiting(thread))
    simulator.tick(11)
    simulator.tick(11, 499_000_000)
    thread.join(0.05)
    assert not ended
    simulator.tick(11, 500_000_000)
    thread.join(10.0)
    assert ended == [11.5]


def test_waiting_starts_over_with_the_simulation(simulator):
    clock.useNetworkClock("/clock")
    wait_until(simulator.has_listener)
    simulator.tick(100)
    wait_until(clock.isValid)
    thread = threading.Thread(target=clock.delay, args=(1.0,))
    thread.start()
    wait_until(lambda: is_waiting(thread))
    simulator.tick(0)
    wait_until(lambda: clock.now() == 0.0)
    simulator.tick(0, 999_000_000)
    thread.join(0.05)
    assert thread.is_alive()
    simulator.tick(1)
    thread.join(10.0)
    assert not thread.is_alive()


def test_waiting_for_a_simulation_ends_when_the_clock_is_left(simulator):
    clock.useNetworkClock("/clock")
    thread = threading.Thread(target=clock.delay, args=(1000.0,))
    thread.start()
    wait_until(lambda: is_waiting(thread))
    clock.useSystemClock()
    thread.join(10.0)
    assert not thread.is_alive()
    assert clock.isSystemClock()


def test_a_restarted_simulator_is_followed_again(simulator):
    clock.useNetworkClock("/clock", "/local")
    wait_until(simulator.has_listener)
    simulator.tick(5)
    wait_until(clock.isValid)
    simulator.close()
    restarted = Simulator()
    wait_until(restarted.has_listener)
    assert is_connected("/clock", "/local")
    restarted.tick(1)
    wait_until(lambda: clock.now() == 1.0)
    restarted.close()


def test_a_simulator_that_starts_later_is_waited_for(name_server, monkeypatch):
    monkeypatch.setenv("YARP_CLOCK", "/clock")
    late: list[Simulator] = []

    def simulate() -> None:
        late.append(Simulator())
        wait_until(late[0].has_listener)
        late[0].tick(7)

    starter = threading.Timer(0.1, simulate)
    starter.start()
    Network.init()
    assert clock.isNetworkClock()
    assert clock.now() == 7.0
    starter.join()
    late[0].close()
    Network.fini()
    assert clock.isSystemClock()


def test_a_network_that_has_begun_keeps_its_clock(simulator, monkeypatch):
    monkeypatch.setenv("YARP_CLOCK", "/clock")
    clock.useNetworkClock("/clock")
    wait_until(simulator.has_listener)
    simulator.tick(7)
    wait_until(clock.isValid)
    Network.init()
    assert clock.now() == 7.0
    assert len(threads_named("yarp clock")) == 1
    Network.fini()


def test_the_machines_clock_can_be_asked_for_in_spite_of_the_variable(name_server, monkeypatch):
    monkeypatch.setenv("YARP_CLOCK", "/clock")
    Network.init(clock.YARP_CLOCK_SYSTEM)
    assert clock.isSystemClock()
    assert clock.isClockInitialized()


def test_what_is_no_time_is_left_out(simulator):
    clock.useNetworkClock("/clock")
    wait_until(simulator.has_listener)
    simulator.tick(3)
    wait_until(clock.isValid)
    simulator._port.send(["nonsense"])
    simulator.tick(4)
    wait_until(lambda: clock.now() == 4.0)


def test_a_wait_starts_over_though_the_waiting_thread_sees_only_later_times():
    follower = NetworkClock("/clock")
    follower.set_time(100.0)
    thread = threading.Thread(target=follower.delay, args=(1.0,), daemon=True)
    thread.start()
    wait_until(lambda: is_waiting(thread))
    for seconds in (0.0, 0.5, 0.75):  # in one go
        follower.set_time(seconds)
    assert thread.is_alive()
    follower.set_time(1.0)
    thread.join(10.0)
    assert not thread.is_alive()


def test_several_waits_end_each_in_its_time():
    follower = NetworkClock("/clock")
    follower.set_time(0.0)
    ended: list[float] = []
    waits = [
        threading.Thread(target=lambda due=due: (follower.delay(due), ended.append(due)), daemon=True)
        for due in (3.0, 1.0, 2.0)
    ]
    for thread in waits:
        thread.start()
        wait_until(lambda thread=thread: is_waiting(thread))
    for second in (1, 2, 3):
        follower.set_time(float(second))
        wait_until(lambda second=second: len(ended) == second)
    assert ended == [1.0, 2.0, 3.0]
