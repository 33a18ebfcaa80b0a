"""A YARP network of its own for a measurement, and what the middleware carries on it between two processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.middleware import (
    CommandKind,
    JointData,
    JointDataMessage,
    MeasurementsReader,
    NameClient,
    NameServer,
    NameServerUnreachable,
    NetworkError,
    NetworkSettings,
    SensorClass,
    SensorMeasurement,
    SettingsError,
    StreamedCommand,
    WireFamily,
    current_settings,
    joint_data_in,
    leave_network,
    load_settings,
    measurements_messages,
    measurements_to_items,
    numbers_of,
    sizes_of,
    use_settings,
    values_messages,
    yarp,
)
from gradiva.middleware.measured_peer import FIFO

_VARIABLES, _FILES = "YARP_", ("YARP_DATA_DIRS", "YARP_DATA_HOME")
_LOOK = 0.02  # [s]
_TIMEOUT = 30.0  # [s] for a process to begin, and to end after its standard input closed
_SERVING_TIMEOUT = 120.0  # [s] for a name server to begin to serve on a machine that is busy


class Peer:
    """A process that plays one role of ``measured_peer``; it does not outlive a block that it is entered for."""

    def __init__(self, environment: Mapping[str, str], role: str, *options: object) -> None:
        """Start it and wait until its port is open.

        Raises:
            NetworkError: It ended before.
        """
        command = [sys.executable, "-m", "gradiva.middleware.measured_peer", role, *map(str, options)]
        pipe = subprocess.PIPE  # unbuffered: `communicate` would not find what was read ahead
        self._process = subprocess.Popen(command, 0, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)
        self._role = role
        if not self._is_ready():
            raise NetworkError(self._failure())

    def _is_ready(self) -> bool:
        """Wait for the word, among the lines that YARP writes itself; a process that hangs before it is killed."""
        assert self._process.stdout is not None
        alarm = threading.Timer(_TIMEOUT, self._process.kill)
        alarm.start()
        try:
            return any(line.strip() == b"ready" for line in self._process.stdout)
        finally:
            alarm.cancel()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.has_ended:
            self.kill()

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def findings(self, timeout: float) -> dict[str, Any]:
        """Wait for the end of the process; return what it found.

        Raises:
            NetworkError: It failed or took longer than ``timeout`` [s].
        """
        try:
            output, errors = self._process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise NetworkError(f"peer '{self._role}' did not end within {timeout:g} s") from None
        if self._process.returncode != 0:
            raise NetworkError(f"peer '{self._role}': {errors.decode().strip()}")
        return next(json.loads(line) for line in reversed(output.splitlines()) if line.startswith(b"{"))

    def kill(self) -> None:
        """End the process as a crash would."""
        self._process.kill()
        self._process.communicate()

    def _failure(self) -> str:
        _, errors = self._process.communicate(timeout=_TIMEOUT)
        return f"peer '{self._role}': {errors.decode().strip() or 'ended without a word'}"


class NameServerProcess:
    """A name server as a program of its own, which can be killed and started again; entered as a context."""

    def __init__(self, folder: Path) -> None:
        """Choose an address, and write the file in which processes find it into ``folder``."""
        probe = NameServer(NetworkSettings(name_server_port=0))
        probe.start()
        probe.stop()
        self._port = probe.settings.name_server_port
        self.environment = {**without_network(os.environ), "YARP_CONFIG_HOME": str(folder), "OMP_NUM_THREADS": "1"}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> NameServerProcess:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, and wait until it serves.

        Raises:
            NetworkError: It does not.
        """
        command = [sys.executable, "-m", "gradiva.cli", "yarpserver", "--host", "127.0.0.1", "--write"]
        self._process = subprocess.Popen(
            [*command, "--port", str(self._port)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + _SERVING_TIMEOUT
        while not self._serves():
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise NetworkError(f"the name server at 127.0.0.1:{self._port} did not begin to serve")
            time.sleep(_LOOK)

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _serves(self) -> bool:
        """Whether it answers, and has written the file; before that, modules would take the default address."""
        try:
            settings = load_settings(self.environment)
            if settings.name_server_port != self._port:
                return False
            NameClient(settings).list_names()
        except (SettingsError, NameServerUnreachable):  # a file that is half written, or no server yet
            return False
        return True


@contextmanager
def private_network() -> Iterator[dict[str, str]]:
    """Serve names beside all other networks; yields the environment in which processes find this one alone.

    The name server is a process of its own: in this one it could not answer the real bindings, which hold the
    interpreter while they close a port.
    """
    with tempfile.TemporaryDirectory(prefix="gradiva-network-") as folder, NameServerProcess(Path(folder)) as names:
        yield names.environment


@contextmanager
def joined(network: Mapping[str, str]) -> Iterator[None]:
    """Let this process take part in a private network, given by its environment; it never serves names itself.

    Raises:
        NetworkError: The environment names no network: at the default address there may be a robot.
    """
    settings = load_settings(network)
    if not settings.found_in:
        raise NetworkError(f"no file names the private network in {network.get('YARP_CONFIG_HOME')}")
    former, own = current_settings(), dict(os.environ)
    use_settings(replace(settings, may_serve_names=False))
    _exchange_variables(network)  # the real bindings read their configuration themselves
    yarp.Network.init(yarp.YARP_CLOCK_SYSTEM)
    try:
        yield
    finally:
        leave_network()
        _exchange_variables(own)
        use_settings(former)


def _exchange_variables(environment: Mapping[str, str]) -> None:
    """Let this process have YARP's variables of ``environment`` in place of its own."""
    for name in [name for name in os.environ if name.startswith(_VARIABLES)]:
        del os.environ[name]
    os.environ.update({name: value for name, value in environment.items() if name.startswith(_VARIABLES)})


def without_network(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without YARP's variables but those by which it finds its own files, such as devices."""
    return {name: value for name, value in environment.items() if not name.startswith(_VARIABLES) or name in _FILES}


# -- measurements between two processes --------------------------------------------------------------------------------

_MEASUREMENT_TIMEOUT = 60.0  # [s] beyond what a measurement lasts


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """Remote procedure calls with 100 doubles each way.

    Attributes:
        durations_us: Of each call.
        failures: Calls without the right answer.
        run_delay_us: For which the caller waited for a core, of each call on average.
    """

    durations_us: list[float]
    failures: int
    run_delay_us: float


@dataclass(frozen=True, slots=True)
class StrictStream:
    """Messages of 100 doubles, written strictly and read strictly, as fast as they go.

    Attributes:
        messages: Written.
        lost: Of them, not read.
        in_order: Whether they came in the order in which they were written.
        intervals_us: Between one message read and the next.
    """

    messages: int
    lost: int
    in_order: bool
    intervals_us: list[float]

    @property
    def rate(self) -> float:
        """Messages read in a second."""
        return 1e6 * len(self.intervals_us) / sum(self.intervals_us)


@dataclass(frozen=True, slots=True)
class PeriodicStream:
    """Messages of 100 doubles at a fixed rate.

    Attributes:
        ages_us: Of each message when its reader had it.
        missing: Numbers that no read message carried.
    """

    ages_us: list[float]
    missing: int

    def age_us(self, percentile: float) -> float:
        """Return the age that ``percentile`` per cent of the messages stayed below, [µs]."""
        return float(np.percentile(self.ages_us, percentile))


def measure_round_trips(network: Mapping[str, str], carrier: str, calls: int, has_priority: bool = False) -> RoundTrips:
    """Call an echo in another process ``calls`` times, both perhaps with real-time priority."""
    name, fifo = f"/round_trips/{carrier}", [FIFO] * has_priority
    with Peer(network, *fifo, "echo", name) as server, Peer(network, *fifo, "call", name, carrier, calls) as caller:
        found = caller.findings(_MEASUREMENT_TIMEOUT)
        server.findings(_MEASUREMENT_TIMEOUT)
    return RoundTrips(**found)


def measure_strict_stream(
    network: Mapping[str, str], carrier: str, messages: int, has_priority: bool = False
) -> StrictStream:
    """Send ``messages`` from one process to another, both perhaps with real-time priority."""
    name, fifo = f"/strict_stream/{carrier}", [FIFO] * has_priority
    counter = Peer(network, *fifo, "count", name, messages)
    with counter as reader, Peer(network, *fifo, "send", name, carrier, messages) as writer:
        found = reader.findings(_MEASUREMENT_TIMEOUT)
        writer.findings(_MEASUREMENT_TIMEOUT)
    return StrictStream(messages, found["lost"], found["in_order"], found["intervals_us"])


def measure_periodic_stream(network: Mapping[str, str], carrier: str, rate: float, duration: float) -> PeriodicStream:
    """Send at ``rate`` [Hz] for ``duration`` [s] from one process to another."""
    name = f"/periodic_stream/{carrier}"
    listener = Peer(network, "listen", name, rate, duration)
    with listener as reader, Peer(network, "stream", name, carrier, rate, duration) as writer:
        found = reader.findings(duration + _MEASUREMENT_TIMEOUT)
        writer.findings(_MEASUREMENT_TIMEOUT)
    return PeriodicStream(found["ages_us"], found["missing"])


# -- messages within a process -----------------------------------------------------------------------------------------

_JOINTS = 16  # of a part: an arm with its hand
_SIGNALS, _ELEMENTS = 40, 6  # of a logged tick
_FAMILY = WireFamily.YARP_3


def message_calls() -> dict[str, Callable[[], object]]:
    """Return calls that write or read a message: a board's state and set-points, a server's sensors, a logged tick."""
    state = JointData.of(np.linspace(0.0, 1.0, _JOINTS))
    written_state = JointDataMessage(state, _FAMILY).to_wire(_FAMILY)
    command = StreamedCommand(CommandKind.POSITION_DIRECT, None, tuple(state.joint_position.tolist()))
    readings = {SensorClass.FORCE_TORQUE: [SensorMeasurement((1.0, 2.0, 3.0, 4.0, 5.0, 6.0), 0.5)] * 2}
    sensors, reader = measurements_messages(sizes_of(readings)), MeasurementsReader()
    written_sensors = sensors.message(numbers_of(readings)).to_wire(_FAMILY)
    reader.from_items(measurements_to_items(readings))
    signals = values_messages([(f"group::signal_{number:02}", _ELEMENTS) for number in range(_SIGNALS)], 0)
    return {
        "yarp.state/written": lambda: JointDataMessage(state, _FAMILY).to_wire(_FAMILY),
        "yarp.state/read": partial(joint_data_in, written_state, _FAMILY),
        "yarp.set_points/written": lambda: command.message(_FAMILY).to_wire(_FAMILY),
        "yarp.sensors/written": lambda: sensors.message(numbers_of(readings)).to_wire(_FAMILY),
        "yarp.sensors/read": partial(reader.usual, written_sensors, _FAMILY),
        "yarp.signals/written": partial(signals.encoded, [0.5] * (_SIGNALS * _ELEMENTS), _FAMILY),
    }
