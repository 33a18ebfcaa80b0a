"""Processes are killed and started again: those that survive go on without being restarted.

Each test waits at most `BOUND` for what it says to happen again. Measured on two busy cores, from the moment at which
the new process is ready: names are known again after 1.0 s at most (they are looked at once a second), streams and
calls, whose connections are looked at ten times a second here, after 0.2 s, a control board after 0.6 s.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gradiva.middleware import yarp
from gradiva.middleware.persistent_connections import PersistentConnections
from pureyarp.data.values import Property
from pureyarp.data.vectors import DVector
from pureyarp.devices.poly_driver import PolyDriver
from pureyarp.devices.server_ports import PeriodicPublisher
from pureyarp.errors import NameServerUnreachable
from pureyarp.network.peers import NameClient
from pureyarp.network.settings import current_settings
from tests.middleware.survival_peer import STREAMS
from tests.pureyarp.network.local_ports import nothing_is_left, quiet
from tests.waiting import wait_until

BOUND = 10.0  # [s]
_ROOT = Path(__file__).parents[2]
_START = 30.0  # [s] for a process to be ready


class Peer:
    """Another process in one of the roles of `survival_peer`."""

    def __init__(self, role: str, name: str = "") -> None:
        command = [sys.executable, "-m", "tests.middleware.survival_peer", role, name]
        self._process = subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.said: list[str] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def is_ready(self) -> bool:
        """Return whether its ports are open."""
        assert self._process.poll() is None
        return "ready" in self.said

    def heard(self) -> dict[str, int]:
        """Return the last number that a reader has got by each carrier."""
        return {carrier: int(number) for carrier, number in (line.split() for line in self.said if " " in line)}

    def kill(self) -> None:
        """End it at once, as a crash would; nothing if it has ended."""
        if self._process.poll() is None:
            self._process.kill()
            self._end()

    def leave(self) -> None:
        """Let it end in good order."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._end()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said.append(line.strip())

    def _end(self) -> None:
        self._process.wait(BOUND)
        self._thread.join(BOUND)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()


Start = Callable[..., Peer]


@pytest.fixture
def start(own_name_server, isolated_config_home) -> Iterator[Start]:
    """Start processes of one network; they end with the test, and leave nothing in this process."""
    own_name_server.write_file(isolated_config_home / "yarp.conf")
    with quiet(), nothing_is_left(), ExitStack() as stack:

        def started(role: str, name: str = "") -> Peer:
            peer = Peer(role, name)
            stack.callback(peer.kill)
            wait_until(peer.is_ready, _START)
            return peer

        yield started


@pytest.fixture
def names(own_name_server, start) -> Peer:
    """Serve names in another process instead of this one."""
    own_name_server.stop()
    return start("names")


@pytest.fixture
def stack(start) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def opened(stack: ExitStack, port: yarp.Port | yarp.BufferedPortBottle, name: str) -> None:
    assert port.open(name)
    stack.callback(port.close)
    stack.callback(port.interrupt)


def kept(stack: ExitStack, wanted: list[tuple[str, str, str]]) -> PersistentConnections:
    connections = PersistentConnections(wanted, period=0.1, healthy_period=0.3)
    connections.start()
    stack.callback(connections.stop)
    wait_until(connections.are_connected, BOUND)
    return connections


def known_names() -> set[str]:
    try:
        return {contact.getName() for contact in NameClient(current_settings()).list_names()}
    except NameServerUnreachable:
        return set()


def again(is_so: Callable[[], bool], what: str) -> None:
    """Wait for something to be so again, and tell how long it took."""
    began = time.monotonic()
    wait_until(is_so, BOUND)
    print(f"{what}: {time.monotonic() - began:.2f} s")


class Stream:
    """Numbers that arrive at a port of this process."""

    def __init__(self, stack: ExitStack, name: str) -> None:
        self.port = yarp.BufferedPortBottle()
        opened(stack, self.port, name)
        self.last = -1

    def goes_on(self) -> bool:
        """Return whether a number has arrived."""
        bottle = self.port.read(False)
        if bottle is None:
            return False
        self.last = bottle.get(0).asInt32()
        return True


class Writer:
    """Streams numbers from a port of this process."""

    def __init__(self, stack: ExitStack, name: str) -> None:
        self.number = 0
        self._port = yarp.BufferedPortBottle()
        self._publisher = PeriodicPublisher(name, 0.005, self._write)
        opened(stack, self._port, name)
        self._publisher.start()
        stack.callback(self._publisher.stop)

    def _write(self) -> None:
        bottle = self._port.prepare()
        bottle.clear()
        bottle.addInt32(self.number)
        self._port.write()
        self.number += 1


