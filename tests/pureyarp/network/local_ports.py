"""Ports of tests that need no name server."""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from pureyarp.network import IncomingMessage
from pureyarp.network.port_core import PortCore
from pureyarp.network.settings import ConnectionLimits, Contact, NetworkSettings
from pureyarp.wire import Element
from tests.waiting import wait_until

OFFLINE = NetworkSettings(name_server_port=1)  # where no name server answers


def settings_with(**limits: float) -> NetworkSettings:
    return NetworkSettings(name_server_port=1, limits=ConnectionLimits(**limits))


def open_core(stack: ExitStack, name: str, handler=None, settings: NetworkSettings = OFFLINE, **others) -> PortCore:
    """Open a port at a free address of loopback, unregistered; the stack closes it."""
    core = PortCore(settings, handler, **others)
    core.open_at(Contact(name, "tcp", "127.0.0.1", 0))
    stack.callback(core.close)
    return core


def address_of(core: PortCore) -> str:
    """Return how another port can be connected to this one without asking for its name."""
    return f"tcp://127.0.0.1:{core.port_number}{core.name}"


class Inbox:
    """A handler that keeps the messages and answers by what it is given."""

    def __init__(self, answer: Callable[[list[Element]], list[Element] | None] = lambda items: None) -> None:
        self.items: list[list[Element]] = []
        self.envelopes: list[str] = []
        self._answer = answer

    def __call__(self, message: IncomingMessage) -> list[Element] | None:
        items = message.items()
        self.items.append(items)
        self.envelopes.append(message.envelope)
        return self._answer(items)


@contextmanager
def nothing_is_left() -> Iterator[None]:
    """Check that all threads end and all files are closed."""
    threads, files = set(threading.enumerate()), open_files()
    yield
    wait_until(lambda: set(threading.enumerate()) <= threads)
    wait_until(lambda: open_files() <= files)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def quiet() -> Iterator[None]:
    """Keep warnings about hostile peers out of the log."""
    logger = logging.getLogger("pureyarp")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)
