"""Begin the command line with as little as possible, so that Ctrl-C is answered while the rest is loaded."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy comes: its matrices are small, threads only get in the way

INTERRUPTED = 130  # exit status


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit status: 0 done, 1 fell or failed, 2 wrong input, 130 interrupted."""
    status = run(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would be an exception in the middle of the end
    sys.exit(status)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    try:
        from gradiva.cli.commands import carry_out

        return carry_out(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


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
    os._exit(INTERRUPTED)
