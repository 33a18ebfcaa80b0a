"""Ctrl-C while modules are loaded."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """Within it, Ctrl-C ends the process with status 130.

    An exception in the middle of the start of a C extension aborts the process, with a core dump.
    """
    before = signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(number: int, frame: FrameType | None) -> None:
    print("interrupted", file=sys.stderr, flush=True)
    os._exit(128 + number)
