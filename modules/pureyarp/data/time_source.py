"""Where time stamps take their time from: the machine's clock, unless the network's clock is used."""

from __future__ import annotations

import time
from collections.abc import Callable

_source: Callable[[], float] = time.time


def now() -> float:
    """Return the time of this process, [s]: since the epoch, or of the network clock."""
    return _source()


def use_time_source(source: Callable[[], float]) -> None:
    """Take the time from ``source`` from now on; ``time.time`` is the machine's clock."""
    global _source
    _source = source
