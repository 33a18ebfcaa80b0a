"""Open one server of each kind in this process, and a client that uses them while others attack."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from gradiva.middleware import yarp
from pureyarp.devices.analog_sensors_client import SensorClass, SensorMeasurement, SensorMetadata
from pureyarp.devices.device_servers import AnalogSensorsServer, ControlBoardServer
from pureyarp.errors import NetworkError
from pureyarp.network.name_server import NameServer
from pureyarp.network.peers import NameClient, request
from pureyarp.network.settings import ConnectionLimits, NetworkSettings, use_settings
from pureyarp.wire.text import from_text, to_text
from tests.middleware.fake_board import IntegratingBoard
from tests.pureyarp.network.local_ports import nothing_is_left, quiet
from tests.waiting import TIMEOUT, wait_until

LARGEST_FRAME = 256 * 1024  # [bytes]
MOST_GROWTH = 16_000_000  # [bytes] of one attack; allocators do not give everything back
LIMITS = ConnectionLimits(largest_frame=LARGEST_FRAME, handshake_timeout=0.4, stall_timeout=0.4, most_connections=512)
SETTINGS = NetworkSettings(name_server_port=0, may_serve_names=False, limits=LIMITS)
_BOARD, _SENSORS = "/board", "/sensors"
_PAUSE = 0.01  # [s] between two rounds of the client


class Echo(yarp.PortReader):
    """Answers with what it was asked."""

    def read(self, reader: yarp.ConnectionReader) -> bool:
        """Read one request and answer it."""
        request = yarp.Bottle()
        if not request.read(reader):
            return False
        writer = reader.getWriter()
        return writer is None or request.write(writer)


class AllServers:
    """A name server, a port, an RPC server, a buffered port that is sent to by udp, a control board, sensors.

    Attributes:
        names: A client of the name server.
        ports: TCP port of everything that listens, by name.
    """

    def __init__(self, settings: NetworkSettings = SETTINGS) -> None:
        self._stack = ExitStack()
        server = NameServer(settings)
        server.start()
        self._stack.callback(server.stop)
        use_settings(server.settings)
        yarp.Network.init()
        self._stack.callback(yarp.Network.fini)
        self.settings = server.settings
        self.names = NameClient(server.settings)
        self._echo_reader = Echo()
        self.port, self.rpc, self.stream = yarp.Port(), yarp.RpcServer(), yarp.BufferedPortBottle()
        self.sender = yarp.Port()
        self.port.setReader(self._echo_reader)
        for name, port in {"/port": self.port, "/rpc": self.rpc, "/stream": self.stream, "/out": self.sender}.items():
            self._open(port, name)
        self._serve_rpc()
        self._stack.enter_context(ControlBoardServer(_BOARD, IntegratingBoard(3), period=0.02))
        self._stack.enter_context(
            AnalogSensorsServer(_SENSORS, {SensorClass.TEMPERATURE: [SensorMetadata("t")]}, _warm)
        )
        assert self.sender.addOutput("/stream", "udp")
        listed = self.names.list_names()
        self.ports = {one.getName(): one.getPort() for one in listed if one.getName() not in ("fallback", "/out")}

    def close(self) -> None:
        """Close everything."""
        self._stack.close()
        use_settings(None)

    def failure(self) -> str:
        """Return what does not work at the moment, empty if all does."""
        try:
            if not self.names.query("/port").isValid():
                return "the name server has forgotten /port"
            for port, question, answer in _DIALOGUES:
                given = to_text(request(self.names.query(port), from_text(question), timeout=TIMEOUT) or [])
                if not given.startswith(answer):
                    return f"{port}: {given} instead of {answer}"
        except NetworkError as error:
            return str(error)
        return ""

    def udp_ports(self) -> list[int]:
        """Return where this process takes datagrams."""
        links = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
        own = {os.readlink(link) for link in links if os.path.islink(link)}
        sockets = [line.split() for line in Path("/proc/self/net/udp").read_text().splitlines()[1:]]
        return [int(words[1].partition(":")[2], 16) for words in sockets if f"socket:[{words[9]}]" in own]

    def _open(self, port: yarp.Port | yarp.BufferedPortBottle, name: str) -> None:
        assert port.open(name)
        self._stack.callback(port.close)
        self._stack.callback(port.interrupt)

    def _serve_rpc(self) -> None:
        def serve() -> None:
            request = yarp.Bottle()
            while self.rpc.read(request, True):
                self.rpc.reply(request)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        self._stack.callback(lambda: (self.rpc.interrupt(), thread.join(TIMEOUT)))


_DIALOGUES = [
    ("/port", "hello 1 2.5", "hello 1 2.5"),
    ("/rpc", "(a b) [c]", "(a b) [c]"),
    (f"{_BOARD}/rpc:i", "[get] [axes]", "[is] [axes] 3 [tsta]"),
    (f"{_SENSORS}/rpc:o", "getMetadata", "() () () () (("),
]


def _warm() -> dict[SensorClass, list[SensorMeasurement]]:
    return {SensorClass.TEMPERATURE: [SensorMeasurement((20.0,), 0.0)]}


class RegularClient:
    """Uses everything again and again from another thread; keeps what did not work."""

    def __init__(self, all_servers: AllServers) -> None:
        self.failures: list[str] = []
        self.rounds = 0
        self._servers = all_servers
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> RegularClient:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(TIMEOUT)

    def _run(self) -> None:
        while not self._ended.wait(_PAUSE):
            failure = self._servers.failure()
            if failure:
                self.failures.append(failure)
            self.rounds += 1


@contextmanager
def under_attack(all_servers: AllServers) -> Iterator[None]:
    """Check that the client is served during and after, and that threads, files and memory are given back."""
    assert all_servers.failure() == ""
    gc.collect()
    before = resident_memory()
    with nothing_is_left():
        with RegularClient(all_servers) as client:
            yield
            rounds = client.rounds
            wait_until(lambda: client.rounds > rounds)
        assert client.failures == []
        assert all_servers.failure() == ""
    gc.collect()
    growth = resident_memory() - before
    assert growth < MOST_GROWTH, f"{growth / 1e6:.1f} MB more"


def resident_memory() -> int:
    """Return how much memory this process has, [bytes]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def open_servers(**settings: object) -> Iterator[AllServers]:
    """Open one server of each kind and close them; nothing of them stays behind, not even a line in the log."""
    with quiet(), nothing_is_left():
        opened = AllServers(replace(SETTINGS, **settings))  # type: ignore[arg-type]
        try:
            yield opened
        finally:
            opened.close()


def resting(seconds: float) -> None:
    """Wait: what is tested is that something does not happen before, or lasts longer."""
    time.sleep(seconds)
