"""One end of a measured connection, as a process: ``python -m gradiva.middleware.measured_peer ROLE ...``.

A role opens its port, says ``ready`` on standard output, does its work and writes its findings there as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from gradiva.middleware import yarp

DOUBLES = 100  # [-] in a message
_WARM_UP = 200  # [calls] that do not count
_REPLY_TIMEOUT = 10.0  # [s]

Findings = dict[str, Any]


class _Echo(yarp.PortReader):
    """Answers every Bottle with the same Bottle."""

    def read(self, connection: yarp.ConnectionReader) -> bool:
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
    durations, failures = [], 0
    for _ in range(int(calls) + _WARM_UP):
        start = time.perf_counter()
        if not port.write(request, reply) or reply.size() != request.size():
            failures += 1
        durations.append(1e6 * (time.perf_counter() - start))
    port.close()
    return {"durations_us": durations[_WARM_UP:], "failures": failures}


def count(name: str, messages: str) -> Findings:
    """Read a strict stream of numbered messages; print whether all came, in order, and how fast."""
    port = yarp.BufferedPortBottle()
    port.setStrict(True)
    _open(port, name)
    numbers: list[int] = []
    moments: list[float] = []
    while len(numbers) < int(messages):
        bottle = port.read(True)
        if bottle is None:
            break
        moments.append(1e6 * time.perf_counter())
        numbers.append(int(bottle.get(0).asFloat64()))
    port.close()
    intervals = [after - before for before, after in pairwise(moments)]
    lost = int(messages) - len(set(numbers))
    return {"lost": lost, "in_order": numbers == sorted(numbers), "intervals_us": intervals}


def send(name: str, carrier: str, messages: str) -> Findings:
    """Write numbered messages to port ``name`` as fast as it takes them; close when standard input does.

    A port of the real bindings that closes earlier may take the last ones with it.
    """
    port = yarp.BufferedPortBottle()
    _open(port, f"{name}/sender")
    _connect(port.getName(), name, carrier)
    for number in range(int(messages)):
        bottle = port.prepare()
        _fill(bottle, number)
        port.writeStrict()
    sys.stdin.read()
    port.close()
    return {}


def listen(name: str, rate: str, duration: str) -> Findings:
    """Read a stream; print how old each message was when the reader had it, and how many were never read."""
    port = yarp.BufferedPortVector()
    _open(port, name)
    last = _messages(rate, duration) - 1
    ages, numbers = [], [-1]
    while numbers[-1] < last:
        vector = port.read(True)
        if vector is None:
            break
        ages.append(1e6 * (time.monotonic() - vector.get(0)))
        numbers.append(int(vector.get(1)))
    port.close()
    return {"ages_us": ages, "missing": last + 1 - len(ages)}


def stream(name: str, carrier: str, rate: str, duration: str) -> Findings:
    """Write to port ``name`` at ``rate`` [Hz] for ``duration`` [s]; each message carries its time and number.

    The last one is sent strictly, since readers wait for it; the port closes when standard input does.
    """
    port = yarp.BufferedPortVector()
    _open(port, f"{name}/sender")
    _connect(port.getName(), name, carrier)
    start, period = time.monotonic(), 1.0 / float(rate)
    last = _messages(rate, duration) - 1
    for number in range(last + 1):
        time.sleep(max(0.0, start + number * period - time.monotonic()))
        vector = port.prepare()
        vector.resize(DOUBLES)
        vector.set(1, float(number))
        vector.set(0, time.monotonic())
        port.write(number == last)
    sys.stdin.read()
    port.close()
    return {"duration_s": time.monotonic() - start}


ROLES: dict[str, Callable[..., Findings]] = {role.__name__: role for role in (echo, call, count, send, listen, stream)}


def _messages(rate: str, duration: str) -> int:
    return int(float(rate) * float(duration))


def _open(port: Any, name: str) -> None:
    if not port.open(name):
        sys.exit(f"port {name} cannot be opened")
    print("ready", flush=True)


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
    role, *options = arguments
    yarp.Network.init()
    try:
        print(json.dumps(ROLES[role](*options)), flush=True)
    finally:
        yarp.Network.fini()


if __name__ == "__main__":
    main(sys.argv[1:])
