"""One end of a measured connection, as a process: ``python -m gradiva.middleware.measured_peer [fifo] ROLE ...``.

With ``fifo`` it has real-time priority. A role opens its port, says ``ready`` on standard output, does its work and
writes its findings there as JSON.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from gradiva.middleware import yarp

DOUBLES = 100  # [-] in a message
_WARM_UP = 200  # [calls] that do not count
_REPLY_TIMEOUT = 10.0  # [s]
_END_PERIOD = 0.05  # [s]
FIFO = "fifo"
_PRIORITY = 20  # of SCHED_FIFO, as that of modules

Findings = dict[str, Any]


class _Echo(yarp.PortReader):
    """Answers every Bottle with the same Bottle."""

    def read(self, connection: yarp.ConnectionReader) -> bool:
        """Read a bottle and reply with it."""
        bottle = yarp.Bottle()
        if not bottle.read(connection):
            return False
        writer = connection.getWriter()
        return writer is None or bottle.write(writer)


def echo(name: str) -> Findings:
    """Answer on port ``name`` until standard input closes."""
    port, reader = yarp.RpcServer(), _Echo()
    port.setReader(reader)
    _open(port, name)
    sys.stdin.read()
    port.close()
    return {}


def call(name: str, carrier: str, calls: str) -> Findings:
    """Time round trips to port ``name``."""
    port = yarp.RpcClient()
    port.asPort().setTimeout(_REPLY_TIMEOUT)
    _open(port, f"{name}/caller/{carrier}")
    _connect(port.getName(), name, carrier)
    request, reply = _message(0), yarp.Bottle()
    durations, failures, delay = [], 0, -_run_delay()
    for _ in range(int(calls) + _WARM_UP):
        start = time.perf_counter()
        if not port.write(request, reply) or reply.size() != request.size():
            failures += 1
        durations.append(1e6 * (time.perf_counter() - start))
    delay += _run_delay()
    port.close()
    return {"durations_us": durations[_WARM_UP:], "failures": failures, "run_delay_us": 1e6 * delay / len(durations)}


def count(name: str, messages: str) -> Findings:
    """Read a strict stream of numbered messages to its end; print whether all came, in order, and how fast."""
    port = yarp.BufferedPortBottle()
    port.setStrict(True)
    _open(port, name)
    numbers: list[int] = []
    moments: list[float] = []
    while (bottle := port.read(True)) is not None and (number := int(bottle.get(0).asFloat64())) < int(messages):
        moments.append(1e6 * time.perf_counter())
        numbers.append(number)
    port.close()
    intervals = [after - before for before, after in pairwise(moments)]
    lost = int(messages) - len(set(numbers))
    return {"lost": lost, "in_order": numbers == sorted(numbers), "intervals_us": intervals}


def send(name: str, carrier: str, messages: str) -> Findings:
    """Write numbered messages to port ``name`` as fast as it takes them."""
    port = yarp.BufferedPortBottle()
    _open(port, f"{name}/sender")
    _connect(port.getName(), name, carrier)

    def write(number: int) -> None:
        _fill(port.prepare(), number)
        port.writeStrict()

    for number in range(int(messages)):
        write(number)
    _end(port, lambda: write(int(messages)))
    return {}


def listen(name: str, rate: str, duration: str) -> Findings:
    """Read a stream to its end; print how old each message was when read, and how many were never read."""
    port = yarp.BufferedPortVector()
    _open(port, name)
    messages, ages = _messages(rate, duration), []
    while (vector := port.read(True)) is not None and vector.get(1) < messages:
        ages.append(1e6 * (time.monotonic() - vector.get(0)))
    port.close()
    return {"ages_us": ages, "missing": messages - len(ages)}


def stream(name: str, carrier: str, rate: str, duration: str) -> Findings:
    """Write to port ``name`` at ``rate`` [Hz] for ``duration`` [s]; each message carries its time and number."""
    port = yarp.BufferedPortVector()
    _open(port, f"{name}/sender")
    _connect(port.getName(), name, carrier)

    def write(number: int) -> None:
        vector = port.prepare()
        vector.resize(DOUBLES)
        vector.set(1, float(number))
        vector.set(0, time.monotonic())
        port.write()

    start, period, messages = time.monotonic(), 1.0 / float(rate), _messages(rate, duration)
    for number in range(messages):
        time.sleep(max(0.0, start + number * period - time.monotonic()))
        write(number)
    _end(port, lambda: write(messages))
    return {}


ROLES: dict[str, Callable[..., Findings]] = {role.__name__: role for role in (echo, call, count, send, listen, stream)}


def _run_delay() -> float:
    """Return how long threads of this process have waited for a core although they could run, [s]."""
    statistics = (path.read_text().split() for path in Path("/proc/self/task").glob("*/schedstat"))
    return 1e-9 * sum(int(waited) for _, waited, _ in statistics)


def _messages(rate: str, duration: str) -> int:
    return int(float(rate) * float(duration))


def _open(port: Any, name: str) -> None:
    if not port.open(name):
        sys.exit(f"port {name} cannot be opened")
    print("ready", flush=True)


def _end(port: Any, write_end: Callable[[], None]) -> None:
    """Say the end again and again until standard input closes, then close.

    The real bindings drop messages of a busy connection, strictly written ones too where nothing acknowledges them, and
    what a port that closes has not sent.
    """
    while not select.select([sys.stdin], [], [], _END_PERIOD)[0]:
        write_end()
    port.close()


def _connect(source: str, destination: str, carrier: str) -> None:
    if not yarp.Network.connect(source, destination, carrier):
        sys.exit(f"{source} cannot be connected to {destination} by {carrier}")


def _message(number: int) -> yarp.Bottle:
    bottle = yarp.Bottle()
    _fill(bottle, number)
    return bottle


def _fill(bottle: yarp.Bottle, number: int) -> None:
    bottle.clear()
    bottle.addFloat64(float(number))
    for value in range(1, DOUBLES):
        bottle.addFloat64(value + 0.5)


def main(arguments: list[str]) -> None:
    """Play the role that the arguments name."""
    if arguments[0] == FIFO:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))  # before there are threads, which inherit it
        del arguments[0]
    role, *options = arguments
    yarp.Network.init()
    try:
        print(json.dumps(ROLES[role](*options)), flush=True)
    finally:
        yarp.Network.fini()


if __name__ == "__main__":
    main(sys.argv[1:])
