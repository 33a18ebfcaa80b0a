"""A process that the tests of survival kill: ``python -m tests.middleware.survival_peer ROLE NAME``.

It says ``ready``, and ends in good order when its standard input does.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gradiva.middleware import yarp
from pureyarp.devices.device_servers import ControlBoardServer
from pureyarp.network.name_server import NameServer
from pureyarp.network.settings import current_settings
from tests.middleware.all_servers import Echo
from tests.middleware.fake_board import IntegratingBoard

STREAMS = ("tcp", "fast_tcp", "udp")  # the carriers that are tried
_PERIOD = 0.005  # [s] of the stream
_saying = threading.Lock()


def say(line: str) -> None:
    """Tell the test something."""
    with _saying:
        print(line, flush=True)


@contextmanager
def names(_: str) -> Iterator[None]:
    """Serve names where the settings say."""
    server = NameServer(current_settings())
    server.start()
    yield
    server.stop()


@contextmanager
def writer(name: str) -> Iterator[None]:
    """Stream numbers."""
    port, ended = yarp.BufferedPortBottle(), threading.Event()
    assert port.open(name)

    def write() -> None:
        number = 0
        while not ended.wait(_PERIOD):
            bottle = port.prepare()
            bottle.clear()
            bottle.addInt32(number)
            port.write()
            number += 1

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    yield
    ended.set()
    thread.join()
    port.close()


@contextmanager
def reader(name: str) -> Iterator[None]:
    """Read a stream by each carrier and say what comes: carrier and number."""
    ports = {carrier: yarp.BufferedPortBottle() for carrier in STREAMS}
    for carrier, port in ports.items():
        assert port.open(f"{name}/{carrier}")

    def read(carrier: str) -> None:
        while (bottle := ports[carrier].read()) is not None:
            say(f"{carrier} {bottle.get(0).asInt32()}")

    threads = [threading.Thread(target=read, args=(carrier,), daemon=True) for carrier in STREAMS]
    for thread in threads:
        thread.start()
    yield
    for port in ports.values():
        port.interrupt()
        port.close()
    for thread in threads:
        thread.join()


@contextmanager
def server(name: str) -> Iterator[None]:
    """Answer requests with themselves."""
    port, echo = yarp.Port(), Echo()
    port.setReader(echo)
    assert port.open(name)
    yield
    port.interrupt()
    port.close()


@contextmanager
def board(name: str) -> Iterator[None]:
    """Serve a control board of three joints."""
    with ControlBoardServer(name, IntegratingBoard(3), period=_PERIOD):
        yield


if __name__ == "__main__":
    if sys.argv[1] != "names":
        yarp.Network.init()
    with {"names": names, "writer": writer, "reader": reader, "server": server, "board": board}[sys.argv[1]](
        sys.argv[2]
    ):
        say("ready")
        sys.stdin.read()
