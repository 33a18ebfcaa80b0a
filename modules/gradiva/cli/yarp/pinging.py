"""``gradiva yarp ping``: how fast a port answers, and what it says about itself."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gradiva.cli.yarp.failures import ToolFailure
from gradiva.cli.yarp.port_search import check_port_name, living_contact
from gradiva.cli.yarp.session import network_session
from gradiva.cli.yarp.text_dialogue import TextDialogue
from gradiva.middleware import current_settings, open_socket

_PATIENCE = 5.0  # [s] for an answer


def ping(port: str, count: int) -> int:
    """Print the port's report and the round-trip times of ``count`` such reports; return the exit status."""
    check_port_name(port)
    with network_session():
        contact = living_contact(port)
        with _dialogue(port, contact.getHost(), contact.getPort()) as dialogue:
            durations = []
            for _ in range(count):
                start = time.perf_counter()
                report = dialogue.ask("*")
                durations.append(1e3 * (time.perf_counter() - start))
    print("\n".join(report))
    spread = min(durations), statistics.median(durations), max(durations)
    print("round_trip_ms min {:.3f} median {:.3f} max {:.3f} count {}".format(*spread, count))
    return 0


@contextmanager
def _dialogue(port: str, host: str, number: int) -> Iterator[TextDialogue]:
    try:
        with open_socket(host, number, current_settings(), _PATIENCE) as sock:
            yield TextDialogue(sock, "<ping>")
    except OSError as error:
        raise ToolFailure(f"port {port} at {host}:{number} is there, but does not answer: {error}") from error
