"""Waiting in tests for what other threads and processes do, on a machine that is busy with other tests."""

import time
from collections.abc import Callable

TIMEOUT = 60.0  # [s] for what should happen at once: only a test that fails takes so long


def wait_until(
    condition: Callable[[], object],
    what: str | Callable[[], str] = "it did not happen",
    timeout: float = TIMEOUT,
    pause: float = 0.01,
) -> None:
    """Poll until something is so; fail when it does not become so.

    Args:
        condition: Is it so?
        what: The message where it does not become so, or a function that returns it.
        timeout: [s].
        pause: Between two looks, [s].
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(what if isinstance(what, str) else what())
        time.sleep(pause)
