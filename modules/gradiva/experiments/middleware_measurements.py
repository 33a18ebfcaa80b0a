"""What is measured between two processes: round trips, a strict stream, a periodic stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gradiva.experiments.private_network import Peer

_PATIENCE = 60.0  # [s] beyond what a measurement lasts


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """Remote procedure calls with 100 doubles each way.

    Attributes:
        durations_us: Of each call.
        failures: Calls without the right answer.
    """

    durations_us: list[float]
    failures: int


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


def measure_round_trips(network: Mapping[str, str], carrier: str, calls: int) -> RoundTrips:
    """Call an echo in another process ``calls`` times."""
    name = f"/round_trips/{carrier}"
    with Peer(network, "echo", name) as server, Peer(network, "call", name, carrier, calls) as caller:
        found = caller.findings(_PATIENCE)
        server.findings(_PATIENCE)
    return RoundTrips(found["durations_us"], found["failures"])


def measure_strict_stream(network: Mapping[str, str], carrier: str, messages: int) -> StrictStream:
    """Send ``messages`` from one process to another."""
    name = f"/strict_stream/{carrier}"
    with Peer(network, "count", name, messages) as reader, Peer(network, "send", name, carrier, messages) as writer:
        writer.findings(_PATIENCE)
        found = reader.findings(_PATIENCE)
    return StrictStream(messages, found["lost"], found["in_order"], found["intervals_us"])


def measure_periodic_stream(network: Mapping[str, str], carrier: str, rate: float, duration: float) -> PeriodicStream:
    """Send at ``rate`` [Hz] for ``duration`` [s] from one process to another."""
    name = f"/periodic_stream/{carrier}"
    listener = Peer(network, "listen", name, rate, duration)
    with listener as reader, Peer(network, "stream", name, carrier, rate, duration) as writer:
        writer.findings(duration + _PATIENCE)
        found = reader.findings(duration + _PATIENCE)
    return PeriodicStream(found["ages_us"], found["missing"])
