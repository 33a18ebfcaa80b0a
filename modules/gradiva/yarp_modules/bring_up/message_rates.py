"""How often ports speak, and how evenly."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from gradiva.middleware import yarp


@dataclass(frozen=True, slots=True)
class MessageRate:
    """Of one port.

    Attributes:
        port: That sends.
        messages: How many came.
        rate: [Hz]; 0 for fewer than two messages.
        jitter: Standard deviation of the times between two messages, [s].
        longest_gap: Between two messages, or to the end of the count, [s].
    """

    port: str
    messages: int
    rate: float
    jitter: float
    longest_gap: float


class _Arrivals(yarp.BottleCallback):
    """Notes when messages come."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def onRead(self, datum: yarp.Bottle, *reader: object) -> None:
        self.times.append(time.monotonic())


def measured_rates(ports: Sequence[str], local: str, duration: float) -> list[MessageRate]:
    """Listen to all ports at once for ``duration`` [s]; ports that cannot be heard have no messages.

    Args:
        ports: That send.
        local: Beginning of the names of our own ports.
        duration: [s].
    """
    with ExitStack() as stack:
        heard = [_listen(stack, port, f"{local}/rate{index}:i") for index, port in enumerate(ports)]
        begins = [len(arrivals.times) for arrivals in heard]
        time.sleep(duration)
        end = time.monotonic()
        counted = [arrivals.times[begin:] for arrivals, begin in zip(heard, begins, strict=True)]
    return [_rate(port, times, end, duration) for port, times in zip(ports, counted, strict=True)]


def _listen(stack: ExitStack, remote: str, name: str) -> _Arrivals:
    arrivals, port = _Arrivals(), yarp.BufferedPortBottle()
    port.useCallback(arrivals)
    if port.open(name):
        stack.callback(port.close)
        stack.callback(port.interrupt)
        yarp.Network.connect(remote, name, "fast_tcp", True)
    return arrivals


def _rate(port: str, times: Sequence[float], end: float, duration: float) -> MessageRate:
    if len(times) < 2:
        return MessageRate(port, len(times), 0.0, 0.0, duration)
    gaps = np.diff(times)
    longest = max(float(gaps.max()), end - times[-1])
    return MessageRate(port, len(times), 1.0 / float(gaps.mean()), float(gaps.std()), longest)
