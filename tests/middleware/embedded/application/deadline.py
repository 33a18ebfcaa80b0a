"""Waiting in tests for what other threads do."""

import time
from collections.abc import Callable

PATIENCE = 30.0  # [s] on a machine that is busy with other tests


def eventually(condition: Callable[[], object]) -> bool:
    """Return whether ``condition`` becomes true before the patience ends."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True
