"""Send messages of ports again and again, without a Bottle in between where pureyarp carries them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from gradiva.middleware import yarp
from gradiva.middleware.bottles import fill_bottle
from pureyarp.network.buffered_ports import BufferedPortBottle as PurePort
from pureyarp.network.buffered_ports import write_object
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.binary import Sendable
from pureyarp.wire.elements import Element


class ReadyMessage(Sendable, Protocol):
    """A message that knows its elements and how it travels."""

    def to_items(self) -> list[Element]:
        """Return the elements."""


def send_ready(port: yarp.BufferedPortBottle, message: ReadyMessage, is_strict: bool = False) -> None:
    """Send a message, which costs next to nothing where nobody is connected.

    A port of pureyarp takes it as it is, without a Bottle in between, and encodes it for whoever is there.
    """
    if isinstance(port, PurePort):
        write_object(port, message, is_strict)
    elif port.getOutputCount() > 0:
        fill_bottle(port.prepare(), message.to_items())
        port.write(is_strict)


_LOGGER = logging.getLogger("gradiva.yarp")
_JOIN_PATIENCE = 1.0  # [s] for the last call: what never returns must not hold up who closes


class PeriodicPublisher:
    """Calls a function every period of real time until it is stopped. After a pause there is no burst to catch up.

    Args:
        name: Of the server, for its thread and for complaints.
        period: From one call to the next, [s]; None: never, others call.
        publish: Called in the thread; what it raises is told now and then, and the next call comes.
    """

    def __init__(self, name: str, period: float | None, publish: Callable[[], object]) -> None:
        self._name = name
        self._period = period
        self._publish = publish
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._complaint = RateLimitedLog(_LOGGER)

    def start(self) -> None:
        """Begin to call; once."""
        if self._period is not None:
            name = f"publisher of {self._name}"
            self._thread = threading.Thread(target=self._run, args=(self._period,), name=name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Call no more; wait a moment for the present call, unless it is the caller."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_JOIN_PATIENCE)

    def _run(self, period: float) -> None:
        due = time.monotonic()
        while not self._stopped.is_set():
            try:
                self._publish()
            except Exception as error:
                self._complaint.warning("%s: nothing is published: %r", self._name, error, trace=True)
            due = max(due + period, time.monotonic() - period)
            self._stopped.wait(max(0.0, due - time.monotonic()))