def test_a_stream_does_not_notice_that_the_name_server_is_killed_and_names_come_back(start, names, stack):
    start("writer", "/numbers")
    stream = Stream(stack, "/stream")
    assert yarp.Network.connect("/numbers", "/stream", "tcp")
    wait_until(stream.goes_on, BOUND)
    names.kill()
    assert known_names() == set()
    before = stream.last
    wait_until(lambda: stream.goes_on() and stream.last > before + 20, BOUND)  # nobody serves names
    before = stream.last
    start("names")
    again(lambda: {"/numbers", "/stream"} <= known_names(), "names after the name server")
    wait_until(lambda: stream.goes_on() and stream.last > before, BOUND)
    assert yarp.Network.isConnected("/numbers", "/stream")
    assert yarp.Network.exists("/stream")


def test_streams_resume_after_their_writer_was_killed(start, stack):
    streams = {carrier: Stream(stack, f"/stream/{carrier}") for carrier in STREAMS}
    writer = start("writer", "/numbers")
    kept(stack, [("/numbers", f"/stream/{carrier}", carrier) for carrier in STREAMS])
    for stream in streams.values():
        wait_until(stream.goes_on, BOUND)
    writer.kill()
    start("writer", "/numbers")
    for carrier, stream in streams.items():
        stream.goes_on()  # what the dead one has left
        again(stream.goes_on, f"{carrier} stream after its writer")


def test_streams_resume_after_their_reader_was_killed(start, stack):
    writer = Writer(stack, "/numbers")
    reader = start("reader", "/stream")
    kept(stack, [("/numbers", f"/stream/{carrier}", carrier) for carrier in STREAMS])
    wait_until(lambda: set(reader.heard()) == set(STREAMS), BOUND)
    reader.kill()
    before = writer.number
    wait_until(lambda: writer.number > before + 20, BOUND)  # the writer is not held up
    reader = start("reader", "/stream")
    again(lambda: set(reader.heard()) == set(STREAMS), "streams after their reader")
    assert min(reader.heard().values()) > before


def test_calls_resume_after_their_server_was_killed_without_a_call_in_the_meantime(start, stack):
    client, question, answer = yarp.RpcClient(), yarp.Bottle("how are you"), yarp.Bottle()
    opened(stack, client, "/client")
    server = start("server", "/server")
    connections = kept(stack, [("/client", "/server", "tcp")])
    assert client.write(question, answer)
    server.kill()
    start("server", "/server")
    again(lambda: connections.status()[0].times_made == 2, "calls after their server")
    assert client.write(question, answer)
    assert answer.toString() == "how are you"


def test_a_call_to_a_server_that_was_killed_fails_and_later_ones_succeed(start, stack):
    client, question, answer = yarp.RpcClient(), yarp.Bottle("how are you"), yarp.Bottle()
    opened(stack, client, "/client")
    server = start("server", "/server")
    assert client.addOutput("/server")
    server.kill()
    assert not client.write(question, answer)
    start("server", "/server")
    assert client.addOutput("/server")
    assert client.write(question, answer)


def controlled(stack: ExitStack) -> Callable[[], bool]:
    """Open a remote control board and return a function: whether its joints are measured."""
    config = Property()
    for key, value in {"device": "remote_controlboard", "local": "/client", "remote": "/board", "timeout": 0.3}.items():
        config.put(key, value)
    driver = PolyDriver(config)
    stack.callback(driver.close)
    assert driver.isValid()
    encoders, positions = driver.viewIEncoders(), DVector(3)
    assert encoders is not None
    return lambda: encoders.getEncoders(positions)


def test_a_remote_control_board_resumes_after_its_server_was_killed(start, stack):
    board = start("board", "/board")
    is_measured = controlled(stack)
    wait_until(is_measured, BOUND)
    board.kill()
    wait_until(lambda: not is_measured(), BOUND)
    start("board", "/board")
    again(is_measured, "control board after its server")


def test_a_remote_control_board_resumes_after_its_server_and_the_name_server_were_killed(start, names, stack):
    board = start("board", "/board")
    is_measured = controlled(stack)
    wait_until(is_measured, BOUND)
    names.kill()
    board.kill()
    wait_until(lambda: not is_measured(), BOUND)
    start("names")
    start("board", "/board")
    again(is_measured, "control board after its server and the name server")


def test_processes_that_leave_take_their_names_with_them(start, stack):
    peers = [start("writer", "/numbers"), start("reader", "/stream"), start("board", "/board")]
    kept(stack, [("/numbers", "/stream/tcp", "tcp")]).stop()
    is_measured = controlled(stack)
    wait_until(is_measured, BOUND)
    stack.close()
    for peer in peers:
        peer.leave()
    assert known_names() == {"/root", "fallback"}
